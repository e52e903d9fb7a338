#!/usr/bin/env python3
"""Whether a released command is as fast as one that was compiled on this machine: its code is chosen at run time, too.

    tools/release/speed.py RELEASED LOCAL [MIB]      two commands; MIB: the size of the model, 256 unless given

Each job is run in turns by both, on one thread, and the smallest processor time of five counts. Exit code 1 if a job takes the
released command more than 1.25 times as long.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

LIMIT = 1.25
ROUNDS = 5
JOBS = {
    "cast to bf16": ["convert", "IN", "OUT.safetensors", "--dtype", "bf16"],
    "quantize q8_0": ["quantize", "IN", "OUT.gguf", "--pure", "--method", "q8_0"],
    "quantize q4_k": ["quantize", "SMALL", "OUT.gguf", "--pure", "--method", "q4_k"],
    "decode q4_k": ["convert", "Q4K", "OUT.safetensors", "--dtype", "f32"],
    "compress (zstd)": ["convert", "SMALL", "OUT.zt", "--zstd"],
    "SHA-256": ["convert", "IN", "OUT.zt", "--digest", "sha256"],
    "verify XXH3": ["verify", "XXH3"],
    "verify CRC32C": ["verify", "CRC32C"],
    "start": ["version"],
}


def made_model(path, megabytes):
    """Weights that look random: half a megabyte of them, repeated."""
    import numpy
    rows = numpy.random.default_rng(1).standard_normal((128, 1024), numpy.float32) * numpy.float32(0.02)
    arrays = {f"layer.{i}.weight": numpy.tile(rows, (32, 1)) for i in range(max(1, megabytes // 16))}
    numpy.savez(path, **arrays)


def processor_time(command, arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command} {' '.join(arguments)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(released, local, megabytes=256):
    slow = []
    with tempfile.TemporaryDirectory(prefix="tare-speed-") as place:
        place = pathlib.Path(place)
        made_model(place / "in.npz", int(megabytes))
        made_model(place / "small.npz", int(megabytes) // 8)
        names = {"IN": "in.zt", "SMALL": "small.zt", "Q4K": "q4k.gguf", "XXH3": "xxh3.zt", "CRC32C": "crc.zt"}
        for line in (["convert", "in.npz", "in.zt"], ["convert", "small.npz", "small.zt"], ["quantize", "in.zt", "q4k.gguf", "--pure", "--method", "q4_k", "--fast"],
                     ["convert", "in.zt", "xxh3.zt", "--digest", "xxh3"], ["convert", "in.zt", "crc.zt", "--digest", "crc32c"]):
            subprocess.run([local, line[0], *(str(place / word) if "." in word else word for word in line[1:])], check=True, capture_output=True)
        print(f"{os.uname().machine}, {megabytes} MiB; processor time on one thread, smallest of {ROUNDS}, in ms")
        print(f"{'job':18} {'released':>9} {'local':>9} {'ratio':>6}")
        for title, words in JOBS.items():
            arguments = [str(place / names[word]) if word in names else str(place / word) if word.startswith("OUT") else word for word in words]
            arguments += ["--threads", "1", "--force"] if words[0] in ("convert", "quantize") else ["--threads", "1"] if words[0] == "verify" else []
            best = [min(times) for times in zip(*([processor_time(command, arguments) for command in (released, local)] for _ in range(ROUNDS)))]
            ratio = best[0] / max(best[1], 1e-3)
            print(f"{title:18} {1000 * best[0]:9.1f} {1000 * best[1]:9.1f} {ratio:6.2f}", flush=True)
            if ratio > LIMIT and best[0] - best[1] > 0.01:
                slow.append(f"{title}: expected at most {LIMIT} times the local build, found {ratio:.2f}")
    for sentence in slow:
        print(sentence, file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*(os.path.abspath(path) for path in sys.argv[1:3]), *sys.argv[3:]))
