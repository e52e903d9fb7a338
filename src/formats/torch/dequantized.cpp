// Quantized tensors of PyTorch (qint8, quint8, qint32): a code q means (q - zero point) * scale, with one pair for the
// tensor or one per index of an axis. They are decoded while they are read.
#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "formats/torch/torch.hpp"
#include "model/block_reader.hpp"

namespace tare::torch {
namespace {

struct Parameters {
  std::vector<double> scales, zeros;
  bool in_double = false;  // PyTorch multiplies in the type of its scales: f64 for channels, f32 otherwise
};

double number_at(const std::byte* bytes, DType dtype, std::size_t i) {
  switch (dtype) {
    case DType::f64: return load_le<double>(bytes + i * 8);
    case DType::f32: return load_le<float>(bytes + i * 4);
    case DType::i64: return static_cast<double>(load_le<std::int64_t>(bytes + i * 8));
    case DType::i32: return load_le<std::int32_t>(bytes + i * 4);
    case DType::i8: return std::to_integer<std::int8_t>(bytes[i]);
    default: return std::to_integer<std::uint8_t>(bytes[i]);
  }
}

std::vector<double> numbers_in(const Component& component) {
  const Bytes bytes = component.blob.bytes();
  std::vector<double> numbers(bytes.size() / size_of(component.dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_at(bytes.data(), component.dtype, i);
  return numbers;
}

class DequantizingReader final : public BlockReader {
 public:
  DequantizingReader(const Dequantized& plan, Parameters parameters, std::uint64_t first)
      : plan_(plan),
        parameters_(std::move(parameters)),
        reader_(plan.codes.open(first * size_of(plan.dtype))),
        next_(first) {}

 protected:
  std::span<const std::byte> make_block() override {
    constexpr std::uint64_t kBlock = 16384;
    const auto count = static_cast<std::size_t>(std::min(kBlock, plan_.elements - next_));
    codes_.resize(count * size_of(plan_.dtype));
    values_.resize(count);
    reader_->read(codes_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto channel = (next_ + i) / plan_.inner % plan_.channels;
      const double code = number_at(codes_.data(), plan_.dtype, i);
      const double distance = code - parameters_.zeros[channel], scale = parameters_.scales[channel];
      values_[i] = parameters_.in_double ? static_cast<float>(distance * scale)
                                         : static_cast<float>(distance) * static_cast<float>(scale);
    }
    if constexpr (std::endian::native == std::endian::big)
      swap_elements(std::as_writable_bytes(std::span(values_)), sizeof(float));
    next_ += count;
    return std::as_bytes(std::span(values_));
  }

 private:
  Dequantized plan_;
  Parameters parameters_;
  std::unique_ptr<BlobReader> reader_;
  std::uint64_t next_;
  Bytes codes_;
  std::vector<float> values_;
};

class DequantizingProducer final : public BlobProducer {
 public:
  explicit DequantizingProducer(Dequantized plan) : plan_(std::move(plan)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    Parameters parameters;
    if (plan_.scales.components.empty()) {
      parameters = {{plan_.scale}, {plan_.zero}};
    } else {
      parameters.zeros = numbers_in(plan_.zeros.components[0]);
      parameters.scales = numbers_in(plan_.scales.components[0]);
      parameters.in_double = plan_.scales.components[0].dtype == DType::f64;
    }
    auto reader = std::make_unique<DequantizingReader>(plan_, std::move(parameters), offset / sizeof(float));
    reader->skip(offset % sizeof(float));
    return reader;
  }
  std::uint64_t seek_granularity() const override { return plan_.codes.seek_granularity() == 0 ? 0 : sizeof(float); }
  void verify() const override { plan_.codes.verify(); }

 private:
  Dequantized plan_;
};

}  // namespace

Blob dequantized_blob(Dequantized plan) {
  const std::uint64_t bytes = plan.elements * sizeof(float);
  if (bytes == 0) return Blob::memory({});
  return Blob::produced(bytes, std::make_shared<const DequantizingProducer>(std::move(plan)));
}

}  // namespace tare::torch
