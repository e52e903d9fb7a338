"""A small valid Llama, as a directory and as GGUF, with tokenizer files or adapters that ask for much: a conversion goes
all the way."""
import json
import os
import struct

from worst import gguf
from worst.common import case, name, put
from worst.safetensors import safetensors

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4, "intermediate_size": 4,
          "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 2, "rms_norm_eps": 1e-5,
          "rope_theta": 1e4, "vocab_size": 8, "max_position_embeddings": 128, "tie_word_embeddings": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
LAYER = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def entries_of(shapes):
    entries, at = [], 0
    for tensor, shape in shapes:
        length = 2
        for dimension in shape:
            length *= dimension
        entries.append('"%s":{"dtype":"F16","shape":%s,"data_offsets":[%d,%d]}' % (
            tensor, json.dumps(shape, separators=(",", ":")), at, at + length))
        at += length
    return "{%s}" % ",".join(entries), bytes(at)


def llama(directory, post_processor="null", **files):
    """A directory. `post_processor`: of tokenizer.json, as JSON."""
    home = os.path.join(directory, "model")
    shapes = [("model.embed_tokens.weight", [8, 4]), ("lm_head.weight", [8, 4]), ("model.norm.weight", [4])]
    shapes += [("model.layers.0.%s.weight" % part, [4, 4]) for part in LAYER]
    shapes += [("model.layers.0.%s_layernorm.weight" % part, [4]) for part in ("input", "post_attention")]
    safetensors(home, *entries_of(shapes), name="model.safetensors")
    put(home, "config.json", json.dumps(CONFIG))
    tokenizer = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": BYTE_LEVEL,
                 "post_processor": None, "decoder": BYTE_LEVEL,
                 "model": {"type": "BPE", "vocab": {text: i for i, text in enumerate("abcdefgh")}, "merges": []}}
    text = json.dumps(tokenizer, separators=(",", ":"))
    put(home, "tokenizer.json", text.replace('"post_processor":null', '"post_processor":' + post_processor))
    for file, content in files.items():
        put(home, file.replace("__", "."), content)
    return home


@case
def llama_templates_of_one_name(directory, size):
    one = '{"name":"a","template":""}'
    return llama(directory, tokenizer_config__json='{"chat_template":[%s]}' % ",".join([one] * (size // (len(one) + 1))))


@case
def llama_templates_of_numbered_names(directory, size):
    """The names that others would get, and then one name that is in the way of all of them."""
    count = size // 2 // 30
    names = ["a_%d" % (i + 2) for i in range(count)] + ["a"] * count
    return llama(directory, tokenizer_config__json='{"chat_template":[%s]}' % ",".join(
        '{"name":"%s","template":""}' % text for text in names))


@case
def llama_template_of_no_tokens(directory, size):
    """A template that names one token again and again: the last of many special tokens, and without an id."""
    special = "".join('"%s":0,' % name(i) for i in range(size // 2 // 8)) + '"zz!":{"ids":[]}'
    single = '{"SpecialToken":{"id":"zz!"}},' * (size // 2 // 30) + '{"Sequence":{"id":"A"}}'
    return llama(directory, '{"type":"TemplateProcessing","single":[%s],"special_tokens":{%s}}' % (single, special))


@case
def llama_files_named_like_weights(directory, size):
    """Empty files: a directory takes room, too."""
    home = llama(directory)
    os.rename(os.path.join(home, "model.safetensors"), os.path.join(home, "w.safetensors"))
    for i in range(size // 300):
        put(home, "m%06d.safetensors" % i)  # equal lengths: short names need no allocation
    return home


@case
def llama_gguf_special_tokens(directory, size):
    """Control tokens without text, each of which takes a line of 130 bytes in tokenizer.json."""
    def number(key, value):
        return gguf.entry("llama." + key, gguf.U32, struct.pack("<I", value))

    def real(key, value):
        return gguf.entry("llama." + key, gguf.F32, struct.pack("<f", value))
    count = min(size - 2000, size // 4 + 45000) // 12  # as many as the values of a file pay for; the rest is text
    rest = gguf.entry("general.description", gguf.STRING, gguf.string("a" * (size - 2000 - 12 * count)))
    entries = [gguf.ARCHITECTURE, rest, number("block_count", 1), number("embedding_length", 4), number("feed_forward_length", 4),
               number("attention.head_count", 2), number("attention.head_count_kv", 2), number("context_length", 128),
               real("rope.freq_base", 1e4), real("attention.layer_norm_rms_epsilon", 1e-5),
               gguf.entry("tokenizer.ggml.model", gguf.STRING, gguf.string("gpt2")),
               gguf.entry("tokenizer.ggml.pre", gguf.STRING, gguf.string("default")),
               gguf.entry("tokenizer.ggml.tokens", gguf.ARRAY, gguf.array(gguf.STRING, count, bytes(8 * count))),
               gguf.entry("tokenizer.ggml.token_type", gguf.ARRAY,
                          gguf.array(gguf.I32, count, struct.pack("<i", 3) * count))]
    shapes = [("token_embd", (4, 8)), ("output", (4, 8)), ("output_norm", (4,)), ("blk.0.attn_norm", (4,)), ("blk.0.ffn_norm", (4,))]
    shapes += [("blk.0." + part, (4, 4)) for part in LAYER.values()]
    infos, at = [], 0
    for part, shape in shapes:
        infos.append(gguf.info(part + ".weight", shape, 0, at))
        at += 128 if shape == (4, 8) else 64 if len(shape) == 2 else 32
    return gguf.gguf(directory, entries, infos, bytes(at))


def gguf_model(directory, architecture, numbers, reals, shapes):
    """A model of zeros, in f16, whose keys begin with `architecture`."""
    entries = [gguf.entry("general.architecture", gguf.STRING, gguf.string(architecture))]
    entries += [gguf.entry("%s.%s" % (architecture, key), gguf.U32, struct.pack("<I", value)) for key, value in numbers.items()]
    entries += [gguf.entry("%s.%s" % (architecture, key), gguf.F32, struct.pack("<f", value)) for key, value in reals.items()]
    infos, at = [], 0
    for part, shape in shapes:
        length = 2
        for dimension in shape:
            length *= dimension
        infos.append(gguf.info(part + ".weight", shape, 1, at))
        at += -(-length // 32) * 32
    return gguf.gguf(directory, entries, infos, bytes(at))


NUMBERS = {"block_count": 1, "embedding_length": 2, "feed_forward_length": 1, "attention.head_count": 1, "attention.head_count_kv": 1,
           "context_length": 128}
REALS = {"rope.freq_base": 1e4, "attention.layer_norm_rms_epsilon": 1e-5}
TABLES = [("token_embd", (2, 8)), ("output", (2, 8)), ("output_norm", (2,)), ("blk.0.attn_norm", (2,)), ("blk.0.ffn_norm", (2,))]


@case(verbs=("info", "convert hf", "convert mcf"))
def llama_gguf_stacked_experts(directory, size):
    """Each expert of a few bytes is a tensor of its own in a directory."""
    experts = (size - 2000) // 16
    shapes = TABLES + [("blk.0." + part, (2, 2)) for part in ("attn_q", "attn_k", "attn_v", "attn_output")]
    shapes += [("blk.0.ffn_gate_inp", (2, experts)), ("blk.0.ffn_gate_exps", (2, 1, experts)), ("blk.0.ffn_up_exps", (2, 1, experts)),
               ("blk.0.ffn_down_exps", (1, 2, experts))]
    return gguf_model(directory, "llama", {**NUMBERS, "expert_count": experts, "expert_used_count": 2}, REALS, shapes)


@case(verbs=("info", "convert hf", "convert mcf"))
def llama_gguf_latent_heads(directory, size):
    """Keys and values of latent attention, which a directory has head by head in one tensor."""
    heads = (size - 2000) // 20
    numbers = {**NUMBERS, "attention.head_count": heads, "attention.kv_lora_rank": 1, "attention.key_length": 3, "attention.value_length": 1,
               "attention.key_length_mla": 3, "attention.value_length_mla": 1, "rope.dimension_count": 2, "leading_dense_block_count": 1,
               "expert_count": 2, "expert_used_count": 1, "expert_feed_forward_length": 1, "expert_shared_count": 1}
    shapes = TABLES + [("blk.0.attn_q", (2, 3 * heads)), ("blk.0.attn_kv_a_mqa", (2, 3)), ("blk.0.attn_kv_a_norm", (1,)),
                       ("blk.0.attn_k_b", (1, 1, heads)), ("blk.0.attn_v_b", (1, 1, heads)), ("blk.0.attn_output", (heads, 2)),
                       ("blk.0.ffn_gate", (2, 1)), ("blk.0.ffn_up", (2, 1)), ("blk.0.ffn_down", (1, 2))]
    return gguf_model(directory, "deepseek2", numbers, REALS, shapes)


# ---- adapters whose layers the model has ----

MERGED = ("info", "merge into its base", "convert gguf")


def adapted(directory, layers, config, rank=1):
    """An adapter, and next to it the model it is for, of one number for each layer."""
    home = os.path.join(directory, "adapter")
    safetensors(home, *entries_of([(layer + ".lora_%s.weight" % part, [1, 1]) for layer in layers for part in "AB"]),
                name="adapter_model.safetensors")
    put(home, "adapter_config.json", json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": 1, **config},
                                                separators=(",", ":")))
    put(home, "config.json", json.dumps({**CONFIG, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 1,
                                         "hidden_size": 1, "intermediate_size": 1}))
    base = os.path.join(directory, "base")
    safetensors(base, *entries_of([(layer + ".weight", [1, 1]) for layer in layers]), name="model.safetensors")
    put(base, "config.json", '{"model_type":"x"}')
    return home


def up_projections(size):
    return ["model.layers.%d.mlp.up_proj" % i for i in range(max(1, size // 370))]


@case(verbs=MERGED)
def llama_adapter_names_as_patterns(directory, size):
    return adapted(directory, up_projections(size // 2), {"alpha_pattern": {"q%s_proj" % name(i): 1 for i in range(size // 2 // 40)}})


@case(verbs=MERGED)
def llama_adapter_names_with_dots_as_patterns(directory, size):
    """A dot that is not escaped matches any letter."""
    return adapted(directory, up_projections(size // 2), {
        "rank_pattern": {"%s.up_proj" % name(i): 1 for i in range(size // 2 // 40)}})


@case(verbs=MERGED)
def llama_adapter_starred_patterns(directory, size):
    """Patterns whose long literal part begins to match at each letter of a long name."""
    length = 1000 if size > 100000 else 400
    layers = ["%05d" % i + "a" * length for i in range(max(1, size // 2 // (3 * length + 200)))]
    patterns = {".*" + "a" * (length // 2) + "b%03d" % i: 1 for i in range(min(256, size // 2 // (length // 2 + 20)))}
    return adapted(directory, layers, {"alpha_pattern": patterns})


@case(verbs=MERGED)
def llama_adapter_one_long_starred_pattern(directory, size):
    length = size // 10
    return adapted(directory, ["a" * length], {"alpha_pattern": {".*" + "a" * (length // 2) + "b": 1}})


@case(verbs=MERGED)
def llama_adapter_name_of_many_parts(directory, size):
    """A layer whose name ends at many places after a dot, and a pattern that is a name."""
    return adapted(directory, ["a." * (size // 8)], {"alpha_pattern": {"b" + "\\.a" * (size // 24): 1, "c": 1}})
