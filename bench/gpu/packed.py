#!/usr/bin/env python3
"""Times loading models that are copied in encoded form and decoded to bf16 by the device, and files with digests.

    PYTHONPATH=build/release/python bench/gpu/packed.py DIR [--gb 4] [--tare COMMAND] [--only REGEX]

Makes DIR/k4.mcf, DIR/q4_k.gguf, DIR/fp8.safetensors and DIR/DIGEST.zt, and loads each three times with `tare load`; those with digests
also without comparing them. DIR/DIGEST-one.zt is one tensor of all bytes, DIR/DIGEST-small.zt thousands of small ones. GB/s count
the bytes that are copied; the share is that of the link's speed.
"""

import argparse
import json
import os
import re
import subprocess

import numpy as np

import tare

SHAPE = (4096, 14336)


def quantized(folder, name, method, gigabytes):
    path = os.path.join(folder, name)
    rng = np.random.default_rng(2)
    tare.save(os.path.join(folder, "w.zt"), {"w": rng.standard_normal(SHAPE, dtype=np.float32) * 0.02}, overwrite=True)
    one = os.path.join(folder, "one.zt")
    tare.quantize(os.path.join(folder, "w.zt"), one, method=method, fast=True, overwrite=True)
    with tare.open(one) as model:
        tensor = model.tensor("w")
        count = max(1, int(gigabytes * 1e9 / tensor.nbytes))
        tare.save(path, {f"blocks.{i}.weight": tensor for i in range(count)}, overwrite=True)
    return path


def fp8(folder, gigabytes):
    """DeepSeek's layout: f8_e4m3fn weights with a scale for each block of 128 x 128."""
    path = os.path.join(folder, "fp8.safetensors")
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 256, SHAPE, dtype=np.uint8)
    codes[codes & 0x7F == 0x7F] = 0
    scales = rng.random((SHAPE[0] // 128, SHAPE[1] // 128), dtype=np.float32)
    header, at = {}, 0
    count = max(1, int(gigabytes * 1e9 / codes.nbytes))
    for i in range(count):
        for name, kind, array in (("weight", "F8_E4M3", codes), ("weight_scale_inv", "F32", scales)):
            header[f"blocks.{i}.{name}"] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
            at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb", buffering=1 << 24) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in range(count):
            file.write(codes.data)
            file.write(scales.data)
    return path


def digests(folder, algorithm, gigabytes, kind=""):
    path = os.path.join(folder, f"{algorithm}{kind}.zt")
    rng = np.random.default_rng(4)
    array = (rng.standard_normal(SHAPE, dtype=np.float32) * 0.02).astype(np.float16)
    count = max(1, int(gigabytes * 1e9 / array.nbytes))
    if kind == "-one":
        array, count = np.concatenate([array] * count), 1
    if kind == "-small":
        array, count = array[:8], max(1, int(gigabytes * 1e9 / array[:8].nbytes))
    tare.save(path, {f"w{i}": array for i in range(count)}, digest=algorithm, overwrite=True)
    return path


def measure(command, path, *options):
    done = subprocess.run([command, "load", path, "--json", "--repeat", "4", *options], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{os.path.basename(path):18} {' '.join(options):16} {done.stderr.strip()}")
        return
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    best = min(runs[1:], key=lambda run: run["seconds"])
    rate = best["copied_bytes"] / best["seconds"]
    print(
        f"{os.path.basename(path):18} {' '.join(options):16} {best['copied_bytes'] / 1e9:5.2f} GB to {best['bytes'] / 1e9:5.2f} GB: "
        f"{rate / 1e9:5.1f} GB/s, {100 * rate / best['link_bytes_per_second']:3.0f} % of the link, first call "
        f"{runs[0]['seconds'] * 1e3:.0f} ms, {best['digests']} digests, device memory {best['device_bytes'] / 1e6:.1f} MB more",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--gb", type=float, default=4)
    parser.add_argument("--tare", default="tare")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    os.makedirs(arguments.dir, exist_ok=True)
    folder, size = arguments.dir, arguments.gb
    bf16, both = [("--dtype", "bf16")], [(), ("--verify",)]
    rows = {
        "k4": (lambda: quantized(folder, "k4.mcf", "k4", size), bf16),
        "q4_k": (lambda: quantized(folder, "q4_k.gguf", "q4_k", size), bf16),
        "fp8": (lambda: fp8(folder, size), bf16),
    }
    for algorithm in ("xxh3", "crc32c", "sha256"):
        for kind in ("", "-one", "-small"):
            rows[algorithm + kind] = (lambda algorithm=algorithm, kind=kind: digests(folder, algorithm, size, kind), both)
    for name, (make, options) in rows.items():
        if not re.search(arguments.only, name):
            continue
        path = make()
        for some in options:
            measure(arguments.tare, path, *some)
        os.remove(path)


if __name__ == "__main__":
    main()
