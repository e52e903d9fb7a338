#include "arch/families.hpp"

#include <algorithm>

#include "arch/patterns.hpp"

namespace tare::arch {
namespace {

using Words = std::string_view[];

constexpr Role kLlamaBiases[] = {Role::q, Role::k, Role::v, Role::o, Role::gate, Role::up, Role::down};
constexpr Role kInnerBiases[] = {Role::q, Role::k, Role::v};
constexpr Role kQwen2Biases[] = {Role::q, Role::k, Role::v, Role::output_head};
constexpr Role kFusedBiases[] = {Role::qkv};

constexpr Words kLlamaTypes = {"llama", "mistral", "mixtral"};
constexpr Words kLlamaClasses = {"LlamaForCausalLM", "LLaMAForCausalLM", "MistralForCausalLM", "MixtralForCausalLM",
                                 "LlamaModel"};
constexpr Words kMistral3Types = {"ministral3", "mistral3"};
constexpr Words kMistral3Classes = {"Ministral3ForCausalLM", "Mistral3ForConditionalGeneration"};
constexpr Words kSmolTypes = {"smollm3"};
constexpr Words kSmolClasses = {"SmolLM3ForCausalLM"};

constexpr Words kGraniteTypes = {"granite"};
constexpr Words kGraniteClasses = {"GraniteForCausalLM"};

// Olmo's norms have no weights.
constexpr Words kOlmoTypes = {"olmo"};
constexpr Words kOlmoClasses = {"OlmoForCausalLM", "OLMoForCausalLM"};

constexpr Words kOlmo2Types = {"olmo2", "olmo3"};
constexpr Words kOlmo2Classes = {"Olmo2ForCausalLM", "Olmo3ForCausalLM"};

constexpr Words kQwen2Types = {"qwen2"};
constexpr Words kQwen2Classes = {"Qwen2ForCausalLM", "Qwen2Model"};
constexpr Words kQwen2MoeTypes = {"qwen2_moe"};
constexpr Words kQwen2MoeClasses = {"Qwen2MoeForCausalLM"};
constexpr Words kQwen3Types = {"qwen3"};
constexpr Words kQwen3Classes = {"Qwen3ForCausalLM", "Qwen3Model"};
constexpr Words kQwen3MoeTypes = {"qwen3_moe"};
constexpr Words kQwen3MoeClasses = {"Qwen3MoeForCausalLM"};

constexpr Words kGemmaTypes = {"gemma"};
constexpr Words kGemmaClasses = {"GemmaForCausalLM"};
constexpr Words kGemma2Types = {"gemma2"};
constexpr Words kGemma2Classes = {"Gemma2ForCausalLM"};
constexpr Words kGemma3Types = {"gemma3_text", "gemma3"};
constexpr Words kGemma3Classes = {"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"};

constexpr Words kGemmaEmbeddingTypes = {"gemma-embedding"};
constexpr Words kGemmaEmbeddingClasses = {"Gemma3TextModel"};

constexpr Words kPhi3Types = {"phi3"};
constexpr Words kPhi3Classes = {"Phi3ForCausalLM"};

constexpr Words kTinyTypes = {"tiny_llama"};

constexpr KeyGroup kExperts[] = {KeyGroup::experts}, kSoftCaps[] = {KeyGroup::soft_caps}, kClamp[] = {KeyGroup::clamp},
                   kScales[] = {KeyGroup::scales};

constexpr Variant kLlamaVariants[] = {{When::has_experts, "mixtral", "MixtralForCausalLM"},
                                      {When::states_type, "mistral", "MistralForCausalLM"}};
constexpr Variant kMistral3Variants[] = {{When::lacks_yarn, "mistral", "MistralForCausalLM"}};
constexpr Variant kOlmo2Variants[] = {{When::has_window, "olmo3", "Olmo3ForCausalLM"}};
constexpr Variant kGemmaEmbeddingVariants[] = {{When::always, "gemma3_text", "Gemma3TextModel"}};

constexpr Family kFamilies[] = {
    {.name = "llama",
     .model_types = kLlamaTypes,
     .architectures = kLlamaClasses,
     .gguf = "llama",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMixtral, kMeta},
     .biases = kLlamaBiases,
     .variants = kLlamaVariants,
     .runtime = {.keys = kExperts,
                 .experts_key = "num_local_experts",
                 .large_at_80_layers = LargeAt80Layers::if_heads_share_keys}},
    {.name = "mistral3",
     .model_types = kMistral3Types,
     .architectures = kMistral3Classes,
     .gguf = "mistral3",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMeta},
     .own_head_size = true,
     .biases = kLlamaBiases,
     .variants = kMistral3Variants,
     .runtime = {.has_full_yarn = true}},
    {.name = "smollm3",
     .model_types = kSmolTypes,
     .architectures = kSmolClasses,
     .gguf = "smollm3",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated},
     .ties = true,
     .biases = kInnerBiases,
     .runtime = {.rope_skips_every = 4}},
    {.name = "granite",
     .model_types = kGraniteTypes,
     .architectures = kGraniteClasses,
     .gguf = "granite",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors},
     .biases = kLlamaBiases,
     .runtime = {.keys = kScales}},
    {.name = "olmo",
     .model_types = kOlmoTypes,
     .architectures = kOlmoClasses,
     .gguf = "olmo",
     .names = {kEnds, kPairedAttention, kGated},
     .biases = kInnerBiases,
     .runtime = {.keys = kClamp, .layer_norm_epsilon = 1e-5, .large_at_80_layers = LargeAt80Layers::always}},
    {.name = "olmo2",
     .model_types = kOlmo2Types,
     .architectures = kOlmo2Classes,
     .gguf = "olmo2",
     .names = {kEndsWithCopiedHead, kAttention, kFinalNorm, kPostNorms, kQkNorms, kGated},
     .wide_qk_norms = true,
     .biases = kInnerBiases,
     .variants = kOlmo2Variants,
     .runtime = {.window_period = 4}},
    {.name = "qwen2",
     .model_types = kQwen2Types,
     .architectures = kQwen2Classes,
     .gguf = "qwen2",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kGated},
     .biases = kQwen2Biases,
     .runtime = {.has_max_window_layers = true, .large_at_80_layers = LargeAt80Layers::always}},
    {.name = "qwen2_moe",
     .model_types = kQwen2MoeTypes,
     .architectures = kQwen2MoeClasses,
     .gguf = "qwen2moe",
     .names = {kEndsWithCopiedHead, kAttention, kFinalNorm, kPreNorms, kQwenExperts, kSharedExpert, kPlainLayers},
     .biases = kInnerBiases,
     .runtime = {.keys = kExperts, .normalizes_experts = false}},
    {.name = "qwen3",
     .model_types = kQwen3Types,
     .architectures = kQwen3Classes,
     .gguf = "qwen3",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kGated},
     .own_head_size = true,
     .biases = kInnerBiases,
     .runtime = {.has_max_window_layers = true}},
    {.name = "qwen3_moe",
     .model_types = kQwen3MoeTypes,
     .architectures = kQwen3MoeClasses,
     .gguf = "qwen3moe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts, kPlainLayers},
     .biases = kInnerBiases,
     .runtime = {.keys = kExperts, .normalizes_experts = true}},
    {.name = "gemma",
     .model_types = kGemmaTypes,
     .architectures = kGemmaClasses,
     .gguf = "gemma",
     .names = {kEndsWithoutHead, kAttention, kFinalNormPlusOne, kPreNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::either,
     .runtime = {.activation = Activation::gelu_tanh, .adds_no_blank = true}},
    {.name = "gemma2",
     .model_types = kGemma2Types,
     .architectures = kGemma2Classes,
     .gguf = "gemma2",
     .names = {kEndsWithoutHead, kAttention, kFinalNormPlusOne, kSandwichNormsPlusOne, kPostNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::hidden_activation,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = kSoftCaps,
                 .null_attention_cap = 50,
                 .null_output_cap = 30,
                 .window_period = 2,
                 .layers_of_largest = 46,
                 .adds_no_blank = true}},
    {.name = "gemma3",
     .model_types = kGemma3Types,
     .architectures = kGemma3Classes,
     .gguf = "gemma3",
     .names = {kEnds, kAttention, kFinalNormPlusOne, kSandwichNormsPlusOne, kPostNormsPlusOne, kQkNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::hidden_activation,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = kSoftCaps,
                 .window_period = 6,
                 .states_window_period = true,
                 .bidirectional = false,
                 .bidirectional_twin = "gemma-embedding",
                 .layers_of_largest = 62,
                 .adds_no_blank = true}},
    // Gemma 3 with bidirectional attention, for embeddings. In config.json it is a gemma3_text with
    // use_bidirectional_attention, so this type occurs only in models that follow llama.cpp's conventions.
    {.name = "gemma-embedding",
     .model_types = kGemmaEmbeddingTypes,
     .architectures = kGemmaEmbeddingClasses,
     .gguf = "gemma-embedding",
     .names = {kEnds, kAttention, kFinalNormPlusOne, kSandwichNormsPlusOne, kPostNormsPlusOne, kQkNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::hidden_activation,
     .variants = kGemmaEmbeddingVariants,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = kSoftCaps,
                 .window_period = 6,
                 .states_window_period = true,
                 .bidirectional = true,
                 .bidirectional_twin = "gemma3",
                 .layers_of_largest = 0,
                 .adds_no_blank = true}},
    {.name = "phi3",
     .model_types = kPhi3Types,
     .architectures = kPhi3Classes,
     .gguf = "phi3",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kFused},
     .biases = kFusedBiases,
     .runtime = {.requires_window = true, .rotates_part = true, .has_original_context = true}},
    // Last, because no other program has it.
    {.name = "tiny_llama", .model_types = kTinyTypes, .architectures = {}, .gguf = {}, .names = {kTinyLlama}},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view type_or_architecture) {
  const auto lists = [&](std::span<const std::string_view> words) {
    return std::ranges::find(words, type_or_architecture) != words.end();
  };
  const auto found = std::ranges::find_if(
      kFamilies, [&](const Family& family) { return lists(family.model_types) || lists(family.architectures); });
  return found == std::end(kFamilies) ? nullptr : found;
}

const Family* find_gguf_family(std::string_view architecture) {
  if (architecture.empty()) return nullptr;
  const auto found = std::ranges::find(kFamilies, architecture, &Family::gguf);
  return found == std::end(kFamilies) ? nullptr : found;
}

const Family* find_family_by_any_name(std::string_view name) {
  const Family* const family = find_family(name);
  return family != nullptr ? family : find_gguf_family(name);
}

bool are_twins(const Family& a, const Family& b) { return !a.gguf.empty() && a.gguf == b.runtime.bidirectional_twin; }

const Family& tiny_llama_family() { return std::end(kFamilies)[-1]; }

}  // namespace tare::arch
