#include "codecs/mcf/pieces.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/endian.hpp"

namespace tare::codec::mcf {
namespace {

bool is_raw(const Geometry& geometry) { return geometry.method->family == Family::raw; }
bool is_super(const Geometry& geometry) { return geometry.method->family == Family::super; }

std::uint64_t scales_at(const Geometry& g, std::uint64_t row, std::uint64_t column) {
  if (is_raw(g)) return g.bytes;
  const std::uint64_t index = is_super(g) ? row * g.supers + column / kSuper : row * g.blocks + column / kBlock;
  return g.scales.offset + 2 * index;
}

std::uint64_t sub_scales_at(const Geometry& g, std::uint64_t row, std::uint64_t column) {
  return is_super(g) ? g.sub_scales.offset + row * g.blocks + column / kBlock : g.bytes;
}

std::uint64_t codes_at(const Geometry& g, std::uint64_t row, std::uint64_t column) {
  if (is_raw(g)) return g.codes.offset + (g.method->bits == 8 ? column : column / 2);
  return g.codes.offset + (row * g.blocks + column / kBlock) * g.method->block_bytes();
}

float read_f32(const Blob& payload, std::uint64_t offset) {
  std::array<std::byte, 4> bytes;
  payload.read(offset, bytes);
  return load_le<float>(bytes.data());
}

}  // namespace

RegionReader::RegionReader(const Blob& payload, std::uint64_t offset) {
  // At the payload's end there is no such region.
  if (offset == payload.size()) return;
  if (const auto view = payload.view())
    view_ = view->data() + offset;
  else
    reader_ = payload.open(offset);
}

const std::byte* RegionReader::take(std::uint64_t count) {
  if (view_ != nullptr) {
    const std::byte* const at = view_;
    view_ += count;
    return at;
  }
  if (buffer_.size() < count) buffer_.resize(static_cast<std::size_t>(count));
  reader_->read(std::span(buffer_).first(static_cast<std::size_t>(count)));
  return buffer_.data();
}

Pieces::Pieces(const Blob& payload, const Geometry& geometry, std::uint64_t row, std::uint64_t column)
    : payload_(payload),
      geometry_(geometry),
      rows_(is_raw(geometry) ? std::min<std::uint64_t>(geometry.rows, 1) : geometry.rows),
      columns_(is_raw(geometry) ? geometry.elements() : geometry.columns),
      row_(row),
      column_(column),
      scales_(payload, scales_at(geometry, row, column)),
      sub_scales_(payload, sub_scales_at(geometry, row, column)),
      codes_(payload, codes_at(geometry, row, column)) {
  if (!is_raw(geometry) || geometry.elements() == 0) return;
  scale_ = read_f32(payload, geometry.scales.offset);
  if (geometry.domain == Domain::activations) zero_ = read_f32(payload, geometry.zero.offset);
}

RowSpan Pieces::next(std::uint64_t elements) {
  const std::uint64_t least = std::max<std::uint64_t>(elements / kSuper * kSuper, kSuper);
  RowSpan piece;
  piece.method = geometry_.method;
  if (column_ == 0 && columns_ <= least) {
    piece.rows = std::min(least / columns_, rows_ - row_);
    piece.columns = columns_;
  } else {
    piece.rows = 1;
    piece.columns = std::min(least, columns_ - column_);
  }
  if (is_raw(geometry_)) {
    piece.scale = scale_;
    piece.zero = zero_;
    piece.codes = codes_.take(geometry_.method->bits == 8 ? piece.columns : ceil_div(piece.columns, 2));
  } else {
    piece.scales = scales_.take(2 * piece.rows * (is_super(geometry_) ? piece.supers() : piece.blocks()));
    if (is_super(geometry_)) piece.sub_scales = sub_scales_.take(piece.rows * piece.blocks());
    piece.codes = codes_.take(piece.rows * piece.blocks() * geometry_.method->block_bytes());
  }
  column_ += piece.columns;
  if (column_ == columns_) {
    column_ = 0;
    row_ += piece.rows;
  }
  return piece;
}

void Pieces::check() const {
  if (payload_.source() != nullptr) payload_.source()->check();
}

}  // namespace tare::codec::mcf
