#include "codecs/packs/kernels.hpp"

#include <algorithm>
#include <bit>

#include "base/endian.hpp"

namespace tare::codec::packs {

std::uint32_t field_at(const std::byte* words, std::uint64_t index, unsigned bits) {
  const std::uint64_t bit = index * bits;
  const unsigned shift = static_cast<unsigned>(bit % 32);
  std::uint64_t word = load_le<std::uint32_t>(words + bit / 32 * 4);
  if (shift + bits > 32) word |= std::uint64_t{load_le<std::uint32_t>(words + bit / 32 * 4 + 4)} << 32;
  return static_cast<std::uint32_t>(word >> shift) & ((1u << bits) - 1);
}

NibbleTable::NibbleTable(const std::array<float, 16>& of) : values(of), bytes{} {
  for (std::size_t code = 0; code < of.size(); ++code)
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i][code] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(of[code]) >> (8 * i));
}

}  // namespace tare::codec::packs
