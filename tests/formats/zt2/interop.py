#!/usr/bin/env python3
"""zTensor 2 files next to the package that the format comes from.

    interop.py TARE [--first PYTHON] [--corpus FOLDER]     (TARE: the command; 77: neither package is there)

Every type, layout, encoding, sharded root and append, in both directions; what Tare writes of a model is byte for byte what
the package writes of it. PYTHON: one that has ztensor 1.2 (tools/interop makes it), whose files go to 2.x by way of Tare and
back. FOLDER: conformance/corpus of upstream's repository, whose files must be accepted or rejected as its tests expect.
"""
import argparse
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import ztensor
    MODERN = hasattr(ztensor, "index")
except ImportError:
    MODERN = False

ROOT = pathlib.Path(__file__).resolve().parents[3]
failures = []
STORAGE = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1}
LOGICAL = {"f8_e4m3fn": "u8", "f8_e5m2": "u8", "f8_e4m3fnuz": "u8", "f8_e5m2fnuz": "u8", "f8_e8m0": "u8", "bool": "u8",
           "complex64": "f32", "complex128": "f64"}
SEEKABLE = "zt.zstd-seekable/1"
# Weights and bytes of a block.
BLOCKS = {"q4_0": (32, 18), "q4_1": (32, 20), "q5_0": (32, 22), "q5_1": (32, 24), "q8_0": (32, 34), "q8_1": (32, 36),
          "q2_k": (256, 84), "q3_k": (256, 110), "q4_k": (256, 144), "q5_k": (256, 176), "q6_k": (256, 210), "q8_k": (256, 292),
          "iq1_s": (256, 50), "iq1_m": (256, 56), "iq2_xxs": (256, 66), "iq2_xs": (256, 74), "iq2_s": (256, 82),
          "iq3_xxs": (256, 98), "iq3_s": (256, 110), "iq4_nl": (32, 18), "iq4_xs": (256, 136), "mxfp4": (32, 17)}
# Upstream's error kinds (conformance/src/lib.rs) by file, and the rules of docs/formats/ztensor2.md.
REJECTS = {
    "zt2.footer.magic": "footer-magic", "zt2.version": "version-unsupported", "zt2.manifest.size": "manifest-too-large",
    "zt2.manifest.bounds": "manifest-out-of-bounds data-shard-nonzero-offset",
    "zt2.blob.misaligned": "manifest-misaligned blob-misaligned blob-offset-zero", "zt2.manifest.hash": "manifest-hash-mismatch",
    "zt2.cbor.syntax": "cbor-trailing-bytes cbor-tag cbor-indefinite", "zt2.cbor.form": "cbor-non-shortest cbor-unsorted-keys",
    "zt2.cbor.duplicate": "cbor-duplicate-key", "zt2.cbor.depth": "cbor-depth",
    "zt2.schema": "schema-missing-objects schema-unknown-dtype schema-blob-arity blob-array-with-three-elements "
                  "schema-encoding-without-decoded-length schema-ltype-dtype-mismatch schema-digest-uppercase-hex "
                  "shard-table-key-not-text attributes-not-a-map attribute-key-not-text object-attributes-not-a-map",
    "zt2.shard.name": "shard-name-traversal shard-name-separator shard-name-empty shard-name-leading-dot",
    "zt2.shard.unknown": "shard-ref-not-in-table",
    "zt2.name": "name-empty name-nul name-too-long attribute-key-empty attribute-key-nul",
    "zt2.shape": "shape-rank-65 shape-product-overflow", "zt2.blob.bounds": "blob-out-of-bounds",
    "zt2.blob.overlap": "blob-partial-overlap shard-blob-partial-overlap",
    "zt2.layout.parts": "dense-extra-part csr-missing-part", "zt2.layout.type": "csr-signed-indices",
    "zt2.layout.size": "csr-indptr-count csr-values-size", "zt2.dense.size": "dense-size-mismatch dense-f4-size-mismatch",
    # Ten zeros, and a file whose first bytes are not those of the format: refused before a format is known.
    "open.unrecognized": "file-too-small", "zt.magic": "header-magic",
}
# These open, and are found when the data is read.
VERIFIED = {"digest.mismatch": "verify-digest-mismatch", "zt2.bool.value": "bool-invalid-byte",
            "zt2.data.nibble": "f4-nonzero-odd-nibble", "zt2.csr.indptr_start": "csr-indptr-not-zero-based",
            "zt2.csr.column": "csr-index-out-of-cols", "zt2.csr.order": "csr-row-not-increasing"}


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def run(tare, *arguments, may_fail=False):
    done = subprocess.run([tare, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    if done.returncode != 0 and not may_fail:
        sys.exit(f"tare {' '.join(map(str, arguments))}: {done.stderr}")
    return done.returncode, done.stdout + done.stderr


def noise(count, seed, below=60):
    state, out = seed * 2654435761 + 1, bytearray()
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append((state >> 16) % below)
    return bytes(out)


def part(data, dtype, logical=None, encoding=None):
    entry = {"data": data, "dtype": dtype}
    if logical:
        entry["logical"] = logical
    if encoding:
        entry["encoding"] = encoding
    return entry


def words(numbers, width=8):
    return b"".join(struct.pack("<Q", n)[:width] for n in numbers)


def write_theirs(path, canonical, align=None):
    """Every type and layout, in the order of names, as canonical form asks; otherwise also compressed parts."""
    objects = {}
    for dtype, width in STORAGE.items():
        objects[f"type.{dtype}"] = ([2, 3], "dense", {"data": part(noise(6 * width, width), dtype)}, None)
    for logical, dtype in LOGICAL.items():
        per = 2 if logical.startswith("complex") else 1
        data = noise(4 * per * STORAGE[dtype], 7, 2 if logical == "bool" else 60)
        objects[f"logical.{logical}"] = ([4], "dense", {"data": part(data, dtype, logical)}, None)
    objects["logical.f4"] = ([4], "dense", {"data": part(b"\x21\x43", "u8", "f4_e2m1")}, None)
    objects["logical.f4_odd"] = ([3], "dense", {"data": part(b"\x21\x03", "u8", "f4_e2m1")}, None)
    objects["shape.empty"] = ([0, 4], "dense", {"data": part(b"", "f32")}, None)
    objects["shape.none"] = ([2, 0], "dense", {"data": part(b"", "i8")}, None)
    objects["shape.scalar"] = ([], "dense", {"data": part(noise(4, 3), "f32")}, None)
    objects["tied.a"] = ([500], "dense", {"data": part(noise(2000, 5), "f32")}, None)
    objects["tied.b"] = ([1000], "dense", {"data": part(noise(2000, 5), "f16")}, None)
    values = part(struct.pack("<3f", 1, 2, 3), "f32")
    for width in (4, 8):
        index = f"u{8 * width}"
        objects[f"csr.{index}"] = ([2, 3], "zt.sparse_csr/1", {"values": values, "indices": part(words([0, 2, 1], width), index),
                                                              "indptr": part(words([0, 2, 3], width), index)}, None)
        objects[f"coo.{index}"] = ([2, 3], "zt.sparse_coo/1", {"values": values,
                                                              "coords": part(words([0, 0, 1, 0, 2, 1], width), index)}, None)
    objects["logical.unheard_of"] = ([3], "dense", {"data": part(noise(6, 8), "u16", "posit16")}, None)
    for name, (weights, size) in BLOCKS.items():
        objects[f"blocks.{name}"] = ([2, weights], f"gguf.{name}/1", {"data": part(noise(2 * size, size), "u8")},
                                     {"elems_per_block": weights, "block_bytes": size})
    for logical, dtype in {"f4_e2m1": "u8", "f8_e4m3fn": "u8", "f8_e5m2": "u8", None: "i8"}.items():
        data = part(noise(32 if logical == "f4_e2m1" else 64, 11), dtype, logical)
        objects[f"mx.{logical or dtype}"] = ([2, 32], "zt.mx/1", {"data": data, "scales": part(b"\x7f\x80", "u8", "f8_e8m0")},
                                             {"block_size": 32, "scale_form": "e8m0_exponent"})
    objects["mx.axis"] = ([32, 2], "zt.mx/1", {"data": part(noise(64, 12), "i8"), "scales": part(b"\x7f\x80", "u8", "f8_e8m0")},
                          {"block_size": 32, "scale_form": "e8m0_exponent", "axis": 0})
    quant = {"bits": 4, "group_size": 8, "axis": 1, "packing": {"word": "u32", "order": "lsb_first", "per_word": 8}}
    ones = b"\x00\x3c" * 4
    floats = part(struct.pack("<4f", 1, 2, 3, 4), "f32")
    for bits, word in ((2, 8), (4, 8), (8, 8), (4, 16), (2, 32), (4, 64)):
        for order in ("lsb_first", "msb_first"):
            objects[f"group.{bits}.u{word}.{order}"] = (
                [2, 32], "zt.quant_group/1",
                {"data": part(noise(8 * bits, bits + word, 256), f"u{word}"), "scales": part(noise(16, 3), "f32")},
                {"bits": bits, "group_size": 16, "axis": 1, "packing": {"word": f"u{word}", "order": order, "per_word": word // bits},
                 "scale_form": "f32_factors", "zero_point": {"form": "none"}})
    objects["group.packed_zeros"] = ([8, 16], "zt.quant_group/1",
                                     {"data": part(noise(64, 17, 256), "u32"), "scales": part(noise(32, 4), "f16"),
                                      "zeros": part(noise(8, 18, 256), "u32")},
                                     {**quant, "scale_form": "f16_factors", "zero_point": {"form": "tensor", "packing": "same_as_data"}})
    objects["group.axis"] = ([8, 4], "zt.quant_group/1", {"data": part(noise(16, 19, 256), "u32"), "scales": floats},
                             {**quant, "axis": 0, "scale_form": "f32_factors", "zero_point": {"form": "implied", "value": 7}})
    objects["group.exponents"] = ([2, 16], "zt.quant_group/1",
                                  {"data": part(noise(16, 20, 256), "u32"), "scales": part(b"\x7f\x80\x7e\x7f", "u8", "f8_e8m0")},
                                  {**quant, "scale_form": "e8m0_exponent", "zero_point": {"form": "none"}})
    objects["group.ours"] = ([2, 16], "zt.quant_group/1", {"data": part(noise(16, 13), "u32"), "scales": part(ones, "f16"),
                                                          "zeros": part(ones, "f16")},
                             {**quant, "scale_form": "f16_factors", "zero_point": {"form": "tensor", "packing": "plain"}})
    objects["group.implied"] = ([2, 16], "zt.quant_group/1", {"data": part(noise(16, 15), "u32"), "scales": floats},
                                {**quant, "scale_form": "f32_factors", "zero_point": {"form": "implied", "value": 8}})
    objects["own"] = ([2], "x.own/3", {"a": part(b"abc", "u8"), "longer": part(b"de", "u8")}, {"k": [1, 2.5, None, True, {"z": -1}]})
    if not canonical:
        objects["packed"] = ([3_000_000], "dense", {"data": part(bytes(3_000_000), "u8", None, SEEKABLE)}, None)
        objects["packed.empty"] = ([0], "dense", {"data": part(b"", "u8", None, SEEKABLE)}, None)
        objects["packed.frames"] = ([5 << 19], "dense", {"data": part(noise(1 << 10, 21, 256) * (5 << 9) * 2, "u16", None, SEEKABLE)}, None)
        objects["packed.noise"] = ([3000], "dense", {"data": part(noise(3000, 22, 256), "u8", None, SEEKABLE)}, None)
        objects["packed.f4_odd"] = ([3], "dense", {"data": part(b"\x21\x03", "u8", "f4_e2m1", SEEKABLE)}, None)
        objects["packed.csr"] = ([2, 3], "zt.sparse_csr/1",
                                 {"values": {**values, "encoding": SEEKABLE}, "indices": part(words([0, 2, 1]), "u64"),
                                  "indptr": part(words([0, 2, 3]), "u64", None, SEEKABLE)}, None)
    writer = ztensor.Writer(str(path), canonical=canonical, **({"align": align} if align else {}))
    writer.set_attributes({"name": "m", "list": [1, -2, 0.1, {"a": 1.5, "bb": "text"}], "big": 2**63})
    for name in sorted(objects):
        shape, layout, parts, attributes = objects[name]
        writer.add_object(name, shape, parts, layout=layout, attributes=attributes)
    writer.finish()


def same_models(a, b):
    first, second = ztensor.open(str(a)), ztensor.open(str(b))
    check(first.keys() == second.keys(), f"{b}: other names than {a}")
    check(first.attributes == second.attributes, f"{b}: other attributes than {a}")
    for name in first.keys():
        x, y = first[name], second[name]
        check((x.shape, x.layout, x.parts) == (y.shape, y.layout, y.parts), f"{b}: {name} is {y.layout} {y.parts}")
        for piece in x.parts:
            check((x[piece].dtype, x[piece].logical, x[piece].tobytes()) == (y[piece].dtype, y[piece].logical, y[piece].tobytes()),
                  f"{b}: {name} {piece} differs")
    check(second.verify(deep=True).undigested == 0, f"{b}: parts without a digest")


def exchange(tare, folder):
    for canonical, align in ((True, None), (False, 4096), (False, None)):
        theirs = folder / f"theirs-{canonical}.zt"
        write_theirs(theirs, canonical, align)
        said = run(tare, "verify", theirs)[1]
        check("bad" not in said.split() and "zt2:" not in said, f"verify {theirs}: {said}")
        ours = folder / f"ours-{canonical}.zt"
        run(tare, "convert", theirs, ours, "--to", "zt2", "--force")
        same_models(theirs, ours)
        if canonical:
            check(theirs.read_bytes() == ours.read_bytes(), "the canonical file is the package's, byte for byte")
            check("zt2.canonical" not in run(tare, "verify", ours)[1], "what the package writes is canonical")
        for options, name in ((["--zstd"], "zstd"), (["--dialect", "pages"], "pages"), (["--digest", "sha256"], "sha")):
            other = folder / f"{name}-{canonical}.zt"
            run(tare, "convert", theirs, other, "--to", "zt2", "--force", *options)
            same_models(theirs, other)
            run(tare, "verify", other)
        # By way of zTensor 1.
        run(tare, "convert", theirs, folder / "one.zt", "--to", "zt", "--force")
        run(tare, "convert", folder / "one.zt", folder / "back.zt", "--to", "zt2", "--force")
        same_models(theirs, folder / "back.zt")
        digests = {line.split()[0] for line in run(tare, "hash", "--zt2", theirs, ours, folder / "back.zt", folder / "one.zt")[1].splitlines()}
        check(len(digests) == 1, f"one content digest for all: {digests}")


def streamed(tare, folder):
    """Objects of which the package got the bytes piece by piece, several parts of one included."""
    theirs, ours = folder / "streamed.zt", folder / "streamed-ours.zt"
    writer = ztensor.Writer(str(theirs))
    data = noise(100_000, 31, 256)
    with writer.stream("a", [25_000], {"data": {"dtype": "f32", "nbytes": len(data)}}) as sink:
        for at in range(0, len(data), 30_000):
            sink.write(data[at:at + 30_000])
    with writer.stream("b", [2], {"x": {"dtype": "u8", "nbytes": 3}, "y": {"dtype": "u8", "nbytes": 2}}, layout="x.own/1") as sink:
        sink.write(b"abc")
        sink.write(b"de")
    writer.finish()
    run(tare, "verify", theirs)
    run(tare, "convert", theirs, ours, "--to", "zt2")
    check(theirs.read_bytes() == ours.read_bytes(), "a streamed file, byte for byte")


def converted(tare, folder):
    """Files of another format, converted by both: the same bytes."""
    plain, theirs, ours = folder / "plain.safetensors", folder / "plain-theirs.zt", folder / "plain-ours.zt"
    header = json.dumps({"__metadata__": {"format": "pt", "note": "x"},
                         "b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                         "a": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
                         "mask": {"dtype": "BOOL", "shape": [3], "data_offsets": [32, 35]},
                         "small": {"dtype": "F8_E4M3", "shape": [5], "data_offsets": [35, 40]}}).encode()
    header += b" " * (-len(header) % 8)
    plain.write_bytes(struct.pack("<Q", len(header)) + header + noise(32, 41) + b"\1\0\1" + noise(5, 42))
    ztensor.convert(str(plain), str(theirs))
    run(tare, "convert", plain, ours, "--to", "zt2")
    first, second = ztensor.open(str(theirs)), ztensor.open(str(ours))
    check(first.keys() == second.keys(), "the names of a converted file")
    for name in first.keys():
        x, y = first[name], second[name]
        check((x.shape, x.dtype, x.logical, x.tobytes()) == (y.shape, y.dtype, y.logical, y.tobytes()), f"{name} of a converted file")
    digests = {line.split()[0] for line in run(tare, "hash", "--zt2", plain, theirs, ours)[1].splitlines()}
    check(len(digests) == 1, f"one content digest of a converted file: {digests}")


def shards(tare, folder):
    theirs = folder / "theirs-False.zt"
    for dialect in ([], ["--dialect", "store"]):
        target = folder / ("store" if dialect else "split")
        run(tare, "convert", theirs, f"{target}/", "--to", "zt2", "--shard", "1MiB", *dialect)
        run(tare, "verify", target, target / "model.zt")
        if not dialect:
            same_models(theirs, target / "model.zt")  # the package looks for names only
            check(len(ztensor.open(str(target / "model.zt")).files) > 2, "several files")
    # Compressed, and signed for by SHA-256; then grown and edited at the root.
    for options in (["--zstd"], ["--digest", "sha256"]):
        target = folder / "other-split"
        run(tare, "convert", theirs, f"{target}/", "--to", "zt2", "--shard", "1MiB", "--force", *options)
        run(tare, "verify", target)
        same_models(theirs, target / "model.zt")
        with ztensor.Writer(str(folder / "one-more.zt")) as writer:
            writer.add("zz.more", noise(40, 3), [10], "f32")
        run(tare, "append", target / "model.zt", folder / "one-more.zt")
        run(tare, "meta", target / "model.zt", "--set", "author=me")
        grown = ztensor.open(str(target / "model.zt"))
        check(grown["zz.more"].tobytes() == noise(40, 3) and grown.attributes["author"] == "me", "a root that grew")
        check(len(grown.keys()) == len(ztensor.open(str(theirs)).keys()) + 1, "a root that grew has all tensors")
        check(grown.verify(deep=True).undigested == 0, "a root that grew: digests")
        run(tare, "verify", target)
    # A shard under another name is found by what is in it; a damaged one is refused.
    shard = sorted((folder / "split").glob("model-*.zt"))[1]
    renamed = shard.with_name("model-elsewhere.zt")
    shard.rename(renamed)
    run(tare, "verify", folder / "split")
    damaged = bytearray(renamed.read_bytes())
    damaged[65536] ^= 1
    renamed.write_bytes(damaged)
    code, said = run(tare, "verify", folder / "split", may_fail=True)
    check(code == 1 and "zt2.shard" in said, f"a damaged shard: {said}")


def appends(tare, folder):
    for base in ("theirs-True.zt", "theirs-False.zt", "pages-True.zt", "zstd-False.zt"):
        append_to(tare, folder, folder / base)


def append_to(tare, folder, base):
    path, extra = folder / "grown.zt", folder / "extra.zt"
    path.write_bytes(base.read_bytes())
    writer = ztensor.Writer(str(extra), canonical=False)
    writer.add("zz.ours", noise(40, 3), [10], "f32")
    writer.add("zz.packed", bytes(2_000_000), [500_000], "f32", encoding=SEEKABLE)
    writer.finish()
    old = path.read_bytes()
    writer = ztensor.Writer(str(path), canonical=False, append=True)
    writer.add("zz.theirs", noise(8, 4), [2], "f32")
    writer.finish()
    run(tare, "append", path, extra)
    run(tare, "meta", path, "--set", "author=me")
    writer = ztensor.Writer(str(path), canonical=False, append=True)
    writer.add("zz.last", noise(8, 6), [2], "f32")
    writer.finish()
    grown = ztensor.open(str(path))
    check(all(name in grown for name in ("zz.ours", "zz.packed", "zz.theirs", "zz.last", "tied.a")), "all appends are there")
    check(grown["zz.packed"].tobytes() == bytes(2_000_000), "a compressed part that was appended")
    check(grown.attributes["author"] == "me", "metadata edited in place")
    check(grown.verify(deep=True).undigested == 0, "digests after appends")
    check(path.read_bytes().startswith(old), "no byte of the old file was changed")
    check("zt2.canonical" in run(tare, "verify", path)[1], "an append leaves the canonical form, and verify says so")
    run(tare, "convert", path, folder / "restored.zt", "--to", "zt2", "--force", "--no-zstd")
    same_models(path, folder / "restored.zt")
    check("zt2.canonical" not in run(tare, "verify", folder / "restored.zt")[1], "a conversion restores it")


def first_generation(tare, folder, python):
    """Files of ztensor 1.2 for 2.x, and back: the bridge that upstream does not have."""
    script = pathlib.Path(__file__).with_name("first.py")

    def first(verb, path):
        done = subprocess.run([python, script, verb, path], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"first.py {verb} {path}: {done.stderr}")
        return json.loads(done.stdout) if verb == "dump" else None

    def same_everywhere(old, what):
        wanted = first("dump", old)
        modern, back = folder / f"{what}-2.zt", folder / f"{what}-1.zt"
        for options in ([], ["--zstd"], ["--dialect", "pages"], ["--digest", "sha256"]):
            run(tare, "convert", old, modern, "--to", "zt2", "--force", *options)
            check(" error:" not in run(tare, "verify", modern)[1], f"{what}: verify as zt2 {options}")
            run(tare, "convert", modern, back, "--to", "zt", "--force", *options[:1 if options == ["--zstd"] else 0])
            found = first("dump", back)
            for name in wanted.keys() | found.keys():
                check(wanted.get(name) == found.get(name), f"{what} by way of zt2 {options}: {name} was {wanted.get(name)}, is {found.get(name)}")
            if not MODERN:
                continue
            opened = ztensor.open(str(modern))
            check(set(opened.keys()) == wanted.keys(), f"{what}: the names that 2.x reads")
            check(opened.verify(deep=True).undigested == 0, f"{what}: digests that 2.x checks")
            for name, (layout, shape, _, parts) in wanted.items():
                check(list(opened[name].shape) == shape, f"{what}: {name} has another shape in 2.x")
                data = {hashlib.sha256(opened[name][piece].tobytes()).hexdigest() for piece in opened[name].parts}
                check(data == {digest for _, _, digest in parts.values()}, f"{what}: {name}, {layout}, has other bytes in 2.x")
        digests = {line.split()[0] for line in run(tare, "hash", old, modern, back)[1].splitlines()}
        check(len(digests) == 1, f"{what}: one digest: {digests}")

    theirs, ours, grown = folder / "first.zt", folder / "first-ours.zt", folder / "first-grown.zt"
    first("write", theirs)
    run(tare, "verify", theirs)
    same_everywhere(theirs, "theirs")
    run(tare, "convert", theirs, ours, "--to", "zt")
    check(first("dump", ours) == first("dump", theirs), "a 1.2 file written by Tare")
    # Appended to by them, by us, by them again.
    grown.write_bytes(theirs.read_bytes())
    first("append", grown)
    extra = folder / "extra.npy"
    run(tare, "cat", theirs, "type.int32", "--as", "npy", "-o", extra)
    run(tare, "append", grown, extra)
    check(len(first("dump", grown)) == len(first("dump", theirs)) + 3, "appended by the package and by Tare")
    run(tare, "verify", grown)
    same_everywhere(grown, "grown")
    if MODERN:  # what 2.x writes goes to 1.2: the layouts that both have keep their names there
        modern, old = folder / "theirs-True.zt", folder / "down.zt"
        run(tare, "convert", modern, old, "--to", "zt", "--force")
        found = first("dump", old)
        opened = ztensor.open(str(modern))
        check(set(opened.keys()) == found.keys(), "names of 2.x in 1.2")
        for name, (layout, _, _, parts) in found.items():
            data = {hashlib.sha256(opened[name][piece].tobytes()).hexdigest() for piece in opened[name].parts}
            check(data == {digest for _, _, digest in parts.values()}, f"{name} of 2.x in 1.2: {layout}")
        for name, layout in {"csr.u64": "sparse_csr", "coo.u64": "sparse_coo", "group.ours": "quantized_group"}.items():
            check(found[name][0] == layout, f"{name} is {found[name][0]} in 1.2")


def corpus(tare, folder):
    counted = 0
    for file in sorted((folder / "valid").glob("*.zt")):
        check(run(tare, "ls", file, may_fail=True)[0] == 0, f"valid/{file.name} is refused")
        counted += 1
    said = run(tare, "verify", folder / "valid/view-unknown-encoding-refused.zt", may_fail=True)[1]
    check("zt2.encoding.unknown" in said, f"an unknown encoding is not decoded: {said}")
    listed = set()
    for verb, table in (("ls", REJECTS), ("verify", VERIFIED)):
        for rule, names in table.items():
            for name in names.split():
                listed.add(name)
                if verb == "verify":
                    check(run(tare, "ls", folder / f"reject/{name}.zt", may_fail=True)[0] == 0, f"reject/{name} opens")
                code, said = run(tare, verb, folder / f"reject/{name}.zt", may_fail=True)
                check(code == 1 and rule in said, f"reject/{name}: expected {rule}: {said}")
                counted += 1
    there = {file.stem for file in (folder / "reject").glob("*.zt")}
    check(there == listed, f"files without an expectation: {there ^ listed}")
    print(f"corpus: {counted} files")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("--first", default=str(ROOT / "build/interop-ztensor1/bin/python"))
    parser.add_argument("--corpus", type=pathlib.Path)
    given = parser.parse_args()
    tare = given.tare
    first = os.path.exists(given.first) and subprocess.run([given.first, "-c", "import ztensor"]).returncode == 0
    if given.corpus:
        corpus(tare, given.corpus)
    if not MODERN and not first:
        print("no package ztensor, neither 2.x nor 1.2")
        return 1 if failures else 77
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        if MODERN:
            exchange(tare, folder)
            streamed(tare, folder)
            converted(tare, folder)
            shards(tare, folder)
            appends(tare, folder)
        if first:
            first_generation(tare, folder, given.first)
    print(f"2.x: {'exchanged' if MODERN else 'not there'}; 1.2: {'exchanged' if first else 'not there'}")
    print(f"{len(failures)} failures" if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
