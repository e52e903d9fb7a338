// Small models with Hugging Face's names, for conversions to GGUF.
#pragma once

#include "arch/expected.hpp"
#include "arch/model_classes.hpp"
#include "conformance/models.hpp"
#include "tare/convert.hpp"

namespace tare::testing {

inline const Format& gguf() { return *find_format("gguf"); }
inline const Format& hf() { return *find_format("hf"); }

inline Tensor counted(const std::string& name, const Shape& shape, float first, DType type = DType::bf16) {
  std::vector<float> values(static_cast<std::size_t>(*shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 100);
  return cast(dense<float>(name, shape, values), type);
}

// Adds the tensors that a model of this family and these sizes has, each expert's too.
inline void add_expected(Model& model, const arch::Family& family, const arch::Sizes& sizes) {
  arch::for_each_expected(family, sizes, [&](const arch::Expected& expected) {
    arch::TensorName name = expected.name;
    for (std::uint64_t expert = 0; expert < expected.experts.value_or(1); ++expert) {
      if (expected.experts) name.expert = static_cast<std::uint32_t>(expert);
      Shape shape;
      for (const auto& size : expected.shape) shape.push_back(size.value_or(8));  // rows of positions, parts of states
      model.tensors.push_back(counted(arch::spell(family, arch::Dialect::hugging_face, name).value(), shape, 1));
    }
    return true;
  });
}

// What the class of a type expects by itself: the modules with biases, and whether q and k have norms.
inline void set_defaults(const std::string& type, arch::Sizes& sizes) {
  const arch::ModelClass& reads = arch::class_of(type);
  for (const arch::BiasGroup& group : reads.biases)
    if (group.key.empty() || group.otherwise) sizes.biased.insert(group.roles.begin(), group.roles.end());
  sizes.has_qk_norms = reads.qk_norm_key.empty();
  sizes.mixture = reads.experts != arch::Experts::none;
  if (reads.experts == arch::Experts::of_intermediate_size) sizes.expert_rows = sizes.intermediate;
}

// A model of one layer with 8 dimensions, 2 heads of 4, and 3 tokens.
inline Model small(const std::string& type) {
  Model model;
  model.config.model_type = type;
  model.config.hidden_size = 8;
  model.config.num_attention_heads = model.config.num_key_value_heads = 2;
  model.config.num_hidden_layers = 1;
  model.config.intermediate_size = 6;
  model.config.max_position_embeddings = 16;
  model.config.rms_norm_eps = 1e-5;
  model.config.rope_theta = 10000;
  const std::string layer = "model.layers.0.";
  model.tensors = {counted("model.embed_tokens.weight", {3, 8}, 1),
                   counted("model.norm.weight", {8}, 0.5F),
                   counted("lm_head.weight", {3, 8}, 2),
                   counted(layer + "input_layernorm.weight", {8}, 0.25F),
                   counted(layer + "post_attention_layernorm.weight", {8}, 0.125F),
                   counted(layer + "self_attn.q_proj.weight", {8, 8}, 3),
                   counted(layer + "self_attn.k_proj.weight", {8, 8}, 4),
                   counted(layer + "self_attn.v_proj.weight", {8, 8}, 5),
                   counted(layer + "self_attn.o_proj.weight", {8, 8}, 6)};
  return model;
}
inline void add_ffn(Model& model) {
  for (const char* const name : {"gate_proj", "up_proj"})
    model.tensors.push_back(counted("model.layers.0.mlp." + std::string(name) + ".weight", {6, 8}, 7));
  model.tensors.push_back(counted("model.layers.0.mlp.down_proj.weight", {8, 6}, 8));
}

// With a config.json.
inline Model small(const std::string& type, const std::string& config) {
  Model model = small(type);
  add_ffn(model);
  model.attachments.push_back(text_file("config.json", config));
  return model;
}

}  // namespace tare::testing
