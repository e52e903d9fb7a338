#!/usr/bin/env python3
"""A real GGUF through every container that can carry it: back to the same bytes, or to the same directory as the direct way.

    containers.py TARE [PART...]
"""
import filecmp
import json
import sys

import llama_library
from judging import check, equal, main, need, note, part, smollm, tare, weights
from texts import texts


@part
def back_to_gguf(folder):
    """GGUF to zTensor and back: byte for byte; to zTensor 2 and back: keys in order, the same tensors."""
    gguf, numpy = need("gguf"), need("numpy")
    for suffix in ("zt", "zt2"):
        tare("convert", smollm(), folder / f"there.{suffix}")
        tare("convert", folder / f"there.{suffix}", folder / f"by_{suffix}.gguf")
    check(filecmp.cmp(smollm(), folder / "by_zt.gguf", shallow=False), "by zt: the same file", "files")
    first, again = gguf.GGUFReader(smollm()), gguf.GGUFReader(folder / "by_zt2.gguf")
    equal(list(again.fields), list(first.fields), "by zt2: keys in order")
    for key, field in first.fields.items():
        other = again.fields.get(key)
        check(other is not None and other.types == field.types and other.contents() == field.contents(), f"by zt2: {key}", "keys")
    found = {t.name: t for t in again.tensors}
    equal(sorted(found), sorted(t.name for t in first.tensors), "by zt2: names")
    for tensor in first.tensors:
        other = found[tensor.name]
        check(other.tensor_type == tensor.tensor_type and numpy.array_equal(other.data, tensor.data), f"by zt2: {tensor.name}", "tensors")


@part
def to_directories(folder):
    """GGUF to MCF, npz, zt or zt2 to a directory: the files of the direct way."""
    load = need("safetensors").safe_open
    numpy = need("numpy")
    tare("convert", smollm(), f"{folder}/direct/")
    for suffix in ("mcf", "npz", "zt", "zt2"):
        tare("convert", smollm(), folder / f"there.{suffix}")
        tare("convert", folder / f"there.{suffix}", f"{folder}/by_{suffix}/")
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            found, expected = ((folder / way / name).read_text() for way in (f"by_{suffix}", "direct"))
            equal(json.loads(found), json.loads(expected), f"by {suffix}: {name}", "files")
        with load(folder / "direct" / "model.safetensors", "numpy") as one, load(folder / f"by_{suffix}" / "model.safetensors", "numpy") as other:
            equal(sorted(other.keys()), sorted(one.keys()), f"by {suffix}: names")
            for name in one.keys():
                check(numpy.array_equal(one.get_tensor(name), other.get_tensor(name)), f"by {suffix}: {name}", "tensors")
        (folder / f"there.{suffix}").unlink()


@part
def by_alt(folder):
    """GGUF to ALT to a directory: a guess is called a guess, and the weights are the same."""
    transformers, load, numpy = need("transformers"), need("safetensors").safe_open, need("numpy")
    said = tare("convert", smollm(), folder / "there.alt", code=1)
    check("--drop metadata" in said, f"the refusal names the option: {said}")
    said = tare("convert", smollm(), folder / "there.alt", "--drop", "metadata")
    check("lost" in said and "vocabulary: its kind" in said, f"the first step names what it loses: {said}")
    said = tare("convert", folder / "there.alt", f"{folder}/by_alt/")
    tare("convert", smollm(), f"{folder}/direct/")
    ways = [transformers.AutoTokenizer.from_pretrained(folder / way) for way in ("by_alt", "direct")]
    differ = sum(ways[0](text).input_ids != ways[1](text).input_ids for text in texts())
    note(f"{differ} of {len(texts())} texts are split in another way")
    check("warning" in said and "how the model splits text is not known" in said, f"the second step says that it guesses: {said}")
    with load(folder / "direct" / "model.safetensors", "numpy") as one, load(folder / "by_alt" / "model.safetensors", "numpy") as other:
        equal(sorted(other.keys()), sorted(one.keys()), "names")
        for name in one.keys():
            check(numpy.array_equal(one.get_tensor(name), other.get_tensor(name)), name, "tensors")


@part
def to_safetensors(folder):
    """GGUF to one safetensors file: refused with the option's name, then equal to gguf's decoder."""
    gguf, numpy = need("gguf"), need("numpy")
    said = tare("convert", smollm(), folder / "out.safetensors", code=1)
    check("--weights-only" in said and not (folder / "out.safetensors").exists(), f"the refusal names the option: {said}")
    tare("convert", smollm(), folder / "out.safetensors", "--weights-only", "--dtype", "f32", "--names", "keep")
    found = need("safetensors.numpy").load_file(folder / "out.safetensors")
    theirs = gguf.GGUFReader(smollm()).tensors
    equal(sorted(found), sorted(t.name for t in theirs), "names")
    for tensor in theirs:
        values = tensor.data if tensor.tensor_type.name == "F32" else gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        check(numpy.array_equal(found[tensor.name], values.reshape(found[tensor.name].shape)), tensor.name, "tensors")


@part
def shards(folder):
    """Shard and merge: transformers loads the shards, llama.cpp the split, and the merged files are the first ones."""
    transformers, torch = need("transformers"), need("torch")
    tare("convert", smollm(), f"{folder}/whole/")
    tare("convert", folder / "whole", f"{folder}/shards/", "--shard", "100MB")
    count = len(list((folder / "shards").glob("*.safetensors")))
    check(count >= 5, f"{count} shards, expected 5 or more")
    one, other = (transformers.AutoModelForCausalLM.from_pretrained(folder / name, dtype=torch.float32).state_dict() for name in ("whole", "shards"))
    equal(sorted(one), sorted(other), "names")
    for name in one:
        check(torch.equal(one[name], other[name]), f"shards: {name}", "tensors")
    tare("convert", folder / "shards", f"{folder}/merged/")
    check(filecmp.cmp(folder / "whole/model.safetensors", folder / "merged/model.safetensors", shallow=False), "merged: the same file", "files")
    tare("convert", smollm(), f"{folder}/split/", "--to", "gguf", "--shard", "30MB")
    pieces = sorted((folder / "split").glob("*.gguf"))
    check(len(pieces) >= 3, f"{len(pieces)} files of the split, expected 3 or more")
    with llama_library.Model(smollm()) as judge:
        ids = judge.tokenize("The capital of France is")
        expected = judge.logits(ids)
    with llama_library.Model(pieces[0]) as judge:
        equal(judge.tokenize("The capital of France is"), ids, "split: tokens")
        check((judge.logits(ids) == expected).all(), "split: llama.cpp computes the same logits")
    tare("convert", pieces[0], folder / "merged.gguf")
    check(filecmp.cmp(smollm(), folder / "merged.gguf", shallow=False), "merged split: the same file", "files")
    note(f"{count} shards, {len(pieces)} files of the split")


@part
def other_safetensors(folder):
    """wordllama's and silero's safetensors, there and back by each container: equal to the package safetensors."""
    load, numpy = need("safetensors.numpy").load_file, need("numpy")
    for path in (weights("wordllama", "*.safetensors"), weights("silero-vad", "*.safetensors")):
        expected = load(path)
        for suffix in ("zt", "zt2", "mcf", "npz", "safetensors"):
            there, back = folder / f"there.{suffix}", folder / "back.safetensors"
            tare("convert", path, there, "--force")
            tare("convert", there, back, "--force", "--weights-only")
            found = load(back)
            equal(sorted(found), sorted(expected), f"{path.name} by {suffix}: names")
            for name, values in expected.items():
                check(found[name].dtype == values.dtype and numpy.array_equal(found[name], values), f"{path.name} by {suffix}: {name}", "tensors")


if __name__ == "__main__":
    sys.exit(main())
