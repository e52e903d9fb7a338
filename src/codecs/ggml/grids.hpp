// The codewords of the IQ1, IQ2 and IQ3 types: one byte per value, the first value in the lowest bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace tare::codec::ggml {

extern const std::array<std::uint64_t, 256> kIq2XxsGrid;
extern const std::array<std::uint64_t, 512> kIq2XsGrid;
extern const std::array<std::uint64_t, 1024> kIq2SGrid;
extern const std::array<std::uint32_t, 256> kIq3XxsGrid;
extern const std::array<std::uint32_t, 512> kIq3SGrid;
extern const std::array<std::uint64_t, 2048> kIq1Grid;  // signed, times 8

// The signs of eight weights from seven bits: the eighth sign makes the number of minus signs even.
constexpr unsigned even_signs(unsigned seven) { return seven | static_cast<unsigned>(std::popcount(seven) & 1) << 7; }

}  // namespace tare::codec::ggml
