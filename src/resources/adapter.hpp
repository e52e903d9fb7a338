// Adapters: a few trained tensors that change the weights of another model, as PEFT writes them (adapter_config.json and
// adapter_model.safetensors). Here is what the files and the names say; convert/merge.cpp adds them to a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

// What a tensor of a LoRA adapter is to the layer `module`.
enum class AdapterPart : std::uint8_t {
  a,            // [rank, in]
  b,            // [out, rank]
  embedding_a,  // [rank, rows]
  embedding_b,  // [columns, rank]
  b_bias,       // [out]
  magnitude,    // [out], DoRA's
  whole,        // takes the place of the model's tensor of the name `module`
  unknown,      // of another kind of adapter
};

struct AdapterName {
  std::string module;  // as the model has it: "model.layers.0.self_attn.q_proj"; of a whole tensor all of its name
  AdapterPart part = AdapterPart::whole;
};
// "base_model.model.X.lora_A.weight" -> X, a. The name that PEFT gives an adapter ("default") may appear in it. Also of files that
// have a weight's name and .lora_a or .lora_b after it: "X.weight.lora_a" -> X, a.
AdapterName parse_adapter_name(std::string_view name);

// A number for the layers whose names fit.
struct NamePattern {
  std::string text;                 // a regular expression of Python's
  std::optional<std::string> glob;  // the same as a glob; nothing if it is more than that
  bool from_start = false;          // not only the end of a name, after a dot
  bool starred = false;
  double number = 0;
};
NamePattern name_pattern(const std::string& text, double number);

struct Adapter {
  std::string method = "LORA";  // peft_type
  bool configured = false;      // by adapter_config.json; otherwise only the names tell
  std::string base;             // the model it was made for, as its author calls it
  std::optional<std::uint64_t> rank;
  bool rank_stated = false;  // by the config; otherwise it is that of the first layer
  double alpha = 8;          // PEFT's default
  bool rank_stabilised = false, weight_decomposed = false, fan_in_fan_out = false;
  std::vector<NamePattern> rank_pattern, alpha_pattern;
  std::vector<std::string> targets;  // the names of layers, as far as they are names
  std::size_t layers = 0, whole = 0;
  std::string unmergeable;  // why it cannot be added to the weights; empty: it can

  // lora_alpha of a layer, by its pattern if there is one. Throws `lora.pattern`.
  double alpha_for(std::string_view layer) const;
  // "LoRA adapter for llama-7b: rank 8, alpha 16, 64 layers (q_proj, v_proj)"
  std::string text() const;
};

// Nothing for a model that is not an adapter. Throws `lora.config` for a file that is not JSON, or has a rank, an alpha or a
// pattern that is not a number.
std::optional<Adapter> find_adapter(const Model& model);

// The file that states an adapter's method and scale, the model's own or the one next to its weights; nothing if there is none.
std::optional<Blob> adapter_config(const Model& model);

// What config.json says, the model's own or the one beside its weights.
struct TextModel {
  std::optional<bool> tied;  // tie_word_embeddings
  bool generates = false;    // a model with a head for text (LlamaForCausalLM)
};
// Nothing where there is none, or it does not parse.
std::optional<TextModel> text_model(const Model& model);

// The number of the first pattern that fits a layer; nothing if none does. Patterns are Python's regular expressions over
// the end of the name; those that are more than names with `.` and `.*` throw `lora.pattern`.
std::optional<double> number_for(const std::vector<NamePattern>& patterns, std::string_view layer);

}  // namespace tare::resources
