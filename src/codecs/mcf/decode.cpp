// The planes of an MCF payload, and their decoding with the kernels.
#include "codecs/mcf/decode.hpp"

#include <array>

#include "base/endian.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/mcf.hpp"

namespace tare::codec::mcf {
namespace {

float read_f32(const Blob& payload, std::uint64_t offset) {
  std::array<std::byte, 4> bytes;
  payload.read(offset, bytes);
  return load_le<float>(bytes.data());
}

}  // namespace

Planes planes_of(const Blob& payload, const Geometry& geometry) {
  Planes planes;
  if (geometry.bytes == 0) return planes;
  const Method& method = *geometry.method;
  if (method.family == Family::raw) {
    planes.rows = 1;
    planes.columns = geometry.elements();
    planes.all = {{payload, geometry.codes.offset, 8 / method.bits, 1}};
    return planes;
  }
  planes.rows = geometry.rows;
  planes.columns = geometry.columns;
  planes.step = kSuper;
  const bool super = method.family == Family::super;
  planes.all = {{payload, geometry.codes.offset, kBlock, method.block_bytes()},
                {payload, geometry.scales.offset, super ? kSuper : kBlock, 2}};
  if (super) planes.all.push_back({payload, geometry.sub_scales.offset, kBlock, 1});
  return planes;
}

RowSpan rows_of(const Geometry& geometry, const Run& run, const ScaleZero& parameters) {
  const bool odd = geometry.method->family == Family::raw && geometry.method->bits == 4 && run.column % 2 != 0;
  return {.method = geometry.method,
          .rows = run.rows,
          .columns = run.columns,
          .scales = run.at[1],
          .sub_scales = run.at[2],
          .codes = run.at[0],
          .odd_start = odd,
          .scale = parameters.scale,
          .zero = parameters.zero};
}

PayloadDecoder::PayloadDecoder(const Blob& payload, const Geometry& geometry)
    : codec::Decoder(planes_of(payload, geometry)), payload_(payload), geometry_(geometry) {}

RowSpan PayloadDecoder::rows(const Run& run) const { return rows_of(geometry_, run, parameters()); }

void PayloadDecoder::decode(const Run& run, float* out) const { decode_rows(rows(run), out); }

ScaleZero PayloadDecoder::parameters() const {
  if (geometry_.method->family != Family::raw || geometry_.bytes == 0) return {};
  read_.run([this] {
    parameters_.scale = read_f32(payload_, geometry_.scales.offset);
    if (geometry_.domain == Domain::activations) parameters_.zero = read_f32(payload_, geometry_.zero.offset);
  });
  return parameters_;
}

Tensor decode(const Tensor& tensor) {
  return decoded(tensor, std::make_shared<PayloadDecoder>(tensor.component("payload")->blob, geometry_of(tensor)),
                 kParameters);
}

}  // namespace tare::codec::mcf
