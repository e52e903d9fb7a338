// The framework for codecs whose bytes are blocks: a codec says what its blocks are and how they become floats, and gets
// from here everything that reads, checks, multiplies and writes tensors of them.
//
//   BlockCodec   blocks that keep all of themselves together, one behind the other: ggml's types, packed floats. A
//                constant of it and `block_row` make a row of the table.
//   Decoder      the level below, for layouts that keep codes and scales apart (MCF, zt.group), or that have parameters
//                for the whole tensor (ALT): where the planes lie, and what a run of them stands for.
//
// From either come lazy decoding from any offset, in parallel where the input can be entered anywhere (`decoded`), and
// rows (`CodedRows`).
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

// What the planes of one tensor stand for. Immutable; used by many threads.
class Decoder {
 public:
  explicit Decoder(Planes planes) : planes_(std::move(planes)) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const Planes& planes() const { return planes_; }
  // The floats of a run, row after row. A function of the processor's best SIMD is chosen here: once for many blocks.
  virtual void decode(const Run& run, float* out) const = 0;

 private:
  Planes planes_;
};

// The dense f32 tensor that the decoder makes when somebody pulls, with the attributes that are not `parameters` of the
// layout. Throws `codec.too_large`.
Tensor decoded(const Tensor& tensor, std::shared_ptr<const Decoder> decoder,
               std::span<const std::string_view> parameters);

// Rows of a coded tensor, whose planes may be stored as such or as one row of all elements. Products decode a few weights
// at a time; who has kernels for it overrides them and asks for whole rows.
class CodedRows : public Rows {
 public:
  CodedRows(std::shared_ptr<const Decoder> decoder, const Shape& shape);

 protected:
  void do_decode(std::uint64_t first, std::uint64_t count, float* out) const override;
  void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const override;
  void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const override;

  // Calls work(run, how many rows came before it) for whole rows: in place where the bytes can be seen, otherwise read,
  // about 1 MiB at a time. Where rows are stored as one, a run may begin at any column, not only at a step.
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
  std::vector<const std::byte*> views_;  // of the planes' blobs, if all can be seen
};

// What an encoder gets: the finite weights of `count` blocks, one behind the other.
struct BlockWeights {
  const float* weights = nullptr;
  const float* importance = nullptr;  // null, or what the squared error of each of them counts: from 0 to 1
  std::size_t count = 0;
  bool fast = false;  // as EncodeOptions has it
};

// Blocks one behind the other in one component `payload` (u8), without attributes. The functions get whole blocks.
struct BlockCodec {
  std::string_view layout;  // "ggml.q4_0"; also what `ls` shows
  std::string_view title;
  std::string_view rules;                       // in front of the ids of its rules: "ggml"
  std::uint64_t weights, bytes;                 // of a block
  bool across_rows = false;                     // all elements together fill blocks; otherwise each row does
  std::array<std::string_view, 1> method = {};  // for --quant, where there is `encode`

  void (*decode)(const std::byte* blocks, std::size_t count, float* out) = nullptr;
  // How many blocks were coded: all, or those in front of the first that needs a scale which it cannot hold.
  std::size_t (*encode)(const BlockWeights& in, std::byte* blocks) = nullptr;
  std::optional<FirstBlock> (*explain)(const Tensor& tensor) = nullptr;  // see Codec
  bool weighted = false;                                                 // BlockWeights::importance makes a difference
  bool budget_if_named = false;                                          // see Codec
  std::string_view fallback = {};                                        // likewise
  std::span<const std::uint8_t> scales = {};  // where a block has scales of f16, for the report
  // Products of `rows` rows of `count` blocks each with as many values, in f32; null: the blocks are decoded. Not with
  // `across_rows`.
  void (*dot)(const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out) = nullptr;
  void (*dot8)(const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector& vector,
               float* out) = nullptr;
  // What is wrong with a block ("its scale is infinite"); null: nothing. Null function: nothing ever is.
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
