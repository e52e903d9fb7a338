"""The files the command-line cases work on, made here byte by byte: what the command writes is not what it is tested
with. `make(directory)` fills a directory."""

import io
import json
import pathlib
import struct
import zipfile

MAGIC = b"ZTEN1000"


def cbor(value):
    """The few kinds of CBOR a manifest needs."""

    def head(major, number):
        if number < 24:
            return bytes([major << 5 | number])
        for code, width in ((24, "B"), (25, "H"), (26, "I"), (27, "Q")):
            if number < 1 << (8 * struct.calcsize(width)):
                return bytes([major << 5 | code]) + struct.pack(">" + width, number)

    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())


def torch_file(tensors, more=b""):
    """What torch.save writes of a dict of f32 tensors that count from 0; `more`: opcodes of further keys and values."""

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def numbers(values):
        return b"(" + b"".join(b"K" + bytes([value]) for value in values) + b"t"

    pickle, members = b"\x80\x02}(", {}
    for key, (name, (rows, columns)) in enumerate(tensors.items()):
        count = rows * columns
        pickle += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(key))
        pickle += text("cpu") + b"K" + bytes([count]) + b"tQK\0" + numbers([rows, columns]) + numbers([columns, 1])
        pickle += b"\x89ccollections\nOrderedDict\n)RtR"
        members[f"m/data/{key}"] = f32(*range(count))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {"m/data.pkl": pickle + more + b"u.", "m/byteorder": b"little", **members, "m/version": b"3\n"}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def safetensors(tensors, metadata=None):
    """tensors: name -> (dtype, shape, bytes)."""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def gguf(entries, tensors):
    """A GGUF file, version 3. entries: key -> (type, value), "[u32]" for arrays; tensors: name -> list of floats."""
    kinds = {"u8": (0, "B"), "u32": (4, "I"), "i32": (5, "i"), "f32": (6, "f"), "string": (8, None)}

    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def single(kind, value):
        return text(value) if kind == "string" else struct.pack("<" + kinds[kind][1], value)

    out, data, infos = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)), b"", b""
    for key, (kind, value) in entries.items():
        inner = kind.strip("[]")
        out += text(key)
        if kind != inner:
            out += struct.pack("<IIQ", 9, kinds[inner][0], len(value)) + b"".join(single(inner, item) for item in value)
        else:
            out += struct.pack("<I", kinds[kind][0]) + single(kind, value)
    for name, values in tensors.items():
        infos += text(name) + struct.pack("<IQIQ", 1, len(values), 0, len(data))
        data += f32(*values) + bytes(-len(values) * 4 % 32)
    out += infos
    return out + bytes(-len(out) % 32) + data


WIDTHS = {"f32": 4, "f16": 2, "i64": 8, "u64": 8, "u8": 1, "bool": 1}


def dense(shape, dtype, data, **more):
    return {"shape": shape, "format": "dense", "components": {"data": (dtype, data)}, **more}


def zt(objects, attributes=None, gap=0, version="1.2.0"):
    """A zTensor 1.2 file. `objects` maps names to {shape, format, components: {role: (dtype, bytes)}}; `gap` moves
    every component off its boundary."""
    body, entries = bytearray(MAGIC), {}
    for name, item in objects.items():
        components = {}
        for role, (dtype, data) in item["components"].items():
            body += bytes(-len(body) % 64 + gap)
            components[role] = {"dtype": dtype, "offset": len(body), "length": len(data)}
            body += data
        entries[name] = {k: v for k, v in item.items() if k != "components"} | {
            "components": dict(sorted(components.items()))
        }
    manifest = {"version": version}
    if attributes:
        manifest["attributes"] = attributes
    manifest["objects"] = dict(sorted(entries.items(), key=lambda entry: entry[0].encode()))
    encoded = cbor(manifest)
    return bytes(body) + encoded + struct.pack("<Q", len(encoded)) + MAGIC


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data)
    return out.getvalue()


def needy():
    """A file that is fine, but whose one frame asks the decoder for a window of 32 MiB."""
    size = 1000
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([15 << 3]) + struct.pack("<I", 1 | 1 << 1 | size << 3)[:3] + b"\x07"
    start = MAGIC + bytes(64 - len(MAGIC))
    data = {"dtype": "u8", "offset": len(start), "length": len(frame), "uncompressed_length": size, "encoding": "zstd"}
    objects = {"w": {"shape": [size], "format": "dense", "components": {"data": data}}}
    manifest = cbor({"version": "1.2.0", "objects": objects})
    return start + frame + manifest + struct.pack("<Q", len(manifest)) + MAGIC


def llama(vocab, positions=8, magic=0x544C4C4D):
    """A Tiny Llama that counts: token i is followed by i + 1. Every word has a dimension of its own, the layer adds 0."""
    ffn = 3
    out = struct.pack("<II6if", magic, 1, vocab, 1, 2, ffn, positions, vocab, 0.1)

    def matrix(rows, columns, value=lambda r, c: 0.0):
        data = f32(*(value(r, c) for r in range(rows) for c in range(columns)))
        return u64(rows, columns) + data

    def vector(size, value=0.0):
        return u64(size) + f32(*([value] * size))

    out += matrix(vocab, vocab, lambda r, c: float(r == c)) + matrix(positions, vocab)
    out += matrix(vocab, vocab) * 4
    out += matrix(vocab, ffn) + vector(ffn) + matrix(ffn, vocab) + vector(vocab)
    out += vector(vocab, 1.0) + vector(vocab) + vector(vocab, 1.0) + vector(vocab)
    return out + matrix(vocab, vocab, lambda r, c: 1.5 if c == (r + 1) % vocab else -0.25 * c)


def make(directory):
    tiny = zt({"w": dense([2, 3], "f32", f32(1, 2, 3, 4, 5, 6))})
    nan, inf = float("nan"), float("inf")
    layers = {
        f"layers.{i}.{part}.weight": dense([4, 4], "f32", f32(*(((i * 16 + j) % 7 - 3) / 4 for j in range(16))))
        for i in range(3)
        for part in ("attention", "mlp")
    }
    csr = {
        "shape": [2, 4],
        "format": "sparse_csr",
        "components": {
            "values": ("f32", f32(1.5, -2, 4)),
            "indices": ("u64", u64(0, 3, 1)),
            "indptr": ("u64", u64(0, 2, 3)),
        },
    }
    files = {
        "tiny.zt": tiny,
        "same.npz": npz({"w": npy("<f4", (2, 3), f32(1, 2, 3, 4, 5, 6))}),
        "other.zt": zt({"w": dense([2, 3], "f32", f32(1, 2, 3, 4, 5, 7)), "x": dense([], "i64", struct.pack("<q", 9))}),
        "one.npy": npy("<f4", (2,), f32(0.5, -0.5)),
        "model.zt": zt(
            {
                "embed.weight": dense([8, 4], "f16", struct.pack("<32e", *(j / 32 - 0.5 for j in range(32)))),
                **layers,
                "mask": dense([4], "bool", b"\1\0\1\1"),
                "router": csr,
                "step": dense([], "i64", struct.pack("<q", 12)),
            },
            {"author": "nobody", "epoch": 3, "tags": ["a", "b"]},
        ),
        "odd.zt": zt({"has nan": dense([6], "f32", f32(nan, inf, -inf, 0, 1, -3))}),
        "before.zt": zt({name: dense([2], "f32", f32(1, 2)) for name in "abc"}),
        "after.zt": zt({"a": dense([2], "f32", f32(1, 3)), "b": dense([2], "f32", f32(1, nan)), "c": dense([2], "f32", f32(1, 4))}),
        "untidy/untidy.safetensors": safetensors({"flag": ("U8", [1], b"\1"), "w": ("F32", [1], f32(nan))}),
        "empty.zt": zt({}),
        "vast.zt": zt(
            {"v": csr | {"shape": [2, 1 << 63]}, "w": dense([2], "u8", b"\1\2")},
        ),
        "whole.zt": zt(
            {
                "i": dense([3], "i64", struct.pack("<3q", -(2**63), 2**53 + 1, 2**63 - 1)),
                "u": dense([2], "u64", u64(2**64 - 1, 2**53 + 1)),
            }
        ),
        "nul.zt": zt({"a\0b": dense([1], "u8", b"\7")}),
        "unsound.zt": zt(
            {
                "mask": dense([4], "bool", b"\1\0\2\1"),
                "rows": csr | {"components": csr["components"] | {"indices": ("u64", u64(0, 9, 1))}},
                "list": {
                    "shape": [4],
                    "format": "sparse_coo",
                    "components": {"values": ("f32", f32(1, 2)), "coords": ("u64", u64(3, 3))},
                },
            }
        ),
        "names.zt": zt(
            {
                name: dense([1], "u8", b"\7")
                for name in (
                    "a.rather.long.name.for.a.tensor.that.does.not.fit.into.sixty.columns.weight",
                    'quote"back\\slash',
                    "tab\there",
                    "line\nfeed",
                    "escape\x1b[31m",
                    "重み",
                )
            }
        ),
        "forged.zt": zt(
            {"w": dense([1], "u8", b"\7")},
            version="1.2.0, 9 tensors\nother.pt: \x1b[32mok\x1b[0m, torch 1\n\x1b]0;owned\x07real.zt: ok, zt 1.2.0",
        ),
        "steering.zt": zt(
            {"del\x7f c1\x9b31m sep\u2028 bidi\u202e \u061c": dense([1], "u8", b"\7", attributes={"k\x9b": "v\u2066"})},
            {"m\x9d": "\x85\u200f"},
        ),
        "opaque/model.safetensors": safetensors(
            {"w": ("U8", [1], b"!")},
            {"__tare__": '{"tare":1,"metadata":{"a":{"$opaque":["x\\":1,\\"forged\\":\\"\\u001b","00"]}}}'},
        ),
        # Harmless for longer than any look ahead.
        "steer/chat_template.jinja": b"{{ line }}\n" * 400
        + b"\x1b]0;owned\x07 \xc2\x9b31m \xe2\x80\xae \xff tab\t end\r\nback\rover\n",
        "steer/model.safetensors": safetensors({"w": ("U8", [1], b"!")}),
        "steer/config.json": b"{}",
        "chat.gguf": gguf(
            {
                "general.architecture": ("string", "llama"),
                "general.name": ("string", "chatty"),
                "llama.context_length": ("u32", 2048),
                "llama.attention.layer_norm_rms_epsilon": ("f32", 1e-5),
                "x.byte": ("u8", 7),
                "x.list": ("[i32]", [1, -2]),
                "tokenizer.ggml.model": ("string", "llama"),
                "tokenizer.ggml.tokens": ("[string]", ["<unk>", "<s>", "</s>", "▁the", "the", " a ", "new\nline", "the"]),
                "tokenizer.ggml.scores": ("[f32]", [0.0, 0.0, 0.0, -1.5, -2.25, -3.0, -4.0, -5.0]),
                "tokenizer.ggml.token_type": ("[i32]", [2, 3, 3, 1, 1, 1, 1, 4]),
                "tokenizer.ggml.bos_token_id": ("u32", 1),
                "tokenizer.ggml.eos_token_id": ("u32", 2),
                "tokenizer.chat_template": ("string", "{% for m in messages %}\n{{ m.content }}\x1b[31m{% endfor %}"),
            },
            {"output_norm.weight": [1, 2, 3, 4]},
        ),
        "needy.zt": needy(),
        # No provider of any algorithm.
        "nossl.cnf": b"openssl_conf = init\n[init]\nproviders = all\n[all]\nnull = one\n[one]\nactivate = 1\n",
        "misaligned.zt": zt({"w": dense([2, 3], "f32", f32(1, 2, 3, 4, 5, 6))}, gap=1),
        "broken.zt": zt(
            {
                "a": dense([2], "f32", f32(1, 2)),
                "bad": dense([3], "f32", f32(3, 4)),
                "c": dense([2], "f32", f32(5, 6)),
            }
        ),
        "mixed.npz": npz(
            {
                "w": npy("<f4", (2,), f32(1, 2)),
                "labels": npy("<U1", (2,), b"a\0\0\0b\0\0\0"),
                "short": npy("<f4", (3,), f32(1, 2)),
            }
        ),
        "cut.zt": tiny[:-20],
        "big.zt": zt({f"t{i}": dense([4 << 20], "u8", bytes(4 << 20)) for i in range(4)}),
        "pointer.zt": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
        "page.zt": b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n",
        "second.zt": b"\x89ZT2\r\n\x1a\n" + bytes(56),
        "nothing.zt": b"",
        "words.txt": b"just some words\n",
        "llama.bin": llama(6),
        "swapped.bin": llama(6, magic=0x4D4C4C54),
        "hub/config.json": b'{"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "vocab_size": 3}\n',
        "hub/tokenizer.json": b'{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}\n',
        "hub/chat_template.jinja": b"{{ messages }}\n",
        "hub/README.md": b"Not part of the model.\n",
        "hub/model.safetensors.index.json": json.dumps(
            {
                "metadata": {"total_size": 56},
                "weight_map": {
                    "embed.weight": "model-00001-of-00002.safetensors",
                    "norm.weight": "model-00002-of-00002.safetensors",
                    "packed": "model-00002-of-00002.safetensors",
                },
            },
            indent=2,
        ).encode(),
        "hub/model-00001-of-00002.safetensors": safetensors(
            {"embed.weight": ("BF16", [3, 4], struct.pack("<12H", *(0x3F00 + j for j in range(12))))}, {"format": "pt"}
        ),
        "hub/model-00002-of-00002.safetensors": safetensors(
            {"norm.weight": ("F32", [4], f32(1, 2, 3, 4)), "packed": ("F4", [4, 8], bytes(range(16)))}, {"format": "pt"}
        ),
        "broken/config.json": b"<html>",
        "broken/model.safetensors": safetensors({"w": ("U8", [1], b"!")}),
        "bare/config.json": b"{}",
        "torch/pytorch_model.bin": torch_file({"w": (2, 3)}),
        "evil.pt": torch_file({"w": (2, 3)}, b"X\x04\x00\x00\x00hookcposix\nsystem\n(X\x04\x00\x00\x00truetR"),
        "twice/model.safetensors": safetensors({}),
        "twice/model.safetensors.index.json": b'{"weight_map": {}}',
        "gptq/config.json": b'{"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 64}}\n',
        "gptq/model.safetensors": safetensors(
            {
                "norm.weight": ("F16", [4], bytes(8)),
                "q.qweight": ("I32", [8, 8], bytes(range(256))),
                "q.qzeros": ("I32", [1, 1], b"\x77" * 4),
                "q.scales": ("F16", [1, 8], b"\x00\x30" * 8),
            }
        ),
        # One that is packed in another order, and one without its scales.
        "marlin/config.json": b'{"quantization_config": {"quant_method": "gptq", "checkpoint_format": "marlin"}}\n',
        "marlin/model.safetensors": safetensors(
            {
                "q.qweight": ("I32", [8, 8], bytes(256)),
                "q.qzeros": ("I32", [1, 1], bytes(4)),
                "q.scales": ("F16", [1, 8], bytes(16)),
            }
        ),
        "unscaled/model.safetensors": safetensors({"q.qweight": ("I32", [8, 8], bytes(256))}),
        "lora/adapter_config.json": b"{}\n",
        "lora/adapter_model.safetensors": safetensors({"w": ("BF16", [2], b"\x80\x3f\0\x40")}, {"format": "pt"}),
        "lora/config.json": b'{"dtype": "bfloat16", "x": 1}\n',
        "lora/notes.txt": b"notes\n",
        "lora16/adapter_config.json": b'{"peft_type": "LORA", "r": 1, "lora_alpha": 2, "base_model_name_or_path": "me/base", '
        b'"target_modules": ["q"]}\n',
        "lora16/adapter_model.safetensors": safetensors(
            {
                "base_model.model.q.lora_A.weight": ("F32", [1, 2], f32(1, 2)),
                "base_model.model.q.lora_B.weight": ("F32", [2, 1], f32(1, 10)),
            }
        ),
        "hqq/config.json": b'{"quantization_config": {"quant_method": "hqq"}}\n',
        "hqq/model.safetensors": safetensors(
            {"q.W_q": ("U8", [2, 2], bytes(4)), "q.scale": ("F16", [2, 1], bytes(4)),
             "embed.weight": ("F32", [2], f32(1, 2))}),
        "vptq/config.json": b'{"quantization_config": {"quant_method": "vptq"}}\n',
        "vptq/model.safetensors": safetensors(
            {"q.strange": ("I32", [3], bytes(12)), "embed.weight": ("F32", [2], f32(1, 2))}),
        "nanscale/config.json": b'{"quantization_config": {"quant_method": "fp8"}}\n',
        "nanscale/model.safetensors": safetensors(
            {"q.weight": ("F8_E4M3", [2, 2], b"\x38" * 4), "q.weight_scale": ("F32", [2, 1], f32(1, float("nan")))}),
        "lorabase/config.json": b"{}\n",
        "lorabase/model.safetensors": safetensors({"q.weight": ("F32", [2, 2], f32(1, 2, 3, 4))}),
        "pipeline/model_index.json": b'{"_class_name": "TinyPipeline", "unet": ["diffusers", "UNet2DModel"], '
        b'"vae": ["diffusers", "AutoencoderKL"], "scheduler": ["diffusers", "DDPMScheduler"]}',
        "pipeline/scheduler/scheduler_config.json": b"{}",
        "pipeline/unet/diffusion_pytorch_model.fp16.safetensors": safetensors({"w": ("U8", [1], b"!")}),
        "pipeline/unet/diffusion_pytorch_model.safetensors": safetensors({"w": ("U8", [1], b"!")}),
        "pipeline/vae/diffusion_pytorch_model.safetensors": safetensors({"w": ("U8", [1], b"!")}),
        "foreign/model.ggml": b"tjgg\3\0\0\0",
        "foreign/model.h5": b"\x89HDF\r\n\x1a\n" + bytes(56),
        "cut/short.safetensors": safetensors({"w": ("F32", [4], f32(1, 2, 3, 4))})[:-3],
        "vocab.txt": b"<unk>\nh\ne\nl\no \nhe\n",
        "merges.txt": b"h e\n",
        "upstream.txt": b"<unk>\n<pad>\n<bos>\n<eos>\n \nthe\nthe\n",
        "upstream-merges.txt": b"#version: 0.2\nt h\nth e\nthe\n",
    }
    for name, data in files.items():
        path = pathlib.Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
