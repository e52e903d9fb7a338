#!/usr/bin/env python3
"""What models compute: Tare's logits next to those of transformers and llama.cpp.

    run.py TARE [PART...]     with TARE_RECORD=1, `recorded` writes tests/run/golden.json, which the unit tests read;
                              with TARE_FAMILY=gemma, `families` runs those whose names begin so

Tiny random models of every family that Tare runs, with odd sizes, in f32, from every container; SmolLM2-135M as the wheel has it.
"""
import json
import math
import os
import pathlib
import sys

import llama_library
from judging import check, equal, loaded, main, need, next_logits, note, part, smollm, tare, tare_json, torch_module
from texts import PROSE

COMMON = {"vocab_size": 157, "hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 4, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 256, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
          "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 10000.0}
MOE = {"num_experts_per_tok": 2, "moe_intermediate_size": 12}  # rows of 16 bytes, for torch
FACTORS = [1 + i / 3 for i in range(6)]
OSS = {"num_local_experts": 5, "num_experts_per_tok": 2, "head_dim": 12, "sliding_window": 19, "intermediate_size": 68}
# Latent attention, and experts in groups.
LATENT = {"num_key_value_heads": 4, "q_lora_rank": 14, "kv_lora_rank": 20, "qk_nope_head_dim": 10, "qk_rope_head_dim": 8, "v_head_dim": 14,
          "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "n_shared_experts": 2, "first_k_dense_replace": 1}
LATENT_YARN = {**YARN, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 0.707, "mscale_all_dim": 0.707}
# States in place of attention.
STATE = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6, "linear_value_head_dim": 10, "linear_conv_kernel_dim": 4,
         "head_dim": 16}
SHARED = {**MOE, "num_experts": 6, "shared_expert_intermediate_size": 28}
ROUTED = {"n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "n_shared_experts": 1, "first_k_dense_replace": 1}
PART = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}
# (name, class of the configuration, its keys, whether GGUF has keys for all of them)
FAMILIES = [
    ("llama", "LlamaConfig", {}, True),
    ("llama tied, biases, head of its own size", "LlamaConfig",
     {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True, "head_dim": 20}, True),
    ("llama, llama3", "LlamaConfig", {"rope_parameters": LLAMA3}, True),
    ("llama, yarn", "LlamaConfig", {"rope_parameters": YARN}, True),
    ("llama, linear", "LlamaConfig", {"rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 10000.0}}, True),
    ("llama, dynamic", "LlamaConfig",
     {"rope_parameters": {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}, "max_position_embeddings": 40}, False),
    ("mistral, window", "MistralConfig", {"sliding_window": 19, "head_dim": 12}, False),
    ("ministral3", "Ministral3Config", {"head_dim": 16, "max_position_embeddings": 256, "rope_parameters": {
        "type": "yarn", "rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 32, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}}, True),
    ("mixtral", "MixtralConfig", {"num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": None, "intermediate_size": 68}, True),
    ("smollm3", "SmolLM3Config", {"num_hidden_layers": 5}, True),
    ("granite", "GraniteConfig",
     {"embedding_multiplier": 6.0, "residual_multiplier": 0.3, "attention_multiplier": 0.2, "logits_scaling": 2.0}, True),
    ("olmo", "OlmoConfig", {"clip_qkv": 0.4}, True),
    ("olmo2", "Olmo2Config", {}, True),
    ("olmo3", "Olmo3Config", {"sliding_window": 17, "num_hidden_layers": 5, "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 50000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 50000.0}}},
     True),
    ("qwen2", "Qwen2Config", {"use_sliding_window": False}, True),
    ("qwen2, window", "Qwen2Config", {"use_sliding_window": True, "sliding_window": 21, "max_window_layers": 2}, False),
    ("qwen2_moe", "Qwen2MoeConfig", {**MOE, "num_experts": 6, "shared_expert_intermediate_size": 30}, True),
    ("qwen3", "Qwen3Config", {"head_dim": 18}, True),
    ("qwen3_moe", "Qwen3MoeConfig", {**MOE, "num_experts": 7, "head_dim": 12, "norm_topk_prob": True}, True),
    ("gemma", "GemmaConfig", {"head_dim": 14, "hidden_act": "gelu_pytorch_tanh"}, True),
    ("gemma2", "Gemma2Config", {"head_dim": 16, "sliding_window": 18, "query_pre_attn_scalar": 16}, True),
    ("gemma3", "Gemma3TextConfig", {"head_dim": 16, "sliding_window": 18, "num_hidden_layers": 7, "query_pre_attn_scalar": 16}, True),
    ("phi3", "Phi3Config", {"sliding_window": None}, True),
    ("phi3, longrope", "Phi3Config", {"sliding_window": None, "original_max_position_embeddings": 64, "rope_parameters": {
        "rope_type": "longrope", "rope_theta": 10000.0, "long_factor": [2 * x for x in FACTORS], "short_factor": FACTORS}}, True),
    ("glm4", "Glm4Config", {"head_dim": 16, "attention_bias": True}, True),
    ("glm4, no biases, a quarter rotates", "Glm4Config", {"head_dim": 24, "num_key_value_heads": 1, "attention_bias": False, "rope_parameters": {
        "rope_type": "default", "rope_theta": 5000.0, "partial_rotary_factor": 0.25}}, True),
    ("glm4, yarn", "Glm4Config", {"head_dim": 16, "tie_word_embeddings": True, "rope_parameters": {**YARN, "partial_rotary_factor": 0.5}}, True),
    ("gpt_oss", "GptOssConfig", {**OSS, "rope_parameters": {
        **YARN, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}}, True),
    ("gpt_oss, unscaled, one expert", "GptOssConfig", {**OSS, "num_experts_per_tok": 1, "num_key_value_heads": 4, "num_hidden_layers": 3,
                                                       "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}, True),
    ("gpt_oss, another gate, no biases", "GptOssConfig", {
        **OSS, "head_dim": 16, "attention_bias": False, "swiglu_limit": 0.5, "swiglu_alpha": 1.2, "sliding_window": 40}, False),
    ("deepseek_v2", "DeepseekV2Config", {**LATENT, "topk_method": "greedy", "routed_scaling_factor": 1.7}, True),
    ("deepseek_v2, plain queries", "DeepseekV2Config", {
        **LATENT, "q_lora_rank": None, "first_k_dense_replace": 0, "n_shared_experts": 1, "v_head_dim": 18, "topk_method": "greedy"}, True),
    ("deepseek_v2, groups, yarn", "DeepseekV2Config", {**LATENT, "topk_method": "group_limited_greedy", "n_group": 3, "topk_group": 2,
                                                       "routed_scaling_factor": 16.0, "rope_parameters": LATENT_YARN}, True),
    ("deepseek_v3", "DeepseekV3Config", {**LATENT, "n_group": 2, "topk_group": 1, "norm_topk_prob": True, "routed_scaling_factor": 2.5}, True),
    ("deepseek_v3, yarn, biases", "DeepseekV3Config", {
        **LATENT, "n_routed_experts": 8, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 3, "n_shared_experts": 1, "v_head_dim": 22,
        "attention_bias": True, "rope_parameters": {**LATENT_YARN, "mscale": 1.0, "mscale_all_dim": 1.0}}, False),
    ("deepseek_v3, plain queries, halves", "DeepseekV3Config", {
        **LATENT, "q_lora_rank": None, "n_group": 1, "topk_group": 1, "norm_topk_prob": False, "first_k_dense_replace": 2,
        "rope_interleave": False}, False),
    ("qwen3_next", "Qwen3NextConfig", {**STATE, **SHARED}, True),
    ("qwen3_next, plain layers, one head of keys", "Qwen3NextConfig", {
        **STATE, **SHARED, "linear_num_key_heads": 1, "linear_num_value_heads": 3, "linear_conv_kernel_dim": 2, "norm_topk_prob": False,
        "mlp_only_layers": [1], "layer_types": ["full_attention", "linear_attention", "linear_attention", "full_attention"]}, False),
    ("qwen3_5", "Qwen3_5TextConfig", STATE, True),
    ("qwen3_5, equal heads", "Qwen3_5TextConfig", {
        **STATE, "linear_num_key_heads": 3, "linear_num_value_heads": 3, "linear_key_head_dim": 12, "tie_word_embeddings": True}, True),
    ("qwen3_5_moe", "Qwen3_5MoeTextConfig", {**STATE, **SHARED}, True),
    ("arcee", "ArceeConfig", {"head_dim": 16}, True),
    ("cohere", "CohereConfig", {"logit_scale": 0.3}, True),
    ("cohere2", "Cohere2Config", {"sliding_window": 19, "head_dim": 16, "logit_scale": 0.5}, True),
    ("dots1", "Dots1Config", {**ROUTED, "sliding_window": None, "n_group": 2, "topk_group": 1}, True),
    ("ernie4_5", "Ernie4_5Config", {"head_dim": 14, "use_bias": False}, True),
    ("ernie4_5, biases", "Ernie4_5Config", {"head_dim": 12, "use_bias": True}, False),
    ("ernie4_5_moe", "Ernie4_5_MoeConfig", {"moe_num_experts": 6, "moe_k": 2, "moe_intermediate_size": 12, "moe_num_shared_experts": 2}, True),
    ("exaone4", "Exaone4Config", {"sliding_window": 19, "num_hidden_layers": 5}, True),
    ("exaone4, no window", "Exaone4Config", {"sliding_window": None, "layer_types": ["full_attention"] * 4}, False),
    ("glm4_moe", "Glm4MoeConfig", {**ROUTED, "head_dim": 16, "attention_bias": True, "use_qk_norm": True, "routed_scaling_factor": 1.5}, True),
    ("glm4_moe, groups", "Glm4MoeConfig", {**ROUTED, "head_dim": 16, "n_group": 3, "topk_group": 2, "first_k_dense_replace": 2}, True),
    ("glm4_moe_lite", "Glm4MoeLiteConfig", {**LATENT, "n_group": 1, "topk_group": 1}, True),
    ("gpt2", "GPT2Config", {"n_embd": 48, "n_layer": 4, "n_head": 4, "n_positions": 256, "n_inner": 20,
                            "intermediate_size": 20, "num_key_value_heads": 4}, True),
    ("gpt_neox", "GPTNeoXConfig", {"num_key_value_heads": 4, **PART}, True),
    ("gpt_neox, one after the other", "GPTNeoXConfig", {
        "num_key_value_heads": 4, "use_parallel_residual": False, "hidden_act": "gelu_new", "rope_parameters": {
            "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}}, True),
    ("granitemoe", "GraniteMoeConfig", {
        "num_local_experts": 5, "num_experts_per_tok": 2, "intermediate_size": 68, "embedding_multiplier": 6.0, "residual_multiplier": 0.3,
        "attention_multiplier": 0.2, "logits_scaling": 2.0}, True),
    ("hunyuan_v1_dense", "HunYuanDenseV1Config", {"head_dim": 12}, True),
    ("hunyuan_v1_dense, alpha", "HunYuanDenseV1Config", {"head_dim": 16, "rope_parameters": {
        "rope_type": "dynamic", "alpha": 50.0, "factor": 1.0, "rope_theta": 10000.0}}, False),
    ("jais2", "Jais2Config", {"head_dim": 12}, True),
    ("lfm2", "Lfm2Config", {"block_auto_adjust_ff_dim": False, "layer_types": ["conv", "full_attention", "conv", "conv"]}, True),
    ("lfm2, other sizes", "Lfm2Config", {
        "block_multiple_of": 8, "conv_L_cache": 4, "layer_types": ["full_attention", "conv", "full_attention", "conv"]}, True),
    ("minimax_m2", "MiniMaxM2Config", {"num_local_experts": 5, "num_experts_per_tok": 2, "head_dim": 12, "intermediate_size": 20, **PART}, True),
    ("nemotron", "NemotronConfig", {"head_dim": 12}, True),
    ("olmoe", "OlmoeConfig", {"num_experts": 6, "num_experts_per_tok": 2, "intermediate_size": 20}, True),
    ("olmoe, clamped", "OlmoeConfig", {
        "num_experts": 6, "num_experts_per_tok": 3, "intermediate_size": 20, "clip_qkv": 0.7, "norm_topk_prob": True}, False),
    ("phi", "PhiConfig", PART, True),
    ("seed_oss", "SeedOssConfig", {"head_dim": 16}, True),
    ("stablelm", "StableLmConfig", {"use_qkv_bias": True, **PART}, True),
    ("stablelm, side by side", "StableLmConfig", {"use_parallel_residual": True, **PART}, False),
    ("starcoder2", "Starcoder2Config", {"sliding_window": None}, True),
    ("starcoder2, window", "Starcoder2Config", {"sliding_window": 21, "use_bias": False}, False),
]


def tiny(folder, name, keys):
    """A random model of transformers, saved in the folder; norms and biases are random, too."""
    torch, transformers = torch_module(), need("transformers")
    config = getattr(transformers, name)(**{**COMMON, **keys})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            if value.ndim == 1:
                value += 0.2 * torch.randn_like(value)
            else:
                value.copy_(torch.randn_like(value) / math.sqrt(value.shape[-1]) * (0.3 if "embed" in key else 1))
        for key, value in model.named_parameters():
            if "score_correction" in key and value.ndim > 1:
                value.copy_(0.2 * torch.randn_like(value))
        for key, value in model.named_buffers():
            if "score_correction" in key:
                value += 0.2 * torch.randn_like(value)
    model.save_pretrained(folder)
    return model


def ids_of(count, vocabulary):
    return [(i * i * 7 + i * 3 + 1) % vocabulary for i in range(count)]


def logits_of(path, ids):
    """Through the module: one run for all."""
    module = need("tare")
    return module.run(path).logits(ids)


def close(found, expected, what, most=1e-4):
    numpy = need("numpy")
    off = float(numpy.abs(found - expected).max() / numpy.abs(expected).max())
    check(off <= most, f"{what}: logits are off by {off:.2e} of the largest", "models")
    return off


@part
def families(folder):
    """Every family, from a directory, zTensor, MCF and GGUF: transformers' logits within 1e-4 of the largest."""
    worst = {}
    for number, (name, kind, keys, in_gguf) in enumerate(FAMILIES):
        if not name.startswith(os.environ.get("TARE_FAMILY", "")):
            continue
        torch = torch_module()
        torch.manual_seed(number)
        source = folder / f"model{number}"
        model = tiny(source, kind, keys)
        for count in (75, 30):
            ids = ids_of(count, COMMON["vocab_size"])
            expected = next_logits(model, ids)
            for form in ("", "zt", "mcf", "gguf"):
                if form == "gguf" and not in_gguf:
                    continue
                path = source if not form else folder / f"model{number}.{form}"
                if form and not path.exists():
                    tare("convert", source, path)
                worst[name] = max(worst.get(name, 0), close(logits_of(path, ids), expected, f"{name} {form or 'directory'}, {count} tokens"))
    note(", ".join(f"{name} {off:.0e}" for name, off in worst.items()))


GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "run" / "golden.json"
SHOWN = [(5, 0), (33, 3), (44, 8), (44, 20)]  # (token, logit)


def numbers_of(name, shape):
    """The weights of tests/run/tiny_models.hpp."""
    numpy = need("numpy")
    state, mask = 0xCBF29CE484222325, (1 << 64) - 1
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 & mask
    made = numpy.empty(math.prod(shape), numpy.float32)
    for i in range(made.size):
        state = (state * 6364136223846793005 + 1442695040888963407) & mask
        made[i] = (state >> 40) * 2.0 ** -23 - 1
    norm = "norm" in name
    scale = numpy.float32(0.2 if norm else 0.3) if norm or len(shape) == 1 else numpy.float32(2) / numpy.sqrt(numpy.float32(shape[-1]))
    return (numpy.float32(norm) + scale * made).reshape(shape)


@part
def recorded(folder):
    """The logits that the unit tests expect are those of transformers."""
    from safetensors.numpy import load_file, save_file
    found = []
    for number, (name, kind, keys, _) in enumerate(FAMILIES):
        source = folder / f"model{number}"
        small = {"vocab_size": 31, "intermediate_size": 20, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
        tiny(source, kind, {**keys, **small})
        tensors = {key: numbers_of(key, value.shape) for key, value in load_file(source / "model.safetensors").items()}
        save_file(tensors, source / "model.safetensors", {"format": "pt"})
        logits = next_logits(loaded(source), ids_of(45, 31))
        config = json.loads((source / "config.json").read_text())
        for key in ("transformers_version", "dtype", "initializer_range", "use_cache", "architectures"):
            config.pop(key, None)
        found.append({"name": name, "config": config, "tensors": {key: list(value.shape) for key, value in sorted(tensors.items())},
                      "largest": float(f"{abs(logits).max():.7g}"), "logits": [float(f"{logits[t, v]:.7g}") for t, v in SHOWN]})
    if os.environ.get("TARE_RECORD"):
        lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in found)
        GOLDEN.write_text(f"[\n{lines}\n]\n")
    for one, known in zip(found, json.loads(GOLDEN.read_text()), strict=True):
        equal({**one, "logits": 0, "largest": 0}, {**known, "logits": 0, "largest": 0}, one["name"])
        off = max(abs(a - b) for a, b in zip(one["logits"], known["logits"])) / known["largest"]
        check(off < 1e-5, f"{one['name']}: off by {off:.1e}", "models")


@part
def real(folder):
    """SmolLM2-135M, q4_1: logits of transformers (of the decoded weights), and those of llama.cpp within its own rounding."""
    numpy = need("numpy")
    with llama_library.Model(smollm()) as judge:
        ids = judge.tokenize(PROSE)
        theirs = judge.logits(ids)
    found = logits_of(smollm(), ids)
    directory = folder / "directory"
    tare("convert", smollm(), directory, "--dtype", "f32")
    off = close(found, next_logits(loaded(directory), ids), "transformers")
    close(logits_of(directory, ids), found, "directory and GGUF", 1e-6)
    # llama.cpp quantizes the activations to 8 bits.
    log = lambda x: x - numpy.log(numpy.exp(x.astype(numpy.float64) - x.max(1, keepdims=True)).sum(1, keepdims=True)) - x.max(1, keepdims=True)
    a, b = log(found.astype(numpy.float64)), log(theirs.astype(numpy.float64))
    kl = float((numpy.exp(a) * (a - b)).sum(1).mean())
    check(kl < 0.01, f"llama.cpp: mean KL {kl:.4f}", "models")
    # Perplexity, computed from llama.cpp's own logits as its program does; of the decoded weights, for which it rounds nothing.
    plain, context, text = folder / "f32.gguf", 128, folder / "ids.txt"
    tare("convert", smollm(), plain, "--dtype", "f32")
    text.write_text(" ".join(map(str, ids)))
    for path, most in ((plain, 1e-3), (smollm(), 1e-2)):
        losses = []
        with llama_library.Model(path) as judge:
            for first in range(0, len(ids) - context + 1, context):
                piece = ids[first:first + context]
                rows = log(judge.logits(piece).astype(numpy.float64))
                losses += [-rows[i, piece[i + 1]] for i in range(context // 2, context - 1)]
        expected = math.exp(sum(losses) / len(losses))
        said = tare_json("perplexity", path, "--tokens", text, "--context", context, "--json")
        equal(said["tokens"], len(losses), "predicted tokens")
        check(abs(said["perplexity"] / expected - 1) < most, f"perplexity {said['perplexity']:.4f}, llama.cpp's {expected:.4f}", "models")
        note(f"perplexity of {path.name} {said['perplexity']:.4f}, llama.cpp's {expected:.4f}")
    note(f"off by {off:.1e} of transformers; mean KL to llama.cpp {kl:.1e}")


@part
def same(folder):
    """A model compared with itself in another container: 0, and no parting."""
    tiny(folder / "model", "LlamaConfig", {})
    text = folder / "ids.txt"
    text.write_text(json.dumps(ids_of(90, COMMON["vocab_size"])))
    for form in ("zt", "mcf", "gguf"):
        tare("convert", folder / "model", folder / f"m.{form}")
        said = tare_json("compare", folder / "model", folder / f"m.{form}", "--tokens", text, "--json")
        equal((said["kl"]["value"], said["parting"], said["ratio"]["value"]), (0, None, 1), form, "models")
    tare("convert", folder / "model", folder / "half.zt", "--dtype", "bf16")
    said = tare_json("compare", folder / "model", folder / "half.zt", "--tokens", text, "--json", code=1)
    equal(said["parting"], None, "a cast is no parting")
    equal(list(said["casts"]), ["f32 -> bf16"], "the cast that is named")


sys.exit(main())
