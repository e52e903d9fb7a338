#!/usr/bin/env python3
"""Compares src/arch/defaults.cpp with the classes of the installed transformers library: exit 77 without one.

    defaults.py [TYPE...]    prints the rows of further types instead

Each row must be what the library assumes, and each key that the library assumes and that changes what a model computes must
be a row."""
import pathlib
import re
import sys
import warnings

try:
    from transformers import CONFIG_MAPPING
except ImportError:
    sys.exit(77)

warnings.filterwarnings("ignore")
SOURCE = pathlib.Path(__file__).parents[2] / "src" / "arch" / "defaults.cpp"
ROW = re.compile(r'\{"([\w-]+)", \{"([\w.]+)", (.+)\}\},')
# Sizes of tensors, which are not assumed; what only training, generation or loading look at; what follows from other keys; and
# what Tare reads elsewhere (ties, biases and activations of the families).
ELSEWHERE = {
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "initializer_range",
    "hidden_act", "hidden_activation", "tie_word_embeddings", "attention_bias", "mlp_bias", "qkv_bias", "pretraining_tp",
    "output_router_logits", "router_aux_loss_coef", "router_jitter_noise", "layer_types", "no_rope_layers", "max_window_layers",
    "decoder_sparse_step", "mlp_only_layers", "use_bidirectional_attention", "_sliding_window_pattern",
    "rope_parameters", "use_cache", "bos_token_id", "eos_token_id", "pad_token_id", "eod_token_id",
    "rope_interleave", "qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "kv_lora_rank", "q_lora_rank", "attention_out_bias", "use_qk_norm", "qk_layernorm", "moe_norm_min", "moe_layer_end_index", "use_bias", "use_qkv_bias", "lm_head_bias", "input_jitter_noise",
    "mlp_layer_types", "indexer_types", "full_attn_idxs", "moe_layers", "sep_token_id", "activation_function", "activation", "summary_type", "summary_use_proj",
    "summary_proj_to_labels", "reorder_and_upcast_attn", "add_cross_attention", "attention_softmax_in_fp32",
    "type_vocab_size", "expand", "classifier_activation", "classifier_bias", "classifier_pooling", "cls_token_id", "decoder_bias", "deterministic_flash_attn",
    "initializer_cutoff_factor", "sparse_pred_ignore_index", "sparse_prediction", "rescale_prenorm_residual", "residual_in_fp32", "time_step_floor",
    "time_step_init_scheme", "time_step_max", "time_step_min", "time_step_rank", "time_step_scale", "time_step_limit", "use_associative_scan",
    "use_mambapy", "chunk_size", "mamba_chunk_size", "layers_block_type", "mtp_layers_block_type", "mamba_hidden_act", "mamba_ssm_cache_dtype",
    "moe_shared_expert_overlap", "num_logits_to_keep", "use_mamba_kernels",
    "per_layer_config", "mixer_rms_eps", "activation_sparsity_pattern", "mask_token_id", "d_ff", "num_decoder_layers", "initializer_factor", "feed_forward_proj", "dense_act_fn",
    "is_gated_act", "scale_decoder_outputs",
    "scale_attention_softmax_in_fp32", "is_decoder", "slow_but_exact", "ffn_hidden_size", "num_kv_heads", "bias",
}
# Fields that some types call otherwise.
FIELDS = {"hidden_size", "num_hidden_layers", "num_attention_heads", "max_position_embeddings"}


def rows():
    found = {}
    for model_type, key, text in ROW.findall(SOURCE.read_text()):
        text = re.sub(r'^whole\((.*)\)$', r"\1", text)
        text = re.sub(r'^std::string_view\((.*)\)$', r"\1", text)
        value = {"true": True, "false": False}.get(text)
        if value is None:
            value = text.strip('"') if text.startswith('"') else float(text)
        found.setdefault(model_type, {})[key] = value
    return found


def library(model_type, ours):
    config = CONFIG_MAPPING[model_type]()
    said = config.to_dict()
    base = CONFIG_MAPPING["llama"].__mro__[1]()
    facts = {key: value for key, value in said.items() if key not in base.to_dict() and (key not in ELSEWHERE or key in ours)}
    # A number of heads that follows from another one is not assumed.
    for key in ("num_key_value_heads", "head_dim"):
        if getattr(type(config), key, None) is None:
            facts.pop(key, None)
    # It follows from `expand` and the number of heads.
    if model_type == "mamba2":
        facts.pop("head_dim")
    # The window that holds if another key states that it is in use; an instance by default has none.
    if "use_sliding_window" in facts:
        facts["sliding_window"] = type(config).sliding_window
    if "num_local_experts" in facts and "num_experts" in getattr(config, "attribute_map", {}) and model_type not in ("mixtral", "minimax_m2"):
        facts["num_experts"] = facts.pop("num_local_experts")
    # Types with names of their own: those that Config has.
    names = {own: name for name, own in getattr(config, "attribute_map", {}).items() if name in FIELDS}
    facts = {names.get(key, key): value for key, value in facts.items() if names.get(key) not in ELSEWHERE}
    rope = said.get("rope_parameters") or {}
    if not rope:
        pass
    elif "full_attention" in rope:
        facts["rope_theta"] = rope["full_attention"]["rope_theta"]
        facts["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
    else:
        facts["rope_theta"] = type(config).default_theta
    if rope and "full_attention" not in rope and rope["rope_type"] != "default":
        ignored = ("type", "max_position_embeddings")  # the first is the older name of rope_type, the second follows
        facts.update({f"rope_parameters.{key}": value for key, value in rope.items() if key not in ignored})
    elif rope and "full_attention" not in rope and rope["rope_theta"] != facts["rope_theta"]:
        raise SystemExit(f"{model_type}: {rope} without an object, {facts['rope_theta']} for one without a theta")
    if rope.get("partial_rotary_factor", 1) != 1:
        facts["partial_rotary_factor"] = rope["partial_rotary_factor"]
    if model_type == "gpt_neox":  # the class takes these keys out of config.json, and ignores the usual ones at its top
        for own, usual in (("rotary_emb_base", "rope_theta"), ("rotary_pct", "partial_rotary_factor")):
            facts[own] = facts.pop(usual)
    return {key: value for key, value in facts.items() if value is not None and "dropout" not in key and "pdrop" not in key}


def spelled(value):
    if isinstance(value, bool) or isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    return f'std::string_view("{value}")' if isinstance(value, str) else f"whole({value})"


# The rows for types that have none yet, to be put into the table.
if len(sys.argv) > 1:
    for name in sys.argv[1:]:
        for key, value in library(name, {}).items():
            print(f'    {{"{name}", {{"{key}", {spelled(value)}}}}},')
    sys.exit(0)

wrong = 0
for name, ours in rows().items():
    theirs = library(name, ours)
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            wrong += 1
            print(f"{name}: {key}: {ours.get(key)} here, {theirs.get(key)} in transformers")
print(f"{sum(map(len, rows().values()))} rows, {wrong} differ")
sys.exit(1 if wrong or not rows() else 0)
