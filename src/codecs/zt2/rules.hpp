// The rules of zTensor 2's types and profiles: the parts and attributes of an object of a profile, and the sizes of its
// parts. They read no data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "tare/codec.hpp"

namespace tare::codec::zt2 {

// See Codec::explain.
std::optional<FirstBlock> explain(const Tensor& tensor);

inline constexpr std::string_view kCsrId = "zt.sparse_csr/1", kCooId = "zt.sparse_coo/1", kGroupId = "zt.quant_group/1",
                                  kMxId = "zt.mx/1";
inline constexpr std::string_view kF4 = "f4_e2m1", kOddF4 = "zt.f4_e2m1";

// The size of some elements. Not known: the type is not registered. No bytes: the size overflows 64 bits.
struct ElementSize {
  bool known = false;
  std::optional<std::uint64_t> bytes;
};
ElementSize size_of_elements(DType dtype, std::string_view type, std::uint64_t count);
// The storage type of a registered logical type; nothing for other types.
std::optional<DType> storage_of(std::string_view type);

// Entries of attributes: nothing (or an empty text, or null) if there is no entry of that kind.
std::optional<std::uint64_t> number(const Map& map, std::string_view key);
std::string_view word(const Map& map, std::string_view key);
const Map* submap(const Map& map, std::string_view key);

bool has_parts(const Tensor& tensor, std::span<const std::string_view> names);
Problem parts_problem(std::string_view id, std::string_view parts);
std::optional<Problem> expect_size(const Component& component, std::optional<std::uint64_t> expected);

// `count` 4-bit floats, two per byte, as f32. `halves` must have the right number of bytes.
Component floats_of_f4(const Component& halves, std::uint64_t count);
// Reports an unused last half byte that is not 0.
void verify_last_half(const Component& halves, std::uint64_t count, const std::function<void(Problem)>& report);

std::optional<Problem> check_csr(const Tensor& tensor);
std::optional<Problem> check_coo(const Tensor& tensor);

// Codes of a few bits, or small floats, in groups along one axis that share a scale.
struct GroupPlan {
  std::uint64_t bits = 0, size = 0, axis = 0, per_word = 0;
  std::string_view word = {}, order = {}, scale_form = {}, zero_form = {}, zero_packing = {};
  std::int64_t zero = 0;
};
std::optional<Problem> check_mx(const Tensor& tensor, GroupPlan& plan);
std::optional<Problem> check_group(const Tensor& tensor, GroupPlan& plan);

}  // namespace tare::codec::zt2
