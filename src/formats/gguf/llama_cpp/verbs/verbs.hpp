// The verbs of arch/verbs.hpp: what they do to a tensor, and the inverse, side by side in one file each. Blobs are changed
// lazily, except those of vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/qk_rows.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "model/slice_plan.hpp"

namespace tare::gguf::llama_cpp {

// Returns whether rows can be moved as a whole: in dense tensors, and in blocks, which never cross a row.
bool has_whole_rows(const Tensor& tensor);

// ---- pair_rows.cpp ----

// `heads` knows the sizes of the heads of all q and k so far.
Tensor pair_rows(Tensor tensor, arch::Role role, const Config& config, arch::HeadRows& heads);
Tensor unpair_rows(Tensor tensor, arch::Role role, const Config& config, arch::HeadRows& heads);

// ---- picked.cpp ----

// An axis of `count` steps, `stride` elements apart.
SliceAxis axis(std::uint64_t count, std::uint64_t stride);
// The elements of a dense tensor that the axes visit, slowest first, beginning with the element `first`.
Tensor picked(const Tensor& tensor, const Shape& shape, std::uint64_t first, std::span<const SliceAxis> axes);
// Returns whether the tensor has elements of a plain type, and this rank.
bool has_elements(const Tensor& tensor, std::size_t rank);
// A matrix, or each matrix of a stack, transposed. It is its own inverse. Vectors stay. Blocks are decoded, except packed
// columns.
Tensor transposed_last(const Tensor& tensor);

// The bytes of a vector as this many rows; 0: as rows of one element. And the inverse.
Tensor reshaped(Tensor tensor, std::uint64_t rows);
Tensor flattened(Tensor tensor);

// ---- repack.cpp ----

// Returns whether these are experts in MXFP4 as GPT-OSS stores them, [experts][inputs][outputs].
bool has_packed_columns(const Tensor& tensor);
// Returns whether these are experts in GGUF's MXFP4, [experts][outputs][inputs].
bool has_packed_rows(const Tensor& tensor);
// The one as the other: what transposing is for them, without loss. Reading throws `pack.scale` for an exponent that
// GGUF lacks.
Tensor packed_rows(const Tensor& columns);
Tensor packed_columns(const Tensor& rows);
// Makes a tensor with packed columns, which has its name, one that containers store as two arrays.
void name_arrays(Tensor& columns);

// Without the second of three dimensions, which must be 1; and the inverse.
Tensor squeezed(Tensor tensor);
Tensor unsqueezed(Tensor tensor);

// ---- trim_rows.cpp ----

// The rows after the first `count`. The result has attributes for the inverse, which makes rows of zeros without them.
Tensor trim_rows(Tensor tensor, std::uint64_t count);
Tensor restore_rows(Tensor tensor, std::uint64_t count);
// How many rows the class that config.json names has before those that positions use.
std::uint64_t rows_before_positions(const ConfigFile& file, const arch::Step& step);

// ---- pad_rows.cpp ----

// With rows of zeros, up to `count` rows; and the inverse.
Tensor pad_rows(Tensor tensor, std::optional<double> count);
Tensor without_padding(Tensor tensor);

// ---- layer_numbers.cpp ----

// Collects tensors of one number each, and makes keys of them: lists with a number for each layer.
class LayerNumbers {
 public:
  // Throws `convert.names` unless the tensor is one number.
  void add(const Tensor& tensor, const arch::TensorName& name, const arch::Step& step);
  // Throws `convert.names` if a layer lacks its number.
  void finish(Model& model, std::uint32_t layers);

 private:
  struct Numbers {
    std::map<std::uint32_t, double> of_layers;
    std::string type;  // empty: they differ
  };
  std::map<std::string, Numbers, std::less<>> keys_;
};
// The inverse: tensors without names, one for each layer. Throws `gguf.key.value` for another value.
std::vector<Tensor> tensors_of_key(const Model& model, const arch::Step& step);
// How many these are; 0 if it would throw.
std::size_t count_of_key(const Model& model, const arch::Step& step);

// ---- sort_heads.cpp ----

Tensor sort_heads(const Tensor& tensor, const Config& config);
Tensor unsort_heads(const Tensor& tensor, const Config& config);

// ---- fits.cpp ----

// Returns whether a cast of a dense tensor of floats to the type keeps every number. NaN may get another payload. Reads
// the tensor unless the types alone show it.
bool fits(const Tensor& tensor, DType type);

// ---- add.cpp ----

// Numbers made of others, in f32: `back` undoes `change`, except for rounding. The result of `changed_numbers` has
// attributes for what `back` would round, so that `restored_numbers` is exact.
using OfNumber = std::function<float(float)>;
Tensor changed_numbers(Tensor tensor, const OfNumber& change, const OfNumber& back);
Tensor restored_numbers(Tensor tensor, const OfNumber& change, const OfNumber& back);

// Computes in f32. The result has attributes for what the sum rounds, so that the inverse is exact. A tensor of f64 with
// numbers that f32 does not have stays f64.
Tensor add_number(Tensor tensor, float number);
Tensor subtract_number(Tensor tensor, float number);

// ---- negate_exp.cpp ----

// Throws `convert.names` for numbers that f32 does not have.
Tensor negate_exp(Tensor tensor);
Tensor undo_negate_exp(Tensor tensor);

// ---- state_heads.cpp ----

// The heads of a layer with a state in place of attention: each head of keys belongs to several consecutive heads of
// values. Zeros: unknown.
struct StateHeads {
  std::uint64_t keys = 0, values = 0;
  std::uint64_t key_size = 0, value_size = 0;
};
StateHeads state_heads_of(const ConfigFile& file);
StateHeads state_heads_of(const Model& model, const arch::Family& family);  // from the keys of GGUF

// Queries, keys and values of all heads; and their gates.
std::pair<Tensor, Tensor> part_heads(const Tensor& tensor, const StateHeads& heads);
// The inverse. The result has the name of the first.
Tensor rejoin_heads(const Tensor& first, const Tensor& second, const StateHeads& heads);
// `by_elements`: a head has one row, not as many as elements.
Tensor tile_rows(Tensor tensor, const StateHeads& heads, bool by_elements);
Tensor untile_rows(Tensor tensor, const StateHeads& heads, bool by_elements);
Tensor tile_columns(const Tensor& tensor, const StateHeads& heads);
Tensor untile_columns(const Tensor& tensor, const StateHeads& heads);

// ---- stack.cpp ----

// Collects the tensors of experts, and stacks those of a layer with the same role.
class Stacks {
 public:
  void add(Tensor tensor, const arch::TensorName& name, arch::Role all);
  // Calls `made` for each stack, which has the name of its first tensor, with the names of all its tensors. Throws
  // `convert.names` if an expert is missing or they differ.
  using Made = std::function<void(Tensor, const arch::TensorName&, const std::vector<std::string>&)>;
  void finish(const Made& made);

 private:
  std::map<std::pair<std::optional<std::uint32_t>, arch::Role>, std::map<std::uint32_t, Tensor>> experts_;
};
// The tensor of each expert, in order, with the name of the stack.
std::vector<Tensor> unstack(const Tensor& tensor);
// How many `unstack` would return; 0 if it would throw.
std::size_t count_unstacked(const Tensor& tensor);

// ---- halve_rows.cpp ----

// The two halves of the rows of each expert.
std::pair<Tensor, Tensor> halve_rows(const Tensor& tensor);
// The inverse: for each expert the rows of the first, then those of the second. The result has the name of the first.
Tensor join_rows(const Tensor& first, const Tensor& second);

// ---- deal_rows.cpp ----

// The rows of each expert with even numbers, and those with odd ones. A tensor of rank 2 has one element for each row.
std::pair<Tensor, Tensor> deal_rows(const Tensor& tensor);
// The inverse. The result has the name of the first.
Tensor merge_rows(const Tensor& first, const Tensor& second);

// ---- split_heads.cpp ----

// `first`: how many rows of each head the first part has.
std::pair<Tensor, Tensor> split_heads(const Tensor& tensor, const Config& config, std::optional<double> first);
// The inverse. The result has the name of the first.
Tensor join_heads(const Tensor& first, const Tensor& second);

// ---- tower_parts.cpp ----

// The three thirds of the rows of a matrix or a bias.
std::vector<Tensor> part_thirds(const Tensor& tensor);
// The inverse. The result has the name of the first.
Tensor join_thirds(const Tensor& first, const Tensor& second, const Tensor& third);
// The kernel of each of two frames.
std::pair<Tensor, Tensor> part_frames(const Tensor& tensor);
// The inverse. The result has the name of the first.
Tensor join_frames(const Tensor& first, const Tensor& second);

// ---- copy.cpp ----

// Compares layouts, shapes and stored bytes. Reads both tensors.
bool has_same_bytes(const Tensor& a, const Tensor& b);
// A tensor with the content of another one. is_copy returns whether a tensor was one when it was written: another
// program may have changed it since.
Tensor copy_of(const Tensor& original, std::string name);
bool is_copy(const Tensor& tensor);
// Throws `convert.head` unless the head, which llama.cpp has no place for, equals the token table; `table` may be null.
void require_copy(const Tensor& head, const Tensor* table, const arch::Family& family);
// The inverse: the head that was omitted.
Tensor restored_copy(const Tensor& original, std::string name);

// ---- divisors.cpp ----

// Llama 3's frequency scaling: one divisor for each rotated pair.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;
};
std::vector<float> llama3_divisors(const Llama3Scaling& scaling, double base, std::uint64_t head_size);
// The divisors for rotated pairs that the step makes of config.json; none if it does not ask for any.
std::vector<float> divisors_of(const arch::Step& step, const ConfigFile& file, const Config& config);
// The inverse of Verb::llama3_divisors: the object of config.json for these divisors; empty if no numbers are known that
// give them. (release_rope.cpp makes the object for listed divisors.)
Map llama3_scaling_of(const std::vector<float>& divisors, double base);

}  // namespace tare::gguf::llama_cpp
