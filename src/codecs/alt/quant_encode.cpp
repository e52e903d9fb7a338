// Encodes to ALT codes. The weights are read twice: first for the scale (quant_scale.cpp), which the attributes need,
// then for the codes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"
#include "codecs/alt/quant.hpp"
#include "codecs/loss_report.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "codecs/weights.hpp"
#include "tare/error.hpp"

namespace tare::codec::alt {
namespace {

// Rounds half away from zero, like std::round but without a function call.
double rounded(double value) { return std::trunc(value + std::copysign(0.5, value)); }

constexpr std::uint64_t kChunk = 8192;  // elements at a time; an even number, so packed chunks are whole bytes

class Writer final : public BlockReader {
 public:
  Writer(const Component& data, const Plan& plan, LossReport* losses, std::uint64_t first_element)
      : plan_(plan), table_(table_of(plan)), losses_(losses), element_(first_element), weights_(data, first_element) {}

 protected:
  std::span<const std::byte> make_block() override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, plan_.elements - element_));
    if (count == 0) return {};
    weights_.read(std::span(values_).first(count));
    // A tensor of zeros has delta 0, and all its codes are 0.
    const double divisor = plan_.delta == 0 ? 1 : plan_.delta, offset = plan_.ranged ? plan_.min : 0;
    const double low = plan_.lowest(), high = plan_.highest();
    const unsigned mask = plan_.packed ? 15 : 255;
    for (std::size_t i = 0; i < count; ++i) {
      const double code = rounded((values_[i] - offset) / divisor);
      // The comparisons map NaN to a code, too: the file may have changed since the first pass.
      const int whole = static_cast<int>(code > low ? code < high ? code : high : low);
      codes_[i] = static_cast<std::uint8_t>(static_cast<unsigned>(whole) & mask);
    }
    if (losses_ != nullptr) measure(count);
    element_ += count;
    if (!plan_.packed) return std::as_bytes(std::span(codes_)).first(count);
    codes_[count] = 0;
    const std::size_t bytes = (count + 1) / 2;
    for (std::size_t i = 0; i < bytes; ++i)
      codes_[i] = static_cast<std::uint8_t>(codes_[2 * i] << 4 | codes_[2 * i + 1]);
    return std::as_bytes(std::span(codes_)).first(bytes);
  }

 private:
  void measure(std::size_t count) const {
    ChunkLoss loss;
    loss.add_block<double>(element_, std::span(values_).first(count), [&](std::size_t i) { return table_[codes_[i]]; });
    losses_->settle(element_ / kChunk, loss);
  }

  Plan plan_;
  Table table_;
  LossReport* losses_;
  std::uint64_t element_;
  ElementStream weights_;
  std::array<double, kChunk> values_;
  std::array<std::uint8_t, kChunk + 1> codes_;
};

class Encoder final : public BlobProducer {
 public:
  Encoder(Component data, const Plan& plan, std::shared_ptr<EncodeReport> report)
      : data_(std::move(data)), plan_(plan) {
    if (report != nullptr)
      losses_ = std::make_unique<LossReport>(std::move(report), plan.elements, ceil_div(plan.elements, kChunk));
  }

  // Starts at the beginning of a chunk, so that each chunk is measured as a whole.
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t per_byte = plan_.packed ? 2 : 1, block = kChunk / per_byte;
    auto reader = std::make_unique<Writer>(data_, plan_, losses_.get(), offset / block * block * per_byte);
    reader->skip(offset % block);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_seekable(data_.blob) ? 1 : 0; }
  void verify() const override { data_.blob.verify(); }

 private:
  Component data_;
  Plan plan_;
  std::unique_ptr<LossReport> losses_;
};

}  // namespace

Tensor encode(const Tensor& tensor, const EncodeOptions& options) {
  require_floats(tensor, "qint.input", "qint.type");
  Plan plan;
  plan.bits = options.method.ends_with('4') ? 4 : 8;
  plan.packed = plan.bits == 4;
  plan.elements = *tensor.shape.elements();
  choose_scale(tensor, options, plan);

  Tensor result;
  result.name = tensor.name;
  result.shape = tensor.shape;
  result.layout = plan.bits == 4 ? kQint4.layout : kQint8.layout;
  result.attributes = tensor.attributes;
  result.attributes.set("delta", static_cast<double>(plan.delta));
  result.attributes.set("min", static_cast<double>(plan.min));
  result.attributes.set("max", static_cast<double>(plan.max));
  result.attributes.set("packed", plan.packed);
  Blob blob = plan.elements == 0
                  ? Blob::memory({})
                  : Blob::produced(plan.payload_bytes(),
                                   std::make_shared<Encoder>(*tensor.component("data"), plan, options.report));
  if (plan.elements == 0 && options.report != nullptr) options.report->complete = true;
  result.components.push_back({"payload", DType::u8, {}, std::move(blob)});
  return result;
}

}  // namespace tare::codec::alt
