// A fast path for nearly all objects: dense, one raw part in this file with an xxh3 digest. Every writer encodes them
// the same way, because the CBOR is deterministic. Any other object, or an error, is left to the full parser, which
// also reports it.
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "formats/zt2/zt2.hpp"

namespace tare::zt2 {
namespace {

// Walks over the expected bytes, and stops at any other.
class PlainScan {
 public:
  explicit PlainScan(std::span<const std::byte> bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  template <std::size_t N>
  bool skip(const char (&text)[N]) {
    constexpr std::size_t kLength = N - 1;
    if (left() < kLength || std::memcmp(at_, text, kLength) != 0) return false;
    at_ += kLength;
    return true;
  }

  // Reads a number in its shortest form.
  bool number(std::uint64_t& out) {
    if (left() < 1) return false;
    const auto first = std::to_integer<unsigned>(*at_);
    if (first < 24) {
      out = first;
      ++at_;
      return true;
    }
    if (first > 27) return false;
    const std::size_t width = std::size_t{1} << (first - 24);
    if (left() < 1 + width) return false;
    switch (width) {
      case 1: out = std::to_integer<std::uint64_t>(at_[1]); break;
      case 2: out = load_be<std::uint16_t>(at_ + 1); break;
      case 4: out = load_be<std::uint32_t>(at_ + 1); break;
      default: out = load_be<std::uint64_t>(at_ + 1); break;
    }
    static constexpr std::uint64_t kSmallest[] = {24, 0x100, 0x10000, 0x100000000};
    at_ += 1 + width;
    return out >= kSmallest[first - 24];
  }

  // Reads a text of 2 to 4 bytes, such as the name of a dtype.
  bool short_text(std::string_view& out) {
    if (left() < 5) return false;
    const unsigned length = std::to_integer<unsigned>(*at_) - 0x60U;
    if (length < 2 || length > 4) return false;
    out = {reinterpret_cast<const char*>(at_ + 1), length};
    at_ += 1 + length;
    return true;
  }

  // Reads the head of an array of up to four items.
  bool short_array(std::uint8_t& count) {
    if (left() < 1) return false;
    const unsigned items = std::to_integer<unsigned>(*at_) - 0x80U;
    if (items > 4) return false;
    count = static_cast<std::uint8_t>(items);
    ++at_;
    return true;
  }

  // Reads 16 lower-case digits.
  bool hex(std::array<std::byte, 8>& out) {
    if (left() < 2 * out.size()) return false;
    unsigned bad = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const unsigned high = kDigits[std::to_integer<std::size_t>(at_[2 * i])];
      const unsigned low = kDigits[std::to_integer<std::size_t>(at_[2 * i + 1])];
      bad |= high | low;
      out[i] = static_cast<std::byte>(high << 4 | low);
    }
    at_ += 2 * out.size();
    return (bad & kNoDigit) == 0;
  }

  std::size_t done() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  static constexpr std::uint8_t kNoDigit = 0x80;
  static constexpr auto kDigits = [] {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (unsigned c = '0'; c <= '9'; ++c) digits[c] = static_cast<std::uint8_t>(c - '0');
    for (unsigned c = 'a'; c <= 'f'; ++c) digits[c] = static_cast<std::uint8_t>(c - 'a' + 10);
    return digits;
  }();

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace

bool read_plain(Cbor& cbor, std::uint64_t data_end, PlainObject& out) {
  PlainScan scan(cbor.rest());
  std::string_view dtype;
  if (!scan.skip("\xA3\x65parts\xA1\x64"
                 "data\xA3\x64"
                 "blob\x82") ||
      !scan.number(out.offset) || !scan.number(out.length) ||
      !scan.skip("\x65"
                 "dtype") ||
      !scan.short_text(dtype) ||
      !scan.skip("\x66"
                 "digest\x75xxh3:") ||
      !scan.hex(out.digest) || !scan.skip("\x65shape") || !scan.short_array(out.rank))
    return false;
  std::uint64_t bytes = 1;
  bool whole = true;
  for (std::size_t i = 0; i < out.rank; ++i)
    whole = scan.number(out.shape[i]) && !__builtin_mul_overflow(bytes, out.shape[i], &bytes) && whole;
  if (!whole || !scan.skip("\x66layout\x65"
                           "dense"))
    return false;
  const auto type = parse_dtype(dtype);
  if (!type || type == DType::boolean || __builtin_mul_overflow(bytes, size_of(*type), &bytes)) return false;
  out.dtype = *type;
  if (bytes != out.length || out.offset % kFloor != 0 || out.offset < kFloor || !fits(out.offset, out.length, data_end))
    return false;
  cbor.advance(scan.done());
  return true;
}

void make_tensor(const PlainObject& object, const SourcePtr& source, Tensor& tensor) {
  tensor.name = object.name;
  for (std::size_t i = 0; i < object.rank; ++i) tensor.shape.push_back(object.shape[i]);
  Component& data = tensor.components.emplace_back();
  data.role = "data";
  data.dtype = object.dtype;
  data.blob = Blob::range(source, object.offset, object.length, Digest(DigestAlgorithm::xxh3, object.digest));
}

}  // namespace tare::zt2
