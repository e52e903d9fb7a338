#include "arch/towers.hpp"

#include <algorithm>

#include "arch/patterns.hpp"

namespace tare::arch {
namespace {

using TowerWords = std::string_view[];

// ---- names ----

constexpr Step kFrames[] = {
    {.verb = Verb::part_frames, .role = Role::tower_patches, .other_half = Role::tower_second_patches}};
constexpr Step kThirds[] = {
    {.verb = Verb::part_thirds, .role = Role::tower_q, .other_half = Role::tower_k, .third = Role::tower_v}};

// Both frames of a film have one kernel, and one bias.
constexpr Pattern kQwenPatches[] = {
    {.role = Role::tower_patches, .gguf = "v.patch_embd"},
    {.role = Role::tower_second_patches, .gguf = "v.patch_embd", .gguf_end = ".weight.1"},
    {.role = Role::tower_frames, .hugging_face = "visual.patch_embed.proj", .gguf = "v.patch_embd", .steps = kFrames},
};
constexpr Pattern kQwenLayers[] = {
    {.role = Role::tower_norm, .hugging_face = "visual.blocks.{L}.norm1", .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm, .hugging_face = "visual.blocks.{L}.norm2", .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_o, .hugging_face = "visual.blocks.{L}.attn.proj", .gguf = "v.blk.{L}.attn_out"},
};
constexpr Pattern kQwen3Tower[] = {
    {.role = Role::tower_positions, .hugging_face = "visual.pos_embed", .gguf = "v.position_embd"},
    {.role = Role::tower_qkv, .hugging_face = "visual.blocks.{L}.attn.qkv", .gguf = "v.blk.{L}.attn_qkv"},
    {.role = Role::tower_up, .hugging_face = "visual.blocks.{L}.mlp.linear_fc1", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "visual.blocks.{L}.mlp.linear_fc2", .gguf = "v.blk.{L}.ffn_down"},
    {.role = Role::tower_last_norm, .hugging_face = "visual.merger.norm", .gguf = "v.post_ln"},
    {.role = Role::projector_in, .hugging_face = "visual.merger.linear_fc1", .gguf = "mm.0"},
    {.role = Role::projector_out, .hugging_face = "visual.merger.linear_fc2", .gguf = "mm.2"},
    {.role = Role::tower_tap_norm,
     .hugging_face = "visual.deepstack_merger_list.{L}.norm",
     .gguf = "v.deepstack.{L}.norm"},
    {.role = Role::tower_tap_in,
     .hugging_face = "visual.deepstack_merger_list.{L}.linear_fc1",
     .gguf = "v.deepstack.{L}.fc1"},
    {.role = Role::tower_tap_out,
     .hugging_face = "visual.deepstack_merger_list.{L}.linear_fc2",
     .gguf = "v.deepstack.{L}.fc2"},
};
// Queries, keys and values are apart in GGUF.
constexpr Pattern kQwen2Tower[] = {
    {.role = Role::tower_qkv, .hugging_face = "visual.blocks.{L}.attn.qkv", .steps = kThirds},
    {.role = Role::tower_q, .gguf = "v.blk.{L}.attn_q"},
    {.role = Role::tower_k, .gguf = "v.blk.{L}.attn_k"},
    {.role = Role::tower_v, .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_last_norm, .hugging_face = "visual.merger.ln_q", .gguf = "v.post_ln"},
    {.role = Role::projector_in, .hugging_face = "visual.merger.mlp.0", .gguf = "mm.0"},
    {.role = Role::projector_out, .hugging_face = "visual.merger.mlp.2", .gguf = "mm.2"},
};
constexpr Pattern kQwen2Network[] = {
    {.role = Role::tower_up, .hugging_face = "visual.blocks.{L}.mlp.fc1", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "visual.blocks.{L}.mlp.fc2", .gguf = "v.blk.{L}.ffn_down"},
};
constexpr Pattern kQwen25Network[] = {
    {.role = Role::tower_gate, .hugging_face = "visual.blocks.{L}.mlp.gate_proj", .gguf = "v.blk.{L}.ffn_gate"},
    {.role = Role::tower_up, .hugging_face = "visual.blocks.{L}.mlp.up_proj", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "visual.blocks.{L}.mlp.down_proj", .gguf = "v.blk.{L}.ffn_down"},
};

// SigLIP, as Gemma 3 and SmolVLM have it.
constexpr Pattern kSigLip[] = {
    {.role = Role::tower_patches,
     .hugging_face = "vision_tower.vision_model.embeddings.patch_embedding",
     .gguf = "v.patch_embd"},
    {.role = Role::tower_positions,
     .hugging_face = "vision_tower.vision_model.embeddings.position_embedding",
     .gguf = "v.position_embd"},
    {.role = Role::tower_norm,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.layer_norm1",
     .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.layer_norm2",
     .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_q,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.self_attn.q_proj",
     .gguf = "v.blk.{L}.attn_q"},
    {.role = Role::tower_k,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.self_attn.k_proj",
     .gguf = "v.blk.{L}.attn_k"},
    {.role = Role::tower_v,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.self_attn.v_proj",
     .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_o,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.self_attn.out_proj",
     .gguf = "v.blk.{L}.attn_out"},
    {.role = Role::tower_up,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.mlp.fc1",
     .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down,
     .hugging_face = "vision_tower.vision_model.encoder.layers.{L}.mlp.fc2",
     .gguf = "v.blk.{L}.ffn_down"},
    {.role = Role::tower_last_norm, .hugging_face = "vision_tower.vision_model.post_layernorm", .gguf = "v.post_ln"},
};
constexpr Pattern kSigLipOfSmol[] = {
    {.role = Role::tower_patches, .hugging_face = "vision_model.embeddings.patch_embedding", .gguf = "v.patch_embd"},
    {.role = Role::tower_positions,
     .hugging_face = "vision_model.embeddings.position_embedding",
     .gguf = "v.position_embd"},
    {.role = Role::tower_norm, .hugging_face = "vision_model.encoder.layers.{L}.layer_norm1", .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm,
     .hugging_face = "vision_model.encoder.layers.{L}.layer_norm2",
     .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_q,
     .hugging_face = "vision_model.encoder.layers.{L}.self_attn.q_proj",
     .gguf = "v.blk.{L}.attn_q"},
    {.role = Role::tower_k,
     .hugging_face = "vision_model.encoder.layers.{L}.self_attn.k_proj",
     .gguf = "v.blk.{L}.attn_k"},
    {.role = Role::tower_v,
     .hugging_face = "vision_model.encoder.layers.{L}.self_attn.v_proj",
     .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_o,
     .hugging_face = "vision_model.encoder.layers.{L}.self_attn.out_proj",
     .gguf = "v.blk.{L}.attn_out"},
    {.role = Role::tower_up, .hugging_face = "vision_model.encoder.layers.{L}.mlp.fc1", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "vision_model.encoder.layers.{L}.mlp.fc2", .gguf = "v.blk.{L}.ffn_down"},
    {.role = Role::tower_last_norm, .hugging_face = "vision_model.post_layernorm", .gguf = "v.post_ln"},
};
// As transformers 5 writes it for Gemma 3.
constexpr Pattern kNewSigLip[] = {
    {.role = Role::tower_patches, .hugging_face = "vision_tower.embeddings.patch_embedding", .gguf = "v.patch_embd"},
    {.role = Role::tower_positions,
     .hugging_face = "vision_tower.embeddings.position_embedding",
     .gguf = "v.position_embd"},
    {.role = Role::tower_norm, .hugging_face = "vision_tower.encoder.layers.{L}.layer_norm1", .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm,
     .hugging_face = "vision_tower.encoder.layers.{L}.layer_norm2",
     .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_q,
     .hugging_face = "vision_tower.encoder.layers.{L}.self_attn.q_proj",
     .gguf = "v.blk.{L}.attn_q"},
    {.role = Role::tower_k,
     .hugging_face = "vision_tower.encoder.layers.{L}.self_attn.k_proj",
     .gguf = "v.blk.{L}.attn_k"},
    {.role = Role::tower_v,
     .hugging_face = "vision_tower.encoder.layers.{L}.self_attn.v_proj",
     .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_o,
     .hugging_face = "vision_tower.encoder.layers.{L}.self_attn.out_proj",
     .gguf = "v.blk.{L}.attn_out"},
    {.role = Role::tower_up, .hugging_face = "vision_tower.encoder.layers.{L}.mlp.fc1", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "vision_tower.encoder.layers.{L}.mlp.fc2", .gguf = "v.blk.{L}.ffn_down"},
    {.role = Role::tower_last_norm, .hugging_face = "vision_tower.post_layernorm", .gguf = "v.post_ln"},
};

// Its matrix has one of the roles that are f32: llama.cpp's converter rounds it to f16, because its runtime transposes it.
constexpr Pattern kGemma3Projector[] = {
    {.role = Role::projector_merger,
     .hugging_face = "multi_modal_projector.mm_input_projection_weight",
     .gguf = "mm.input_projection",
     .bare = true},
    {.role = Role::projector_norm,
     .hugging_face = "multi_modal_projector.mm_soft_emb_norm",
     .gguf = "mm.soft_emb_norm",
     .steps = kPlusOne},
};
constexpr Pattern kSmolProjector[] = {
    {.role = Role::projector_in, .hugging_face = "connector.modality_projection.proj", .gguf = "mm.model.fc"},
};

// Pixtral: rotary positions, which GGUF's runtime applies to pairs of neighbours.
constexpr Pattern kPixtral[] = {
    {.role = Role::tower_patches, .hugging_face = "vision_tower.patch_conv", .gguf = "v.patch_embd"},
    {.role = Role::tower_first_norm, .hugging_face = "vision_tower.ln_pre", .gguf = "v.pre_ln"},
    {.role = Role::tower_norm,
     .hugging_face = "vision_tower.transformer.layers.{L}.attention_norm",
     .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm,
     .hugging_face = "vision_tower.transformer.layers.{L}.ffn_norm",
     .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_q,
     .hugging_face = "vision_tower.transformer.layers.{L}.attention.q_proj",
     .gguf = "v.blk.{L}.attn_q",
     .steps = kPairRows},
    {.role = Role::tower_k,
     .hugging_face = "vision_tower.transformer.layers.{L}.attention.k_proj",
     .gguf = "v.blk.{L}.attn_k",
     .steps = kPairRows},
    {.role = Role::tower_v,
     .hugging_face = "vision_tower.transformer.layers.{L}.attention.v_proj",
     .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_o,
     .hugging_face = "vision_tower.transformer.layers.{L}.attention.o_proj",
     .gguf = "v.blk.{L}.attn_out"},
    {.role = Role::tower_gate,
     .hugging_face = "vision_tower.transformer.layers.{L}.feed_forward.gate_proj",
     .gguf = "v.blk.{L}.ffn_gate"},
    {.role = Role::tower_up,
     .hugging_face = "vision_tower.transformer.layers.{L}.feed_forward.up_proj",
     .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down,
     .hugging_face = "vision_tower.transformer.layers.{L}.feed_forward.down_proj",
     .gguf = "v.blk.{L}.ffn_down"},
};
constexpr Pattern kPixtralProjector[] = {
    {.role = Role::projector_in, .hugging_face = "multi_modal_projector.linear_1", .gguf = "mm.1"},
    {.role = Role::projector_out, .hugging_face = "multi_modal_projector.linear_2", .gguf = "mm.2"},
    {.role = Role::projector_norm, .hugging_face = "multi_modal_projector.norm", .gguf = "mm.input_norm"},
    {.role = Role::projector_merger,
     .hugging_face = "multi_modal_projector.patch_merger.merging_layer",
     .gguf = "mm.patch_merger"},
    {.role = Role::tower_line_end, .gguf = "v.token_embd.img_break", .gguf_end = ""},
};

// InternVL, as its own program names it.
constexpr Pattern kInternVl[] = {
    {.role = Role::tower_class,
     .hugging_face = "vision_model.embeddings.class_embedding",
     .gguf = "v.class_embd",
     .bare = true,
     .gguf_end = ""},
    {.role = Role::tower_patches, .hugging_face = "vision_model.embeddings.patch_embedding", .gguf = "v.patch_embd"},
    {.role = Role::tower_positions,
     .hugging_face = "vision_model.embeddings.position_embedding",
     .gguf = "v.position_embd",
     .bare = true},
    {.role = Role::tower_norm, .hugging_face = "vision_model.encoder.layers.{L}.norm1", .gguf = "v.blk.{L}.ln1"},
    {.role = Role::tower_ffn_norm, .hugging_face = "vision_model.encoder.layers.{L}.norm2", .gguf = "v.blk.{L}.ln2"},
    {.role = Role::tower_qkv, .hugging_face = "vision_model.encoder.layers.{L}.attn.qkv", .steps = kThirds},
    {.role = Role::tower_q, .gguf = "v.blk.{L}.attn_q"},
    {.role = Role::tower_k, .gguf = "v.blk.{L}.attn_k"},
    {.role = Role::tower_v, .gguf = "v.blk.{L}.attn_v"},
    {.role = Role::tower_q_norm,
     .hugging_face = "vision_model.encoder.layers.{L}.attn.q_norm",
     .gguf = "v.blk.{L}.attn_q_norm"},
    {.role = Role::tower_k_norm,
     .hugging_face = "vision_model.encoder.layers.{L}.attn.k_norm",
     .gguf = "v.blk.{L}.attn_k_norm"},
    {.role = Role::tower_o, .hugging_face = "vision_model.encoder.layers.{L}.attn.proj", .gguf = "v.blk.{L}.attn_out"},
    {.role = Role::tower_up, .hugging_face = "vision_model.encoder.layers.{L}.mlp.fc1", .gguf = "v.blk.{L}.ffn_up"},
    {.role = Role::tower_down, .hugging_face = "vision_model.encoder.layers.{L}.mlp.fc2", .gguf = "v.blk.{L}.ffn_down"},
    {.role = Role::tower_scale,
     .hugging_face = "vision_model.encoder.layers.{L}.ls1",
     .gguf = "v.blk.{L}.ls1",
     .bare = true},
    {.role = Role::tower_ffn_scale,
     .hugging_face = "vision_model.encoder.layers.{L}.ls2",
     .gguf = "v.blk.{L}.ls2",
     .bare = true},
    {.role = Role::projector_norm, .hugging_face = "mlp1.0", .gguf = "mm.model.mlp.0"},
    {.role = Role::projector_in, .hugging_face = "mlp1.1", .gguf = "mm.model.mlp.1"},
    {.role = Role::projector_out, .hugging_face = "mlp1.3", .gguf = "mm.model.mlp.3"},
};

constexpr Role kTowerBiases[] = {
    Role::tower_patches,  Role::tower_frames,  Role::tower_first_norm, Role::tower_last_norm, Role::tower_norm,
    Role::tower_ffn_norm, Role::tower_q,       Role::tower_k,          Role::tower_v,         Role::tower_qkv,
    Role::tower_o,        Role::tower_gate,    Role::tower_up,         Role::tower_down,      Role::tower_tap_norm,
    Role::tower_tap_in,   Role::tower_tap_out, Role::projector_norm,   Role::projector_in,    Role::projector_out};

// ---- keys ----

// What every tower has.
constexpr TowerKey kSizes[] = {
    {.key = "has_vision_encoder", .form = TowerForm::always},
    {.key = "vision.projection_dim", .from = {"text_config.hidden_size", "llm_config.hidden_size", "hidden_size"}},
    {.key = "vision.patch_size", .from = {"vision_config.patch_size"}},
    {.key = "vision.embedding_length", .from = {"vision_config.embed_dim", "vision_config.hidden_size"}},
    {.key = "vision.block_count", .from = {"vision_config.num_hidden_layers", "vision_config.depth"}},
    {.key = "vision.attention.head_count", .from = {"vision_config.num_attention_heads", "vision_config.num_heads"}},
};
constexpr std::string_view kImageSize = "vision.image_size", kNetworkSize = "vision.feed_forward_length",
                           kEpsilon = "vision.attention.layer_norm_epsilon";
constexpr TowerKey kUsualNetwork{.key = kNetworkSize, .from = {"vision_config.intermediate_size"}},
    kUsualImage{.key = kImageSize, .from = {"vision_config.image_size"}},
    kMerge{.key = "vision.spatial_merge_size", .from = {"vision_config.spatial_merge_size"}},
    kGelu{.key = "use_gelu", .form = TowerForm::always}, kSilu{.key = "use_silu", .form = TowerForm::always},
    kEpsilonOfText{.key = kEpsilon,
                   .from = {"text_config.rms_norm_eps", "rms_norm_eps"},
                   .form = TowerForm::real,
                   .otherwise = 1e-6};

constexpr TowerKey kQwen3Keys[] = {
    kUsualNetwork,
    kGelu,
    kMerge,
    kEpsilonOfText,
    {.key = kImageSize, .from = {"vision_config.num_position_embeddings"}, .form = TowerForm::side, .otherwise = 2304},
    {.key = "vision.is_deepstack_layers", .from = {"vision_config.deepstack_visual_indexes"}, .form = TowerForm::taps},
};
constexpr TowerKey kQwen25Keys[] = {
    kUsualNetwork,
    kSilu,
    // The class has this constant, which old files state for the language model, too.
    {.key = kEpsilon, .from = {"rms_norm_eps"}, .form = TowerForm::real, .otherwise = 1e-6},
    {.key = kImageSize, .from = {"vision_config.image_size"}, .otherwise = 560},
    {.key = "vision.n_wa_pattern", .from = {"vision_config.fullatt_block_indexes"}, .form = TowerForm::windows},
};
constexpr TowerKey kQwen2Keys[] = {
    // Its vision_config calls the size of the language model hidden_size, and the converter takes that.
    {.key = kNetworkSize, .from = {"vision_config.hidden_size"}},
    kQwen25Keys[2],
    kQwen25Keys[3],
};
constexpr TowerKey kGemma3Keys[] = {
    kUsualNetwork,
    kUsualImage,
    kGelu,
    {.key = kEpsilon, .from = {"vision_config.layer_norm_eps"}, .form = TowerForm::real, .otherwise = 1e-6},
    {.key = "vision.projector.scale_factor",
     .from = {"image_seq_length", "image_processor.image_seq_length"},
     .form = TowerForm::pooled,
     .otherwise = 4},
};
constexpr TowerKey kSmolKeys[] = {
    kUsualNetwork,
    kUsualImage,
    kGelu,
    {.key = kEpsilon, .from = {"vision_config.layer_norm_eps"}, .form = TowerForm::real, .otherwise = 1e-5},
    {.key = "vision.projector.scale_factor", .from = {"scale_factor"}, .otherwise = 2},
    {.key = "vision.preproc_image_size", .from = {"size.longest_edge", "vision_config.image_size"}},
};
constexpr TowerKey kPixtralKeys[] = {
    kUsualNetwork,
    kUsualImage,
    // The class has this constant.
    {.key = kEpsilon, .from = {"vision_config.layer_norm_eps"}, .form = TowerForm::real, .otherwise = 1e-5},
    {.key = "use_silu", .from = {"vision_config.hidden_act"}, .form = TowerForm::activation, .text = "silu"},
    {.key = "use_gelu", .from = {"vision_config.hidden_act"}, .form = TowerForm::activation, .text = "gelu"},
    {.key = "vision.spatial_merge_size", .from = {"spatial_merge_size"}, .form = TowerForm::optional_count},
};
constexpr TowerKey kInternVlKeys[] = {
    kUsualNetwork,
    kUsualImage,
    {.key = kEpsilon, .from = {"vision_config.layer_norm_eps"}, .form = TowerForm::real},
    kPixtralKeys[3],
    kPixtralKeys[4],
    {.key = "vision.projector.scale_factor", .from = {"downsample_ratio"}, .form = TowerForm::ratio},
    {.key = "vision.preproc_min_tiles", .from = {"min_dynamic_patch"}, .form = TowerForm::optional_count},
    {.key = "vision.preproc_max_tiles", .from = {"max_dynamic_patch"}, .form = TowerForm::optional_count},
};

// ---- rows ----

constexpr TowerWords kQwen2Vl = {"qwen2_vl"}, kQwen25Vl = {"qwen2_5_vl"},
                     kQwen3Vl = {"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}, kGemma3Vision = {"gemma3"},
                     kPixtralModels = {"mistral3", "llava"}, kSmolModels = {"smolvlm", "idefics3"},
                     kInternModels = {"internvl_chat"}, kLlama4Vision = {"llama4"};
constexpr TowerWords kVisual = {"visual."}, kVisionTower = {"vision_tower.", "multi_modal_projector."},
                     kVisionModel = {"vision_model.", "multi_modal_projector."},
                     kSmolTower = {"vision_model.", "connector."}, kInternTower = {"vision_model.", "mlp1."};

constexpr std::string_view kNewGemmas[] = {"gemma3n", "gemma4"},
                           kTowersOfGemma[] = {"vision_tower.", "audio_tower.", "embed_vision.", "embed_audio."};

constexpr Tower kTowers[] = {
    {.model_types = kQwen2Vl,
     .prefixes = kVisual,
     .title = "Qwen2-VL",
     .projector = "qwen2vl_merger",
     .form = {.name = "qwen2_vl",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kQwenPatches, kQwenLayers, kQwen2Tower, kQwen2Network},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kQwen2Keys}},
    {.model_types = kQwen25Vl,
     .prefixes = kVisual,
     .title = "Qwen2.5-VL",
     .projector = "qwen2.5vl_merger",
     .form = {.name = "qwen2_5_vl",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kQwenPatches, kQwenLayers, kQwen2Tower, kQwen25Network},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kQwen25Keys}},
    {.model_types = kQwen3Vl,
     .prefixes = kVisual,
     .title = "Qwen3-VL, Qwen 3.5 and 3.6",
     .projector = "qwen3vl_merger",
     .form = {.name = "qwen3_vl",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kQwenPatches, kQwenLayers, kQwen3Tower},
              .root = Root::model,
              .biases = kTowerBiases},
     .keys = {kSizes, kQwen3Keys},
     .taps = "vision_config.deepstack_visual_indexes",
     .taps_before = "visual.deepstack_merger_list."},
    {.model_types = kGemma3Vision,
     .prefixes = kVisionTower,
     .title = "Gemma 3",
     .projector = "gemma3",
     .form = {.name = "gemma3",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kSigLip, kGemma3Projector},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kGemma3Keys}},
    {.model_types = kGemma3Vision,
     .prefixes = kVisionTower,
     .title = "Gemma 3",
     .projector = "gemma3",
     .form = {.name = "gemma3 of transformers 5",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kNewSigLip, kGemma3Projector},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kGemma3Keys}},
    {.model_types = kPixtralModels,
     .prefixes = kVisionTower,
     .title = "Pixtral, Mistral Small 3.1, Ministral 3",
     .projector = "pixtral",
     .form = {.name = "pixtral",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kPixtral, kPixtralProjector},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kPixtralKeys},
     .vision_type = "pixtral",
     .line_end = "[IMG_BREAK]"},
    {.model_types = kSmolModels,
     .prefixes = kSmolTower,
     .title = "SmolVLM, Idefics 3",
     .projector = "idefics3",
     .form = {.name = "smolvlm",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kSigLipOfSmol, kSmolProjector},
              .root = Root::model,
              .biases = kTowerBiases},
     .keys = {kSizes, kSmolKeys}},
    {.model_types = kInternModels,
     .prefixes = kInternTower,
     .title = "InternVL 2 and 3",
     .projector = "internvl",
     .form = {.name = "internvl_chat",
              .model_types = {},
              .architectures = {},
              .gguf = kTowerArchitecture,
              .names = {kInternVl},
              .root = Root::bare,
              .biases = kTowerBiases},
     .keys = {kSizes, kInternVlKeys}},
    // llama.cpp reads it; its tower is not converted here.
    {.model_types = kLlama4Vision, .prefixes = kVisionModel, .title = "Llama 4"},
    {.model_types = kNewGemmas, .prefixes = kTowersOfGemma, .title = "Gemma 3n and 4"},
};

}  // namespace

std::span<const Tower> towers() { return kTowers; }

bool is_tower_of(const Tower& tower, std::string_view model_type) {
  return std::ranges::find(tower.model_types, model_type) != tower.model_types.end();
}

const Tower* find_tower(std::string_view model_type) {
  const auto* const found =
      std::ranges::find_if(kTowers, [&](const Tower& tower) { return is_tower_of(tower, model_type); });
  return found == std::end(kTowers) ? nullptr : found;
}

bool is_of_tower(const Tower& tower, std::string_view name) {
  constexpr std::string_view kModel = "model.";
  if (name.starts_with(kModel)) name.remove_prefix(kModel.size());
  return std::ranges::any_of(tower.prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace tare::arch
