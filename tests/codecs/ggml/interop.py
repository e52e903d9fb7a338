#!/usr/bin/env python3
"""ggml's block types, decoded by the command and by the package `gguf` of ggml's authors: the same bits for random blocks.

    interop.py TARE        (TARE: the command; 77: there is no package gguf)
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy
except ImportError as reason:
    print(f"skipped: {reason}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Where the halves are that must be finite.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64],
          "MXFP4": [], "NVFP4": []}
ROWS, BLOCKS = 4, 25


def blocks_of(name, random):
    _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = random.integers(0, 256, (ROWS * BLOCKS, size), dtype=numpy.uint8)
    for at in HALVES[name]:
        blocks[:, at + 1] &= 0xBF
    if name == "MXFP4":
        blocks[:, 0] = 90 + blocks[:, 0] % 60
    return blocks


def main():
    tare = sys.argv[1]
    sys.argv = sys.argv[:1]
    sys.path.insert(0, str(ROOT / "formats/zt"))
    import independent  # a writer of zTensor, made from its document

    random = numpy.random.default_rng(1)
    types = [name for name in HALVES if name in gguf.GGMLQuantizationType.__members__]
    blocks = {name: blocks_of(name, random) for name in types}
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        path = str(pathlib.Path(directory, "blocks.zt"))
        tensors = []
        for name in types:
            weights, _ = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
            tensors.append((name, [ROWS, BLOCKS * weights], f"ggml.{name.lower()}", None,
                            [("payload", "u8", None, blocks[name].tobytes())]))
        independent.write_file(path, tensors)
        for name in types:
            theirs = gguf.quants.dequantize(blocks[name], gguf.GGMLQuantizationType[name]).astype(numpy.float32).ravel()
            done = subprocess.run([tare, "cat", path, name, "--as", "f32"], capture_output=True)
            ours = numpy.frombuffer(done.stdout, numpy.float32)
            if done.returncode != 0 or ours.size != theirs.size:
                failed.append(f"{name}: {done.stderr.decode()}")
                continue
            # Zeros of either sign are the same weight.
            different = (ours.view(numpy.uint32) != theirs.view(numpy.uint32)) & ((ours != 0) | (theirs != 0))
            if different.any():
                failed.append(f"{name}: {int(different.sum())} of {ours.size} weights differ")
    print("\n".join(failed) if failed else f"{len(types)} types, the same bits: {' '.join(types)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
