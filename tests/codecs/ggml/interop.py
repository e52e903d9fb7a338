#!/usr/bin/env python3
"""ggml's block types, decoded by the command and by the package `gguf` of ggml's authors: the same bits for random blocks, and
for blocks that the command has made from weights.

    interop.py TARE        (TARE: the command; 77: there is no package gguf)
"""
import json
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
          "MXFP4": [], "NVFP4": [],
          "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0], "IQ1_M": []}
# What the command encodes to.
METHODS = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4",
           "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "TQ1_0", "TQ2_0", "NVFP4"]
# The largest relative error of Gaussian weights; of the other types 0.3.
LARGEST = {"IQ1_S": 0.5, "IQ1_M": 0.5, "TQ1_0": 0.5, "TQ2_0": 0.5, "IQ2_XXS": 0.36}
ROWS, BLOCKS = 4, 25


def blocks_of(name, random):
    _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = random.integers(0, 256, (ROWS * BLOCKS, size), dtype=numpy.uint8)
    for at in HALVES[name]:
        blocks[:, at + 1] &= 0xBF
    if name == "IQ1_M":
        blocks[:, 55] = 0x20 + blocks[:, 55] % 32  # the top bits of a half that is spread over four numbers
    if name == "MXFP4":
        blocks[:, 0] = 90 + blocks[:, 0] % 60
    return blocks


def difference(name, blocks, ours):
    """Why `ours`, the command's weights, are not those of the package; None: they are."""
    theirs = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype(numpy.float32).ravel()
    if ours.size != theirs.size:
        return f"{name}: {ours.size} weights, not {theirs.size}"
    # Zeros of either sign are the same weight.
    different = (ours.view(numpy.uint32) != theirs.view(numpy.uint32)) & ((ours != 0) | (theirs != 0))
    return f"{name}: {int(different.sum())} of {ours.size} weights differ" if different.any() else None


def output(*command):
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:])}: {done.stderr.decode()}")
    return done.stdout


def encoded(tare, name, weights, directory):
    """What is wrong with the blocks that the command makes; None: nothing."""
    source, target = str(pathlib.Path(directory, "weights.npy")), str(pathlib.Path(directory, f"{name}.zt"))
    numpy.save(source, weights)
    output(tare, "quantize", source, target, "--method", f"ggml.{name.lower()}", "-q")
    _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    tensor = json.loads(output(tare, "ls", target, "--json"))["tensors"][0]["name"]
    blocks = numpy.frombuffer(output(tare, "cat", target, tensor), numpy.uint8).reshape(-1, size)
    ours = numpy.frombuffer(output(tare, "cat", target, tensor, "--as", "f32"), numpy.float32)
    error = numpy.sqrt(numpy.mean((ours - weights.ravel()) ** 2) / numpy.mean(weights ** 2))
    return difference(name, blocks, ours) or (f"{name}: the relative error is {error}" if error > LARGEST.get(name, 0.3) else None)


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
            ours = numpy.frombuffer(output(tare, "cat", path, name, "--as", "f32"), numpy.float32)
            failed.append(difference(name, blocks[name], ours))
        weights = (random.standard_normal((8, 768)) * 0.02).astype(numpy.float32)
        made = [name for name in METHODS if name in types]
        failed += [encoded(tare, name, weights, directory) for name in made]
    failed = [reason for reason in failed if reason]
    print("\n".join(failed) if failed else f"{len(types)} types, the same bits, {len(made)} of them encoded: {' '.join(types)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
