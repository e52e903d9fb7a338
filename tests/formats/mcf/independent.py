#!/usr/bin/python3
"""MCF read and written by another program: a reader, a writer and decoders of all eight quantization methods made from
the format's documents alone, with nothing but Python's standard library, checked against the command.

    mcf_independent.py PATH-TO-TARE
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

TARE = sys.argv.pop(1) if len(sys.argv) > 1 else "tare"
TYPES = {1: "f32", 2: "f16", 3: "bf16", 4: "f64", 5: "i8", 6: "u8", 7: "i16", 8: "u16", 9: "i32", 10: "u32",
         11: "i64", 12: "u64"}
WIDTH = {1: 4, 2: 2, 3: 2, 4: 8, 5: 1, 6: 1, 7: 2, 8: 2, 9: 4, 10: 4, 11: 8, 12: 8}
METHODS = {0x10: "int8", 0x11: "int4", 0x20: "q8", 0x21: "q4", 0x30: "k6", 0x31: "k4", 0x32: "k3", 0x33: "k2"}
BITS = {0x10: 8, 0x11: 4, 0x20: 8, 0x21: 4, 0x30: 6, 0x31: 4, 0x32: 3, 0x33: 2}
RESOURCES = {0x100: "config.json", 0x101: "generation_config.json", 0x102: "tokenizer.json",
             0x103: "tokenizer_config.json", 0x104: "vocab.json", 0x105: "merges.txt"}


def align(value, to):
    return (value + to - 1) // to * to


def pad(data, to):
    return data + bytes(align(len(data), to) - len(data))


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


# ---- quantized payloads ---------------------------------------------------------------------------------------------

def unpack(data, bits, count, at=0):
    """`count` signed codes of `bits` each from the bit stream that starts at byte `at`."""
    stream = int.from_bytes(data[at:at + (count * bits + 7) // 8], "little")
    codes = []
    for i in range(count):
        code = stream >> (i * bits) & ((1 << bits) - 1)
        codes.append(code - (1 << bits) if code >> (bits - 1) else code)
    return codes


def pack(codes, bits):
    stream = 0
    for i, code in enumerate(codes):
        stream |= (code & ((1 << bits) - 1)) << (i * bits)
    return stream.to_bytes((len(codes) * bits + 7) // 8, "little")


def decode(method, domain, shape, payload):
    """The values, as floats that are exactly f32."""
    count = 1
    for dim in shape:
        count *= dim
    if count == 0:
        assert payload == b""
        return []
    bits = BITS[method]
    if method < 0x20:
        at = 64
        scale = struct.unpack_from("<f", payload, 0)[0]
        zero = 0.0
        if domain == 1:
            zero = struct.unpack_from("<f", payload, 64)[0]
            at = 128
        assert len(payload) == at + (count * bits + 7) // 8
        return [f32(scale * f32(q - zero)) for q in unpack(payload, bits, count, at)]
    rows, cols = shape
    blocks = (cols + 31) // 32
    supers = (blocks + 7) // 8
    if method < 0x30:
        scales = struct.unpack_from("<%de" % (rows * blocks), payload, 0)
        at = align(2 * rows * blocks, 64)
    else:
        tops = struct.unpack_from("<%de" % (rows * supers), payload, 0)
        at = align(2 * rows * supers, 64)
        subs = payload[at:at + rows * blocks]
        assert all(u < 64 for u in subs)
        scales = [tops[i // blocks * supers + i % blocks // 8] * (subs[i] / 32.0) for i in range(rows * blocks)]
        at = align(at + rows * blocks, 64)
    assert len(payload) == at + rows * blocks * 4 * bits
    codes = unpack(payload, bits, rows * blocks * 32, at)
    values = []
    for row in range(rows):
        for col in range(cols):
            block = row * blocks + col // 32
            values.append(f32(scales[block] * codes[block * 32 + col % 32]))
        assert not any(codes[row * blocks * 32 + cols:(row + 1) * blocks * 32]), "padding inside the last block"
    return values


def random_payload(rng, method, domain, shape):
    count = 1
    for dim in shape:
        count *= dim
    if count == 0:
        return b""
    bits = BITS[method]
    top = (1 << (bits - 1)) - 1
    half = lambda: struct.pack("<e", rng.choice([0.25, 1.0, 0.0009765625, 3.0517578125e-05, 2.5, 100.0]))
    if method < 0x20:
        low = -top - 1 if domain == 1 else -top
        out = pad(struct.pack("<f", rng.uniform(0.001, 1)), 64)
        if domain == 1:
            out += pad(struct.pack("<f", float(rng.randint(low, top))), 64)
        return out + pack([rng.randint(low, top) for _ in range(count)], bits)
    rows, cols = shape
    blocks = (cols + 31) // 32
    supers = (blocks + 7) // 8
    codes = []
    for _ in range(rows):
        codes += [rng.randint(-top, top) if col < cols else 0 for col in range(blocks * 32)]
    if method < 0x30:
        out = b"".join(half() for _ in range(rows * blocks))
    else:
        out = pad(b"".join(half() for _ in range(rows * supers)), 64)
        subs = [rng.randint(0, 63) for _ in range(rows * blocks)]
        for i, sub in enumerate(subs):
            if sub == 0:
                codes[i * 32:(i + 1) * 32] = [0] * 32
        out += bytes(subs)
    return pad(out, 64) + pack(codes, bits)


# ---- the container --------------------------------------------------------------------------------------------------

def read_file(path):
    """Everything in a file, checked against every rule that the documents state for a canonical writer."""
    with open(path, "rb") as file:
        data = file.read()
    magic, major, minor, header_size, count, directory, size, flags = struct.unpack_from("<4sHHIIQQQ", data, 0)
    assert (magic, major, minor, header_size, size, flags) == (b"MCF\0", 1, 1, 40, len(data), 1)
    assert directory % 8 == 0 and directory + 24 * count == len(data)
    sections, used = {}, [(0, 40), (directory, len(data))]
    for i in range(count):
        kind, version, offset, length = struct.unpack_from("<IIQQ", data, directory + 24 * i)
        assert version == 1 and offset % 8 == 0 and offset + length <= directory
        assert not sections or kind > max(sections)
        sections[kind] = (offset, data[offset:offset + length])
        used.append((offset, offset + length))
    order = [kind for kind in sorted(sections, key=lambda k: sections[k][0])]
    assert order == [k for k in list(range(0x100, 0x106)) + [1, 4, 3, 2] if k in sections], order
    check_gaps(data, used)
    tensors = read_tensors(data, sections) if 3 in sections else {}
    assert (3 in sections) == (4 in sections)
    return {"info": read_info(sections[1][1]), "tensors": tensors,
            "resources": {RESOURCES[k]: v for k, (_, v) in sections.items() if k in RESOURCES}}


def check_gaps(data, used):
    at = 0
    for begin, end in sorted(used):
        assert begin >= at, "overlap"
        assert not any(data[at:begin]), "a gap that is not zero"
        at = end


def read_tensors(data, sections):
    base, index = sections[3]
    start, payloads = sections[4]
    version, flags, count, dims_count, entries, dims, strings, strings_size = struct.unpack_from("<IIIIQQQQ", index, 0)
    assert (version, flags, entries) == (1, 3, 48) and count > 0
    assert dims == 48 + 40 * count and strings == dims + 8 * dims_count and strings + strings_size == len(index)
    records = {}
    if 2 in sections:
        quant = sections[2][1]
        version, record_count = struct.unpack_from("<II", quant, 0)
        assert version == 1 and len(quant) == 8 + 24 * record_count
        for i in range(record_count):
            tensor, method, domain, block, sup, zero, low, high = struct.unpack_from("<IBBHH6sff", quant, 8 + 24 * i)
            assert zero == bytes(6) and tensor not in records and (not records or tensor > max(records))
            assert (block, sup) == {1: (0, 0), 2: (32, 0), 3: (32, 256)}[method >> 4]
            records[tensor] = (method, domain, low, high)
    tensors, used, last, next_dim, next_name = {}, set(), None, 0, 0
    for i in range(count):
        name_off, name_len, dtype, rank, dim_off, zero, off, size = struct.unpack_from("<IIIIIIQQ", index, 48 + 40 * i)
        name = index[strings + name_off:strings + name_off + name_len]
        assert name_len > 0 and (last is None or last < name) and zero == 0
        assert dim_off == next_dim and name_off == next_name
        last, next_dim, next_name = name, dim_off + rank, name_off + name_len
        shape = list(struct.unpack_from("<%dQ" % rank, index, dims + 8 * dim_off))
        assert off % 64 == 0 and start <= off and off + size <= start + len(payloads)
        elements = 1
        for dim in shape:
            elements *= dim
        assert (dtype in METHODS) == (i in records)
        if dtype in METHODS:
            assert records[i][0] == dtype
        else:
            assert size == elements * WIDTH[dtype]
        if size:
            used.add((off, off + size))
        tensors[name.decode()] = {"dtype": dtype, "shape": shape, "offset": off, "data": data[off:off + size],
                                  "record": records.get(i)}
    check_gaps(data[start:start + len(payloads)], [(a - start, b - start) for a, b in used] + [(len(payloads),) * 2])
    return tensors


def read_info(info):
    fields = struct.unpack_from("<IIIIIIIIIIIIffQQIIQ", info, 0)
    assert fields[0] == 1 and fields[1] == fields[3] == fields[17] == 0

    def text(offset):
        if offset == 0:
            return ""
        assert offset % 8 == 0
        length = struct.unpack_from("<I", info, offset)[0]
        assert not any(info[offset + 4 + length:align(offset + 4 + length, 8)])
        return info[offset + 4:offset + 4 + length]

    pairs, last = {}, None
    for i in range(fields[16]):
        key_off, kind, zero, value = struct.unpack_from("<QIIQ", info, fields[18] + 24 * i)
        key = text(key_off)
        assert zero == 0 and key and (last is None or last < key)
        last = key
        if kind == 3:
            pairs[key.decode()] = text(value) or b""
        else:
            assert value % 8 == 0
            pairs[key.decode()] = struct.unpack_from({1: "<I", 2: "<f"}[kind], info, value)[0]
    names = ["arch", "", "vocab", "hidden", "layers", "heads", "kv_heads", "context", "train_context", "rope_type",
             "rope_base", "rope_scale"]
    return {"name": text(fields[14]), "base": text(fields[15]), "pairs": pairs, **dict(zip(names, fields[2:14]))}


def make_info(pairs=None, name="", base="", **fields):
    blobs = bytearray(88)

    def put(data):
        at = len(blobs)
        blobs.extend(pad(data, 8))
        return at

    def text(value):
        return put(struct.pack("<I", len(value)) + value) if value else 0

    name_off, base_off = text(name.encode()), text(base.encode())
    table = b""
    for key, value in sorted((pairs or {}).items(), key=lambda item: item[0].encode()):
        key_off = text(key.encode())
        if isinstance(value, (str, bytes)):
            kind, off = 3, text(value.encode() if isinstance(value, str) else value)
        elif isinstance(value, int):
            kind, off = 1, put(struct.pack("<I", value))
        else:
            kind, off = 2, put(struct.pack("<f", value))
        table += struct.pack("<QIIQ", key_off, kind, 0, off)
    kv_off = len(blobs)
    get = lambda key: fields.get(key, 0)
    struct.pack_into("<IIIIIIIIIIIIffQQIIQ", blobs, 0, 1, 0, get("arch"), 0, get("vocab"), get("hidden"), get("layers"),
                     get("heads"), get("kv_heads"), get("context"), get("train_context"), get("rope_type"),
                     get("rope_base"), get("rope_scale"), name_off, base_off, len(pairs or {}), 0, kv_off)
    return bytes(blobs) + table


def write_file(path, tensors, info=None, resources=None):
    """tensors: [(name, dtype, shape, payload, (domain, low, high) or None)]. Sections have an order of their own."""
    out = bytearray(40)
    directory = []

    def put(kind, data, offset=None):
        directory.append((kind, offset or len(out), len(data)))
        out.extend(pad(bytes(data), 8))

    entries = sorted(tensors, key=lambda t: t[0].encode())
    if tensors:
        start, data, offsets = len(out), bytearray(), {}
        for name, _, _, payload, _ in tensors:
            data.extend(bytes(-(start + len(data)) % 64))
            offsets[name] = start + len(data)
            data.extend(payload)
        put(4, data)
        table, dims, strings, records = b"", b"", b"", []
        for i, (name, dtype, shape, payload, record) in enumerate(entries):
            table += struct.pack("<IIIIIIQQ", len(strings), len(name.encode()), dtype, len(shape), len(dims) // 8, 0,
                                 offsets[name], len(payload))
            dims += struct.pack("<%dQ" % len(shape), *shape)
            strings += name.encode()
            if record:
                block, sup = {1: (0, 0), 2: (32, 0), 3: (32, 256)}[dtype >> 4]
                records.append(struct.pack("<IBBHH6sff", i, dtype, record[0], block, sup, bytes(6), *record[1:]))
        put(3, struct.pack("<IIIIQQQQ", 1, 3, len(entries), len(dims) // 8, 48, 48 + len(table),
                           48 + len(table) + len(dims), len(strings)) + table + dims + strings)
        if records:
            put(2, struct.pack("<II", 1, len(records)) + b"".join(records))
    if info is not None:
        put(1, info)
    for kind, name in RESOURCES.items():
        if name in (resources or {}):
            put(kind, resources[name])
    at = len(out)
    for entry in sorted(directory):
        out += struct.pack("<IIQQ", entry[0], 1, *entry[1:])
    struct.pack_into("<4sHHIIQQQ", out, 0, b"MCF\0", 1, 1, 40, len(directory), at, len(out), 1)
    with open(path, "wb") as file:
        file.write(out)


def plain_tensors(rng):
    tensors = []
    for dtype, width in WIDTH.items():
        shape = rng.choice([[], [3], [2, 5], [1, 2, 3], [0, 4]])
        count = 1
        for dim in shape:
            count *= dim
        data = bytes(rng.randrange(64) for _ in range(count * width))
        tensors.append(("plain.%d" % dtype, dtype, shape, data, None))
    tensors.append(("\u00fcber/name \U0001f600", 6, [4], b"abcd", None))
    rng.shuffle(tensors)
    return tensors


def coded_tensors(rng):
    tensors = []
    for method in METHODS:
        for domain in ((0, 1) if method < 0x20 else (0,)):
            for shape in ([1, 1], [3, 32], [2, 257], [5, 300], [0, 7], [1, 512]):
                name = "coded.%s.%d.%dx%d" % (METHODS[method], domain, *shape)
                tensors.append((name, method, shape, random_payload(rng, method, domain, shape),
                                (domain, -rng.random(), rng.random())))
    for shape in ([], [7], [2, 3, 5]):
        for method in (0x10, 0x11):
            name = "coded.%s.rank%d" % (METHODS[method], len(shape))
            tensors.append((name, method, shape, random_payload(rng, method, 1, shape), (1, -1.0, 1.0)))
    return tensors


# ---- the command ----------------------------------------------------------------------------------------------------

def tare(*arguments, ok=True):
    done = subprocess.run([TARE, *arguments], capture_output=True, check=False)
    if ok and done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(arguments), done.stderr.decode()))
    return done.stdout


class Independent(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def listing(self, name):
        text = json.loads(tare("ls", "--json", self.path(name)))
        return text, {t["name"]: t for t in text["tensors"]}

    def test_our_reader_agrees_with_the_other_writer(self):
        tensors = plain_tensors(random.Random(1))
        write_file(self.path("a.mcf"), tensors,
                   make_info({"epochs": 3, "rate": 0.5, "who": "me", "none": ""}, "tiny", "base/model", arch=1,
                             vocab=100, hidden=64, layers=2, heads=4, kv_heads=2, context=512, rope_type=1,
                             rope_base=10000.0, rope_scale=1.0),
                   {"merges.txt": b"a b\nc d\n", "generation_config.json": b"{}"})
        text, ours = self.listing("a.mcf")
        self.assertEqual((text["format"], text["version"]), ("mcf", "1.1"))
        self.assertEqual(text["metadata"], {"epochs": 3, "rate": 0.5, "who": "me", "none": "", "general.name": "tiny",
                                            "base_model": "base/model"})
        config = {"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2,
                  "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
                  "rope_theta": 10000.0}
        self.assertEqual(text["config"], config)
        self.assertEqual([(a["name"], a["bytes"]) for a in text["attachments"]],
                         [("generation_config.json", 2), ("merges.txt", 8)])
        self.assertEqual(tare("extract", self.path("a.mcf"), "merges.txt"), b"a b\nc d\n")
        self.assertEqual(len(ours), len(tensors))
        for name, dtype, shape, data, _ in tensors:
            self.assertEqual((ours[name]["shape"], ours[name]["dtype"]), (shape, TYPES[dtype]))
            self.assertEqual(tare("cat", self.path("a.mcf"), name), data, name)
        tare("verify", "--strict", self.path("a.mcf"))

    def test_the_other_reader_agrees_with_our_writer(self):
        tensors = plain_tensors(random.Random(2))
        write_file(self.path("a.mcf"), tensors, make_info({"k": 7}, "n", arch=3, vocab=9),
                   {"config.json": b'{"x": 1}', "tokenizer.json": b"{}"})
        tare("convert", self.path("a.mcf"), self.path("b.mcf"), "--set", "more=[1]", "--set", "huge=-5")
        found = read_file(self.path("b.mcf"))
        self.assertEqual({n: (t["dtype"], t["shape"], t["data"]) for n, t in found["tensors"].items()},
                         {n: (d, s, p) for n, d, s, p, _ in tensors})
        # Payloads in the order of the model.
        by_offset = sorted((t for t in found["tensors"].items() if t[1]["data"]), key=lambda t: t[1]["offset"])
        self.assertEqual([n for n, _ in by_offset], [n for n, _, _, p, _ in tensors if p])
        self.assertEqual((found["info"]["name"], found["info"]["arch"], found["info"]["vocab"]), (b"n", 3, 9))
        self.assertEqual(found["info"]["pairs"]["k"], 7)
        self.assertEqual(json.loads(found["info"]["pairs"]["tare.metadata"]), {"more": [1], "huge": -5})
        self.assertEqual(found["resources"], {"config.json": b'{"x": 1}', "tokenizer.json": b"{}"})
        # Through a pipe, and without mapping, the same bytes.
        with open(self.path("b.mcf"), "rb") as file:
            whole = file.read()
        self.assertEqual(tare("convert", self.path("b.mcf"), "-", "--to", "mcf"), whole)
        tare("convert", self.path("b.mcf"), self.path("c.mcf"), "--no-mmap", "--threads", "1")
        with open(self.path("c.mcf"), "rb") as file:
            self.assertEqual(file.read(), whole)

    def test_types_that_mcf_lacks(self):
        write_file(self.path("a.mcf"), [("flag", 6, [3], b"\0\1\1", None), ("small", 6, [2], b"\x38\xb8", None),
                                        ("z", 1, [1, 2], struct.pack("<ff", 1, 2), None)],
                   make_info({"tare.type.flag": "bool", "tare.type.small": "f8_e4m3fn", "tare.type.z": "complex64"}))
        _, ours = self.listing("a.mcf")
        self.assertEqual({n: (t["dtype"], t["shape"]) for n, t in ours.items()},
                         {"flag": ("bool", [3]), "small": ("f8_e4m3fn", [2]), "z": ("complex64", [1])})
        tare("convert", self.path("a.mcf"), self.path("b.zt"))
        tare("convert", self.path("b.zt"), self.path("c.mcf"))
        found = read_file(self.path("c.mcf"))
        self.assertEqual({n: (t["dtype"], t["shape"]) for n, t in found["tensors"].items()},
                         {"flag": (6, [3]), "small": (6, [2]), "z": (1, [1, 2])})
        self.assertEqual(found["info"]["pairs"]["tare.type.flag"], b"bool")
        self.assertEqual(tare("hash", self.path("a.mcf")).split()[0], tare("hash", self.path("c.mcf")).split()[0])

    def test_dedup(self):
        same = bytes(range(200))
        write_file(self.path("a.mcf"), [("a", 6, [200], same, None), ("b", 6, [200], same[::-1], None),
                                        ("c", 5, [2, 100], same, None)])
        tare("convert", self.path("a.mcf"), self.path("b.mcf"), "--dedup")
        found = read_file(self.path("b.mcf"))["tensors"]
        self.assertEqual(found["a"]["offset"], found["c"]["offset"])
        self.assertEqual([found[n]["data"] for n in "abc"], [same, same[::-1], same])
        tare("verify", "--strict", self.path("b.mcf"))

    def test_quantized_tensors_are_decoded(self):
        tensors = coded_tensors(random.Random(3))
        write_file(self.path("a.mcf"), tensors)
        _, ours = self.listing("a.mcf")
        for name, method, shape, payload, (domain, low, high) in tensors:
            self.assertEqual((ours[name]["dtype"], ours[name]["shape"]), ("mcf." + METHODS[method], shape))
            self.assertEqual(ours[name]["attributes"], {"domain": ["weights", "activations"][domain],
                                                        "min_clip": f32(low), "max_clip": f32(high)})
            self.assertEqual(tare("cat", self.path("a.mcf"), name), payload)
            values = decode(method, domain, shape, payload)
            self.assertEqual(tare("cat", self.path("a.mcf"), name, "--as", "f32"),
                             struct.pack("<%df" % len(values), *values), name)
        tare("verify", "--strict", self.path("a.mcf"))
        tare("convert", self.path("a.mcf"), self.path("b.zt"))
        tare("convert", self.path("b.zt"), self.path("c.mcf"))
        found = read_file(self.path("c.mcf"))["tensors"]
        for name, method, shape, payload, (domain, low, high) in tensors:
            self.assertEqual(found[name]["data"], payload)
            self.assertEqual(found[name]["record"], (method, domain, f32(low), f32(high)))


    def test_what_the_command_quantizes_is_decoded(self):
        rng = random.Random(5)
        shape, count = [7, 300], 2100
        weights = [f32(rng.gauss(0, 0.02)) for _ in range(count)]
        write_file(self.path("a.mcf"), [("w", 1, shape, struct.pack("<%df" % count, *weights), None),
                                        ("bias", 1, [5], bytes(20), None)])
        # Relative rms of a Gaussian, a little above what each number of bits gives.
        most = {"int8": 0.01, "int4": 0.17, "q8": 0.006, "q4": 0.1, "k6": 0.025, "k4": 0.1, "k3": 0.22, "k2": 0.5}
        for method, bound in most.items():
            tare("convert", self.path("a.mcf"), self.path("b.mcf"), "--quant", "mcf." + method, "--force")
            tare("verify", "--strict", self.path("b.mcf"))
            found = read_file(self.path("b.mcf"))["tensors"]
            number, domain, low, high = found["w"]["record"]
            self.assertEqual((METHODS[number], domain), (method, 0))
            absmax = max(map(abs, weights))
            if method.startswith("int"):  # the range that was found to lose least
                self.assertTrue(0.3 * absmax < high <= absmax, (high, absmax))
            else:
                self.assertEqual(high, absmax)
            self.assertEqual(low, -high)
            self.assertEqual(found["bias"]["dtype"], 1)
            values = decode(number, domain, shape, found["w"]["data"])
            self.assertEqual(tare("cat", self.path("b.mcf"), "w", "--as", "f32"), struct.pack("<%df" % count, *values))
            error = sum((a - b) ** 2 for a, b in zip(values, weights)) / sum(a * a for a in weights)
            self.assertLess(error ** 0.5, bound, method)
            with open(self.path("b.mcf"), "rb") as file:
                self.assertEqual(tare("convert", self.path("a.mcf"), "-", "--to", "mcf", "--quant", "mcf." + method),
                                 file.read())


if __name__ == "__main__":
    unittest.main()
