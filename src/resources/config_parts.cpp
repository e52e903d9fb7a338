#include "resources/config_parts.hpp"

#include <algorithm>

#include "arch/defaults.hpp"

namespace tare::resources {
namespace {

// Model types with a language part, among those that Tare has defaults for.
constexpr std::string_view kComposite[] = {"gemma3", "mistral3"};

// Further types that have none: their classes read config.json itself.
constexpr std::string_view kPlain[] = {
    "bart",        "bert",       "bloom",      "codegen", "cohere",   "cohere2",    "deepseek_v2", "deepseek_v3",
    "distilbert",  "ernie4_5",   "exaone4",    "falcon",  "glm",      "glm4",       "glm4_moe",    "gpt2",
    "gpt_bigcode", "gpt_neo",    "gpt_neox",   "gpt_oss", "gptj",     "granitemoe", "lfm2",        "mamba",
    "mamba2",      "modernbert", "mpt",        "mt5",     "nemotron", "olmoe",      "opt",         "phi",
    "phimoe",      "qwen3_next", "roberta",    "rwkv",    "seed_oss", "stablelm",   "starcoder2",  "t5",
    "tiny_llama",  "xglm",       "xlm-roberta"};

template <std::size_t N>
bool is_among(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string_view type_of(const Map& object) {
  const std::string* const type = get<std::string>(object, "model_type");
  return type == nullptr ? std::string_view() : *type;
}

}  // namespace

std::vector<const Map*> language_parts(const Map& config) {
  const std::string_view type = type_of(config);
  const bool composite = is_among(kComposite, type);
  const bool plain = is_among(kPlain, type) || (!composite && !arch::assumed_keys(type).empty());
  for (const std::string_view path : kLanguageParts) {
    const Value* const found = plain ? nullptr : find_path(config, path);
    const Map* const part = found == nullptr ? nullptr : found->get<Map>();
    if (part == nullptr) continue;
    if (composite || !arch::assumed_keys(type_of(*part)).empty()) return {part};
    return {part, &config};
  }
  return {&config};
}

bool is_key_of_top(std::string_view key) {
  constexpr std::string_view kOfTop[] = {"tie_word_embeddings", "architectures", "_name_or_path", "quantization_config",
                                         "quantization"};
  return is_among(kOfTop, key);
}

}  // namespace tare::resources
