#include "base/endian.hpp"

namespace tare {
namespace {

template <typename T>
void swap_run(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, &bytes[i], sizeof value);
    value = byte_swapped(value);
    std::memcpy(&bytes[i], &value, sizeof value);
  }
}

}  // namespace

void swap_elements(std::span<std::byte> bytes, std::size_t width) {
  switch (width) {
    case 2: return swap_run<std::uint16_t>(bytes);
    case 4: return swap_run<std::uint32_t>(bytes);
    case 8: return swap_run<std::uint64_t>(bytes);
    default: return;  // single bytes have no order
  }
}

}  // namespace tare
