// The functions that run on the device, compiled by its driver when they are needed.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "device/context.hpp"

namespace tare::device {

class Kernels {
 public:
  // The context is current wherever these are used.
  explicit Kernels(const Context& context) : context_(context) {}
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // From many threads, as `launch`.
  void prepare(std::string_view name);
  bool loaded() const { return !loaded_.empty(); }

  // What every kernel gets: the planes of a chunk, where its elements go, and numbers.
  struct Call {
    std::array<DeviceAddress, 3> planes = {};
    DeviceAddress out = 0;
    std::uint64_t first = 0;  // unit of the tensor that the chunk begins with
    std::array<std::uint64_t, 2> numbers = {};
    std::uint64_t count = 0;  // elements to make, or whatever the kernel counts
    std::uint64_t kind = 0;   // what they are: 0 f32, 1 f16, 2 bf16
  };
  // Of those that were prepared, with so many threads of the device's. From many threads.
  void launch(std::string_view name, Call call, std::uint64_t threads, StreamHandle stream);

 private:
  struct Loaded {
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
  };
  const Context& context_;
  std::mutex mutex_;  // of the following
  std::map<std::string, Loaded, std::less<>> loaded_;
};

}  // namespace tare::device
