import ctypes
import hashlib
import os
import struct

from worst.common import case, name, put
from worst.zt import head, run_of_zeros

MAGIC = b"\x89ZT2\r\n\x1a\n"
PAGE = 4096


def digest(data):
    function = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    function.restype, function.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
    return function(data, len(data))


def cbor(value):
    """Deterministic: keys in the order of their bytes."""
    if isinstance(value, bytes):
        return value  # encoded already
    if isinstance(value, int):
        return head(0, value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    pairs = sorted((cbor(key), cbor(item)) for key, item in value.items())
    return head(5, len(pairs)) + b"".join(key + item for key, item in pairs)


def part(length, offset=PAGE, **more):
    return {"blob": [offset, length], "dtype": "u8", **more}


def dense(length, offset=PAGE, elements=None, **more):
    return {"layout": "dense", "shape": [length if elements is None else elements],
            "parts": {"data": part(length, offset, **more)}}


ONE = {"t": dense(1)}


def zt2(directory, objects=None, data=b"\0", **root):
    body = cbor({"objects": ONE if objects is None else objects, **root})
    blobs = MAGIC + bytes(PAGE - 8) + data
    blobs += bytes(-len(blobs) % PAGE)
    return put(directory, "w.zt", blobs, body, struct.pack("<QQQII", len(blobs), len(body), digest(body), 2, 0), MAGIC)


@case
def zt2_keys(directory, size):
    return zt2(directory, attributes={name(i): 0 for i in range(size // 5)})


@case
def zt2_attachments(directory, size):
    count = size // 6
    files = b"".join(sorted(cbor(name(i)) + b"\x40" for i in range(count)))
    return zt2(directory, attributes={"tare.attachments": head(5, count) + files})


@case
def zt2_zeros(directory, size):
    return zt2(directory, attributes={"x": head(4, size) + bytes(size)})


@case
def zt2_lists(directory, size):
    return zt2(directory, attributes={"x": head(4, size) + b"\x80" * size})


@case
def zt2_maps(directory, size):
    return zt2(directory, attributes={"x": head(4, size) + b"\xa0" * size})


@case
def zt2_deep(directory, size):
    return zt2(directory, attributes={"x": b"\x81" * size + b"\0"})


@case
def zt2_same_key(directory, size):
    count = size // 3
    return zt2(directory, attributes=head(5, count) + b"\x61k\0" * count)


@case
def zt2_objects(directory, size):
    count = size // len(cbor({"abc": dense(1)}))
    return zt2(directory, {name(i): dense(1) for i in range(count)})


@case
def zt2_parts(directory, size):
    count = size // len(cbor({"abc": part(1)}))
    return zt2(directory, {"t": {"layout": "x", "shape": [1], "parts": {name(i): part(1) for i in range(count)}}})


@case
def zt2_dimensions(directory, size):
    return zt2(directory, {"t": {"layout": "dense", "shape": [1] * size, "parts": {"data": part(1)}}})


@case
def zt2_unknown_fields(directory, size):
    return zt2(directory, {"t": {**dense(1), **{name(i): 0 for i in range(size // 5)}}})


@case(allowed=True)
def zt2_shared_bytes(directory, size):
    half = size // 2
    count = half // len(cbor({"abc": dense(half)}))
    return zt2(directory, {name(i): dense(half) for i in range(count)}, bytes(half))


@case
def zt2_zstd_zeros(directory, size):
    elements = 256 << 20
    frame = run_of_zeros(elements)
    return zt2(directory, {"t": dense(len(frame), elements=elements, encoding="zstd", decoded_length=elements)},
               frame + bytes(size))


@case
def zt2_zstd_shared(directory, size):
    elements = 64 << 20
    frame = run_of_zeros(elements)
    one = dense(len(frame), elements=elements, encoding="zstd", decoded_length=elements)
    count = size // len(cbor({"abc": one}))
    return zt2(directory, {name(i): one for i in range(count)}, frame)


@case
def zt2_shards(directory, size):
    one = {"size": 8, "digest": "xxh3:" + "0" * 16}
    count = size // len(cbor({"s00000000.zt": one}))
    return zt2(directory, shards={"s%08d.zt" % i: one for i in range(count)})


@case(allowed=True)
def zt2_same_shard(directory, size):
    """Shards that are all one file, which is next to the root, and whose bytes are a tensor each."""
    bytes_of_it = min(1 << 20, size // 4)
    data = MAGIC + bytes(PAGE - 8) + bytes(bytes_of_it) + struct.pack("<QQQII", 0, 0, 0, 2, 0) + MAGIC
    put(directory, "x.zt", data)
    one = {"size": len(data), "digest": "xxh3:%016x" % digest(data)}
    count = size // 2 // len(cbor({"sabc": one, "abc": dense(bytes_of_it, shard="sabc")}))
    return zt2(directory, {name(i): dense(bytes_of_it, shard="s" + name(i)) for i in range(count)},
               shards={"s" + name(i): one for i in range(count)})


def zt2_names_of_one_file(directory, size, link):
    """A shard that is looked for in many files of its size, which are one file."""
    data = MAGIC + bytes(PAGE - 8) + bytes(size // 2) + struct.pack("<QQQII", 0, 0, 0, 2, 0) + MAGIC
    first = put(directory, "x.zt", data)
    for i in range(min(3000, size // 60)):
        link(first, os.path.join(directory, "x%d.zt" % i))
    return zt2(directory, {"t": dense(1, shard="s")}, shards={"s": {"size": len(data), "digest": "sha256:" + "0" * 64}})


@case
def zt2_hard_links_of_one_file(directory, size):
    return zt2_names_of_one_file(directory, size, os.link)


@case
def zt2_links_to_one_file(directory, size):
    return zt2_names_of_one_file(directory, size, lambda file, name: os.symlink(os.path.basename(file), name))


@case
def zt2_attributes_of_objects(directory, size):
    """Each has as many values as attributes may have."""
    many = 262000
    whole = max(1, size // many)
    part = size // whole
    return zt2(directory, {name(i): {**dense(1), "attributes": {"x": head(4, part) + bytes(part)}} for i in range(whole)})


@case
def zt2_small_attributes_of_objects(directory, size):
    one = {**dense(1), "attributes": {"a": [0, 0, 0, 0]}}
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case(allowed=True)
def zt2_digests_of_shared_bytes(directory, size):
    half = size // 2
    one = dense(half, digest="sha256:" + hashlib.sha256(bytes(half)).hexdigest())
    return zt2(directory, {name(i): one for i in range(half // len(cbor({"abc": one})))}, bytes(half))


@case
def zt2_wrong_digests_of_a_byte(directory, size):
    one = dense(1, digest="sha256:" + "0" * 64)
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case
def zt2_broken_objects(directory, size):
    one = {"layout": "dense", "shape": [9], "parts": {"data": part(1)}}
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case
def zt2_unknown_types(directory, size):
    one = {"layout": "dense", "shape": [1], "parts": {"data": {"blob": [PAGE, 1], "dtype": "u8", "type": "x"}}}
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case
def zt2_parts_of_unknown_encoding(directory, size):
    one = dense(1, encoding="x", decoded_length=1 << 40)
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case
def zt2_long_layouts(directory, size):
    """A layout of 1000 bytes, which every message names."""
    one = {"layout": "x." + "y" * 1000 + "/1", "shape": [1], "parts": {"data": part(1)}}
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case(allowed=True)
def zt2_one_long_layout(directory, size):
    one = {"layout": "x." + "y" * (size // 2) + "/1", "shape": [1], "parts": {name(i): part(1) for i in range(size // 60)}}
    return zt2(directory, {"t": one})


@case
def zt2_tables_of_frames(directory, size):
    """Seekable zstd: many frames of nothing, and a table of them."""
    frame = run_of_zeros(1)
    count = size // 2 // (len(frame) + 8)
    table = b"".join(struct.pack("<II", len(frame), 1) for _ in range(count)) + struct.pack("<IBI", count, 0, 0x8F92EAB1)
    data = frame * count + struct.pack("<II", 0x184D2A5E, len(table)) + table
    one = dense(len(data), elements=count, encoding="zt.zstd-seekable/1", decoded_length=count)
    return zt2(directory, {name(i): one for i in range(size // 2 // len(cbor({"abc": one})))}, data)


@case
def zt2_empty_objects(directory, size):
    one = {"layout": "dense", "shape": [1 << 40, 0], "parts": {"data": {"blob": [PAGE, 0], "dtype": "f32"}}}
    return zt2(directory, {name(i): one for i in range(size // len(cbor({"abc": one})))})


@case
def zt2_long_shard_names(directory, size):
    one = {"size": 8, "digest": "xxh3:" + "0" * 16}
    count = size // 1100
    return zt2(directory, {name(i): dense(1, shard="%07d" % (i % count) + "s" * 1000) for i in range(3)},
               shards={"%07d" % i + "s" * 1000: one for i in range(count)})
