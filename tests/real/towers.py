#!/usr/bin/env python3
"""Multimodal models: tiny random ones of transformers, with llama.cpp's own converter as the judge.

    towers.py TARE [MODEL...]
    towers.py TARE --record       writes what the converter does to a model of each kind to tests/formats/gguf/families/towers.jsonl

For each kind of model and several random configurations: the text model and the vision tower are the files of the converter: names, types,
shapes, keys and bytes; both files together give the same directory again; the text model alone gives a directory that transformers loads,
which computes the same for a text.
"""
import contextlib
import json
import os
import pathlib
import random
import sys
import tempfile

import families
from judging import check, equal, loaded, main, need, parts, tare, torch_module

VOCABULARY = 97
LINE_END = "v.token_embd.img_break"
PREPROCESSOR = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}


def text(dice, **settings):
    keys, head = dice.choice((1, 2)), dice.choice((16, 32))
    heads = keys * dice.choice((1, 2))
    return {"vocab_size": VOCABULARY, "hidden_size": 16 * dice.choice((3, 5)), "intermediate_size": dice.choice((33, 48)),
            "num_hidden_layers": dice.choice((2, 3)), "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": head,
            "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2} | settings


def sections(head):
    return {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [head // 2 - 2 * (head // 8), head // 8, head // 8]}


def qwen2(dice, kind):
    heads = dice.choice((2, 3))
    language = text(dice)
    language |= {"hidden_size": language["num_attention_heads"] * language.pop("head_dim")}
    language["rope_parameters"] = sections(language["hidden_size"] // language["num_attention_heads"])
    if kind == "2":
        vision = {"depth": dice.choice((3, 4)), "embed_dim": 16 * heads, "num_heads": heads, "hidden_size": language["hidden_size"], "mlp_ratio": 2,
                  "patch_size": 8, "temporal_patch_size": 2, "spatial_merge_size": 2, "in_channels": 3}
        # The size that the converter states for the networks is that of the language model.
    else:
        vision = {"depth": 4, "hidden_size": 16 * heads, "num_heads": heads, "intermediate_size": dice.choice((40, 56)), "patch_size": 8,
                  "out_hidden_size": language["hidden_size"], "fullatt_block_indexes": dice.choice(([1, 3], [3])), "window_size": 32}
    return {"text_config": language, "vision_config": vision, "tie_word_embeddings": dice.random() < 0.5}


def qwen3(dice, **settings):
    language = text(dice, **settings)
    language["rope_parameters"] = sections(language["head_dim"]) | {"mrope_interleaved": True}
    heads = dice.choice((2, 3))
    return {"text_config": language, "tie_word_embeddings": dice.random() < 0.5, "vision_config": {
        "depth": 4, "hidden_size": 16 * heads, "num_heads": heads, "intermediate_size": dice.choice((40, 56)), "patch_size": 8,
        "out_hidden_size": language["hidden_size"], "num_position_embeddings": dice.choice((16, 36)), "spatial_merge_size": 2,
        "deepstack_visual_indexes": dice.choice(([1], [0, 2]))}}


def qwen3_moe(dice):
    return qwen3(dice, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, norm_topk_prob=True)


def qwen35(dice):
    found = qwen3(dice, layer_types=["linear_attention", "full_attention"], num_hidden_layers=2, linear_num_key_heads=2, linear_num_value_heads=4,
                  linear_key_head_dim=8, linear_value_head_dim=8, linear_conv_kernel_dim=4)
    found["text_config"]["rope_parameters"] |= {"partial_rotary_factor": 0.25, "mrope_section": [2, 1, 1]}
    found["vision_config"]["deepstack_visual_indexes"] = []
    return found


def siglip(dice):
    heads = dice.choice((2, 3))
    return {"hidden_size": 16 * heads, "num_attention_heads": heads, "num_hidden_layers": dice.choice((2, 3)), "intermediate_size": dice.choice((40, 56)),
            "image_size": 64, "patch_size": 8}


def gemma3(dice):
    language = text(dice, sliding_window=16, num_hidden_layers=2)
    # llama.cpp scales by the size of a head.
    language["query_pre_attn_scalar"] = language["head_dim"]
    return {"text_config": language,
            "vision_config": siglip(dice) | {"vision_use_head": False}, "mm_tokens_per_image": 16}


def smolvlm(dice):
    language = text(dice, model_type="llama", architectures=["LlamaForCausalLM"])
    language["hidden_size"] = language["num_attention_heads"] * language["head_dim"]
    return {"text_config": language, "vision_config": siglip(dice), "scale_factor": 2, "tie_word_embeddings": dice.random() < 0.5}


def pixtral(dice, kind):
    heads = dice.choice((2, 3))
    found = {"text_config": text(dice, model_type="mistral", sliding_window=None, tie_word_embeddings=False),
             "vision_config": {"model_type": "pixtral", "hidden_size": 16 * heads, "num_attention_heads": heads, "num_hidden_layers": dice.choice((3, 4)),
                               "intermediate_size": dice.choice((40, 56)), "image_size": 64, "patch_size": 8, "hidden_act": "silu"}}
    if kind == "mistral3":
        found |= {"spatial_merge_size": 2}
    return found


def llama4(dice):
    return {"text_config": text(dice, intermediate_size_mlp=40, num_local_experts=4, num_experts_per_tok=1, interleave_moe_layer_step=2,
                                attention_chunk_size=8192, head_dim=16, tie_word_embeddings=False),
            "vision_config": siglip(dice) | {"vision_output_dim": 32, "projector_input_dim": 32, "projector_output_dim": 32}}


# The beginning of the classes' names in transformers, the settings, and facts. `text_class`: of the directory that the text model alone
# becomes; `tower`: whether the tower converts; `line_end`: it has the vector of a token; `older_names`, `older_experts`: as in
# the files on the hub.
MODELS = {
    "qwen3_vl": ("Qwen3VL", qwen3, {"text_class": "Qwen3ForCausalLM"}),
    "gemma3": ("Gemma3", gemma3, {"text_class": "Gemma3ForCausalLM", "older_names": True}),
    "mistral3": ("Mistral3", lambda dice: pixtral(dice, "mistral3"), {"line_end": True, "text_class": "MistralForCausalLM"}),
    "llava": ("Llava", lambda dice: pixtral(dice, "llava"), {"line_end": True, "text_class": "MistralForCausalLM"}),
    "qwen2_5_vl": ("Qwen2_5_VL", lambda dice: qwen2(dice, "2.5"), {"text_class": "Qwen2ForCausalLM"}),
    "qwen2_vl": ("Qwen2VL", lambda dice: qwen2(dice, "2"), {"text_class": "Qwen2ForCausalLM"}),
    "qwen3_vl_moe": ("Qwen3VLMoe", qwen3_moe, {"text_class": "Qwen3MoeForCausalLM", "older_experts": True}),
    "qwen3_5": ("Qwen3_5", qwen35, {"text_class": "Qwen3_5ForCausalLM", "further": {"attention.recurrent_layers"}}),
    "smolvlm": ("SmolVLM", smolvlm, {"text_class": "LlamaForCausalLM"}),
    "llama4": ("Llama4", llama4, {"tower": False, "text_class": "Llama4ForCausalLM"}),
}


def made(stem, settings, torch, transformers):
    config = getattr(transformers, f"{stem}Config")(**settings)
    model = getattr(transformers, f"{stem}ForConditionalGeneration")(config)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.05)
    return model.eval()


def finish(folder):
    """Adds the numbers of the preprocessor, which transformers writes with a processor only."""
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))


def tokens_for(folder):
    words = {f"w{row}": row for row in range(VOCABULARY - 1)}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
        "added_tokens": [{"id": VOCABULARY - 1, "content": "[IMG_BREAK]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                          "special": True}],
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "w0"}}))
    (folder / "tokenizer_config.json").write_text("{}")


def convert_by_llama_cpp(folder, out, kind, tower):
    conversion, gguf, torch = families.converter(), need("gguf"), torch_module()
    tokens_for(folder)
    with torch.inference_mode():
        hparams = conversion.ModelBase.load_hparams(folder, False)
        # Its class for Qwen 3.5 refuses a model without a layer that predicts further tokens, unless this is set.
        conversion.ModelBase.no_mtp = True
        which = conversion.ModelType.MMPROJ if tower else conversion.ModelType.TEXT
        name = conversion.get_model_architecture(hparams, which)
        model = conversion.get_model_class(name, mmproj=tower)(
            folder, {"f32": gguf.LlamaFileType.ALL_F32, "bf16": gguf.LlamaFileType.MOSTLY_BF16}[kind], out)
        model.set_vocab = lambda: None
        if hasattr(model, "impl"):
            model.impl.set_vocab = lambda: None
        with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stderr(nothing):
            model.write()
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()


def compare_towers(ours, theirs, what):
    """Like that of families.py, for towers: a matrix that llama.cpp's converter rounds to f16 is f32 here, which has all numbers."""
    gguf, numpy = need("gguf"), need("numpy")
    found, expected = gguf.GGUFReader(ours), gguf.GGUFReader(theirs)
    mine = {tensor.name: tensor for tensor in found.tensors}
    # The converter leaves it out of models whose text has the prefix "language_model.", and its runtime requires it.
    names = sorted(tensor.name for tensor in expected.tensors)
    equal(sorted(set(mine) - ({LINE_END} - set(names))), names, f"{what}: names")
    for tensor in expected.tensors:
        other = mine.get(tensor.name)
        if other is None:
            continue
        equal(list(other.shape), list(tensor.shape), f"{what}: shape of {tensor.name}")
        if tensor.name == "mm.input_projection.weight":
            equal(other.tensor_type.name, "F32", f"{what}: type of {tensor.name}")
            check(numpy.array_equal(other.data.astype(numpy.float16), tensor.data), f"{what}: values of {tensor.name}", "tensors")
            continue
        equal(other.tensor_type.name, tensor.tensor_type.name, f"{what}: type of {tensor.name}")
        check(numpy.array_equal(other.data.view(numpy.uint8), tensor.data.view(numpy.uint8)), f"{what}: bytes of {tensor.name}", "tensors")
    keys = {key: field for key, field in found.fields.items() if not key.startswith(families.NAMED)}
    for key, field in expected.fields.items():
        if not key.startswith(families.NAMED) and check(key in keys, f"{what}: the key {key} = {field.contents()} does not exist", "keys"):
            equal([kind.name for kind in keys[key].types], [kind.name for kind in field.types], f"{what}: type of {key}")
            equal(keys[key].contents(), field.contents(), f"{what}: {key}")
    equal(sorted(set(keys) - set(expected.fields)), [], f"{what}: further keys")


def older_files(folder, facts):
    """As the files on the hub are: the names of Gemma's tower; the experts of Qwen3-VL, [inputs][outputs] each."""
    files = need("safetensors.torch", "safetensors")
    tensors = files.load_file(folder / "model.safetensors")
    before = "vision_tower."
    if facts.get("older_names"):
        tensors = {name.replace(before, f"{before}vision_model.", 1) if name.startswith(before) else name: tensor for name, tensor in tensors.items()}
    if facts.get("older_experts"):
        tensors = {name: tensor.transpose(1, 2).contiguous() if ".experts." in name else tensor for name, tensor in tensors.items()}
    files.save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def judge(name, stem, settings, facts, folder):
    transformers, torch = need("transformers"), torch_module()
    families.converter()
    for number in range(families.CONFIGURATIONS):
        dice = random.Random(f"{name} {number}")
        kind = "f32" if number % 2 else "bf16"
        here, what = folder / str(number), f"{name} {number}"
        model = made(stem, settings(dice), torch, transformers).to(torch.float32 if kind == "f32" else torch.bfloat16)
        model.save_pretrained(here / "hf")
        model = getattr(transformers, f"{stem}ForConditionalGeneration").from_pretrained(here / "hf", dtype=torch.float32).eval()
        finish(here / "hf")
        older_files(here / "hf", facts)
        convert_by_llama_cpp(here / "hf", here / "text-theirs.gguf", kind, False)
        if facts.get("tower", True):
            convert_by_llama_cpp(here / "hf", here / "tower-theirs.gguf", kind, True)
        if facts.get("line_end"):
            tokens_for(here / "hf")
        said = tare("convert", here / "hf", here / "alone.gguf")
        check("--mmproj FILE writes it" in said, f"{what}: how to get the tower: {said}")
        families.compare_files(here / "alone.gguf", here / "text-theirs.gguf", f"{what}, text", facts)
        if facts.get("tower", True):
            tare("convert", here / "hf", here / "text.gguf", "--mmproj", here / "tower.gguf")
            families.compare_files(here / "text.gguf", here / "text-theirs.gguf", f"{what}, text with a tower", facts)
            compare_towers(here / "tower.gguf", here / "tower-theirs.gguf", f"{what}, tower")
            tare("convert", here / "text.gguf", f"{here}/back/", "--mmproj", here / "tower.gguf")
            families.same_directory(here / "back", here / "hf", f"{what} and back")
            for file in ("config.json", "preprocessor_config.json"):
                equal((here / "back" / file).read_bytes(), (here / "hf" / file).read_bytes(), f"{what} and back: {file}")
        else:
            tare("convert", here / "hf", here / "text.gguf", "--mmproj", here / "tower.gguf", code=1)
        if facts.get("text_class") is None:
            continue
        tare("convert", here / "alone.gguf", f"{here}/made/")
        again = loaded(here / "made", experts_implementation="eager")
        equal(type(again).__name__, facts["text_class"], f"{what}, directory of the text model: class")
        ids = torch.tensor([[dice.randrange(VOCABULARY) for _ in range(12)]])
        with torch.no_grad():
            difference = (again(ids).logits - model(ids).logits).abs().max().item()
        check(difference <= 1e-4, f"{what}: logits of the text model differ by {difference}", "logits")


def described(path, keys_of):
    """The tensors and keys of a file, for the record; those that are f16 are f32 in Tare's."""
    gguf = need("gguf")
    made_file = gguf.GGUFReader(path)
    keys = {key: [[kind.name for kind in field.types], field.contents()] for key, field in made_file.fields.items()
            if key.startswith(keys_of) and not key.startswith(families.NAMED)}
    kinds = {"F16": "F32"}
    return {"gguf": {tensor.name: [kinds.get(tensor.tensor_type.name, tensor.tensor_type.name), [int(size) for size in tensor.shape[::-1]]]
                     for tensor in made_file.tensors},
            "keys": keys, "copies": [LINE_END] if keys_of == "clip." else []}


def recorded(name, stem, settings, facts, folder):
    transformers, torch = need("transformers"), torch_module()
    families.converter()
    model = made(stem, settings(random.Random(f"{name} record")), torch, transformers).bfloat16()
    model.save_pretrained(folder / "hf")
    finish(folder / "hf")
    older_files(folder / "hf", facts)
    convert_by_llama_cpp(folder / "hf", folder / "text.gguf", "bf16", False)
    convert_by_llama_cpp(folder / "hf", folder / "tower.gguf", "bf16", True)
    if facts.get("line_end"):
        tokens_for(folder / "hf")
    files = {file.name: file.read_text() for file in sorted((folder / "hf").glob("*.json")) if file.name != "config.json"}
    architecture = need("gguf").GGUFReader(folder / "text.gguf").fields["general.architecture"].contents()
    return {"family": name, "config": json.loads((folder / "hf/config.json").read_text()), "files": files,
            "tensors": {tensor: entry[:2] for tensor, entry in families.tensors_of(folder / "hf").items()},
            **described(folder / "text.gguf", f"{architecture}."), "tower": described(folder / "tower.gguf", "clip.")}


def record():
    path = pathlib.Path(__file__).parents[1] / "formats/gguf/families/towers.jsonl"
    lines = []
    for name, row in MODELS.items():
        if row[2].get("tower", True):
            with tempfile.TemporaryDirectory() as folder:
                lines.append(json.dumps(recorded(name, *row, pathlib.Path(folder)), separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n")
    return 0


def part_of(name, stem, settings, facts):
    def run(folder):
        judge(name, stem, settings, facts, folder)

    run.__name__ = run.__doc__ = name
    return run


parts.clear()  # those of families.py
parts.extend(part_of(name, *row) for name, row in MODELS.items())

if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else main())
