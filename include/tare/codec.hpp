// The table of layouts: how a tensor's components represent its elements. Dense, each sparse layout and each
// quantization codec have one row. A codec knows tensors, not containers.
//
// A layout without a row is carried unchanged from file to file. It can be listed and extracted, but not decoded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

class Rows;  // rows.hpp
namespace codec {
struct FirstBlock;
}

// A broken rule of a layout. `rule` does not begin with a format: zTensor's reader reports "csr.indptr" as
// "zt.csr.indptr".
struct Problem {
  std::string rule;
  std::string sentence;
  std::optional<std::uint64_t> offset = std::nullopt;  // in the file, if the bytes are stored raw
  Severity severity = Severity::error;
};

// What encoding a tensor lost, measured on the decoded values. Filled once, when its last byte has been produced (in
// any order, by any number of threads); read it after the tensor has been written.
struct EncodeReport {
  bool complete = false;
  std::uint64_t elements = 0;
  double squared_sum = 0, squared_error = 0;  // over all elements; relative rms = sqrt(squared_error / squared_sum)
  double max_error = 0;                       // largest error of one element
  // The block with the largest squared error: its first element (row-major) and that error.
  std::uint64_t worst_block = 0;
  double worst_block_error = 0;
  // How many scales are stored as f16, and how many of those are subnormal: not 0, but below 2^-14
  // (Codec::subnormal_scales).
  std::uint64_t scales = 0, subnormal_scales = 0;
};

struct EncodeOptions {
  std::string method = {};  // "group4"
  // For codecs that must read the data before they know the encoded size.
  unsigned threads = 1;
  bool fast = false;                   // scales from the largest magnitude; off: search for the least squared error
  bool range = false;                  // asymmetric: stores a minimum or a zero point, if the method has one
  std::vector<float> importance = {};  // weight of each column's squared error in the search; empty: all equal
  std::optional<std::pair<float, float>> clip = std::nullopt;  // values outside are clamped first
  std::shared_ptr<EncodeReport> report = nullptr;              // null: not measured
};

struct Codec {
  std::string_view layout;  // Tensor::layout: "quantized_group"
  // The dtype that `ls` shows: "zt.group". Empty for dense and sparse, which show the type of their values.
  std::string_view name;
  std::string_view title;                     // for people
  std::span<const std::string_view> methods;  // methods of quantization; empty if it cannot encode
  // The order in which a canonical writer stores the components; other roles follow, sorted by name.
  std::span<const std::string_view> roles;
  // Attributes that are part of the encoding; they are stored wherever the layout is.
  std::span<const std::string_view> parameters = {};
  // Ranks that a method for all tensors applies to; tensors of other ranks are kept.
  std::size_t min_rank = 2, max_rank = 2;
  // `encode` also accepts other ranks; a rule that names the method then applies to them.
  bool any_rank = false;
  bool ranged = false;    // EncodeOptions::range has an effect
  bool weighted = false;  // EncodeOptions::importance has an effect, unless `fast`
  // Bytes of an encoded matrix of this shape, computed without reading weights. Not null: a budget of bits
  // (Quantization::bits) may choose this codec, and its encoder fills EncodeReport. If there are several methods, this
  // is for `methods.front()`.
  std::uint64_t (*budget)(const Shape& shape) = nullptr;
  bool budget_if_named = false;  // only for containers that list the layout by name, not for those with "*"
  // The length of a row must be a multiple of this. Tensors with other rows get the method `fallback` instead, or are
  // kept if that does not fit either.
  std::uint64_t row_multiple = 1;
  std::string_view fallback = {};
  // What programs that read such tensors do with subnormal f16 scales (EncodeReport::subnormal_scales), and how to
  // avoid it. Empty: no problem is known.
  std::string_view subnormal_scales = {};

  // Checks roles, dtypes and lengths against the shape, without reading tensor data. Returns nothing if they are valid.
  std::optional<Problem> (*check)(const Tensor& tensor) = nullptr;
  // Checks the data itself (booleans are 0 or 1, row pointers increase, ...): calls `report` for each broken rule, at
  // most a few times per rule. The tensor has passed `check`.
  void (*verify)(const Tensor& tensor, const std::function<void(Problem)>& report) = nullptr;
  // Returns the dense tensor, produced lazily in bounded memory. Null for dense itself.
  Tensor (*decode)(const Tensor& tensor) = nullptr;
  // What is doubtful about a tensor that has passed `check`: a warning if it can be carried but not decoded, a note if
  // `decode` has to assume something. Null: never anything.
  std::optional<Problem> (*doubt)(const Tensor& tensor) = nullptr;
  // Null if it cannot encode. The input is dense and of a float type.
  Tensor (*encode)(const Tensor& tensor, const EncodeOptions& options) = nullptr;
  // Arithmetic on matrix rows straight from the stored bytes; null if the layout has none. The tensor has passed
  // `check`.
  std::unique_ptr<const Rows> (*rows)(const Tensor& tensor) = nullptr;
  // For the viewer: describes the first block of a tensor in detail. The tensor has passed `check` and is not empty.
  // Returns nothing if the tensor cannot be decoded. Null for dense and sparse layouts.
  std::optional<codec::FirstBlock> (*explain)(const Tensor& tensor) = nullptr;
};

[[nodiscard]] TARE_API std::span<const Codec> codecs();
// Null if the layout has no row.
[[nodiscard]] TARE_API const Codec* find_codec(std::string_view layout);
// The codec with this method of quantization: "group4", or "zt.group4" in full. Null if there is none.
[[nodiscard]] TARE_API const Codec* find_codec_by_method(std::string_view method);

// The type that `ls` shows for a tensor: the logical type of its data or values, the name of its codec, or, for a
// layout without a row, the layout itself.
[[nodiscard]] TARE_API std::string dtype_name(const Tensor& tensor);

// The most bytes that a sparse tensor may decode to: a few stored bytes can claim any shape.
inline constexpr std::uint64_t kMaxDecodedBytes = std::uint64_t{32} << 30;

// The dense tensor with the same elements; `tensor` itself if it is dense. Throws `codec.unknown` for a layout without
// a row, the rule of `check` for a tensor that fails it, and `codec.too_large` for a sparse tensor beyond
// kMaxDecodedBytes. Errors in the data are thrown when its bytes are read.
[[nodiscard]] TARE_API Tensor to_dense(const Tensor& tensor);

}  // namespace tare
