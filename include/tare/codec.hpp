// The table of layouts: how a tensor's components spell its elements. One row each for dense, the sparse layouts and
// every quantization codec. A codec knows tensors, not containers.
//
// A layout that has no row here is carried from file to file untouched and can be listed and extracted, not decoded.
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

// A broken rule of a layout. `rule` has no format in front: a reader of zTensor reports "csr.indptr" as
// "zt.csr.indptr".
struct Problem {
  std::string rule;
  std::string sentence;
  std::optional<std::uint64_t> offset = std::nullopt;  // in the file, where the bytes lie there as they are
  Severity severity = Severity::error;
};

// What an encoded tensor lost, in terms of the values it stands for. Filled once, when the last byte of it has been
// made (in whatever order and by however many threads); read it after the tensor has been written.
struct EncodeReport {
  bool complete = false;
  std::uint64_t elements = 0;
  double squared_sum = 0, squared_error = 0;  // over all elements; relative rms = sqrt(squared_error / squared_sum)
  double max_error = 0;                       // of one element
  // The block with the largest squared error: its first element (row-major) and that error.
  std::uint64_t worst_block = 0;
  double worst_block_error = 0;
  // Scales stored as f16, and how many of those are below its normal numbers (2^-14) and not 0 (Codec::subnormal_scales).
  std::uint64_t scales = 0, subnormal_scales = 0;
};

struct EncodeOptions {
  std::string method = {};             // "group4"
  unsigned threads = 1;                // for codecs that must look at the data before they can promise a size
  bool fast = false;                   // scales from the largest magnitude; off: searched for the least squared error
  bool range = false;                  // asymmetric: a minimum or a zero point is stored, where the method has one
  std::vector<float> importance = {};  // weight of each column's squared error in the search; empty: all alike
  std::optional<std::pair<float, float>> clip = std::nullopt;  // values beyond are clamped first
  std::shared_ptr<EncodeReport> report = nullptr;              // null: nobody asks
};

struct Codec {
  std::string_view layout;  // what a tensor's `layout` says: "quantized_group"
  std::string_view name;    // what `ls` shows as dtype: "zt.group"; empty for dense and sparse (their values' type)
  std::string_view title;   // for people
  std::span<const std::string_view> methods;  // methods of quantization; empty when it cannot encode
  // Order in which a canonical writer lays the components out; roles not named here follow by name.
  std::span<const std::string_view> roles;
  // Attributes that are part of the encoding: they go where the layout goes, and with it.
  std::span<const std::string_view> parameters = {};
  // Ranks that a method for all tensors is applied to; those of other ranks are left as they are.
  std::size_t min_rank = 2, max_rank = 2;
  bool any_rank = false;  // `encode` takes the other ranks, too; a rule that names the method is enough
  bool ranged = false;    // EncodeOptions::range makes a difference
  bool weighted = false;  // so does EncodeOptions::importance, unless `fast`
  // Set where a budget of bits (Quantization::bits) may choose this codec, whose encoder then fills EncodeReport: the
  // bytes of a matrix of this shape, coded. Looks at no weights. Of several methods it is for `methods.front()`.
  std::uint64_t (*budget)(const Shape& shape) = nullptr;
  bool budget_if_named = false;  // only for containers that name the layout, not for those that take any
  // A row must have a multiple of so many elements. A tensor whose rows have not gets the method `fallback` instead, or is
  // kept where that does not fit either.
  std::uint64_t row_multiple = 1;
  std::string_view fallback = {};
  // What becomes of scales below f16's normal numbers (EncodeReport::subnormal_scales) in a program that reads such tensors, and
  // what avoids it; empty: nothing is known to go wrong.
  std::string_view subnormal_scales = {};

  // Roles, dtypes and lengths against the shape; touches no tensor data. Nothing when all is well.
  std::optional<Problem> (*check)(const Tensor& tensor) = nullptr;
  // Everything about the data itself (booleans 0 or 1, row pointers rising, ...): calls `report` for each broken
  // rule, at most a few times per rule. The tensor has passed `check`.
  void (*verify)(const Tensor& tensor, const std::function<void(Problem)>& report) = nullptr;
  // The dense tensor it stands for, produced lazily in bounded memory. Null for dense itself.
  Tensor (*decode)(const Tensor& tensor) = nullptr;
  // What is doubtful about a tensor that has passed `check`: a warning when it can be carried and not decoded, a note
  // when `decode` has to assume something. Null: nothing ever is.
  std::optional<Problem> (*doubt)(const Tensor& tensor) = nullptr;
  // Null when it cannot encode. The input is dense, of a float type.
  Tensor (*encode)(const Tensor& tensor, const EncodeOptions& options) = nullptr;
  // Arithmetic on rows straight from the stored bytes; null when the layout offers none. The tensor has passed `check`.
  std::unique_ptr<const Rows> (*rows)(const Tensor& tensor) = nullptr;
  // For the viewer: what the first block of a tensor is made of, in detail. The tensor has passed `check` and has elements.
  // Nothing for one that is carried and not decoded; null for dense and sparse layouts.
  std::optional<codec::FirstBlock> (*explain)(const Tensor& tensor) = nullptr;
};

[[nodiscard]] TARE_API std::span<const Codec> codecs();
// Null when the layout has no row.
[[nodiscard]] TARE_API const Codec* find_codec(std::string_view layout);
// The codec that offers a method of quantization: "group4", or "zt.group4" in full. Null when none does.
[[nodiscard]] TARE_API const Codec* find_codec_by_method(std::string_view method);

// What `ls` calls a tensor's type: the data's or values' logical type; for a codec its name; for a layout without a
// row the layout itself.
[[nodiscard]] TARE_API std::string dtype_name(const Tensor& tensor);

// What a sparse tensor may come to as a dense one: a few bytes of it can claim any shape.
inline constexpr std::uint64_t kMaxDecodedBytes = std::uint64_t{32} << 30;

// The dense tensor that `tensor` stands for; itself when it is dense. Throws `codec.unknown` for a layout without a
// row, the rule of `check` for a tensor that fails it, and `codec.too_large` for a sparse one beyond
// kMaxDecodedBytes. What is wrong with the data is thrown when its bytes are pulled.
[[nodiscard]] TARE_API Tensor to_dense(const Tensor& tensor);

}  // namespace tare
