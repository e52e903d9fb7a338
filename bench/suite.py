#!/usr/bin/env python3
"""Times everyday jobs with Tare and with what people would use otherwise, in one run, and stores the numbers for docs/benchmarks.md.

    PYTHONPATH=build/release/python python3 bench/suite.py --tare build/release/tare [--out FILE] [--dir DIR] [--rounds N] [JOB ...]

Each contender is a process of its own; they take turns, and the best of the rounds counts. "Processor time" is user and system time of
the whole process for commands, and of the job alone, without imports, for Python: it means something on a busy machine, too. Results are
compared before anything is timed. A rival that is not installed is listed with the command that installs it, and its column stays empty.
JOB may be `growth`; if jobs are named, the others keep what FILE has.
FILE is by default bench/results/MACHINE.json. bench/page.py makes the page from all files there.
"""

import argparse
import datetime
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
    "llama_cpp": "pip install llama-cpp-python",
    "sha256sum": "coreutils",
}


def version_of(rival):
    """The version that is installed; None if none is."""
    if rival == "sha256sum":
        found = subprocess.run(["sha256sum", "--version"], capture_output=True, text=True)
        return found.stdout.split("\n")[0].split()[-1] if found.returncode == 0 else None
    if importlib.util.find_spec(rival) is None:
        return None
    from importlib import metadata

    return metadata.version({"llama_cpp": "llama-cpp-python"}.get(rival, rival))


# ---- how a contender is run: (processor seconds, what it printed, peak memory in bytes)


# Starts a command and prints its processor time, its peak memory and its output. What a process used before exec counts, too, so the
# one that starts the command must be small: it imports nothing. FLOOR is what it takes itself; less cannot be measured.
LAUNCHER = """
import os, sys
reading, writing = os.pipe()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_OPEN, 2, '/dev/null', os.O_WRONLY, 0)])
os.close(writing)
output = b''
while part := os.read(reading, 65536):
    output = (output + part)[-4096:]
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
print(output.decode())
"""


def command(*words):
    def run(folder):
        done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", LAUNCHER, *words], cwd=folder, capture_output=True, text=True, check=True)
        first, _, output = done.stdout.partition("\n")
        code, seconds, memory = first.split()
        if code != "0":
            raise RuntimeError(f"{' '.join(words)} ended with {code}")
        return float(seconds), output, int(memory)
    return run


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


def make_files(folder, tare):
    code = """
import numpy as np
from tare.safetensors.numpy import save_file
import tare
random = np.random.default_rng(1)
save_file({f"layer.{i}.weight": random.standard_normal((512, 512), "f4") for i in range(500)}, "large.safetensors")
for count in (1000, 10000, 100000):
    save_file({f"layer.{i}.weight": np.zeros(1, "f4") for i in range(count)}, f"many-{count}.safetensors")
tare.convert("many-10000.safetensors", "many.gguf")
save_file({f"layer.{i}.weight": random.standard_normal((1024, 4096), "f4") for i in range(8)}, "matrices.safetensors")
for mib in (32, 128, 512):
    save_file({f"layer.{i}.weight": random.standard_normal((1024, 1024), "f4") for i in range(mib // 4)}, f"size-{mib}.safetensors")
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


def jobs(tare):
    """[(id, group, title, unit, {contender: run}, what must be equal)]"""
    made = [
        ("keys-safetensors", "open", "open a safetensors file of 100,000 tensors, and list its names", {
            "Tare": python("from tare.safetensors import safe_open", "n = len(list(safe_open('many-100000.safetensors', 'np').keys()))", "n"),
            "safetensors": python("from safetensors import safe_open", "n = len(list(safe_open('many-100000.safetensors', 'np').keys()))", "n")}, True),
        ("keys-gguf", "open", "open a GGUF file of 10,000 tensors, and list its names", {
            "Tare": python("import tare", "n = len(list(tare.open('many.gguf')))", "n"),
            "gguf": python("import gguf", "n = len([t.name for t in gguf.GGUFReader('many.gguf').tensors])", "n")}, True),
        ("load", "python", "load 500 MiB of safetensors into NumPy, and read every page", {
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
        contenders["llama_cpp"] = python(f"""{ERROR}
import ctypes, llama_cpp
T = {{"q8_0": 8, "q4_0": 2, "q4_k": 12}}["{method}"]
ggml = ctypes.CDLL(str(next(__import__('pathlib').Path(llama_cpp.__file__).parent.glob('lib/libggml-base.so*'))))
ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
P = ctypes.POINTER(ctypes.c_float)
def encode(a):
    out = np.empty(a.size * 2, 'u1')
    n = ggml.ggml_quantize_chunk(T, a.ctypes.data_as(P), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(0), ctypes.c_int64(a.shape[0]), ctypes.c_int64(a.shape[1]), None)
    return out[:n]
""", "coded = {k: encode(v) for k, v in weights.items()}", "'see quantization.md'")
        made.append((f"quantize-{method}", "quantize", f"33.6 million weights to {kind}", contenders, False))
    return made


def rival_of(contender):
    return contender if contender in RIVALS else None


def growth(tare, folder, rounds):
    """How processor time grows with tensors, and memory with bytes."""
    def best(run):
        return [min(column) for column in zip(*((time, memory) for time, _, memory in (run(folder) for _ in range(rounds))))]

    counts, sizes = (1000, 10000, 100000), (32, 128, 512)
    opened = [best(command(tare, "info", f"many-{count}.safetensors")) for count in counts]
    converted = [best(command(tare, "convert", f"size-{mib}.safetensors", "grown.zt", "--force", "-q", "--threads", "2")) for mib in sizes]
    quantized = [best(command(tare, "quantize", f"size-{mib}.safetensors", "grown.mcf", "--method", "k4", "--force", "-q", "--threads", "2")) for mib in sizes]
    return {
        "floor_mb": round(best(command("true"))[1] / 1e6, 1),
        "tensors": {"x": counts, "info_ms": [round(time * 1e3, 1) for time, _ in opened], "info_mb": [round(memory / 1e6, 1) for _, memory in opened]},
        "bytes": {"x": [mib << 20 for mib in sizes], "convert_ms": [round(time * 1e3) for time, _ in converted], "convert_mb": [round(memory / 1e6, 1) for _, memory in converted],
                  "quantize_ms": [round(time * 1e3) for time, _ in quantized], "quantize_mb": [round(memory / 1e6, 1) for _, memory in quantized]},
    }


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
        there = {who: run for who, run in contenders.items() if not rival_of(who) or version_of(who)}
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
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    given = parser.parse_args()
    kind, sentence = machine()
    with tempfile.TemporaryDirectory(dir=given.dir, prefix="tare-bench-") as folder:
        make_files(folder, given.tare)
        rows = measure(given, folder)
        grown = {} if given.jobs and "growth" not in given.jobs else growth(str(pathlib.Path(given.tare).resolve()), folder, given.rounds)
    import numpy

    done = {"machine": sentence, "date": datetime.date.today().isoformat(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version(), "numpy": numpy.__version__,
            "tare": subprocess.run([given.tare, "version"], capture_output=True, text=True).stdout.split()[-1],
            "rivals": {name: {"version": version_of(name), "install": how} for name, how in RIVALS.items()}, "jobs": rows, "growth": grown}
    out = given.out or ROOT / "bench" / "results" / f"{kind}.json"
    if given.jobs and out.exists():  # a part was measured again: the rest stays
        old = json.loads(out.read_text(encoding="utf-8"))
        again = {row["id"]: row for row in rows}
        done["jobs"] = [again.pop(row["id"], row) for row in old["jobs"]] + list(again.values())
        done["growth"] = grown or old["growth"]
        done["load"] = max(done["load"], old["load"])
    out.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    print(f"written: {out}")


if __name__ == "__main__":
    main()
