#!/usr/bin/env python3
"""Every verb with --json prints what docs/schema/tare.json describes: real outputs, and errors, are validated against it.

    json_schema.py TARE BUILD

Every verb that has the option is tried, every definition is used, and every key of the schema appears in an output at least once, so
that nothing in it is only a promise.
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests/remote"))
import schema as checker  # noqa: E402
import server  # noqa: E402

# Keys that none of the outputs below has, and why.
UNSEEN = {("vocab_merges", "bytes"): "merges are spelled in characters; only a damaged file has others"}
# A line for bash, and the definition that each of its outputs has: one JSON value, or one for each line.
SAMPLES = [
    ("info", "tare info mistral --json"),
    ("info", "tare info mistral mistral.zt demo.npy --json"),
    ("info", "tare info pipeline --json"),
    ("info", "tare info lora --json"),
    ("info", "tare info gptq.safetensors --json"),
    ("info", "tare info broken.gguf --json || true"),
    ("ls", "tare ls mistral --json"),
    ("ls", "tare ls shards --json"),
    ("ls", "tare ls demo.zt --json"),
    ("ls", "tare ls digested.zt --json"),
    ("ls", "tare ls broken.gguf --json || true"),
    ("show", "tare show mistral model.norm.weight --json"),
    ("show", "tare show numbers.npy numbers --json"),
    ("show", "tare show nothing.npy nothing --json"),
    ("extract", "tare extract mistral --json"),
    ("meta", "tare meta mistral --json"),
    ("meta", "tare meta model.gguf general.architecture --json"),
    ("meta", "tare meta model.gguf --set llama.context_length=7 --dry-run --json"),
    ("meta", "tare meta model.gguf --set tokenizer.chat_template=x --json"),
    ("vocab", "tare vocab mistral --json"),
    ("vocab", "tare vocab bpe --json"),
    ("vocab", "tare vocab bpe --merges --json"),
    ("tokens", "tare tokens bpe ab '\u00e4b' $'a\\xffb' --pieces --json"),
    ("tokens", "tare tokens bpe ab --json"),
    ("tokens", "tare tokens bpe --decode 2,3 --json"),
    ("tokens", "tare tokens bpe --decode 2,0 --json"),
    ("convert", "tare convert mistral c.alt --json"),
    ("convert", "tare convert mistral c.npz --dtype f16 --weights-only --json"),
    ("quantize", "tare quantize mistral q.mcf --method k4 --json"),
    ("quantize", "tare quantize mistral q.gguf --method q4_k_m --json"),
    ("append", "tare append mistral.zt demo.npy --json"),
    ("plan", "tare plan job.json --tasks 2 --json -- mistral p.zt"),
    ("task", "tare task job.json 1 --json"),
    ("finish", "seq 0 1 | xargs -n 1 tare task job.json -q && tare finish job.json --json"),
    ("run", "tare run demo.tllm --tokens 1,2 -n 3 --json"),
    ("run", "tare run mistral -p model -n 3 --json"),
    ("run", "tare run demo.tllm --tokens 1,2 --logits --json"),
    ("run", "tare run demo.tllm --tokens 1 -n 3 --vocab tokens.txt --merges merges.txt --json"),
    ("verify", "tare verify mistral demo.zt nowhere cut.zt cut.gguf --json || true"),
    ("hash", "tare hash mistral mistral.zt --json"),
    ("calibrate", "tare calibrate mistral --tokens ids.txt --context 20 --damage -o calibrated.gguf --json"),
    ("quantize", "tare quantize mistral measured.mcf --method k4 --measure --json"),
    ("perplexity", "tare perplexity mistral --tokens ids.txt --context 20 --json"),
    ("compare", "tare compare mistral mistral.zt --tokens ids.txt --json"),
    ("compare", "tare compare mistral k4.mcf --json || true"),
    ("diff", "tare diff mistral mistral.alt --json || true"),
    ("diff", "tare diff mistral k4.mcf --json || true"),
    ("diff", "tare diff numbers.npy other/numbers.npy --exact --json || true"),
    ("diff", "tare diff numbers.npy other/numbers.npy --json || true"),
    ("diff", "tare diff numbers.npy longer/numbers.npy --json || true"),
    ("diff", "tare diff mistral demo.zt --json || true"),
    ("diff", "tare diff mistral k4.mcf lm_head.weight --json || true"),
    ("load", "tare load mistral --verify --repeat 2 --json"),
    ("load", "tare load numbers.npy --verify --json"),
    ("formats", "tare formats --json"),
    ("families", "tare families --json"),
    ("cache", "tare cache --json"),
    ("cache", "tare cache --empty --json"),
    ("version", "tare version --json"),
    ("view", "tare view mistral --json overview"),
    ("report", "tare report mistral demo.zt -o page.html --json"),
    # Errors: of a file, of the command line, of one file among several; with a place, with an item, with a remedy.
    ("error", "tare info nowhere.zt --json || true"),
    ("error", "tare ls cut.zt --json || true"),
    ("error", "tare show mistral nothing --json || true"),
    ("error", "tare convert mistral x.safetensors --json || true"),
    ("error", "tare convert mistral mistral.zt --json || true"),
    ("error", "tare ls mistral --sort nonsense --json || true"),
    ("error", "tare lss mistral --json || true"),
    ("error", "tare quantize mistral --json || true"),
    ("error", "tare view mistral --json nonsense || true"),
    ("error", "tare hash nowhere elsewhere --json || true"),
    ("error", "tare load mistral --device gpu --json || true"),
    ("error", "tare meta mistral nothing --json || true"),
    ("error", "tare vocab numbers.npy --json || true"),
    ("error", "tare extract mistral nothing --json || true"),
    ("error", "tare diff mistral nowhere --json || true"),
    ("error", "tare finish mistral --json || true"),
    ("error", "tare task mistral 0 --json || true"),
    ("error", "tare run mistral --tokens 999 --json || true"),
    ("error", "tare plan job2.json --json -- nowhere out.zt || true"),
    ("error", "tare append demo.npy demo.npy --json || true"),
    ("error", "tare verify --json || true"),
    ("error", "tare formats --json --markdown || true"),
    ("error", "tare version more --json || true"),
    ("error", "tare report mistral --json || true"),
]


def npy(path, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (63 - (len(head) + 10) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)


def safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, payload) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def prepare(folder, run):
    """Files that have what a demo has not: NaN, no elements, packed weights, an adapter, a pipeline, damage."""
    run("tare demo . > /dev/null && tare convert mistral model.gguf -q && tare convert mistral shards/ --shard 64KiB -q")
    run("tare convert mistral digested.zt --digest sha256 --zstd -q && head -c 40000 demo.zt > cut.zt && head -c 100000 model.gguf > cut.gguf")
    run("cp cut.gguf broken.gguf && mkdir -p lora bpe pipeline/unet pipeline/scheduler other longer")
    npy(folder / "numbers.npy", "<f4", "(4,)", struct.pack("<4f", 1, float("nan"), float("inf"), -2))
    npy(folder / "other/numbers.npy", "<f4", "(4,)", struct.pack("<4f", 1, 2, 3, -2))
    npy(folder / "longer/numbers.npy", "<f4", "(5,)", struct.pack("<5f", 1, 2, 3, -2, 5))
    npy(folder / "nothing.npy", "<f4", "(0,)", b"")
    (folder / "tokens.txt").write_text("<unk>\n" + "".join(f"t{i}\n" for i in range(1, 40)))
    (folder / "merges.txt").write_text("")
    q = struct.pack("<16i", *range(16))
    safetensors(folder / "gptq.safetensors", {
        "m.qweight": ("I32", [8, 16], q * 8), "m.qzeros": ("I32", [1, 2], q[:8]), "m.scales": ("F16", [1, 16], b"\0<" * 16),
        "m.g_idx": ("I32", [64], bytes(256))})
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    safetensors(folder / "lora/adapter_model.safetensors", {f"{name}A.weight": ("F32", [2, 64], bytes(512)), f"{name}B.weight": ("F32", [64, 2], bytes(512))})
    (folder / "lora/adapter_config.json").write_text('{"peft_type": "LORA", "r": 2, "lora_alpha": 4, "base_model_name_or_path": "mistral"}')
    (folder / "ids.txt").write_text(" ".join(str(i * i % 96) for i in range(50)))
    (folder / "bpe/config.json").write_text('{"model_type": "gpt2", "vocab_size": 6}')
    (folder / "bpe/tokenizer.json").write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u00e4": 3, "\u0120": 4, "\u00e4a": 5}, "merges": ["a b", "\u00e4 a"]}}))
    safetensors(folder / "bpe/model.safetensors", {"w": ("F32", [2], bytes(8))})
    (folder / "pipeline/model_index.json").write_text('{"_class_name": "P", "unet": ["diffusers", "UNet2DConditionModel"], "scheduler": ["diffusers", "DDIMScheduler"]}')
    (folder / "pipeline/scheduler/scheduler_config.json").write_text("{}")
    (folder / "pipeline/unet/config.json").write_text("{}")
    safetensors(folder / "pipeline/unet/diffusion_pytorch_model.safetensors", {"w": ("F32", [2], bytes(8))})


def values(text):
    """One JSON value, or one for each line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def wanted(schema):
    """(definition, key) of every property there is."""
    def keys(rule, name):
        for key, inner in rule.get("properties", {}).items():
            yield name, key
            yield from keys(inner, name)
        for inner in (rule.get("items"), rule.get("additionalProperties")):
            if isinstance(inner, dict):
                yield from keys(inner, name)
    return {pair for name, rule in schema["$defs"].items() for pair in keys(rule, name)}


def main(tare, build):
    schema = checker.load()
    found, seen, used = [], set(), set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        world = {**os.environ, "PATH": f"{pathlib.Path(tare).resolve().parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                 "XDG_CACHE_HOME": str(folder / "caches"),
                 "TARE_CUDA_LIBRARY": str(pathlib.Path(build).resolve() / "tests/device/fake-cuda.so")}

        def run(line):
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=world, capture_output=True, text=True, encoding="utf-8")
            if done.returncode != 0:
                sys.exit(f"`{line}` ended with {done.returncode}: {done.stderr}")
            return done.stdout

        prepare(folder, run)
        files = server.Server()
        files.routes["m"] = server.good({"numbers.npy": (folder / "numbers.npy").read_bytes()})
        run(f"tare ls {files.url}/m/numbers.npy")  # for the cache
        files.close()
        verbs = re.findall(r"^  ([a-z]+)", run("tare help --all").partition("Verbs:")[2], re.MULTILINE)
        have = {verb for verb in verbs if re.search(r"^ +--json\b", run(f"tare help {verb}"), re.MULTILINE)}
        described = set(checker.verbs_of(schema))
        for verb in sorted(have ^ described):
            found.append(f"{verb}: {'has --json, but the schema does not describe it' if verb in have else 'is in the schema, but has no --json'}")
        for definition, line in SAMPLES:
            output = run(line)
            try:
                results = values(output)
            except ValueError:
                results = []
            if not results:
                found.append(f"`{line}`: not JSON: {output[:200]!r}")
            for result in results:
                rule = {"$ref": f"#/$defs/{definition}"}
                found += [f"`{line}`: {problem}" for problem in checker.problems(result, rule, schema, seen=seen)]
            used.add(definition)
    for verb in sorted(described - used):
        found.append(f"{verb}: no output was tried")
    unseen = wanted(schema) - seen
    for pair in sorted(unseen - UNSEEN.keys()):
        found.append(f"no output has the key {pair[1]} of {pair[0]}")
    for pair in sorted(UNSEEN.keys() - unseen):
        found.append(f"the key {pair[1]} of {pair[0]} is seen after all")
    print("\n".join(found) or f"{len(SAMPLES)} commands, {len(seen)} keys")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
