#include "codecs/zt2/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/printable.hpp"

namespace tare::codec::zt2 {
namespace {

struct RegisteredType {
  std::string_view name;
  DType storage;
};
constexpr RegisteredType kTypes[] = {
    {"bool", DType::u8},        {"f8_e4m3fn", DType::u8},   {"f8_e5m2", DType::u8},
    {"f8_e4m3fnuz", DType::u8}, {"f8_e5m2fnuz", DType::u8}, {"f8_e8m0", DType::u8},
    {"f4_e2m1", DType::u8},     {"complex64", DType::f32},  {"complex128", DType::f64}};

Problem attributes_problem(std::string_view sentence) { return {"layout.attributes", std::string(sentence)}; }

}  // namespace

std::optional<std::uint64_t> number(const Map& map, std::string_view key) {
  const Value* const value = map.find(key);
  const auto* const small = value == nullptr ? nullptr : value->get<std::int64_t>();
  if (small != nullptr && *small >= 0) return static_cast<std::uint64_t>(*small);
  const auto* const large = value == nullptr ? nullptr : value->get<std::uint64_t>();
  return large == nullptr ? std::nullopt : std::optional(*large);
}

std::string_view word(const Map& map, std::string_view key) {
  const Value* const value = map.find(key);
  return value == nullptr || value->text() == nullptr ? std::string_view() : std::string_view(*value->text());
}

const Map* submap(const Map& map, std::string_view key) {
  const Value* const value = map.find(key);
  return value == nullptr ? nullptr : value->get<Map>();
}

std::optional<DType> storage_of(std::string_view type) {
  const auto* const found = std::ranges::find(kTypes, type, &RegisteredType::name);
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->storage);
}

ElementSize size_of_elements(DType dtype, std::string_view type, std::uint64_t count) {
  if (type.empty()) return {true, checked_mul(count, size_of(dtype))};
  if (!storage_of(type)) return {};
  if (type == kF4) return {true, ceil_div(count, 2)};
  return {true, checked_mul(count, std::uint64_t{size_of(dtype)} * (type.starts_with("complex") ? 2 : 1))};
}

bool has_parts(const Tensor& tensor, std::span<const std::string_view> names) {
  return tensor.components.size() == names.size() &&
         std::ranges::all_of(names, [&](std::string_view name) { return tensor.component(name) != nullptr; });
}

Problem parts_problem(std::string_view id, std::string_view parts) {
  return {"layout.parts", fmt::format("an object of {} has exactly the parts {}", id, parts)};
}

Problem size_problem(const Component& component, std::optional<std::uint64_t> expected) {
  return {"layout.size", fmt::format("the part \"{}\": expected {} bytes, found {}", quote(component.role),
                                     expected ? fmt::to_string(*expected) : "more than 2^64", component.blob.size())};
}

std::optional<Problem> expect_size(const Component& component, std::optional<std::uint64_t> expected) {
  if (expected == component.blob.size()) return std::nullopt;
  return size_problem(component, expected);
}

// Nothing is known about types that are not registered.
std::optional<Problem> expect_elements(const Component& component, std::uint64_t count) {
  const ElementSize size = size_of_elements(component.dtype, component.type, count);
  return size.known ? expect_size(component, size.bytes) : std::nullopt;
}

std::optional<std::uint64_t> product(std::initializer_list<std::uint64_t> factors) {
  std::optional<std::uint64_t> all = 1;
  for (const std::uint64_t factor : factors) all = all ? checked_mul(*all, factor) : std::nullopt;
  return all;
}

bool is_index(const Component& component) {
  return component.type.empty() && (component.dtype == DType::u32 || component.dtype == DType::u64);
}

Problem index_problem(std::string_view part) {
  return {"layout.type", fmt::format("the part \"{}\" must be u32 or u64 (all of them the same)", part)};
}

std::optional<Problem> check_csr(const Tensor& tensor) {
  static constexpr std::string_view kParts[] = {"values", "indices", "indptr"};
  if (tensor.shape.rank() != 2)
    return Problem{"layout.rank", fmt::format("{} has 2 dimensions, found {}", kCsrId, tensor.shape.rank())};
  if (!has_parts(tensor, kParts)) return parts_problem(kCsrId, "\"values\", \"indices\", \"indptr\"");
  const Component &indices = *tensor.component("indices"), &indptr = *tensor.component("indptr");
  if (!is_index(indices)) return index_problem("indices");
  if (!is_index(indptr) || indptr.dtype != indices.dtype) return index_problem("indptr");
  const std::uint64_t width = size_of(indices.dtype);
  const auto rows = checked_add(tensor.shape[0], 1);
  if (const auto bad = expect_size(indptr, rows ? checked_mul(*rows, width) : std::nullopt)) return bad;
  if (indices.blob.size() % width != 0) return size_problem(indices, indices.blob.size() / width * width);
  return expect_elements(*tensor.component("values"), indices.blob.size() / width);
}

std::optional<Problem> check_coo(const Tensor& tensor) {
  static constexpr std::string_view kParts[] = {"values", "coords"};
  if (tensor.shape.rank() == 0) return Problem{"layout.rank", fmt::format("{} has at least 1 dimension", kCooId)};
  if (!has_parts(tensor, kParts)) return parts_problem(kCooId, "\"values\", \"coords\"");
  const Component& coords = *tensor.component("coords");
  if (!is_index(coords)) return index_problem("coords");
  const std::uint64_t width = size_of(coords.dtype) * tensor.shape.rank();
  if (coords.blob.size() % width != 0) return size_problem(coords, coords.blob.size() / width * width);
  return expect_elements(*tensor.component("values"), coords.blob.size() / width);
}

std::optional<Problem> check_mx(const Tensor& tensor, GroupPlan& plan) {
  static constexpr std::string_view kParts[] = {"data", "scales"};
  static constexpr std::string_view kElementTypes[] = {"f4_e2m1", "f8_e4m3fn", "f8_e5m2"};
  if (!has_parts(tensor, kParts)) return parts_problem(kMxId, "\"data\", \"scales\"");
  const Component &data = *tensor.component("data"), &scales = *tensor.component("scales");
  const bool integers = data.type.empty() && data.dtype == DType::i8;
  if (!integers && std::ranges::find(kElementTypes, data.type) == std::end(kElementTypes))
    return Problem{"layout.type", fmt::format("the part \"data\" cannot be {}", quote(data.type_name()))};
  if (scales.dtype != DType::u8 || scales.type != "f8_e8m0")
    return Problem{"layout.type", "the part \"scales\" must be f8_e8m0"};
  const std::uint64_t rank = tensor.shape.rank();
  const auto block = number(tensor.attributes, "block_size");
  const Value* const stated = tensor.attributes.find("axis");
  const auto axis = stated == nullptr ? std::optional<std::uint64_t>(rank - 1) : number(tensor.attributes, "axis");
  if (!block || *block < 2) return attributes_problem("block_size must be a number of at least 2");
  if (word(tensor.attributes, "scale_form") != "e8m0_exponent")
    return attributes_problem("scale_form must be e8m0_exponent");
  if (!axis || *axis >= rank) return attributes_problem("axis must be one of the dimensions");
  if (tensor.shape[*axis] % *block != 0)
    return attributes_problem(fmt::format("{} elements are not whole blocks of {}", tensor.shape[*axis], *block));
  plan = {.size = *block, .axis = *axis};
  const std::uint64_t elements = *tensor.shape.elements();
  if (const auto bad = expect_elements(data, elements)) return bad;
  return expect_size(scales, elements / *block);
}

namespace {

// The zero points of `groups` groups, whose words have `width` bytes.
std::optional<Problem> check_zeros(const Tensor& tensor, std::uint64_t groups, std::uint64_t width, GroupPlan& plan) {
  if (plan.zero_form == "none") return std::nullopt;
  if (plan.zero_form == "implied") {
    const Value* const value = submap(tensor.attributes, "zero_point")->find("value");
    if (value == nullptr || value->get<std::int64_t>() == nullptr)
      return attributes_problem("zero_point.value must be a number");
    plan.zero = *value->get<std::int64_t>();
    return std::nullopt;
  }
  if (plan.zero_form != "tensor") return attributes_problem("zero_point.form is neither none nor implied nor tensor");
  const Component& zeros = *tensor.component("zeros");
  if (plan.zero_packing == "plain") return expect_size(zeros, checked_mul(groups, size_of(zeros.dtype)));
  if (plan.zero_packing != "same_as_data")
    return attributes_problem("zero_point.packing is neither plain nor same_as_data");
  if (groups % plan.per_word != 0) return size_problem(zeros, groups / plan.per_word * width);
  return expect_size(zeros, checked_mul(groups / plan.per_word, width));
}

}  // namespace

std::optional<Problem> check_group(const Tensor& tensor, GroupPlan& plan) {
  const Map* const packing = submap(tensor.attributes, "packing");
  const Map* const zero = submap(tensor.attributes, "zero_point");
  const auto bits = number(tensor.attributes, "bits"), size = number(tensor.attributes, "group_size"),
             axis = number(tensor.attributes, "axis");
  if (packing == nullptr || zero == nullptr || !bits || !size || !axis)
    return attributes_problem(fmt::format("{} needs bits, group_size, axis, packing and zero_point", kGroupId));
  const auto per_word = number(*packing, "per_word");
  plan = {*bits,
          *size,
          *axis,
          per_word.value_or(0),
          word(*packing, "word"),
          word(*packing, "order"),
          word(tensor.attributes, "scale_form"),
          word(*zero, "form"),
          word(*zero, "packing"),
          0};
  const bool tensor_zeros = plan.zero_form == "tensor";
  static constexpr std::string_view kParts[] = {"data", "scales", "zeros"};
  if (!has_parts(tensor, std::span(kParts).first(tensor_zeros ? 3 : 2)))
    return parts_problem(kGroupId, tensor_zeros ? "\"data\", \"scales\", \"zeros\"" : "\"data\", \"scales\"");
  const Component &data = *tensor.component("data"), &scales = *tensor.component("scales");
  const std::uint64_t width = size_of(data.dtype);
  if (is_float(data.dtype) || !data.type.empty() || plan.word != fmt::format("u{}", 8 * width))
    return Problem{"layout.type", "the part \"data\" must be integers of the packing's word"};
  static constexpr std::uint64_t kBits[] = {2, 3, 4, 5, 6, 8};
  if (std::ranges::find(kBits, plan.bits) == std::end(kBits) || 8 * width % plan.bits != 0 ||
      plan.per_word != 8 * width / plan.bits)
    return attributes_problem("bits must be 2, 3, 4, 5, 6 or 8 and fill the word, per_word as many as fit");
  if (plan.order != "lsb_first" && plan.order != "msb_first")
    return attributes_problem("packing.order is neither lsb_first nor msb_first");
  const bool exponents = plan.scale_form == "e8m0_exponent";
  if (!exponents && plan.scale_form != "f32_factors" && plan.scale_form != "f16_factors")
    return attributes_problem("scale_form is not one that the profile defines");
  if (exponents ? scales.dtype != DType::u8 || scales.type != "f8_e8m0"
                : !is_float(scales.dtype) || !scales.type.empty())
    return Problem{"layout.type", "the type of the part \"scales\" does not fit scale_form"};
  if (plan.axis >= tensor.shape.rank()) return attributes_problem("axis must be one of the dimensions");
  const std::uint64_t along = tensor.shape[plan.axis];
  if (plan.size != 0 && along % plan.size != 0)
    return attributes_problem(fmt::format("{} elements are not whole groups of {}", along, plan.size));
  const std::uint64_t codes = *tensor.shape.elements();
  if (codes % plan.per_word != 0) return size_problem(data, codes / plan.per_word * width);
  if (const auto bad = expect_size(data, checked_mul(codes / plan.per_word, width))) return bad;
  const std::uint64_t groups = along == 0 ? 0 : (plan.size == 0 ? along : along / plan.size) * (codes / along);
  if (const auto bad = expect_size(scales, checked_mul(groups, size_of(scales.dtype)))) return bad;
  return check_zeros(tensor, groups, width, plan);
}

}  // namespace tare::codec::zt2
