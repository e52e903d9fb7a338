#include "arch/model_types.hpp"

#include <algorithm>

#include "arch/defaults.hpp"

namespace tare::arch {
namespace {

// Types with a language part, among those that Tare has defaults for.
constexpr std::string_view kTypesWithParts[] = {
    "gemma3",      "llama4", "mistral3", "qwen2_vl", "qwen2_5_vl",    "qwen3_vl", "qwen3_vl_moe", "qwen3_5",
    "qwen3_5_moe", "llava",  "smolvlm",  "idefics3", "internvl_chat", "gemma3n",  "gemma4"};

// Further types that have none: their classes read config.json itself.
constexpr std::string_view kTypesWithoutParts[] = {
    "bart",        "bert",       "bloom",      "codegen", "cohere",   "cohere2",    "deepseek_v2", "deepseek_v3",
    "distilbert",  "ernie4_5",   "exaone4",    "falcon",  "glm",      "glm4",       "glm4_moe",    "gpt2",
    "gpt_bigcode", "gpt_neo",    "gpt_neox",   "gpt_oss", "gptj",     "granitemoe", "lfm2",        "mamba",
    "mamba2",      "modernbert", "mpt",        "mt5",     "nemotron", "olmoe",      "opt",         "phi",
    "phimoe",      "qwen3_next", "roberta",    "rwkv",    "seed_oss", "stablelm",   "starcoder2",  "t5",
    "tiny_llama",  "xglm",       "xlm-roberta"};

constexpr std::string_view kTypesWithoutRope[] = {
    "albert",     "bart",       "bert",       "big_bird",    "blenderbot",   "bloom",       "camembert", "clip",
    "deberta",    "deberta-v2", "distilbert", "electra",     "gpt2",         "gpt_bigcode", "gpt_neo",   "layoutlm",
    "longformer", "m2m_100",    "mamba",      "mamba2",      "falcon_mamba", "marian",      "mbart",     "mpnet",
    "mpt",        "mt5",        "opt",        "pegasus",     "roberta",      "rwkv",        "t5",        "t5encoder",
    "vit",        "whisper",    "xlm",        "xlm-roberta", "xlnet"};

constexpr std::string_view kTypesWithOwnNames[] = {"bloom",      "falcon", "gpt2",   "gpt_bigcode",  "lfm2", "lfm2_moe",
                                                   "modernbert", "mamba",  "mamba2", "falcon_mamba", "t5"};

constexpr TypeKey kTypeKeys[] = {
    {"gpt2", "intermediate_size", "n_inner"},
    {"gptj", "intermediate_size", "n_inner"},
    {"gpt_bigcode", "intermediate_size", "n_inner"},
    {"codegen", "intermediate_size", "n_inner"},
    {"opt", "intermediate_size", "ffn_dim"},
    {"xglm", "intermediate_size", "ffn_dim"},
    {"distilbert", "intermediate_size", "hidden_dim"},
    {"falcon", "intermediate_size", "ffn_hidden_size"},
    {"falcon", "num_key_value_heads", "num_kv_heads"},
    {"lfm2", "rms_norm_eps", "norm_eps"},
    {"lfm2_moe", "rms_norm_eps", "norm_eps"},
    {"modernbert", "rms_norm_eps", "norm_eps"},
    {"mamba", "rms_norm_eps", "layer_norm_epsilon"},
    {"mamba2", "rms_norm_eps", "layer_norm_epsilon"},
    {"falcon_mamba", "rms_norm_eps", "layer_norm_epsilon"},
    {"t5", "hidden_size", "d_model"},
    {"t5", "intermediate_size", "d_ff"},
    {"t5", "head_dim", "d_kv"},
    {"t5", "num_hidden_layers", "num_layers"},
    {"t5", "num_attention_heads", "num_heads"},
    {"t5", "rms_norm_eps", "layer_norm_epsilon"},
    {"t5encoder", "hidden_size", "d_model"},
    {"t5encoder", "intermediate_size", "d_ff"},
    {"t5encoder", "head_dim", "d_kv"},
    {"t5encoder", "num_hidden_layers", "num_layers"},
    {"t5encoder", "num_attention_heads", "num_heads"},
    {"t5encoder", "rms_norm_eps", "layer_norm_epsilon"},
    {"falcon", "head_dim", ""},  // their readers compute it, and refuse a value
};

constexpr TypeFlag kTypeFlags[] = {
    {"qwen", true, "sliding_window", "use_sliding_window", Tells::is_stated},
    {"falcon", false, "num_key_value_heads", "multi_query", Tells::is_one},
};

bool lists(std::span<const std::string_view> types, std::string_view type) {
  return std::ranges::find(types, type) != types.end();
}

}  // namespace

Parts parts_of(std::string_view model_type) {
  if (lists(kTypesWithParts, model_type)) return Parts::language;
  return lists(kTypesWithoutParts, model_type) || !assumed_keys(model_type).empty() ? Parts::none : Parts::unknown;
}

bool has_no_rope(std::string_view model_type) { return lists(kTypesWithoutRope, model_type); }

bool has_own_names(std::string_view model_type) { return lists(kTypesWithOwnNames, model_type); }

// "bigbird_pegasus" and "pegasus_x" do so, too.
bool shifts_pieces(std::string_view model_type) { return model_type.find("pegasus") != std::string_view::npos; }

std::span<const TypeKey> type_keys() { return kTypeKeys; }
std::span<const TypeFlag> type_flags() { return kTypeFlags; }

}  // namespace tare::arch
