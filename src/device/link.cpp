#include <algorithm>
#include <chrono>

#include "device/ring.hpp"

namespace tare::device {

double link_speed(std::string_view device) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  constexpr int kTimes = 8;
  const ContextPtr context = Context::of(device);
  const Current here(*context);
  const Lease lease(context, kBytes, std::uint64_t{4} << 20, std::uint64_t{128} << 20, 4);
  const std::uint64_t bytes = std::min<std::uint64_t>(lease.bytes().size(), kBytes);
  const DeviceMemory memory(*context, bytes);
  const Stream stream(*context);
  const auto copy = [&] {
    context->check(context->driver().copy_to_device(memory.address(), lease.bytes().data(),
                                                    static_cast<std::size_t>(bytes), stream.get()),
                   "copy to the device");
  };
  // The best of several rounds, because the device is still busy right after much memory was freed.
  double best = 0;
  for (int round = 0; round < 6; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) copy();
    stream.synchronize();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (seconds > 0) best = std::max(best, static_cast<double>(bytes) * kTimes / seconds);
  }
  return best;
}

}  // namespace tare::device
