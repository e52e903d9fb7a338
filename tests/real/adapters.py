#!/usr/bin/env python3
"""LoRA on SmolLM2: merges compared with PEFT, GGUF bases and adapters with llama.cpp and its convert_lora_to_gguf.py.

    adapters.py TARE [PART...]
"""
import functools
import pathlib
import shutil
import sys
import tempfile

import llama_library
from judging import check, equal, loaded, main, need, next_logits, note, part, run_script, smollm, tare, tare_json, torch_module

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# What is adapted, and how many layers of the model that is.
KINDS = {"lora": (dict(r=8, lora_alpha=16, target_modules=LINEAR), 210),
         "rslora": (dict(r=8, lora_alpha=16, use_rslora=True, target_modules=["q_proj", "v_proj"]), 60),
         "dora": (dict(r=4, lora_alpha=8, use_dora=True, target_modules=["down_proj"]), 30)}


@functools.cache
def held():
    return tempfile.TemporaryDirectory(prefix="tare-real-")


@functools.cache
def base():
    made = pathlib.Path(held().name) / "base"
    tare("convert", smollm(), f"{made}/")
    return made


@functools.cache
def adapter(kind):
    """(the directory that PEFT saves, PEFT's logits for IDS with the adapter in place, PEFT's merged weights)"""
    peft, torch = need("peft"), torch_module()
    options, layers = KINDS[kind]
    adapted = peft.get_peft_model(loaded(base()), peft.LoraConfig(task_type="CAUSAL_LM", **options)).eval()
    torch.manual_seed(7)
    for name, value in adapted.named_parameters():
        if "lora_A" in name or "lora_B" in name:
            value.data.normal_(0, 0.02)
        elif "magnitude" in name:
            value.data.mul_(1 + 0.1 * torch.rand_like(value))
    made = pathlib.Path(held().name) / kind
    adapted.save_pretrained(made)
    logits = next_logits(adapted, IDS)
    merged = {name: value.clone() for name, value in adapted.merge_and_unload().state_dict().items()}
    return made, logits, merged


IDS = [504, 3575, 282, 4649, 314, 7042, 30, 1302, 314, 260, 4075, 2965]


@part
def merged_directories(folder):
    """PEFT merges: LoRA, rsLoRA and DoRA into a directory, compared with merge_and_unload."""
    torch, load = torch_module(), need("safetensors.torch").load_file
    before = load(base() / "model.safetensors")
    for kind, (_, layers) in KINDS.items():
        lora, _, expected = adapter(kind)
        tare("convert", base(), f"{folder}/{kind}/", "--merge", lora)
        found = load(folder / kind / "model.safetensors")
        equal(sorted(found), sorted(before), f"{kind}: names")
        changed, worst = 0, 0.0
        for name, tensor in found.items():
            difference = (tensor - expected[name]).abs().max().item()
            worst = max(worst, difference)
            check(difference <= 1e-6 * max(1.0, expected[name].abs().max().item()), f"{kind}: {name} differs from PEFT's by {difference}", "tensors")
            changed += not torch.equal(tensor, before[name])
        equal(changed, layers, f"{kind}: layers that changed")
        note(f"{kind}: {changed} layers, largest difference to PEFT {worst:.1e}")
        report = tare_json("diff", "--tensors", "--json", base(), folder / kind, code=1)
        equal(sum(item["values_differ"] for item in report["tensors"]), layers, f"{kind}: tensors that diff finds")
        shutil.rmtree(folder / kind)


@part
def merged_into_gguf(folder):
    """LoRA into a GGUF base: what merging in the directory gives, and llama.cpp computes what PEFT does."""
    numpy = need("numpy")
    lora, logits, _ = adapter("lora")
    tare("convert", base(), folder / "base.gguf")
    tare("convert", folder / "base.gguf", folder / "merged.gguf", "--merge", lora)
    tare("convert", base(), f"{folder}/dir/", "--merge", lora)
    tare("convert", folder / "dir", folder / "by_directory.gguf")
    equal(tare_json("diff", "--tensors", "--json", folder / "merged.gguf", folder / "by_directory.gguf")["same"], True, "as merging in the directory")
    with llama_library.Model(folder / "merged.gguf") as judge:
        difference = numpy.abs(judge.logits(IDS) - logits).max()
        check(difference < 1e-2, f"llama.cpp's logits differ from PEFT's by {difference}", "logits")
        note(f"llama.cpp on the merged file: logits differ from PEFT's by at most {difference:.1e}")
    # The wheel's own file, of which the adapted layers become f32.
    tare("convert", smollm(), folder / "quantized.gguf", "--merge", lora)
    with llama_library.Model(folder / "quantized.gguf") as judge:
        difference = numpy.abs(judge.logits(IDS) - logits).max()
        check(difference < 0.5, f"quantized base: llama.cpp's logits differ from PEFT's by {difference}", "logits")
        note(f"llama.cpp on the quantized base with its merged layers in f32: at most {difference:.1e} (its table of 8 bits multiplies rounded activations)")
    tare("quantize", folder / "base.gguf", folder / "small.gguf", "--method", "q8_0", "--merge", lora)
    with llama_library.Model(folder / "small.gguf") as judge:
        check((judge.logits(IDS).argmax(1) == logits.argmax(1)).mean() >= 0.9, "quantize --merge: the likeliest tokens", "logits")


@part
def gguf_adapter(folder):
    """LoRA to llama.cpp's adapter: the tensors of convert_lora_to_gguf.py, and llama.cpp computes what PEFT does."""
    gguf, numpy = need("gguf"), need("numpy")
    made, logits, _ = adapter("lora")
    lora = folder / "lora"
    shutil.copytree(made, lora)
    shutil.copy(base() / "config.json", lora)
    tare("convert", lora, folder / "ours.gguf")
    tare("convert", base(), folder / "base.gguf")
    with llama_library.Model(folder / "base.gguf") as judge:
        plain = judge.logits(IDS)
        judge.use_adapter(folder / "ours.gguf")
        found = judge.logits(IDS)
        difference, effect = numpy.abs(found - logits).max(), numpy.abs(found - plain).max()
        check(difference < 1e-2 and effect > 100 * difference, f"llama.cpp's logits differ from PEFT's by {difference}, the adapter's effect is {effect}", "logits")
        note(f"llama.cpp with the adapter: logits differ from PEFT's by at most {difference:.1e}; the adapter changes them by {effect:.1f}")
    tare("convert", folder / "ours.gguf", f"{folder}/back/")
    load = need("safetensors.torch").load_file
    first, again = load(lora / "adapter_model.safetensors"), load(folder / "back" / "adapter_model.safetensors")
    equal(sorted(again), sorted(first), "back to PEFT's form: names")
    for name, tensor in first.items():
        check(bool((again[name] == tensor).all()), f"back to PEFT's form: {name}", "tensors")
    run_script("convert_lora_to_gguf.py", made, "--base", base(), "--outfile", folder / "theirs.gguf", "--outtype", "f32")
    theirs, ours = gguf.GGUFReader(folder / "theirs.gguf"), gguf.GGUFReader(folder / "ours.gguf")
    found = {t.name: t for t in ours.tensors}
    equal(sorted(found), sorted(t.name for t in theirs.tensors), "names of convert_lora_to_gguf.py")
    for tensor in theirs.tensors:
        other = found[tensor.name]
        check(other.tensor_type == tensor.tensor_type and numpy.array_equal(other.data, tensor.data), tensor.name, "tensors")
    for key in ("general.architecture", "general.type", "adapter.type", "adapter.lora.alpha"):
        equal(ours.fields[key].contents(), theirs.fields[key].contents(), key)


@part
def refused_adapters(folder):
    """DoRA to llama.cpp's adapter: refused, since llama.cpp could not apply it."""
    made, _, _ = adapter("dora")
    shutil.copytree(made, folder / "dora")
    shutil.copy(base() / "config.json", folder / "dora")
    said = tare("convert", folder / "dora", folder / "dora.gguf", code=1)
    check("gguf.adapter" in said and not (folder / "dora.gguf").exists(), f"DoRA: {said}")


if __name__ == "__main__":
    sys.exit(main())
