import json
import os
import shutil
import struct

from worst import gguf, torch_files
from worst.common import case, name, numbered, put, repeated
from worst.safetensors import TENSOR, safetensors

def directory_with(directory, **files):
    home = os.path.join(directory, "model")
    safetensors(home, "{%s}" % TENSOR, name="model.safetensors")
    put(home, "config.json", files.pop("config", '{"model_type":"llama"}'))
    for name, text in files.items():
        put(home, name.replace("__", "."), text)
    return home


@case
def config_nan(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"NaN", size) + b"]}")


@case
def config_infinities(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"-Infinity", size) + b"]}")


@case
def config_keys(directory, size):
    return directory_with(directory, config='{"model_type":"llama",%s}' % numbered('"%s":1', size))


@case
def config_objects(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"{}", size) + b"]}")


@case
def vocab_txt_line_feeds(directory, size):
    return directory_with(directory, vocab__txt=b"[UNK]" + b"\n" * size)


@case
def vocab_txt_words(directory, size):
    return directory_with(directory, vocab__txt=numbered("%s", size, "\n"))


@case
def tokenizer_tokens(directory, size):
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % ",".join(
        '"%s":%d' % (name(i), i) for i in range(size // 13)))


@case
def tokenizer_merges(directory, size):
    return directory_with(
        directory, tokenizer__json='{"model":{"type":"BPE","vocab":{"a":0,"aa":1},"merges":[%s]}}' % ",".join(
            ['"a a"'] * (size // 6)))


@case
def tokenizer_added(directory, size):
    added = ",".join('{"id":%d,"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, tokenizer__json='{"added_tokens":[%s],"model":{"type":"BPE","vocab":{"a":0},'
                                                     '"merges":[]}}' % added)


@case
def tokenizer_far_ids(directory, size):
    vocab = ",".join('"%s":%d' % (name(i), i * 1000) for i in range(size // 16))
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % vocab)


@case
def tokenizer_config_added(directory, size):
    added = ",".join('"%d":{"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, vocab__txt="a\nb\n",
                          tokenizer_config__json='{"added_tokens_decoder":{%s}}' % added)


# Tensors that GGUF's runtime has no use for are kept in attached files.
@case(verbs=("convert gguf",))
def tensors_kept_aside(directory, size):
    home = os.path.join(directory, "model")
    sizes = {"vocab_size": 4, "hidden_size": 2, "intermediate_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1}
    put(home, "config.json", json.dumps({"model_type": "bert", "architectures": ["BertModel"], **sizes}))
    put(home, "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n")
    layer = "encoder.layer.0."
    shapes = {"embeddings.word_embeddings.weight": [4, 2], "embeddings.position_embeddings.weight": [512, 2],
              "embeddings.token_type_embeddings.weight": [2, 2]}
    for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                 "intermediate.dense", "output.dense"):
        shapes[layer + part + ".weight"], shapes[layer + part + ".bias"] = [2, 2], [2]
    for norm in ("embeddings.LayerNorm", layer + "attention.output.LayerNorm", layer + "output.LayerNorm"):
        shapes[norm + ".weight"], shapes[norm + ".bias"] = [2], [2]
    items, at = [], 0
    for tensor, shape in shapes.items():
        end = at + 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        items.append('"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}' % (tensor, json.dumps(shape), at, end))
        at = end
    items.append(numbered('"pooler.%%s":{"dtype":"F32","shape":[0],"data_offsets":[%d,%d]}' % (at, at), size))
    safetensors(home, "{%s}" % ",".join(items), bytes(at), name="model.safetensors")
    return home


@case
def tare_json_added(directory, size):
    home = os.path.join(directory, "model")
    put(home, "config.json", '{"model_type":"llama"}')
    safetensors(home, '{"__metadata__":{%s},%s}' % (numbered('"%s":"v"', size // 2), TENSOR),
                name="model.safetensors")
    put(home, "tare.json", '{"tare":1,"added":[%s]}' % numbered('"%s.x"', size // 2))
    return home


@case
def tare_json_made(directory, size):
    home = directory_with(directory)
    for i in range(min(1000, size // 1000)):
        put(home, "additional_chat_templates/%d.jinja" % i, "x")
    put(home, "tare.json", '{"tare":1,"made":[%s]}' % numbered('"%s.x"', size))
    return home


@case
def tare_json_zeros(directory, size):
    return directory_with(directory, tare__json=b'{"tare":1,"config":{"x":[' + repeated(b"0", size) + b"]}}")


FAMILIES = ("llama", "mistral", "mixtral", "ministral3", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "gemma", "gemma2",
            "gemma3_text", "gemma3", "phi3", "granite", "olmo", "olmo2", "olmo3", "smollm3", "gpt_oss", "deepseek_v3")
COUNTS = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size", "intermediate_size",
          "vocab_size", "head_dim", "num_local_experts", "num_experts", "n_routed_experts", "num_experts_per_tok",
          "moe_intermediate_size", "shared_expert_intermediate_size", "max_position_embeddings", "sliding_window",
          "max_window_layers", "sliding_window_pattern", "no_rope_layer_interval", "decoder_sparse_step",
          "original_max_position_embeddings", "rotary_dim", "max_length", "eos_token_id", "pad_token_id", "bos_token_id")
SCALING = {"llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                      "original_max_position_embeddings": 8192},
           "longrope": {"rope_type": "longrope", "long_factor": [1.0], "short_factor": [1.0]},
           "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}}
VOCABULARY = '{"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]},"pre_tokenizer":{"type":"ByteLevel"}}'


def empty_tensors(names, shape):
    return "{%s}" % ",".join('"%s":{"dtype":"F32","shape":%s,"data_offsets":[0,0]}' % (
        n, json.dumps(shape)) for n in names)


def layer_types(number, count):
    """As no period has it: all but the last see a window, the layers beyond the list are more than there can be."""
    return {"num_hidden_layers": number, "sliding_window": 4096, "max_position_embeddings": 1 << 20,
            "layer_types": ["sliding_attention"] * count + ["full_attention"] * 2 + ["sliding_attention"] * 2,
            "no_rope_layers": [1, 1, 1, 0] * (count // 4)}


# Numbers that no byte backs: all of them; the rows of the token table; those of layers alone, with the usual rest; layers of a
# list that fits no period.
STATED = {
    "all": lambda number, size: {**{key: number for key in COUNTS}, "text_config": {key: number for key in COUNTS}},
    "rows": lambda number, size: {},
    "layers": lambda number, size: {"num_hidden_layers": number, "sliding_window": 4096, "max_position_embeddings": 1 << 20},
    "heads": lambda number, size: {"num_attention_heads": 1, "head_dim": number, "hidden_size": number},
    "layer_types": lambda number, size: layer_types(number, 10),
    "many_layer_types": lambda number, size: layer_types(number, size // 30),
}


def counts(directory, size, family, number, scaling, stated):
    """A model of a token table without columns; its config states numbers that no byte backs."""
    home = os.path.join(directory, "model")
    rows = number if stated in ("all", "rows") else 2
    safetensors(home, empty_tensors(["model.embed_tokens.weight"], [rows, 0]), b"", "model.safetensors")
    config = {"model_type": family, "rms_norm_eps": 1e-5, "rope_theta": 1e4, "rope_scaling": SCALING[scaling],
              **STATED[stated](number, size)}
    put(home, "config.json", json.dumps(config))
    put(home, "tokenizer.json", VOCABULARY)
    return home


for _family in FAMILIES:
    for _number in (2000000000, 4000000):
        for _stated in STATED:
            def _build(directory, size, family=_family, number=_number, stated=_stated,
                       scaling="longrope" if _family == "phi3" else "yarn" if _family == "ministral3" else "llama3"):
                return counts(directory, size, family, number, scaling, stated)
            case(_build, called="config_counts_%s_%s_%d" % (_stated, _family, _number),
                 quick=_family in ("llama", "gemma3_text") and _number > 1 << 30, tensor="model.norm.weight")


def product(directory, size, names, **files):
    """Tensors and patterns: the one half of the bytes is matched with the other."""
    home = os.path.join(directory, "model")
    entry = '"%s":{"dtype":"%s","shape":[0,64],"data_offsets":[0,0]}'
    each = len(entry % (names(1000)[0], "F32"))
    tensors = [names(i) for i in range(size // 2 // each)]
    safetensors(home, "{%s}" % ",".join(entry % pair for pair in tensors), b"", "model.safetensors")
    files.setdefault("config__json", '{"model_type":"llama"}')
    for file, text in files.items():
        put(home, file.replace("__", "."), text)
    return home


def some(form, size):
    return [form % name(i) for i in range(size // (len(form) + 6))]


def weights(i):
    return "model.layers.%d.self_attn.q_proj.weight" % i, "U8" if i % 2 else "I32"


def quantization(config, pack=json.dumps):
    return pack({"model_type": "llama", "quantization_config": config})


QUANTIZED = {
    "gptq_dynamic": lambda n: {"quant_method": "gptq", "bits": 4, "group_size": 128,
                               "dynamic": {p: {} for p in some("-:.*%s.*", n)}},
    "gptq_not_converted": lambda n: {"quant_method": "gptq", "bits": 4, "group_size": 128,
                                     "modules_to_not_convert": some("%s", n)},
    "awq_not_converted": lambda n: {"quant_method": "awq", "bits": 4, "group_size": 128,
                                    "modules_to_not_convert": some("%s", n)},
    "bnb_skipped": lambda n: {"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_skip_modules": some("%s", n)},
    "compressed_ignored": lambda n: {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": some("%s", n),
                                     "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4}}}},
    "compressed_ignored_patterns": lambda n: {
        "quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": some("re:.*%s.*.*.*x", n),
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4}}}},
    "compressed_groups": lambda n: {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {
        p: {"targets": ["re:.*" + p], "weights": {"num_bits": 4}} for p in some("%s", n // 4)}},
    "fp8_not_converted": lambda n: {"quant_method": "fp8", "weight_block_size": [128, 128],
                                    "modules_to_not_convert": some("%s", n)},
    "modelopt_excluded": lambda n: {"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": some("*%s*a*a*a*", n),
                                    "ignore": some("*%s*a*a*a*", n)},
    "mxfp4_not_converted": lambda n: {"quant_method": "mxfp4", "modules_to_not_convert": some("%s", n)},
    "quark_layers": lambda n: {"quant_method": "quark", "layer_quant_config": {p: {} for p in some("*%s*", n)},
                               "exclude": some("*%s*", n)},
    "auto_round_layers": lambda n: {"quant_method": "auto-round", "bits": 4, "group_size": 128,
                                    "extra_config": {p: {"bits": 8} for p in some(".*%s.*", n)}},
}
NAMED = {"gptq": lambda i: ("model.layers.%d.q_proj.%s" % (i // 4, ("qweight", "qzeros", "scales", "g_idx")[i % 4]),
                            ("I32", "I32", "F16", "I32")[i % 4]),
         "awq": lambda i: ("model.layers.%d.q_proj.%s" % (i // 3, ("qweight", "qzeros", "scales")[i % 3]),
                           ("I32", "I32", "F16")[i % 3]),
         "bnb": lambda i: ("model.layers.%d.q_proj.%s" % (i // 2, ("weight", "SCB")[i % 2]), ("I8", "F32")[i % 2]),
         "compressed": lambda i: ("model.layers.%d.q_proj.%s" % (i // 3, ("weight_packed", "weight_scale", "weight_shape")[i % 3]),
                                  ("I32", "F16", "I64")[i % 3]),
         "fp8": lambda i: ("model.layers.%d.q_proj.%s" % (i // 2, ("weight", "weight_scale_inv")[i % 2]), ("F8_E4M3", "F32")[i % 2]),
         "modelopt": lambda i: ("model.layers.%d.q_proj.%s" % (i // 2, ("weight", "weight_scale")[i % 2]), ("F8_E4M3", "F32")[i % 2]),
         "mxfp4": lambda i: ("model.layers.%d.mlp.experts.down_proj_%s" % (i // 2, ("blocks", "scales")[i % 2]), "U8"),
         "quark": lambda i: ("model.layers.%d.q_proj.%s" % (i // 2, ("weight", "weight_scale")[i % 2]), ("U8", "F32")[i % 2]),
         "auto": lambda i: ("model.layers.%d.q_proj.%s" % (i // 3, ("qweight", "qzeros", "scales")[i % 3]),
                            ("I32", "I32", "F16")[i % 3])}

for _what, _config in QUANTIZED.items():
    def _build(directory, size, what=_what, config=_config):
        return product(directory, size, NAMED[what.split("_")[0]], config__json=quantization(config(size // 2)))
    case(_build, called="packs_" + _what)


@case
def packs_mlx_layers(directory, size):
    """A table of layers, each with its own bits."""
    def named(i):
        return "model.layers.%d.q_proj.%s" % (i // 3, ("weight", "scales", "biases")[i % 3]), ("U32", "F16", "F16")[i % 3]
    table = {"group_size": 64, "bits": 4, **{"model.layers.%d.q_proj" % i: {"bits": 8, "group_size": 32} for i in range(size // 120)}}
    return product(directory, size, named, config__json=json.dumps({"model_type": "llama", "quantization": table}))


@case
def packs_quantize_config(directory, size):
    return product(directory, size, NAMED["gptq"], quantize_config__json=json.dumps(QUANTIZED["gptq_dynamic"](size // 2)))


@case
def packs_hf_quant_config(directory, size):
    return product(directory, size, NAMED["modelopt"], hf_quant_config__json=json.dumps({"quantization": {
        "quant_algo": "FP8", "exclude_modules": some("*%s*a*a*a*", size // 4),
        "quantized_layers": {p: {"quant_algo": "FP8"} for p in some("%s", size // 12)}}}))


@case
def config_layer_types(directory, size):
    """A list with something for each layer, and as many layers."""
    return product(directory, size, lambda i: ("model.layers.%d.mlp.up_proj.weight" % i, "F32"), config__json=json.dumps({
        "model_type": "gemma3_text", "num_hidden_layers": size // 40, "layer_types": ["full_attention"] * (size // 40)}))


@case
def config_tied_keys(directory, size):
    return product(directory, size, lambda i: ("model.layers.%d.mlp.up_proj.weight" % i, "F32"), config__json=json.dumps({
        "model_type": "llama", "_tied_weights_keys": some("%s", size // 2), "auto_map": {p: "a--b." + p for p in some("%s", size // 8)}}))


@case
def config_auto_map(directory, size):
    """Code that does not exist."""
    return directory_with(directory, config=json.dumps({"model_type": "x", "auto_map": {
        p: p + ".C" for p in some("%s", size // 2)}}))


@case
def config_duplicate_keys(directory, size):
    return directory_with(directory, config='{"model_type":"llama",%s}' % ",".join(['"a":1'] * (size // 6)))


@case
def config_deep(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"[" * 60 + b"]" * 60, size) + b"]}")


@case
def config_long_names(directory, size):
    return directory_with(directory, config=json.dumps({"model_type": "m" * (size // 3), "_name_or_path": "n" * (size // 3),
                                                        "hidden_act": "a" * (size // 3)}))


@case
def config_digits(directory, size):
    return directory_with(directory, config='{"model_type":"llama","x":%s}' % ("9" * size))


@case
def config_fractions(directory, size):
    return directory_with(directory, config='{"model_type":"llama","x":[%s]}' % ",".join(["0." + "3" * 700] * (size // 703)))


@case
def files_all_large(directory, size):
    """Every file that is looked into, each with its share of the bytes."""
    part = size // 9
    numbers = "[" + "0," * (part // 2) + "0]"
    return directory_with(directory, config='{"model_type":"llama","x":%s}' % numbers,
                          generation_config__json='{"x":%s}' % numbers, tokenizer_config__json='{"x":%s}' % numbers,
                          special_tokens_map__json='{"x":%s}' % numbers, preprocessor_config__json='{"x":%s}' % numbers,
                          chat_template__json='{"chat_template":"x","x":%s}' % numbers, modules__json=numbers,
                          tokenizer__json='{"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"x":%s}' % numbers,
                          quantize_config__json='{"x":%s}' % numbers)


@case
def files_modules(directory, size):
    """A module list that names one folder again and again."""
    home = directory_with(directory, modules__json="[%s]" % ",".join(
        '{"idx":%d,"name":"%d","path":"1_Pooling","type":"x"}' % (i, i) for i in range(size // 120)))
    for i in range(min(300, size // 1000)):
        put(home, "1_Pooling/f%d" % i, "x" * min(1000, size // 1000))
    return home


@case
def files_modules_many(directory, size):
    home = directory_with(directory, modules__json="[%s]" % ",".join(
        '{"idx":%d,"name":"%d","path":"%d_P","type":"x"}' % (i, i, i) for i in range(size // 60)))
    put(home, "0_P/config.json", "{}")
    return home


@case
def files_templates(directory, size):
    home = directory_with(directory, vocab__txt="a\n")
    for i in range(min(3000, size // 100)):
        put(home, "additional_chat_templates/%d.jinja" % i, "x" * 50)
    return home


@case
def files_readme(directory, size):
    """Front matter without end."""
    return directory_with(directory, README__md="---\n" + "base_model:\n- a/b\n" * (size // 18))


@case
def files_readme_long_line(directory, size):
    return directory_with(directory, README__md="---\nlicense: " + " [" * (size // 2) + "\n---\n")


@case
def files_unknown(directory, size):
    home = directory_with(directory)
    for i in range(min(3000, size // 20)):
        put(home, "f%d.bin" % i, "x")
    return home


@case
def files_many_weights(directory, size):
    home = os.path.join(directory, "model")
    put(home, "config.json", '{"model_type":"llama"}')
    for i in range(min(2000, size // 100)):
        safetensors(home, '{"t%d":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}' % i, name="m%d.safetensors" % i)
    return home


def files_links_through_links(directory, size, target="config.json", form="LICENSE%d"):
    """Links of two bytes, each of which leads through 37 others with winding texts."""
    home = directory_with(directory, m__x="")
    steps = size // 2 // 37 // 5
    for i in range(37):
        os.symlink("../model/" * min(steps, 400) + ("c%d" % (i + 1) if i < 36 else target), os.path.join(home, "c%d" % i))
    for i in range(min(3000, size // 60)):
        os.symlink("c0", os.path.join(home, form % i))
    return home


case(allowed=True)(files_links_through_links)


@case(allowed=True)
def files_shards_through_links(directory, size):
    """The same for shards, of which an index has the names."""
    put(directory, "model/w", struct.pack("<Q", 2), "{}")
    home = files_links_through_links(directory, size // 2, "w", "m%d.safetensors")
    put(home, "model.safetensors.index.json", '{"metadata":{},"weight_map":{%s}}' % ",".join(
        '"t%d":"m%d.safetensors"' % (i, i) for i in range(min(3000, size // 2 // 60))))
    return home


MOST_PARTS = 64


@case(allowed=True)
def files_parts_through_links(directory, size):
    """The same for the parts of a pipeline."""
    home = files_links_through_links(directory, size, "p", "p%d")
    put(home, "p/config.json", "{}")
    put(home, "model_index.json", '{"_class_name":"P",%s}' % ",".join('"p%d":["diffusers","M"]' % i for i in range(MOST_PARTS)))
    return home


def pipeline_of(directory, parts):
    home = os.path.join(directory, "pipe")
    put(home, "model_index.json", '{"_class_name":"P",%s}' % ",".join('"p%d":["diffusers","M"]' % i for i in range(parts)))
    return home


def linked_pipeline(directory, parts, size):
    """The first part has weights of so many bytes, and the others are links to it."""
    home = pipeline_of(directory, parts)
    safetensors(os.path.join(home, "p0"), empty_tensors([name(i) for i in range(size // 56)], [0]), b"",
                "diffusion_pytorch_model.safetensors")
    put(home, "p0/config.json", "{}")
    for i in range(1, parts):
        os.symlink("p0", os.path.join(home, "p%d" % i))
    return home


@case
def files_model_index(directory, size):
    """More parts than are allowed."""
    return linked_pipeline(directory, min(2000, size // 60), size // 2)


@case
def files_model_index_parts(directory, size):
    parts = min(1000, size // 200)
    home = pipeline_of(directory, parts)
    for i in range(parts):
        safetensors(os.path.join(home, "p%d" % i), "{%s}" % TENSOR, name="diffusion_pytorch_model.safetensors")
        put(home, "p%d/config.json" % i, "{}")
    return home


@case
def files_model_index_most_links(directory, size):
    """As many parts as are allowed, all of them links to the first."""
    return linked_pipeline(directory, MOST_PARTS, size - 4000)


@case
def files_model_index_most_hard_links(directory, size):
    """As many parts as are allowed; the weights of all are one file."""
    home = pipeline_of(directory, MOST_PARTS)
    weights = "diffusion_pytorch_model.safetensors"
    safetensors(os.path.join(home, "p0"), empty_tensors([name(i) for i in range((size - 6000) // 56)], [0]), b"", weights)
    put(home, "p0/config.json", "{}")
    for i in range(1, MOST_PARTS):
        put(home, "p%d/config.json" % i, "{}")
        os.link(os.path.join(home, "p0", weights), os.path.join(home, "p%d" % i, weights))
    return home


@case
def files_model_index_most_deflated(directory, size):
    """As many parts as are allowed, each a pickle of 400 KB in a few hundred bytes."""
    home = pipeline_of(directory, MOST_PARTS)
    path = torch_files.torch_deflated(home, [torch_files.dictionary([
        torch_files.pickled(b"k"), b"](" + b"K\1" * 200000 + b"e"])])
    for i in range(MOST_PARTS):
        put(home, "p%d/config.json" % i, "{}")
        shutil.copy(path, os.path.join(home, "p%d" % i, "diffusion_pytorch_model.bin"))
    os.remove(path)
    return home


@case
def files_model_index_absent(directory, size):
    return os.path.dirname(put(directory, "pipe/model_index.json", '{"_class_name":"P",%s}' % ",".join(
        '"p%d":["diffusers","M"]' % i for i in range(size // 24))))


# ---- shards that are one file ----

def linked(directory, size, suffix, build, index):
    """An index of many shards, which are links to one file."""
    home = os.path.join(directory, "model")
    count = min(1000, size // 2 // 60)
    first = build(home)
    for i in range(1, count):
        os.link(first, os.path.join(home, "m%d.%s" % (i, suffix)))
    put(home, index, '{"metadata":{},"weight_map":{%s}}' % ",".join('"t%d":"m%d.%s"' % (i, i, suffix) for i in range(count)))
    put(home, "config.json", '{"model_type":"llama"}')
    return home


@case
def index_one_shard_again(directory, size):
    entries = '"t0":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'
    metadata = ",".join('"%s":"v"' % name(i) for i in range(size // 2 // 10))
    return linked(directory, size, "safetensors", lambda home: safetensors(
        home, '{"__metadata__":{%s},%s}' % (metadata, entries), b"", "m0.safetensors"), "model.safetensors.index.json")


@case
def index_one_shard_of_tensors_again(directory, size):
    names = ["t0"] + [name(i) + "." for i in range(size // 2 // 60)]
    return linked(directory, size, "safetensors", lambda home: safetensors(
        home, empty_tensors(names, [0]), b"", "m0.safetensors"), "model.safetensors.index.json")


@case
def index_one_torch_shard_again(directory, size):
    def build(home):
        path = torch_files.torch(home, torch_files.dictionary(
            torch_files.pickled(name(i).encode()) + b"K\1" for i in range(size // 2 // 10)))
        os.rename(path, os.path.join(home, "m0.bin"))
        return os.path.join(home, "m0.bin")
    return linked(directory, size, "bin", build, "pytorch_model.bin.index.json")


@case
def index_torch_shards_deflated(directory, size):
    """Each a pickle of 4 MB in 5 KB."""
    home = os.path.join(directory, "model")
    path = torch_files.torch_deflated(home, [torch_files.dictionary([
        torch_files.pickled(b"k"), b"](" + b"K\1" * 300000 + b"e"])])
    each = os.path.getsize(path)
    count = max(1, size // (each + 40))
    for i in range(count):
        shutil.copy(path, os.path.join(home, "m%d.bin" % i))
    os.remove(path)
    put(home, "config.json", '{"model_type":"llama"}')
    put(home, "pytorch_model.bin.index.json", '{"metadata":{},"weight_map":{%s}}' % ",".join(
        '"t%d":"m%d.bin"' % (i, i) for i in range(count)))
    return home


@case
def index_shards_with_trees(directory, size):
    """Each has as many values as one file may have."""
    home = os.path.join(directory, "model")
    each = min(600000, size)
    count = max(1, size // each)
    tree = json.dumps('{"tare":1,"metadata":{"x":[%s]}}' % ",".join(["0"] * (each // 2)))
    for i in range(count):
        safetensors(home, '{"__metadata__":{"__tare__":%s},"t%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' % (tree, i),
                    b"", "m%d.safetensors" % i)
    put(home, "config.json", '{"model_type":"llama"}')
    put(home, "model.safetensors.index.json", '{"metadata":{},"weight_map":{%s}}' % ",".join(
        '"t%d":"m%d.safetensors"' % (i, i) for i in range(count)))
    return home


@case
def index_long_shard_names(directory, size):
    return put(directory, "model.safetensors.index.json", '{"metadata":{},"weight_map":{%s}}' % ",".join(
        '"%s":"%s.safetensors"' % (name(i), "n" * 30000 + name(i)) for i in range(max(1, size // 30030))))


@case
def index_long_tensor_names(directory, size):
    safetensors(directory, "{%s}" % TENSOR, name="m.safetensors")
    return put(directory, "model.safetensors.index.json", '{"metadata":{},"weight_map":{%s}}' % ",".join(
        '"%s":"m.safetensors"' % ("n" * 1000 + name(i)) for i in range(max(1, size // 1030))))


# ---- what Tare itself adds ----

@case
def tare_json_lists(directory, size):
    return directory_with(directory, tare__json='{"tare":1,"attributes":{%s}}' % ",".join(
        '"%s":{"a":1}' % name(i) for i in range(size // 18)))


# ---- adapters ----

def adapter(directory, size, config, count, form="base_model.model.model.layers.%d.self_attn.q_proj.lora_%s.weight"):
    home = os.path.join(directory, "adapter")
    names = [form % (i // 2, "AB"[i % 2]) for i in range(count)]
    entry = '"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}'
    safetensors(home, "{%s}" % ",".join(entry % (n, ("[1,4]", "[4,1]")[i % 2], 16 * i, 16 * i + 16) for i, n in enumerate(names)),
                bytes(16 * count), "adapter_model.safetensors")
    put(home, "adapter_config.json", json.dumps({"peft_type": "LORA", "r": 1, "lora_alpha": 1, **config}))
    return home


BOTH = ("info", "verify", "convert zt", "convert hf", "merge", "merge into it")


@case(verbs=BOTH)
def adapter_layers(directory, size):
    return adapter(directory, size, {}, size // 150)


@case(verbs=BOTH)
def adapter_alpha_pattern(directory, size):
    return adapter(directory, size, {"alpha_pattern": {p: 1 for p in some(".*%s.*x", size // 2)}}, size // 300)


@case(verbs=BOTH)
def adapter_alpha_pattern_long(directory, size):
    """Patterns that can be matched in many ways."""
    return adapter(directory, size, {"alpha_pattern": {p: 1 for p in some("^.*a.*a.*a.*a.*a.*a.*a.*a%s$", size // 2)}}, size // 300)


@case(verbs=BOTH)
def adapter_one_pattern(directory, size):
    return adapter(directory, size, {"alpha_pattern": {".*a" * (size // 6): 1}}, size // 300)


@case(verbs=BOTH)
def adapter_rank_pattern(directory, size):
    return adapter(directory, size, {"rank_pattern": {p: 1 for p in some("%s", size // 2)}}, size // 300)


@case(verbs=BOTH)
def adapter_target_modules(directory, size):
    return adapter(directory, size, {"target_modules": some("%s", size // 4), "modules_to_save": some("%s", size // 4)}, size // 300)


@case(verbs=BOTH)
def adapter_long_base(directory, size):
    return adapter(directory, size, {"base_model_name_or_path": "n" * (size // 2)}, size // 300)


@case(verbs=BOTH)
def adapter_long_module(directory, size):
    return adapter(directory, size, {}, 2, "base_model.model." + "a." * (size // 8) + "%d.lora_%s.weight")


@case(verbs=BOTH)
def adapter_ranks_of_nothing(directory, size):
    home = adapter(directory, size, {}, 2)
    safetensors(home, '{"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight":{"dtype":"F32","shape":[1000000000000,0],'
                '"data_offsets":[0,0]},"base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight":{"dtype":"F32","shape":'
                '[0,1000000000000],"data_offsets":[0,0]}}', b"", "adapter_model.safetensors")
    return home


# ---- importance ----

@case(verbs=("importance",))
def imatrix_entries(directory, size):
    """Entries without a value, of 65,536 names."""
    count = size // 16
    return put(directory, "m.dat", struct.pack("<i", count),
               b"".join(struct.pack("<i4sii", 4, b"%04x" % (i & 0xFFFF), 1, 0) for i in range(count)))


@case(verbs=("importance",))
def imatrix_count_without_bytes(directory, size):
    return put(directory, "m.dat", struct.pack("<i", 0x7FFFFFFF), struct.pack("<i", 0), bytes(size))


@case(verbs=("importance",))
def imatrix_gguf(directory, size):
    """Sums and counts of many tensors, none of which has an element."""
    return gguf.gguf(directory, (), [gguf.info("b.%d.%s" % (i // 2, ("in_sum2", "counts")[i % 2]), ((0, 0), (0,))[i % 2])
                                     for i in range(size // 60)])


@case(verbs=("importance",))
def imatrix_experts_of_nothing(directory, size):
    """Sums of 2^40 experts without columns, with as many counts: of no elements."""
    return gguf.gguf(directory, (), [gguf.info("b.in_sum2", (0, 1 << 40)), gguf.info("b.counts", (1 << 40, 0))])
