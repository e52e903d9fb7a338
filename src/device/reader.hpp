// One thread of a load: takes jobs until there are none.
#pragma once

#include <memory>
#include <vector>

#include "device/loading.hpp"

namespace tare::device {

class Loading::State::Reader {
 public:
  Reader(State& load, unsigned number);
  // Waits until the device no longer copies from its slots, even after an error.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  void work();

 private:
  struct Slot {
    Slot(const Context& context, std::byte* its_data, DeviceAddress its_stage)
        : data(its_data), stage(its_stage), event(context) {}
    std::byte* data;
    DeviceAddress stage;
    Event event;
    bool busy = false;
  };

  Slot& next_slot();
  void run_chunks(const Job& job);
  void run_chunk(const Chunk& chunk, Hasher* hasher);
  void read_run(const Chunk& chunk, std::span<const Share> shares, Slot& slot, Hasher* hasher);
  void read_gather(const Chunk& chunk, const Share& share, Slot& slot);
  void check_run(std::span<const Share> shares, Slot& slot, Hasher* hasher, const Chunk& chunk);
  void run_units(const Chunk& chunk, const Share& share, Slot& slot, Hasher* hasher);
  void run_pulled(const Job& job);
  void copy_shares(const Chunk& chunk, std::span<const Share> shares, Slot& slot);
  void copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes);
  void mark(Slot& slot, StreamHandle stream);
  void done(std::span<const Share> shares, Slot& slot);

  State& load_;
  const Context& context_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t turn_ = 0;
  std::vector<std::size_t> whole_;  // used by `done`
};

}  // namespace tare::device
