// The quantization methods of MCF as codecs: mcf.int8, int4, q8, q4, k6, k4, k3 and k2.
//
// A tensor has one component, `payload` (u8): the regions that layout.hpp describes, byte for byte as MCF files store
// them. Its attributes are `domain`, `min_clip` and `max_clip`; without `domain` it holds weights.
//
//   layout     methods, regions                decode    the dense tensor, lazily
//   reference  the arithmetic, one at a time   rows      products of rows (tare/rows.hpp)
//   simd_*     the same with SIMD              verify    the rules of the data
//   encode     the payload, lazily             encode_*  the search for scales, kernels, chunks
#include "codecs/mcf/mcf.hpp"

#include <fmt/format.h>

#include <array>

#include "codecs/mcf/encode.hpp"
#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::array<std::string_view, 1> kRoles = {"payload"};

std::optional<Geometry> geometry_of(const Tensor& tensor, Problem& why) {
  const auto info = attributes_of(tensor.attributes);
  if (!info) {
    why = {
        "quant.attributes",
        fmt::format("\"domain\" is \"weights\" or \"activations\", \"min_clip\" and \"max_clip\" are numbers of f32; "
                    "found {}",
                    to_json(tensor.attributes))};
    return std::nullopt;
  }
  return geometry_of(*find_method(tensor.layout), info->domain, tensor.shape, &why);
}

std::string size_sentence(const Tensor& tensor, const Geometry& geometry, std::uint64_t found) {
  return fmt::format("{} of shape {} has a payload of {} bytes, found {}", tensor.layout, tensor.shape.text(),
                     geometry.bytes, found);
}

constexpr std::array<std::string_view, 8> kMethodNames = {"int8", "int4", "q8", "q4", "k6", "k4", "k3", "k2"};

// The bytes of a matrix encoded by kMethodNames[I]. The largest value if it cannot be: no budget chooses that.
template <std::size_t I>
std::uint64_t coded_bytes(const Shape& shape) {
  const auto geometry = geometry_of(*find_method(kMethodNames[I]), Domain::weights, shape);
  return geometry ? geometry->bytes : ~std::uint64_t{0};
}

// The codec of kMethodNames[method]. Budgets do not use int*: one scale per tensor loses more than q* and k* save.
constexpr Codec row(std::size_t method, std::string_view layout, std::string_view title,
                    std::uint64_t (*budget)(const Shape&) = nullptr) {
  return {.layout = layout,
          .name = layout,
          .title = title,
          .methods = std::span(kMethodNames).subspan(method, 1),
          .roles = kRoles,
          .parameters = kParameters,
          .any_rank = method < 2,
          .ranged = method < 2,
          .weighted = method >= 2,
          .budget = budget,
          .subnormal_scales =
              "Mantle reads them as 0, and their weights with them. Fewer bits per weight make larger "
              "scales, and int8 stores its scale as f32",
          .check = check,
          .verify = verify,
          .decode = decode,
          .encode = encode,
          .rows = make_rows,
          .explain = explain};
}

}  // namespace

Geometry geometry_of(const Tensor& tensor) {
  Problem why;
  const auto geometry = geometry_of(tensor, why);
  if (!geometry) throw Error(ErrorKind::corrupt, why.rule, why.sentence).about(tensor.name);
  return *geometry;
}

std::optional<Problem> check(const Tensor& tensor) {
  const Component* const payload = tensor.component("payload");
  if (payload == nullptr || tensor.components.size() != 1)
    return Problem{"quant.missing", fmt::format("a tensor of {} has one component, \"payload\"", tensor.layout)};
  if (payload->dtype != DType::u8 || !payload->type.empty())
    return Problem{"quant.type", fmt::format("a payload is u8, found {}", payload->type_name())};
  Problem why;
  const auto geometry = geometry_of(tensor, why);
  if (!geometry) return why;
  const std::uint64_t found = payload->blob.size();
  if (found == geometry->bytes) return std::nullopt;
  // A known program writes embeddings like this.
  if (geometry->method->family == Family::raw && found == geometry->codes.size)
    return Problem{"quant.no_scale", size_sentence(tensor, *geometry, found) +
                                         ": exactly the codes, so the scale before them is missing"};
  return Problem{"quant.size", size_sentence(tensor, *geometry, found)};
}

constinit const std::array<Codec, 8> kCodecs = {
    row(0, "mcf.int8", "8 bits with one scale (and zero point, for activations)"),
    row(1, "mcf.int4", "4 bits with one scale (and zero point, for activations)"),
    row(2, "mcf.q8", "8 bits with a scale for every 32 weights: 8.5 bits per weight", coded_bytes<2>),
    row(3, "mcf.q4", "4 bits with a scale for every 32 weights: 4.5 bits per weight", coded_bytes<3>),
    row(4, "mcf.k6", "6 bits with scales for every 256 and every 32 weights: 6.31 bits per weight", coded_bytes<4>),
    row(5, "mcf.k4", "4 bits with scales for every 256 and every 32 weights: 4.31 bits per weight", coded_bytes<5>),
    row(6, "mcf.k3", "3 bits with scales for every 256 and every 32 weights: 3.31 bits per weight", coded_bytes<6>),
    row(7, "mcf.k2", "2 bits with scales for every 256 and every 32 weights: 2.31 bits per weight", coded_bytes<7>),
};

}  // namespace tare::codec::mcf
