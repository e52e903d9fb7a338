#include "codecs/block_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/quantized_vector.hpp"
#include "codecs/streams.hpp"
#include "codecs/tally.hpp"
#include "tare/error.hpp"

namespace tare::codec {
namespace {

// Elements decoded at a time: few enough that the floats and their codes fit the L2 cache together.
constexpr std::uint64_t kMostElements = std::uint64_t{64} << 10;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;  // read at a time for rows that have no view

class DecodedReader final : public BlobReader {
 public:
  // `column` is a multiple of the grain; the first `skip` bytes are dropped.
  DecodedReader(std::shared_ptr<const Decoder> decoder, std::uint64_t row, std::uint64_t column, std::uint64_t skip)
      : decoder_(std::move(decoder)), walk_(decoder_->planes(), row, column), skip_(skip) {}

  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (ready_.empty()) make(out);
      const std::size_t part = std::min(out.size(), ready_.size());
      // The data may have been decoded in place.
      if (ready_.data() != out.data()) std::memcpy(out.data(), ready_.data(), part);
      ready_ = ready_.subspan(part);
      out = out.subspan(part);
    }
  }

 private:
  // Decodes the next values, directly into `out` if they fit there. Decodes no more than `out` needs, rounded up to a
  // grain, so that a small read touches few bytes.
  void make(std::span<std::byte> out) {
    if (walk_.done()) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const std::uint64_t grain = decoder_->planes().grain();
    const Run run = walk_.next(std::min(kMostElements, ceil_div(skip_ + out.size(), 4 * grain) * grain));
    const auto count = run.weights();
    const bool aligned = reinterpret_cast<std::uintptr_t>(out.data()) % alignof(float) == 0;
    const bool in_place = aligned && skip_ == 0 && out.size() >= count * sizeof(float);
    if (!in_place && buffer_.size() < count) buffer_.resize(count);
    float* const to = in_place ? reinterpret_cast<float*>(out.data()) : buffer_.data();
    decoder_->decode(run, to);
    walk_.check();
    const std::span<std::byte> made = std::as_writable_bytes(std::span(to, count));
    if constexpr (!kLittleEndianHost) swap_elements(made, sizeof(float));
    ready_ = made.subspan(skip_);
    skip_ = 0;
  }

  std::shared_ptr<const Decoder> decoder_;
  Walk walk_;
  std::uint64_t skip_;
  std::vector<float> buffer_;
  std::span<const std::byte> ready_;
};

class DecodedProducer final : public BlobProducer {
 public:
  explicit DecodedProducer(std::shared_ptr<const Decoder> decoder) : decoder_(std::move(decoder)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const Planes& planes = decoder_->planes();
    const std::uint64_t element = offset / 4, column = element % planes.columns;
    const std::uint64_t start = column / planes.grain() * planes.grain();
    // An offset at the very end is allowed, but nothing can be read from there.
    return std::make_unique<DecodedReader>(decoder_, element / planes.columns, start,
                                           (column - start) * 4 + offset % 4);
  }
  std::uint64_t seek_granularity() const override {
    const auto& planes = decoder_->planes().all;
    return std::all_of(planes.begin(), planes.end(), [](const Plane& plane) { return is_seekable(plane.blob); }) ? 4
                                                                                                                 : 0;
  }
  void verify() const override {
    for (const Plane& plane : decoder_->planes().all) plane.blob.verify();
  }

 private:
  std::shared_ptr<const Decoder> decoder_;
};

// Separate sums per lane, so that compilers can vectorize the loop.
float product(std::span<const float> weights, const float* vector) {
  std::array<float, 16> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= weights.size(); i += lanes.size())
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += weights[i + lane] * vector[i + lane];
  float sum = 0;
  for (; i < weights.size(); ++i) sum += weights[i] * vector[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

class BlockDecoder final : public Decoder {
 public:
  BlockDecoder(const BlockCodec& codec, Planes planes) : Decoder(std::move(planes)), codec_(codec) {}
  const BlockCodec& codec() const { return codec_; }
  void decode(const Run& run, float* out) const override {
    codec_.decode(run.at[0], run.weights() / codec_.weights, out);
  }

 private:
  const BlockCodec& codec_;
};

class BlockRows final : public CodedRows {
 public:
  BlockRows(const BlockCodec& codec, std::shared_ptr<const Decoder> decoder, const Shape& shape)
      : CodedRows(std::move(decoder), shape), codec_(codec) {}

 protected:
  void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const override {
    if (codec_.dot == nullptr) return CodedRows::do_dot(first, count, vector, out);
    multiply(codec_.dot, first, count, vector, out);
  }
  void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const override {
    if (codec_.dot8 == nullptr) return CodedRows::do_dot(first, count, vector, out);
    multiply(codec_.dot8, first, count, vector, out);
  }

 private:
  template <typename Dot, typename Vector>
  void multiply(const Dot& dot, std::uint64_t first, std::uint64_t count, const Vector& vector, float* out) const {
    const auto blocks = columns() / codec_.weights;
    for_rows(first, count, [&](const Run& run, std::uint64_t done) {
      dot(run.at[0], static_cast<std::size_t>(run.rows), blocks, vector, out + done);
    });
  }

  const BlockCodec& codec_;
};

// Number of blocks of the whole tensor. Nothing if the shape does not fill whole blocks, or if their number of bits
// overflows 64 bits.
std::optional<std::uint64_t> blocks_of(const BlockCodec& codec, const Shape& shape) {
  const auto elements = shape.elements();
  if (!elements) return std::nullopt;
  const std::uint64_t filled = codec.across_rows ? *elements : shape.empty() ? 1 : shape.back();
  const std::uint64_t blocks = *elements / codec.weights;
  if (filled % codec.weights != 0 || !checked_mul(blocks, codec.bytes * 8)) return std::nullopt;
  return blocks;
}

Planes planes_of(const BlockCodec& codec, const Tensor& tensor) {
  Planes planes;
  const std::uint64_t elements = tensor.shape.elements().value_or(0);
  if (elements == 0) return planes;
  planes.columns = codec.across_rows ? elements : tensor.shape.back();
  planes.rows = elements / planes.columns;
  planes.step = codec.weights;
  planes.all = {{tensor.component("payload")->blob, 0, codec.weights, codec.bytes}};
  return planes;
}

std::shared_ptr<const Decoder> decoder_of(const BlockCodec& codec, const Tensor& tensor) {
  return std::make_shared<BlockDecoder>(codec, planes_of(codec, tensor));
}

}  // namespace

Tensor decoded(const Tensor& tensor, std::shared_ptr<const Decoder> decoder,
               std::span<const std::string_view> parameters) {
  const auto elements = tensor.shape.elements();
  const auto bytes = elements ? checked_mul(*elements, 4) : std::nullopt;
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the decoded tensor does not fit 64 bits of length")
        .about(tensor.name);
  Blob blob =
      *bytes == 0 ? Blob::memory({}) : Blob::produced(*bytes, std::make_shared<DecodedProducer>(std::move(decoder)));
  Tensor result = dense(tensor.name, tensor.shape, DType::f32, std::move(blob));
  // The parameters describe the encoded bytes.
  for (const auto& [key, value] : tensor.attributes)
    if (std::find(parameters.begin(), parameters.end(), key) == parameters.end()) result.attributes.append(key, value);
  return result;
}

CodedRows::CodedRows(std::shared_ptr<const Decoder> decoder, const Shape& shape)
    // The product overflows 64 bits only if the tensor has no elements.
    : Rows(Shape(shape.begin(), shape.end() - (shape.empty() ? 0 : 1)).elements().value_or(0),
           shape.empty() ? 1 : shape.back()),
      decoder_(std::move(decoder)) {
  for (const Plane& plane : decoder_->planes().all)
    if (plane.blob.is_plain()) plane.blob.verify();  // in full, because rows are read in parts
  for (const Plane& plane : decoder_->planes().all) {
    const auto view = plane.blob.view();
    if (!view) break;
    views_.push_back(view->data());
  }
}

std::uint64_t CodedRows::rows_at_a_time() const {
  std::uint64_t bytes = 1;
  for (const Plane& plane : decoder_->planes().all) bytes += ceil_div(columns(), plane.weights) * plane.bytes;
  return std::max<std::uint64_t>(1, kMostBytes / bytes);
}

Run CodedRows::run_of(std::uint64_t first, std::uint64_t count, Bytes& buffer) const {
  const Planes& planes = decoder_->planes();
  // If the planes store all elements as one row, ours are parts of it.
  const bool together = planes.columns != columns();
  Run run{.row = together ? 0 : first, .column = together ? first * columns() : 0, .rows = count, .columns = columns()};
  const auto extent = [&](const Plane& plane) {
    const std::uint64_t begin = planes.offset_of(plane, run.row, run.column);
    const std::uint64_t end = together
                                  ? plane.offset + ceil_div((first + count) * columns(), plane.weights) * plane.bytes
                                  : begin + count * planes.row_bytes(plane);
    return std::pair(begin, end - begin);
  };
  if (in_place()) {
    for (std::size_t i = 0; i < views_.size(); ++i) run.at[i] = views_[i] + extent(planes.all[i]).first;
    return run;
  }
  std::uint64_t bytes = 0;
  for (const Plane& plane : planes.all) bytes += extent(plane).second;
  buffer.resize(bytes);
  std::byte* to = buffer.data();
  for (std::size_t i = 0; i < planes.all.size(); ++i) {
    const auto [offset, size] = extent(planes.all[i]);
    planes.all[i].blob.read(offset, {to, static_cast<std::size_t>(size)});
    run.at[i] = to;
    to += size;
  }
  return run;
}

// Calls add(run, number of its first element) for all runs that hold the elements [begin, end), in order. Runs are
// whole steps, so the first and the last may extend beyond that range.
template <typename Add>
void CodedRows::for_runs(std::uint64_t begin, std::uint64_t end, const Add& add) const {
  const Planes& planes = decoder_->planes();
  if (begin == end) return;
  const std::uint64_t column = begin % planes.columns, start = column / planes.step * planes.step;
  Walk walk(planes, begin / planes.columns, start);
  for (std::uint64_t at = begin - (column - start); at < end;) {
    const Run run = walk.next(std::min(kMostElements, end - at));
    add(run, at);
    walk.check();
    at += run.weights();
  }
}

// Calls add(row, column, weights) for parts of the rows, in order.
template <typename Add>
void CodedRows::for_decoded(std::uint64_t first, std::uint64_t count, const Add& add) const {
  const std::uint64_t begin = first * columns(), end = begin + count * columns();
  std::vector<float> buffer;
  for_runs(begin, end, [&](const Run& run, std::uint64_t at) {
    buffer.resize(std::max(buffer.size(), run.weights()));
    decoder_->decode(run, buffer.data());
    for (std::uint64_t from = std::max(at, begin); from < std::min(at + run.weights(), end);) {
      const std::uint64_t in_row = from % columns();
      const std::uint64_t part = std::min({columns() - in_row, at + run.weights() - from, end - from});
      add(from / columns() - first, in_row,
          std::span<const float>(buffer).subspan(from - at, static_cast<std::size_t>(part)));
      from += part;
    }
  });
}

void CodedRows::do_decode(std::uint64_t first, std::uint64_t count, float* out) const {
  const std::uint64_t begin = first * columns(), end = begin + count * columns();
  std::vector<float> buffer;
  for_runs(begin, end, [&](const Run& run, std::uint64_t at) {
    if (at >= begin && run.weights() <= end - at) return decoder_->decode(run, out + (at - begin));
    buffer.resize(run.weights());
    decoder_->decode(run, buffer.data());
    const std::uint64_t from = std::max(at, begin), to = std::min(at + run.weights(), end);
    std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(from - at), to - from, out + (from - begin));
  });
}

void CodedRows::do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const {
  std::vector<double> sums(count);
  for_decoded(first, count, [&](std::uint64_t row, std::uint64_t column, std::span<const float> weights) {
    sums[row] += static_cast<double>(product(weights, vector + column));
  });
  std::transform(sums.begin(), sums.end(), out, f64_to_f32);
}

void CodedRows::do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const {
  const QuantizedVector::Data& data = vector.data();
  std::vector<double> sums(count);
  for_decoded(first, count, [&](std::uint64_t row, std::uint64_t column, std::span<const float> weights) {
    double& sum = sums[row];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto at = column + i;
      sum += static_cast<double>(weights[i]) * data.codes[at] * static_cast<double>(data.scales[at / data.kBlock]);
    }
  });
  std::transform(sums.begin(), sums.end(), out, f64_to_f32);
}

std::optional<Problem> check_blocks(const BlockCodec& codec, const Tensor& tensor) {
  const auto problem = [&](std::string_view rule, std::string sentence) {
    return Problem{fmt::format("{}.{}", codec.rules, rule), std::move(sentence)};
  };
  const Component* const payload = tensor.component("payload");
  if (payload == nullptr || tensor.components.size() != 1)
    return problem("components", fmt::format("{} has one component \"payload\"", codec.layout));
  if (payload->dtype != DType::u8 || !payload->type.empty())
    return problem("type", fmt::format("the payload is u8, found {}", payload->type_name()));
  const auto blocks = blocks_of(codec, tensor.shape);
  const std::string of_what = codec.across_rows ? fmt::format("in {} bits each", codec.bytes * 8 / codec.weights)
                                                : fmt::format("in blocks of {}", codec.weights);
  if (!blocks && codec.across_rows)
    return problem("bits", fmt::format("the shape {} {} does not fill whole bytes", tensor.shape.text(), of_what));
  if (!blocks)
    return problem("row", fmt::format("the rows of the shape {} are not whole blocks of {} weights",
                                      tensor.shape.text(), codec.weights));
  if (payload->blob.size() != *blocks * codec.bytes)
    return problem("size", fmt::format("the shape {} {} takes {} bytes, the payload has {}", tensor.shape.text(),
                                       of_what, *blocks * codec.bytes, payload->blob.size()));
  return std::nullopt;
}

void verify_blocks(const BlockCodec& codec, const Tensor& tensor, const std::function<void(Problem)>& report) {
  if (codec.fault == nullptr) return;
  const Planes planes = planes_of(codec, tensor);
  const std::string rule = fmt::format("{}.block", codec.rules);
  Tally tally(rule, "blocks");
  std::uint64_t block = 0;
  for (Walk walk(planes, 0, 0); !walk.done(); walk.check()) {
    const Run run = walk.next(kMostElements);
    const std::byte* const end = run.at[0] + run.weights() / codec.weights * codec.bytes;
    for (const std::byte* at = run.at[0]; at != end; at += codec.bytes, ++block) {
      const char* const fault = codec.fault(at);
      tally.add(fault == nullptr ? 0 : 1, [&] {
        const std::uint64_t element = block * codec.weights;
        return Place{block * codec.bytes,
                     fmt::format("block {} (row {}, columns from {}): {}", block, element / tensor.shape.back(),
                                 element % tensor.shape.back(), fault)};
      });
    }
  }
  tally.report_to(tensor.component("payload")->blob, report);
}

Tensor decode_blocks(const BlockCodec& codec, const Tensor& tensor) {
  return decoded(tensor, decoder_of(codec, tensor), {});
}

std::unique_ptr<const Rows> rows_of_blocks(const BlockCodec& codec, const Tensor& tensor) {
  return std::make_unique<BlockRows>(codec, decoder_of(codec, tensor), tensor.shape);
}

std::uint64_t bytes_of_blocks(const BlockCodec& codec, const Shape& shape) {
  const auto blocks = blocks_of(codec, shape);
  // The largest value: a budget never chooses a codec that cannot hold the tensor.
  return blocks ? *blocks * codec.bytes : ~std::uint64_t{0};
}

}  // namespace tare::codec
