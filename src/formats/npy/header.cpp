#include "formats/npy/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "model/element_types.hpp"
#include "tare/error.hpp"

namespace tare::npy {
namespace {

constexpr std::uint64_t kAlignment = 64;
// NumPy leaves room for the slowest dimension to grow to this many digits in place.
constexpr std::size_t kGrowth = 21;

Error corrupt(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

// NumPy's name for one of our types. `raw`: bits without a type, so the type is a guess.
struct Named {
  consteval Named(std::string_view spelled, std::string_view name, bool bits = false)
      : code(spelled), type(&element_type(name)), raw(bits) {}
  std::string_view code;
  const ElementType* type;
  bool raw;
};

// Codes with a byte order, as they are written.
constexpr Named kCodes[] = {
    {"<f8", "f64"}, {"<f4", "f32"}, {"<f2", "f16"},  {"<V2", "bf16", true}, {"<i8", "i64"},
    {"<i4", "i32"}, {"<i2", "i16"}, {"|i1", "i8"},   {"<u8", "u64"},        {"<u4", "u32"},
    {"<u2", "u16"}, {"|u1", "u8"},  {"|b1", "bool"}, {"<c8", "complex64"},  {"<c16", "complex128"},
};

// Codes that are read and never written.
constexpr Named kMoreCodes[] = {
    {"|V1", "u8", true},
    // np.save writes this for float8_e5m2, and np.load then refuses it.
    {"|f1", "f8_e5m2", true},
};

// Names that NumPy accepts instead of a code, some of them only once ml_dtypes is imported.
constexpr Named kNames[] = {
    {"bfloat16", "bf16"},
    {"float8_e4m3fn", "f8_e4m3fn"},
    {"float8_e5m2", "f8_e5m2"},
    {"float8_e4m3fnuz", "f8_e4m3fnuz"},
    {"float8_e5m2fnuz", "f8_e5m2fnuz"},
    {"float8_e8m0fnu", "f8_e8m0"},
    {"float64", "f64"},
    {"float32", "f32"},
    {"float16", "f16"},
    {"int64", "i64"},
    {"int32", "i32"},
    {"int16", "i16"},
    {"int8", "i8"},
    {"uint64", "u64"},
    {"uint32", "u32"},
    {"uint16", "u16"},
    {"uint8", "u8"},
    {"bool", "bool"},
    {"complex64", "complex64"},
    {"complex128", "complex128"},
};

Element element_of(const Named& row, bool big_endian) {
  const ElementType& type = *row.type;
  const bool logical = row.type != &element_type(type.storage);
  return {type.storage, logical ? type.name : std::string_view(), type.per_element, big_endian, row.raw};
}

// Sizes of C's long double, and of complex pairs of it, on the machines that NumPy runs on.
bool is_long_double(std::string_view code) {
  constexpr std::string_view kSizes[] = {"f10", "f12", "f16", "c20", "c24", "c32"};
  return std::ranges::find(kSizes, code) != std::end(kSizes);
}

Element parse_descr(std::string_view descr) {
  for (const Named& row : kNames)
    if (row.code == descr) return element_of(row, false);
  std::string_view code = descr;
  const char order = code.empty() ? ' ' : code.front();
  if (std::string_view("<>=|").find(order) != std::string_view::npos) code.remove_prefix(1);
  for (const std::span<const Named> rows : {std::span<const Named>(kCodes), std::span<const Named>(kMoreCodes)})
    for (const Named& row : rows)
      if (row.code.substr(1) == code) return element_of(row, order == '>');
  const std::string shown = quote(descr);
  const bool sized = code.size() > 1 && code.find_first_not_of("0123456789", 1) == std::string_view::npos;
  switch (code.empty() ? ' ' : code.front()) {
    case 'O':
      throw OtherArray(
          "npy.descr.object",
          fmt::format("'{}': an array of Python objects is a pickle, and unpickling runs code; refused", shown));
    case 'S':
    case 'a':
    case 'U': throw OtherArray("npy.descr.text", fmt::format("'{}': an array of text, not of numbers", shown));
    case 'M':
    case 'm': throw OtherArray("npy.descr.datetime", fmt::format("'{}': an array of dates or durations", shown));
    case 'V':
      if (!sized) break;
      throw OtherArray("npy.descr.void", fmt::format("'{}': raw items of a size that no known type has", shown));
    case 'f':
    case 'c':
      if (!is_long_double(code)) break;
      throw OtherArray("npy.descr.longdouble",
                       fmt::format("'{}': a float of this size has no portable meaning", shown));
    default: break;
  }
  throw corrupt("npy.descr.unknown", fmt::format("'{}' is not a type descriptor that Tare knows", shown));
}

// A cursor over the dict literal. Positions in errors count from the start of the text.
class Parser {
 public:
  Parser(std::string_view text, std::size_t max_rank) : text_(text), max_rank_(max_rank) {}

  Header parse() {
    Header header;
    bool descr = false, fortran = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        parse_type(header);
      } else if (key == "fortran_order" && !fortran) {
        fortran = true;
        header.fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        parse_shape(header.shape);
      } else {
        throw corrupt("npy.header.keys",
                      fmt::format("'{}' {}; expected descr, fortran_order and shape once each", quote(key),
                                  key == "descr" || key == "shape" || key == "fortran_order" ? "appears twice"
                                                                                             : "is not a known key"));
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    if (!descr || !fortran || !shape)
      throw corrupt("npy.header.keys", fmt::format("'{}' is missing", !descr     ? "descr"
                                                                      : !fortran ? "fortran_order"
                                                                                 : "shape"));
    skip_space();
    if (at_ != text_.size()) fail("nothing but white space after the dictionary");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw corrupt("npy.header.syntax", fmt::format("expected {} at character {} of the header, found \"{}\"", expected,
                                                   at_, quote(text_.substr(at_, 16))));
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n\f", at_), text_.size()); }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  bool accept_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Accepts either quote. No known name needs escapes.
  std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("a quoted string");
    const std::size_t end = text_.find_first_of(quote == '"' ? "\"\\\n" : "'\\\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != quote) fail("a string without escapes");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return content;
  }

  bool boolean() {
    skip_space();
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("True or False");
    return false;
  }

  void parse_type(Header& header) {
    skip_space();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
      throw OtherArray("npy.descr.structured", "an array of records; arrays of plain numbers can be read");
    header.descr = string();
    header.element = parse_descr(header.descr);
  }

  void parse_shape(Shape& shape) {
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("',' or ')'");
      if (shape.rank() == max_rank_)
        throw Error(ErrorKind::limit, "npy.shape.rank", fmt::format("more than {} dimensions", max_rank_));
      shape.push_back(dimension());
      comma = accept(',');
    }
    // In Python, (3) is a number; only (3,) is a shape.
    if (shape.rank() == 1 && !comma) fail("a comma after the only dimension");
  }

  std::uint64_t dimension() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '-')
      throw corrupt("npy.shape.negative", fmt::format("a dimension is negative: \"{}\"", quote(text_.substr(at_, 21))));
    std::uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range)
      throw corrupt("npy.shape.overflow", "a dimension does not fit 64 bits");
    if (status != std::errc() || (*begin == '0' && end != begin + 1)) fail("a dimension");
    at_ += static_cast<std::size_t>(end - begin);
    accept_word("L");  // Python 2 wrote 3L
    return value;
  }

  std::string_view text_;
  std::size_t max_rank_;
  std::size_t at_ = 0;
};

std::size_t prefix_length(unsigned major) { return major == 1 ? 10 : 12; }

// The length of the whole header that its first kPrefix bytes state.
std::uint64_t stated_length(std::span<const std::byte> prefix) {
  if (std::memcmp(prefix.data(), kMagic.data(), kMagic.size()) != 0)
    throw corrupt("npy.magic", "does not start with \"\\x93NUMPY\"");
  const auto major = std::to_integer<unsigned>(prefix[6]), minor = std::to_integer<unsigned>(prefix[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(ErrorKind::unsupported, "npy.version",
                fmt::format("header version {}.{}; 1.0, 2.0 and 3.0 can be read", major, minor));
  const std::uint64_t text = major == 1 ? load_le<std::uint16_t>(&prefix[8]) : load_le<std::uint32_t>(&prefix[8]);
  return prefix_length(major) + text;
}

}  // namespace

std::uint64_t header_length(std::span<const std::byte> prefix, std::uint64_t total) {
  if (prefix.size() < kPrefix || total < kPrefix)
    throw corrupt("npy.short", fmt::format("{} bytes are too few for an array header", total));
  const std::uint64_t length = stated_length(prefix);
  if (length > total)
    throw corrupt("npy.header.length", fmt::format("a header of {} bytes in {} bytes", length, total));
  if (length > kMaxHeader)
    throw Error(ErrorKind::limit, "npy.header.large",
                fmt::format("expected a header of at most {} bytes, found {}", kMaxHeader, length));
  return length;
}

Header parse_header(std::span<const std::byte> bytes, std::size_t max_rank) {
  // Checked a second time: the file may have been rewritten since its length was read.
  std::array<std::byte, kPrefix> prefix{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), kPrefix), prefix.begin());
  if (const std::uint64_t length = stated_length(prefix); length != bytes.size())
    throw corrupt("npy.header.length", fmt::format("a header of {} bytes in {} bytes", length, bytes.size()));
  const auto major = std::to_integer<unsigned>(bytes[6]);
  const auto text = bytes.subspan(prefix_length(major));
  Header header = Parser(as_text(text), max_rank).parse();
  header.major = major;
  header.minor = std::to_integer<unsigned>(bytes[7]);
  const auto elements = header.shape.elements();
  const auto size = elements ? checked_mul(*elements, header.element.bytes()) : std::nullopt;
  if (!size)
    throw corrupt("npy.shape.overflow", fmt::format("an array of {} does not fit 64 bits", header.shape.text()));
  header.data_bytes = *size;
  return header;
}

std::string_view descr_of(DType dtype, std::string_view type) {
  const ElementType* const known = element_type(dtype, type == name_of(dtype) ? std::string_view() : type);
  if (known == nullptr) return {};
  for (const Named& row : kCodes)
    if (row.type == known) return row.code;
  return size_of(dtype) == 1 ? "|V1" : "";
}

Bytes write_header(std::string_view descr, const Shape& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape.begin(), shape.end(), ", "), shape.rank() == 1 ? "," : "");
  if (!shape.empty()) text.append(kGrowth - fmt::formatted_size("{}", shape[0]), ' ');
  unsigned major = 1;
  // NumPy pads with 1 to 64 bytes, never with none.
  const auto padded = [&] { return (prefix_length(major) + text.size() + 1) / kAlignment * kAlignment + kAlignment; };
  if (padded() - prefix_length(major) > 0xffff) major = 2;
  text.append(padded() - prefix_length(major) - text.size() - 1, ' ');
  text += '\n';

  Bytes bytes(prefix_length(major) + text.size());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[6] = std::byte{static_cast<std::uint8_t>(major)};
  if (major == 1)
    store_le(&bytes[8], static_cast<std::uint16_t>(text.size()));
  else
    store_le(&bytes[8], static_cast<std::uint32_t>(text.size()));
  std::memcpy(&bytes[prefix_length(major)], text.data(), text.size());
  return bytes;
}

}  // namespace tare::npy
