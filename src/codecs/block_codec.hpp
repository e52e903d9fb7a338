// Framework for codecs that store weights in blocks. It has two levels:
//
//   BlockCodec   for blocks that hold their codes and scales together, one block after the other: ggml's types, 4- and
//                6-bit floats. `block_row` turns a BlockCodec constant into a row of the codec table.
//   Decoder      the level below, for layouts that store codes and scales in separate planes (MCF, zt.group), or that
//                have parameters for the whole tensor (ALT). A decoder knows its planes and decodes runs of them.
//
// Both levels get lazy decoding from any offset (`decoded`), in parallel if the input is seekable, and matrix rows
// (`CodedRows`).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codecs/planes.hpp"
#include "tare/codec.hpp"
#include "tare/rows.hpp"

namespace tare::codec {

// Decodes the planes of one tensor. Immutable; used by many threads.
class Decoder {
 public:
  explicit Decoder(Planes planes) : planes_(std::move(planes)) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const Planes& planes() const { return planes_; }
  // Decodes a run to floats, row after row. An implementation chooses its SIMD function here, once for many blocks.
  virtual void decode(const Run& run, float* out) const = 0;

 private:
  Planes planes_;
};

// The dense f32 tensor that `decoder` produces on demand. Keeps the attributes of `tensor` except `parameters`, which
// describe the encoded bytes. Throws `codec.too_large`.
Tensor decoded(const Tensor& tensor, std::shared_ptr<const Decoder> decoder,
               std::span<const std::string_view> parameters);

// Matrix rows of a coded tensor. The planes store either these rows or one row of all elements. Products decode a few
// weights at a time; a subclass with product kernels overrides `do_dot` and calls `for_rows`.
class CodedRows : public Rows {
 public:
  CodedRows(std::shared_ptr<const Decoder> decoder, const Shape& shape);

 protected:
  void do_decode(std::uint64_t first, std::uint64_t count, float* out) const override;
  void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const override;
  void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const override;

  // Calls work(run, number of rows before it) for whole rows. Uses the bytes in place if every plane has a view;
  // otherwise reads about 1 MiB at a time. If the planes store all elements as one row, a run may begin at any column,
  // not only at a multiple of the step.
  template <typename Work>
  void for_rows(std::uint64_t first, std::uint64_t count, const Work& work) const {
    const std::uint64_t most = in_place() ? count : rows_at_a_time();
    Bytes buffer;
    for (std::uint64_t done = 0; done < count; done += most)
      work(run_of(first + done, std::min(most, count - done), buffer), done);
    if (in_place()) Walk::check_sources(decoder_->planes());
  }

 private:
  bool in_place() const { return views_.size() == decoder_->planes().all.size(); }
  std::uint64_t rows_at_a_time() const;
  Run run_of(std::uint64_t first, std::uint64_t count, Bytes& buffer) const;
  template <typename Add>
  void for_runs(std::uint64_t begin, std::uint64_t end, const Add& add) const;
  template <typename Add>
  void for_decoded(std::uint64_t first, std::uint64_t count, const Add& add) const;

  std::shared_ptr<const Decoder> decoder_;
  std::vector<const std::byte*> views_;  // views of the planes' blobs; fewer than planes if one has no view
};

// Input of an encoder: the finite weights of `count` blocks, one block after the other.
struct BlockWeights {
  const float* weights = nullptr;
  const float* importance = nullptr;  // null, or the factor of each weight's squared error: 0 to 1
  std::size_t count = 0;
  bool fast = false;  // see EncodeOptions
};

// Blocks one after the other in one component `payload` (u8), without attributes. The functions get whole blocks.
struct BlockCodec {
  std::string_view layout;  // "ggml.q4_0"; `ls` shows it, too
  std::string_view title;
  std::string_view rules;                       // prefix of its rule ids: "ggml"
  std::uint64_t weights, bytes;                 // per block
  bool across_rows = false;                     // blocks are filled from all elements together, not row by row
  std::array<std::string_view, 1> method = {};  // its quantization method; used only with `encode`

  void (*decode)(const std::byte* blocks, std::size_t count, float* out) = nullptr;
  // Returns the number of blocks encoded: all, or those before the first block whose scale does not fit.
  std::size_t (*encode)(const BlockWeights& in, std::byte* blocks) = nullptr;
  std::optional<FirstBlock> (*explain)(const Tensor& tensor) = nullptr;  // see Codec
  bool weighted = false;                                                 // the encoder uses BlockWeights::importance
  bool budget_if_named = false;                                          // see Codec
  std::string_view fallback = {};                                        // see Codec
  std::span<const std::uint8_t> scales = {};  // offsets of the f16 scales in a block, for the loss report
  // Products of `rows` rows of `count` blocks each with a vector, in f32. Null: the blocks are decoded first. Must be
  // null with `across_rows`.
  void (*dot)(const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out) = nullptr;
  void (*dot8)(const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector& vector,
               float* out) = nullptr;
  // Describes what is wrong with a block ("its scale is infinite"), or returns null. No function: every block is valid.
  const char* (*fault)(const std::byte* block) = nullptr;
};

std::optional<Problem> check_blocks(const BlockCodec& codec, const Tensor& tensor);
void verify_blocks(const BlockCodec& codec, const Tensor& tensor, const std::function<void(Problem)>& report);
Tensor decode_blocks(const BlockCodec& codec, const Tensor& tensor);
Tensor encode_blocks(const BlockCodec& codec, const Tensor& tensor, const EncodeOptions& options);
std::unique_ptr<const Rows> rows_of_blocks(const BlockCodec& codec, const Tensor& tensor);
std::uint64_t bytes_of_blocks(const BlockCodec& codec, const Shape& shape);

inline constexpr std::array<std::string_view, 1> kPayloadRole = {"payload"};

template <const BlockCodec& K>
constexpr Codec block_row() {
  Codec row = {
      .layout = K.layout,
      .name = K.layout,
      .title = K.title,
      .methods = {},
      .roles = kPayloadRole,
      .min_rank = 2,
      .max_rank = 64,
      .check = [](const Tensor& tensor) { return check_blocks(K, tensor); },
      .verify = [](const Tensor& tensor,
                   const std::function<void(Problem)>& report) { verify_blocks(K, tensor, report); },
      .decode = [](const Tensor& tensor) { return decode_blocks(K, tensor); },
      .rows = [](const Tensor& tensor) { return rows_of_blocks(K, tensor); },
      .explain = K.explain,
  };
  if (K.encode == nullptr) return row;
  row.methods = K.method;
  row.weighted = K.weighted;
  row.budget = [](const Shape& shape) { return bytes_of_blocks(K, shape); };
  row.budget_if_named = K.budget_if_named;
  row.row_multiple = K.across_rows ? 1 : K.weights;
  row.fallback = K.fallback;
  row.encode = [](const Tensor& tensor, const EncodeOptions& options) { return encode_blocks(K, tensor, options); };
  return row;
}

}  // namespace tare::codec
