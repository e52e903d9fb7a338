// Products and values of rows, straight from a payload: in place when it is mapped or in memory, otherwise by reading
// the bytes of just those rows, at most about 1 MiB at a time.
#include "tare/rows.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/mcf.hpp"
#include "codecs/mcf/quantized_vector.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

class RowAccess final : public Rows {
 public:
  RowAccess(Blob payload, const Geometry& geometry)
      : Rows(geometry.rows, geometry.columns), payload_(std::move(payload)), geometry_(geometry) {
    if (geometry.bytes == 0) return;
    if (const auto view = payload_.view()) view_ = view->data();
  }

 protected:
  void do_decode(std::uint64_t first, std::uint64_t count, float* out) const override {
    for_rows(first, count,
             [&](const RowSpan& rows, std::uint64_t done) { decode_rows(rows, out + done * geometry_.columns); });
  }
  void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const override {
    for_rows(first, count, [&](const RowSpan& rows, std::uint64_t done) {
      dot_rows(rows, {vector, static_cast<std::size_t>(geometry_.columns)}, out + done);
    });
  }
  void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const override {
    for_rows(first, count,
             [&](const RowSpan& rows, std::uint64_t done) { dot_rows(rows, vector.data().vector, out + done); });
  }

 private:
  // Calls work(rows, how many came before them).
  template <class Work>
  void for_rows(std::uint64_t first, std::uint64_t count, const Work& work) const {
    if (geometry_.bytes == 0) return work({.method = geometry_.method, .rows = count}, 0);
    if (view_ != nullptr) {
      work(rows_of(geometry_, view_, first, count), 0);
      if (payload_.source() != nullptr) payload_.source()->check();
      return;
    }
    const std::uint64_t row_bytes = geometry_.bytes / geometry_.rows + 1;
    const std::uint64_t step = std::max<std::uint64_t>(1, kMostBytes / row_bytes);
    std::vector<std::byte> buffer;
    for (std::uint64_t done = 0; done < count; done += step)
      work(read(first + done, std::min(step, count - done), buffer), done);
  }

  // The bytes of those rows, region after region.
  RowSpan read(std::uint64_t first, std::uint64_t count, std::vector<std::byte>& buffer) const {
    const Method& method = *geometry_.method;
    RowSpan rows;
    rows.method = &method;
    rows.rows = count;
    rows.columns = geometry_.columns;
    if (method.family == Family::raw) {
      std::byte header[2 * kAlignment];
      const auto parameters = std::span(header).first(static_cast<std::size_t>(geometry_.codes.offset));
      payload_.read(0, parameters);
      const RowSpan at = rows_of(geometry_, header, 0, 0);
      const std::uint64_t begin = first * geometry_.columns, end = begin + count * geometry_.columns;
      const unsigned per_byte = 8 / method.bits;
      const std::uint64_t first_byte = begin / per_byte;
      buffer.resize(static_cast<std::size_t>(ceil_div(end, per_byte) - first_byte));
      payload_.read(geometry_.codes.offset + first_byte, buffer);
      rows.scale = at.scale;
      rows.zero = at.zero;
      rows.codes = buffer.data();
      rows.odd_start = begin % per_byte != 0;
      return rows;
    }
    const bool super = method.family == Family::super;
    const std::uint64_t scales = 2 * (super ? geometry_.supers : geometry_.blocks);
    const std::uint64_t sub_scales = super ? geometry_.blocks : 0;
    const std::uint64_t codes = geometry_.row_code_bytes();
    buffer.resize(static_cast<std::size_t>(count * (scales + sub_scales + codes)));
    std::byte* to = buffer.data();
    const auto load = [&](const Region& region, std::uint64_t per_row) {
      std::byte* const here = to;
      const std::uint64_t bytes = count * per_row;
      payload_.read(region.offset + first * per_row, {here, static_cast<std::size_t>(bytes)});
      to += bytes;
      return here;
    };
    rows.codes = load(geometry_.codes, codes);
    rows.scales = load(geometry_.scales, scales);
    if (super) rows.sub_scales = load(geometry_.sub_scales, sub_scales);
    return rows;
  }

  Blob payload_;
  Geometry geometry_;
  const std::byte* view_ = nullptr;
};

}  // namespace

std::unique_ptr<const Rows> make_rows(const Tensor& tensor) {
  return std::make_unique<RowAccess>(tensor.component("payload")->blob, geometry_of(tensor));
}

}  // namespace tare::codec::mcf

namespace tare {

QuantizedVector::QuantizedVector(std::span<const float> values) : data_(new Data{codec::mcf::vector_of(values)}) {}
QuantizedVector::~QuantizedVector() = default;
QuantizedVector::QuantizedVector(QuantizedVector&&) noexcept = default;
QuantizedVector& QuantizedVector::operator=(QuantizedVector&&) noexcept = default;
std::uint64_t QuantizedVector::size() const { return data_->vector.columns; }

}  // namespace tare
