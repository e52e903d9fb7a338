#!/usr/bin/env python3
"""GGUF files next to the programs that the format comes from.

    interop.py TARE        (TARE: the command; 77: no package of those is there)

`gguf`: its reader on our files and ours on its, values, types and keys. `torch`, `transformers`: a small model of each
architecture, taken to GGUF and back, computes and splits texts as before, also from the keys alone. `llama_cpp`: what it
generates from our file is what `transformers` generates from the directory. Each part is left out, in words, where its
package is missing.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

# A folder of the tests is called llama_cpp, too: a module has a file.
THERE = {name: getattr(importlib.util.find_spec(name), "origin", None) is not None
         for name in ("gguf", "numpy", "torch", "transformers", "llama_cpp")}
TEXTS = ["It's a test of 12345 things, isn't it?  Hello\n\nworld \u00e4\u00f6\u00fc \u65e5\u672c", "the quick", " a blank first",
         "tabs\tand   blanks\r\n"]
TRAINING = ["the quick brown fox jumps over the lazy dog. Hello world 12345! " * 20,
            "It's a test, isn't it? \u00e4\u00f6\u00fc \u65e5\u672c na\u00efve\n\n  blanks\ttabs " * 20]
GENERATED = 24
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def run(tare, *arguments):
    done = subprocess.run([tare, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tare {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


# ---- the package gguf ----

def write_theirs(path, endian):
    import gguf
    import numpy
    random = numpy.random.default_rng(1)
    out = gguf.GGUFWriter(path, "llama", endianess=endian)
    out.add_name("theirs")
    out.add_context_length(128)
    out.add_embedding_length(64)
    out.add_layer_norm_rms_eps(1e-5)
    for key, add, value in (("x.u8", out.add_uint8, 200), ("x.i8", out.add_int8, -3), ("x.u16", out.add_uint16, 60000),
                            ("x.i16", out.add_int16, -9), ("x.u64", out.add_uint64, 2**63 + 5), ("x.i64", out.add_int64, -7),
                            ("x.f64", out.add_float64, 0.1), ("x.bool", out.add_bool, True)):
        add(key, value)
    out.add_array("x.ints", [1, -2, 3])
    out.add_array("x.texts", ["a", "b\u00e9"])
    out.add_tokenizer_model("gpt2")
    out.add_token_list(["a", "\u0120b", "<|end|>"])
    out.add_token_types([1, 1, 3])
    out.add_token_merges(["a b", "\u0120 b"])
    out.add_eos_token_id(2)
    out.add_tensor("f32", random.standard_normal((4, 64), dtype=numpy.float32))
    out.add_tensor("f16", random.standard_normal((2, 3, 32)).astype(numpy.float16))
    out.add_tensor("i32", numpy.arange(5, dtype=numpy.int32))
    if endian == gguf.GGUFEndian.LITTLE:
        kind = gguf.GGMLQuantizationType.Q8_0
        out.add_tensor("q8_0", gguf.quants.quantize(random.standard_normal((3, 64), dtype=numpy.float32), kind), raw_dtype=kind)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def values_of(tensor):
    import gguf
    plain = ("F64", "F32", "F16", "I8", "I16", "I32", "I64")
    return tensor.data if tensor.tensor_type.name in plain else gguf.quants.dequantize(tensor.data, tensor.tensor_type)


def compare_package(tare, folder):
    import gguf
    import numpy
    for endian in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        theirs, ours = folder / f"theirs{int(endian)}.gguf", folder / "ours.gguf"
        write_theirs(theirs, endian)
        run(tare, "verify", "--strict", theirs)
        run(tare, "convert", theirs, ours, "--force", "--names", "keep")
        if endian == gguf.GGUFEndian.LITTLE:
            check(theirs.read_bytes() == ours.read_bytes(), "their file, read and written, is the same file")
        a, b = gguf.GGUFReader(theirs), gguf.GGUFReader(ours)
        keys = [key for key in a.fields if not key.startswith("GGUF.")]
        check(keys == [key for key in b.fields if not key.startswith("GGUF.")], "their reader finds the keys in their order")
        for key in keys:
            check(a.fields[key].types == b.fields[key].types and a.fields[key].contents() == b.fields[key].contents(),
                  f"their reader finds {key}")
        for one, other in zip(a.tensors, b.tensors):
            check(one.name == other.name and one.tensor_type == other.tensor_type and list(one.shape) == list(other.shape),
                  f"their reader finds {one.name}")
            check(numpy.array_equal(values_of(one), values_of(other)), f"their reader finds the values of {one.name}")
            values = numpy.frombuffer(subprocess.run([tare, "cat", theirs, one.name, "--as", "f32"],
                                                     capture_output=True).stdout, numpy.float32)
            expected = values_of(one).astype(numpy.float32).ravel()
            check(numpy.array_equal(values, expected), f"we find the values of {one.name}")


# ---- models of each architecture ----

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def byte_level(pattern, begins=False):
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=400, special_tokens=["<|begin|>", "<|end|>"],
                                                           initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    if begins:
        made.post_processor = processors.TemplateProcessing(
            single="<|begin|> $A", pair="<|begin|> $A <|begin|> $B", special_tokens=[("<|begin|>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<|begin|>", eos_token="<|end|>")


def pieces(prepend=True):
    from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers
    from transformers import PreTrainedTokenizerFast
    made = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence(([normalizers.Prepend("\u2581")] if prepend else []) +
                                           [normalizers.Replace(" ", "\u2581")])
    made.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()] +
                                     ([decoders.Strip(" ", 1, 0)] if prepend else []))
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    made.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=600, special_tokens=special))
    file = json.loads(made.to_str())
    file["added_tokens"] = [token for token in file["added_tokens"] if not token["content"].startswith("<0x")]
    frame = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    file["post_processor"] = json.loads(frame.__getstate__())
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(file)), bos_token="<s>", eos_token="</s>",
                                   unk_token="<unk>")


def architectures():
    import transformers as t
    common = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=256)
    scaling = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64)
    gemma = dict(head_dim=32, sliding_window=64, query_pre_attn_scalar=32)
    moe = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32)
    return {
        "llama": (t.LlamaConfig(**common), pieces()),
        "llama3": (t.LlamaConfig(**common, rope_theta=500000.0, rope_scaling=scaling), byte_level(LLAMA3, True)),
        "mistral": (t.MistralConfig(**common, sliding_window=None, head_dim=32), pieces()),
        "mixtral": (t.MixtralConfig(**common, num_local_experts=4, num_experts_per_tok=2, sliding_window=None), pieces()),
        "qwen2": (t.Qwen2Config(**common, tie_word_embeddings=True), byte_level(QWEN2)),
        "qwen2_moe": (t.Qwen2MoeConfig(**common, **moe, shared_expert_intermediate_size=64), byte_level(QWEN2)),
        "qwen3": (t.Qwen3Config(**common, head_dim=32), byte_level(QWEN2)),
        "qwen3_moe": (t.Qwen3MoeConfig(**common, **moe, head_dim=32, norm_topk_prob=True), byte_level(QWEN2)),
        "gemma": (t.GemmaConfig(**common, head_dim=32), pieces(False)),
        "gemma2": (t.Gemma2Config(**common, **gemma), pieces(False)),
        "gemma3": (t.Gemma3TextConfig(**common, **gemma), pieces(False)),
        "phi3": (t.Phi3Config(**common, original_max_position_embeddings=256, pad_token_id=0), pieces()),
        "phi3-partial": (t.Phi3Config(**common, original_max_position_embeddings=256, partial_rotary_factor=0.5,
                                      pad_token_id=0), pieces()),
        "phi3-longrope": (t.Phi3Config(**common, original_max_position_embeddings=64, pad_token_id=0,
                                       rope_scaling=dict(rope_type="longrope", long_factor=[1 + i / 4 for i in range(8)],
                                                         short_factor=[1 + i / 16 for i in range(8)])), pieces()),
        "gemma3-padded": (t.Gemma3TextConfig(**common, **gemma), pieces(False)),
        "llama-padded": (t.LlamaConfig(**common), byte_level(LLAMA3, True)),
        "olmo3": (t.Olmo3Config(**common, sliding_window=32, rope_parameters=dict(
            full_attention=dict(rope_type="default", rope_theta=777.0),
            sliding_attention=dict(rope_type="default", rope_theta=777.0))), byte_level(LLAMA3, True)),
        "ministral3": (t.Ministral3Config(**common, head_dim=32), byte_level(LLAMA3, True)),
        "yarn": (t.LlamaConfig(**common, rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=64,
                                                           mscale=1.0, mscale_all_dim=0.5)), byte_level(LLAMA3, True)),
        "gemma3-layers": (t.Gemma3TextConfig(**common, **gemma, layer_types=["sliding_attention", "full_attention",
                                                                             "sliding_attention"]), pieces(False)),
        "smollm3": (t.SmolLM3Config(**dict(common, num_hidden_layers=4), pad_token_id=None), byte_level(LLAMA3, True)),
    }


def make_model(folder, name, config, tokenizer):
    import torch
    from transformers import AutoModelForCausalLM
    torch.manual_seed(1)
    config.vocab_size = len(tokenizer) + (3 if name.endswith("-padded") else 0)  # rows without a token
    config.bos_token_id, config.eos_token_id, config.pad_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id, None
    model = AutoModelForCausalLM.from_config(config).to(torch.float32)
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if weight.dim() >= 2:
                weight.normal_(0, 0.25)
            else:
                # bf16's numbers, so that 1 can be added to a norm and taken away again.
                weight.copy_(weight.clone().normal_(0.1 if "gemma" in name else 1.0, 0.2).to(torch.bfloat16))
    model.save_pretrained(folder / name)
    tokenizer.save_pretrained(folder / name)


def load(folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    return model, AutoTokenizer.from_pretrained(folder)


def greedy(model, ids):
    import torch
    made = torch.tensor([ids])
    with torch.no_grad():
        for _ in range(GENERATED):
            made = torch.cat([made, model(made).logits[:, -1].argmax(-1, keepdim=True)], 1)
    return made[0, len(ids):].tolist()


def compare_directories(folder, name, back, what):
    import torch
    one, one_tokenizer = load(folder / name)
    other, other_tokenizer = load(back)
    for text in TEXTS:
        check(one_tokenizer(text)["input_ids"] == other_tokenizer(text)["input_ids"], f"{name}, {what}: splits {text!r}")
    check(one.config.vocab_size == other.config.vocab_size, f"{name}, {what}: as many rows")
    check(len(one_tokenizer) == len(other_tokenizer), f"{name}, {what}: as many tokens")
    ids = (torch.arange(100)[None] * 7 + 5) % 300  # longer than windows, and than what longrope was trained with
    with torch.no_grad():
        check(torch.equal(one(ids).logits, other(ids).logits), f"{name}, {what}: computes the same")


def compare_generated(folder, name, file):
    import llama_cpp
    model, tokenizer = load(folder / name)
    # The cache in f32, as transformers keeps it: in f16 one near tie in twenty texts falls the other way.
    theirs = llama_cpp.Llama(str(file), n_ctx=256, n_threads=1, verbose=False, logits_all=False,
                             type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32)
    for text in TEXTS[:2]:
        ids = tokenizer(text)["input_ids"]
        check(theirs.tokenize(text.encode(), add_bos=True, special=True) == ids, f"{name}: llama.cpp splits {text!r}")
        made = []
        for token in theirs.generate(ids, temp=0.0, top_k=1, repeat_penalty=1.0):
            made.append(token)
            if len(made) == GENERATED:
                break
        check(made == greedy(model, ids), f"{name}: llama.cpp generates the same")


# As another program would have written it: nothing but llama.cpp's keys.
def without_ours(path):
    import gguf
    theirs = gguf.GGUFReader(path)
    bare = path.with_suffix(".bare")
    out = gguf.GGUFWriter(bare, theirs.fields["general.architecture"].contents())
    for key, field in theirs.fields.items():
        # The tables of Phi 3's factors are all that llama.cpp's converter writes of longrope.
        if key.startswith(("GGUF.", "tare.")) or key in ("general.architecture", "phi3.rope.scaling.type"):
            continue
        array = field.types[0] == gguf.GGUFValueType.ARRAY
        out.add_key_value(key, field.contents(), field.types[0], field.types[-1] if array else None)
    for tensor in theirs.tensors:
        out.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    bare.replace(path)


def compare_models(tare, folder):
    import transformers
    transformers.logging.set_verbosity_error()
    for name, (config, tokenizer) in architectures().items():
        make_model(folder, name, config, tokenizer)
        file, bare = folder / f"{name}.gguf", folder / f"{name}.bare.gguf"
        run(tare, "convert", folder / name, file)
        run(tare, "verify", "--strict", file)
        run(tare, "convert", file, f"{folder}/{name}.back/")
        hashes = run(tare, "hash", folder / name, folder / f"{name}.back").split()
        check(hashes[0] == hashes[2], f"{name}: the same tensors come back")
        compare_directories(folder, name, folder / f"{name}.back", "there and back")
        run(tare, "convert", folder / name, bare, "--drop", "attachments")
        if THERE["gguf"]:
            without_ours(bare)
        said = subprocess.run([tare, "convert", bare, f"{folder}/{name}.made/"], capture_output=True, text=True, check=True).stderr
        check("warning" not in said, f"{name}: nothing is lost on the way from the keys: {said}")
        compare_directories(folder, name, folder / f"{name}.made", "from the keys")
        if THERE["llama_cpp"]:
            compare_generated(folder, name, file)
        print(f"{name}: done", flush=True)


def main():
    tare = sys.argv[1]
    missing = [name for name, there in THERE.items() if not there]
    if "gguf" in missing and "transformers" in missing:
        print(f"skipped: no {', '.join(missing)}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        if THERE["gguf"] and THERE["numpy"]:
            compare_package(tare, folder)
        if THERE["torch"] and THERE["transformers"]:
            compare_models(tare, folder)
    if missing:
        print(f"left out what needs {', '.join(missing)}")
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
