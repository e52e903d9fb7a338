// The rules of zTensor 2's types and profiles: what parts and attributes an object of a profile has, and how long its parts
// are. They look at no data.
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

// Bytes of so many elements. Not known: the type is not registered. No bytes: there is no such number.
struct ElementSize {
  bool known = false;
  std::optional<std::uint64_t> bytes;
};
ElementSize size_of_elements(DType dtype, std::string_view type, std::uint64_t count);
// The storage type that a registered logical type has; nothing for one that is not registered.
std::optional<DType> storage_of(std::string_view type);

// Entries of attributes: nothing, or an empty text, when there is none of that kind.
std::optional<std::uint64_t> number(const Map& map, std::string_view key);
std::string_view word(const Map& map, std::string_view key);
const Map* submap(const Map& map, std::string_view key);

bool has_parts(const Tensor& tensor, std::span<const std::string_view> names);
Problem parts_problem(std::string_view id, std::string_view parts);
std::optional<Problem> expect_size(const Component& component, std::optional<std::uint64_t> expected);

// `count` 4-bit floats, two in a byte, as f32. The bytes are as many as that takes.
Component floats_of_f4(const Component& halves, std::uint64_t count);
// An odd number of them leaves half a byte, which is 0.
void verify_last_half(const Component& halves, std::uint64_t count, const std::function<void(Problem)>& report);

std::optional<Problem> check_csr(const Tensor& tensor);
std::optional<Problem> check_coo(const Tensor& tensor);

// Codes of a few bits, or small floats, that share a scale in groups along one axis.
struct GroupPlan {
  std::uint64_t bits = 0, size = 0, axis = 0, per_word = 0;
  std::string_view word = {}, order = {}, scale_form = {}, zero_form = {}, zero_packing = {};
  std::int64_t zero = 0;
};
std::optional<Problem> check_mx(const Tensor& tensor, GroupPlan& plan);
std::optional<Problem> check_group(const Tensor& tensor, GroupPlan& plan);

}  // namespace tare::codec::zt2
