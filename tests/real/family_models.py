"""Tiny models with random weights and random sizes, one maker for each family that Tare converts.

A row is the class of the configuration and a function from dice to its settings; `further` are keys that Tare writes and llama.cpp's
converter does not, `implied` those that only the converter writes, because llama.cpp computes the same without them. `copies` are tensors
that llama.cpp's loader requires and its converter leaves out where the head is the token table. `class`: what a file of the converter's
becomes, where GGUF has one architecture for several classes; `converter`: what the converter calls the class; `older`: keys that the
converter reads and today's transformers do not write. `packed`: the experts are in MXFP4. `mtp`: a layer that
predicts further tokens has names of its own.
"""
LAYERS = (1, 2, 3, 5)
DEFAULT_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 20, "beta_fast": 32, "beta_slow": 1,
        "mscale": 1.0, "mscale_all_dim": 1.0}
EXACT_YARN = {key: value for key, value in YARN.items() if "mscale" not in key} | {"truncate": False}
# The only context that llama.cpp's converter takes with it.
ALPHA = {"max_position_embeddings": 32768, "rope_parameters": DEFAULT_ROPE | {"rope_type": "dynamic", "alpha": 1000.0, "factor": 1.0}}


# What Tare writes for encoders, and what an encoder from llama.cpp's file lacks.
ENCODER = ("attention.layer_norm_rms_epsilon",)
POOLER = ("pooler.dense.weight", "pooler.dense.bias")
# What the files of models without experts do not have.
EXPERT_KEYS = ("num_experts_per_tok", "n_routed_experts", "n_shared_experts", "moe_intermediate_size", "moe_latent_size", "moe_shared_expert_intermediate_size",
               "routed_scaling_factor", "n_group", "topk_group", "norm_topk_prob")
# Newer words of transformers, and those that the files of the models have.
HYBRID_WORDS = {'"linear_attention"': '"mamba"', '"full_attention"': '"attention"'}


def usual(dice, **settings):
    """The sizes that nearly all families have: odd ones, and heads that do not divide the hidden size."""
    keys, head = dice.choice((1, 2, 3)), dice.choice((6, 10, 16))
    heads = keys * dice.choice((1, 2, 3))
    return {"vocab_size": dice.choice((61, 97, 130)), "hidden_size": 2 * heads * dice.choice((5, 9, 12)), "intermediate_size": dice.choice((33, 48, 70)),
            "num_hidden_layers": dice.choice(LAYERS), "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": head,
            "max_position_embeddings": dice.choice((48, 80)), "tie_word_embeddings": dice.random() < 0.5, "pad_token_id": 0,
            "bos_token_id": 1, "eos_token_id": 2} | settings


def without_head(dice, **settings):
    """The same for families whose heads divide the hidden size."""
    found = usual(dice, **settings)
    del found["head_dim"]
    return found


def even_heads(dice, **settings):
    """Heads of 16 elements that fill the hidden size, for families that rotate a part of each."""
    found = usual(dice, head_dim=16)
    found["hidden_size"] = 16 * found["num_attention_heads"]
    found |= settings
    return {key: value for key, value in found.items() if value is not None}


def phi(dice):
    found = even_heads(dice, head_dim=None, rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
                       tie_word_embeddings=False)
    # llama.cpp's converter knows no others.
    return found | {"intermediate_size": 4 * found["hidden_size"], "num_key_value_heads": found["num_attention_heads"]}


def latent(dice, **settings):
    """DeepSeek's attention."""
    found = usual(dice, num_hidden_layers=dice.choice((2, 3)), kv_lora_rank=dice.choice((10, 22)), qk_rope_head_dim=dice.choice((4, 8)),
                  qk_nope_head_dim=dice.choice((6, 11)), v_head_dim=dice.choice((9, 12)), n_routed_experts=4, num_experts_per_tok=2,
                  n_shared_experts=dice.choice((1, 2)), moe_intermediate_size=18, routed_scaling_factor=2.5)
    del found["head_dim"]
    return found | {"num_key_value_heads": found["num_attention_heads"]} | settings


def minimax(dice):
    return usual(dice, num_local_experts=dice.choice((4, 6)), num_experts_per_tok=2, head_dim=16, rotary_dim=8, scoring_func="sigmoid")


def experts(dice, **settings):
    count = dice.choice((3, 4, 6))
    return {"num_experts": count, "num_experts_per_tok": dice.choice((1, 2)), "moe_intermediate_size": dice.choice((17, 24))} | settings


def sparse(dice, **settings):
    """The same, and what chooses the tokens that a token looks at."""
    return latent(dice, q_lora_rank=14, qk_nope_head_dim=dice.choice((6, 10)), index_topk=8, index_head_dim=16, index_n_heads=dice.choice((2, 3)),
                  norm_topk_prob=True) | settings


def hunyuan_moe(dice):
    found = usual(dice, num_experts=dice.choice((3, 4)))
    # llama.cpp's converter wants a number for each layer.
    each = [1] * found["num_hidden_layers"]
    return found | {"moe_topk": [2 for _ in each], "num_shared_expert": each, "moe_intermediate_size": [found["intermediate_size"] for _ in each]}


def states(dice, **settings):
    """A state in place of attention in some layers. Its heads of values are in groups, or as many as those of keys."""
    found = usual(dice, head_dim=16, num_hidden_layers=dice.choice((3, 4, 6)))
    keys = dice.choice((1, 2, 3))
    kinds = [dice.choice(("linear_attention", "full_attention")) for _ in range(found["num_hidden_layers"])]
    kinds[:2] = ["linear_attention", "full_attention"]
    return found | {"layer_types": kinds, "linear_num_key_heads": keys, "linear_num_value_heads": keys * dice.choice((1, 2, 3)),
                    "linear_key_head_dim": dice.choice((6, 8)), "linear_value_head_dim": dice.choice((4, 10)),
                    "linear_conv_kernel_dim": dice.choice((3, 4))} | settings


def without_size(found):
    return {key: value for key, value in found.items() if key != "intermediate_size"}


def mellum(dice):
    found = usual(dice, **experts(dice), sliding_window=16, num_hidden_layers=dice.choice((4, 5)), norm_topk_prob=True)
    found["layer_types"] = ["full_attention" if layer % 4 == 3 else "sliding_attention" for layer in range(found["num_hidden_layers"])]
    return found


def lfm2(dice, **settings):
    found = without_head(dice, **settings)
    found["hidden_size"] *= 2
    kinds = [dice.choice(("conv", "full_attention")) for _ in range(max(found["num_hidden_layers"], 3))]
    return found | {"layer_types": ["conv", "full_attention", *kinds[2:]], "num_hidden_layers": len(kinds), "conv_L_cache": dice.choice((3, 4)),
                    "tie_word_embeddings": True}


def older(dice, **settings):
    """Sizes of the families before Llama: as many heads of keys as of queries, and networks of four times the hidden size."""
    heads = dice.choice((2, 3, 5))
    return {"vocab_size": dice.choice((61, 97, 130)), "hidden_size": heads * dice.choice((6, 10, 16)), "num_hidden_layers": dice.choice(LAYERS),
            "num_attention_heads": heads, "tie_word_embeddings": dice.random() < 0.5, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2} | settings


def gpt(dice):
    return older(dice, max_position_embeddings=64, n_ctx=64)


def falcon(dice):
    keys = dice.choice((1, 2, 3))
    heads = keys * dice.choice((1, 2, 3))
    grouped = keys > 1
    return older(dice, num_attention_heads=heads, hidden_size=16 * heads, num_kv_heads=keys, new_decoder_architecture=grouped,
                 num_ln_in_parallel_attn=dice.choice((1, 2)) if grouped else None)


def neox(dice):
    found = older(dice, max_position_embeddings=64, intermediate_size=dice.choice((33, 48)), use_parallel_residual=dice.random() < 0.5,
                  tie_word_embeddings=False)
    return found | {"hidden_size": 16 * found["num_attention_heads"]}


def bert(dice, **settings):
    found = usual(dice, max_position_embeddings=dice.choice((48, 57)), type_vocab_size=dice.choice((1, 2, 3)), **settings)
    del found["head_dim"], found["num_key_value_heads"]
    return found


def modern_bert(dice):
    found = without_head(dice, num_hidden_layers=dice.choice((3, 4, 7)), local_attention=dice.choice((8, 16)), cls_token_id=1, sep_token_id=2)
    found["hidden_size"] *= 2
    del found["num_key_value_heads"]
    return found


def mamba(dice):
    return {"vocab_size": dice.choice((61, 97)), "hidden_size": dice.choice((22, 24, 34)), "num_hidden_layers": dice.choice(LAYERS),
            "state_size": dice.choice((3, 5, 8)), "conv_kernel": dice.choice((3, 4)), "tie_word_embeddings": dice.random() < 0.5,
            "time_step_rank": dice.choice((2, 3, "auto"))}


def mamba2(dice):
    heads, size, groups = dice.choice((2, 3, 5)), dice.choice((4, 6)), dice.choice((1, 2))
    return {"vocab_size": dice.choice((61, 97)), "hidden_size": heads * size * groups // 2, "expand": 2, "num_heads": heads * groups, "head_dim": size,
            "n_groups": groups, "num_hidden_layers": dice.choice(LAYERS), "state_size": dice.choice((3, 5, 8)), "conv_kernel": dice.choice((3, 4)),
            "tie_word_embeddings": dice.random() < 0.5}


def granite_hybrid(dice, **settings):
    groups = dice.choice((1, 2))
    found = without_head(dice, num_hidden_layers=dice.choice((3, 4, 6)), num_experts_per_tok=2, shared_intermediate_size=dice.choice((20, 27)),
                         embedding_multiplier=12.0, logits_scaling=3.0, attention_multiplier=0.25, residual_multiplier=0.5,
                         mamba_n_groups=groups, mamba_d_state=dice.choice((3, 5)), mamba_d_conv=dice.choice((3, 4)), mamba_expand=2, **settings)
    # llama.cpp's converter wants what the states keep to be a multiple of 64.
    heads = dice.choice((2, 4)) * groups
    found |= {"hidden_size": 32 * found["num_attention_heads"] * groups}
    found |= {"mamba_n_heads": heads, "mamba_d_head": 2 * found["hidden_size"] // heads}
    kinds = [dice.choice(("linear_attention", "full_attention")) for _ in range(found["num_hidden_layers"])]
    kinds[:2] = ["linear_attention", "full_attention"]
    return found | {"layer_types": kinds}


def nemotron_h(dice, *kinds):
    """A state, attention, and `kinds` in any order."""
    groups = dice.choice((1, 2))
    found = usual(dice, head_dim=16, n_groups=groups, mamba_num_heads=groups * dice.choice((2, 4)), mamba_head_dim=32, ssm_state_size=dice.choice((3, 5)),
                  conv_kernel=dice.choice((3, 4)), n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=18,
                  moe_shared_expert_intermediate_size=20, routed_scaling_factor=2.5, moe_latent_size=dice.choice((None, 14)))
    del found["num_hidden_layers"]
    layers = ["linear_attention", "full_attention", *kinds]
    return found | {"layers_block_type": layers + [dice.choice(layers) for _ in range(dice.choice((0, 1, 3)))]}


def two_kinds(dice, layers, kinds=2):
    """Layers with a window and without one: each last of `kinds`, and the last."""
    return ["full_attention" if layer % kinds == kinds - 1 or layer == layers - 1 else "sliding_attention" for layer in range(layers)]


def gemma3n(dice):
    layers = dice.choice((4, 5, 6))
    types = two_kinds(dice, layers)
    found = usual(dice, num_hidden_layers=layers, layer_types=types, sliding_window=16, hidden_size_per_layer_input=dice.choice((6, 8)),
                  laurel_rank=dice.choice((4, 7)), num_kv_shared_layers=dice.choice((0, layers - 2)), tie_word_embeddings=True,
                  activation_sparsity_pattern=[dice.choice((0.95, 0.0)) for _ in range(layers)])
    return found | {"vocab_size_per_layer_input": found["vocab_size"] - dice.choice((0, 5)), "intermediate_size": [found["intermediate_size"]] * layers}


def gemma4(dice, **settings):
    layers = dice.choice((4, 5, 6))
    # Each layer that shares keys needs one of its kind before it.
    found = usual(dice, num_hidden_layers=layers, layer_types=two_kinds(dice, layers), sliding_window=16, head_dim=16, global_head_dim=dice.choice((24, 32)),
                  tie_word_embeddings=True, final_logit_softcapping=dice.choice((None, 30.0)))
    return found | {"vocab_size_per_layer_input": found["vocab_size"]} | settings


def t5(dice, **settings):
    layers = dice.choice((2, 3, 4))
    return {"vocab_size": dice.choice((61, 97)), "d_model": dice.choice((22, 30)), "d_kv": dice.choice((6, 8)), "d_ff": dice.choice((33, 40)),
            "num_layers": layers, "num_heads": dice.choice((2, 3)), "relative_attention_num_buckets": 8, "pad_token_id": 0, "eos_token_id": 1,
            "decoder_start_token_id": 0, "feed_forward_proj": dice.choice(("relu", "gated-gelu")), "num_decoder_layers": dice.choice((layers, layers - 1))} | settings


def classes(dice, count):
    return {"id2label": {number: f"class {number}" for number in range(count)}, "label2id": {f"class {number}": number for number in range(count)}}


FAMILIES = {
    "llama": {"config": "LlamaConfig", "settings": lambda d: usual(d, attention_bias=d.random() < 0.5, mlp_bias=d.random() < 0.5)},
    "mistral": {"config": "MistralConfig", "settings": lambda d: usual(d, sliding_window=None), "class": "LlamaForCausalLM"},
    "mixtral": {"config": "MixtralConfig", "settings": lambda d: usual(d, num_local_experts=d.choice((3, 4)), sliding_window=None)},
    "smollm3": {"config": "SmolLM3Config", "settings": without_head},
    "granite": {"config": "GraniteConfig", "settings": lambda d: without_head(d, embedding_multiplier=d.choice((2.0, 12.0)), logits_scaling=3.0,
                                                                             attention_multiplier=0.25, residual_multiplier=0.5)},
    "olmo": {"config": "OlmoConfig", "further": ("attention.layer_norm_rms_epsilon", "rope.dimension_count"), "settings": lambda d: without_head(d, clip_qkv=d.choice((None, 8.0)))},
    "olmo2": {"config": "Olmo2Config", "copies": ("output.weight",), "settings": without_head},
    "olmo3": {"layers": 4, "config": "Olmo3Config", "copies": ("output.weight",), "settings": lambda d: without_head(d, num_hidden_layers=5, sliding_window=16)},
    "qwen2": {"config": "Qwen2Config", "settings": without_head},
    "qwen2_moe": {"config": "Qwen2MoeConfig", "copies": ("output.weight",), "settings": lambda d: without_head(d, **experts(d, shared_expert_intermediate_size=28))},
    "qwen3": {"config": "Qwen3Config", "settings": usual},
    "qwen3_moe": {"config": "Qwen3MoeConfig", "settings": lambda d: usual(d, **experts(d, norm_topk_prob=True))},
    "gemma": {"config": "GemmaConfig", "settings": lambda d: usual(d, tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh")},
    "gemma2": {"config": "Gemma2Config", "settings": lambda d: usual(d, tie_word_embeddings=True, head_dim=16, query_pre_attn_scalar=16)},
    "gemma3": {"config": "Gemma3TextConfig", "settings": lambda d: usual(d, head_dim=16, query_pre_attn_scalar=16, num_hidden_layers=7, sliding_window=12)},
    "phi3": {"config": "Phi3Config", "settings": without_head},
    "arcee": {"config": "ArceeConfig", "settings": lambda d: usual(d, attention_bias=False)},
    "cohere": {"further": ("attention.layer_norm_rms_epsilon",), "config": "CohereConfig", "settings": lambda d: without_head(d, tie_word_embeddings=True, logit_scale=0.25)},
    "cohere2": {"layers": 4, "further": ("attention.layer_norm_rms_epsilon",), "config": "Cohere2Config", "settings": lambda d: even_heads(d, tie_word_embeddings=True, logit_scale=0.25, rotary_pct=1.0, sliding_window=16,
                                                                           num_hidden_layers=d.choice((4, 5, 8)))},
    "deepseek_v2": {"config": "DeepseekV2Config", "further": ("expert_weights_norm",),
                    # Its class cannot take apart heads with an odd part.
                    "settings": lambda d: latent(d, q_lora_rank=d.choice((None, 14)), qk_nope_head_dim=d.choice((6, 10)), first_k_dense_replace=d.choice((0, 1)))},
    "deepseek_v3": {"config": "DeepseekV3Config", "further": ("expert_weights_norm",),
                    "settings": lambda d: latent(d, q_lora_rank=14, first_k_dense_replace=1, n_group=2, topk_group=1, norm_topk_prob=True,
                                                 rope_parameters=d.choice((DEFAULT_ROPE, YARN)))},
    "ernie4_5": {"config": "Ernie4_5Config", "settings": usual},
    "ernie4_5_moe": {"config": "Ernie4_5_MoeConfig", "settings": lambda d: without_head(d, moe_num_experts=d.choice((3, 5)), moe_k=2, moe_intermediate_size=18,
                                                                                       moe_num_shared_experts=d.choice((1, 2)), moe_layer_start_index=1,
                                                                                       num_hidden_layers=d.choice((2, 3, 4)))},
    "exaone4": {"layers": 4, "config": "Exaone4Config", "settings": lambda d: without_head(d, num_hidden_layers=d.choice((4, 5, 9)), sliding_window=16)},
    "glm4": {"config": "Glm4Config", "settings": lambda d: usual(d, head_dim=d.choice((8, 12, 16)), attention_bias=d.random() < 0.7)},
    "glm4_moe": {"has_next_layer": True, "config": "Glm4MoeConfig", "settings": lambda d: usual(d, head_dim=d.choice((8, 12, 16)), attention_bias=d.random() < 0.5,
                                                                       use_qk_norm=d.random() < 0.5, n_routed_experts=d.choice((4, 6)), num_experts_per_tok=2,
                                                                       moe_intermediate_size=18, first_k_dense_replace=1, num_hidden_layers=d.choice((2, 3)),
                                                                       num_nextn_predict_layers=d.choice((0, 1)), routed_scaling_factor=2.5)},
    "granitemoe": {"config": "GraniteMoeConfig", "settings": lambda d: without_head(d, num_local_experts=d.choice((3, 5)), embedding_multiplier=12.0,
                                                                                   logits_scaling=3.0, attention_multiplier=0.25, residual_multiplier=0.5)},
    "hunyuan_v1_dense": {"config": "HunYuanDenseV1Config", "settings": lambda d: usual(d, **d.choice(({}, ALPHA)))},
    "minimax_m2": {"config": "MiniMaxM2Config", "settings": lambda d: minimax(d)},
    "olmoe": {"config": "OlmoeConfig", "settings": lambda d: without_head(d, num_experts=d.choice((3, 5)), num_experts_per_tok=2)},
    "phi": {"further": ("attention.layer_norm_rms_epsilon",), "config": "PhiConfig", "settings": lambda d: phi(d)},
    "seed_oss": {"config": "SeedOssConfig", "settings": usual},
    "stablelm": {"further": ("attention.layer_norm_rms_epsilon",), "config": "StableLmConfig", "settings": lambda d: even_heads(d, use_qkv_bias=d.random() < 0.5, head_dim=None,
                                                                             rope_parameters={"rope_type": "default", "rope_theta": 10000.0,
                                                                                              "partial_rotary_factor": 0.25})},
    "starcoder2": {"further": ("attention.layer_norm_rms_epsilon",), "config": "Starcoder2Config", "settings": lambda d: without_head(d, use_bias=True, hidden_act="gelu_pytorch_tanh")},
    "afmoe": {"layers": 4, "config": "AfmoeConfig", "settings": lambda d: usual(d, **experts(d), num_hidden_layers=d.choice((2, 4, 5)), num_dense_layers=1,
                                                                               num_shared_experts=d.choice((1, 2)), sliding_window=16, mup_enabled=True, route_scale=2.5)},
    "deepseek_v32": {"has_next_layer": True, "config": "DeepseekV32Config", "further": ("expert_weights_norm",), "settings": lambda d: sparse(d, first_k_dense_replace=1, n_group=2, topk_group=1,
                                                                                       rope_parameters=d.choice((DEFAULT_ROPE, YARN)))},
    "dots1": {"config": "Dots1Config", "settings": lambda d: without_head(d, n_routed_experts=d.choice((4, 6)), num_experts_per_tok=2, n_shared_experts=d.choice((1, 2)),
                                                                        moe_intermediate_size=18, first_k_dense_replace=1, num_hidden_layers=d.choice((2, 3)),
                                                                        sliding_window=None, routed_scaling_factor=2.5, norm_topk_prob=d.random() < 0.5)},
    "exaone_moe": {"layers": 4, "config": "ExaoneMoeConfig", "settings": lambda d: without_head(d, **experts(d), num_hidden_layers=d.choice((4, 5)), sliding_window=16,
                                                                                             num_shared_experts=d.choice((1, 2)), first_k_dense_replace=1)},
    "glm_moe_dsa": {"has_next_layer": True, "config": "GlmMoeDsaConfig", "further": ("expert_weights_norm",), "settings": lambda d: sparse(d, first_k_dense_replace=1)},
    "hunyuan_v1_moe": {"config": "HunYuanMoEV1Config", "settings": lambda d: hunyuan_moe(d)},
    "jais2": {"further": ("attention.layer_norm_rms_epsilon",), "config": "Jais2Config", "settings": lambda d: even_heads(d, attention_bias=d.random() < 0.5, mlp_bias=d.random() < 0.5)},
    "mellum": {"layers": 4, "config": "MellumConfig", "settings": lambda d: mellum(d)},
    "nemotron": {"config": "NemotronConfig", "settings": lambda d: even_heads(d, attention_bias=d.random() < 0.5, mlp_bias=d.random() < 0.5,
                                                                             rope_parameters=DEFAULT_ROPE | {"partial_rotary_factor": 0.5})},
    "phimoe": {"config": "PhimoeConfig", "converter": "PhiMoEForCausalLM", "settings": lambda d: without_head(d, num_local_experts=d.choice((3, 4)), attention_bias=True,
                                                                                                         lm_head_bias=True, tie_word_embeddings=False, original_max_position_embeddings=32)},
    "qwen3_next": {"mtp": True, "layers": 3, "config": "Qwen3NextConfig", "settings": lambda d: states(d, **experts(d, norm_topk_prob=True, shared_expert_intermediate_size=28))},
    "qwen3_5": {"mtp": True, "layers": 3, "config": "Qwen3_5TextConfig", "settings": states},
    "qwen3_5_moe": {"mtp": True, "layers": 3, "config": "Qwen3_5MoeTextConfig", "settings": lambda d: without_size(states(d, **experts(d, shared_expert_intermediate_size=28)))},
    "hy_v3": {"config": "HYV3Config", "settings": lambda d: usual(d, **experts(d, num_shared_experts=d.choice((1, 2)), router_scaling_factor=2.5),
                                                                   num_hidden_layers=d.choice((2, 3)))},
    "glm4_moe_lite": {"has_next_layer": True, "config": "Glm4MoeLiteConfig", "class": "DeepseekV3ForCausalLM", "settings": lambda d: latent(d, q_lora_rank=14, first_k_dense_replace=1)},
    "gpt_oss": {"layers": 4, "config": "GptOssConfig", "settings": lambda d: usual(d, num_local_experts=d.choice((3, 4)), num_experts_per_tok=2, sliding_window=16,
                                                                                 num_hidden_layers=d.choice((2, 3, 4)), rope_parameters=d.choice((DEFAULT_ROPE, EXACT_YARN)))},
    "gpt_oss_packed": {"layers": 3, "packed": True, "config": "GptOssConfig",
                       "settings": lambda d: usual(d, num_local_experts=d.choice((3, 4)), num_experts_per_tok=2, sliding_window=16,
                                                   hidden_size=32 * d.choice((2, 3, 5)), intermediate_size=32 * d.choice((1, 2, 3)),
                                                   num_hidden_layers=d.choice((2, 3)))},
    "lfm2": {"layers": 3, "config": "Lfm2Config", "settings": lambda d: lfm2(d, block_auto_adjust_ff_dim=d.random() < 0.5, block_multiple_of=8)},
    "lfm2_moe": {"layers": 3, "config": "Lfm2MoeConfig", "settings": lambda d: lfm2(d, **experts(d, num_dense_layers=1))},
    "llama4": {"layers": 4, "config": "Llama4TextConfig", "settings": lambda d: usual(d, num_local_experts=d.choice((2, 3)), num_experts_per_tok=1, head_dim=16,
                                                                                    intermediate_size_mlp=d.choice((40, 56)), interleave_moe_layer_step=d.choice((1, 2)),
                                                                                    num_hidden_layers=d.choice((2, 4, 5)))},
    "bloom": {"further": ("attention.layer_norm_rms_epsilon",), "config": "BloomConfig", "settings": lambda d: older(d, seq_length=64)},
    "falcon": {"further": ("attention.layer_norm_rms_epsilon",), "config": "FalconConfig", "settings": lambda d: falcon(d)},
    "gpt2": {"further": ("attention.layer_norm_rms_epsilon",), "config": "GPT2Config", "settings": lambda d: gpt(d)},
    "gpt_bigcode": {"further": ("attention.layer_norm_rms_epsilon",), "config": "GPTBigCodeConfig", "settings": lambda d: gpt(d)},
    "apertus": {"config": "ApertusConfig", "settings": without_head},
    "bert": {"config": "BertConfig", "auto": "AutoModel", "further": ENCODER, "further_weights": POOLER, "options": {}, "settings": bert},
    "bert_masked": {"config": "BertConfig", "auto": "AutoModelForMaskedLM", "class": "BertModel", "further": ENCODER, "further_weights": POOLER, "options": {},
                    "settings": bert},
    "roberta": {"config": "RobertaConfig", "auto": "AutoModel", "class": "BertModel", "further": ENCODER, "further_weights": POOLER, "options": {}, "first_id": 4,
                "settings": lambda d: bert(d, pad_token_id=d.choice((1, 3)))},
    "xlm_roberta": {"config": "XLMRobertaConfig", "auto": "AutoModel", "class": "BertModel", "further": ENCODER,
                    "further_weights": POOLER, "options": {}, "first_id": 4, "settings": lambda d: bert(d, pad_token_id=d.choice((1, 3)))},
    "modernbert": {"layers": 4, "config": "ModernBertConfig", "auto": "AutoModel", "options": {}, "settings": modern_bert},
    "mamba": {"config": "MambaConfig", "options": {}, "settings": mamba},
    "mamba2": {"config": "Mamba2Config", "options": {}, "settings": mamba2},
    "granitemoehybrid": {"layers": 3, "config": "GraniteMoeHybridConfig", "words": HYBRID_WORDS, "settings": lambda d: granite_hybrid(d, num_local_experts=d.choice((3, 4)))},
    "granitemoehybrid_dense": {"layers": 3, "config": "GraniteMoeHybridConfig", "words": HYBRID_WORDS, "settings": lambda d: granite_hybrid(d, num_local_experts=0)},
    "nemotron_h": {"config": "NemotronHConfig", "further": ENCODER, "words": HYBRID_WORDS, "older": {}, "settings": lambda d: nemotron_h(d, "moe")},
    "nemotron_h_dense": {"config": "NemotronHConfig", "further": ENCODER, "words": HYBRID_WORDS, "older": {}, "drops": EXPERT_KEYS, "letters": {"mamba": "M", "attention": "*", "mlp": "-"},
                         "settings": lambda d: nemotron_h(d, "mlp")},
    "gemma3n": {"layers": None, "config": "Gemma3nTextConfig", "options": {}, "settings": gemma3n},
    "gemma4": {"layers": None, "config": "Gemma4TextConfig", "options": {},
               "settings": lambda d: gemma4(d, hidden_size_per_layer_input=d.choice((0, 6, 8)), num_kv_shared_layers=d.choice((0, 2)), use_double_wide_mlp=d.random() < 0.5)},
    "gemma4_moe": {"layers": None, "config": "Gemma4TextConfig",
                   "settings": lambda d: gemma4(d, hidden_size_per_layer_input=0, num_kv_shared_layers=0, enable_moe_block=True, num_experts=d.choice((3, 4)),
                                                top_k_experts=2, moe_intermediate_size=18, attention_k_eq_v=True, num_global_key_value_heads=1)},
    "eurobert": {"config": "EuroBertConfig", "auto": "AutoModel", "options": {}, "settings": lambda d: even_heads(d, tie_word_embeddings=False, head_dim=None)},
    "falcon_mamba": {"config": "FalconMambaConfig", "options": {}, "settings": mamba},
    "t5": {"layers": None, "config": "T5Config", "auto": "AutoModelForSeq2SeqLM", "options": {}, "further": ENCODER, "settings": t5},
    "t5_encoder": {"layers": None, "config": "T5Config", "auto": "AutoModelForTextEncoding", "options": {}, "further": ENCODER, "settings": t5},
    "bert_classes": {"config": "BertConfig", "auto": "AutoModelForSequenceClassification", "class": "BertModel", "further": ENCODER, "further_weights": POOLER,
                     "options": {}, "settings": lambda d: bert(d, **classes(d, d.choice((2, 3))))},
    "xlm_roberta_classes": {"config": "XLMRobertaConfig", "auto": "AutoModelForSequenceClassification", "class": "BertModel", "further": ENCODER,
                            "further_weights": POOLER, "options": {}, "first_id": 4,
                            "settings": lambda d: bert(d, pad_token_id=d.choice((1, 3)), num_labels=1)},
    "gpt_neox": {"further": ("attention.layer_norm_rms_epsilon", "file_type"), "config": "GPTNeoXConfig", "older": {"rotary_pct": 0.25}, "settings": lambda d: neox(d)},
}


def made(family, dice, torch, transformers, **settings):
    settings = family["settings"](dice) | settings
    for key in ("layer_types", "intermediate_size", "activation_sparsity_pattern"):
        if isinstance(settings.get(key), list):
            settings[key] = settings[key][:settings["num_hidden_layers"]]
    config = getattr(transformers, family["config"])(**settings)
    for key, value in family.get("older", {}).items():
        setattr(config, key, value)
    torch.manual_seed(dice.randrange(1 << 30))
    model = getattr(transformers, family.get("auto", "AutoModelForCausalLM")).from_config(config)
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            if tensor.is_floating_point() and not tensor.numel() == 0:
                tensor.normal_(0, 0.3)
    return model
