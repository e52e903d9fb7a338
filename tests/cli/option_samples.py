"""A sample of every option of `tare convert`: what is written, as the command spells it and as Python does.

    SAMPLES[option] = [(words of the command, input, output, keyword arguments of tare.convert), ...]

A new option of the command needs a sample here: the tests that walk this table compare it with `tare convert --help`. An
output that ends in / is a directory. Keyword arguments are None where Python has no such option.
"""

import json
import os
import re
import struct
import subprocess

# What a sample is for is in its first words; the rest makes it an order that can be followed.
SAMPLES = {
    "to": [(["--to", "zt"], "mistral", "out.bin", {"format": "zt"})],
    "dtype": [
        (["--dtype", "f16"], "mistral", "out.gguf", {"dtype": "f16"}),
        (["--dtype", "f32"], "mistral", "out.zt", {"dtype": "f32"}),
        (["--dtype", "u8"], "mistral", "out.gguf", {"dtype": "u8"}),
    ],
    "overflow": [
        (["--dtype", "f16", "--overflow", "clamp"], "wide.zt", "out.zt", {"dtype": "f16", "overflow": "clamp"}),
        (["--dtype", "f16", "--overflow", "infinity"], "wide.zt", "out.zt", {"dtype": "f16", "overflow": "infinity"}),
        (["--dtype", "f16", "--overflow", "error"], "wide.zt", "out.zt", {"dtype": "f16", "overflow": "error"}),
    ],
    "quant": [
        (["--quant", "q8_0"], "mistral", "out.gguf", {"quant": "q8_0"}),
        (["--quant", "k4"], "mistral", "out.mcf", {"quant": "k4"}),
        (["--quant", "k4"], "mistral", "out.gguf", {"quant": "k4"}),
    ],
    "range": [(["--quant", "int4", "--range"], "mistral", "out.mcf", {"quant": {"method": "int4", "range": True}})],
    "merge": [
        (["--merge", "lora"], "mistral", "out.zt", {"merge": "lora"}),
        (["--merge", "lora"], "mistral", "out.gguf", {"merge": ["lora"]}),
        (["--merge", "lora", "--merge", "lora"], "mistral", "out/", {"merge": ["lora", "lora"]}),
        (["--merge", "lora", "--weights-only"], "mistral", "out.safetensors", {"merge": "lora", "weights_only": True}),
        (["--merge", "lora"], "mistral.gguf", "out.gguf", {"merge": "lora"}),
        (["--merge", "lora.gguf", "--zstd"], "mistral", "out.zt", {"merge": "lora.gguf", "zstd": True}),
        (["--merge", "mistral"], "mistral", "out.zt", {"merge": "mistral"}),
        (["--merge", "missing"], "mistral", "out.zt", {"merge": "missing"}),
    ],
    "family": [
        (["--family", "mistral"], "mistral", "out.gguf", {"family": "mistral"}),
        (["--family", "LlamaForCausalLM"], "mistral", "out.gguf", {"family": "LlamaForCausalLM"}),
        (["--family", "nonsense"], "mistral", "out.gguf", {"family": "nonsense"}),
    ],
    "mmproj": [
        (["--mmproj", "tower.gguf"], "mistral", "out.gguf", {"mmproj": "tower.gguf"}),
        (["--mmproj", "tower.gguf"], "mistral", "out.zt", {"mmproj": "tower.gguf"}),
        (["--mmproj", "mistral.gguf"], "mistral.gguf", "out/", {"mmproj": "mistral.gguf"}),
    ],
    "dialect": [
        (["--dialect", "altc"], "twice.zt", "out.alt", {"dialect": "altc"}),
        (["--dialect", "store"], "mistral", "out.zt2", {"dialect": "store"}),
        (["--dialect", "nonsense"], "mistral", "out.zt", {"dialect": "nonsense"}),
    ],
    "zstd": [
        (["--zstd"], "mistral", "out.zt", {"zstd": True}),
        (["--zstd=9", "--dtype", "f32"], "mistral", "out.zt", {"zstd": 9, "dtype": "f32"}),
        (["--zstd"], "mistral", "out.zt2", {"zstd": 3}),
        (["--zstd"], "mistral", "out.gguf", {"zstd": 3}),
    ],
    "no-zstd": [
        (["--no-zstd"], "packed.zt", "out.zt", {"no_zstd": True}),
        (["--no-zstd", "--zstd"], "packed.zt", "out.zt", {"no_zstd": True, "zstd": 3}),
    ],
    "digest": [
        (["--digest", "sha256"], "mistral", "out.zt", {"digest": "sha256"}),
        (["--digest", "none"], "digested.zt", "out.zt", {"digest": "none"}),
        (["--digest", "xxh3", "--zstd"], "digested.zt", "out.zt", {"digest": "xxh3", "zstd": 3}),
        (["--digest", "xxh3"], "digested.zt", "out.zt2", {"digest": "xxh3"}),
        (["--digest", "sha256"], "mistral", "out.gguf", {"digest": "sha256"}),
    ],
    "dedup": [
        (["--dedup"], "twice.zt", "out.mcf", {"dedup": True}),
        (["--dedup"], "twice.zt", "out.zt", {"dedup": True}),
    ],
    "shard": [
        (["--shard", "50K"], "mistral", "out/", {"shard": "50K"}),
        (["--shard", "0.05MB"], "mistral", "out/", {"shard": "0.05MB"}),
        (["--shard", "50KiB"], "mistral", "out/", {"shard": "50KiB"}),
        (["--shard", "a lot"], "mistral", "out/", {"shard": "a lot"}),
    ],
    "match": [(["--match", "*q_proj*"], "mistral", "out.zt", {"match": "*q_proj*"})],
    "skip": [
        (["--skip", "*q_proj*"], "mistral", "out.zt", {"skip": ["*q_proj*"]}),
        (["--skip", "nothing"], "mistral", "out.zt", {"skip": ["nothing"]}),
    ],
    "drop": [(["--drop", "vocabulary", "--drop", "attachments"], "mistral", "out.zt", {"drop": ["vocabulary", "attachments"]})],
    "weights-only": [(["--weights-only"], "mistral", "out.safetensors", {"weights_only": True})],
    "names": [(["--names", "keep"], "mistral", "out.gguf", {"keep_names": True})],
    "attach": [
        (["--attach", "*.txt"], "mistral", "out.zt", {"attach": "*.txt"}),
        (["--attach", "*.txt"], "digested.zt", "out.zt", {"attach": "*.txt"}),
    ],
    "set": [(["--set", "author=me", "--set", "n=3"], "mistral", "out.zt", {"metadata": {"author": "me", "n": 3}})],
    "check": [
        (["--check"], "digested.zt", "out.zt", {"check": True}),
        (["--check", "--dtype", "f32"], "damaged.zt", "out.zt", {"check": True, "dtype": "f32"}),
    ],
    "force": [(["--force"], "mistral", "exists.zt", {"overwrite": True}), ([], "mistral", "exists.zt", {})],
    "verbose": [(["--verbose"], "mistral", "out.zt", None)],
    "json": [(["--json"], "mistral", "out.zt", None)],
    "no-mmap": [(["--no-mmap"], "packed.zt", "out.zt", {"mmap": False})],
    "max-expansion": [(["--max-expansion", "64"], "packed.zt", "out.zt", {"max_expansion": 64})],
    "threads": [(["--threads", "2", "--quant", "q4_0"], "mistral", "out.gguf", {"threads": 2, "quant": "q4_0"})],
}
# Orders of `tare quantize`: (words of the command, output, keyword arguments of tare.quantize), of the directory mistral.
QUANTIZE_SAMPLES = [
    (["--method", "k4"], "out.mcf", {"method": "k4"}),
    (["--method", "q4_k_m"], "out.gguf", {"method": "q4_k_m"}),
    (["--method", "nonsense"], "out.mcf", {"method": "nonsense"}),
    (["--method", "k4", "--method", "*down*=k6"], "out.mcf", {"method": "k4", "rules": [("*down*", "k6")]}),
    (["--method", "k4", "--keep", "*q_proj*"], "out.mcf", {"method": "k4", "keep": ["*q_proj*"]}),
    (["--method", "k4", "--embeddings", "q8", "--head", "keep"], "out.mcf",
     {"method": "k4", "rules": [("*embed_tokens*", "q8"), ("lm_head*", "keep")]}),
    (["--method", "q4_0", "--pure"], "out.gguf", {"method": "q4_0", "pure": True}),
    (["--method", "k4", "--no-fallback"], "out.gguf", {"method": "k4", "no_fallback": True}),
    (["--method", "k4", "--fast"], "out.mcf", {"method": "k4", "fast": True}),
    (["--method", "k4", "--clip", "-0.1,0.1"], "out.mcf", {"method": "k4", "clip": (-0.1, 0.1)}),
    (["--method", "k4", "--clip", "1,0"], "out.mcf", {"method": "k4", "clip": (1, 0)}),
    (["--method", "int4", "--range"], "out.mcf", {"method": "int4", "range": True}),
    (["--method", "int8", "--range", "--clip", "-1,1"], "out.mcf", {"method": "int8", "range": True, "clip": (-1, 1)}),
    (["--method", "k4", "--importance", "importance.safetensors"], "out.mcf", {"method": "k4", "importance": "importance.safetensors"}),
    (["--method", "k4", "--importance", "missing"], "out.mcf", {"method": "k4", "importance": "missing"}),
    (["--bits", "4.5"], "out.mcf", {"bits": 4.5}),
    (["--bits", "5"], "out.gguf", {"bits": 5}),
    (["--bits", "-1"], "out.mcf", {"bits": -1}),
    (["--bits", "4.5", "--method", "k4"], "out.mcf", {"method": "k4", "bits": 4.5}),
    (["--method", "q8_0", "--digest", "sha256"], "out.zt", {"method": "q8_0", "digest": "sha256"}),
    (["--method", "group4", "--zstd=3", "--threads", "2"], "out.zt", {"method": "group4", "zstd": 3, "threads": 2}),
    (["--method", "group4", "--no-zstd"], "out.zt", {"method": "group4", "no_zstd": True}),
    (["--method", "k4", "--dedup"], "out.mcf", {"method": "k4", "dedup": True}),
    (["--method", "group4", "--dialect", "store"], "out.zt2", {"method": "group4", "dialect": "store"}),
    (["--method", "k4", "--dtype", "f32"], "out.mcf", {"method": "k4", "dtype": "f32"}),
    (["--method", "k4", "--dtype", "f16", "--overflow", "clamp"], "out.zt", {"method": "k4", "dtype": "f16", "overflow": "clamp"}),
    (["--method", "k4", "--match", "*q_proj*"], "out.zt", {"method": "k4", "match": "*q_proj*"}),
    (["--method", "k4", "--skip", "*q_proj*", "--check"], "out.zt", {"method": "k4", "skip": "*q_proj*", "check": True}),
    (["--method", "k4", "--merge", "lora"], "out.mcf", {"method": "k4", "merge": "lora"}),
    (["--method", "q8_0", "--family", "LlamaForCausalLM"], "out.gguf", {"method": "q8_0", "family": "LlamaForCausalLM"}),
    (["--method", "q8_0", "--mmproj", "tower.gguf"], "out.gguf", {"method": "q8_0", "mmproj": "tower.gguf"}),
    (["--method", "k4", "--drop", "vocabulary", "--drop", "attachments"], "out.zt", {"method": "k4", "drop": ["vocabulary", "attachments"]}),
    (["--method", "k4", "--weights-only"], "out.zt", {"method": "k4", "weights_only": True}),
    (["--method", "q8_0", "--names", "keep", "--weights-only"], "out.gguf", {"method": "q8_0", "keep_names": True, "weights_only": True}),
    (["--method", "k4", "--attach", "*.txt", "--set", "author=me"], "out.zt", {"method": "k4", "attach": "*.txt", "metadata": {"author": "me"}}),
    (["--method", "q8_0", "--shard", "50K"], "out/", {"method": "q8_0", "shard": "50K"}),
    (["--method", "q8_0", "--to", "gguf", "--no-mmap", "--max-expansion", "64"], "out.bin",
     {"method": "q8_0", "format": "gguf", "mmap": False, "max_expansion": 64}),
    (["--method", "k4"], "exists.zt", {"method": "k4"}),
    (["--method", "k4", "--force"], "exists.zt", {"method": "k4", "overwrite": True}),
]  # fmt: skip


def safetensors(tensors):
    """Bytes of a file of f32 tensors: {name: (shape, numbers)}."""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        part = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def make_files(folder, tare):
    """The inputs of the samples, in `folder`. `tare` runs the command there."""
    folder.mkdir(exist_ok=True)
    tare("demo", "--force", "demo", "-q")
    os.rename(folder / "demo" / "mistral", folder / "mistral")
    (folder / "mistral" / "notes.txt").write_text("notes\n")
    lora = folder / "lora"
    lora.mkdir()
    (lora / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 2, "lora_alpha": 4}\n')
    (lora / "config.json").write_bytes((folder / "mistral" / "config.json").read_bytes())
    layer = "base_model.model.model.layers.{}.{}.lora_{}.weight"
    tensors = {}
    for number in (0, 1):
        for module, rows, columns in (("self_attn.q_proj", 64, 64), ("self_attn.k_proj", 32, 64), ("mlp.down_proj", 64, 128)):
            tensors[layer.format(number, module, "A")] = ([2, columns], [(i * 7 % 23 - 11) / 64 for i in range(2 * columns)])
            tensors[layer.format(number, module, "B")] = ([rows, 2], [(i * 5 % 19 - 9) / 32 for i in range(2 * rows)])
    (lora / "adapter_model.safetensors").write_bytes(safetensors(tensors))
    tare("convert", "lora", "lora.gguf", "-q")
    columns = {"model.layers.0.mlp.up_proj.weight": ([64], [0.1 + i / 32 for i in range(64)])}
    (folder / "importance.safetensors").write_bytes(safetensors(columns))
    tare("convert", "mistral", "mistral.gguf", "-q")
    tare("convert", "mistral", "packed.zt", "--zstd", "-q")
    tare("convert", "mistral", "digested.zt", "--digest", "sha256", "-q")
    row = json.loads(tare("ls", "digested.zt", "--json"))["tensors"][3]["components"]["data"]
    damaged = bytearray((folder / "digested.zt").read_bytes())
    damaged[row["offset"] + row["bytes"] // 2] ^= 1
    (folder / "damaged.zt").write_bytes(damaged)
    for name, numbers in (("wide", [1.0, 1e6, -1e9, 0.5]), ("twice", [1.0, 2.0, 3.0, 4.0])):
        (folder / "one.safetensors").write_bytes(safetensors({"a": ([2, 2], numbers), "b": ([2, 2], numbers)}))
        tare("convert", "one.safetensors", f"{name}.zt", "-q")


def options_of(tare, verb):
    """The names of a verb's options, as its help lists them."""
    return set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", tare(verb, "--help"), re.MULTILINE))


def runner(command, folder):
    """A function that runs the command in a folder, and returns what it printed."""

    # What a Python with a sanitizer needs to be loaded first, the command has in itself.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def tare(*words):
        return subprocess.run([command, *words], cwd=folder, check=True, capture_output=True, text=True, env=environment).stdout

    return tare


def content(path):
    """What was written: {relative name: bytes}; None for nothing."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            return {"": file.read()}
    found = {}
    for root, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                found[os.path.relpath(os.path.join(root, name), path)] = file.read()
    return found or None
