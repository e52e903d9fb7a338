// "alt.qint8" and "alt.qint4": one scale for a whole tensor of any shape, as ALT files store it.
//
//   payload      u8: one code per element, in row-major order; qint4 with `packed`: two per byte, element 2i in the
//                high nibble, 2i + 1 in the low one; if the number of elements is odd, the last low nibble is 0
//   attributes   delta, min, max (f32), packed (bool; false for qint8)
//
//   symmetric    min = max = 0: w = delta * q, q signed, -127 to 127 or -7 to 7
//   range        max > min:     w = min + delta * u, u unsigned, 0 to 255 or 0 to 15; both operations round to f32
//
// The encoder never writes the most negative signed code. It is decoded like any other; `verify` reports it.
#include "codecs/alt/quant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.hpp"
#include "codecs/first_block.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::alt {

std::optional<FirstBlock> explain(const Tensor& tensor);

namespace {

constexpr std::array<std::string_view, 1> kRoles = {"payload"};
constexpr std::array<std::string_view, 4> kParameters = {"delta", "min", "max", "packed"};
constexpr std::array<std::string_view, 1> kMethods8 = {"qint8"}, kMethods4 = {"qint4"};

std::optional<float> number(const Map& attributes, std::string_view key) {
  const Value* const value = attributes.find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* real = value->get<double>()) return f64_to_f32(*real);
  if (const auto* integer = value->get<std::int64_t>()) return static_cast<float>(*integer);
  return std::nullopt;
}

std::optional<Problem> read_parameters(const Map& attributes, Plan& plan) {
  const auto delta = number(attributes, "delta"), min = number(attributes, "min"), max = number(attributes, "max");
  const Value* const packed = attributes.find("packed");
  const bool* const flag = packed == nullptr ? nullptr : packed->get<bool>();
  if (!delta || !min || !max || flag == nullptr)
    return Problem{"qint.parameters", "the attributes delta, min and max (numbers) and packed (a boolean) are needed"};
  if (!std::isfinite(*delta) || !std::isfinite(*min) || !std::isfinite(*max))
    return Problem{"qint.parameters",
                   fmt::format("delta, min and max are finite numbers, found {}, {}, {}", *delta, *min, *max)};
  const bool symmetric = *min == 0 && *max == 0;
  if (!symmetric && !(*max > *min))
    return Problem{"qint.range",
                   fmt::format("min and max are both 0, or max is above min; found {} and {}", *min, *max)};
  if (*flag && plan.bits != 4) return Problem{"qint.packed", "only qint4 can be packed"};
  plan.delta = *delta;
  plan.min = *min;
  plan.max = *max;
  plan.ranged = !symmetric;
  plan.packed = *flag;
  return std::nullopt;
}

std::optional<Problem> check(const Tensor& tensor) {
  Plan plan;
  return read_plan(tensor, plan);
}

// The position of a payload byte: in the file if the payload is stored there as is.
std::string place_of(const Blob& payload, std::uint64_t byte) {
  return payload.is_plain() ? fmt::format("byte {}", payload.offset() + byte)
                            : fmt::format("byte {} of the codes", byte);
}

void verify(const Tensor& tensor, const std::function<void(Problem)>& report) {
  Plan plan;
  if (read_plan(tensor, plan)) return;
  const Blob& payload = tensor.component("payload")->blob;
  ByteStream stream(payload, 0);
  const Table table = table_of(plan);
  std::uint64_t bad = 0, first = 0, infinite = 0;
  int found = 0;
  const auto look = [&](std::uint64_t element, unsigned bits) {
    if (!std::isfinite(table[bits])) ++infinite;
    const int code = plan.code_of(bits);
    if (code >= plan.lowest() && code <= plan.highest()) return;
    if (bad++ == 0) first = element, found = code;
  };
  for (std::uint64_t i = 0; i < plan.payload_bytes(); ++i) {
    const auto byte = std::to_integer<unsigned>(*stream.take(1));
    if (!plan.packed) {
      look(i, byte);
      continue;
    }
    look(2 * i, byte >> 4);
    if (2 * i + 1 < plan.elements)
      look(2 * i + 1, byte & 15);
    else if ((byte & 15) != 0)
      report({"qint.unused_nibble",
              fmt::format("{}: the low nibble after the last code is {}, not 0", place_of(payload, i), byte & 15)});
  }
  if (bad > 0)
    report({"qint.code", fmt::format("element {}, {}: a code is {} to {}, found {} ({} such codes in all)", first,
                                     place_of(payload, plan.packed ? first / 2 : first), plan.lowest(), plan.highest(),
                                     found, bad)});
  if (infinite > 0) report(infinite_values(infinite, plan.elements, file_offset(payload, 0)));
}

template <unsigned Bits>
std::uint64_t coded_bytes(const Shape& shape) {
  return Plan{.bits = Bits, .packed = Bits == 4, .elements = shape.elements().value_or(0)}.payload_bytes();
}

constexpr Codec row(std::string_view layout, std::string_view title, std::span<const std::string_view> methods,
                    std::uint64_t (*budget)(const Shape&)) {
  return {.layout = layout,
          .name = layout,
          .title = title,
          .methods = methods,
          .roles = kRoles,
          .parameters = kParameters,
          .min_rank = 2,
          .max_rank = 64,
          .ranged = true,
          .budget = budget,
          .check = check,
          .verify = verify,
          .decode = decode,
          .encode = encode,
          .rows = make_rows,
          .explain = explain};
}

}  // namespace

std::optional<Problem> read_plan(const Tensor& tensor, Plan& plan) {
  plan = {};
  plan.bits = tensor.layout == kQint4.layout ? 4 : 8;
  const Component* const payload = tensor.component("payload");
  if (payload == nullptr) return Problem{"qint.missing", "a tensor of ALT codes needs the component \"payload\""};
  if (auto problem = read_parameters(tensor.attributes, plan)) return problem;
  const auto elements = tensor.shape.elements();
  if (!elements)
    return Problem{"qint.size", fmt::format("the shape {} does not fit 64 bits of length", tensor.shape.text())};
  plan.elements = *elements;
  if (payload->blob.size() != plan.payload_bytes())
    return Problem{"qint.size", fmt::format("the shape {} takes {} bytes of codes, the component has {}",
                                            tensor.shape.text(), plan.payload_bytes(), payload->blob.size())};
  return std::nullopt;
}

constinit const Codec kQint8 =
    row("alt.qint8", "8 bits with one scale for the whole tensor", kMethods8, coded_bytes<8>);
constinit const Codec kQint4 =
    row("alt.qint4", "4 bits with one scale for the whole tensor", kMethods4, coded_bytes<4>);

// This layout has no blocks: the scale is an attribute of the whole tensor.
std::optional<FirstBlock> explain(const Tensor& tensor) {
  Plan plan;
  if (read_plan(tensor, plan)) return std::nullopt;
  Explainer block(tensor, std::min<std::uint64_t>(32, plan.elements),
                  plan.ranged ? "w = min + delta u; of the whole tensor" : "w = delta q; of the whole tensor");
  const std::string_view what = plan.packed ? "codes, two in a byte, the first in the high half" : "codes";
  std::vector<double> codes;
  if (plan.packed) {
    codes = block.codes("payload", what, 4, true);
  } else {
    const Bytes bytes = block.field("payload", {.name = "payload",
                                                .what = what,
                                                .kind = plan.ranged ? FieldKind::u8 : FieldKind::i8,
                                                .bytes = block.weights()});
    codes = codes_in(bytes, 8, block.weights());
  }
  for (double& code : codes) code = plan.code_of(static_cast<unsigned>(code));
  block.term("delta", plan.delta);
  if (plan.ranged) block.term("min", plan.min);
  return block.term(plan.ranged ? "u" : "q", std::move(codes)).take();
}

}  // namespace tare::codec::alt
