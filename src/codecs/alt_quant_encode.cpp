// Encoding to ALT codes. The weights are read twice: once, before anything can be promised, for the largest magnitude or
// the range, and once for the codes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "codecs/alt_quant.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// Half away from zero, as std::round, without its call.
double rounded(double value) { return std::trunc(value + std::copysign(0.5, value)); }

constexpr std::uint64_t kBlock = 8192;  // elements at a time, a whole number of bytes

// What the codes lose, block by block: summed up in order, so that it does not depend on the threads.
class AltLoss {
 public:
  AltLoss(const AltPlan& plan, std::shared_ptr<EncodeReport> report)
      : elements_(plan.elements), table_(alt_table(plan)), report_(std::move(report)) {
    blocks_.resize(static_cast<std::size_t>(ceil_div(plan.elements, kBlock)));
  }

  void add(std::uint64_t first_element, std::span<const double> weights, std::span<const std::uint8_t> codes) {
    Block block;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double error = std::fabs(weights[i] - static_cast<double>(table_[codes[i]]));
      block.sum += weights[i] * weights[i];
      block.error += error * error;
      block.largest = std::max(block.largest, error);
    }
    block.made = true;
    const std::lock_guard guard(lock_);
    Block& slot = blocks_[static_cast<std::size_t>(first_element / kBlock)];
    if (slot.made) return;  // made again: the same numbers
    slot = block;
    if (++made_ == blocks_.size()) fill_report();
  }

 private:
  struct Block {
    double sum = 0, error = 0, largest = 0;
    bool made = false;
  };

  void fill_report() {
    report_->elements = elements_;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      report_->squared_sum += blocks_[i].sum;
      report_->squared_error += blocks_[i].error;
      report_->max_error = std::max(report_->max_error, blocks_[i].largest);
      if (blocks_[i].error <= report_->worst_block_error) continue;
      report_->worst_block_error = blocks_[i].error;
      report_->worst_block = i * kBlock;
    }
    report_->complete = true;
  }

  std::uint64_t elements_;
  AltTable table_;
  std::shared_ptr<EncodeReport> report_;
  std::mutex lock_;
  std::vector<Block> blocks_;
  std::size_t made_ = 0;
};

class AltWriter final : public BlockReader {
 public:
  AltWriter(const Component& data, const AltPlan& plan, AltLoss* loss, std::uint64_t first_element)
      : plan_(plan), loss_(loss), element_(first_element), weights_(data, first_element) {}

 protected:
  std::span<const std::byte> make_block() override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, plan_.elements - element_));
    if (count == 0) return {};
    weights_.read(std::span(values_).first(count));
    // A tensor of zeros has delta 0, and all its codes are 0.
    const double divisor = plan_.delta == 0 ? 1 : plan_.delta, offset = plan_.ranged ? plan_.min : 0;
    const double low = plan_.lowest(), high = plan_.highest();
    const unsigned mask = plan_.packed ? 15 : 255;
    for (std::size_t i = 0; i < count; ++i) {
      const double code = rounded((values_[i] - offset) / divisor);
      // NaN too becomes a code: the weights that the first pass found finite may be others by now.
      const int whole = static_cast<int>(code > low ? code < high ? code : high : low);
      codes_[i] = static_cast<std::uint8_t>(static_cast<unsigned>(whole) & mask);
    }
    if (loss_ != nullptr) loss_->add(element_, std::span(values_).first(count), std::span(codes_).first(count));
    element_ += count;
    if (!plan_.packed) return std::as_bytes(std::span(codes_)).first(count);
    codes_[count] = 0;
    const std::size_t bytes = (count + 1) / 2;
    for (std::size_t i = 0; i < bytes; ++i)
      codes_[i] = static_cast<std::uint8_t>(codes_[2 * i] << 4 | codes_[2 * i + 1]);
    return std::as_bytes(std::span(codes_)).first(bytes);
  }

 private:
  AltPlan plan_;
  AltLoss* loss_;
  std::uint64_t element_;
  ElementStream weights_;
  std::array<double, kBlock> values_;
  std::array<std::uint8_t, kBlock + 1> codes_;
};

class AltEncoder final : public BlobProducer {
 public:
  AltEncoder(Component data, const AltPlan& plan, std::shared_ptr<EncodeReport> report)
      : data_(std::move(data)), plan_(plan) {
    if (report != nullptr) loss_ = std::make_unique<AltLoss>(plan, std::move(report));
  }

  // Begins with a whole block, so that each is counted once.
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t per_byte = plan_.packed ? 2 : 1, block = kBlock / per_byte;
    auto reader = std::make_unique<AltWriter>(data_, plan_, loss_.get(), offset / block * block * per_byte);
    reader->skip(offset % block);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_seekable(data_.blob) ? 1 : 0; }
  void verify() const override { data_.blob.verify(); }

 private:
  Component data_;
  AltPlan plan_;
  std::unique_ptr<AltLoss> loss_;
};

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void take(const Extent& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

Extent extent_of_part(const Tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  ElementStream weights(*tensor.component("data"), begin);
  std::array<double, 4096> buffer;
  Extent extent;
  for (std::uint64_t at = begin; at < end;) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at)));
    weights.read(part);
    // A NaN or an infinity makes the sum of x * 0 not zero, and costs no branch for each element.
    double low = extent.low, high = extent.high, finite = 0;
    for (const double w : part) {
      low = w < low ? w : low;
      high = w > high ? w : high;
      finite += w * 0;
    }
    if (finite != 0) {
      const auto bad = std::find_if(part.begin(), part.end(), [](double w) { return !std::isfinite(w); });
      throw Error(ErrorKind::unsupported, "qint.nonfinite",
                  fmt::format("element {} is {}: only finite weights can be quantized",
                              at + static_cast<std::uint64_t>(bad - part.begin()), *bad))
          .about(tensor.name);
    }
    extent = {low, high};
    at += part.size();
  }
  return extent;
}

// The first pass over the weights, on many threads where they can be entered anywhere.
Extent extent_of(const Tensor& tensor, std::uint64_t elements, unsigned threads) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  const bool seekable = is_seekable(tensor.component("data")->blob);
  const std::uint64_t piece = seekable ? kPiece : std::max<std::uint64_t>(elements, 1);
  Extent extent;
  std::mutex lock;
  parallel_for(static_cast<std::size_t>(ceil_div(elements, piece)), threads, [&](std::size_t i) {
    const std::uint64_t begin = i * piece;
    const Extent part = extent_of_part(tensor, begin, std::min(begin + piece, elements));
    const std::lock_guard guard(lock);
    extent.take(part);
  });
  return extent;
}

// A positive number of f32, at least its smallest: a scale that became 0 would make every code 0.
float scale_of(double span, double steps) {
  const auto scale = static_cast<float>(span / steps);
  if (span > 0 && scale == 0) return std::numeric_limits<float>::denorm_min();
  // Rounded up, the scale of the largest floats would decode to infinity.
  const bool beyond = !std::isfinite(scale * static_cast<float>(steps));
  return beyond ? std::nextafter(scale, 0.0F) : scale;
}

void choose_scale(const Tensor& tensor, const Extent& extent, bool ranged, AltPlan& plan) {
  if (extent.low > extent.high) return;  // no elements
  const double largest = std::max(std::fabs(extent.low), std::fabs(extent.high));
  if (largest > std::numeric_limits<float>::max())
    throw Error(ErrorKind::unsupported, "qint.overflow", fmt::format("weights up to {} are beyond f32", largest))
        .about(tensor.name);
  if (!ranged || largest == 0) {
    plan.delta = scale_of(largest, plan.highest());
    return;
  }
  // A constant has no range of its own; with 0 it has one.
  const bool constant = static_cast<float>(extent.low) == static_cast<float>(extent.high);
  plan.min = static_cast<float>(constant ? std::min(extent.low, 0.0) : extent.low);
  plan.max = static_cast<float>(constant ? std::max(extent.high, 0.0) : extent.high);
  plan.ranged = true;
  const double span = static_cast<double>(plan.max) - static_cast<double>(plan.min);
  if (span > std::numeric_limits<float>::max())
    throw Error(ErrorKind::unsupported, "qint.overflow",
                fmt::format("weights from {} to {} span more than f32 holds; without --range they can be quantized",
                            plan.min, plan.max))
        .about(tensor.name);
  plan.delta = scale_of(span, plan.highest());
  // Rounded up, the highest code of a range that ends at the largest floats would decode to infinity.
  while (!std::isfinite(alt_table(plan)[static_cast<std::size_t>(plan.highest())]))
    plan.delta = std::nextafter(plan.delta, 0.0F);
}

void require_encodable(const Tensor& tensor) {
  if (!tensor.is_dense() || kDense.check(tensor))
    throw Error(ErrorKind::usage, "qint.input", "only a sound dense tensor can be encoded").about(tensor.name);
  const Component& data = *tensor.component("data");
  if (!is_float(data.dtype) || !data.type.empty())
    throw Error(ErrorKind::unsupported, "qint.type", fmt::format("floats are quantized, this is {}", data.type_name()))
        .about(tensor.name);
}

}  // namespace

Tensor encode_alt(const Tensor& tensor, const EncodeOptions& options) {
  require_encodable(tensor);
  AltPlan plan;
  plan.bits = options.method.ends_with('4') ? 4 : 8;
  plan.packed = plan.bits == 4;
  plan.elements = *tensor.shape.elements();
  Extent extent = extent_of(tensor, plan.elements, options.threads);
  if (options.clip && extent.low <= extent.high) {
    // The codes clamp by themselves.
    extent.low = std::clamp<double>(extent.low, options.clip->first, options.clip->second);
    extent.high = std::clamp<double>(extent.high, options.clip->first, options.clip->second);
  }
  choose_scale(tensor, extent, options.range, plan);

  Tensor result;
  result.name = tensor.name;
  result.shape = tensor.shape;
  result.layout = plan.bits == 4 ? kAltQint4.layout : kAltQint8.layout;
  result.attributes = tensor.attributes;
  result.attributes.set("delta", static_cast<double>(plan.delta));
  result.attributes.set("min", static_cast<double>(plan.min));
  result.attributes.set("max", static_cast<double>(plan.max));
  result.attributes.set("packed", plan.packed);
  Blob blob = plan.elements == 0
                  ? Blob::memory({})
                  : Blob::produced(plan.payload_bytes(),
                                   std::make_shared<AltEncoder>(*tensor.component("data"), plan, options.report));
  if (plan.elements == 0 && options.report != nullptr) options.report->complete = true;
  result.components.push_back({"payload", DType::u8, {}, std::move(blob)});
  return result;
}

}  // namespace tare
