#include "arch/model_classes.hpp"

#include <algorithm>
#include <iterator>

namespace tare::arch {

namespace {

constexpr Role kFfnRoles[] = {Role::gate, Role::up, Role::down}, kOutputRole[] = {Role::o},
               kIndexNormRole[] = {Role::index_k_norm},
               kPreNormRoles[] = {Role::attention_norm, Role::ffn_norm, Role::final_norm},
               kMatrixRoles[] = {Role::q, Role::k, Role::v, Role::o, Role::up, Role::down},
               kErnieRoles[] = {Role::q, Role::k, Role::v, Role::o, Role::gate, Role::up, Role::down},
               kPhiRoles[] = {
                   Role::q,          Role::k,          Role::v, Role::o, Role::up, Role::down, Role::attention_norm,
                   Role::final_norm, Role::output_head};

constexpr BiasGroup kLlama[] = {{kAttentionRoles, "attention_bias"}, {kFfnRoles, "mlp_bias"}},
                    kQwen2[] = {{kInputRoles}}, kQwen2Moe[] = {{kInputRoles, "qkv_bias", true}},
                    kErnie[] = {{kErnieRoles, "use_bias"}}, kGlm[] = {{kInputRoles, "attention_bias"}},
                    kGlm4[] = {{kInputRoles, "attention_bias", true}}, kPhi[] = {{kPhiRoles}},
                    kSeed[] = {{kInputRoles, "attention_bias", true},
                               {kOutputRole, "attention_out_bias"},
                               {kFfnRoles, "mlp_bias"}},
                    kStableLm[] = {{kInputRoles, "use_qkv_bias"}, {kPreNormRoles}},
                    kStarCoder2[] = {{kMatrixRoles, "use_bias", true}, {kPreNormRoles}};

constexpr Role kFusedRoles[] = {Role::qkv,      Role::o,         Role::up, Role::down, Role::attention_norm,
                                Role::ffn_norm, Role::final_norm},
               kTableNormRole[] = {Role::table_norm}, kFusedAttentionRoles[] = {Role::qkv, Role::o},
               kNeoXRoles[] = {Role::up, Role::down, Role::attention_norm, Role::ffn_norm, Role::final_norm},
               kFalconNormRoles[] = {Role::parallel_norm, Role::own_attention_norm, Role::own_ffn_norm,
                                     Role::final_norm};
constexpr Role kUpDownRoles[] = {Role::up, Role::down}, kHeadRole[] = {Role::output_head},
               kRouterRole[] = {Role::router};
constexpr BiasGroup kJais2[] = {{kAttentionRoles, "attention_bias", true},
                                {kUpDownRoles, "mlp_bias", true},
                                {kPreNormRoles}},
                    kNemotron[] = {{kAttentionRoles, "attention_bias"}, {kUpDownRoles, "mlp_bias"}, {kPreNormRoles}},
                    kPhiMoe[] = {{kAttentionRoles, "attention_bias"}, {kPreNormRoles}, {kHeadRole, "lm_head_bias"}},
                    kGptFused[] = {{kFusedRoles}}, kBloom[] = {{kFusedRoles}, {kTableNormRole}},
                    kFalcon[] = {{kFalconNormRoles}},
                    kNeoX[] = {{kFusedAttentionRoles, "attention_bias", true}, {kNeoXRoles}},
                    kGptOss[] = {{kAttentionRoles, "attention_bias", true}, {kRouterRole}},
                    kIndexed[] = {{kIndexNormRole}};

constexpr Role kBertRoles[] = {
    Role::q,         Role::k, Role::v, Role::o, Role::up, Role::down, Role::post_attention_norm, Role::post_ffn_norm,
    Role::table_norm};
constexpr Role kStateRoles[] = {Role::state_convolution}, kStepRoles[] = {Role::state_convolution, Role::state_step};
constexpr BiasGroup kBert[] = {{kBertRoles}}, kMambaBias[] = {{kStepRoles}}, kStateBias[] = {{kStateRoles}};

constexpr ModelClass kClasses[] = {
    {.model_type = "llama", .biases = kLlama, .has_window = false},
    {.model_type = "mistral", .biases = {}, .assumes_window = true},
    {.model_type = "mixtral", .biases = {}, .experts = Experts::of_intermediate_size},
    {.model_type = "ministral3", .biases = {}},
    {.model_type = "smollm3", .biases = kLlama},
    {.model_type = "granite", .biases = kLlama, .has_window = false},
    {.model_type = "granitemoe", .has_window = false, .experts = Experts::of_intermediate_size},
    {.model_type = "olmo", .has_window = false},
    {.model_type = "olmo2", .has_window = false},
    {.model_type = "olmoe", .has_window = false, .experts = Experts::of_intermediate_size},
    {.model_type = "qwen2", .biases = kQwen2},
    {.model_type = "qwen2_moe", .biases = kQwen2Moe, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "qwen3_moe", .experts = Experts::of_moe_intermediate_size},
    {.model_type = "gemma", .has_window = false},
    {.model_type = "phi3", .biases = {}, .has_longrope_only = true},
    {.model_type = "arcee", .biases = kLlama, .has_window = false},
    {.model_type = "cohere", .has_window = false},
    {.model_type = "ernie4_5", .biases = kErnie, .has_window = false},
    {.model_type = "ernie4_5_moe", .biases = kErnie, .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "deepseek_v2", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "deepseek_v3", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "kimi_k2", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "exaone4", .biases = {}},
    {.model_type = "glm4", .biases = kGlm4, .has_window = false},
    {.model_type = "glm4_moe",
     .biases = kGlm,
     .qk_norm_key = "use_qk_norm",
     .has_window = false,
     .experts = Experts::of_moe_intermediate_size},
    {.model_type = "hunyuan_v1_dense", .has_window = false},
    {.model_type = "minimax_m2", .biases = {}, .has_window = false, .experts = Experts::of_intermediate_size},
    {.model_type = "phi", .biases = kPhi, .has_window = false},
    {.model_type = "seed_oss", .biases = kSeed, .has_window = false},
    {.model_type = "stablelm", .biases = kStableLm, .has_window = false},
    {.model_type = "starcoder2", .biases = kStarCoder2},
    {.model_type = "bloom", .biases = kBloom, .has_window = false},
    {.model_type = "falcon", .biases = kFalcon, .has_window = false},
    {.model_type = "gpt2", .biases = kGptFused, .has_window = false},
    {.model_type = "gpt_bigcode", .biases = kGptFused, .has_window = false},
    {.model_type = "gpt_neox",
     .biases = kNeoX,
     .has_window = false,
     .rope_base_key = "rotary_emb_base",
     .rotated_part_key = "rotary_pct"},
    {.model_type = "gpt_oss", .biases = kGptOss, .experts = Experts::of_intermediate_size},
    {.model_type = "llama4_text", .has_window = false, .experts = Experts::of_intermediate_size},
    {.model_type = "lfm2", .has_window = false},
    {.model_type = "lfm2_moe", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "afmoe", .experts = Experts::of_moe_intermediate_size},
    {.model_type = "deepseek_v32",
     .biases = kIndexed,
     .has_window = false,
     .experts = Experts::of_moe_intermediate_size},
    {.model_type = "dots1", .experts = Experts::of_moe_intermediate_size},
    {.model_type = "exaone_moe", .biases = {}, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "glm_moe_dsa",
     .biases = kIndexed,
     .has_window = false,
     .experts = Experts::of_moe_intermediate_size},
    {.model_type = "hunyuan_v1_moe", .has_window = false, .experts = Experts::of_intermediate_size},
    {.model_type = "jais2", .biases = kJais2, .has_window = false},
    {.model_type = "mellum", .experts = Experts::of_moe_intermediate_size},
    {.model_type = "nemotron", .biases = kNemotron, .has_window = false},
    {.model_type = "hy_v3", .biases = {}, .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "glm4_moe_lite", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "qwen3_next", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "qwen3_5_text", .has_window = false},
    {.model_type = "qwen3_5_moe_text", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "qwen2_vl", .biases = kQwen2},
    {.model_type = "qwen2_vl_text", .biases = kQwen2},
    {.model_type = "qwen2_5_vl", .biases = kQwen2},
    {.model_type = "qwen2_5_vl_text", .biases = kQwen2},
    {.model_type = "qwen3_vl", .has_window = false},
    {.model_type = "qwen3_vl_text", .has_window = false},
    {.model_type = "qwen3_vl_moe", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "qwen3_vl_moe_text", .has_window = false, .experts = Experts::of_moe_intermediate_size},
    {.model_type = "phimoe", .biases = kPhiMoe, .experts = Experts::of_intermediate_size},
    {.model_type = "bert", .biases = kBert, .has_window = false},
    {.model_type = "roberta", .biases = kBert, .has_window = false, .pads_positions = true},
    {.model_type = "xlm-roberta", .biases = kBert, .has_window = false, .pads_positions = true},
    {.model_type = "modernbert",
     .biases = {},
     .earlier_base_key = "global_rope_theta",
     .earlier_local_base_key = "local_rope_theta"},
    {.model_type = "mamba", .biases = kMambaBias, .has_window = false},
    {.model_type = "mamba2", .biases = kStateBias, .has_window = false},
    {.model_type = "granitemoehybrid",
     .biases = kStateBias,
     .has_window = false,
     .experts = Experts::of_intermediate_size},
    {.model_type = "nemotron_h",
     .biases = kStateBias,
     .has_window = false,
     .experts = Experts::of_moe_intermediate_size},
    {.model_type = "apertus", .has_window = false},
    {.model_type = "eurobert", .biases = {}, .has_window = false},
    {.model_type = "falcon_mamba", .biases = kMambaBias, .has_window = false},
    {.model_type = "t5", .biases = {}, .has_window = false},
    {.model_type = "gemma3n_text"},
    {.model_type = "gemma4_text"},
};

}  // namespace

const ModelClass& class_of(std::string_view model_type) {
  static constexpr ModelClass kOther = {};
  const auto found = std::ranges::find(kClasses, model_type, &ModelClass::model_type);
  return found == std::end(kClasses) ? kOther : *found;
}

}  // namespace tare::arch
