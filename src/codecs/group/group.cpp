// "quantized_group", the codec zt.group: unsigned codes of 2, 4 or 8 bits in groups along the rows of a matrix.
//
//   packed_weight  i32[rows][ceil(columns / n)], n = 32 / bits codes in each, the first in the lowest bits; unused bits
//                  at the end of a row are zero
//   scales, zeros  f16 (accepted: any float type) [rows][ceil(columns / group_size)]; a row's last group may be short
//   attributes     bits, group_size, packing = "<n>_per_i32"
//
//   w = scale * (code - zero), computed exactly and rounded once to f32.
//
// Tensors of other ranks, packings or parameters are carried unchanged: their sizes are not checked and they are not
// decoded. The same is true of tensors whose sizes only fit groups along the first axis, as in GPTQ.
#include "codecs/group/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "codecs/first_block.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::group {

std::optional<FirstBlock> explain(const Tensor& tensor);

namespace {

constexpr std::array<std::string_view, 3> kRoles = {"packed_weight", "scales", "zeros"};
constexpr std::array<std::string_view, 3> kParameters = {"bits", "group_size", "packing"};
constexpr std::array<std::string_view, 3> kMethods = {"group2", "group4", "group8"};

std::optional<std::uint64_t> positive(const Map& attributes, std::string_view key) {
  const Value* const value = attributes.find(key);
  const auto* const number = value == nullptr ? nullptr : value->get<std::int64_t>();
  if (number == nullptr || *number <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// The n of "<n>_per_i32".
std::optional<std::uint64_t> per_word(const Map& attributes) {
  const Value* const value = attributes.find("packing");
  const std::string* const text = value == nullptr ? nullptr : value->text();
  if (text == nullptr || !text->ends_with("_per_i32")) return std::nullopt;
  const char* const end = text->data() + text->size() - std::string_view("_per_i32").size();
  std::uint64_t n = 0;
  const auto parsed = std::from_chars(text->data(), end, n);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return n;
}

std::optional<Problem> check_size(const Component& component, std::uint64_t rows, std::uint64_t per_row) {
  const auto count = checked_mul(rows, per_row);
  const auto bytes = count ? checked_mul(*count, size_of(component.dtype)) : std::nullopt;
  if (bytes && component.blob.size() == *bytes) return std::nullopt;
  return Problem{"group.size",
                 fmt::format("{} rows of {} {} need {} bytes of \"{}\", the component has {}", rows, per_row,
                             name_of(component.dtype), bytes ? fmt::to_string(*bytes) : "more than 2^64",
                             component.role, component.blob.size())};
}

// The sizes that the attributes imply; nothing if the attributes, the rank or the types are not supported.
std::optional<Plan> stated_plan(const Tensor& tensor) {
  const auto bits = positive(tensor.attributes, "bits");
  const auto size = positive(tensor.attributes, "group_size");
  const auto n = per_word(tensor.attributes);
  if (tensor.shape.rank() != 2 || !bits || !size || !n) return std::nullopt;
  if ((*bits != 2 && *bits != 4 && *bits != 8) || *n != 32 / *bits) return std::nullopt;
  const Component* const packed = tensor.component("packed_weight");
  if (packed == nullptr || (packed->dtype != DType::i32 && packed->dtype != DType::u32) || !packed->type.empty())
    return std::nullopt;
  for (const std::string_view role : {"scales", "zeros"}) {
    const Component* const parameters = tensor.component(role);
    if (parameters == nullptr || !is_float(parameters->dtype) || !parameters->type.empty()) return std::nullopt;
  }
  Plan plan;
  plan.rows = tensor.shape[0];
  plan.columns = tensor.shape[1];
  plan.bits = static_cast<unsigned>(*bits);
  plan.per_word = static_cast<unsigned>(*n);
  plan.group_size = *size;
  plan.words = ceil_div(plan.columns, plan.per_word);
  plan.groups = ceil_div(plan.columns, plan.group_size);
  return plan;
}

std::optional<Problem> check_sizes(const Tensor& tensor, const Plan& plan) {
  if (auto problem = check_size(*tensor.component("packed_weight"), plan.rows, plan.words)) return problem;
  if (auto problem = check_size(*tensor.component("scales"), plan.rows, plan.groups)) return problem;
  return check_size(*tensor.component("zeros"), plan.rows, plan.groups);
}

// GPTQ packs and groups along columns: i32[ceil(rows / n)][columns], scales and zeros [ceil(rows / group)][columns].
bool fits_first_axis(const Tensor& tensor, const Plan& plan) {
  Plan turned = plan;
  std::swap(turned.rows, turned.columns);
  turned.words = ceil_div(turned.columns, turned.per_word);
  turned.groups = ceil_div(turned.columns, turned.group_size);
  return !check_sizes(tensor, turned);
}

std::optional<Problem> check(const Tensor& tensor) {
  for (const std::string_view role : kRoles)
    if (tensor.component(role) == nullptr)
      return Problem{"group.missing", fmt::format("a quantized_group tensor needs the component \"{}\"", role)};
  const auto plan = stated_plan(tensor);
  if (!plan || fits_first_axis(tensor, *plan)) return std::nullopt;
  return check_sizes(tensor, *plan);
}

std::optional<Problem> doubt(const Tensor& tensor) {
  const auto plan = stated_plan(tensor);
  if (!plan || !fits_first_axis(tensor, *plan)) return std::nullopt;
  if (check_sizes(tensor, *plan))
    return Problem{"group.orientation",
                   "the sizes are those of groups along the first axis, as GPTQ has them; such a tensor is carried and "
                   "not decoded",
                   std::nullopt, Severity::warning};
  return Problem{"group.orientation", "groups taken along the last axis; the sizes fit the first, as GPTQ has it, too",
                 std::nullopt, Severity::note};
}

using Report = std::function<void(Problem)>;

// Calls visit(number, value) for every scale or zero point: those of the first row, of the second, and so on.
template <typename Visit>
void for_each_parameter(const Component& component, const Plan& plan, const Visit& visit) {
  ElementStream stream(component, 0);
  std::array<double, 2048> buffer;
  const std::uint64_t all = plan.rows * plan.groups;  // as many as the component has
  for (std::uint64_t first = 0; first < all; first += buffer.size()) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), all - first)));
    stream.read(part);
    for (std::size_t i = 0; i < part.size(); ++i) visit(first + i, part[i]);
  }
}

// Reports the first parameter for which `bad` returns true, and how many there are.
template <typename Bad>
void verify_parameters(const Component& component, const Plan& plan, std::string_view rule, std::string_view expected,
                       const Bad& bad, const Report& report) {
  std::uint64_t count = 0, at = 0;
  std::string first;
  for_each_parameter(component, plan, [&](std::uint64_t number, double value) {
    if (!bad(value) || count++ > 0) return;
    at = number * size_of(component.dtype);
    first = fmt::format("row {}, group {}: {}, found {}", number / plan.groups, number % plan.groups, expected, value);
  });
  if (count > 0)
    report(
        {std::string(rule), fmt::format("{} ({} such groups in all)", first, count), file_offset(component.blob, at)});
}

// The bits after a row's last code must be zero.
void verify_unused_bits(const Component& packed, const Plan& plan, const Report& report) {
  const auto used = static_cast<unsigned>(plan.columns % plan.per_word) * plan.bits;
  if (used == 0) return;
  std::uint64_t count = 0, first = 0;
  ByteStream stream(packed.blob, 0);
  for (std::uint64_t row = 0; row < plan.rows; ++row) {
    std::uint32_t word = 0;
    for (std::uint64_t i = 0; i < plan.words; ++i) word = load_le<std::uint32_t>(stream.take(4));
    if ((word >> used) != 0 && count++ == 0) first = row;
  }
  if (count > 0)
    report({"group.unused_bits",
            fmt::format("row {}: the {} bits after its last code are not zero ({} such rows in all)", first, 32 - used,
                        count),
            file_offset(packed.blob, ((first + 1) * plan.words - 1) * 4)});
}

void verify(const Tensor& tensor, const Report& report) {
  for (const Component& component : tensor.components) {
    verify_type(component, report);
    verify_booleans(component, report);
  }
  const auto plan = plan_of(tensor);
  if (!plan || plan->rows == 0 || plan->columns == 0) return;
  const double highest = (1u << plan->bits) - 1;
  verify_parameters(
      *tensor.component("scales"), *plan, "group.scale", "a scale is a finite number",
      [](double v) { return !std::isfinite(v); }, report);
  verify_parameters(
      *tensor.component("zeros"), *plan, "group.zero", fmt::format("a zero point is one of the codes 0 to {}", highest),
      [&](double v) { return !(v >= 0 && v <= highest); }, report);
  verify_unused_bits(*tensor.component("packed_weight"), *plan, report);
}

}  // namespace

std::optional<Plan> plan_of(const Tensor& tensor) {
  const auto plan = stated_plan(tensor);
  return plan && !check_sizes(tensor, *plan) ? plan : std::nullopt;
}

constinit const Codec kCodec = {.layout = "quantized_group",
                                .name = "zt.group",
                                .title = "2, 4 or 8 bits with a scale and a zero point for each group of a row",
                                .methods = kMethods,
                                .roles = kRoles,
                                .parameters = kParameters,
                                .check = check,
                                .verify = verify,
                                .decode = decode,
                                .doubt = doubt,
                                .encode = encode,
                                .rows = make_rows,
                                .explain = explain};

std::optional<FirstBlock> explain(const Tensor& tensor) {
  const auto plan = plan_of(tensor);
  if (!plan) return std::nullopt;
  Explainer block(tensor, std::min({plan->group_size, plan->columns, kMostExplained}), "w = scale (q - zero)");
  block.term("q",
             block.codes("packed_weight", "codes of the group's columns, the first in the lowest bits", plan->bits));
  block.term("scale", block.numbers("scales", "scale of the group"));
  return block.term("zero", block.numbers("zeros", "the code that stands for 0")).take();
}

}  // namespace tare::codec::group
