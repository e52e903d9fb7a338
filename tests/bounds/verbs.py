"""What is run on a file: every verb that opens one, each with its command line, in one table.

A command line is made by a function of a `Run`: `path` is the file, `tensor` one of its tensors, `out(name)` a path that
does not exist yet, and the others are small valid models that a verb needs as well.
"""
import os
import shutil
import struct
import subprocess
import sys
from typing import NamedTuple


class Run(NamedTuple):
    tare: str
    path: str
    tensor: str
    work: str  # a directory of this run alone

    def out(self, name):
        return os.path.join(self.work, name)

    def other(self):
        """A model of one tensor, as safetensors."""
        header = b'{"t":{"dtype":"F32","shape":[2,64],"data_offsets":[0,512]}}'
        return self._put("other.safetensors", struct.pack("<Q", len(header)) + header + bytes(512))

    def base(self):
        """A Llama of one matrix, as a directory."""
        header = b'{"model.layers.0.self_attn.q_proj.weight":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}}'
        self._put("base/model.safetensors", struct.pack("<Q", len(header)) + header + bytes(64))
        return os.path.dirname(self._put("base/config.json", b'{"model_type":"llama"}'))

    def grown(self):
        """A zTensor file of no objects, which can grow."""
        body = b"\xa2gversione1.2.0gobjects\xa0"
        return self._put("grown.zt", b"ZTEN1000" + bytes(56) + body + struct.pack("<Q", len(body)) + b"ZTEN1000")

    def tiny(self):
        """A Tiny Llama of one layer and two tokens, all zeros."""
        def matrix(rows, columns):
            return struct.pack("<QQ", rows, columns) + bytes(4 * rows * columns)
        one = struct.pack("<Qf", 1, 0.0)
        return self._put("tiny.tllm", struct.pack("<IIiiiiiif", 0x544C4C4D, 1, 1, 1, 1, 1, 4, 2, 0.0) + matrix(2, 1) +
                         matrix(4, 1) + matrix(1, 1) * 5 + one + matrix(1, 1) + one * 5 + matrix(1, 2))

    def ids(self):
        """A few tokens."""
        return self._put("ids.txt", b"0 1 0 1 0 1 0 1")

    def copy(self):
        """A copy of the file, or of its directory, to be changed."""
        if os.path.isdir(self.path):
            return shutil.copytree(self.path, self.out("copy"), symlinks=True)
        return shutil.copy(self.path, self.out("copy-" + os.path.basename(self.path)))

    def planned(self, done):
        """The plan of a conversion in one task, which is `done` or not. What fails here fails again with the plan."""
        plan = self.out("job.json")
        for words in [["plan", plan, "--tasks", "1", "--", self.path, self.out("out.zt2"), "--quant", "group2"],
                      ["task", plan, "0"]][:2 if done else 1]:
            subprocess.run([self.tare, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return plan

    def _put(self, name, data):
        path = self.out(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path


def convert(name, *options):
    return lambda run: ["convert", run.path, run.out(name), *options]


def view(request):
    return lambda run: ["view", run.path, "--json", request.replace("TENSOR", run.tensor)]


# A user's text: letters that many rules match, blanks, and characters of other scripts.
TEXT = "a" * 150 + " b" * 30 + " \u00e9\ufdfa\u4e00 1"
GLOB = "*a*a*a*a*a*a*b"
VERBS = {
    "info": lambda run: ["info", run.path],
    "verify": lambda run: ["verify", run.path],
    "convert zt": convert("out.zt"),
    "convert gguf": convert("out.gguf"),
    "convert hf": convert("out/"),
    "ls": lambda run: ["ls", run.path],
    "ls --json": lambda run: ["ls", run.path, "--json"],
    "ls --match": lambda run: ["ls", run.path, "--match", GLOB],
    "info --json": lambda run: ["info", run.path, "--json"],
    "verify --json": lambda run: ["verify", run.path, "--strict", "--json"],
    "hash": lambda run: ["hash", run.path],
    "hash --zt2": lambda run: ["hash", "--zt2", run.path],
    "show": lambda run: ["show", run.path, run.tensor],
    "show missing": lambda run: ["show", run.path, "model.layers.0.self_attn.q_proj.weighs"],
    "cat": lambda run: ["cat", run.path, run.tensor],
    "cat --as npy": lambda run: ["cat", run.path, run.tensor, "--as", "npy", "-o", run.out("out.npy")],
    "cat reversed": lambda run: ["cat", run.path, run.tensor, "--slice", "::-1", "-o", run.out("out.bin")],
    "cat columns": lambda run: ["cat", run.path, run.tensor, "--slice", "::-1,::-2", "-o", run.out("out.bin")],
    "extract": lambda run: ["extract", run.path],
    "extract NAME": lambda run: ["extract", run.path, "config.json"],
    "meta": lambda run: ["meta", run.path],
    "meta --json": lambda run: ["meta", run.path, "--json"],
    "meta --set": lambda run: ["meta", run.copy(), "--set", "general.name=x"],
    "vocab": lambda run: ["vocab", run.path],
    "vocab --find": lambda run: ["vocab", run.path, "--find", "aaaaaaaaaaab"],
    "vocab --merges": lambda run: ["vocab", run.path, "--merges"],
    "convert zt2": convert("out.zt2"),
    "convert mcf": convert("out.mcf"),
    "convert safetensors": convert("out.safetensors", "--weights-only"),
    "convert npz": convert("out.npz"),
    "convert alt": convert("out.alt"),
    "convert alt1": convert("out.alt1"),
    "convert shards": convert("out/", "--shard", "1MB"),
    "convert --names keep": convert("out.gguf", "--names", "keep"),
    "convert --verbose": convert("out.zt", "--verbose", "--dedup", "--check", "--digest", "sha256"),
    "convert --json": convert("out.zt", "--json", "--dtype", "f16"),
    "convert --zstd": convert("out.zt", "--zstd", "--dtype", "f64"),
    "convert --drop": convert("out.zt", "--drop", "metadata"),
    "convert --skip": convert("out.zt", "--skip", GLOB),
    "convert npy": convert("out.npy", "--weights-only"),
    "quantize gguf": lambda run: ["quantize", run.path, run.out("out.gguf"), "--method", "q4_k_m"],
    "quantize mcf": lambda run: ["quantize", run.path, run.out("out.mcf"), "--method", "k4"],
    "quantize int8": lambda run: ["quantize", run.path, run.out("out.mcf"), "--method", "int8", "--range"],
    "quantize alt": lambda run: ["quantize", run.path, run.out("out.alt"), "--method", "qint4", "--range"],
    "quantize --bits": lambda run: ["quantize", run.path, run.out("out.zt"), "--bits", "4.5"],
    "quantize mcf --bits": lambda run: ["quantize", run.path, run.out("out.mcf"), "--bits", "3.5"],
    "quantize --bits 6": lambda run: ["quantize", run.path, run.out("out.zt"), "--bits", "6"],
    "quantize zt": lambda run: ["quantize", run.path, run.out("out.zt"), "--method", "group2"],
    "quantize zt2": lambda run: ["quantize", run.path, run.out("out.zt2"), "--method", "group2"],
    "append": lambda run: ["append", run.grown(), run.path],
    "append to it": lambda run: ["append", run.copy(), run.other()],
    "diff": lambda run: ["diff", run.path, run.path],
    "diff other": lambda run: ["diff", run.other(), run.path],
    "diff --json": lambda run: ["diff", run.path, run.other(), "--json"],
    "plan": lambda run: ["plan", run.out("job.json"), "--tasks", "2", "--", run.path, run.out("out.zt")],
    "task planned": lambda run: ["task", run.planned(False), "0"],
    "finish planned": lambda run: ["finish", run.planned(True)],
    "report": lambda run: ["report", run.path, "-o", run.out("out.html")],
    "report other": lambda run: ["report", run.other(), run.path, "-o", run.out("out.html")],
    "report itself": lambda run: ["report", run.path, run.path, "-o", run.out("out.html")],
    "report --svg": lambda run: ["report", run.path, "--svg", "layers", "-o", run.out("out.svg")],
    "view overview": view("overview"),
    "view layers": view("layers"),
    "view treemap": view("treemap"),
    "view map": view("map"),
    "view tensors": view("tensors?sort=name&search=a"),
    "view tree": view("tree"),
    "view tensor": view("tensor?tensor=0"),
    "view block": view("block?tensor=0"),
    "view values": view("values?tensor=0"),
    "view numbers": view("numbers?tensor=0"),
    "view heat": view("heat?tensor=0"),
    "view tokens": view("tokens?search=a"),
    "view merges": view("tokens?what=merges&search=a"),
    "view template": view("template"),
    "view metadata": view("metadata"),
    "view attachments": view("attachments"),
    "view check": view("check/start"),
    "view compare": lambda run: ["view", run.path, run.path, "--json", "compare/start"],
    "view compare other": lambda run: ["view", run.other(), run.path, "--json", "compare/all"],
    "tokens": lambda run: ["tokens", run.path, TEXT, "--json"],
    "perplexity": lambda run: ["perplexity", run.path, "--tokens", run.ids(), "--context", "8"],
    "calibrate": lambda run: ["calibrate", run.path, "--tokens", run.ids(), "--context", "8", "-o", run.out("i.gguf")],
    "compare": lambda run: ["compare", run.path, run.path, "--tokens", run.ids(), "--context", "8"],
    "run": lambda run: ["run", run.path, "--tokens", "1", "-n", "2"],
    "perplexity text": lambda run: ["perplexity", run.path],
    "compare text": lambda run: ["compare", run.path, run.path],
    "run text": lambda run: ["run", run.path, "--no-chat", "--prompt", TEXT, "-n", "2"],
    "load": lambda run: ["load", run.path],
}
# The ones that look at a model from another side each: what `make bounds` runs on files of 5 MB, and the test on those of 60 KB.
TELLING = ("info", "verify", "ls --json", "convert zt", "convert gguf", "convert hf", "meta --json", "hash --zt2", "diff --json",
           "report other")
QUICK = ("info", "verify", "convert zt", "convert gguf", "convert hf", "report other")
# Cases whose files are accepted, one of each container: `make bounds` runs every verb on 5 MB of them.
WHOLE = ("safetensors_named_layers", "gguf_named_layers", "zt_named_layers", "zt2_named_layers", "mcf_named_layers",
         "alt_named_layers", "npz_named_layers", "torch_named_layers", "hf_named_layers", "alt1_tokens", "tllm_tokens")
# For files that are no model, or are used with one.
SPECIAL = {
    "merge": lambda run: ["convert", run.base(), run.out("out.safetensors"), "--merge", run.path, "--weights-only"],
    "merge into it": lambda run: ["convert", run.path, run.out("out.safetensors"), "--merge", run.path,
                                  "--weights-only"],
    # The model is next to the adapter.
    "merge into its base": lambda run: ["convert", os.path.join(os.path.dirname(run.path), "base"), run.out("out.safetensors"),
                                        "--merge", run.path, "--weights-only"],
    "quantize GLOB": lambda run: ["quantize", run.path, run.out("out.gguf"), "--method", "*proj*=f16", "--method", "q8_0"],
    "importance": lambda run: ["quantize", run.base(), run.out("out.gguf"), "--method", "q4_0", "--importance",
                               run.path],
    "run --vocab": lambda run: ["run", run.tiny(), "--prompt", "aaaa", "-n", "1", "--vocab", run.path, "--merges", run.path],
    "run --tokenizer": lambda run: ["run", run.tiny(), "--prompt", "aaaa", "-n", "1", "--tokenizer", "upstream", "--vocab", run.path,
                                    "--merges", run.path],
    "tokens --pieces": lambda run: ["tokens", run.path, TEXT, "--pieces"],
    "tokens --decode": lambda run: ["tokens", run.path, "--decode", "0,1,2," * 60],
    "task": lambda run: ["task", run.path, "0"],
    "finish": lambda run: ["finish", run.path],
}
THREADED = ("show", "cat", "meta", "convert", "quantize", "append", "verify", "hash", "diff", "run", "load", "perplexity", "compare")
PYTHON = ("python open", "python use", "python safetensors", "python usual names", "python rows", "python run")
# What takes as long as the model's arithmetic on a text, if the model can be run: only the memory is limited.
COMPUTING = ("perplexity text", "compare text", "run text", "python run")
# Parts of a compressed tensor, in every order but its own.
BACKWARDS = ("cat reversed", "cat columns", "view numbers", "python rows")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "in_python.py")


def command(run, verb, threads=0):
    """The command line of a verb. threads: 0 for what the command does by itself."""
    if verb in PYTHON:
        return [sys.executable, SCRIPT, verb, run.path, run.tensor]
    words = (VERBS.get(verb) or SPECIAL[verb])(run)
    if threads and words[0] in THREADED:
        words[1:1] = ["--threads", str(threads)]
    return [run.tare, *words]
