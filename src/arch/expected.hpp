// The weights that a model of a family consists of, by what its config.json says: names and shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/names.hpp"
#include "tare/model.hpp"

namespace tare::arch {

// What config.json says. A number that it does not say leaves open what depends on it.
struct Sizes {
  std::optional<std::uint64_t> vocabulary, hidden, intermediate, layers, heads, kv_heads, head;
  // Of a mixture: how many experts, and the rows of one and of the shared one.
  std::optional<std::uint64_t> experts, expert_rows, shared_rows;
  bool has_head = true;           // a matrix of its own for the output
  bool mixture = false;           // layers have experts
  bool some_mixtures = false;     // only some layers have: which, is not looked at
  bool biases_inputs = false;     // of q, k and v
  bool biases_attention = false;  // of these and the attention's output
  bool biases_ffn = false;
};
// From the fields of a config, with what the family assumes where they are silent. Nothing about heads, experts and biases.
Sizes sizes_of(const Family& family, const Config& config);

struct Expected {
  TensorName name;                                  // with Root::model; of experts the first one's
  std::vector<std::optional<std::uint64_t>> shape;  // the slowest dimension first; nothing: any size
  std::optional<std::uint64_t> experts;             // one such tensor for each of so many

  bool fits(const Shape& found) const;
  std::string shape_text() const;  // "800x64", "?x64"
};
// Calls `visit` for each tensor, layer by layer, until it returns false. The number of layers comes from a file: whoever
// counts what is missing stops after a few.
void for_each_expected(const Family& family, const Sizes& sizes, const std::function<bool(const Expected&)>& visit);

}  // namespace tare::arch
