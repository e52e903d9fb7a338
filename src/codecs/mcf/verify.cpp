// The data rules of an MCF payload. Each is reported once: the first place that breaks it, and how many places do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf/decode.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/mcf.hpp"
#include "codecs/streams.hpp"
#include "codecs/tally.hpp"

namespace tare::codec::mcf {
namespace {

using Report = std::function<void(Problem)>;

constexpr std::uint64_t kElements = std::uint64_t{16} << 10;  // checked at a time

class Verifier {
 public:
  Verifier(const Blob& payload, const Geometry& geometry) : payload_(payload), geometry_(geometry) {}

  void run(const Report& report) {
    check_parameters();
    check_padding();
    check_pieces();
    for (const Tally* tally : {&scale_, &zero_, &sub_scale_, &padding_, &tail_, &code_})
      tally->report_to(payload_, report);
    if (infinite_ > 0) report(infinite_values(infinite_, geometry_.elements(), file_offset(payload_, 0)));
  }

 private:
  bool raw() const { return geometry_.method->family == Family::raw; }

  float read_f32(std::uint64_t offset) const {
    std::array<std::byte, 4> bytes;
    payload_.read(offset, bytes);
    return load_le<float>(bytes.data());
  }

  // S and Z of int*.
  void check_parameters() {
    if (!raw()) return;
    const float scale = read_f32(geometry_.scales.offset);
    scale_.add(std::isfinite(scale) ? 0 : 1, [&] {
      return Place{geometry_.scales.offset, fmt::format("a scale is a finite number, found {}", scale)};
    });
    const int qmax = geometry_.method->qmax;
    raw_scale_ = scale;
    // Other methods have f16 scales: no code multiplied by them overflows f32.
    may_overflow_ = std::isfinite(scale) && !std::isfinite(scale * static_cast<float>(2 * qmax + 1));
    if (geometry_.domain != Domain::activations) return;
    const float zero = raw_zero_ = read_f32(geometry_.zero.offset);
    const bool is_code =
        zero >= static_cast<float>(-qmax - 1) && zero <= static_cast<float>(qmax) && std::rint(zero) == zero;
    may_overflow_ = may_overflow_ && is_code;
    zero_.add(is_code ? 0 : 1, [&] {
      return Place{geometry_.zero.offset,
                   fmt::format("the zero point is one of the codes {} to {}, found {}", -qmax - 1, qmax, zero)};
    });
  }

  // Up to 63 bytes before each region but the first.
  void check_padding() {
    std::uint64_t end = 0;
    for (const Region& region : {geometry_.scales, geometry_.zero, geometry_.sub_scales, geometry_.codes}) {
      if (region.size == 0) continue;
      std::array<std::byte, kAlignment> bytes;
      const auto gap = std::span(bytes).first(region.offset - end);
      payload_.read(end, gap);
      for (std::size_t i = 0; i < gap.size(); ++i)
        padding_.add(gap[i] == std::byte{0} ? 0 : 1, [&] {
          return Place{end + i, fmt::format("byte {} of the payload is padding and must be 0, found {:#04x}", end + i,
                                            std::to_integer<unsigned>(gap[i]))};
        });
      end = region.end();
    }
    if (!raw() || geometry_.method->bits != 4 || geometry_.elements() % 2 == 0) return;
    std::array<std::byte, 1> last;
    payload_.read(geometry_.bytes - 1, last);
    tail_.add((last[0] >> 4) == std::byte{0} ? 0 : 1, [&] {
      return Place{geometry_.bytes - 1, "the count of codes is odd: the high nibble of the last byte must be 0"};
    });
  }

  void check_pieces() {
    const Planes planes = planes_of(payload_, geometry_);
    for (Walk walk(planes, 0, 0); !walk.done(); walk.check()) {
      const Run run = walk.next(kElements);
      const RowSpan rows = rows_of(geometry_, run, {});
      for (std::uint64_t r = 0; r < rows.rows; ++r) {
        const RowSpan row = row_of(rows, r);
        if (!raw()) check_scales(row, run.row + r, run.column);
        check_codes(row, run.row + r, run.column);
      }
    }
  }

  void check_scales(const RowSpan& row, std::uint64_t number, std::uint64_t column) {
    const bool super = row.method->family == Family::super;
    const std::uint64_t width = super ? kSuper : kBlock, count = super ? row.supers() : row.blocks();
    const std::uint64_t first = number * (super ? geometry_.supers : geometry_.blocks) + column / width;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto bits = load_le<std::uint16_t>(row.scales + 2 * i);
      scale_.add((bits & 0x7C00) == 0x7C00 ? 1 : 0, [&] {
        return Place{geometry_.scales.offset + 2 * (first + i),
                     fmt::format("row {}, columns from {}: a scale is a finite number, found {}", number,
                                 column + i * width, f16_to_f32(bits))};
      });
    }
    if (!super) return;
    for (std::uint64_t i = 0; i < row.blocks(); ++i)
      sub_scale_.add(row.sub_scales[i] > std::byte{63} ? 1 : 0, [&] {
        return Place{geometry_.sub_scales.offset + number * geometry_.blocks + column / kBlock + i,
                     fmt::format("row {}, columns from {}: a sub-scale is 0 to 63 with its top bits 0, found {:#04x}",
                                 number, column + i * kBlock, std::to_integer<unsigned>(row.sub_scales[i]))};
      });
  }

  // The byte with the first bit of a code. int* codes are one run.
  std::uint64_t code_offset(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t in_row = column * geometry_.method->bits / 8;
    return geometry_.codes.offset + in_row + (raw() ? 0 : row * geometry_.row_code_bytes());
  }

  void check_codes(const RowSpan& row, std::uint64_t number, std::uint64_t column) {
    const auto width = static_cast<std::size_t>(row.columns);
    const auto stored = raw() ? width : row.blocks() * kBlock;
    codes_.resize(std::max(codes_.size(), stored));
    unpack_row(row, codes_.data());
    const auto codes = std::span(codes_).first(width), behind = std::span(codes_).subspan(width, stored - width);
    const auto is_set = [](std::int8_t q) { return q != 0; };
    tail_.add(static_cast<std::uint64_t>(std::count_if(behind.begin(), behind.end(), is_set)), [&] {
      const auto at = static_cast<std::uint64_t>(std::find_if(behind.begin(), behind.end(), is_set) - behind.begin());
      return Place{code_offset(number, column + width + at),
                   fmt::format("row {}: the {} codes after its last column must be 0", number, behind.size())};
    });
    if (may_overflow_)
      infinite_ += static_cast<std::uint64_t>(std::count_if(codes.begin(), codes.end(), [&](std::int8_t q) {
        return !std::isfinite(raw_scale_ * (static_cast<float>(q) - raw_zero_));
      }));
    if (geometry_.domain == Domain::activations) return;
    const auto least = static_cast<std::int8_t>(-row.method->qmax - 1);
    code_.add(static_cast<std::uint64_t>(std::count(codes.begin(), codes.end(), least)), [&] {
      const auto at = static_cast<std::uint64_t>(std::find(codes.begin(), codes.end(), least) - codes.begin());
      const std::uint64_t element = column + at;
      return Place{code_offset(number, element), fmt::format("row {}, column {}: the code {} is not used for weights",
                                                             raw() ? element / geometry_.columns : number,
                                                             raw() ? element % geometry_.columns : element, least)};
    });
  }

  const Blob& payload_;
  const Geometry& geometry_;
  std::vector<std::int8_t> codes_;
  float raw_scale_ = 0, raw_zero_ = 0;  // S and Z of int*
  bool may_overflow_ = false;
  std::uint64_t infinite_ = 0;
  Tally scale_{"quant.scale", "scales"}, zero_{"quant.zero", "zero points"},
      sub_scale_{"quant.sub_scale", "sub-scales"}, padding_{"quant.padding", "bytes"}, tail_{"quant.tail", "codes"},
      code_{"quant.code", "codes"};
};

}  // namespace

void verify(const Tensor& tensor, const Report& report) {
  const Geometry geometry = geometry_of(tensor);
  if (geometry.bytes == 0) return;
  Verifier(tensor.component("payload")->blob, geometry).run(report);
}

}  // namespace tare::codec::mcf
