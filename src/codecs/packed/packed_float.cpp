// "packed.f4_e2m1", "packed.f6_e2m3", "packed.f6_e3m2": floats of 4 and 6 bits (OCP Microscaling), side by side.
//
//   payload  u8[product(shape) * bits / 8]: one stream of bits, the first element in the lowest bits of the first byte
//
// The shape counts elements, not bytes. All of them together fill whole bytes: nothing is padded. There are no
// infinities and no NaN; the scales of blocks, where a model has them, are tensors of their own. For 4 bits the order
// is the one every library uses (even elements in the low half); for 6 bits no document says it, and ours continues
// that one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::packed {
namespace {

constexpr std::array<std::string_view, 1> kRoles = {"payload"};

struct Kind {
  std::string_view layout;
  unsigned bits, mantissa;
  int bias;
};
constexpr Kind kF4Kind{"packed.f4_e2m1", 4, 1, 1}, kF6FineKind{"packed.f6_e2m3", 6, 3, 1},
    kF6WideKind{"packed.f6_e3m2", 6, 2, 3};

// Exact: a few bits of significand, small powers of two.
template <const Kind& K>
constexpr std::array<float, std::size_t{1} << K.bits> make_values() {
  std::array<float, std::size_t{1} << K.bits> values{};
  for (unsigned code = 0; code < values.size(); ++code) {
    const unsigned sign = code >> (K.bits - 1), rest = code & ((1u << (K.bits - 1)) - 1);
    const unsigned mantissa = rest & ((1u << K.mantissa) - 1), exponent = rest >> K.mantissa;
    auto value = static_cast<float>(exponent == 0 ? mantissa : mantissa | (1u << K.mantissa));
    int power = static_cast<int>(std::max(exponent, 1u)) - K.bias - static_cast<int>(K.mantissa);
    for (; power > 0; --power) value *= 2;
    for (; power < 0; ++power) value /= 2;
    values[code] = sign != 0 ? -value : value;
  }
  return values;
}
template <const Kind& K>
constexpr auto kValues = make_values<K>();

std::optional<Problem> check_packed(const Tensor& tensor, const Kind& kind) {
  const Component* const payload = tensor.component("payload");
  if (payload == nullptr || tensor.components.size() != 1)
    return Problem{"packed.components", fmt::format("{} has one component \"payload\"", kind.layout)};
  if (payload->dtype != DType::u8 || !payload->type.empty())
    return Problem{"packed.type", fmt::format("the payload is u8, found {}", payload->type_name())};
  const auto count = tensor.shape.elements();
  const auto bits = count ? checked_mul(*count, kind.bits) : std::nullopt;
  if (!bits || *bits % 8 != 0)
    return Problem{"packed.bits", fmt::format("the shape {} in {} bits each does not fill whole bytes",
                                              tensor.shape.text(), kind.bits)};
  if (payload->blob.size() != *bits / 8)
    return Problem{"packed.size", fmt::format("the shape {} in {} bits each takes {} bytes, the payload has {}",
                                              tensor.shape.text(), kind.bits, *bits / 8, payload->blob.size())};
  return std::nullopt;
}

// Three bytes hold six or four elements of either width: the unit of work.
constexpr std::size_t kUnitBytes = 3, kUnitsPerBlock = 1024;

template <const Kind& K>
class Unpacker final : public BlockReader {
 public:
  static constexpr std::size_t kPerUnit = kUnitBytes * 8 / K.bits;

  Unpacker(const Blob& payload, std::uint64_t first_unit)
      : left_(payload.size() - first_unit * kUnitBytes),
        stream_(payload, first_unit * kUnitBytes),
        out_(kUnitsPerBlock * kPerUnit * 4) {}

 private:
  std::span<const std::byte> make_block() override {
    std::size_t made = 0;
    while (left_ > 0 && made < out_.size()) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kUnitBytes, left_));
      const std::byte* const from = stream_.take(bytes);
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < bytes; ++i) word |= std::to_integer<std::uint32_t>(from[i]) << (8 * i);
      for (std::size_t i = 0; i < bytes * 8 / K.bits; ++i, made += 4, word >>= K.bits)
        store_le<float>(out_.data() + made, kValues<K>[word & ((1u << K.bits) - 1)]);
      left_ -= bytes;
    }
    return std::span(out_).first(made);
  }

  std::uint64_t left_;
  ByteStream stream_;
  std::vector<std::byte> out_;
};

template <const Kind& K>
class UnpackProducer final : public BlobProducer {
 public:
  explicit UnpackProducer(Blob payload) : payload_(std::move(payload)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t unit = offset / kUnit;
    auto reader = std::make_unique<Unpacker<K>>(payload_, unit);
    reader->skip(offset - unit * kUnit);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_seekable(payload_) ? kUnit : 0; }
  void verify() const override { payload_.verify(); }

 private:
  static constexpr std::uint64_t kUnit = Unpacker<K>::kPerUnit * 4;
  Blob payload_;
};

template <const Kind& K>
Tensor decode(const Tensor& tensor) {
  const auto count = tensor.shape.elements();
  const auto bytes = count ? checked_mul(*count, 4) : std::nullopt;
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the decoded tensor does not fit 64 bits of length")
        .about(tensor.name);
  const Blob& payload = tensor.component("payload")->blob;
  Tensor result =
      dense(tensor.name, tensor.shape, DType::f32,
            *bytes == 0 ? Blob::memory({}) : Blob::produced(*bytes, std::make_shared<UnpackProducer<K>>(payload)));
  result.attributes = tensor.attributes;
  return result;
}

template <const Kind& K>
std::optional<Problem> check(const Tensor& tensor) {
  return check_packed(tensor, K);
}

// Every code is a number.
void verify(const Tensor& /*tensor*/, const std::function<void(Problem)>& /*report*/) {}

template <const Kind& K>
constexpr Codec row(std::string_view title) {
  return {.layout = K.layout,
          .name = K.layout,
          .title = title,
          .methods = {},
          .roles = kRoles,
          .check = check<K>,
          .verify = verify,
          .decode = decode<K>,
          .encode = nullptr};
}

}  // namespace

constinit const Codec kF4 = row<kF4Kind>("4-bit floats (e2m1), two in a byte");
constinit const Codec kF6Fine = row<kF6FineKind>("6-bit floats (e2m3), four in three bytes");
constinit const Codec kF6Wide = row<kF6WideKind>("6-bit floats (e3m2), four in three bytes");

}  // namespace tare::codec::packed
