import hashlib
import io
import struct

from verbs import BACKWARDS
from worst.common import case, name, put

ZT = b"ZTEN1000"


def head(major, value):
    for info, form, limit in ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64)):
        if value < 24:
            return bytes([major << 5 | value])
        if value < limit:
            return bytes([major << 5 | info]) + struct.pack(form, value)


def cbor(value):
    if isinstance(value, bytes):
        return value  # encoded already
    if isinstance(value, int):
        return head(0, value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())


def zt(directory, objects, attributes=None, data=b"", version="1.2.0"):
    root = {"version": version}
    if attributes is not None:
        root["attributes"] = attributes
    root["objects"] = objects
    body = cbor(root)
    data = ZT + bytes(56) + data
    return put(directory, "w.zt", data, bytes(-len(data) % 64), body, struct.pack("<Q", len(body)), ZT)


def component(dtype, offset, length, **more):
    return {"dtype": dtype, "offset": offset, "length": length, **more}


def dense(length, offset=64, **more):
    return {"shape": [more.get("uncompressed_length", length)], "format": "dense",
            "components": {"data": component("u8", offset, length, **more)}}


ONE = {"t": dense(1)}


def run_of_zeros(size, block=1 << 17, content=True, window=23):
    """A zstd frame: blocks of a byte and how often it is repeated."""
    out = io.BytesIO()
    out.write(struct.pack("<IBB", 0xFD2FB528, 0xC0 if content else 0, (window - 10) << 3))
    if content:
        out.write(struct.pack("<Q", size))
    while True:
        part = min(block, size)
        size -= part
        out.write(struct.pack("<I", part << 3 | 1 << 1 | (size == 0))[:3] + b"\0")
        if size == 0:
            return out.getvalue()


def empty_blocks(size):
    """A zstd frame of nothing: raw blocks of no bytes."""
    return (struct.pack("<IBBQ", 0xFD2FB528, 0xC0, 13 << 3, 0) + b"\0\0\0" * (size // 3) + b"\1\0\0")


@case
def zt_keys(directory, size):
    count = size // 6
    body = head(5, count) + b"".join(cbor(name(i)) + b"\1" for i in range(count))
    return zt(directory, ONE, body, b"\0")


@case
def zt_zeros(directory, size):
    return zt(directory, ONE, {"x": head(4, size) + bytes(size)}, b"\0")


@case
def zt_lists(directory, size):
    return zt(directory, ONE, {"x": head(4, size // 2) + b"\x81\0" * (size // 2)}, b"\0")


@case
def zt_maps(directory, size):
    return zt(directory, ONE, {"x": head(4, size // 4) + b"\xa1\x61a\0" * (size // 4)}, b"\0")


@case
def zt_deep(directory, size):
    return zt(directory, ONE, {"x": head(4, size // 58) + (b"\x81" * 57 + b"\0") * (size // 58)}, b"\0")


@case
def zt_same_key(directory, size):
    return zt(directory, ONE, head(5, size // 3) + b"\x61a\0" * (size // 3), b"\0")


@case
def zt_tags(directory, size):
    return zt(directory, ONE, {"x": b"\xc1" * size + b"\0"}, b"\0")


@case
def zt_tagged_values(directory, size):
    return zt(directory, ONE, {"x": head(4, size // 2) + b"\xc1\0" * (size // 2)}, b"\0")


@case
def zt_attachments(directory, size):
    count = size // 6
    files = head(5, count) + b"".join(cbor(name(i)) + b"\x40" for i in range(count))
    return zt(directory, ONE, {"tare.attachments": files}, b"\0")


@case
def zt_tagged_keys(directory, size):
    count = size // 6
    return zt(directory, ONE, head(5, count) + b"".join(cbor(name(i)) + b"\xc1\1" for i in range(count)), b"\0")


@case
def zt_pieces_of_strings(directory, size):
    return zt(directory, ONE, {"x": b"\x7f" + b"\x61a" * (size // 2) + b"\xff"}, b"\0")


@case
def zt_many_pieces(directory, size):
    item = b"\x7f\x61a\xff"
    return zt(directory, ONE, {"x": head(4, size // 4) + item * (size // 4)}, b"\0")


@case
def zt_objects(directory, size):
    each = len(cbor("abc") + cbor(dense(0)))
    return zt(directory, {name(i): dense(0) for i in range(size // each)})


@case
def zt_same_name(directory, size):
    item = cbor("t") + cbor(dense(0))
    return zt(directory, head(5, size // len(item)) + item * (size // len(item)))


@case
def zt_unknown_fields(directory, size):
    count = size // 6
    return zt(directory, {"t": head(5, 3 + count) + b"".join(cbor(k) + cbor(v) for k, v in dense(1).items()) +
                          b"".join(cbor(name(i)) + b"\1" for i in range(count))}, None, b"\0")


@case
def zt_components(directory, size):
    each = len(cbor("abc") + cbor(component("u8", 64, 0)))
    parts = {name(i): component("u8", 64, 0) for i in range(size // each)}
    return zt(directory, {"t": {"shape": [1], "format": "x.custom", "components": parts}})


@case(allowed=True)
def zt_shared_bytes(directory, size):
    """Tensors that are all of the same bytes, half the file."""
    each = len(cbor("abc") + cbor(dense(size // 2)))
    return zt(directory, {name(i): dense(size // 2) for i in range(size // 2 // each)}, None, bytes(size // 2))


@case
def zt_zstd_zeros(directory, size):
    frame = run_of_zeros(size * 30 + (200 << 20))
    return zt(directory, {"t": dense(len(frame), uncompressed_length=size * 30 + (200 << 20), encoding="zstd")}, None,
              frame + bytes(size - len(frame)) if len(frame) < size else frame)


@case(verbs=BACKWARDS)
def zt_zstd_rows(directory, size):
    rows = (size * 31 + (16 << 20)) // 4096
    frame = run_of_zeros(rows * 4096)
    item = {"shape": [rows, 2048], "format": "dense",
            "components": {"data": component("f16", 64, len(frame), uncompressed_length=rows * 4096, encoding="zstd")}}
    return zt(directory, {"t": item}, None, frame + bytes(max(0, size - len(frame))))


TALL = ("report", "report itself", "report other", "verify", "show", "convert gguf", "quantize zt", "quantize zt2")


def decoded_bytes(size):
    """What a file of that size may decode to."""
    return size * 30 + (15 << 20)


@case(allowed=True, verbs=TALL)
def zt_zstd_one_column(directory, size):
    rows = decoded_bytes(size)
    frame = run_of_zeros(rows)
    item = {"shape": [rows, 1], "format": "dense",
            "components": {"data": component("u8", 64, len(frame), uncompressed_length=rows, encoding="zstd")}}
    return zt(directory, {"t": item}, None, frame + bytes(max(0, size - len(frame))))


@case(allowed=True, verbs=("report itself",), quick=False, called="zt_groups_of_one_column_twice")
@case(allowed=True, verbs=[verb for verb in TALL if verb != "report itself"])
def zt_groups_of_one_column(directory, size):
    """Each row is a word, a scale and a zero point of its own."""
    rows = decoded_bytes(size) // 8
    frames = [run_of_zeros(rows * width) for width in (4, 2, 2)]
    parts, data = {}, b""
    for role, dtype, width, frame in zip(("packed_weight", "scales", "zeros"), ("i32", "f16", "f16"), (4, 2, 2), frames):
        parts[role] = component(dtype, 64 + len(data), len(frame), uncompressed_length=rows * width, encoding="zstd")
        data += frame + bytes(-len(frame) % 64)
    item = {"shape": [rows, 1], "format": "quantized_group", "components": parts,
            "attributes": {"bits": 2, "group_size": 1, "packing": "16_per_i32"}}
    return zt(directory, {"t": item}, None, data + bytes(max(0, size - len(data))))


@case(allowed=True)
def zt_zstd_shared(directory, size):
    frame = run_of_zeros(1 << 28)
    item = dense(len(frame), uncompressed_length=1 << 28, encoding="zstd")
    each = len(cbor("abc") + cbor(item))
    return zt(directory, {name(i): item for i in range(size // each)}, None, frame)


@case
def zt_zstd_windows(directory, size):
    """Frames that each ask for a decoder with 128 MiB."""
    frame = run_of_zeros(150 << 20, window=27)
    length = len(frame)
    frame += bytes(-length % 64)
    objects = {"t%d" % i: dense(length, 64 + i * len(frame), uncompressed_length=150 << 20, encoding="zstd")
               for i in range(2)}
    return zt(directory, objects, {"x": head(2, size) + bytes(size)}, frame * 2)


@case
def zt_zstd_empty_blocks(directory, size):
    frame = empty_blocks(size)
    return zt(directory, {"t": dense(len(frame), uncompressed_length=0, encoding="zstd")}, None, frame)


@case(allowed=True)
def zt_zstd_empty_blocks_shared(directory, size):
    frame = empty_blocks(size // 2)
    item = dense(len(frame), uncompressed_length=0, encoding="zstd")
    each = len(cbor("abc") + cbor(item))
    return zt(directory, {name(i): item for i in range(size // 2 // each)}, None, frame)


@case
def zt_zstd_small_frames(directory, size):
    frame = struct.pack("<IBB", 0xFD2FB528, 0x20, 1) + b"\x0b\0\0" + b"\0"  # one zero
    count = size // len(frame)
    return zt(directory, {"t": dense(count * len(frame), uncompressed_length=count, encoding="zstd")}, None,
              frame * count)


def unmeasured(directory, size, frame):
    """A 1.1 file, which does not state what frames decode to: suffixes of one long row of them."""
    rest = -(len(frame) + 8) % 64
    frame += struct.pack("<II", 0x184D2A50, rest) + bytes(rest)  # a frame to be skipped
    count = size // 2 // len(frame)
    data = frame * count
    objects = {}
    for i in range(min(count, size // 2 // 100)):
        offset = 64 + i * len(frame)
        objects[name(i)] = {"shape": [1], "format": "x.custom", "components": {
            "data": component("u8", offset, len(data) - i * len(frame), encoding="zstd")}}
    return zt(directory, objects, None, data, "1.1.0")


@case(allowed=True)
def zt_unmeasured_fails(directory, size):
    return unmeasured(directory, size, run_of_zeros(64 << 20, content=False)[:-4] + b"\xff\xff\xff\xff")


@case(allowed=True)
def zt_unmeasured_nothing(directory, size):
    return unmeasured(directory, size, empty_blocks(48))


@case
def zt_sparse_rows(directory, size):
    """One entry, rows of 128 MiB."""
    columns = 1 << 25
    data = struct.pack("<f60xQ56xQQ", 1.0, 0, 0, 1)
    return zt(directory, {"t": {"shape": [1, columns], "format": "sparse_csr", "components": {
        "values": component("f32", 64, 4), "indices": component("u64", 128, 8),
        "indptr": component("u64", 192, 16)}}}, {"x": head(2, size) + bytes(size)}, data)


def coo(directory, places, elements, **more):
    data = struct.pack("<%df" % len(places), *([1.0] * len(places)))
    data += bytes(-len(data) % 64)
    coords = struct.pack("<%dQ" % len(places), *places)
    return zt(directory, {"t": {"shape": [elements], "format": "sparse_coo", "components": {
        "values": component("f32", 64, 4 * len(places)),
        "coords": component("u64", 64 + len(data), len(coords))}}}, None, data + coords)


@case
def zt_coo_unordered(directory, size):
    count, elements = size // 12, 1 << 24
    return coo(directory, [i * 7919 % elements for i in range(count)], elements)


@case
def zt_coo_same_place(directory, size):
    count = size // 12
    return coo(directory, [5] * (count - 1) + [4], 1 << 20)


@case
def zt_coo_packed_dimensions(directory, size):
    """Coordinates of 64 dimensions in one packed frame."""
    entries = 100000
    frame = run_of_zeros(64 * 8 * entries)
    data = struct.pack("<%db" % entries, *([1] * entries))
    data += bytes(-len(data) % 64)
    return zt(directory, {"t": {"shape": [2] * 64, "format": "sparse_coo", "components": {
        "values": component("i8", 64, entries),
        "coords": component("u64", 64 + len(data), len(frame), encoding="zstd",
                            uncompressed_length=64 * 8 * entries)}}}, {"x": head(2, size) + bytes(size)}, data + frame)


@case
def zt_broken_components_of_a_long_name(directory, size):
    """An object whose name is half the file, and components of a type that does not exist."""
    one = component("x", 64, 0)
    parts = {name(i): one for i in range(size // 2 // len(cbor("abc") + cbor(one)))}
    return zt(directory, {"n" * (size // 2): {"shape": [1], "format": "dense", "components": parts}})


@case
def zt_components_beyond_the_end_of_a_long_name(directory, size):
    one = component("u8", 64 << 30, 1)
    parts = {name(i): one for i in range(size // 2 // len(cbor("abc") + cbor(one)))}
    return zt(directory, {"n" * (size // 2): {"shape": [1], "format": "x.custom", "components": parts}})


@case
def zt_broken_objects(directory, size):
    one = {"shape": [1], "format": "dense", "components": {"data": component("x", 64, 0)}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))})


@case
def zt_wrong_sizes(directory, size):
    """Every object has another size than its shape has."""
    one = {"shape": [9], "format": "dense", "components": {"data": component("u8", 64, 1)}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))}, None, b"\0")


@case
def zt_attributes_of_objects(directory, size):
    """Each has as many values as attributes may have."""
    many = 262000
    whole = max(1, size // many)
    part = size // whole
    return zt(directory, {name(i): {**dense(1), "attributes": {"x": head(4, part) + bytes(part)}} for i in range(whole)}, None,
              b"\0")


@case
def zt_small_attributes_of_objects(directory, size):
    one = {**dense(1), "attributes": {"a": [0, 0, 0, 0]}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))}, None, b"\0")


@case(allowed=True)
def zt_digests_of_shared_bytes(directory, size):
    """Tensors that are all of the same bytes, each with its digest."""
    half = size // 2
    one = dense(half, digest="sha256:" + hashlib.sha256(bytes(half)).hexdigest())
    return zt(directory, {name(i): one for i in range(half // len(cbor("abc") + cbor(one)))}, None, bytes(half))


@case
def zt_wrong_digests_of_a_byte(directory, size):
    one = dense(1, digest="sha256:" + "0" * 64)
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))}, None, b"\0")


@case
def zt_rows_that_are_empty(directory, size):
    """Sparse matrices of nothing with 2^40 columns, by the thousand."""
    one = {"shape": [0, 1 << 40], "format": "sparse_csr", "components": {
        "values": component("f32", 64, 0), "indices": component("u64", 64, 0), "indptr": component("u64", 64, 8)}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))}, None, bytes(8))


@case
def zt_coo_of_nothing(directory, size):
    """Sparse tensors without an entry, of 16 million zeros each."""
    one = {"shape": [1 << 24], "format": "sparse_coo", "components": {
        "values": component("f32", 64, 0), "coords": component("u64", 64, 0)}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))})


@case
def zt_one_coo_again(directory, size):
    """Sparse tensors of the same places, which have to be sorted."""
    count = size // 48
    places = struct.pack("<%dQ" % count, *(i * 7919 % (1 << 24) for i in range(count)))
    values = struct.pack("<f", 1.0) * count
    values += bytes(-len(values) % 64)
    one = {"shape": [1 << 24], "format": "sparse_coo", "components": {
        "values": component("f32", 64, 4 * count), "coords": component("u64", 64 + len(values), 8 * count)}}
    return zt(directory, {name(i): one for i in range(size // 2 // len(cbor("abc") + cbor(one)))}, None, values + places)


@case
def zt_groups_of_nothing(directory, size):
    one = {"shape": [1 << 40, 0], "format": "quantized_group", "attributes": {"bits": 4, "group_size": 32}, "components": {
        "packed_weight": component("u32", 64, 0), "scales": component("f16", 64, 0), "zeros": component("f16", 64, 0)}}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))})


@case
def zt_dense_of_nothing(directory, size):
    """Tensors of 2^62 rows without columns, some of which other programs know."""
    names = ["model.embed_tokens.weight", "lm_head.weight"] + [
        "model.layers.%d.%s.weight" % (i, part) for i in range(size // 500)
        for part in ("self_attn.q_proj", "self_attn.k_proj", "mlp.up_proj", "input_layernorm")]
    one = {"shape": [1 << 40, 0], "format": "dense", "components": {"data": component("f32", 64, 0)}}
    return zt(directory, {n: one for n in names})


@case
def zt_vocabulary(directory, size):
    """In Tare's own attribute."""
    count = size // 6
    tokens = head(4, count) + b"".join(cbor(name(i)) for i in range(count))
    return zt(directory, ONE, {"tare.vocabulary": {"tokens": tokens}}, b"\0")


@case
def zt_packed_vocabulary(directory, size):
    """The same as one byte string: merges without bytes."""
    merges = bytes(8 * (size // 8))
    special = head(1, 0)  # -1
    parts = {"kind": "bpe", "bos": special, "eos": special, "pad": special, "unk": special, "tokens": [], "scores": [],
             "types": [], "merges": head(2, len(merges)) + merges}
    return zt(directory, ONE, {"tare.vocabulary": parts}, b"\0")


@case
def zt_wrong_attributes(directory, size):
    """Objects whose attributes are not a map."""
    one = {**dense(1), "attributes": 1}
    return zt(directory, {name(i): one for i in range(size // len(cbor("abc") + cbor(one)))}, None, b"\0")


@case
def zt_unknown_fields_of_a_long_name(directory, size):
    """An object whose name is half the file, with unknown fields."""
    count = size // 2 // 6
    return zt(directory, {"n" * (size // 2): head(5, 3 + count) + b"".join(cbor(k) + cbor(v) for k, v in dense(1).items()) +
                          b"".join(cbor(name(i) + ".") + b"\1" for i in range(count))}, None, b"\0")


@case
def zt_unknown_fields_of_a_component(directory, size):
    count = size // 2 // 6
    fields = head(5, 3 + count) + b"".join(cbor(k) + cbor(v) for k, v in component("u8", 64, 1).items()) + b"".join(
        cbor(name(i) + ".") + b"\1" for i in range(count))
    return zt(directory, {"n" * (size // 2): {"shape": [1], "format": "dense", "components": {"data": fields}}}, None, b"\0")


@case
def zt_broken_beside_nan(directory, size):
    """Errors of the reader, and warnings about the data of others: the ones are compared with the others."""
    bad = {"shape": [1], "format": "dense", "components": {"data": component("x", 64, 0)}}
    nan = {"shape": [1], "format": "dense", "components": {"data": component("f32", 64, 4)}}
    count = size // 2 // len(cbor("abc") + cbor(nan))
    return zt(directory, {**{"b" + name(i): bad for i in range(min(900, count))}, **{"n" + name(i): nan for i in range(count)}}, None,
              b"\0\0\xc0\x7f")


@case
def zt_nan(directory, size):
    nan = {"shape": [1], "format": "dense", "components": {"data": component("f32", 64, 4)}}
    return zt(directory, {name(i): nan for i in range(size // len(cbor("abc") + cbor(nan)))}, None, b"\0\0\xc0\x7f")


@case
def zt_wrong_sizes_of_long_names(directory, size):
    one = {"shape": [9], "format": "dense", "components": {"data": component("u8", 64, 1)}}
    return zt(directory, {name(i) + "n" * 3000: one for i in range(size // 3100)}, None, b"\0")


@case
def zt_gaps(directory, size):
    """Bytes between components that are not zero: each is a finding."""
    one = len(cbor("abc") + cbor(dense(1, 1 << 20)))
    count = size // (one + 64)
    return zt(directory, {name(i): dense(1, 64 + 64 * i) for i in range(count)}, None, b"\1" * (64 * count))
