#!/usr/bin/env python3
"""Makes the models of run.py.

    bench/gpu/make.py DIR [--scale F]

DIR/big-1.safetensors to big-4: 318 tensors of bf16 with the shapes of an 8B Llama of 35 layers, 17.4 GB. DIR/small.safetensors:
20,000 tensors of 215,040 bytes, 4.3 GB. The numbers are normal random numbers. --scale 0.01 makes fewer layers and tensors.
"""

import argparse
import concurrent.futures
import json
import os

import numpy as np

LAYER = [
    ("self_attn.q_proj", (4096, 4096)), ("self_attn.k_proj", (1024, 4096)), ("self_attn.v_proj", (1024, 4096)),
    ("self_attn.o_proj", (4096, 4096)), ("mlp.gate_proj", (14336, 4096)), ("mlp.up_proj", (14336, 4096)),
    ("mlp.down_proj", (4096, 14336)), ("input_layernorm", (4096,)), ("post_attention_layernorm", (4096,)),
]  # fmt: skip


def pool(count):
    """Returns `count` normal random numbers as bf16, in host memory."""
    numbers = np.random.default_rng(1).standard_normal(count, dtype=np.float32) * 0.02
    return (numbers.view(np.uint32) >> 16).astype(np.uint16)


def write(path, tensors, numbers, first):
    """Writes a safetensors file; each tensor begins at a different offset of the pool."""
    header, at = {}, 0
    for name, shape in tensors:
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    raw = memoryview(numbers).cast("B")
    with open(path, "wb", buffering=0) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for number, (_, shape) in enumerate(tensors):
            left, start = 2 * int(np.prod(shape)), (first + number) * 4098 * 2 % (len(raw) // 2)
            while left:
                part = min(left, len(raw) - start)
                written = file.write(raw[start : start + part])
                left -= written
                start = 0 if written == part else start + written
    return os.path.getsize(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--scale", type=float, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.dir, exist_ok=True)
    layers = max(1, int(35 * arguments.scale))
    names = [(f"model.layers.{i}.{name}.weight", shape) for i in range(layers) for name, shape in LAYER]
    vocabulary = 128256 if arguments.scale == 1 else 1024
    names = [("model.embed_tokens.weight", (vocabulary, 4096)), *names, ("model.norm.weight", (4096,)),
             ("lm_head.weight", (vocabulary, 4096))]  # fmt: skip
    shards, target = [[]], 0
    total = sum(int(np.prod(shape)) for _, shape in names)
    for name, shape in names:
        if target > total / 4 and len(shards) < 4:
            shards.append([])
            target = 0
        shards[-1].append((name, shape))
        target += int(np.prod(shape))
    small = [(f"blocks.{i // 100}.tensor.{i}.weight", (320, 336)) for i in range(max(10, int(20000 * arguments.scale)))]
    numbers = pool(1 << 27 if arguments.scale == 1 else 1 << 20)
    jobs = [(f"big-{i + 1}.safetensors", shard, i * 1000) for i, shard in enumerate(shards)]
    jobs.append(("small.safetensors", small, 7))
    with concurrent.futures.ThreadPoolExecutor() as threads:
        sizes = threads.map(lambda job: write(os.path.join(arguments.dir, job[0]), job[1], numbers, job[2]), jobs)
        for job, size in zip(jobs, sizes):
            print(f"{job[0]}: {size:,} bytes, {len(job[1])} tensors")


if __name__ == "__main__":
    main()
