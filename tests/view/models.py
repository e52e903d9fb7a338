"""Models for the tests of `tare view`, made byte by byte."""

import json
import random
import struct

SCRIPT = "<script>window.owned=1</script><img src=x onerror=window.owned=1>"


def safetensors(path, entries, metadata=None, data=None):
    """`entries`: name -> (type, shape, bytes of an element); sparse but for `data`: name -> [(offset, bytes)]."""
    head, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, (kind, shape, width) in entries.items():
        size = width
        for dimension in shape:
            size *= dimension
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
        for name, pieces in (data or {}).items():
            for offset, content in pieces:
                file.seek(8 + len(text) + head[name]["data_offsets"][0] + offset)
                file.write(content)
    return path


def bf16(values):
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def large(path, bytes_wanted=5 << 30):
    """In the shape of a large Llama, mostly zeros that take no room on the disk."""
    width, inner, words = 4096, 14336, 32000
    entries = {"model.embed_tokens.weight": ("BF16", [words, width], 2)}
    layer = {"input_layernorm": [width], "self_attn.q_proj": [width, width], "self_attn.k_proj": [1024, width],
             "self_attn.v_proj": [1024, width], "self_attn.o_proj": [width, width], "post_attention_layernorm": [width],
             "mlp.gate_proj": [inner, width], "mlp.up_proj": [inner, width], "mlp.down_proj": [width, inner]}
    size = lambda shape: 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
    number, total = 0, 2 * size([words, width])
    while total < bytes_wanted:
        for name, shape in layer.items():
            entries[f"model.layers.{number}.{name}.weight"] = ("BF16", shape, 2)
            total += size(shape)
        number += 1
    entries["lm_head.weight"] = ("BF16", [words, width], 2)
    rng = random.Random(1)
    row = bf16(rng.gauss(0, 0.02) for _ in range(inner))
    data = {}
    for name, (_, shape, _width) in entries.items():
        long = (shape[1] if len(shape) > 1 else shape[0]) * 2
        rows = shape[0] if len(shape) > 1 else 1
        data[name] = [(k * long, row[:long]) for k in range(0, rows, max(1, rows // 16))]
    return safetensors(path, entries, {"format": "pt"}, data)


def many(path, count=100_000):
    """As many tensors as the largest models have, twice."""
    return safetensors(path, {f"blocks.{i // 100}.experts.{i % 100}.w": ("F32", [2, 2], 4) for i in range(count)})


def hostile(path):
    """Names, keys and values that a page must only ever show."""
    return safetensors(path, {SCRIPT: ("F32", [2, 2], 4), "a\u202eb": ("F32", [1], 4), "ordinary.0.weight": ("F32", [4, 4], 4),
                              "empty": ("F32", [0, 7], 4), "odd": ("F32", [2, 4], 4)},
                       {"note": SCRIPT, SCRIPT: "key"}, {"odd": [(0, struct.pack("<8f", float("nan"), float("inf"), float("-inf"), 1, 2, 3, 4, 5))]})


def hostile_directory(parent):
    """The same of everything that a model can hold: its own name, its vocabulary, its chat template, its config, its files."""
    path = parent / "<img src=x onerror=window.owned=1>"
    path.mkdir()
    hostile(path / "model.safetensors")
    for name, content in {
            "config.json": {"model_type": "llama", "architectures": [SCRIPT], "hidden_size": 4, SCRIPT: {SCRIPT: SCRIPT}},
            "tokenizer.json": {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, SCRIPT: 2, "ab": 3}, "merges": ["a b"]}},
            "tokenizer_config.json": {"chat_template": SCRIPT}}.items():
        (path / name).write_text(json.dumps(content))
    (path / "README.md").write_text(f"# {SCRIPT}\n")
    return path
