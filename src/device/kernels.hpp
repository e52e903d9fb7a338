// The functions that run on the device. Its driver compiles them when they are needed.
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
  // The context must be current whenever the object is used.
  explicit Kernels(const Context& context) : context_(context) {}
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // Compiles a kernel, if that was not done yet. Thread-safe, like `launch`.
  void prepare(std::string_view name);
  bool loaded() const { return !loaded_.empty(); }

  // The arguments of every kernel: the planes of a chunk, the output, and numbers.
  struct Call {
    std::array<DeviceAddress, 3> planes = {};
    DeviceAddress out = 0;
    std::uint64_t first = 0;  // the chunk's first unit, as counted in the tensor
    std::array<std::uint64_t, 2> numbers = {};
    std::uint64_t count = 0;  // elements to make, or whatever else the kernel counts
    std::uint64_t kind = 0;   // type of the elements: 0 f32, 1 f16, 2 bf16
  };
  // Launches a prepared kernel with `threads` device threads. Thread-safe.
  void launch(std::string_view name, Call call, std::uint64_t threads, StreamHandle stream);

 private:
  struct Loaded {
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
  };
  const Context& context_;
  std::mutex mutex_;  // guards the members below
  std::map<std::string, Loaded, std::less<>> loaded_;
};

}  // namespace tare::device
