#include "arch/families.hpp"

#include <algorithm>

#include "arch/patterns.hpp"
#include "arch/patterns_hybrid.hpp"
#include "arch/patterns_older.hpp"
#include "arch/patterns_stacked.hpp"

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

constexpr Words kAfmoeTypes = {"afmoe"}, kAfmoeClasses = {"AfmoeForCausalLM"};
constexpr Words kArceeTypes = {"arcee"}, kArceeClasses = {"ArceeForCausalLM"};
constexpr Words kBloomTypes = {"bloom"}, kBloomClasses = {"BloomForCausalLM", "BloomModel"};
constexpr Words kCohereTypes = {"cohere"}, kCohereClasses = {"CohereForCausalLM"};
constexpr Words kCohere2Types = {"cohere2"}, kCohere2Classes = {"Cohere2ForCausalLM"};
constexpr Words kDeepSeekTypes = {"deepseek_v3", "deepseek_v2", "kimi_k2", "glm4_moe_lite"},
                kDeepSeekClasses = {"DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM", "Glm4MoeLiteForCausalLM"};
constexpr Variant kDeepSeekVariants[] = {{When::lacks_router_bias, "deepseek_v2", "DeepseekV2ForCausalLM"}};
constexpr Words kDeepSeek32Types = {"deepseek_v32"}, kDeepSeek32Classes = {"DeepseekV32ForCausalLM"};
constexpr Words kDotsTypes = {"dots1"}, kDotsClasses = {"Dots1ForCausalLM"};
constexpr Words kErnieTypes = {"ernie4_5"}, kErnieClasses = {"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"};
constexpr Words kErnieMoeTypes = {"ernie4_5_moe"}, kErnieMoeClasses = {"Ernie4_5_MoeForCausalLM"};
constexpr Words kExaone4Types = {"exaone4"}, kExaone4Classes = {"Exaone4ForCausalLM"};
constexpr Words kExaoneMoeTypes = {"exaone_moe"}, kExaoneMoeClasses = {"ExaoneMoeForCausalLM", "ExaoneMoEForCausalLM"};
constexpr Words kFalconTypes = {"falcon"}, kFalconClasses = {"FalconForCausalLM", "RWForCausalLM"};
constexpr Words kGlm4Types = {"glm4"}, kGlm4Classes = {"Glm4ForCausalLM"};
constexpr Words kGlm4MoeTypes = {"glm4_moe"}, kGlm4MoeClasses = {"Glm4MoeForCausalLM"};
constexpr Words kGlmDsaTypes = {"glm_moe_dsa"}, kGlmDsaClasses = {"GlmMoeDsaForCausalLM"};
constexpr Words kGpt2Types = {"gpt2"}, kGpt2Classes = {"GPT2LMHeadModel"};
constexpr Words kGptOssTypes = {"gpt_oss"}, kGptOssClasses = {"GptOssForCausalLM"};
constexpr Words kBigCodeTypes = {"gpt_bigcode"}, kBigCodeClasses = {"GPTBigCodeForCausalLM"};
constexpr Words kNeoXTypes = {"gpt_neox"}, kNeoXClasses = {"GPTNeoXForCausalLM"};
constexpr Words kGraniteMoeTypes = {"granitemoe"}, kGraniteMoeClasses = {"GraniteMoeForCausalLM"};
constexpr Words kHunyuanTypes = {"hunyuan_v1_dense"}, kHunyuanClasses = {"HunYuanDenseV1ForCausalLM"};
constexpr Words kHunyuanMoeTypes = {"hunyuan_v1_moe"}, kHunyuanMoeClasses = {"HunYuanMoEV1ForCausalLM"};
constexpr Words kHyTypes = {"hy_v3"}, kHyClasses = {"HYV3ForCausalLM"};
constexpr Words kJais2Types = {"jais2"}, kJais2Classes = {"Jais2ForCausalLM"};
constexpr Words kLfm2Types = {"lfm2"}, kLfm2Classes = {"Lfm2ForCausalLM", "LFM2ForCausalLM"};
constexpr Words kLfm2MoeTypes = {"lfm2_moe"}, kLfm2MoeClasses = {"Lfm2MoeForCausalLM"};
constexpr Words kLlama4Types = {"llama4_text", "llama4"},
                kLlama4Classes = {"Llama4ForCausalLM", "Llama4ForConditionalGeneration"};
constexpr Words kMellumTypes = {"mellum"}, kMellumClasses = {"MellumForCausalLM"};
constexpr Words kMiniMaxTypes = {"minimax_m2"}, kMiniMaxClasses = {"MiniMaxM2ForCausalLM"};
constexpr Words kNemotronTypes = {"nemotron"}, kNemotronClasses = {"NemotronForCausalLM"};
constexpr Words kOlmoeTypes = {"olmoe"}, kOlmoeClasses = {"OlmoeForCausalLM"};
constexpr Words kPhiTypes = {"phi"}, kPhiClasses = {"PhiForCausalLM"};
constexpr Words kPhiMoeTypes = {"phimoe"}, kPhiMoeClasses = {"PhiMoEForCausalLM", "PhimoeForCausalLM"};
constexpr Words kSeedTypes = {"seed_oss"}, kSeedClasses = {"SeedOssForCausalLM"};
constexpr Words kQwen3NextTypes = {"qwen3_next"}, kQwen3NextClasses = {"Qwen3NextForCausalLM"};
constexpr Words kQwen35Types = {"qwen3_5_text", "qwen3_5"},
                kQwen35Classes = {"Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration"};
constexpr Words kQwen35MoeTypes = {"qwen3_5_moe_text", "qwen3_5_moe"},
                kQwen35MoeClasses = {"Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"};
constexpr Words kQwen2VlTypes = {"qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text"},
                kQwen2VlClasses = {"Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration",
                                   "Qwen2VLModel"};
constexpr Words kQwen3VlTypes = {"qwen3_vl", "qwen3_vl_text"}, kQwen3VlClasses = {"Qwen3VLForConditionalGeneration"};
constexpr Words kQwen3VlMoeTypes = {"qwen3_vl_moe", "qwen3_vl_moe_text"},
                kQwen3VlMoeClasses = {"Qwen3VLMoeForConditionalGeneration"};
constexpr Words kStableLmTypes = {"stablelm"}, kStableLmClasses = {"StableLmForCausalLM"};
constexpr Words kStarCoder2Types = {"starcoder2"}, kStarCoder2Classes = {"Starcoder2ForCausalLM"};

constexpr Role kLayerNormBiases[] = {Role::q, Role::k, Role::v, Role::attention_norm, Role::ffn_norm, Role::final_norm};
constexpr Role kAllBiases[] = {
    Role::q,        Role::k,          Role::v,          Role::o, Role::up, Role::down, Role::attention_norm,
    Role::ffn_norm, Role::final_norm, Role::output_head};

constexpr Role kIndexerBiases[] = {Role::index_k_norm};

constexpr Role kFusedAllBiases[] = {Role::qkv,      Role::o,          Role::up,        Role::down, Role::attention_norm,
                                    Role::ffn_norm, Role::final_norm, Role::table_norm};
constexpr Role kGptOssBiases[] = {Role::q, Role::k, Role::v, Role::o, Role::router};
constexpr Role kFalconBiases[] = {Role::parallel_norm, Role::own_attention_norm, Role::own_ffn_norm, Role::final_norm};

constexpr Words kGptOssUnpacked = {"model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
                                   "lm_head"};

constexpr Words kTinyTypes = {"tiny_llama"};

constexpr Variant kLlamaVariants[] = {{When::has_experts, "mixtral", "MixtralForCausalLM"},
                                      {When::states_type, "mistral", "MistralForCausalLM"}};
constexpr Variant kMistral3Variants[] = {{When::lacks_yarn, "mistral", "MistralForCausalLM"}};
constexpr Variant kOlmo2Variants[] = {{When::has_window, "olmo3", "Olmo3ForCausalLM"}};
constexpr Variant kGemmaEmbeddingVariants[] = {{When::always, "gemma3_text", "Gemma3TextModel"}};

constexpr Family kFamilies[] = {
    {.name = "llama",
     .title = "Llama, Mistral, Mixtral",
     .model_types = kLlamaTypes,
     .architectures = kLlamaClasses,
     .gguf = "llama",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMixtral, kMeta},
     .biases = kLlamaBiases,
     .variants = kLlamaVariants,
     .runtime = {.keys = {kMixtralKeys}, .large_at_80_layers = LargeAt80Layers::if_heads_share_keys}},
    {.name = "mistral3",
     .title = "Ministral 3",
     .model_types = kMistral3Types,
     .architectures = kMistral3Classes,
     .gguf = "mistral3",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors, kMeta},
     .own_head_size = true,
     .biases = kLlamaBiases,
     .variants = kMistral3Variants,
     .runtime = {.has_full_yarn = true}},
    {.name = "smollm3",
     .title = "SmolLM 3",
     .model_types = kSmolTypes,
     .architectures = kSmolClasses,
     .gguf = "smollm3",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated},
     .ties = true,
     .biases = kInnerBiases,
     .runtime = {.rope_skips_every = 4}},
    {.name = "granite",
     .title = "Granite",
     .model_types = kGraniteTypes,
     .architectures = kGraniteClasses,
     .gguf = "granite",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGated, kRopeFactors},
     .biases = kLlamaBiases,
     .runtime = {.keys = {kScales}}},
    {.name = "olmo",
     .title = "OLMo",
     .model_types = kOlmoTypes,
     .architectures = kOlmoClasses,
     .gguf = "olmo",
     .names = {kEnds, kPairedAttention, kGated},
     .biases = kInnerBiases,
     .runtime = {.keys = {kClamp}, .layer_norm_epsilon = 1e-5, .large_at_80_layers = LargeAt80Layers::always}},
    {.name = "olmo2",
     .title = "OLMo 2 and 3",
     .model_types = kOlmo2Types,
     .architectures = kOlmo2Classes,
     .gguf = "olmo2",
     .names = {kEndsWithCopiedHead, kAttention, kFinalNorm, kPostNorms, kQkNorms, kGated},
     .wide_qk_norms = true,
     .biases = kInnerBiases,
     .variants = kOlmo2Variants,
     .runtime = {.window_period = 4, .lists_windows = true}},
    {.name = "qwen2",
     .title = "Qwen 2",
     .model_types = kQwen2Types,
     .architectures = kQwen2Classes,
     .gguf = "qwen2",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kGated},
     .biases = kQwen2Biases,
     .runtime = {.has_max_window_layers = true, .large_at_80_layers = LargeAt80Layers::always}},
    {.name = "qwen2_moe",
     .title = "Qwen 2, mixture of experts",
     .model_types = kQwen2MoeTypes,
     .architectures = kQwen2MoeClasses,
     .gguf = "qwen2moe",
     .names = {kEndsWithCopiedHead, kAttention, kFinalNorm, kPreNorms, kQwenExperts, kSharedExpert, kPlainLayers},
     .biases = kInnerBiases,
     .runtime = {.keys = {kQwenExpertKeys}, .normalizes_experts = false}},
    {.name = "qwen3",
     .title = "Qwen 3",
     .model_types = kQwen3Types,
     .architectures = kQwen3Classes,
     .gguf = "qwen3",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kGated},
     .own_head_size = true,
     .biases = kInnerBiases,
     .runtime = {.has_max_window_layers = true}},
    {.name = "qwen3_moe",
     .title = "Qwen 3, mixture of experts",
     .model_types = kQwen3MoeTypes,
     .architectures = kQwen3MoeClasses,
     .gguf = "qwen3moe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts, kPlainLayers},
     .biases = kInnerBiases,
     .runtime = {.keys = {kQwenExpertKeys}, .normalizes_experts = true}},
    {.name = "gemma",
     .title = "Gemma",
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
     .title = "Gemma 2",
     .model_types = kGemma2Types,
     .architectures = kGemma2Classes,
     .gguf = "gemma2",
     .names = {kEndsWithoutHead, kAttention, kFinalNormPlusOne, kSandwichNormsPlusOne, kPostNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::hidden_activation,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = {kSoftCaps},
                 .null_attention_cap = 50,
                 .null_output_cap = 30,
                 .window_period = 2,
                 .layers_of_largest = 46,
                 .adds_no_blank = true}},
    {.name = "gemma3",
     .title = "Gemma 3",
     .model_types = kGemma3Types,
     .architectures = kGemma3Classes,
     .gguf = "gemma3",
     .names = {kEnds, kAttention, kFinalNormPlusOne, kSandwichNormsPlusOne, kPostNormsPlusOne, kQkNormsPlusOne, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases,
     .activation_key = ActivationKey::hidden_activation,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = {kSoftCaps},
                 .window_period = 6,
                 .states_window_period = true,
                 .bidirectional = false,
                 .bidirectional_twin = "gemma-embedding",
                 .layers_of_largest = 62,
                 .adds_no_blank = true}},
    // Gemma 3 with bidirectional attention, for embeddings. In config.json it is a gemma3_text with
    // use_bidirectional_attention, so this type occurs only in models that follow llama.cpp's conventions.
    {.name = "gemma-embedding",
     .title = "EmbeddingGemma",
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
                 .keys = {kSoftCaps},
                 .window_period = 6,
                 .states_window_period = true,
                 .bidirectional = true,
                 .bidirectional_twin = "gemma3",
                 .layers_of_largest = 0,
                 .adds_no_blank = true},
     .checked = Checked::by_own_tests},
    {.name = "phi3",
     .title = "Phi 3",
     .model_types = kPhi3Types,
     .architectures = kPhi3Classes,
     .gguf = "phi3",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kFused},
     .biases = kFusedBiases,
     .runtime = {.requires_window = true, .rotates_part = true, .has_original_context = true}},
    {.name = "arcee",
     .title = "Arcee (AFM)",
     .model_types = kArceeTypes,
     .architectures = kArceeClasses,
     .gguf = "arcee",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kUngated, kRopeFactors},
     .own_head_size = true,
     .runtime = {.activation = Activation::relu_squared}},
    {.name = "cohere",
     .title = "Command R",
     .model_types = kCohereTypes,
     .architectures = kCohereClasses,
     .gguf = "command-r",
     .names = {kEndsWithoutHead, kAttention, kFinalNorm, kAttentionNorm, kGated},
     .ties = true,
     .biases = kInnerBiases,
     .runtime = {.keys = {kCohereKeys}, .layer_norm_key = "layer_norm_eps"}},
    {.name = "cohere2",
     .title = "Command R7B, Command A",
     .model_types = kCohere2Types,
     .architectures = kCohere2Classes,
     .gguf = "cohere2",
     .names = {kEndsWithoutHead, kAttention, kFinalNorm, kAttentionNorm, kGated},
     .ties = true,
     .own_head_size = true,
     .runtime = {.keys = {kCohereKeys}, .window_period = 4, .rotates_part = true, .layer_norm_key = "layer_norm_eps"}},
    {.name = "deepseek2",
     .title = "DeepSeek V2, V3, R1, V3.1, Kimi K2, GLM 4.7 Flash",
     .model_types = kDeepSeekTypes,
     .architectures = kDeepSeekClasses,
     .gguf = "deepseek2",
     .names = {kEndsAndNextTokens, kLatentAttention, kFinalNorm, kPreNorms, kQwenExperts, kGateBiasAndSharedExperts,
               kGated},
     .own_head_size = true,
     .variants = kDeepSeekVariants,
     .runtime = {.keys = {kRoutedExpertKeys, kLatentKeys, kDeepSeekKeys},
                 .known = {{{"rope_interleave", true}}},
                 .counts_present_next_layers = true,
                 .has_latent_attention = true,
                 .yarn_log_scale = 0.1}},
    {.name = "ernie4_5",
     .title = "Ernie 4.5",
     .model_types = kErnieTypes,
     .architectures = kErnieClasses,
     .gguf = "ernie4_5",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kGated},
     .ties = true,
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "ernie4_5_moe",
     .title = "Ernie 4.5, mixture of experts",
     .model_types = kErnieMoeTypes,
     .architectures = kErnieMoeClasses,
     .gguf = "ernie4_5-moe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQwenExperts, kStaticsBias, kSharedExperts, kGated},
     .ties = true,
     .biases = kInnerBiases,
     .runtime = {.keys = {kErnieExpertKeys}}},
    {.name = "exaone4",
     .title = "EXAONE 4",
     .model_types = kExaone4Types,
     .architectures = kExaone4Classes,
     .gguf = "exaone4",
     .names = {kEnds, kAttention, kFinalNorm, kPostNorms, kQkNorms, kGated, kRopeFactors},
     .runtime = {.window_period = 4, .lists_windows = true}},
    {.name = "glm4",
     .title = "GLM 4",
     .model_types = kGlm4Types,
     .architectures = kGlm4Classes,
     .gguf = "glm4",
     .names = {kEnds, kAttention, kFinalNorm, kNormsOfGlm, kFusedGate},
     .own_head_size = true,
     .biases = kInnerBiases,
     .runtime = {.rotates_part = true}},
    {.name = "glm4_moe",
     .title = "GLM 4.5, 4.6",
     .model_types = kGlm4MoeTypes,
     .architectures = kGlm4MoeClasses,
     .gguf = "glm4moe",
     .names = {kEndsAndNextTokens, kAttention, kFinalNorm, kPreNormsAfterAttention, kQkNorms, kQwenExperts,
               kGateBiasAndSharedExperts, kGated},
     .own_head_size = true,
     .biases = kInnerBiases,
     .runtime = {.keys = {kRoutedExpertKeys, kGlmExpertKeys}, .rotates_part = true, .counts_next_layers = true}},
    {.name = "granitemoe",
     .title = "Granite 3, mixture of experts",
     .model_types = kGraniteMoeTypes,
     .architectures = kGraniteMoeClasses,
     .gguf = "granitemoe",
     .names = {kEnds, kPairedAttention, kFinalNorm, kPreNorms, kGraniteExperts, kRopeFactors},
     .runtime = {.keys = {kScales, kGraniteExpertKeys}}},
    {.name = "hunyuan_v1_dense",
     .title = "Hunyuan (dense)",
     .model_types = kHunyuanTypes,
     .architectures = kHunyuanClasses,
     .gguf = "hunyuan-dense",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNormsOfHunyuan, kGated},
     .runtime = {.has_alpha_base = true}},
    {.name = "minimax_m2",
     .title = "MiniMax M2",
     .model_types = kMiniMaxTypes,
     .architectures = kMiniMaxClasses,
     .gguf = "minimax-m2",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kMixtral, kMiniMaxBias},
     .own_head_size = true,
     .wide_qk_norms = true,
     .runtime = {.keys = {kMiniMaxKeys}, .rotates_part = true}},
    {.name = "olmoe",
     .title = "OLMoE",
     .model_types = kOlmoeTypes,
     .architectures = kOlmoeClasses,
     .gguf = "olmoe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts},
     .wide_qk_norms = true,
     .runtime = {.keys = {kQwenExpertKeys}, .normalizes_experts = false}},
    {.name = "phi",
     .title = "Phi 1 and 2",
     .model_types = kPhiTypes,
     .architectures = kPhiClasses,
     .gguf = "phi2",
     .names = {kEnds, kPhi2},
     .biases = kAllBiases,
     .runtime = {.activation = Activation::gelu_tanh, .rotates_part = true, .layer_norm_key = "layer_norm_eps"}},
    {.name = "seed_oss",
     .title = "Seed-OSS",
     .model_types = kSeedTypes,
     .architectures = kSeedClasses,
     .gguf = "seed_oss",
     .names = {kEnds, kAttention, kFinalNorm, kPreNormsAfterAttention, kGated},
     .own_head_size = true,
     .biases = kInnerBiases},
    {.name = "stablelm",
     .title = "StableLM",
     .model_types = kStableLmTypes,
     .architectures = kStableLmClasses,
     .gguf = "stablelm",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kGated},
     .biases = kLayerNormBiases,
     .runtime = {.keys = {kParallelKeys}, .rotates_part = true, .layer_norm_key = "layer_norm_eps"}},
    {.name = "starcoder2",
     .title = "StarCoder 2",
     .model_types = kStarCoder2Types,
     .architectures = kStarCoder2Classes,
     .gguf = "starcoder2",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kConvolved},
     .ties = true,
     .biases = kAllBiases,
     .runtime = {.activation = Activation::gelu_tanh, .layer_norm_key = "norm_epsilon"}},
    {.name = "afmoe",
     .title = "AFMoE (Trinity)",
     .model_types = kAfmoeTypes,
     .architectures = kAfmoeClasses,
     .gguf = "afmoe",
     .names = {kEnds, kAttention, kFinalNorm, kNormsOfAfmoe, kQkNorms, kAfmoeExperts, kSharedExperts, kGated},
     .own_head_size = true,
     .runtime = {.keys = {kAfmoeKeys},
                 .window_period = 4,
                 .period_key = "global_attn_every_n_layers",
                 .states_rotated = true,
                 .known = {{{"mup_enabled", true}}}}},
    {.name = "deepseek32",
     .title = "DeepSeek V3.2",
     .model_types = kDeepSeek32Types,
     .architectures = kDeepSeek32Classes,
     .gguf = "deepseek32",
     .names = {kEndsAndNextTokens, kLatentAttention, kIndexer, kFinalNorm, kPreNorms, kQwenExperts,
               kGateBiasAndSharedExperts, kGated},
     .own_head_size = true,
     .biases = kIndexerBiases,
     .runtime = {.keys = {kRoutedExpertKeys, kLatentKeys, kIndexerKeys},
                 .known = {{{"rope_interleave", true}}},
                 .counts_next_layers = true,
                 .has_latent_attention = true,
                 .yarn_log_scale = 0.1}},
    {.name = "dots1",
     .title = "dots.llm1",
     .model_types = kDotsTypes,
     .architectures = kDotsClasses,
     .gguf = "dots1",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts, kGateBiasAndSharedExperts, kGated},
     .runtime = {.keys = {kRoutedExpertKeys, kDotsKeys}, .has_max_window_layers = true}},
    {.name = "exaone_moe",
     .title = "K-EXAONE",
     .model_types = kExaoneMoeTypes,
     .architectures = kExaoneMoeClasses,
     .gguf = "exaone-moe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts, kExaoneBiasAndSharedExperts, kGated},
     .runtime = {.keys = {kExaoneExpertKeys}, .window_period = 4, .lists_windows = true}},
    {.name = "glm_moe_dsa",
     .title = "GLM 5",
     .model_types = kGlmDsaTypes,
     .architectures = kGlmDsaClasses,
     .gguf = "glm-dsa",
     .names = {kEndsAndNextTokens, kLatentAttention, kIndexer, kFinalNorm, kPreNorms, kQwenExperts,
               kGateBiasAndSharedExperts, kGated},
     .own_head_size = true,
     .biases = kIndexerBiases,
     .runtime = {.keys = {kRoutedExpertKeys, kLatentKeys, kIndexerKeys},
                 .counts_next_layers = true,
                 .has_latent_attention = true,
                 .yarn_log_scale = 0.1}},
    {.name = "hunyuan_v1_moe",
     .title = "Hunyuan, mixture of experts",
     .model_types = kHunyuanMoeTypes,
     .architectures = kHunyuanMoeClasses,
     .gguf = "hunyuan-moe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNormsOfHunyuan, kHunyuanExperts},
     .runtime = {.keys = {kHunyuanExpertKeys}, .has_alpha_base = true}},
    {.name = "hy_v3",
     .title = "Hy 3",
     .model_types = kHyTypes,
     .architectures = kHyClasses,
     .gguf = "hy_v3",
     .names = {kEndsOfHy, kAttention, kFinalNorm, kPreNorms, kQkNorms, kHyExperts, kGated},
     .own_head_size = true,
     .runtime = {.keys = {kHyKeys},
                 .leading_plain = 1,
                 .known = {{{"enable_moe_fp32_combine", true}}},
                 .counts_next_layers = true}},
    {.name = "jais2",
     .title = "Jais 2",
     .model_types = kJais2Types,
     .architectures = kJais2Classes,
     .gguf = "jais2",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kUngated},
     .biases = kAllBiases,
     .runtime = {.activation = Activation::relu_squared, .states_rotated = true, .layer_norm_key = "layer_norm_eps"}},
    {.name = "mellum",
     .title = "Mellum 2",
     .model_types = kMellumTypes,
     .architectures = kMellumClasses,
     .gguf = "mellum",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwenExperts},
     .own_head_size = true,
     .runtime = {.keys = {kMixtralKeys}, .normalizes_experts = true, .window_period = 1, .lists_windows = true}},
    {.name = "nemotron",
     .title = "Nemotron, Minitron",
     .model_types = kNemotronTypes,
     .architectures = kNemotronClasses,
     .gguf = "nemotron",
     .names = {kEnds, kAttention, kFinalNormPlusOne, kPreNormsPlusOne, kUngated},
     .biases = kAllBiases,
     .runtime = {.activation = Activation::relu_squared,
                 .keys = {kUnscaled},
                 .rotates_part = true,
                 .layer_norm_key = "norm_eps"}},
    {.name = "phimoe",
     .title = "Phi 3.5, mixture of experts",
     .model_types = kPhiMoeTypes,
     .architectures = kPhiMoeClasses,
     .gguf = "phimoe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kMixtral, kLongRopeFactors},
     .biases = kAllBiases,
     .runtime =
         {.keys = {kGraniteExpertKeys}, .requires_window = true, .states_rotated = true, .has_original_context = true}},
    {.name = "bloom",
     .title = "BLOOM",
     .model_types = kBloomTypes,
     .architectures = kBloomClasses,
     .gguf = "bloom",
     .names = {kSelfAttention, kBloomNorms},
     .root = Root::transformer,
     .ties = true,
     .biases = kFusedAllBiases,
     .runtime = {.activation = Activation::gelu_tanh,
                 .usual_widening = 4,
                 .known = {{{"apply_residual_connection_post_layernorm", false}}},
                 .layer_norm_key = "layer_norm_epsilon"}},
    {.name = "falcon",
     .title = "Falcon",
     .model_types = kFalconTypes,
     .architectures = kFalconClasses,
     .gguf = "falcon",
     .names = {kSelfAttention, kFalconNorms},
     .root = Root::transformer,
     .ties = true,
     .biases = kFalconBiases,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = {kFalconKeys},
                 .usual_widening = 4,
                 .known = {{{"alibi", false}, {"parallel_attn", true}}},
                 .layer_norm_key = "layer_norm_epsilon"}},
    {.name = "gpt2",
     .title = "GPT-2",
     .model_types = kGpt2Types,
     .architectures = kGpt2Classes,
     .gguf = "gpt2",
     .names = {kGptEnds, kGptNorms, kGpt2},
     .root = Root::transformer,
     .ties = true,
     .biases = kFusedAllBiases,
     .runtime = {.activation = Activation::gelu_tanh,
                 .usual_widening = 4,
                 .known = {{{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}}},
                 .layer_norm_key = "layer_norm_epsilon"}},
    {.name = "gpt_bigcode",
     .title = "StarCoder, SantaCoder",
     .model_types = kBigCodeTypes,
     .architectures = kBigCodeClasses,
     .gguf = "starcoder",
     .names = {kGptEnds, kGptNorms, kGptBigCode},
     .root = Root::transformer,
     .ties = true,
     .biases = kFusedAllBiases,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = {kBigCodeKeys},
                 .usual_widening = 4,
                 .known = {{{"scale_attn_weights", true}, {"multi_query", true}}},
                 .layer_norm_key = "layer_norm_epsilon"}},
    {.name = "gpt_neox",
     .title = "GPT-NeoX, Pythia",
     .model_types = kNeoXTypes,
     .architectures = kNeoXClasses,
     .gguf = "gptneox",
     .names = {kGptNeoX},
     .root = Root::gpt_neox,
     .biases = kFusedAllBiases,
     .runtime = {.activation = Activation::gelu_tanh,
                 .keys = {kParallelKeys},
                 .rotates_part = true,
                 .layer_norm_key = "layer_norm_eps"}},
    {.name = "gpt_oss",
     .title = "GPT-OSS",
     .model_types = kGptOssTypes,
     .architectures = kGptOssClasses,
     .gguf = "gpt-oss",
     .names = {kEnds, kAttention, kFinalNorm, kPreNormsAfterAttention, kGptOssExperts},
     .own_head_size = true,
     .biases = kGptOssBiases,
     .runtime = {.keys = {kGptOssKeys},
                 .window_period = 2,
                 .known = {{{"swiglu_alpha", 1.702}, {"swiglu_limit", 7.0}}},
                 .keeps_fractions = true,
                 .unpacked_modules = kGptOssUnpacked}},
    {.name = "llama4",
     .title = "Llama 4",
     .model_types = kLlama4Types,
     .architectures = kLlama4Classes,
     .gguf = "llama4",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kLlama4Experts, kLlama4Gated, kRopeFactors},
     .own_head_size = true,
     .runtime = {.keys = {kLlama4Keys},
                 .rope_skips_every = 4,
                 .states_rotated = true,
                 .plain_size_key = "intermediate_size_mlp",
                 .known = {{{"attention_chunk_size", std::int64_t{8192}},
                            {"attn_temperature_tuning", true},
                            {"floor_scale", std::int64_t{8192}},
                            {"attn_scale", 0.1}}}}},
    {.name = "lfm2",
     .title = "LFM 2",
     .model_types = kLfm2Types,
     .architectures = kLfm2Classes,
     .gguf = "lfm2",
     .names = {kEnds, kLfm2},
     .ties = true,
     .runtime =
         {.keys = {kLfm2Keys}, .no_attention = "conv", .adjusts_width = true, .known = {{{"conv_bias", false}}}}},
    {.name = "lfm2_moe",
     .title = "LFM 2, mixture of experts",
     .model_types = kLfm2MoeTypes,
     .architectures = kLfm2MoeClasses,
     .gguf = "lfm2moe",
     .names = {kEnds, kLfm2Experts, kLfm2},
     .ties = true,
     .runtime = {.keys = {kLfm2Keys, kLfm2ExpertKeys},
                 .normalizes_experts = true,
                 .no_attention = "conv",
                 .known = {{{"conv_bias", false}, {"use_expert_bias", true}, {"routed_scaling_factor", 1.0}}}}},
    {.name = "qwen3_next",
     .title = "Qwen3-Next",
     .model_types = kQwen3NextTypes,
     .architectures = kQwen3NextClasses,
     .gguf = "qwen3next",
     .names = {kQwenNextEnds, kAttention, kFinalNormPlusOne, kNormsOfQwenNext, kQkNormsPlusOne, kQwenNextExperts,
               kQwenNextState, kGated},
     .own_head_size = true,
     .runtime = {.keys = {kQwenExpertKeys, kStateKeys},
                 .normalizes_experts = true,
                 .rotates_part = true,
                 .state = "linear_attention",
                 .gates_queries = true,
                 .next_layers_apart = true}},
    {.name = "qwen3_5",
     .title = "Qwen 3.5 and 3.6",
     .model_types = kQwen35Types,
     .architectures = kQwen35Classes,
     .gguf = "qwen35",
     .names = {kQwenNextEnds, kAttention, kFinalNormPlusOne, kNormsOfQwenNext, kQkNormsPlusOne, kQwen35State, kGated},
     .own_head_size = true,
     .runtime = {.keys = {kStateKeys},
                 .rotates_part = true,
                 .state = "linear_attention",
                 .gates_queries = true,
                 .next_layers_apart = true,
                 .states_sections = true}},
    {.name = "qwen3_5_moe",
     .title = "Qwen 3.5 and 3.6, mixture of experts",
     .model_types = kQwen35MoeTypes,
     .architectures = kQwen35MoeClasses,
     .gguf = "qwen35moe",
     .names = {kQwenNextEnds, kAttention, kFinalNormPlusOne, kNormsOfQwenNext, kQkNormsPlusOne, kQwenNextExperts,
               kQwen35State},
     .own_head_size = true,
     .runtime = {.keys = {kQwenExpertKeys, kStateKeys},
                 .rotates_part = true,
                 .has_only_experts = true,
                 .state = "linear_attention",
                 .gates_queries = true,
                 .next_layers_apart = true,
                 .states_sections = true}},
    {.name = "qwen2_vl",
     .title = "Qwen2-VL, Qwen2.5-VL",
     .model_types = kQwen2VlTypes,
     .architectures = kQwen2VlClasses,
     .gguf = "qwen2vl",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kGated},
     .biases = kQwen2Biases,
     .runtime = {.has_max_window_layers = true,
                 .states_sections = true,
                 .usual_sections = {16, 24, 24, 0},
                 .text_twin = "qwen2"}},
    {.name = "qwen3_vl",
     .title = "Qwen3-VL",
     .model_types = kQwen3VlTypes,
     .architectures = kQwen3VlClasses,
     .gguf = "qwen3vl",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kGated},
     .own_head_size = true,
     .biases = kInnerBiases,
     .runtime =
         {.keys = {kDeepStackKeys}, .states_sections = true, .usual_sections = {24, 20, 20, 0}, .text_twin = "qwen3"}},
    {.name = "qwen3_vl_moe",
     .title = "Qwen3-VL, mixture of experts",
     .model_types = kQwen3VlMoeTypes,
     .architectures = kQwen3VlMoeClasses,
     .gguf = "qwen3vlmoe",
     .names = {kEnds, kAttention, kFinalNorm, kPreNorms, kQkNorms, kQwen3VlExperts, kPlainLayers},
     .biases = kInnerBiases,
     .runtime = {.keys = {kQwenExpertKeys, kDeepStackKeys},
                 .normalizes_experts = true,
                 .states_sections = true,
                 .usual_sections = {24, 20, 20, 0},
                 .text_twin = "qwen3moe"}},
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
