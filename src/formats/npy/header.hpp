// Reading and writing the header of an .npy array.
//
//   "\x93NUMPY" major minor, length of the text (1.0: 2 bytes, 2.0 and 3.0: 4 bytes, little-endian), the
//   text: a Python dict literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded with
//   spaces, "\n"; then the array.
//
// The text is parsed by hand, as far as arrays of numbers need it; nothing is ever evaluated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tare/dtype.hpp"
#include "tare/error.hpp"
#include "tare/shape.hpp"
#include "tare/value.hpp"

namespace tare::npy {

inline constexpr std::string_view kMagic = "\x93NUMPY";
// Bytes that are needed to find the length of the header.
inline constexpr std::size_t kPrefix = 12;
// A longer header does not describe an array of numbers.
inline constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 20;

// The meaning of a type descriptor.
struct Element {
  DType dtype = DType::f32;
  std::string_view type;     // logical type; empty if it is the dtype itself
  unsigned per_element = 1;  // storage elements per array element
  bool big_endian = false;
  bool raw = false;  // bits without a type ('V1', 'V2', 'f1'): the type is a guess, or unknown
  std::size_t bytes() const { return size_of(dtype) * per_element; }
};

struct Header {
  Element element;
  bool fortran = false;
  Shape shape;
  unsigned major = 1, minor = 0;
  std::string descr;
  std::uint64_t data_bytes = 0;  // bytes that the shape needs
};

// Returns the length of the whole header in bytes, from its first kPrefix bytes and the size of the file or member.
// Throws `npy.short`, `npy.magic`, `npy.version`, `npy.header.length`, `npy.header.large`.
std::uint64_t header_length(std::span<const std::byte> prefix, std::uint64_t total);
// Arrays with more dimensions are refused unless the caller allows them.
inline constexpr std::size_t kMaxRank = 64;
// A valid array that does not hold numbers: text, objects, dates, records.
class OtherArray final : public Error {
 public:
  OtherArray(std::string_view rule, std::string_view sentence) : Error(ErrorKind::unsupported, rule, sentence) {}
};

// Parses a header, which must have exactly the length that it states. Throws `npy.header.*`, `npy.descr.*`,
// `npy.shape.*`.
Header parse_header(std::span<const std::byte> bytes, std::size_t max_rank = kMaxRank);

// Returns the descriptor for a storage type with a logical type (empty: none); empty if .npy has no descriptor for it.
// Types that NumPy does not know are raw bits: bf16 '<V2', fp8 '|V1'.
std::string_view descr_of(DType dtype, std::string_view type);
// Returns the header that NumPy writes for a C-ordered array, byte for byte. Its length is a multiple of 64.
Bytes write_header(std::string_view descr, const Shape& shape);

}  // namespace tare::npy
