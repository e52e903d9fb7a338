// Tensor names as data: the same tensor in the dialects of the programs that name it.
//
//  hugging_face   model.layers.3.self_attn.q_proj.weight
//  gguf           blk.3.attn_q.weight
//  meta           layers.3.attention.wq.weight: what the authors of Llama and Mistral publish
//  tiny_llama     layers.3.attention.query.weight; its matrices are [inputs][outputs], all others [outputs][inputs]
//
// `parse` and `spell` are the two directions over one table (patterns.hpp). Names come from files: `parse` reads no
// more of a name than the longest pattern, and numbers are exact (no leading zeros, 32 bits).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arch/families.hpp"
#include "arch/roles.hpp"

namespace tare::arch {

enum class Suffix : std::uint8_t { weight, bias };

// Without the final dot; "bare" for `bare`, because "" would not be a name.
std::string_view name_of(Root root);
std::optional<Root> parse_root(std::string_view name);

struct TensorName {
  Role role = Role::other;
  std::optional<std::uint32_t> layer = std::nullopt, expert = std::nullopt;
  Suffix suffix = Suffix::weight;
  Root root = Root::model;

  friend bool operator==(const TensorName&, const TensorName&) = default;
};

// Nothing if the family has no such name in the dialect.
std::optional<TensorName> parse(const Family& family, Dialect dialect, std::string_view name);

struct Recognized {
  const Family* family;
  Dialect dialect;
  TensorName name;
};
// The first family of the table that has such a name, in any dialect.
std::optional<Recognized> recognize(std::string_view name);
// The inverse. Nothing if the dialect has no name for that role, or none with (or without) a layer or an expert.
std::optional<std::string> spell(const Family& family, Dialect dialect, const TensorName& name);

// The row that spells such a name; null if there is none.
const Pattern* find_row(const Family& family, Dialect dialect, const TensorName& name);
// The first row of Hugging Face's dialect with a step that makes tensors of this role, which is their way back; null if
// they are not made of others.
const Pattern* find_maker(const Family& family, Role role);
// The step with this verb in a row for this role; null if there is none.
const Step* find_step(const Family& family, Role role, Verb verb);

// The role in the first family and dialect that knows the name; `other` if none does. If families differ (Llama's
// post_attention_layernorm precedes the feed-forward network, Gemma 2's follows the attention), the first one decides.
Role role_of(std::string_view name);

}  // namespace tare::arch
