// The weights that a model of a family consists of, according to its config.json: names and shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/layer_kinds.hpp"
#include "arch/names.hpp"
#include "tare/model.hpp"

namespace tare::arch {

// Those of one layer, if they differ from layer to layer.
struct SizesOfLayer {
  std::optional<std::uint64_t> kv_heads, head, intermediate;
  bool has_keys = true, has_values = true;
};

// The numbers in config.json. What depends on a missing number is not checked.
struct Sizes {
  std::optional<std::uint64_t> vocabulary, hidden, intermediate, layers, heads, kv_heads, head;
  // For a mixture: the number of experts, and the matrix rows of one expert and of the shared one.
  std::optional<std::uint64_t> experts, expert_rows, shared_rows;
  // What goes into an expert, if it is less than the hidden size.
  std::optional<std::uint64_t> expert_columns = {};
  bool has_head = true;                            // the output has a matrix of its own
  bool has_qk_norms = true;                        // if the family has any
  bool mixture = false;                            // layers have experts; `has_experts` knows which
  std::set<Role> biased = {};                      // these have biases
  std::set<std::uint64_t> without_attention = {};  // these layers
  std::vector<LayerKind> kinds = {};               // the kind of each layer, if it has one
  std::uint64_t further = 0;                       // layers after the last, which may exist
  std::uint64_t leading_plain = 0;                 // the first layers of a mixture, which have none
  // In a mixture, every layer whose number, counted from 1, is a multiple of `sparse_step` has experts, except for
  // those in `plain_layers` (counted from 0).
  std::uint64_t sparse_step = 1;
  std::set<std::uint64_t> plain_layers = {};
  std::vector<SizesOfLayer> of_layers = {};  // for all of them; empty: they are alike

  SizesOfLayer at(std::optional<std::uint64_t> layer) const;

  bool has_experts(std::uint64_t layer) const;
};
// From the fields of a config and the family's defaults. Leaves `has_head`, experts and biases at their defaults.
Sizes sizes_of(const Family& family, const Config& config);

// Sets the size of the feed-forward networks if the family has a usual one and the config states none.
void assume_widening(const Family& family, Config& config);

// LFM 2: the size of the networks by config.json's block_ff_dim and the rest of that name.
std::int64_t adjusted_width(double size, std::optional<double> multiplier, double multiple);

// Returns whether for_each_expected would visit a tensor with the role. What is not described may exist.
bool is_described(const Family& family, Role role);

struct Expected {
  TensorName name;                                  // with Root::model; the first expert if there are several
  std::vector<std::optional<std::uint64_t>> shape;  // slowest dimension first; nothing: any size
  std::optional<std::uint64_t> experts;             // how many experts have such a tensor

  bool fits(const Shape& found) const;
  std::string shape_text() const;  // "800x64", "?x64"
};
// Calls `visit` for each tensor, layer by layer, until it returns false. The number of layers comes from a file, so a
// caller that counts missing tensors must stop after a few.
void for_each_expected(const Family& family, const Sizes& sizes, const std::function<bool(const Expected&)>& visit);

}  // namespace tare::arch
