// What GGUF changes in a tensor in addition to its name: a closed list of verbs.
//
// A row of the table of names (patterns.hpp) lists steps, which apply in this order on the way to GGUF. They are undone in
// reverse order on the way back. What a verb does to bytes, and its inverse, are in one file of
// src/formats/gguf/llama_cpp/verbs. So a new verb is a value here and a file there; a new family needs neither if these
// verbs suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "arch/roles.hpp"

namespace tare::arch {

enum class Verb : std::uint8_t {
  // The tensor gets other bytes.
  pair_rows,   // rows of each head, of weights and biases, from `halves` to `pairs`: see qk_rows.hpp
  add,         // `number` is added to each weight, but not to a bias
  transpose,   // the last two dimensions change places; biases stay
  negate_exp,  // a logarithm becomes the number itself, with the opposite sign
  // Heads of values in groups, one group for each head of keys: the first head of each group comes first, then the second of
  // each. In rows, after those of queries and keys; `number` is 1 if a head has one row. Or in columns.
  tile_rows,
  tile_columns,
  squeeze,  // the second of three dimensions, which is 1, is dropped
  // The same bytes under another shape: vectors become columns if `key` is empty, otherwise as many rows as the setting
  // `key` of config.json states.
  reshape,
  pad_rows,   // rows of zeros are added, until there are as many as the setting `key` states
  trim_rows,  // rows for padding, which come first, are cut: one more than the setting `key` states
  // Rows of q, k and v, which each group of heads that share a key has together: all q come first, then all k, then all v.
  sort_heads,

  // Other tensors are made of this one. It must be the last step: these go on with the steps of the row for their role.
  stack,       // the tensors of all experts of a layer become one of the role `role`: rank 3, experts first
  halve_rows,  // the first half of the rows of each expert has the role `role`, the second half the role `other_half`

  deal_rows,  // likewise the rows with even numbers, and those with odd ones; a matrix has an element for each row

  // The rows of each head come apart: the first ones, as many as config.json states under `key`, have the role `role` and
  // are transposed; the others have the role `other_half`. Both have rank 3, heads first.
  split_heads,

  // Rows of each head of keys: queries, keys and values go to the role `role`, sorted as by sort_heads; gates to `other_half`.
  part_heads,

  // Rows of queries, then keys, then values, as many of each: they have the roles `role`, `other_half` and `third`. Biases, too.
  part_thirds,
  // A kernel over two frames of a film, [outputs][channels][2][rows][columns]: one for each frame, `role` and `other_half`.
  part_frames,

  // GGUF does not have the tensor.
  omit,       // it is computed from the hyper-parameters
  omit_copy,  // it must equal the tensor with the role `role`, which llama.cpp uses in its place
  to_key,     // a number of each layer: together they are the key `key`; `number` is the rank of the tensors

  // GGUF has the tensor, even if the model lacks it.
  copy,             // then it is a copy of the tensor with the role `role`
  llama3_divisors,  // it is computed from the rotary settings of config.json
  listed_divisors,  // the rotary settings have the numbers as a list under the key `key`
  part_divisors,    // 1 for the part of each head that is rotated, and a huge number for the rest
};

struct Step {
  Verb verb;
  float number = 0;
  Role role = Role::other, other_half = Role::other;
  std::string_view key = {};
  Role third = Role::other;

  // How many tensors the step makes of one, which the way back joins; 0: it makes one of it, or of several.
  constexpr std::size_t parts() const {
    switch (verb) {
      case Verb::part_thirds: return 3;
      case Verb::halve_rows:
      case Verb::deal_rows:
      case Verb::split_heads:
      case Verb::part_heads:
      case Verb::part_frames: return 2;
      default: return 0;
    }
  }
  // Returns whether the step makes tensors of this role out of others.
  constexpr bool makes(Role made) const {
    return (verb == Verb::stack && made == role) || (parts() > 0 && (made == role || made == other_half)) ||
           (parts() == 3 && made == third);
  }
};
using Steps = std::span<const Step>;

}  // namespace tare::arch
