// Framework for packed weights of other programs (GPTQ, AWQ, bitsandbytes, ...): codes in one array; scales, zero
// points and so on in others. Containers have them as plain arrays. Joined (join.hpp), they are one tensor of the true
// shape, whose components are those arrays.
//
// Each family of schemes is a file in this folder and a name in rows.hpp. It defines which arrays belong together and
// their shapes (Scheme), the attributes of the joined tensor, and how to make a few rows of it (Pack, Maker). The rest of
// the folder finds the sets (find.hpp), joins them (join.hpp), separates them where a model is stored (stored.hpp), and
// adds check, verify and lazy decoding from any offset, in parallel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/first_block.hpp"
#include "tare/codec.hpp"

namespace tare::codec::packs {

// What is wrong with a set of arrays, or with a joined tensor. Thrown and caught inside this folder.
struct Refusal {
  Problem problem;
};
[[noreturn]] void refuse(std::string_view rule, std::string sentence);
// For a variant that is not decoded, although nothing is wrong with it.
[[noreturn]] void refuse_variant(std::string sentence);

class Array;

// The problem that `count` elements of an array of scales are NaN or infinite; `first` is the first of them.
Problem nonfinite(const Array& array, std::uint64_t first, std::uint64_t count);

// Some rows of the dense matrix, or a part of one.
struct Tile {
  std::uint64_t row = 0, rows = 0;  // all dimensions but the last, counted together
  std::uint64_t column = 0, columns = 0;
};

// Makes the floats of one tensor. Immutable, except for cached small arrays; used by many threads.
class Maker {
 public:
  // Longer rows are made in parts.
  static constexpr std::uint64_t kLongRow = std::uint64_t{1} << 20;

  // `together`: rows that cost as much as one, because their codes share words or cache lines.
  Maker(std::uint64_t rows, std::uint64_t columns, std::uint64_t together = 1);
  virtual ~Maker() = default;
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }
  // A tile begins at a multiple of tile_rows() and has that many rows, or fewer at the end. If rows are long, it is a
  // part of one row: it begins at a multiple of tile_columns() and has that many columns, or fewer at the end.
  std::uint64_t tile_rows() const { return tile_rows_; }
  std::uint64_t tile_columns() const { return tile_columns_; }
  // Whether some rows of a tile can be made for their share of its cost.
  bool rows_alone() const { return rows_alone_; }

  // Makes the floats of a tile, row after row.
  virtual void make(const Tile& tile, float* out) const = 0;
  // The same, rounded to bf16, little-endian. Returns false if the scheme cannot make bf16 directly, or not for these
  // numbers; the caller then rounds the floats.
  virtual bool make_bf16(const Tile&, std::byte*) const { return false; }
  // Reports every broken rule of the data: those of the scales, and those of the scheme.
  virtual void verify(const std::function<void(Problem)>& report) const { verify_scales(report); }
  // Reports scales that are not finite, or that make weights that are not. There are few scales.
  virtual void verify_scales(const std::function<void(Problem)>& report) const;
  // Reports weights that are not finite although all scales are. Makes all weights, but only if scales are very large.
  void verify_weights(const std::function<void(Problem)>& report) const;
  // The first weights of a tensor that has elements, and the bytes that they are made of.
  virtual FirstBlock explain(const Tensor& tensor) const = 0;
  // Throws if a file that holds the arrays has changed.
  void check_sources() const;
  // Verifies the digests of all arrays.
  void verify_stored() const;
  // Verifies the digests of plain arrays, which `Array::at` reads in parts. Others are verified when decompressed.
  void verify_plain() const;

 protected:
  // Sets the arrays that it reads, and which of them are scales. They must live as long as the Maker.
  void read_from(std::initializer_list<const Array*> arrays, std::initializer_list<const Array*> scales);
  // Whether the product of scales and a code may exceed f32.
  virtual bool may_overflow() const;

 private:
  std::uint64_t rows_, columns_, tile_rows_, tile_columns_;
  bool rows_alone_;
  std::vector<const Array*> arrays_, scales_;
};

// One layout of the table.
struct Pack {
  std::string_view layout, title;
  std::span<const std::string_view> roles;
  std::span<const std::string_view> parameters;  // attributes
  // Throws Refusal for a tensor that does not fit the layout. Reads no data.
  std::shared_ptr<const Maker> (*plan)(const Tensor& tensor) = nullptr;
};

// Which scales are decoded. For others, reading throws `pack.scale` before the first weight.
enum class Scales : std::uint8_t {
  any,
  finite,
  finite_unless_accepted,  // the same, and the error offers to accept them
};

std::optional<Problem> check_pack(const Pack& pack, const Tensor& tensor);
void verify_pack(const Pack& pack, const Tensor& tensor, const std::function<void(Problem)>& report);
Tensor decode_pack(const Pack& pack, const Tensor& tensor, Scales scales = Scales::any);

// Decodes a tensor for storing its floats, which would hide a bad scale: reading throws `pack.scale` if a scale is not
// finite. Other layouts are decoded as usual.
Tensor decode_strictly(const Tensor& tensor, Scales scales = Scales::finite);
// What is wrong with the scales, as part of a sentence; empty: nothing. Reads all of them.
std::string scale_problem(const Tensor& tensor);

// The attribute that describes the arrays of the components: role -> {"name", "shape", "at"}. `at` is the index among
// the arrays of the file.
inline constexpr std::string_view kArrays = "arrays";

// Requirements of a plan. All functions throw Refusal.
std::uint64_t matrix_rows(const Tensor& tensor);  // the product of all dimensions but the last
void require_rank(const Tensor& tensor, std::size_t least, std::size_t most);
std::uint64_t whole_number(const Tensor& tensor, std::string_view attribute);
// A whole number, or `otherwise` if the attribute does not exist.
std::uint64_t whole_number(const Tensor& tensor, std::string_view attribute, std::uint64_t otherwise);
// The component with this role, of one of these types and with this many elements. `optional_array` returns null if it
// does not exist.
using Types = std::span<const std::string_view>;
const Component& require_array(const Tensor& tensor, std::string_view role, Types types, std::uint64_t elements);
const Component* optional_array(const Tensor& tensor, std::string_view role, Types types, std::uint64_t elements);
std::uint64_t product(std::uint64_t a, std::uint64_t b);

inline constexpr std::string_view kU8[] = {"u8"}, kI8[] = {"i8"}, kI32[] = {"i32"}, kU32[] = {"u32"}, kF32[] = {"f32"};
inline constexpr std::string_view kWords[] = {"i32", "u32"};
inline constexpr std::string_view kFloats[] = {"f32", "f16", "bf16"};
inline constexpr std::string_view kFloat8s[] = {"f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz"};
inline constexpr std::string_view kScales[] = {"f32", "f16", "bf16", "f8_e8m0"};

}  // namespace tare::codec::packs
