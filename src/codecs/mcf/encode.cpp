#include "codecs/mcf/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "codecs/mcf/encode_chunks.hpp"
#include "codecs/weights.hpp"
#include "model/block_reader.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::size_t kChunksInPiece = 16;  // about a million weights

// A region of the payload. parts_of returns them in order, without empty ones.
struct Part {
  enum class Kind : std::uint8_t { scales, zero, sub_scales, codes } kind;
  Region region;
};

std::vector<Part> parts_of(const Geometry& geometry) {
  std::vector<Part> parts;
  for (const Part& part : {Part{Part::Kind::scales, geometry.scales}, Part{Part::Kind::zero, geometry.zero},
                           Part{Part::Kind::sub_scales, geometry.sub_scales}, Part{Part::Kind::codes, geometry.codes}})
    if (part.region.size != 0) parts.push_back(part);
  return parts;
}

bool is_raw(const Chunks& chunks) { return chunks.geometry().method->family == Family::raw; }

std::array<std::byte, 4> bytes_of(float value) {
  std::array<std::byte, 4> bytes;
  store_le<float>(bytes.data(), value);
  return bytes;
}

constexpr std::array<std::byte, kAlignment> kZeros{};

// Makes the payload from front to back. Each region is a pass over the input: every chunk is encoded completely, but
// only its bytes of the current region are used.
class PayloadReader final : public BlockReader {
 public:
  PayloadReader(std::shared_ptr<const Chunks> chunks, std::uint64_t offset)
      : chunks_(std::move(chunks)), parts_(parts_of(chunks_->geometry())) {
    while (part_ < parts_.size() && parts_[part_].region.end() <= offset) ++part_;
    if (part_ == parts_.size()) return;
    at_ = part_ == 0 ? 0 : parts_[part_ - 1].region.end();
    const Region& region = parts_[part_].region;
    if (offset >= region.offset && has_chunks()) {
      next_ = chunk_at(offset - region.offset);
      at_ = region.offset + begin_of(next_);
    }
    skip(offset - at_);
  }

 protected:
  std::span<const std::byte> make_block() override {
    if (part_ == parts_.size()) return {};
    const Region& region = parts_[part_].region;
    std::span<const std::byte> made;
    if (at_ < region.offset)
      made = std::span(kZeros).first(region.offset - at_);
    else if (has_chunks())
      made = make_chunk();
    else
      made = number_ =
          bytes_of(parts_[part_].kind == Part::Kind::scales ? chunks_->parameters().scale : chunks_->parameters().zero);
    at_ += made.size();
    if (at_ == region.end()) {
      ++part_;
      next_ = 0;
    }
    return made;
  }

 private:
  bool has_chunks() const { return !is_raw(*chunks_) || parts_[part_].kind == Part::Kind::codes; }

  std::uint64_t begin_of(std::size_t chunk) const {
    const Chunks::Place place = chunks_->place(chunk);
    switch (parts_[part_].kind) {
      case Part::Kind::scales: return place.scales;
      case Part::Kind::sub_scales: return place.sub_scales;
      default: return place.codes;
    }
  }

  // The chunk that contains byte `offset` of the current region.
  std::size_t chunk_at(std::uint64_t offset) const {
    std::size_t low = 0, high = chunks_->count();
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (begin_of(middle) <= offset ? low : high) = middle;
    }
    return low;
  }

  std::span<const std::byte> make_chunk() {
    chunks_->prepare(next_, next_ + 1, bytes_);
    if (!values_ || next_ != follows_) values_.emplace(chunks_->values(next_));
    chunks_->make(next_, *values_, bytes_);
    follows_ = ++next_;
    switch (parts_[part_].kind) {
      case Part::Kind::scales: return bytes_.scales;
      case Part::Kind::sub_scales: return bytes_.sub_scales;
      default: return bytes_.codes;
    }
  }

  std::shared_ptr<const Chunks> chunks_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::uint64_t at_ = 0;  // the next byte to make
  std::size_t next_ = 0;  // the chunk of that byte
  std::optional<WeightStream> values_;
  std::size_t follows_ = 0;  // the chunk at whose first weight values_ is
  ChunkBytes bytes_;
  std::array<std::byte, 4> number_{};
};

class PayloadProducer final : public BlobProducer {
 public:
  explicit PayloadProducer(std::shared_ptr<const Chunks> chunks) : chunks_(std::move(chunks)) {
    const std::uint64_t step = input().seek_granularity();
    // A piece of an input with large frames may begin inside a frame; pieces of several frames keep that cheap.
    const std::uint64_t wanted =
        step == 0 || step > (std::uint64_t{1} << 40)
            ? chunks_->count()
            : std::max<std::uint64_t>(kChunksInPiece, ceil_div(4 * step, chunks_->input_bytes()));
    per_piece_ = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, chunks_->count()));
  }

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<PayloadReader>(chunks_, offset);
  }
  std::uint64_t seek_granularity() const override {
    const std::uint64_t step = input().seek_granularity();
    return step != 0 && step <= kAlignment ? kAlignment : 0;
  }

  std::size_t pieces() const override { return ceil_div(chunks_->count(), per_piece_); }

  void make_piece(std::size_t piece, const PutRun& put) const override {
    if (piece == 0) put_rest(put);
    const std::size_t begin = piece * per_piece_, end = std::min(chunks_->count(), begin + per_piece_);
    WeightStream values = chunks_->values(begin);
    ChunkBytes bytes;
    for (std::size_t chunk = begin; chunk < end;) {
      const Chunks::Place place = chunks_->place(chunk);
      const std::size_t stop = std::min(end, chunk + kChunksInPiece);
      chunks_->prepare(chunk, stop, bytes);
      for (; chunk < stop; ++chunk) chunks_->make(chunk, values, bytes);
      const Geometry& geometry = chunks_->geometry();
      if (!bytes.scales.empty()) put(geometry.scales.offset + place.scales, bytes.scales);
      if (!bytes.sub_scales.empty()) put(geometry.sub_scales.offset + place.sub_scales, bytes.sub_scales);
      put(geometry.codes.offset + place.codes, bytes.codes);
    }
  }

  Map learned() const override { return chunks_->learned(); }
  void verify() const override { input().verify(); }

 private:
  const Blob& input() const { return chunks_->tensor().component("data")->blob; }

  // Puts the bytes that belong to no chunk: the gaps between the regions, and S and Z of int*.
  void put_rest(const PutRun& put) const {
    const Geometry& geometry = chunks_->geometry();
    std::uint64_t end = 0;
    for (const Part& part : parts_of(geometry)) {
      if (part.region.offset > end) put(end, std::span(kZeros).first(part.region.offset - end));
      end = part.region.end();
    }
    if (!is_raw(*chunks_)) return;
    const ScaleZero parameters = chunks_->parameters();
    put(geometry.scales.offset, bytes_of(parameters.scale));
    if (geometry.zero.size != 0) put(geometry.zero.offset, bytes_of(parameters.zero));
  }

  std::shared_ptr<const Chunks> chunks_;
  std::size_t per_piece_;
};

Error refused(const Tensor& tensor, ErrorKind kind, std::string_view rule, const std::string& sentence) {
  return Error(kind, rule, sentence).about(tensor.name);
}

void require_options(const Tensor& tensor, const EncodeOptions& options) {
  if (options.clip) require_clip(tensor, *options.clip, "quant.clip");
  if (options.importance.empty()) return;
  const std::uint64_t columns = tensor.shape.rank() == 0 ? 1 : tensor.shape[tensor.shape.rank() - 1];
  if (options.importance.size() != columns)
    throw refused(tensor, ErrorKind::usage, "quant.importance",
                  fmt::format("{} importance values for {} columns", options.importance.size(), columns));
  for (std::size_t i = 0; i < options.importance.size(); ++i)
    if (!std::isfinite(options.importance[i]) || options.importance[i] < 0)
      throw refused(tensor, ErrorKind::usage, "quant.importance",
                    fmt::format("importance is a finite number of at least 0; that of column {} is {}", i,
                                options.importance[i]));
}

}  // namespace

Tensor encode(const Tensor& tensor, const EncodeOptions& options) {
  const Method* const method = find_method(options.method);
  if (method == nullptr)
    throw refused(tensor, ErrorKind::usage, "quant.method",
                  fmt::format("MCF has no quantization method \"{}\"", options.method));
  require_floats(tensor, "quant.input", "quant.input");
  require_options(tensor, options);
  const Domain domain = options.range ? Domain::activations : Domain::weights;
  Problem why;
  const auto geometry = geometry_of(*method, domain, tensor.shape, &why);
  if (!geometry) throw refused(tensor, ErrorKind::unsupported, why.rule, why.sentence);

  Tensor result;
  result.name = tensor.name;
  result.shape = tensor.shape;
  result.layout = method->layout;
  result.attributes = tensor.attributes;
  if (options.clip)
    set_attributes(result.attributes, {domain, options.clip->first, options.clip->second});
  else
    result.attributes.set("domain", std::string(name_of(domain)));
  Blob payload = Blob::memory({});
  if (geometry->bytes != 0)
    payload = Blob::produced(geometry->bytes,
                             std::make_shared<PayloadProducer>(std::make_shared<Chunks>(tensor, *geometry, options)));
  else if (options.report != nullptr)
    options.report->complete = true;
  result.components.push_back({"payload", DType::u8, {}, std::move(payload)});
  return result;
}

}  // namespace tare::codec::mcf
