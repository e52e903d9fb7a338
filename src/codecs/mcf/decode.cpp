// The dense f32 tensor of an MCF payload, made when somebody pulls.
#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/mcf.hpp"
#include "codecs/mcf/pieces.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::mcf {
namespace {

// Decoded at a time: the floats and the codes they come from stay in the L2 cache together.
constexpr std::uint64_t kMostElements = std::uint64_t{64} << 10;

class Reader final : public BlobReader {
 public:
  // Begins at the start of `pieces`, with `skip` bytes dropped.
  Reader(Pieces pieces, std::uint64_t skip) : pieces_(std::move(pieces)), skip_(skip) {}

  void read(std::span<std::byte> out) override {
    while (!out.empty()) {
      if (ready_.empty()) make(out);
      const std::size_t part = std::min(out.size(), ready_.size());
      // What was made in its final place is there already.
      if (ready_.data() != out.data()) std::memcpy(out.data(), ready_.data(), part);
      ready_ = ready_.subspan(part);
      out = out.subspan(part);
    }
  }

 private:
  // Makes the next values, in `out` itself where they fit. No more than `out` asks for, up to the 256 that go together:
  // a small read touches few bytes.
  void make(std::span<std::byte> out) {
    if (pieces_.done()) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const std::uint64_t wanted = ceil_div(skip_ + out.size(), 4 * std::uint64_t{kSuper}) * kSuper;
    const RowSpan piece = pieces_.next(std::min(kMostElements, wanted));
    const auto count = static_cast<std::size_t>(piece.rows * piece.columns);
    const bool aligned = reinterpret_cast<std::uintptr_t>(out.data()) % alignof(float) == 0;
    const bool in_place = aligned && skip_ == 0 && out.size() >= count * sizeof(float);
    if (!in_place && buffer_.size() < count) buffer_.resize(count);
    float* const to = in_place ? reinterpret_cast<float*>(out.data()) : buffer_.data();
    decode_rows(piece, to);
    pieces_.check();
    const std::span<std::byte> made = std::as_writable_bytes(std::span(to, count));
    if constexpr (!kLittleEndianHost) swap_elements(made, sizeof(float));
    ready_ = made.subspan(static_cast<std::size_t>(skip_));
    skip_ = 0;
  }

  Pieces pieces_;
  std::uint64_t skip_;
  std::vector<float> buffer_;
  std::span<const std::byte> ready_;
};

class Producer final : public BlobProducer {
 public:
  Producer(Blob payload, const Geometry& geometry) : payload_(std::move(payload)), geometry_(geometry) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    // int* codes are one run, without rows.
    const bool raw = geometry_.method->family == Family::raw;
    const std::uint64_t columns = raw ? geometry_.elements() : geometry_.columns;
    const std::uint64_t element = offset / 4, column = element % columns;
    const std::uint64_t start = column / kSuper * kSuper;
    // An offset at the very end is allowed; nothing can be read from there.
    Pieces pieces(payload_, geometry_, element / columns, start);
    return std::make_unique<Reader>(std::move(pieces), (column - start) * 4 + offset % 4);
  }
  std::uint64_t seek_granularity() const override { return is_seekable(payload_) ? 4 : 0; }
  void verify() const override { payload_.verify(); }

 private:
  Blob payload_;
  Geometry geometry_;
};

}  // namespace

Tensor decode(const Tensor& tensor) {
  const Geometry geometry = geometry_of(tensor);
  const auto bytes = checked_mul(geometry.elements(), 4);
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the decoded tensor does not fit 64 bits of length")
        .about(tensor.name);
  Blob blob = *bytes == 0
                  ? Blob::memory({})
                  : Blob::produced(*bytes, std::make_shared<Producer>(tensor.component("payload")->blob, geometry));
  Tensor result = dense(tensor.name, tensor.shape, DType::f32, std::move(blob));
  // These describe bytes that are no longer there.
  for (const auto& [key, value] : tensor.attributes)
    if (key != "domain" && key != "min_clip" && key != "max_clip") result.attributes.append(key, value);
  return result;
}

}  // namespace tare::codec::mcf
