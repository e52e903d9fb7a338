#!/usr/bin/env python3
"""No verb replaces a file that it reads, whatever that file is called and --force or not.

    own_inputs.py TARE

Every verb that can write a file has rows in the table below; one that is missing is an error. What may be replaced, a model
by its own successor, is tried as well.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TENSOR = "model.layers.0.mlp.up_proj.weight"
FIRST = "mistral/model-00001-of-00002.safetensors"
INDEX = "mistral/model.safetensors.index.json"
# By verb: the words, with OUT for the output, and the files that are read and must stay.
SET_FILES = (FIRST, INDEX, "mistral/config.json", "mistral/tokenizer.json")
PRIVATE = ("back/tare.json", "back/config.json", "back/model.safetensors")
WITH_LORA = ("lora/adapter_model.safetensors", "lora/adapter_config.json")
REFUSED = {
    "cat": [(("m.zt", TENSOR, "-o", "OUT"), ("m.zt",)), (("mistral", TENSOR, "-o", "OUT"), SET_FILES),
            ((FIRST, TENSOR, "-o", "OUT"), (FIRST, INDEX)), (("back", TENSOR, "-o", "OUT"), PRIVATE),
            (("m.zt", TENSOR, "--as", "npy", "-o", "OUT"), ("m.zt",)), (("set", TENSOR, "-o", "OUT"), ("set/SHARD",)),
            (("--no-mmap", "m.zt", TENSOR, "-o", "OUT"), ("m.zt",))],
    "extract": [(("mistral", "config.json", "-o", "OUT"), SET_FILES)],
    "report": [(("m.zt", "-o", "OUT"), ("m.zt",)), (("m.zt", "g.gguf", "-o", "OUT"), ("m.zt", "g.gguf")),
               (("mistral", "-o", "OUT"), SET_FILES), (("g.gguf", "mistral", "--svg", "layers", "-o", "OUT"), SET_FILES),
               (("back", "-o", "OUT"), PRIVATE)],
    "plan": [(("OUT", "--", "m.zt", "out.zt"), ("m.zt",)), (("OUT", "--", "mistral", "out.zt"), SET_FILES),
             (("OUT", "--", "mistral", "out.zt", "--merge", "lora"), (*SET_FILES, *WITH_LORA)),
             (("OUT", "--", "back", "out.zt"), PRIVATE)],
    "convert": [(("mistral", "OUT", "--to", "zt"), SET_FILES), (("back", "OUT", "--to", "zt"), PRIVATE),
                (("g.gguf", "OUT", "--to", "zt", "--merge", "lora"), WITH_LORA),
                (("mistral", "lora/", "--to", "hf", "--merge", "lora"), ("lora/adapter_model.safetensors",)),
                (("set", "OUT", "--to", "zt"), ("set/SHARD",))],
    "quantize": [(("mistral", "OUT", "--to", "gguf", "--method", "q4_0", "--importance", "weights.safetensors"),
                  ("weights.safetensors", FIRST))],
    "calibrate": [(("m.zt", "--tokens", "ids.txt", "-o", "OUT"), ("m.zt",)),
                  (("mistral", "--tokens", "ids.txt", "-o", "OUT"), (FIRST,))],
    "task": [(("job.json", "0"), ("job.json.00000.part",))],  # which is a link to the input
    "finish": [(("done.json",), ("done.json.00000.part",))],  # to which the output is a link
    "append": [(("set/SHARD", "set"), ("set/SHARD",))],
    "demo": [],  # reads nothing of the user's
}
# The rule that refuses, where it is not io.sink.input: a file that is no part is never replaced, read or not.
RULE = {"task": "plan.part.exists"}
# These have no --force.
PLAIN = ("task", "finish", "append")
# These know the format by the suffix alone, and refuse a name that has none.
BY_SUFFIX = ("calibrate",)


def safetensors(tensors):
    """By name: the shape; every element is 1."""
    header, at = {}, 0
    for name, shape in tensors.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<f", 1.0) * (at // 4)


def make(tare, home):
    def run(*words):
        subprocess.run([tare, *words], cwd=home, check=True, capture_output=True)
    run("demo", "made")
    for name in ("mistral", "back"):
        shutil.copytree(home / "made" / name, home / name)
    shutil.copy(home / "made/mistral.zt", home / "m.zt")
    (home / "ids.txt").write_text(" ".join(str(i) for i in range(40)))
    run("convert", "mistral", "g.gguf")
    run("convert", "mistral", "set/", "--to", "zt2", "--shard", "40KB")
    (home / "lora").mkdir()
    (home / "lora/adapter_config.json").write_text(json.dumps(
        {"peft_type": "LORA", "r": 1, "lora_alpha": 1, "target_modules": ["q_proj"]}))
    base = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    (home / "lora/adapter_model.safetensors").write_bytes(
        safetensors({base + "A.weight": [1, 64], base + "B.weight": [64, 1]}))
    (home / "weights.safetensors").write_bytes(safetensors({TENSOR: [64]}))
    run("plan", "done.json", "--tasks", "1", "--", "m.zt", "done.zt", "--force", "--quant", "group2")
    run("task", "done.json", "0")
    (home / "done.zt").symlink_to("done.json.00000.part")
    run("plan", "job.json", "--tasks", "1", "--", "m.zt", "out.zt")
    os.link(home / "m.zt", home / "job.json.00000.part")


def content(home):
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def spellings(home, name):
    """Names of one file: its own, one by way of a directory, a symbolic link, a hard link, a link to the directory."""
    yield name
    yield "made/../" + name
    (home / "soft").symlink_to(name)
    yield "soft"
    os.link(home / name, home / "hard")
    yield "hard"
    (home / "there").symlink_to(home / os.path.dirname(name))
    yield "there/" + os.path.basename(name)
    for link in ("soft", "hard", "there"):
        os.remove(home / link)


def walk_refused(tare, home):
    shard = sorted(path.name for path in (home / "set").glob("model-*-of-*.zt"))[-1]
    tried = 0
    for verb, rows in REFUSED.items():
        for words, files in rows:
            words = [word.replace("SHARD", shard) for word in words]
            for name in (file.replace("SHARD", shard) for file in files):
                for out in spellings(home, name) if "OUT" in words else [name]:
                    if verb in BY_SUFFIX and "." not in os.path.basename(out):
                        continue
                    before = content(home)
                    force = [] if verb in PLAIN else ["--force"]
                    done = subprocess.run([tare, verb, *force, *(out if word == "OUT" else word for word in words)],
                                          cwd=home, capture_output=True, text=True)
                    rule = "(%s)" % RULE.get(verb, "io.sink.input")
                    assert done.returncode == 1 and rule in done.stderr, (verb, words, out, done.returncode, done.stderr)
                    assert content(home) == before, (verb, words, out)
                    tried += 1
    return tried


def walk_allowed(tare, home):
    """A model takes the place of its own older self, and other files in the directory of a model are just files."""
    def run(*words):
        done = subprocess.run([tare, *words], cwd=home, capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
    run("convert", "m.zt", "m.zt", "--force")
    run("convert", "m.zt", "m.zt", "--force", "--merge", "lora")
    run("quantize", "g.gguf", "g.gguf", "--force", "--method", "q8_0")
    run("convert", "back", "back/", "--force")
    run("convert", "mistral", "mistral/", "--force")
    run("convert", "set", "set/", "--force", "--to", "zt2")
    run("meta", "back", "--set", "a=1")
    run("meta", "m.zt", "--set", "a=1")
    for _ in range(2):
        run("report", "back", "-o", "back/page.html", "--force")
        run("cat", "back", TENSOR, "-o", "back/tensor.bin", "--force")
        run("convert", "back", "back/other.zt", "--force")


def main():
    tare = os.path.abspath(sys.argv[1])
    listed = subprocess.run([tare, "help", "--all"], capture_output=True, text=True, check=True).stdout
    for verb in re.findall(r"^  ([a-z]+) ", listed, re.M):
        text = subprocess.run([tare, "help", verb], capture_output=True, text=True, check=True).stdout
        if "--force" in text or "--output" in text:
            assert verb in REFUSED, "%s can write a file: add it to the table" % verb
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        make(tare, home)
        print(walk_refused(tare, home), "outputs refused")
        walk_allowed(tare, home)


if __name__ == "__main__":
    main()
