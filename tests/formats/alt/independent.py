#!/usr/bin/env python3
"""ALT v1 and v2 by a reader and a writer made from the format's documents alone, checked against the command.

    alt_independent.py TARE

Files made here are listed, verified and rewritten by the command, to the byte where they are canonical; files made by
the command are read here.
"""

import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

TARE = sys.argv[1]
FLOAT32, FLOAT16, QINT8, QINT4 = range(4)
GENERAL = ["model_type", "base_model", "author", "created_at", "last_modified", "license", "uuid"]
TYPES = {
    "spec": ["normal", "byte", "control", "unknown", "unused", "bos", "eos", "pad", "user_defined"],
    "altc": ["normal", "unknown", "control", "user_defined", "byte", "unused", "bos", "eos", "pad"],
}


# ---- writing

def string(data):
    data = data.encode() if isinstance(data, str) else data
    return struct.pack("<i", len(data)) + data


def pad32(data):
    return data + bytes(-len(data) % 32)


def section(marker, fields, size):
    """`size`: which of the four things the size counts."""
    header = 16
    total = len(pad32(bytes(header) + fields))
    counted = {"fields": len(fields), "header": header + len(fields), "padding": total - header, "all": total}[size]
    return pad32(struct.pack("<qq", marker, counted) + fields)


def component_numbers(name):
    parts = name.split(".")
    for i, part in enumerate(parts):
        if part.endswith("layers") and i + 2 < len(parts) and parts[i + 1].isdigit():
            rest = parts[i + 2:]
            layers = ["self_attn", "mlp", "input_layernorm", "post_attention_layernorm", "weight"]
            layer = layers.index(rest[0]) + 1 if rest[0] in layers else 6
            projections = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
            if len(rest) < 2 or rest[1] in ("weight", "bias"):
                projection = 0
            else:
                projection = projections.index(rest[1]) + 1 if rest[1] in projections else 8
            return 0, int(parts[i + 1]), layer, projection
    for i, part in enumerate(parts):
        unique = {"embed_tokens": (1, -1), "lm_head": (2, -2), "norm": (3, -3)}.get(part)
        if unique:
            behind = parts[i + 1:]
            return *unique, 0 if not behind else 5 if behind == ["weight"] else 6, 0
    return 4, -4, 0 if len(parts) == 1 else 5 if parts[-1] == "weight" else 6, 0


def record_order(tensor):
    component, block, _, _ = component_numbers(tensor["name"])
    return [1, 0, 3, 2, 4][component], block, tensor["name"].encode()


def write_v2(model, dialect="spec", size=None, end=8, magic=0x616C7400):
    altc = dialect == "altc"
    size = size or ("fields" if altc else "all")
    out = section(magic, struct.pack("<ii", 2, 32), size)
    out += section(0xCAFEBABE, b"".join(string(model["general"].get(key, "")) for key in GENERAL), size)
    c = model["config"]
    fields = string(c.get("hidden_act", "")) + struct.pack("<?", c.get("tie_word_embeddings", False))
    for key in ["hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads",
                "num_hidden_layers", "num_key_value_heads", "sliding_window"]:
        fields += struct.pack("<i", c.get(key, 0))
    theta, eps, spread = (c.get(k, 0.0) for k in ("rope_theta", "rms_norm_eps", "initializer_range"))
    head = c.get("head_dim", 0)
    fields += struct.pack("<ifff", head, eps, theta, spread) if altc else struct.pack("<fffi", theta, eps, spread, head)
    out += section(0xDEADBEEF, fields, size)
    v = model["vocabulary"]
    fields = struct.pack("<iiiii", len(v["tokens"]), v["bos"], v["eos"], v["pad"], v["unk"])
    if not altc:
        fields += struct.pack("<i", c.get("max_position_embeddings", 0))
    for i, (text, score, kind) in enumerate(v["tokens"]):
        number = TYPES[dialect].index(kind)
        fields += (struct.pack("<fii", score, number, i) + string(text) if altc
                   else string(text) + struct.pack("<fi", score, number))
    tokenizer = section(0xBADDCAFE, fields, size)
    if altc and size == "fields":
        counted = 20 + sum(12 + len(text) for text, _, _ in v["tokens"])
        tokenizer = tokenizer[:8] + struct.pack("<q", counted) + tokenizer[16:]
    out += tokenizer
    if not altc:
        tensors = sorted(model["tensors"], key=record_order)
        places = [component_numbers(t["name"]) for t in tensors]
        fields = struct.pack("<qqii", len(tensors), sum(len(t["shape"]) for t in tensors),
                             len({p[1] for p in places if p[1] >= 0}), sum(p[1] < 0 for p in places))
        for t, place in zip(tensors, places):
            fields += struct.pack("<iiii", *place) + struct.pack("<i", len(t["shape"]))
            fields += b"".join(struct.pack("<i", d) for d in t["shape"]) + string(t["name"])
            fields += struct.pack("<ifffb", t["type"], t.get("delta", 0), t.get("min", 0), t.get("max", 0),
                                  t.get("packed", 0)) + t["data"]
        out += section(0xFACEFEED, fields, size)
    return out + struct.pack("<q", 0x0FFFFFFF)[:end]


def write_v1(model, size="header", twice=False):
    out = pad32(struct.pack("<i", 0x616C7463))
    c, v = model["config"], model["vocabulary"]
    kinds = [t["type"] for t in model["tensors"]]
    common = max(range(3), key=lambda kind: (kinds.count(kind), -kind))
    fields = string(model["general"].get("model_type", ""))
    for key in ["hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads", "num_key_value_heads",
                "sliding_window"]:
        fields += struct.pack("<i", c.get(key, 0))
    fields += struct.pack("<ffiii", c.get("rope_theta", 0), c.get("rms_norm_eps", 0), c.get("head_dim", 0), common,
                          c.get("max_position_embeddings", 0))
    out += section(0xDEADBEEF, fields, size)
    fields = struct.pack("<iiiii", len(v["tokens"]), v["bos"], v["eos"], v["pad"], v["unk"])
    fields += b"".join(string(text) for text, _, _ in v["tokens"])
    if twice:
        fields = struct.pack("<q", 16 + 8 + len(fields)) + fields
    out += section(0xBADDCAFE, fields, size)
    tensors = sorted(model["tensors"], key=record_order)
    fields = struct.pack("<qq", len(tensors), sum(len(t["shape"]) for t in tensors))
    for t in tensors:
        name = t["name"].encode()
        fields += struct.pack("<iii", len(t["shape"]), len(name), t["type"])
        fields += b"".join(struct.pack("<i", d) for d in t["shape"]) + name + t["data"]
    out += section(0xFACEFEED, fields, size)
    return out + struct.pack("<i", 0x0FFFFFFF)


# ---- reading (spec dialect)

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values if len(values) > 1 else values[0]

    def raw(self, count):
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def string(self):
        return self.raw(self.take("i"))

    def section(self, marker):
        begin = self.at
        found, size = self.take("qq")
        assert found == marker, hex(found)
        return begin, size

    def close(self, begin, size):
        pad = -self.at % 32
        assert self.raw(pad) == bytes(pad)
        assert begin + size == self.at, (begin, size, self.at)


def read_v2(data):
    r = Reader(data)
    begin, size = r.section(0x616C7400)
    assert r.take("ii") == (2, 32)
    r.close(begin, size)
    begin, size = r.section(0xCAFEBABE)
    model = {"general": {key: r.string().decode() for key in GENERAL}, "config": {}, "tensors": []}
    r.close(begin, size)
    begin, size = r.section(0xDEADBEEF)
    c = model["config"]
    c["hidden_act"], c["tie_word_embeddings"] = r.string().decode(), r.take("?")
    for key in ["hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads",
                "num_hidden_layers", "num_key_value_heads", "sliding_window"]:
        c[key] = r.take("i")
    c["rope_theta"], c["rms_norm_eps"], c["initializer_range"], c["head_dim"] = r.take("fffi")
    r.close(begin, size)
    begin, size = r.section(0xBADDCAFE)
    count, bos, eos, pad, unk, model["seq_len"] = r.take("iiiiii")
    tokens = [(r.string(), *r.take("fi")) for _ in range(count)]
    model["vocabulary"] = {"bos": bos, "eos": eos, "pad": pad, "unk": unk,
                           "tokens": [(text, score, TYPES["spec"][kind]) for text, score, kind in tokens]}
    r.close(begin, size)
    begin, size = r.section(0xFACEFEED)
    count, shape_count, blocks, unique = r.take("qqii")
    places = []
    for _ in range(count):
        places.append(r.take("iiii"))
        shape = [r.take("i") for _ in range(r.take("i"))]
        name = r.string().decode()
        kind, delta, low, high, packed = r.take("ifffb")
        elements = math.prod(shape)
        width = {FLOAT32: 4 * elements, FLOAT16: 2 * elements, QINT8: elements,
                 QINT4: (elements + 1) // 2 if packed else elements}[kind]
        model["tensors"].append({"name": name, "shape": shape, "type": kind, "delta": delta, "min": low, "max": high,
                                 "packed": packed, "data": r.raw(width)})
        assert places[-1] == component_numbers(name), name
    assert shape_count == sum(len(t["shape"]) for t in model["tensors"])
    assert blocks == len({p[1] for p in places if p[1] >= 0}) and unique == sum(p[1] < 0 for p in places)
    assert [record_order(t) for t in model["tensors"]] == sorted(record_order(t) for t in model["tensors"])
    r.close(begin, size)
    assert r.take("q") == 0x0FFFFFFF and r.at == len(data)
    return model


def decode(tensor):
    """Values as the documents define them, every operation rounded to 32 bits."""
    def f32(x):
        return struct.unpack("<f", struct.pack("<f", x))[0]
    count = math.prod(tensor["shape"])
    if tensor["type"] in (FLOAT32, FLOAT16):
        return list(struct.unpack(f"<{count}{'f' if tensor['type'] == FLOAT32 else 'e'}", tensor["data"]))
    codes = list(tensor["data"])
    bits = 8
    if tensor["type"] == QINT4 and tensor["packed"]:
        codes = [n for byte in codes for n in (byte >> 4, byte & 15)][:count]
        bits = 4
    if tensor["max"] > tensor["min"]:
        return [f32(tensor["min"] + f32(tensor["delta"] * u)) for u in codes]
    return [f32(tensor["delta"] * (q - (1 << bits) if q >= 1 << (bits - 1) else q)) for q in codes]


# ---- holding the command against it

def tare(*arguments, code=0):
    done = subprocess.run([TARE, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr.decode())
    return done


def floats(rng, count, code="f"):
    return struct.pack(f"<{count}{code}", *(rng.gauss(0, 1) for _ in range(count)))


def sample(rng, v1=False):
    names = ["model.norm.weight", "lm_head.weight", "model.embed_tokens.weight", "odd", "vision.patch.weight",
             "model.layers.10.mlp.down_proj.weight", "model.layers.2.self_attn.q_proj.weight",
             "model.layers.2.input_layernorm.weight", "model.layers.2.mlp.experts.0.w1.weight", "xlayers.3.rest"]
    tensors = []
    for i, name in enumerate(names):
        shape = [rng.randrange(1, 6) for _ in range(rng.randrange(0, 4))]
        count = math.prod(shape)
        kind = rng.randrange(3 if v1 else 4)
        tensor = {"name": name, "shape": shape, "type": kind}
        if kind == FLOAT32:
            tensor["data"] = floats(rng, count)
        elif kind == FLOAT16:
            tensor["data"] = floats(rng, count, "e")
        elif v1:
            tensor["data"] = rng.randbytes(count)
        else:
            ranged, packed = rng.random() < 0.5, kind == QINT4 and rng.random() < 0.5
            tensor.update(delta=0.25, min=-1.5 if ranged else 0, max=2.25 if ranged else 0, packed=int(packed))
            high = (255 if kind == QINT8 else 15) if ranged else (127 if kind == QINT8 else 7)
            codes = [rng.randrange(0 if ranged else -high, high + 1) for _ in range(count)]
            if packed:
                codes += [0] * (count % 2)
                tensor["data"] = bytes((a & 15) << 4 | b & 15 for a, b in zip(codes[::2], codes[1::2]))
            else:
                tensor["data"] = bytes(c & 255 for c in codes)
        tensors.append(tensor)
    tokens = [(b"<s>", 0.0, "bos"), (b"\xff\x00", -1.5, "byte"), ("\u00e9".encode(), 2.0, "user_defined")]
    if v1:
        tokens = [(text, 0.0, "normal") for text, _, _ in tokens]
    general = {"model_type": "mistral", "base_model": "b", "author": "J\u00fcrgen", "created_at": "2024-07-05",
               "last_modified": "2024-12-24", "license": "Apache-2.0", "uuid": "c1355a8e-0000-8000-8000-000000000001"}
    config = {"hidden_act": "silu", "tie_word_embeddings": True, "hidden_size": 64, "intermediate_size": 128,
              "max_position_embeddings": 512, "num_attention_heads": 4, "num_hidden_layers": 2,
              "num_key_value_heads": 2, "sliding_window": 7, "rope_theta": 10000.0, "rms_norm_eps": 1e-5,
              "initializer_range": 0.02, "head_dim": 16}
    return {"general": {"model_type": "mistral"} if v1 else general, "config": config, "tensors": tensors,
            "vocabulary": {"bos": 0, "eos": -1, "pad": -1, "unk": 2, "tokens": tokens}}


def check_listing(path, model, fmt):
    listed = json.loads(tare("ls", "--json", path).stdout)
    assert listed["format"] == fmt
    wanted = dict(model["config"], model_type="mistral")
    if fmt == "alt1":
        for key in ("hidden_act", "tie_word_embeddings", "initializer_range"):
            del wanted[key]
    assert listed["config"] == wanted, (listed["config"], wanted)
    assert listed["vocabulary"]["size"] == 3 and listed["vocabulary"]["unk"] == 2
    if fmt == "alt":
        assert listed["metadata"] == {k: v for k, v in model["general"].items() if k != "model_type"}
    return listed


def check_both_ways(scratch, rng):
    for round_ in range(20):
        model = sample(rng)
        mine, theirs = scratch / "mine.alt", scratch / "theirs.alt"
        mine.write_bytes(write_v2(model))
        tare("verify", "--strict", mine)
        listed = check_listing(mine, model, "alt")
        order = sorted(model["tensors"], key=record_order)
        assert [t["name"] for t in listed["tensors"]] == [t["name"] for t in order]
        tare("convert", "--force", mine, theirs)
        assert theirs.read_bytes() == mine.read_bytes(), round_
        tare("convert", "--force", mine, scratch / "by.zt")
        tare("convert", "--force", scratch / "by.zt", theirs)
        assert theirs.read_bytes() == mine.read_bytes(), round_
        for t in order:
            values = tare("cat", mine, t["name"], "--as", "f32").stdout
            assert list(struct.unpack(f"<{len(values) // 4}f", values)) == decode(t), t["name"]

        old = sample(rng, v1=True)
        mine1, theirs1 = scratch / "mine1.alt", scratch / "theirs1.alt"
        mine1.write_bytes(write_v1(old))
        tare("verify", "--strict", mine1)
        check_listing(mine1, old, "alt1")
        tare("convert", "--force", "--to", "alt1", mine1, theirs1)
        assert theirs1.read_bytes() == mine1.read_bytes(), round_


def check_tolerated(scratch, rng):
    """Every deviation is read, warned of, and written back canonically."""
    model, old = sample(rng), sample(rng, v1=True)
    mine, theirs = scratch / "mine.alt", scratch / "theirs.alt"
    canonical, canonical1 = write_v2(model), write_v1(old)
    forms = [write_v2(model, size=s) for s in ("fields", "header", "padding")]
    forms += [write_v2(model, end=4), write_v2(model, magic=0x616C7463)]
    for data in forms:
        mine.write_bytes(data)
        tare("verify", mine)
        tare("verify", "--strict", mine, code=1)
        tare("convert", "--force", mine, theirs)
        assert theirs.read_bytes() == canonical
    for data in [write_v1(old, size=s) for s in ("fields", "padding", "all")] + [write_v1(old, twice=True)]:
        mine.write_bytes(data)
        tare("verify", mine)
        tare("verify", "--strict", mine, code=1)
        tare("convert", "--force", "--to", "alt1", mine, theirs)
        assert theirs.read_bytes() == canonical1


def check_altc(scratch, rng):
    model = sample(rng)
    model["tensors"] = []
    mine, theirs, spec = scratch / "mine.alt", scratch / "theirs.alt", scratch / "spec.alt"
    mine.write_bytes(write_v2(model, "altc"))
    tare("verify", "--strict", mine)
    check_listing(mine, model, "alt")
    tare("convert", "--force", mine, spec)
    assert spec.read_bytes() == write_v2(model)
    tare("convert", "--force", "--dialect", "altc", spec, theirs)
    assert theirs.read_bytes() == mine.read_bytes()


def check_quantizing(scratch, rng):
    model = sample(rng)
    model["tensors"] = [{"name": "w", "shape": [7, 9], "type": FLOAT32, "data": floats(rng, 63)},
                        {"name": "cube", "shape": [3, 3, 3], "type": FLOAT16, "data": floats(rng, 27, "e")},
                        {"name": "zero", "shape": [2, 2], "type": FLOAT32, "data": bytes(16)},
                        {"name": "constant", "shape": [1, 3], "type": FLOAT32, "data": struct.pack("<3f", 5, 5, 5)},
                        {"name": "vector", "shape": [5], "type": FLOAT32, "data": floats(rng, 5)}]
    mine, theirs = scratch / "mine.alt", scratch / "theirs.alt"
    mine.write_bytes(write_v2(model))
    for method, kind, levels in (("qint8", QINT8, 127), ("qint4", QINT4, 7)):
        for ranged in (False, True):
            option = ["--range"] if ranged else []
            tare("quantize", "--force", "--method", method, "--fast", *option, mine, theirs)
            tare("verify", "--strict", theirs)
            found = {t["name"]: t for t in read_v2(theirs.read_bytes())["tensors"]}
            tare("convert", "--force", "--quant", method, *option, mine, theirs)
            tare("verify", "--strict", theirs)
            searched = {t["name"]: t for t in read_v2(theirs.read_bytes())["tensors"]}
            assert found["vector"]["type"] == searched["vector"]["type"] == FLOAT32
            for original in model["tensors"][:4]:
                t = found[original["name"]]
                assert t["type"] == kind and t["packed"] == (kind == QINT4)
                values = decode(original)
                low, high = min(values), max(values)
                if ranged and high != low:
                    assert (t["min"], t["max"]) == (low, high)
                    assert math.isclose(t["delta"], (high - low) / (2 * levels + 1), rel_tol=1e-6)
                elif not ranged:
                    assert math.isclose(t["delta"], max(-low, high) / levels, rel_tol=1e-6)
                for a, b in zip(values, decode(t)):
                    assert abs(a - b) <= t["delta"] * 0.5001, (a, b, t["delta"])
                better = searched[original["name"]]
                assert better["delta"] <= t["delta"] and better["packed"] == t["packed"]
                loss = [sum((a - b) ** 2 for a, b in zip(values, decode(x))) for x in (better, t)]
                assert loss[0] <= loss[1], (method, original["name"], loss)
    tare("convert", "--force", "--quant", "qint8", "--to", "alt1", mine, theirs, code=1)


def check_generated_uuid(scratch, rng):
    model = sample(rng)
    del model["general"]["uuid"]
    mine, theirs = scratch / "mine.alt", scratch / "theirs.alt"
    mine.write_bytes(write_v2(model))
    uuids = []
    for threads in (1, 3):
        tare("convert", "--force", "--threads", threads, mine, theirs)
        uuids.append(read_v2(theirs.read_bytes())["general"]["uuid"])
    assert uuids[0] == uuids[1]
    assert len(uuids[0]) == 36 and uuids[0][14] == "8" and uuids[0][19] in "89ab", uuids[0]

    def uuid_with(change):
        other = json.loads(json.dumps({k: model[k] for k in ("general", "config")}))
        other.update(tensors=list(model["tensors"]), vocabulary=dict(model["vocabulary"]))
        change(other)
        mine.write_bytes(write_v2(other))
        tare("convert", "--force", mine, theirs)
        return read_v2(theirs.read_bytes())["general"]["uuid"]

    # Describes the model, not the program that wrote it.
    assert uuid_with(lambda m: m["general"].update(author="me", created_at="1999-12-31")) == uuids[0]
    others = {uuid_with(lambda m: m["vocabulary"].update(tokens=m["vocabulary"]["tokens"][:2] + [(b"x", 2.0, "normal")])),
              uuid_with(lambda m: m["vocabulary"].update(eos=1)),
              uuid_with(lambda m: m["config"].update(rope_theta=5000.0)),
              uuid_with(lambda m: m.update(tensors=m["tensors"][1:])),
              uuid_with(lambda m: m["general"].update(model_type="llama"))}
    assert len(others | {uuids[0]}) == 6


def main():
    rng = random.Random(20240705)
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        check_both_ways(scratch, rng)
        check_tolerated(scratch, rng)
        check_altc(scratch, rng)
        check_quantizing(scratch, rng)
        check_generated_uuid(scratch, rng)


main()
