#include "codecs/mcf/layout.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::array<Method, 8> kMethods = {{
    {"int8", "mcf.int8", Family::raw, 8, 127},
    {"int4", "mcf.int4", Family::raw, 4, 7},
    {"q8", "mcf.q8", Family::block, 8, 127},
    {"q4", "mcf.q4", Family::block, 4, 7},
    {"k6", "mcf.k6", Family::super, 6, 31},
    {"k4", "mcf.k4", Family::super, 4, 7},
    {"k3", "mcf.k3", Family::super, 3, 3},
    {"k2", "mcf.k2", Family::super, 2, 1},
}};

// Places regions one after the other; remembers if a number overflowed.
class Regions {
 public:
  Region add(std::optional<std::uint64_t> count, std::uint64_t width) {
    const auto size = count ? checked_mul(*count, width) : std::nullopt;
    const auto offset = checked_align(end_, kAlignment);
    const auto end = size && offset ? checked_add(*offset, *size) : std::nullopt;
    if (!end) {
      overflow_ = true;
      return {};
    }
    end_ = *end;
    return {*offset, *size};
  }
  bool overflow() const { return overflow_; }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_ = 0;
  bool overflow_ = false;
};

void lay_raw(Geometry& geometry, std::uint64_t elements, Regions& regions) {
  geometry.scales = regions.add(1, 4);
  if (geometry.domain == Domain::activations) geometry.zero = regions.add(1, 4);
  geometry.codes = regions.add(geometry.method->bits == 8 ? elements : ceil_div(elements, 2), 1);
}

void lay_blocks(Geometry& geometry, Regions& regions) {
  geometry.blocks = ceil_div(geometry.columns, kBlock);
  const auto all_blocks = checked_mul(geometry.rows, geometry.blocks);
  if (geometry.method->family == Family::block) {
    geometry.scales = regions.add(all_blocks, 2);
  } else {
    geometry.supers = ceil_div(geometry.blocks, kBlocksInSuper);
    geometry.scales = regions.add(checked_mul(geometry.rows, geometry.supers), 2);
    geometry.sub_scales = regions.add(all_blocks, 1);
  }
  geometry.codes = regions.add(all_blocks, geometry.method->block_bytes());
}

std::optional<Geometry> refuse(Problem* why, std::string_view rule, std::string sentence) {
  if (why != nullptr) *why = {std::string(rule), std::move(sentence)};
  return std::nullopt;
}

// Nothing if the value is not a number, or is outside f32.
std::optional<float> clip_of(const Value& value) {
  double number = 0;
  if (const auto* const real = value.get<double>())
    number = *real;
  else if (const auto* const whole = value.get<std::int64_t>())
    number = static_cast<double>(*whole);
  else
    return std::nullopt;
  if (std::fabs(number) > std::numeric_limits<float>::max()) return std::nullopt;
  return static_cast<float>(number);
}

}  // namespace

std::string_view name_of(Domain domain) { return domain == Domain::weights ? "weights" : "activations"; }

std::span<const Method> all_methods() { return kMethods; }

const Method* find_method(std::string_view name) {
  for (const Method& method : kMethods)
    if (method.name == name || method.layout == name) return &method;
  return nullptr;
}

std::optional<Geometry> geometry_of(const Method& method, Domain domain, const Shape& shape, Problem* why) {
  const bool raw = method.family == Family::raw;
  if (!raw && shape.rank() != 2)
    return refuse(why, "quant.rank",
                  fmt::format("{} holds matrices, this tensor has {} dimensions", method.layout, shape.rank()));
  if (!raw && domain != Domain::weights)
    return refuse(why, "quant.domain", fmt::format("{} holds weights, not activations", method.layout));
  const auto elements = shape.elements();
  if (!elements) return refuse(why, "quant.too_large", "the shape has more than 2^64 elements");

  Geometry geometry;
  geometry.method = &method;
  geometry.domain = domain;
  geometry.columns = shape.empty() ? 1 : shape.back();
  const auto rows = Shape(shape.begin(), shape.end() - (shape.empty() ? 0 : 1)).elements();
  geometry.rows = rows.value_or(0);  // overflows only if there are no elements
  if (*elements == 0) return geometry;
  Regions regions;
  if (raw)
    lay_raw(geometry, *elements, regions);
  else
    lay_blocks(geometry, regions);
  if (regions.overflow()) return refuse(why, "quant.too_large", "the payload does not fit 64 bits of length");
  geometry.bytes = regions.end();
  return geometry;
}

void set_attributes(Map& attributes, const Attributes& info) {
  attributes.set("domain", std::string(name_of(info.domain)));
  attributes.set("min_clip", static_cast<double>(info.min_clip));
  attributes.set("max_clip", static_cast<double>(info.max_clip));
}

std::optional<Attributes> attributes_of(const Map& attributes) {
  Attributes info;
  if (const Value* const value = attributes.find("domain")) {
    const std::string* const text = value->text();
    if (text == nullptr) return std::nullopt;
    if (*text == name_of(Domain::activations))
      info.domain = Domain::activations;
    else if (*text != name_of(Domain::weights))
      return std::nullopt;
  }
  for (const auto& [key, target] : {std::pair{"min_clip", &info.min_clip}, std::pair{"max_clip", &info.max_clip}}) {
    const Value* const value = attributes.find(key);
    if (value == nullptr) continue;
    const auto number = clip_of(*value);
    if (!number) return std::nullopt;
    *target = *number;
  }
  return info;
}

}  // namespace tare::codec::mcf
