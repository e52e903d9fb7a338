// What a header says, checked against the data: turns entries into tensors as they come.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/safetensors/safetensors.hpp"

namespace tare::safetensors {

class Placer {
 public:
  // `data`: where the data starts in the file; the header ends there.
  Placer(const SourcePtr& source, std::uint64_t data, Diagnostics& diagnostics, std::size_t max_rank = Limits().rank)
      : source_(source), data_(data), room_(source->size() - data), diagnostics_(diagnostics), max_rank_(max_rank) {}

  std::size_t max_rank() const { return max_rank_; }

  // A new tensor, to be given its shape; `at` is the file offset of its entry. Then one of the two below.
  Tensor& begin(std::string_view name, std::uint64_t at) {
    if (tensors_.size() == tensors_.capacity()) make_room(at);
    Tensor& tensor = tensors_.emplace_back();
    tensor.name = name;
    entries_.push_back({0, 0, nullptr, at});
    return tensor;
  }
  // Where its data is, in the data.
  void finish(const HeaderType& type, std::uint64_t begin, std::uint64_t end);
  // Instead: it breaks a rule of its own. Its data is not anybody else's, however.
  void drop(Error error, std::uint64_t begin, std::uint64_t end);
  // Whether every tensor so far is sound and starts where the one before it ends.
  bool sound() const { return deferred_ == 0; }
  bool complete() const { return sound() && end_ == room_; }

  // The tensors in the order of their data, after everything that is wrong has been reported.
  std::vector<Tensor> take();
  // Those that broke a rule of their own, after `take`.
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }

 private:
  struct Entry {
    std::uint64_t begin, end;  // in the data
    const HeaderType* type;    // null: dropped
    std::uint64_t at;          // file offset of the entry, for errors
  };

  void make_room(std::uint64_t at);
  bool fits_its_shape(const Tensor& tensor, const Entry& entry) const;
  void place(Tensor& tensor, const Entry& entry);
  bool sort();
  Error about(std::size_t i, std::string_view rule, const std::string& sentence) const;
  void report(std::size_t i, std::string_view rule, const std::string& sentence);
  bool follows(std::size_t i, std::uint64_t end);
  bool has_its_size(std::size_t i);
  void check_length(std::uint64_t end);
  void note_unaligned(const std::vector<Tensor>& tensors);
  std::vector<Tensor> sorted(const std::vector<bool>& sound);

  const SourcePtr& source_;
  std::uint64_t data_, room_;
  Diagnostics& diagnostics_;
  std::size_t max_rank_;
  std::vector<Tensor> tensors_;
  std::vector<Entry> entries_;        // of `tensors_`
  std::vector<std::uint32_t> order_;  // by begin and end
  std::uint64_t end_ = 0;             // of the last tensor, while all stand in order
  std::size_t deferred_ = 0;          // tensors that `take` must look at
  std::vector<BrokenTensor> broken_;
};

}  // namespace tare::safetensors
