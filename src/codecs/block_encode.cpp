// Lazy encoding to blocks, a chunk of blocks at a time. A chunk depends on its own weights only, so encoding can start
// at any of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/endian.hpp"
#include "codecs/block_codec.hpp"
#include "codecs/loss_report.hpp"
#include "codecs/streams.hpp"
#include "codecs/weights.hpp"
#include "tare/error.hpp"

namespace tare::codec {
namespace {

constexpr std::uint64_t kChunkWeights = 8192;  // or one block

// All that is needed to encode one tensor.
struct BlockEncoding {
  const BlockCodec& codec;
  Tensor tensor;
  std::optional<std::pair<float, float>> clip;
  bool fast;
  std::vector<float> importance;  // per column, scaled so that the largest is 1; empty: all equal
  std::uint64_t blocks, chunk;    // blocks of the tensor; blocks per chunk
  std::string not_finite_rule;
  std::unique_ptr<LossReport> losses;  // null if no report was requested

  const Blob& input() const { return tensor.component("data")->blob; }
};

class BlockWriter final : public BlockReader {
 public:
  BlockWriter(const BlockEncoding& how, std::uint64_t chunk)
      : how_(how),
        chunk_(chunk),
        weights_(how.tensor, how.clip ? Beyond::largest : Beyond::infinite, how.not_finite_rule,
                 std::min(chunk * how.chunk, how.blocks) * how.codec.weights) {}

 protected:
  std::span<const std::byte> make_block() override {
    const BlockCodec& codec = how_.codec;
    const std::uint64_t first = chunk_ * how_.chunk;
    if (first >= how_.blocks) return {};
    const auto count = static_cast<std::size_t>(std::min(how_.chunk, how_.blocks - first));
    const auto size = static_cast<std::size_t>(codec.weights);
    source_.resize(count * size);
    weights_.read(source_.data(), source_.size());
    weights_.check();
    if (!all_finite(source_)) {
      const auto bad = std::find_if(source_.begin(), source_.end(), [](float w) { return !std::isfinite(w); });
      throw not_finite(how_.tensor, first * size + static_cast<std::uint64_t>(bad - source_.begin()),
                       how_.not_finite_rule);
    }
    if (how_.clip) {
      values_ = source_;
      for (float& value : values_) value = std::clamp(value, how_.clip->first, how_.clip->second);
    }
    const std::vector<float>& values = how_.clip ? values_ : source_;
    made_.resize(count * static_cast<std::size_t>(codec.bytes));
    const std::size_t coded = codec.encode({.weights = values.data(),
                                            .importance = importance_of(first * size, count * size),
                                            .count = count,
                                            .fast = how_.fast},
                                           made_.data());
    if (coded != count) refuse(first + coded, std::span(values).subspan(coded * size, size));
    if (how_.losses != nullptr) measure(first, count);
    ++chunk_;
    return made_;
  }

 private:
  // Has no branch per weight: adding one to an exponent of all ones carries into the sign bit.
  static bool all_finite(std::span<const float> weights) {
    std::uint32_t overflow = 0;
    for (const float weight : weights) overflow |= (std::bit_cast<std::uint32_t>(weight) & 0x7F800000u) + 0x00800000u;
    return (overflow & 0x80000000u) == 0;
  }

  // The importance of `count` weights from `first` on, which may cross rows; null: all equal.
  const float* importance_of(std::uint64_t first, std::size_t count) {
    const std::vector<float>& row = how_.importance;
    if (row.empty()) return nullptr;
    importance_.resize(count);
    auto from = first % row.size();
    for (std::size_t done = 0; done < count; from = 0) {
      const std::size_t part = std::min(count - done, row.size() - from);
      std::copy_n(&row[from], part, &importance_[done]);
      done += part;
    }
    return importance_.data();
  }

  void measure(std::uint64_t first, std::size_t count) {
    const auto size = static_cast<std::size_t>(how_.codec.weights);
    values_.resize(source_.size());
    how_.codec.decode(made_.data(), count, values_.data());
    ChunkLoss loss;
    for (std::size_t at = 0; at < source_.size(); at += size)
      loss.add_block<float>(first * size + at, std::span(source_).subspan(at, size),
                            [&](std::size_t i) { return values_[at + i]; });
    for (std::size_t block = 0; block < count; ++block)
      for (const std::uint8_t at : how_.codec.scales)
        loss.add_scale(load_le<std::uint16_t>(&made_[block * how_.codec.bytes + at]));
    how_.losses->settle(chunk_, loss);
  }

  [[noreturn]] void refuse(std::uint64_t block, std::span<const float> weights) const {
    const float most =
        *std::max_element(weights.begin(), weights.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    throw Error(ErrorKind::unsupported, fmt::format("{}.overflow", how_.codec.rules),
                fmt::format("block {}: a weight of {} needs a scale that is more than {} holds", block, most,
                            how_.codec.layout))
        .about(how_.tensor.name)
        .blame(Subject::input)
        .remedy(Remedy::clip)
        .remedy(Remedy::keep);
  }

  const BlockEncoding& how_;
  std::uint64_t chunk_;
  WeightStream weights_;
  std::vector<float> source_, values_, importance_;
  std::vector<std::byte> made_;
};

class BlockProducer final : public BlobProducer {
 public:
  explicit BlockProducer(BlockEncoding how) : how_(std::move(how)) {}

  // Starts at the beginning of a chunk, so that each chunk is measured as a whole.
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t bytes = how_.chunk * how_.codec.bytes;
    auto reader = std::make_unique<BlockWriter>(how_, offset / bytes);
    reader->skip(offset % bytes);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_seekable(how_.input()) ? 1 : 0; }
  void verify() const override { how_.input().verify(); }

 private:
  BlockEncoding how_;
};

// Checks the importance values and scales them so that the largest is 1. Empty if the codec does not use them.
std::vector<float> importance_for(const BlockCodec& codec, const Tensor& tensor, const EncodeOptions& options) {
  const std::uint64_t columns = tensor.shape.rank() == 0 ? 1 : tensor.shape.back();
  const std::string rule = fmt::format("{}.importance", codec.rules);
  std::vector<float> importance = options.importance;
  if (importance.empty()) return importance;
  if (importance.size() != columns)
    throw Error(ErrorKind::usage, rule, fmt::format("{} importance values for {} columns", importance.size(), columns))
        .about(tensor.name);
  for (std::size_t i = 0; i < importance.size(); ++i)
    if (!std::isfinite(importance[i]) || importance[i] < 0)
      throw Error(ErrorKind::usage, rule,
                  fmt::format("importance is a finite number of at least 0; that of column {} is {}", i, importance[i]))
          .about(tensor.name);
  if (!codec.weighted || options.fast) return {};
  const float most = *std::max_element(importance.begin(), importance.end());
  if (most <= 0) return {};
  for (float& one : importance) one /= most;
  return importance;
}

}  // namespace

Tensor encode_blocks(const BlockCodec& codec, const Tensor& tensor, const EncodeOptions& options) {
  require_floats(tensor, fmt::format("{}.input", codec.rules), fmt::format("{}.input", codec.rules));
  if (options.clip) require_clip(tensor, *options.clip, fmt::format("{}.clip", codec.rules));
  Tensor result;
  result.name = tensor.name;
  result.shape = tensor.shape;
  result.layout = codec.layout;
  result.attributes = tensor.attributes;
  const std::uint64_t bytes = bytes_of_blocks(codec, tensor.shape);
  if (bytes == ~std::uint64_t{0})
    throw Error(ErrorKind::unsupported, fmt::format("{}.{}", codec.rules, codec.across_rows ? "bits" : "row"),
                fmt::format("{} takes whole blocks of {} weights, the shape is {}", codec.layout, codec.weights,
                            tensor.shape.text()))
        .about(tensor.name);
  std::vector<float> importance = importance_for(codec, tensor, options);
  Blob blob = Blob::memory({});
  if (bytes != 0) {
    BlockEncoding how{.codec = codec,
                      .tensor = tensor,
                      .clip = options.clip,
                      .fast = options.fast,
                      .importance = std::move(importance),
                      .blocks = bytes / codec.bytes,
                      .chunk = std::max<std::uint64_t>(1, kChunkWeights / codec.weights),
                      .not_finite_rule = fmt::format("{}.nonfinite", codec.rules),
                      .losses = nullptr};
    if (options.report != nullptr)
      how.losses = std::make_unique<LossReport>(options.report, bytes / codec.bytes * codec.weights,
                                                ceil_div(how.blocks, how.chunk));
    blob = Blob::produced(bytes, std::make_shared<BlockProducer>(std::move(how)));
  } else if (options.report != nullptr) {
    options.report->complete = true;
  }
  result.components.push_back({"payload", DType::u8, {}, std::move(blob)});
  return result;
}

}  // namespace tare::codec
