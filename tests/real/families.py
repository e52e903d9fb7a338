#!/usr/bin/env python3
"""Every family, both ways: tiny random models of transformers, with llama.cpp's own converter as the judge.

    families.py TARE [FAMILY...]
    families.py TARE --record       writes what the converter does to a model of each family to tests/formats/gguf/families

For each family and at least three random configurations: the converter's names, types, shapes, keys and bytes; the way back to the same
bytes; and the directory that Tare makes of the converter's own file, which transformers loads, with the weights of the first model.
"""
import contextlib
import json
import logging
import os
import pathlib
import random
import sys
import tempfile

import family_models
from judging import Missing, check, equal, loaded, main, need, parts, tare, torch_module

CONFIGURATIONS = int(os.environ.get("TARE_CONFIGURATIONS", "3"))
# Keys that Tare writes for every family from fields that every container has. llama.cpp has the same values without them.
FURTHER = {"vocab_size", "rope.freq_base", "attention.head_count_kv"}
# Keys that the converter derives from the directory's name, and those of the program that writes a file.
NAMED = ("GGUF.", "general.name", "general.basename", "general.size_label", "general.finetune", "general.version", "tare.", "tokenizer.")


def converter():
    """The package of llama.cpp's converter."""
    folder = pathlib.Path(os.environ.get("TARE_LLAMA_CPP", pathlib.Path(__file__).parents[2] / "build" / "interop" / "llama.cpp"))
    if not (folder / "conversion").is_dir():
        raise Missing(f"{folder}/conversion does not exist (tools/interop)")
    for path in (folder / "gguf-py", folder):
        if str(path) not in sys.path:
            sys.path.insert(0, str(path))
    logging.disable(logging.WARNING)
    return need("conversion", "llama.cpp's converter")


def convert_by_llama_cpp(folder, out, kind, family=None):
    """Without a tokenizer: these models have none."""
    family = family or {}
    conversion, gguf, torch = converter(), need("gguf"), torch_module()
    # Gemma's class looks for the number of tokens in one.
    tokenizer = folder / "tokenizer.json"
    rows = json.loads((folder / "config.json").read_text())["vocab_size"]
    tokenizer.write_text(json.dumps({"added_tokens": [], "model": {"vocab": {str(row): row for row in range(rows)}}}))
    with torch.inference_mode():
        hparams = conversion.ModelBase.load_hparams(folder, False)
        # Its classes for "mtp" refuse a model without such a layer, unless this is set.
        conversion.ModelBase.no_mtp = bool(family.get("mtp")) and not any(tensor.startswith("mtp.") for tensor in tensors_of(folder))
        name = family.get("converter") or conversion.get_model_architecture(hparams, conversion.ModelType.TEXT)
        model = conversion.get_model_class(name)(folder, {"f32": gguf.LlamaFileType.ALL_F32, "bf16": gguf.LlamaFileType.MOSTLY_BF16}[kind], out,
                                                    **({"hparams": json.loads((folder / "config.json").read_text())} if "older" in family else {}))
        model.set_vocab = lambda: None
        # Some of its classes keep what they have seen of one model for the next.
        for values in vars(type(model)).values():
            if isinstance(values, dict):
                values.clear()
        with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stderr(nothing):
            model.write()
    tokenizer.unlink()


def compare_files(ours, theirs, what, family):
    gguf, numpy = need("gguf"), need("numpy")
    found, expected = gguf.GGUFReader(ours), gguf.GGUFReader(theirs)
    mine = {tensor.name: tensor for tensor in found.tensors}
    names = {tensor.name for tensor in expected.tensors}
    equal(sorted(set(mine) - (set(family.get("copies", ())) - names)), sorted(names), f"{what}: names")
    for tensor in expected.tensors:
        other = mine.get(tensor.name)
        if other is None:
            continue
        equal(other.tensor_type.name, tensor.tensor_type.name, f"{what}: type of {tensor.name}")
        equal(list(other.shape), list(tensor.shape), f"{what}: shape of {tensor.name}")
        if tensor.name.endswith(".ssm_a"):
            # torch's exp is one off in the last place for one number in a hundred; Tare's is rounded correctly.
            off = numpy.abs(other.data.view(numpy.int32).astype(numpy.int64) - tensor.data.view(numpy.int32)).max()
            check(off <= 1, f"{what}: {tensor.name} is {off} off in the last place", "tensors")
            continue
        if tensor.name == "rope_freqs.weight":
            # torch computes the divisors between the two bounds in f32, Tare in f64.
            off = numpy.abs(other.data / tensor.data - 1).max()
            check(off <= 1e-6, f"{what}: {tensor.name} is {off} off", "tensors")
            continue
        check(numpy.array_equal(other.data.view(numpy.uint8), tensor.data.view(numpy.uint8)), f"{what}: bytes of {tensor.name}", "tensors")
    keys = {key: field for key, field in found.fields.items() if not key.startswith(NAMED)}
    further = FURTHER | set(family.get("further", ()))
    for key, field in expected.fields.items():
        if key.startswith(NAMED) or key.partition(".")[2] in family.get("implied", ()):
            continue
        if check(key in keys, f"{what}: the key {key} = {field.contents()} does not exist", "keys"):
            equal([kind.name for kind in keys[key].types], [kind.name for kind in field.types], f"{what}: type of {key}")
            equal(keys[key].contents(), field.contents(), f"{what}: {key}")
    for key in sorted(set(keys) - set(expected.fields)):
        check(key.partition(".")[2] in further, f"{what}: a key that the converter does not write: {key} = {keys[key].contents()}", "keys")


def tensors_of(folder):
    """Name -> (type, shape, bytes) of a directory."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        blob = path.read_bytes()
        size = int.from_bytes(blob[:8], "little")
        for name, entry in json.loads(blob[8:8 + size]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[name] = (entry["dtype"], entry["shape"], blob[8 + size + begin:8 + size + end])
    return found


def same_directory(found, expected, what):
    ours, theirs = tensors_of(found), tensors_of(expected)
    equal(sorted(ours), sorted(theirs), f"{what}: names")
    for name in sorted(set(ours) & set(theirs)):
        check(ours[name] == theirs[name], f"{what}: {name}: {ours[name][:2]} and {theirs[name][:2]}", "tensors")


def pack_experts(folder, dice):
    """Random MXFP4 experts in place of those that transformers wrote, as the files of GPT-OSS have them."""
    torch, files = torch_module(), need("safetensors.torch", "safetensors")
    path = folder / "model.safetensors"
    tensors = {}
    for name, tensor in files.load_file(path).items():
        if not name.endswith((".experts.gate_up_proj", ".experts.down_proj")):
            tensors[name] = tensor
            continue
        experts, inputs, outputs = tensor.shape
        generator = torch.Generator().manual_seed(dice.randrange(1 << 30))
        blocks = (experts, outputs, inputs // 32)
        tensors[f"{name}_blocks"] = torch.randint(0, 256, (*blocks, 16), dtype=torch.uint8, generator=generator)
        tensors[f"{name}_scales"] = torch.randint(118, 124, blocks, dtype=torch.uint8, generator=generator)
    files.save_file(tensors, path, {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
                                                                "lm_head"], "quant_method": "mxfp4"}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def judge_next_layer(here, what, family, kind):
    """The layer that predicts further tokens, which transformers neither writes nor reads: a copy of the last, and what joins it."""
    torch, files = torch_module(), need("safetensors.torch", "safetensors")
    config = json.loads((here / "hf/config.json").read_text())
    if not config.get("num_nextn_predict_layers"):
        return
    tensors = files.load_file(here / "hf/model.safetensors")
    last, size = config["num_hidden_layers"] - 1, config["hidden_size"]
    layer = f"model.layers.{last + 1}."
    tensors |= {name.replace(f"model.layers.{last}.", layer): tensor.flip(0).contiguous() for name, tensor in tensors.items() if f"layers.{last}." in name}
    made = {"eh_proj": (size, 2 * size), "enorm": (size,), "hnorm": (size,), "shared_head.norm": (size,),
            "shared_head.head": (config["vocab_size"], size), "embed_tokens": (config["vocab_size"], size)}
    tensors |= {f"{layer}{name}.weight": torch.randn(shape).to(tensors["model.norm.weight"].dtype) for name, shape in made.items()}
    folder = here / "next"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    files.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    convert_by_llama_cpp(folder, here / "next-theirs.gguf", kind, family)
    tare("convert", folder, here / "next.gguf")
    compare_files(here / "next.gguf", here / "next-theirs.gguf", f"{what} with a next layer", family)
    tare("convert", here / "next.gguf", f"{here}/next-back/")
    same_directory(here / "next-back", folder, f"{what} with a next layer and back")


def judge_layer_apart(here, what, family, kind):
    """The same for families that call it "mtp": a copy of the second layer, which has attention, and what joins it."""
    torch, files = torch_module(), need("safetensors.torch", "safetensors")
    size = json.loads((here / "hf/config.json").read_text())["hidden_size"]
    tensors = files.load_file(here / "hf/model.safetensors")
    layer = "model.layers.1."
    tensors |= {name.replace(layer, "mtp.layers.0."): tensor.flip(0).contiguous() for name, tensor in tensors.items() if name.startswith(layer)}
    for name, shape in {"fc": (size, 2 * size), "pre_fc_norm_embedding": (size,), "pre_fc_norm_hidden": (size,), "norm": (size,)}.items():
        tensors[f"mtp.{name}.weight"] = torch.randn(shape).to(tensors["model.norm.weight"].dtype)
    folder = here / "mtp"
    folder.mkdir()
    (folder / "config.json").write_bytes((here / "hf/config.json").read_bytes())
    files.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    convert_by_llama_cpp(folder, here / "mtp-theirs.gguf", kind, family)
    tare("convert", folder, here / "mtp.gguf")
    compare_files(here / "mtp.gguf", here / "mtp-theirs.gguf", f"{what} with mtp", family)
    for source, target in (("mtp", "mtp-back"), ("mtp-theirs", "mtp-made")):
        tare("convert", here / f"{source}.gguf", f"{here}/{target}/")
        found = tensors_of(here / target)
        equal(sorted(found), sorted(tensors), f"{what} with mtp and back from {source}: names")
    same_directory(here / "mtp-back", folder, f"{what} with mtp and back")


def output_of(model, ids):
    """The logits; for an encoder, the vectors of the tokens."""
    made = model(ids, **({"decoder_input_ids": ids} if getattr(model.config, "is_encoder_decoder", False) else {}))
    return made.logits if hasattr(made, "logits") else made.last_hidden_state


def save(model, folder, family):
    """As the directories that people have: some call things otherwise than the newest transformers does."""
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if words := family.get("words"):
        text = (folder / "config.json").read_text()
        for new, old in words.items():
            text = text.replace(new, old)
        config = {key: value for key, value in json.loads(text).items() if key not in family.get("drops", ())}
        if letters := family.get("letters"):
            config["hybrid_override_pattern"] = "".join(letters[word] for word in config.pop("layers_block_type"))
            config["num_hidden_layers"] = len(config["hybrid_override_pattern"])
        (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def judge(name, family, folder):
    transformers, torch = need("transformers"), torch_module()
    converter()
    for number in range(CONFIGURATIONS):
        dice = random.Random(f"{name} {number}")
        kind = "f32" if number % 2 else "bf16"
        here = folder / str(number)
        model = family_models.made(family, dice, torch, transformers).to(torch.float32 if kind == "f32" else torch.bfloat16)
        what = f"{name} {number}"
        save(model, here / "hf", family)
        if family.get("packed"):
            pack_experts(here / "hf", dice)
        convert_by_llama_cpp(here / "hf", here / "theirs.gguf", kind, family)
        tare("convert", here / "hf", here / "ours.gguf")
        compare_files(here / "ours.gguf", here / "theirs.gguf", what, family)
        tare("convert", here / "ours.gguf", f"{here}/back/")
        same_directory(here / "back", here / "hf", f"{what} and back")
        equal((here / "back/config.json").read_bytes(), (here / "hf/config.json").read_bytes(), f"{what} and back: config.json")
        tare("convert", here / "theirs.gguf", f"{here}/made/")
        auto = family.get("auto", "AutoModelForCausalLM")
        try:
            # What llama.cpp has no use for is not in its file: encoders come back without it.
            again = loaded(here / "made", "AutoModel" if "further_weights" in family else auto, family.get("further_weights", ()),
                           **family.get("options", {"experts_implementation": "eager"}))
        except ValueError as reason:
            check(False, f"{what}, directory of the converter's file: {reason}")
            continue
        equal(type(again).__name__, family.get("class", type(model).__name__), f"{what}, directory of the converter's file: class")
        if family.get("has_next_layer"):
            judge_next_layer(here, what, family, kind)
        if family.get("mtp"):
            judge_layer_apart(here, what, family, kind)
        # Tokens without a row of their own in the tables of layers: transformers takes the first row, llama.cpp zeros.
        text = model.config.get_text_config()
        tokens = min(text.vocab_size, getattr(text, "vocab_size_per_layer_input", text.vocab_size))
        ids = torch.tensor([[dice.randrange(family.get("first_id", 0), tokens) for _ in range(24)]])
        first = loaded(here / "hf", auto, **family.get("options", {"experts_implementation": "eager"}))
        if "further_weights" in family:
            first = first.base_model
        with torch.no_grad():
            difference = (output_of(again, ids) - output_of(first, ids)).abs().max().item()
        check(difference <= 1e-5, f"{what}: logits of the directory of the converter's file differ by {difference}", "logits")



def recorded(name, family, folder):
    """A line of the record: see tests/formats/gguf/families/recorded.py."""
    transformers, torch = need("transformers"), torch_module()
    converter()
    gguf = need("gguf")  # that of the converter
    # For None, the dice choose the number of layers, too.
    layers = family.get("layers", 2)
    fixed = {} if layers is None else {"num_hidden_layers": layers}
    model = family_models.made(family, random.Random(f"{name} record"), torch, transformers, **fixed).bfloat16()
    save(model, folder / "hf", family)
    if family.get("packed"):
        pack_experts(folder / "hf", random.Random(name))
    convert_by_llama_cpp(folder / "hf", folder / "theirs.gguf", "bf16", family)
    made = gguf.GGUFReader(folder / "theirs.gguf")
    keys = {key: [[kind.name for kind in field.types], field.contents()] for key, field in made.fields.items()
            # The numbers of Apertus's activation are those of its tensors, whose values the record does not have.
            if not key.startswith((*NAMED, "general.", "xielu.")) and key.partition(".")[2] not in family.get("implied", ())}
    return {"family": name, "config": json.loads((folder / "hf/config.json").read_text()),
            "tensors": {tensor: entry[:2] for tensor, entry in tensors_of(folder / "hf").items()},
            "gguf": {tensor.name: [tensor.tensor_type.name, [int(size) for size in tensor.shape[::-1]]] for tensor in made.tensors},
            "keys": keys, "copies": list(family.get("copies", ()))}


def record():
    path = pathlib.Path(__file__).parents[1] / "formats/gguf/families/recorded.jsonl"
    lines = []
    for name, family in family_models.FAMILIES.items():
        with tempfile.TemporaryDirectory() as folder:
            lines.append(json.dumps(recorded(name, family, pathlib.Path(folder)), separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n")
    return 0


def part_of(name, family):
    def run(folder):
        judge(name, family, folder)

    run.__name__ = name
    run.__doc__ = name
    return run


parts.extend(part_of(name, family) for name, family in family_models.FAMILIES.items())

if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else main())
