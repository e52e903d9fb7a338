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

constexpr Family kFamilies[] = {
    {.name = "llama",
     .model_types = kLlamaTypes,
     .architectures = kLlamaClasses,
     .gguf = "llama",
     .names = {kStem, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMixtral, kMeta},
     .permutes_qk = true,
     .biases = kLlamaBiases},
    {.name = "mistral3",
     .model_types = kMistral3Types,
     .architectures = kMistral3Classes,
     .gguf = "mistral3",
     .names = {kStem, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMeta},
     .permutes_qk = true,
     .own_head_size = true,
     .biases = kLlamaBiases},
    {.name = "smollm3",
     .model_types = kSmolTypes,
     .architectures = kSmolClasses,
     .gguf = "smollm3",
     .names = {kStem, kFinalNorm, kPreNorms, kGated},
     .permutes_qk = true,
     .ties = true,
     .biases = kInnerBiases},
    {.name = "granite",
     .model_types = kGraniteTypes,
     .architectures = kGraniteClasses,
     .gguf = "granite",
     .names = {kStem, kFinalNorm, kPreNorms, kGated, kRopeFactors},
     .permutes_qk = true,
     .biases = kLlamaBiases},
    {.name = "olmo",
     .model_types = kOlmoTypes,
     .architectures = kOlmoClasses,
     .gguf = "olmo",
     .names = {kStem, kGated},
     .permutes_qk = true,
     .biases = kInnerBiases},
    {.name = "olmo2",
     .model_types = kOlmo2Types,
     .architectures = kOlmo2Classes,
     .gguf = "olmo2",
     .names = {kStem, kFinalNorm, kPostNorms, kQkNorms, kGated},
     .head = Presence::required,
     .wide_qk_norms = true,
     .biases = kInnerBiases},
    {.name = "qwen2",
     .model_types = kQwen2Types,
     .architectures = kQwen2Classes,
     .gguf = "qwen2",
     .names = {kStem, kFinalNorm, kPreNorms, kGated},
     .biases = kQwen2Biases},
    {.name = "qwen2_moe",
     .model_types = kQwen2MoeTypes,
     .architectures = kQwen2MoeClasses,
     .gguf = "qwen2moe",
     .names = {kStem, kFinalNorm, kPreNorms, kQwenExperts, kSharedExpert, kPlainLayers},
     .head = Presence::required,
     .biases = kInnerBiases},
    {.name = "qwen3",
     .model_types = kQwen3Types,
     .architectures = kQwen3Classes,
     .gguf = "qwen3",
     .names = {kStem, kFinalNorm, kPreNorms, kQkNorms, kGated},
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "qwen3_moe",
     .model_types = kQwen3MoeTypes,
     .architectures = kQwen3MoeClasses,
     .gguf = "qwen3moe",
     .names = {kStem, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts, kPlainLayers},
     .biases = kInnerBiases},
    {.name = "gemma",
     .model_types = kGemmaTypes,
     .architectures = kGemmaClasses,
     .gguf = "gemma",
     .names = {kStem, kFinalNorm, kPreNorms, kGated},
     .norm_shift = 1,
     .head = Presence::never,
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "gemma2",
     .model_types = kGemma2Types,
     .architectures = kGemma2Classes,
     .gguf = "gemma2",
     .names = {kStem, kFinalNorm, kSandwichNorms, kPostNorms, kGated},
     .norm_shift = 1,
     .head = Presence::never,
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "gemma3",
     .model_types = kGemma3Types,
     .architectures = kGemma3Classes,
     .gguf = "gemma3",
     .names = {kStem, kFinalNorm, kSandwichNorms, kPostNorms, kQkNorms, kGated},
     .norm_shift = 1,
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases},
    // Gemma 3 with bidirectional attention, for embeddings. In config.json it is a gemma3_text with
    // use_bidirectional_attention, so this type occurs only in models that follow llama.cpp's conventions.
    {.name = "gemma-embedding",
     .model_types = kGemmaEmbeddingTypes,
     .architectures = kGemmaEmbeddingClasses,
     .gguf = "gemma-embedding",
     .names = {kStem, kFinalNorm, kSandwichNorms, kPostNorms, kQkNorms, kGated},
     .norm_shift = 1,
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "phi3",
     .model_types = kPhi3Types,
     .architectures = kPhi3Classes,
     .gguf = "phi3",
     .names = {kStem, kFinalNorm, kPreNorms, kFused},
     .biases = kFusedBiases},
    // Last, because no other program has it.
    {.name = "tiny_llama",
     .model_types = kTinyTypes,
     .architectures = {},
     .gguf = {},
     .names = {kTinyLlama},
     .head = Presence::required},
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

const Family& tiny_llama_family() { return std::end(kFamilies)[-1]; }

}  // namespace tare::arch
