#!/usr/bin/python3
"""zTensor read and written by another program: a CBOR codec, a reader and a writer made from the format's document
alone, with nothing but Python's standard library, checked against the command.

    ztensor_independent.py PATH-TO-TARE
"""
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

TARE = sys.argv.pop(1) if len(sys.argv) > 1 else "tare"
MAGIC = b"ZTEN1000"
WIDTH = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1,
         "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1}


# ---- CBOR (RFC 8949), enough for a manifest -------------------------------------------------------------------------

def head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    for info, form, limit in ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64)):
        if value < limit:
            return bytes([major << 5 | info]) + struct.pack(form, value)
    raise ValueError(value)


def dump(value):
    if value is None:
        return b"\xf6"
    if value is True or value is False:
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        for code, form in ((b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d")):
            try:
                packed = struct.pack(form, value)
            except OverflowError:
                continue
            if struct.unpack(form, packed)[0] == value:
                return code + packed
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        text = value.encode()
        return head(3, len(text)) + text
    if isinstance(value, (list, tuple)):
        return head(4, len(value)) + b"".join(map(dump, value))
    return head(5, len(value)) + b"".join(dump(k) + dump(v) for k, v in value.items())


def load(data, at=0):
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    if info < 24:
        value = info
    else:
        size = 1 << (info - 24)
        value = int.from_bytes(data[at:at + size], "big")
        at += size
    if major == 0:
        return value, at
    if major == 1:
        return -1 - value, at
    if major in (2, 3):
        raw = data[at:at + value]
        return (bytes(raw) if major == 2 else raw.decode()), at + value
    if major == 4:
        items = []
        for _ in range(value):
            item, at = load(data, at)
            items.append(item)
        return items, at
    if major == 5:
        result = {}
        for _ in range(value):
            key, at = load(data, at)
            result[key], at = load(data, at)
        return result, at
    simple = {20: False, 21: True, 22: None}
    if info in simple:
        return simple[info], at
    return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], data[at - size:at])[0], at


# ---- the container --------------------------------------------------------------------------------------------------

def read_file(path):
    """{name: (object, {role: stored bytes})} and the manifest, by the document's algorithm."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == MAGIC and data[-8:] == MAGIC
    size = struct.unpack("<Q", data[-16:-8])[0]
    manifest, _ = load(data[len(data) - 16 - size:len(data) - 16])
    objects = {}
    for name, thing in manifest["objects"].items():
        blobs = {}
        for role, component in thing["components"].items():
            assert component["offset"] % 64 == 0
            stored = data[component["offset"]:component["offset"] + component["length"]]
            assert len(stored) == component["length"]
            if "digest" in component:
                algorithm, digits = component["digest"].split(":")
                if algorithm == "sha256":
                    assert hashlib.sha256(stored).hexdigest() == digits
            blobs[role] = stored
        objects[name] = (thing, blobs)
    return manifest, objects


def write_file(path, tensors, attributes=None):
    """tensors: [(name, shape, format, attributes or None, [(role, dtype, type or None, bytes)])], raw."""
    out = bytearray(MAGIC)
    objects = {}
    for name, shape, form, extra, components in tensors:
        entries = {}
        for role, dtype, kind, data in components:
            out += b"\0" * (-len(out) % 64)
            entry = {"dtype": dtype}
            if kind:
                entry["type"] = kind
            entry.update(offset=len(out), length=len(data))
            entries[role] = entry
            out += data
        thing = {"shape": shape, "format": form}
        if extra:
            thing["attributes"] = dict(sorted(extra.items(), key=lambda item: item[0].encode()))
        thing["components"] = dict(sorted(entries.items()))
        objects[name] = thing
    manifest = {"version": "1.2.0"}
    if attributes:
        manifest["attributes"] = dict(sorted(attributes.items(), key=lambda item: item[0].encode()))
    manifest["objects"] = dict(sorted(objects.items(), key=lambda item: item[0].encode()))
    body = dump(manifest)
    out += body + struct.pack("<Q", len(body)) + MAGIC
    with open(path, "wb") as file:
        file.write(out)


def escaped(name):
    return name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def content_digest(tensors):
    lines = []
    for name, shape, form, extra, components in sorted(tensors, key=lambda t: t[0].encode()):
        dims = "x".join(map(str, shape)) or "-"
        if form != "dense" and extra:
            text = json.dumps(extra, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            lines.append("\t".join([escaped(name), form, dims, "@", text]))
        for role, dtype, kind, data in sorted(components, key=lambda c: c[0].encode()):
            lines.append("\t".join([escaped(name), form, dims, role, dtype, kind or "-",
                                    hashlib.sha256(data).hexdigest()]))
    return "tare1:" + hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


# ---- the comparison -------------------------------------------------------------------------------------------------

def tare(*arguments):
    done = subprocess.run([TARE, *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"tare {' '.join(arguments)}: {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def random_tensors(seed):
    rng = random.Random(seed)
    tensors = []
    for dtype, width in WIDTH.items():
        for shape in ([], [3], [2, 0], [4, 5, 2]):
            count = 1
            for dimension in shape:
                count *= dimension
            data = bytes(rng.randrange(2) for _ in range(count)) if dtype == "bool" else rng.randbytes(count * width)
            tensors.append((f"t.{dtype}.{'x'.join(map(str, shape))}", shape, "dense", None,
                            [("data", dtype, None, data)]))
    for kind, dtype, ratio in (("f8_e4m3fn", "u8", 1), ("f8_e5m2fnuz", "u8", 1), ("complex64", "f32", 2),
                               ("complex128", "f64", 2), ("x.unknown", "u16", 1)):
        tensors.append((f"logical.{kind}", [7], "dense", {"note": "é\"\\", "list": [1, -2, 2.5, None, True]},
                        [("data", dtype, kind, rng.randbytes(7 * ratio * WIDTH[dtype]))]))
    u64 = lambda *values: struct.pack(f"<{len(values)}Q", *values)
    tensors.append(("csr", [3, 4], "sparse_csr", None,
                    [("values", "f32", None, struct.pack("<3f", 1, 2, 3)), ("indices", "u64", None, u64(0, 3, 1)),
                     ("indptr", "u64", None, u64(0, 2, 2, 3))]))
    tensors.append(("coo", [3, 4, 2], "sparse_coo", None,
                    [("values", "f16", None, struct.pack("<2e", 1, -2)), ("coords", "u64", None, u64(0, 2, 3, 1, 0, 1))]))
    tensors.append(("group", [2, 8], "quantized_group", {"bits": 4, "group_size": 4, "packing": "8_per_i32"},
                    [("packed_weight", "i32", None, struct.pack("<2I", 0x76543210, 0xFEDCBA98)),
                     ("scales", "f16", None, struct.pack("<4e", 0.5, 1, 2, 4)),
                     ("zeros", "f16", None, struct.pack("<4e", 8, 8, 0, 15))]))
    tensors.append(("strange\tname \\ \u00fc", [2], "vendor.layout", {"k": 1},
                    [("b", "u8", None, b"\1\2\3"), ("a", "i8", None, b"\4")]))
    return tensors


class Independent(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_our_reader_agrees_with_the_other_writer(self):
        tensors = random_tensors(1)
        write_file(self.path("a.zt"), tensors, {"framework": "PyTorch", "nested": {"b": [1, 2.5], "a": "x"}})
        listing = json.loads(tare("ls", "--json", self.path("a.zt")))
        self.assertEqual((listing["format"], listing["version"]), ("zt", "1.2.0"))
        self.assertEqual(listing["metadata"], {"framework": "PyTorch", "nested": {"b": [1, 2.5], "a": "x"}})
        by_name = {tensor["name"]: tensor for tensor in listing["tensors"]}
        self.assertEqual(len(by_name), len(tensors))
        for name, shape, form, extra, components in tensors:
            ours = by_name[escaped(name)]
            self.assertEqual((ours["shape"], ours["layout"]), (shape, form))
            self.assertEqual(ours["attributes"], extra or {})
            self.assertEqual(sorted(ours["components"]), sorted(role for role, *_ in components))
            for role, dtype, kind, data in components:
                entry = ours["components"][role]
                self.assertEqual((entry["dtype"], entry["type"], entry["bytes"]), (dtype, kind, len(data)))
                self.assertEqual(tare("cat", self.path("a.zt"), name, "--component", role), data, name)

    def test_content_digest(self):
        tensors = random_tensors(2)
        write_file(self.path("a.zt"), tensors)
        self.assertEqual(tare("hash", self.path("a.zt")).decode().split()[0], content_digest(tensors))

    def test_rewriting_gives_the_same_bytes(self):
        # The other writer lays components out in the canonical order too, so the files must be equal.
        tensors = random_tensors(3)
        order = {"strange\tname \\ \u00fc": ["a", "b"]}
        tensors = [(n, s, f, e, sorted(c, key=lambda x: order[n].index(x[0])) if n in order else c)
                   for n, s, f, e, c in tensors]
        write_file(self.path("a.zt"), tensors, {"a": 1, "b": "two", "aa": 1e-3})
        tare("convert", self.path("a.zt"), self.path("b.zt"))
        with open(self.path("a.zt"), "rb") as a, open(self.path("b.zt"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_the_other_reader_agrees_with_our_writer(self):
        tensors = random_tensors(4)
        write_file(self.path("a.zt"), tensors)
        tare("convert", self.path("a.zt"), self.path("b.zt"), "--digest", "sha256", "--set", "who=me")
        manifest, objects = read_file(self.path("b.zt"))
        self.assertEqual(manifest["attributes"], {"who": "me"})
        for name, shape, form, extra, components in tensors:
            thing, blobs = objects[name]
            self.assertEqual((thing["shape"], thing["format"], thing.get("attributes")), (shape, form, extra))
            for role, dtype, kind, data in components:
                self.assertEqual(blobs[role], data)
                self.assertEqual(thing["components"][role]["dtype"], dtype)
                self.assertEqual(thing["components"][role].get("type"), kind)
                self.assertTrue(thing["components"][role]["digest"].startswith("sha256:"))

    def test_the_other_reader_follows_an_append(self):
        write_file(self.path("a.zt"), [("a", [2], "dense", None, [("data", "u8", None, b"ab")])])
        write_file(self.path("b.zt"), [("b", [3], "dense", None, [("data", "u8", None, b"xyz")])])
        tare("append", self.path("a.zt"), self.path("b.zt"))
        _, objects = read_file(self.path("a.zt"))
        self.assertEqual({name: blobs["data"] for name, (_, blobs) in objects.items()}, {"a": b"ab", "b": b"xyz"})
        tare("verify", "--strict", self.path("a.zt"))

    def test_group_codec(self):
        tensors = [t for t in random_tensors(5) if t[0] == "group"]
        write_file(self.path("a.zt"), tensors)
        decoded = struct.unpack("<16f", tare("cat", self.path("a.zt"), "group", "--as", "f32"))
        codes = list(range(16))
        scales, zeros = [0.5, 1, 2, 4], [8, 8, 0, 15]
        expected = [scales[i // 8 * 2 + i % 8 // 4] * (codes[i] - zeros[i // 8 * 2 + i % 8 // 4]) for i in range(16)]
        self.assertEqual(list(decoded), expected)


if __name__ == "__main__":
    unittest.main()
