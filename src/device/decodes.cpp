#include "device/decodes.hpp"

#include <algorithm>
#include <string_view>

#include "base/checked.hpp"
#include "codecs/ggml/type_table.hpp"
#include "codecs/mcf/layout.hpp"
#include "inspect/scan.hpp"
#include "tare/codec.hpp"

namespace tare::device {
namespace {

// A kernel thread makes eight elements of a row.
constexpr std::uint64_t kEight = 8;

// The kernel of a layout is named like it: "ggml_q4_0" decodes ggml.q4_0.
constexpr std::string_view kKernels[] = {
    "ggml_q4_0",   "ggml_q4_1", "ggml_q5_0", "ggml_q5_1", "ggml_q8_0", "ggml_iq4_nl",
    "ggml_iq4_xs", "ggml_q2_k", "ggml_q3_k", "ggml_q4_k", "ggml_q5_k", "ggml_q6_k",
    "mcf_q8",      "mcf_q4",    "mcf_k6",    "mcf_k4",    "mcf_k3",    "mcf_k2",
};

// Returns an empty text if the layout has no kernel.
std::string_view kernel_of(std::string_view layout) {
  const auto found = std::ranges::find_if(kKernels, [&](std::string_view kernel) {
    return std::ranges::equal(kernel, layout, [](char ours, char its) { return ours == (its == '.' ? '_' : its); });
  });
  return found == std::end(kKernels) ? std::string_view() : *found;
}

bool stored_plainly(const Component* component) {
  return component != nullptr && component->blob.is_plain() && component->blob.source() != nullptr;
}

bool known_digest(const Blob& blob) { return blob.digest() && blob.digest().algorithm() != DigestAlgorithm::unknown; }

bool passes_check(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  return codec != nullptr && (codec->check == nullptr || !codec->check(tensor));
}

// Rows of the first axis. The device does not decode parts along other axes.
struct RowRange {
  std::uint64_t begin = 0, end = 0, of = 1;
};
std::optional<RowRange> rows_taken(const Tensor& tensor, const std::optional<AxisRange>& part) {
  if (!part) return RowRange{0, 1, 1};
  if (part->axis != 0) return std::nullopt;
  return RowRange{part->begin, part->end, tensor.shape[0]};
}

// One plane of contiguous units: `units` in all, distributed equally over the rows of the first axis.
std::optional<Decoding> one_plane(const Component& component, std::string_view kernel, std::uint64_t units,
                                  std::uint64_t unit_bytes, std::uint64_t unit_elements, const RowRange& rows,
                                  DType dtype) {
  if (rows.of == 0 || units % rows.of != 0) return std::nullopt;
  const std::uint64_t each = units / rows.of, first = rows.begin * each, count = (rows.end - rows.begin) * each;
  Decoding made;
  made.sources = {component.blob.source()};
  made.decode.kernel = kernel;
  made.decode.units = count;
  made.decode.made = dtype;
  made.decode.unit_out = unit_elements * size_of(dtype);
  made.decode.planes = {{kNoFile, component.blob.offset() + first * unit_bytes, count * unit_bytes, unit_bytes, 1}};
  made.bytes = count * made.decode.unit_out;
  if (known_digest(component.blob) && count == units) made.digest = component.blob.digest();
  made.unchecked = known_digest(component.blob) && count != units;
  return made;
}

std::optional<Decoding> dense_cast(const Tensor& tensor, const RowRange& rows, DType dtype) {
  const Component& component = tensor.components[0];
  std::string_view kernel;
  if (component.type.empty() && component.dtype == DType::f32) kernel = "cast_f32";
  if (component.type.empty() && component.dtype == DType::f16) kernel = "cast_f16";
  if (component.type.empty() && component.dtype == DType::bf16) kernel = "cast_bf16";
  if (component.type == "f8_e4m3fn") kernel = "cast_f8_e4m3fn";
  if (component.type == "f8_e5m2") kernel = "cast_f8_e5m2";
  const std::uint64_t element = size_of(component.dtype);
  // Planes are copied to multiples of 256, so their offset in the file may have any alignment.
  if (kernel.empty() || rows.of == 0 || (component.blob.size() / element) % rows.of != 0) return std::nullopt;
  // Units of 8 elements, so that every chunk but the last consists of whole stores.
  const std::uint64_t elements = component.blob.size() / element / rows.of * (rows.end - rows.begin);
  std::optional<Decoding> made = one_plane(component, kernel, component.blob.size() / element, element, 1, rows, dtype);
  if (!made) return std::nullopt;
  made->decode.units = ceil_div(elements, kEight);
  made->decode.unit_out *= kEight;
  made->decode.planes[0].unit_bytes *= kEight;
  made->scan = inspect::scan_kind(component.dtype, component.type);
  return made;
}

std::optional<Decoding> block_decode(const Tensor& tensor, const RowRange& rows, DType dtype) {
  const auto* const blocks = codec::ggml::find_facts(tensor.layout);
  const std::string_view kernel = kernel_of(tensor.layout);
  const Component* const payload = tensor.component("payload");
  if (blocks == nullptr || kernel.empty() || !stored_plainly(payload)) return std::nullopt;
  return one_plane(*payload, kernel, payload->blob.size() / blocks->bytes, blocks->bytes, blocks->weights, rows, dtype);
}

std::optional<Decoding> mcf_decode(const Tensor& tensor, const RowRange& rows, DType dtype) {
  namespace mcf = codec::mcf;
  const mcf::Method* const method = mcf::find_method(tensor.layout);
  const Component* const payload = tensor.component("payload");
  if (method == nullptr || method->family == mcf::Family::raw || !stored_plainly(payload)) return std::nullopt;
  const std::optional<mcf::Geometry> geometry = mcf::geometry_of(*method, mcf::Domain::weights, tensor.shape);
  if (!geometry || geometry->columns % kEight != 0 || geometry->rows == 0) return std::nullopt;
  const bool whole = rows.of == 1 && rows.begin == 0 && rows.end == 1;
  if (!whole && rows.of != geometry->rows) return std::nullopt;
  const std::uint64_t first = whole ? 0 : rows.begin, count = whole ? geometry->rows : rows.end - rows.begin;
  const bool super = method->family == mcf::Family::super;
  Decoding made;
  made.decode.kernel = kernel_of(method->layout);
  made.decode.units = count;
  made.decode.made = dtype;
  made.decode.unit_out = geometry->columns * size_of(dtype);
  made.decode.numbers = {geometry->columns, geometry->blocks};
  const auto plane = [&](const mcf::Region& region, std::uint64_t row_bytes) {
    made.decode.planes.push_back(
        {kNoFile, payload->blob.offset() + region.offset + first * row_bytes, count * row_bytes, row_bytes, 1});
    made.sources.push_back(payload->blob.source());
  };
  plane(geometry->codes, geometry->row_code_bytes());
  plane(geometry->scales, 2 * (super ? geometry->supers : geometry->blocks));
  if (super) plane(geometry->sub_scales, geometry->blocks);
  made.bytes = count * made.decode.unit_out;
  if (known_digest(payload->blob) && whole) made.checked_separately = {payload->blob};
  made.unchecked = known_digest(payload->blob) && !whole;
  return made;
}

// The type of the scales, as a number for the kernel.
std::optional<std::uint64_t> scale_type(const Component& scale) {
  if (scale.type == "f8_e8m0") return 3;
  if (!scale.type.empty()) return std::nullopt;
  if (scale.dtype == DType::f32) return 0;
  if (scale.dtype == DType::f16) return 1;
  if (scale.dtype == DType::bf16) return 2;
  return std::nullopt;
}

std::optional<Decoding> grid_decode(const Tensor& tensor, const std::optional<AxisRange>& part, DType dtype) {
  const Component *const codes = tensor.component("weight"), *const scale = tensor.component("scale");
  if (!tensor.layout.starts_with("fp8.") || part || tensor.shape.rank() != 2 || tensor.components.size() != 2)
    return std::nullopt;
  if (!stored_plainly(codes) || !stored_plainly(scale) || codes->type != "f8_e4m3fn") return std::nullopt;
  const Value *const block_rows = tensor.attributes.find("block_rows"), *const block_columns =
                                                                            tensor.attributes.find("block_columns");
  const auto* const rows = block_rows == nullptr ? nullptr : block_rows->get<std::int64_t>();
  const auto* const columns = block_columns == nullptr ? nullptr : block_columns->get<std::int64_t>();
  const std::optional<std::uint64_t> type = scale_type(*scale);
  constexpr std::int64_t kMost = 1 << 23;
  if (rows == nullptr || columns == nullptr || !type || *rows <= 0 || *columns <= 0 || *rows > kMost)
    return std::nullopt;
  if (*columns > kMost || *columns % static_cast<std::int64_t>(kEight) != 0 || tensor.shape[1] % kEight != 0)
    return std::nullopt;
  const auto wide = static_cast<std::uint64_t>(*columns), high = static_cast<std::uint64_t>(*rows);
  const std::uint64_t line = ceil_div(tensor.shape[1], wide) * size_of(scale->dtype);
  Decoding made;
  made.decode.kernel = "grid_f8_e4m3fn";
  made.decode.units = tensor.shape[0];
  made.decode.made = dtype;
  made.decode.unit_out = tensor.shape[1] * size_of(dtype);
  made.decode.numbers = {tensor.shape[1], high | wide << 24 | *type << 56};
  made.decode.planes = {{kNoFile, codes->blob.offset(), codes->blob.size(), tensor.shape[1], 1},
                        {kNoFile, scale->blob.offset(), scale->blob.size(), line, high}};
  made.sources = {codes->blob.source(), scale->blob.source()};
  made.bytes = made.decode.units * made.decode.unit_out;
  for (const Component* const component : {codes, scale})
    if (known_digest(component->blob)) made.checked_separately.push_back(component->blob);
  made.scan = inspect::scan_kind(codes->dtype, codes->type);
  return made;
}

}  // namespace

std::optional<Decoding> decoding_of(const Tensor& tensor, const std::optional<AxisRange>& part, DType dtype) {
  if (!passes_check(tensor) || tensor.shape.elements().value_or(0) == 0) return std::nullopt;
  const std::optional<RowRange> rows = rows_taken(tensor, part);
  std::optional<Decoding> made;
  if (rows && tensor.is_dense() && stored_plainly(&tensor.components[0])) made = dense_cast(tensor, *rows, dtype);
  if (rows && !made) made = block_decode(tensor, *rows, dtype);
  if (rows && !made) made = mcf_decode(tensor, *rows, dtype);
  if (!made) made = grid_decode(tensor, part, dtype);
  if (!made || made->bytes == 0) return std::nullopt;
  std::uint64_t unit = 0;
  for (const Plane& plane : made->decode.planes) unit += plane.unit_bytes * (plane.units > 1 ? 3 : 1);
  if (unit > kMostUnitBytes) return std::nullopt;
  return made;
}

}  // namespace tare::device
