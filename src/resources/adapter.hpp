// Adapters: a few trained tensors that change the weights of another model, as PEFT writes them (adapter_config.json
// and adapter_model.safetensors). This file interprets the files and the names; convert/merge.cpp adds adapters to a
// model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/name_map.hpp"
#include "tare/model.hpp"

namespace tare::resources {

// The part of a tensor in the adapter of the layer `module`.
enum class AdapterPart : std::uint8_t {
  a,            // [rank, in]
  b,            // [out, rank]
  embedding_a,  // [rank, rows]
  embedding_b,  // [columns, rank]
  b_bias,       // [out]
  magnitude,    // [out], for DoRA
  whole,        // replaces the model's tensor named `module`
  unknown,      // belongs to another kind of adapter
};

struct AdapterName {
  std::string module;  // the model's name: "model.layers.0.self_attn.q_proj"; the full name for a whole tensor
  AdapterPart part = AdapterPart::whole;
};
// "base_model.model.X.lora_A.weight" -> X, a. The name that PEFT gives an adapter ("default") may appear in it. Also
// accepts a weight's name followed by .lora_a or .lora_b: "X.weight.lora_a" -> X, a.
AdapterName parse_adapter_name(std::string_view name);

// A number for the layers with matching names.
struct NamePattern {
  std::string text;                 // a Python regular expression
  std::optional<std::string> glob;  // the same as a glob; nothing if a glob cannot express it
  std::string glob_of_end;          // for names that end like this after a dot; empty if it is not starred
  bool from_start = false;          // must match the whole name, not only its end after a dot
  bool starred = false;
  double number = 0;
};
NamePattern name_pattern(const std::string& text, double number);

// The patterns of a config, in its order. Those that are names are found without a search.
class NamePatterns {
 public:
  NamePatterns() = default;
  explicit NamePatterns(std::vector<NamePattern> patterns);
  // Returns the number of the first pattern that matches a layer; nothing if none does. Patterns are Python's regular
  // expressions over the end of the name; those that use more than names with `.` and `.*` throw `lora.pattern`. Charges
  // the budget of the thread for what it compares.
  std::optional<double> number_for(std::string_view layer) const;

 private:
  std::size_t find_name(std::string_view layer) const;

  std::vector<NamePattern> patterns_;
  NameMap<std::size_t> ends_, wholes_;  // patterns without wildcards; `wholes_`: those from the start
  std::vector<std::size_t> others_;
};

struct Adapter {
  std::string method = "LORA";  // peft_type
  bool configured = false;      // has an adapter_config.json; otherwise only the names are known
  std::string base;             // the base model, as the author names it
  std::optional<std::uint64_t> rank;
  bool rank_stated = false;  // stated by the config; otherwise the rank of the first layer
  double alpha = 8;          // PEFT's default
  bool rank_stabilised = false, weight_decomposed = false, fan_in_fan_out = false;
  NamePatterns rank_pattern, alpha_pattern;
  std::vector<std::string> targets;  // names of layers, if the config lists names
  std::size_t layers = 0, whole = 0;
  std::string unmergeable;  // why it cannot be added to the weights; empty if it can

  // lora_alpha of a layer, by its pattern if one matches. Throws `lora.pattern`.
  double alpha_for(std::string_view layer) const;
  // "LoRA adapter for llama-7b: rank 8, alpha 16, 64 layers (q_proj, v_proj)"
  std::string text() const;
};

// Returns nothing for a model that is not an adapter. Throws `lora.config` if the file is not JSON, or if a rank, an
// alpha or a pattern is not a number.
std::optional<Adapter> find_adapter(const Model& model);

// Returns the file that states an adapter's method and scale: the model's own, or the one next to its weights; nothing
// if there is none.
std::optional<Blob> adapter_config(const Model& model);

// Facts from config.json: the model's own, or the one next to its weights.
struct TextModel {
  std::optional<bool> tied;  // tie_word_embeddings
  bool generates = false;    // a model with a head for text (LlamaForCausalLM)
};
// Returns nothing if there is none, or it does not parse.
std::optional<TextModel> text_model(const Model& model);

}  // namespace tare::resources
