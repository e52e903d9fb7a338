"""What the faults are tried on: for each scenario the files that are there before, the command, and what it writes.
Models of a few hundred bytes, so that a run takes milliseconds."""

import dataclasses
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import fixtures  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    command: tuple  # of the command line; run in the box
    target: str  # what is written
    before: tuple = ()  # (path in the box, file or folder of the inputs) that are there before
    links: tuple = ()  # (path in the box, where it leads)
    folders: tuple = ()  # empty ones
    without: str = ""  # what the machine lacks
    again: tuple = None  # the command that repairs what a kill left; the same with --force unless given
    appends: bool = False  # changes the target in place: an unfinished state need not be the old bytes, only mean them
    says: tuple = None  # (command, what it prints) that shows a change, where it can be written in several ways

    def repair(self):
        return self.again or self.command + (("--force",) if "--force" not in self.command else ())


def safetensors_model(seed, count):
    weights = {
        f"layers.{i}.weight": ("F32", [4, 32], fixtures.f32(*(((i * 7 + j * seed) % 11 - 5) / 8 for j in range(128))))
        for i in range(count)
    }
    return weights | {"norm.weight": ("F32", [4], fixtures.f32(1, 2, 3, seed))}


def make_inputs(tare, directory):
    """The files that scenarios put into their boxes."""
    hub = directory / "hub"
    files = {
        "config.json": b'{"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "vocab_size": 3}\n',
        "tokenizer.json": b'{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}\n',
        "chat_template.jinja": b"{{ messages }}\n",
        "model.safetensors": fixtures.safetensors(safetensors_model(3, 2), {"format": "pt"}),
    }
    hub.mkdir()
    for name, data in files.items():
        (hub / name).write_bytes(data)
    # The model that is replaced: in two shards, with files of the user's among them.
    old = directory / "old"
    (old / "images").mkdir(parents=True)
    (old / ".tare-backup").mkdir()
    shards = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    weights = safetensors_model(5, 3)
    halves = [dict(list(weights.items())[:2]), dict(list(weights.items())[2:])]
    for shard, half in zip(shards, halves):
        (old / shard).write_bytes(fixtures.safetensors(half))
    index = {"metadata": {}, "weight_map": {name: s for s, half in zip(shards, halves) for name in half}}
    (old / "model.safetensors.index.json").write_text(json.dumps(index))
    (old / "config.json").write_bytes(b'{"model_type": "llama"}')
    (old / "README.md").write_bytes(b"Mine.\n")
    (old / "images" / "plot.png").write_bytes(b"\x89PNG")
    (old / ".tare-backup" / "precious").write_bytes(b"Mine too.\n")
    (old / "adapter_model.safetensors").write_bytes(fixtures.safetensors({"lora": ("F32", [1], fixtures.f32(1))}))
    (directory / "old.npz").write_bytes(
        fixtures.npz({"w": fixtures.npy("<f4", (2, 3), fixtures.f32(6, 5, 4, 3, 2, 1))})
    )
    (directory / "old.json").write_bytes(b"{}\n")
    (directory / "extra.npz").write_bytes(
        fixtures.npz({f"extra.{i}": fixtures.npy("<f4", (64,), fixtures.f32(*range(64))) for i in range(3)})
    )
    (directory / "in.gguf").write_bytes(
        fixtures.gguf({"general.name": ("string", "old"), "x.number": ("u32", 1)}, {"w": [1, 2, 3]})
    )
    for name, first in ("three.gguf", 1), ("other.gguf", 2):
        tensors = {f"w{i}": [float(first + i + j % 7) for j in range(400)] for i in range(3)}
        (directory / name).write_bytes(fixtures.gguf({"general.name": ("string", name)}, tensors))
    for command in (["convert", directory / "other.gguf", f"{directory}/split/", "--to", "gguf", "--shard", "2000"],
                    ["convert", hub, directory / "in.zt"], ["convert", directory / "old.npz", directory / "old.zt"],
                    ["convert", hub, directory / "in.zt2", "--dialect", "pages"],
                    ["convert", hub, f"{directory}/sharded/", "--to", "zt2", "--shard", "150000"]):
        subprocess.run([tare, *command, "--quiet"], check=True)


USERS_OWN = ("mine.txt", "README.md", "plot.png", "precious", "adapter_model.safetensors")

IN = ("in.zt", "in.zt")
MINE = ("mine.txt", "old.json")  # a user's file next to the target

FILES = [
    Scenario("file", ("convert", "in.zt", "out.safetensors", "--drop", "vocabulary", "--drop", "attachments"),
             "out.safetensors", (IN, MINE)),
    Scenario("file --force", ("convert", "in.zt", "out.npz", "--force", "--drop", "config", "--drop", "vocabulary",
                              "--drop", "attachments"), "out.npz", (IN, MINE, ("out.npz", "old.npz"))),
    Scenario("itself", ("convert", "in.zt", "in.zt", "--force", "--zstd", "--digest", "sha256"), "in.zt", (IN, MINE)),
    Scenario("through a link", ("convert", "in.zt", "out.zt", "--force", "--dtype", "f16"), "out.zt",
             (IN, MINE, ("there/file.zt", "old.zt")), links=(("out.zt", "there/file.zt"),)),
    Scenario("mcf", ("convert", "in.zt", "out.mcf"), "out.mcf", (IN, MINE)),
    Scenario("quantize", ("quantize", "in.zt", "out.zt", "--method", "group4"), "out.zt", (IN, MINE)),
    Scenario("quantize --force", ("quantize", "in.zt", "out.mcf", "--method", "q8", "--force"), "out.mcf",
             (IN, MINE, ("out.mcf", "old.npz"))),
    Scenario("extract", ("extract", "in.zt", "chat_template.jinja", "-o", "out.txt"), "out.txt", (IN, MINE)),
    Scenario("extract --force", ("extract", "in.zt", "chat_template.jinja", "-o", "out.txt", "--force"), "out.txt",
             (IN, MINE, ("out.txt", "old.json"))),
    Scenario("append", ("append", "in.zt", "extra.npz"), "in.zt", (IN, MINE, ("extra.npz", "extra.npz")),
             again=("append", "in.zt", "extra.npz"), appends=True),
    Scenario("append packed", ("append", "in.zt", "extra.npz", "--zstd", "--digest", "crc32c"), "in.zt",
             (IN, MINE, ("extra.npz", "extra.npz")), again=("append", "in.zt", "extra.npz", "--zstd", "--digest", "crc32c"),
             appends=True),
    Scenario("meta", ("meta", "in.gguf", "--set", "general.name=longer"), "in.gguf", (("in.gguf", "in.gguf"), MINE),
             again=("meta", "in.gguf", "--set", "general.name=longer")),
    Scenario("meta in one sector", ("meta", "in.gguf", "--set", "x.number=2"), "in.gguf", (("in.gguf", "in.gguf"), MINE),
             again=("meta", "in.gguf", "--set", "x.number=2")),
    Scenario("meta by a manifest", ("meta", "in.zt", "--set", "note=1"), "in.zt", (IN, MINE),
             again=("meta", "in.zt", "--set", "note=1"), appends=True,
             says=(("meta", "in.zt", "note"), "1")),
    Scenario("append zt2", ("append", "in.zt2", "extra.npz"), "in.zt2", (("in.zt2", "in.zt2"), MINE, ("extra.npz", "extra.npz")),
             again=("append", "in.zt2", "extra.npz"), appends=True),
    Scenario("append zt2 packed", ("append", "in.zt2", "extra.npz", "--zstd", "--digest", "sha256"), "in.zt2",
             (("in.zt2", "in.zt2"), MINE, ("extra.npz", "extra.npz")),
             again=("append", "in.zt2", "extra.npz", "--zstd", "--digest", "sha256"), appends=True),
    Scenario("meta zt2", ("meta", "in.zt2", "--set", "note=1"), "in.zt2", (("in.zt2", "in.zt2"), MINE),
             again=("meta", "in.zt2", "--set", "note=1"), appends=True, says=(("meta", "in.zt2", "note"), "1")),
    Scenario("meta zt2 root", ("meta", "sharded", "--set", "note=1"), "sharded", (("sharded", "sharded"), MINE),
             again=("meta", "sharded", "--set", "note=1"), appends=True, says=(("meta", "sharded", "note"), "1")),
]
TREES = [
    Scenario("directory", ("convert", "in.zt", "out/"), "out", (IN, MINE)),
    Scenario("empty directory", ("convert", "in.zt", "out/"), "out", (IN, MINE), folders=("out",)),
    Scenario("directory --force", ("convert", "in.zt", "out/", "--force"), "out", (IN, MINE, ("out", "old"))),
    Scenario("shards --force", ("convert", "in.zt", "out/", "--shard", "600", "--force"), "out",
             (IN, MINE, ("out", "hub"))),
    Scenario("zt2 shards --force", ("convert", "in.zt", "out/", "--to", "zt2", "--shard", "150000", "--force"), "out",
             (IN, MINE, ("out", "sharded"))),
    Scenario("gguf shards --force", ("convert", "in.gguf", "out/", "--to", "gguf", "--shard", "2000", "--force"), "out",
             (("in.gguf", "three.gguf"), MINE, ("out", "split"))),
]
BARE = [
    dataclasses.replace(s, name=f"{s.name}, no {lack}", without=lack)
    for s in FILES + TREES
    for lack in ("tmpfile", "proc", "exchange")
    if s.name in (("directory --force",) if lack == "exchange" else ("file", "file --force", "directory --force"))
]
# The others have one thread, so that the n-th call is the same in every run.
THREADED = [
    dataclasses.replace(s, name=f"{s.name}, 3 threads", command=s.command + ("--threads", "3"))
    for s in FILES + TREES
    if s.name in ("file", "itself", "append packed", "directory --force")
]
EXTRACTS = ("extract", "extract --force")  # has no --threads


def one_thread(scenario):
    if scenario.name.split(",")[0] in EXTRACTS:
        return scenario
    more = ("--threads", "1")
    again = scenario.again and scenario.again + more
    return dataclasses.replace(scenario, command=scenario.command + more, again=again)


SCENARIOS = [one_thread(s) for s in FILES + TREES + BARE] + THREADED
