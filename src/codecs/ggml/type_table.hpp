// ggml's block types: one row per type with its sizes, its scales and its numbers. Everything else that needs one of
// these facts looks it up here: the rows of the table of layouts, the decoders, GGUF's types, zTensor 2's profiles and
// the kernels of the device.
//
// A type has code in two more files: its formula and the fields of its blocks (blocks32.cpp, blocks256.cpp or
// blocks_grids.cpp), and its expansion (simd_expand.hpp or simd_expand_grids.hpp). A type with a method also has an
// encoder (encode.cpp). Blocks never cross the end of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tare::codec::ggml {

enum class Type : std::uint8_t {
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q8_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  q8_k,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0,
  q2_0,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq1_s,
  iq1_m
};

// How a block stores its own scale or scales; `verify` looks for values that are not numbers.
enum class ScaleKind : std::uint8_t {
  f16,
  f32,
  e8m0,    // a power of two
  e4m3,    // an 8-bit float; every code is a number
  spread,  // the bits of an f16 are spread over the block: iq1_m_half
};

struct Scales {
  ScaleKind kind;
  std::uint8_t at = 0;      // offset of the first
  std::uint8_t count = 1;   // one after the other
  std::uint8_t others = 0;  // f16 right after the scales that are not scales: a minimum, a sum

  // How many f16 there are from `at` on.
  constexpr std::uint8_t halves() const {
    return kind == ScaleKind::f16 ? static_cast<std::uint8_t>(count + others) : std::uint8_t{0};
  }
};
constexpr Scales f16(std::uint8_t at, std::uint8_t count = 1, std::uint8_t others = 0) {
  return {ScaleKind::f16, at, count, others};
}

// What a file of the other byte order swaps: the f16 scales, and one more number if `width` is not 0.
struct ByteOrder {
  bool either = true;  // false: no program has written the type in the other byte order
  std::uint8_t at = 0, width = 0;
};
inline constexpr ByteOrder kEither, kLittle = {.either = false};
constexpr ByteOrder either_with(std::uint8_t at, std::uint8_t width) { return {true, at, width}; }

struct Method {
  bool exists = true;
  std::string_view fallback = {};  // the method for rows that are not whole blocks
};
inline constexpr Method kMethod, kNoMethod = {.exists = false};

struct TypeFacts {
  Type type;
  std::string_view layout;
  std::uint16_t weights, bytes;  // per block
  Scales scales;
  ByteOrder order;
  std::uint32_t number;    // in a file
  std::int64_t file_type;  // the number for a file whose weights are mostly of this type; -1: no such file
  Method method;
  std::string_view title;

  constexpr std::string_view name() const { return layout.substr(layout.find('.') + 1); }
};

// In the order of `Type`.
// clang-format off
inline constexpr TypeFacts kTypes[] = {
    {Type::q4_0,    "ggml.q4_0",     32,  18, f16(0),       kEither,            2,  2, kMethod,
     "4 bits with a scale for every 32 weights, as in ggml"},
    {Type::q4_1,    "ggml.q4_1",     32,  20, f16(0, 1, 1), kEither,            3,  3, kMethod,
     "4 bits with a scale and a minimum for every 32 weights, as in ggml"},
    {Type::q5_0,    "ggml.q5_0",     32,  22, f16(0),       either_with(2, 4),  6,  8, kMethod,
     "5 bits with a scale for every 32 weights, as in ggml"},
    {Type::q5_1,    "ggml.q5_1",     32,  24, f16(0, 1, 1), either_with(4, 4),  7,  9, kMethod,
     "5 bits with a scale and a minimum for every 32 weights, as in ggml"},
    {Type::q8_0,    "ggml.q8_0",     32,  34, f16(0),       kEither,            8,  7, kMethod,
     "8 bits with a scale for every 32 weights, as in ggml"},
    {Type::q8_1,    "ggml.q8_1",     32,  36, f16(0, 1, 1), kEither,            9, -1, kNoMethod,
     "8 bits with a scale and a sum for every 32 values: activations"},
    {Type::q2_k,    "ggml.q2_k",    256,  84, f16(80, 2),   kEither,           10, 10, {.fallback = "q4_0"},
     "2 bits with scales and minimums for every 256 and every 16 weights"},
    {Type::q3_k,    "ggml.q3_k",    256, 110, f16(108),     kEither,           11, 11, {.fallback = "q4_0"},
     "3 bits with scales for every 256 and every 16 weights"},
    {Type::q4_k,    "ggml.q4_k",    256, 144, f16(0, 2),    kEither,           12, 14, {.fallback = "q5_0"},
     "4 bits with scales and minimums for every 256 and every 32 weights"},
    {Type::q5_k,    "ggml.q5_k",    256, 176, f16(0, 2),    kEither,           13, 16, {.fallback = "q5_1"},
     "5 bits with scales and minimums for every 256 and every 32 weights"},
    {Type::q6_k,    "ggml.q6_k",    256, 210, f16(208),     kEither,           14, 18, {.fallback = "q8_0"},
     "6 bits with scales for every 256 and every 16 weights"},
    {Type::q8_k,    "ggml.q8_k",    256, 292, {ScaleKind::f32}, kLittle,       15, -1, kNoMethod,
     "8 bits with a scale and sums for every 256 values: activations"},
    {Type::iq4_nl,  "ggml.iq4_nl",   32,  18, f16(0),       kEither,           20, 25, kMethod,
     "4 bits of a table with a scale for every 32 weights"},
    {Type::iq4_xs,  "ggml.iq4_xs",  256, 136, f16(0),       either_with(2, 2), 23, 30, {.fallback = "iq4_nl"},
     "4 bits of a table with scales for every 256 and every 32 weights"},
    {Type::tq1_0,   "ggml.tq1_0",   256,  54, f16(52),      kEither,           34, 36, {.fallback = "q4_0"},
     "-1, 0 or 1, five in a byte, with a scale for every 256 weights"},
    {Type::tq2_0,   "ggml.tq2_0",   256,  66, f16(64),      kEither,           35, 37, {.fallback = "q4_0"},
     "-1, 0 or 1 in 2 bits with a scale for every 256 weights"},
    {Type::mxfp4,   "ggml.mxfp4",    32,  17, {ScaleKind::e8m0}, kEither,      39, 38, kMethod,
     "4-bit floats with an exponent for every 32 weights (MXFP4)"},
    {Type::nvfp4,   "ggml.nvfp4",    64,  36, {ScaleKind::e4m3, 0, 4}, kEither, 40, 39, {.fallback = "mxfp4"},
     "4-bit floats with an 8-bit float for every 16 weights (NVFP4)"},
    {Type::q1_0,    "ggml.q1_0",    128,  18, f16(0),       kEither,           41, 40, {.fallback = "q4_0"},
     "1 bit with a scale for every 128 weights"},
    {Type::q2_0,    "ggml.q2_0",     64,  18, f16(0),       kEither,           42, 41, {.fallback = "q4_0"},
     "2 bits with a scale for every 64 weights"},
    {Type::iq2_xxs, "ggml.iq2_xxs", 256,  66, f16(0),       kLittle,           16, 19, {.fallback = "iq4_nl"},
     "2.06 bits: codewords for 8 weights, scales for every 256 and every 32"},
    {Type::iq2_xs,  "ggml.iq2_xs",  256,  74, f16(0),       kLittle,           17, 20, {.fallback = "iq4_nl"},
     "2.31 bits: codewords for 8 weights, scales for every 256 and every 16"},
    {Type::iq2_s,   "ggml.iq2_s",   256,  82, f16(0),       kLittle,           22, 28, {.fallback = "iq4_nl"},
     "2.56 bits: codewords for 8 weights, scales for every 256 and every 16"},
    {Type::iq3_xxs, "ggml.iq3_xxs", 256,  98, f16(0),       kLittle,           18, 23, {.fallback = "iq4_nl"},
     "3.06 bits: codewords for 4 weights, scales for every 256 and every 32"},
    {Type::iq3_s,   "ggml.iq3_s",   256, 110, f16(0),       kLittle,           21, 26, {.fallback = "iq4_nl"},
     "3.44 bits: codewords for 4 weights, scales for every 256 and every 32"},
    {Type::iq1_s,   "ggml.iq1_s",   256,  50, f16(0),       kLittle,           19, 24, {.fallback = "iq4_nl"},
     "1.56 bits: codewords for 8 weights, scales for every 256 and every 32"},
    {Type::iq1_m,   "ggml.iq1_m",   256,  56, {ScaleKind::spread}, kLittle,    29, 31, {.fallback = "iq4_nl"},
     "1.75 bits: codewords for 8 weights, scales for every 256 and every 16"},
};
// clang-format on

// Whether the rows of a table, each with a `type`, are in the order of `Type` and complete.
template <typename Rows>
constexpr bool is_by_type(const Rows& rows) {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].type != static_cast<Type>(i)) return false;
  return std::size(rows) == std::size(kTypes);
}
static_assert(is_by_type(kTypes));

constexpr const TypeFacts& facts_of(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

// Returns null if it is not a layout of ggml's.
constexpr const TypeFacts* find_facts(std::string_view layout) {
  const auto* const found = std::ranges::find(kTypes, layout, &TypeFacts::layout);
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace tare::codec::ggml
