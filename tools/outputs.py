#!/usr/bin/env python3
"""What the command writes and prints, as digests: to show that a change to the source changes neither.

    tools/outputs.py TARE OUT [--jobs N] [MODEL ...]

Converts every valid file of fuzz/corpus and every MODEL into every container, with several sets of options,
and prints a line for each run: the arguments, the exit code, the digest of what was printed, and of every file that was written. Run it
with the command before and after the change, and compare the two files. Both must be of the same kind of machine: kernels differ in the last
bit of a searched scale."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ["o.zt", "o.zt2", "o.mcf", "o.gguf", "o.tllm", "o.alt", "o.alt1", "o.npz", "o.npy", "o.safetensors", "o/"]
CONVERSIONS = [
    [], ["--weights-only"], ["--drop", "metadata", "--drop", "attachments", "--drop", "vocabulary"], ["--dtype", "f16"],
    ["--zstd"], ["--names", "keep"], ["--decode"],
]
QUANTIZATIONS = [
    (["--method", "q8"], "o.mcf"), (["--method", "k4"], "o.mcf"), (["--bits", "5"], "o.mcf"), (["--method", "int8", "--range"], "o.mcf"),
    (["--method", "q4_k_m"], "o.gguf"), (["--method", "q8_0", "--pure"], "o.gguf"), (["--method", "iq4_nl"], "o.gguf"),
    (["--method", "group4"], "o.zt"), (["--method", "qint8"], "o.alt"),
]
LOOKS = [["info"], ["info", "--json"], ["ls", "--json"], ["verify"], ["hash"], ["meta", "--json"], ["vocab", "--json"], ["plan"]]


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def run(tare, model, verb, options, target):
    with tempfile.TemporaryDirectory() as work:
        out = [os.path.join(work, target)] if target else []
        done = subprocess.run([tare, verb, *options, model, *out], capture_output=True, cwd=work, timeout=600, check=False)
        said = (done.stdout + b"\n" + done.stderr).replace(work.encode(), b"WORK")
        said = re.sub(rb"\b\d+(\.\d+)? ?(ms|s)\b", b"TIME", said)
        files = []
        for at, _, names in os.walk(work):
            for name in names:
                path = pathlib.Path(at, name)
                files.append(f"{path.relative_to(work)}={digest(path.read_bytes())}")
        name = os.path.relpath(model, ROOT) if model.startswith(str(ROOT)) else os.path.basename(model.rstrip("/"))
        return " ".join([verb, *options, name, target, str(done.returncode), digest(said), *sorted(files)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare", type=os.path.abspath)
    parser.add_argument("out")
    parser.add_argument("models", nargs="*", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_intermixed_args()
    models = [str(path) for path in sorted((ROOT / "fuzz" / "corpus").glob("*/valid*"))] + options.models
    runs = []
    for model in models:
        runs += [("convert", chosen, target, model) for chosen in CONVERSIONS for target in TARGETS]
        runs += [("quantize", chosen, target, model) for chosen, target in QUANTIZATIONS]
        runs += [(words[0], words[1:], "", model) for words in LOOKS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(options.out, "w", encoding="utf-8") as out:
        lines = pool.map(lambda one: run(options.tare, one[3], one[0], one[1], one[2]), runs)
        count = 0
        for line in lines:
            print(line, file=out)
            count += 1
    print(f"{count} runs of {len(models)} models")


if __name__ == "__main__":
    main()
