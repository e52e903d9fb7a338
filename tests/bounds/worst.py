"""Files that ask for as much work as they can, one builder each, for every container.

A builder takes a directory and a number of bytes and writes a file, or a directory, of about that size; it returns the
path. What it is called says what is in it. Nothing here uses the library: a lying file is made byte by byte.
"""
import io
import json
import os
import struct
import zlib

CASES = {}  # name: (builder, verbs)
ALLOWED = set()  # those that use up an allowance which small files have as well: they need not grow with the file
VERBS = ("info", "ls", "verify", "hash")


def case(function=None, verbs=VERBS, allowed=False):
    if function is None:
        return lambda f: case(f, verbs, allowed)
    CASES[function.__name__] = (function, verbs)
    if allowed:
        ALLOWED.add(function.__name__)
    return function


def put(directory, name, *parts):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)
    return path


def repeated(item, size, separator=b","):
    """About `size` bytes of one item, again and again."""
    return separator.join([item] * max(1, size // (len(item) + len(separator))))


def numbered(form, size, separator=","):
    """The same with %d, which counts."""
    return separator.join(form % i for i in range(max(1, size // (len(form % 100000) + len(separator)))))


# ---- safetensors ----------------------------------------------------------------------------------------------------

TENSOR = '"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'


def safetensors(directory, header, data=b"\0", name="w.safetensors"):
    header = header.encode() if isinstance(header, str) else header
    return put(directory, name, struct.pack("<Q", len(header)), header, data)


def private(directory, tree):
    text = json.dumps({"__tare__": tree if isinstance(tree, str) else tree.decode()})
    return safetensors(directory, '{"__metadata__":%s,%s}' % (text, TENSOR))


@case
def safetensors_keys(directory, size):
    return safetensors(directory, '{"__metadata__":{%s},%s}' % (numbered('"key%08d":"v"', size), TENSOR))


@case
def safetensors_private_keys(directory, size):
    return private(directory, '{"tare":1,"metadata":{%s}}' % numbered('"key%08d":1', size - size // 5))


@case
def safetensors_private_zeros(directory, size):
    return private(directory, b'{"tare":1,"metadata":{"x":[' + repeated(b"0", size) + b"]}}")


@case
def safetensors_private_lists(directory, size):
    return private(directory, b'{"tare":1,"metadata":{"x":[' + repeated(b"[0]", size) + b"]}}")


@case
def safetensors_private_maps(directory, size):
    return private(directory, b'{"tare":1,"metadata":{"x":[' + repeated(b'{"a":0}', size - size // 3) + b"]}}")


@case
def safetensors_private_deep(directory, size):
    item = b"[" * 60 + b"]" * 60
    return private(directory, b'{"tare":1,"metadata":{"x":[' + repeated(item, size) + b"]}}")


@case
def safetensors_private_twice(directory, size):
    return private(directory, b'{"tare":1,"metadata":{' + repeated(b'"a":0', size - size // 3) + b"}}")


@case
def safetensors_private_attributes(directory, size):
    return private(directory, '{"tare":1,"attributes":{%s}}' % numbered('"key%08d":{"a":1}', size - size // 3))


@case
def safetensors_tensors(directory, size):
    return safetensors(directory, "{%s}" % numbered('"t%08d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size),
                       b"")


@case
def safetensors_same_name(directory, size):
    return safetensors(directory, b"{" + repeated(b'"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size) + b"}",
                       b"")


@case
def safetensors_unknown_fields(directory, size):
    return safetensors(directory, '{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],%s}}' %
                       numbered('"f%08d":0', size))


@case
def safetensors_dimensions(directory, size):
    return safetensors(directory, b'{"t":{"dtype":"U8","shape":[' + repeated(b"1", size) + b'],"data_offsets":[0,1]}}')


@case
def safetensors_long_name(directory, size):
    long = "n" * (size // 8)
    return safetensors(directory, '{"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},%s}' %
                       (long, numbered('"t%08d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size - len(long))),
                       b"")


def index(directory, metadata, weights):
    return put(directory, "model.safetensors.index.json", '{"metadata":{%s},"weight_map":{%s}}' % (metadata, weights))


@case
def index_keys(directory, size):
    safetensors(directory, "{%s}" % TENSOR, name="model-00001-of-00001.safetensors")
    return index(directory, numbered('"key%08d":"v"', size), '"t":"model-00001-of-00001.safetensors"')


@case
def index_same_key(directory, size):
    safetensors(directory, "{%s}" % TENSOR, name="model-00001-of-00001.safetensors")
    return index(directory, ",".join(['"k":1'] * (size // 6)), '"t":"model-00001-of-00001.safetensors"')


@case
def index_missing_shards(directory, size):
    count = size // 55
    weights = ",".join('"t%08d":"model-%07d-of-%07d.safetensors"' % (i, i + 1, count) for i in range(count))
    return index(directory, "", weights)


@case
def index_many_shards(directory, size):
    count = min(3000, size // 256)
    for i in range(count):
        safetensors(directory, '{"t%d":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}' % i,
                    name="m%d.safetensors" % i)
    return index(directory, "", ",".join('"t%d":"m%d.safetensors"' % (i, i) for i in range(count)))


@case
def index_keys_of_shards(directory, size):
    for i in (1, 2):
        text = '{"__metadata__":{%s},"t%d":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
        safetensors(directory, text % (numbered('"key%%08d":"%d"' % i, size // 2), i), name="m%d.safetensors" % i)
    return index(directory, "", '"t1":"m1.safetensors","t2":"m2.safetensors"')


@case
def index_extra_tensors(directory, size):
    entries = numbered('"x%08d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size)
    safetensors(directory, "{%s}" % entries, b"", name="m1.safetensors")
    return index(directory, "", '"t":"m1.safetensors"')


# ---- directories ----------------------------------------------------------------------------------------------------

def directory_with(directory, **files):
    home = os.path.join(directory, "model")
    safetensors(home, "{%s}" % TENSOR, name="model.safetensors")
    put(home, "config.json", files.pop("config", '{"model_type":"llama"}'))
    for name, text in files.items():
        put(home, name.replace("__", "."), text)
    return home


@case
def config_nan(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"NaN", size) + b"]}")


@case
def config_infinities(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"-Infinity", size) + b"]}")


@case
def config_keys(directory, size):
    return directory_with(directory, config='{"model_type":"llama",%s}' % numbered('"key%08d":1', size))


@case
def config_objects(directory, size):
    return directory_with(directory, config=b'{"model_type":"llama","x":[' + repeated(b"{}", size) + b"]}")


@case
def vocab_txt_line_feeds(directory, size):
    return directory_with(directory, vocab__txt=b"[UNK]" + b"\n" * size)


@case
def vocab_txt_words(directory, size):
    return directory_with(directory, vocab__txt=numbered("w%d", size, "\n"))


@case
def tokenizer_tokens(directory, size):
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % ",".join(
        '"w%08d":%d' % (i, i) for i in range(size // 18)))


@case
def tokenizer_merges(directory, size):
    return directory_with(
        directory, tokenizer__json='{"model":{"type":"BPE","vocab":{"a":0,"aa":1},"merges":[%s]}}' % ",".join(
            ['"a a"'] * (size // 6)))


@case
def tokenizer_added(directory, size):
    added = ",".join('{"id":%d,"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, tokenizer__json='{"added_tokens":[%s],"model":{"type":"BPE","vocab":{"a":0},'
                                                     '"merges":[]}}' % added)


@case
def tokenizer_far_ids(directory, size):
    vocab = ",".join('"w%d":%d' % (i, i * 1000) for i in range(size // 20))
    return directory_with(directory, tokenizer__json='{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % vocab)


@case
def tokenizer_config_added(directory, size):
    added = ",".join('"%d":{"content":"x%d","special":true}' % (i, i) for i in range(size // 45))
    return directory_with(directory, vocab__txt="a\nb\n",
                          tokenizer_config__json='{"added_tokens_decoder":{%s}}' % added)


@case
def tare_json_added(directory, size):
    home = os.path.join(directory, "model")
    put(home, "config.json", '{"model_type":"llama"}')
    safetensors(home, '{"__metadata__":{%s},%s}' % (numbered('"key%08d":"v"', size // 2), TENSOR),
                name="model.safetensors")
    put(home, "tare.json", '{"tare":1,"added":[%s]}' % numbered('"other%06d"', size // 2))
    return home


@case
def tare_json_made(directory, size):
    home = directory_with(directory)
    for i in range(min(1000, size // 1000)):
        put(home, "additional_chat_templates/%d.jinja" % i, "x")
    put(home, "tare.json", '{"tare":1,"made":[%s]}' % numbered('"other%06d"', size))
    return home


@case
def tare_json_zeros(directory, size):
    return directory_with(directory, tare__json=b'{"tare":1,"config":{"x":[' + repeated(b"0", size) + b"]}}")


# ---- zTensor --------------------------------------------------------------------------------------------------------

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
    """A zstd frame: blocks that are a byte and how often it stands there."""
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
    count = size // 13
    body = head(5, count) + b"".join(b"\x6a%010d\x01" % i for i in range(count))
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
def zt_tagged_keys(directory, size):
    count = size // 14
    return zt(directory, ONE, head(5, count) + b"".join(b"\x6a%010d\xc1\x01" % i for i in range(count)), b"\0")


@case
def zt_pieces_of_strings(directory, size):
    return zt(directory, ONE, {"x": b"\x7f" + b"\x61a" * (size // 2) + b"\xff"}, b"\0")


@case
def zt_many_pieces(directory, size):
    item = b"\x7f\x61a\xff"
    return zt(directory, ONE, {"x": head(4, size // 4) + item * (size // 4)}, b"\0")


@case
def zt_objects(directory, size):
    each = len(cbor("t00000000") + cbor(dense(0)))
    return zt(directory, {"t%08d" % i: dense(0) for i in range(size // each)})


@case
def zt_same_name(directory, size):
    item = cbor("t") + cbor(dense(0))
    return zt(directory, head(5, size // len(item)) + item * (size // len(item)))


@case
def zt_unknown_fields(directory, size):
    count = size // 13
    return zt(directory, {"t": head(5, 3 + count) + b"".join(cbor(k) + cbor(v) for k, v in dense(1).items()) +
                          b"".join(b"\x6a%010d\x01" % i for i in range(count))}, None, b"\0")


@case
def zt_components(directory, size):
    each = len(cbor("c00000000") + cbor(component("u8", 64, 0)))
    parts = {"c%08d" % i: component("u8", 64, 0) for i in range(size // each)}
    return zt(directory, {"t": {"shape": [1], "format": "x.custom", "components": parts}})


@case(allowed=True)
def zt_shared_bytes(directory, size):
    """Tensors that are all of the same bytes, half the file."""
    each = len(cbor("t00000000") + cbor(dense(size // 2)))
    return zt(directory, {"t%08d" % i: dense(size // 2) for i in range(size // 2 // each)}, None, bytes(size // 2))


@case
def zt_zstd_zeros(directory, size):
    frame = run_of_zeros(size * 30 + (200 << 20))
    return zt(directory, {"t": dense(len(frame), uncompressed_length=size * 30 + (200 << 20), encoding="zstd")}, None,
              frame + bytes(size - len(frame)) if len(frame) < size else frame)


@case(allowed=True)
def zt_zstd_shared(directory, size):
    frame = run_of_zeros(1 << 28)
    item = dense(len(frame), uncompressed_length=1 << 28, encoding="zstd")
    each = len(cbor("t00000000") + cbor(item))
    return zt(directory, {"t%08d" % i: item for i in range(size // each)}, None, frame)


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
    each = len(cbor("t00000000") + cbor(item))
    return zt(directory, {"t%08d" % i: item for i in range(size // 2 // each)}, None, frame)


@case
def zt_zstd_small_frames(directory, size):
    frame = struct.pack("<IBB", 0xFD2FB528, 0x20, 1) + b"\x0b\0\0" + b"\0"  # one zero
    count = size // len(frame)
    return zt(directory, {"t": dense(count * len(frame), uncompressed_length=count, encoding="zstd")}, None,
              frame * count)


def unmeasured(directory, size, frame):
    """A 1.1 file, which does not say what frames decode to: suffixes of one long row of them."""
    rest = -(len(frame) + 8) % 64
    frame += struct.pack("<II", 0x184D2A50, rest) + bytes(rest)  # a frame to be skipped
    count = size // 2 // len(frame)
    data = frame * count
    objects = {}
    for i in range(min(count, size // 2 // 100)):
        offset = 64 + i * len(frame)
        objects["t%08d" % i] = {"shape": [1], "format": "x.custom", "components": {
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


@case(verbs=("info", "ls", "verify", "hash", "show"))
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


# ---- NumPy ----------------------------------------------------------------------------------------------------------

def deflate(parts):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    crc, length, out = 0, 0, []
    for part in parts:
        crc = zlib.crc32(part, crc)
        length += len(part)
        out.append(packer.compress(part))
    out.append(packer.flush())
    return crc, length, b"".join(out)


def archive(directory, members):
    """members: [(name, (crc, length, packed bytes))]."""
    out, listing = io.BytesIO(), []
    for name, (crc, length, packed) in members:
        fields = struct.pack("<HHHHHIIIHH", 20, 0x800, 8, 0, 0x21, crc, len(packed), length, len(name), 0)
        listing.append(struct.pack("<IH", 0x02014B50, 20) + fields +
                       struct.pack("<HHHII", 0, 0, 0, 0, out.tell()) + name)
        out.write(b"PK\3\4" + fields + name + packed)
    start = out.tell()
    for entry in listing:
        out.write(entry)
    count = min(len(members), 0xFFFF)
    if len(members) > 0xFFFF:
        end = out.tell()
        out.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(members), len(members), end - start,
                              start))
        out.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    else:
        out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, out.tell() - start, start, 0))
    return put(directory, "w.npz", out.getvalue())


def npy_header(descr="|u1", shape="(1,)", fortran=False, least=0):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    text += " " * max((-len(text) - 13) % 64, least - len(text)) + "\n"
    return b"\x93NUMPY\2\0" + struct.pack("<I", len(text)) + text.encode()


ARRAY = (b"t.npy", deflate([npy_header(), b"\0"]))


def zeros(size):
    while size > 0:
        part = min(size, 1 << 20)
        yield bytes(part)
        size -= part


def deflated_zeros(directory, size, header, file_size):
    """With a member beside it that does not shrink: what the array may inflate to goes by the whole file."""
    member = deflate([header, *zeros(size)])
    rest = bytes(max(0, file_size - len(member[2])))
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    return archive(directory, [(b"t.npy", member),
                               (b"x", (zlib.crc32(rest), len(rest), packer.compress(rest) + packer.flush()))])


def inflated(size):
    """As much as a file of that size is allowed, and not more than deflate can do."""
    return min(size * 900, (256 << 20) + 30 * size)


@case
def npz_private_zeros(directory, size):
    text = b'{"tare":1,"metadata":{"x":[' + b"0," * min(16 << 20, size * 400) + b"0]}}"
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text])), (b"x", (0, 0, b"\3\0"))])


@case
def npz_private_keys(directory, size):
    text = '{"tare":1,"metadata":{%s}}' % numbered('"key%08d":1', min(30 << 20, size * 4))
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text.encode()]))])


@case
def npz_dimensions(directory, size):
    member = deflate([npy_header(shape="(" + "1," * 500000 + ")"), b"\0"])
    return archive(directory, [(b"t%d.npy" % i, member) for i in range(max(1, size // (len(member[2]) + 120)))])


@case
def npz_long_headers(directory, size):
    member = deflate([npy_header(least=1000000), b"\0"])
    return archive(directory, [(b"t%d.npy" % i, member) for i in range(max(1, size // (len(member[2]) + 120)))])


@case
def npz_members(directory, size):
    return archive(directory, [(b"t%07d.npy" % i, ARRAY[1]) for i in range(size // (len(ARRAY[1][2]) + 100))])


@case
def npz_same_name(directory, size):
    return archive(directory, [ARRAY] * (size // (len(ARRAY[1][2]) + 100)))


@case
def npz_attachments(directory, size):
    return archive(directory, [ARRAY] + [(b"a%07d" % i, (0, 0, b"\3\0")) for i in range(size // 96)])


@case
def npz_deflated(directory, size):
    return deflated_zeros(directory, inflated(size), npy_header(shape="(%d,)" % inflated(size)), size)


@case
def npz_fortran_square(directory, size):
    rows = int(inflated(size) ** 0.5)
    return deflated_zeros(directory, rows * rows, npy_header(shape="(%d, %d)" % (rows, rows), fortran=True), size)


@case
def npz_fortran_wide(directory, size):
    columns = inflated(size) // 3
    return deflated_zeros(directory, 3 * columns, npy_header(shape="(3, %d)" % columns, fortran=True), size)


@case
def npz_fortran_axes(directory, size):
    """Twenty-eight axes of two."""
    axes = inflated(size).bit_length() - 1
    return deflated_zeros(directory, 1 << axes, npy_header(shape="(%s)" % ("2," * axes), fortran=True), size)


@case
def npy_dimensions(directory, size):
    return put(directory, "w.npy", npy_header(shape="(" + "1," * (min(size, 1000000) // 2) + ")"), b"\0")


# ---- MCF ------------------------------------------------------------------------------------------------------------

def align8(data):
    return data + bytes(-len(data) % 8)


def mcf(directory, sections):
    out, listing = bytearray(40), b""
    for kind, data in sections:
        data = data(len(out)) if callable(data) else data
        listing += struct.pack("<IIQQ", kind, 1, len(out), len(data))
        out += align8(bytes(data))
    at = len(out)
    out += listing
    struct.pack_into("<4sHHIIQQQ", out, 0, b"MCF\0", 1, 1, 40, len(sections), at, len(out), 1)
    return put(directory, "w.mcf", bytes(out))


def mcf_info(pairs, strings):
    """pairs: [(offset of the key, offset of the text)], of strings that begin at 88."""
    body = bytearray(88) + align8(strings)
    struct.pack_into("<I", body, 0, 1)
    struct.pack_into("<IIQ", body, 72, len(pairs), 0, len(body))
    return bytes(body) + b"".join(struct.pack("<QIIQ", key, 3, 0, text) for key, text in pairs)


def mcf_string(text):
    return align8(struct.pack("<I", len(text)) + text)


@case
def mcf_keys(directory, size):
    strings, pairs = mcf_string(b"v"), []
    for i in range(size // 40):
        pairs.append((88 + len(strings) if not pairs else pairs[-1][0] + 16, 88))
    strings += b"".join(mcf_string(b"k%09d" % i) for i in range(len(pairs)))
    return mcf(directory, [(1, mcf_info(pairs, strings))])


@case
def mcf_same_key(directory, size):
    strings = mcf_string(b"key") + mcf_string(b"v")
    return mcf(directory, [(1, mcf_info([(88, 96)] * (size // 24), strings))])


@case
def mcf_shared_trees(directory, size):
    """Texts that lie upon each other, each a tree of zeros: [0,0,...]."""
    tree = b'{"x":[' + b"0," * (size // 2) + b"0]}"
    strings, pairs = mcf_string(tree), []
    for i in range(3):
        pairs.append((88 + len(strings), 88))
        strings += mcf_string(b"tare.attributes.t%d" % i)
    return mcf(directory, [(1, mcf_info(pairs, strings))])


@case
def mcf_zeros(directory, size):
    text = mcf_string(b'{"x":[' + b"0," * (size // 2) + b"0]}")
    return mcf(directory, [(1, mcf_info([(88 + len(text), 88)], text + mcf_string(b"tare.metadata")))])


def mcf_tensors(count, rank, name):
    def made(at):
        names = b"".join(name(i) for i in range(count))
        each = len(name(0))
        table = b"".join(struct.pack("<IIIIIIQQ", i * each % max(1, len(names)), each, 6, rank, 0, 0, at_data, 0)
                         for i in range(count))
        dims = struct.pack("<%dQ" % rank, *([0] * rank))
        return struct.pack("<IIIIQQQQ", 1, 0, count, rank, 48, 48 + len(table), 48 + len(table) + len(dims),
                           len(names)) + table + dims + names
    at_data = 40
    return [(4, bytes(64)), (3, made)]


@case
def mcf_dimensions(directory, size):
    return mcf(directory, mcf_tensors(size // 49, 64, lambda i: b"t%08d" % i))


@case
def mcf_same_name(directory, size):
    return mcf(directory, mcf_tensors(size // 41, 1, lambda i: b"t"))


# ---- ALT, Tiny Llama ------------------------------------------------------------------------------------------------

def alt_section(marker, fields):
    total = 16 + len(fields) + -(16 + len(fields)) % 32
    return struct.pack("<qq", marker, total) + fields + bytes(total - 16 - len(fields))


def alt(directory, tokens=b"", count=0, records=b"", tensors=0, dimensions=0):
    empty = struct.pack("<i", 0)
    parameters = empty + struct.pack("<?iiiiiii", False, 0, 0, 0, 0, 0, 0, 0) + struct.pack("<fffi", 0, 0, 0, 0)
    return put(directory, "w.alt", alt_section(0x616C7400, struct.pack("<ii", 2, 32)),
               alt_section(0xCAFEBABE, empty * 7), alt_section(0xDEADBEEF, parameters),
               alt_section(0xBADDCAFE, struct.pack("<iiiiii", count, -1, -1, -1, -1, 0) + tokens),
               alt_section(0xFACEFEED, struct.pack("<qqii", tensors, dimensions, 0, tensors) + records),
               struct.pack("<q", 0x0FFFFFFF))


@case
def alt_tokens(directory, size):
    token = struct.pack("<ifi", 0, 0.0, 0)
    return alt(directory, token * (size // 12), size // 12)


def alt_record(name, dims=(0,)):
    return (struct.pack("<iiiii", 4, -4, 0, 0, len(dims)) + struct.pack("<%di" % len(dims), *dims) +
            struct.pack("<i", len(name)) + name + struct.pack("<ifffb", 0, 0, 0, 0, 0))


@case
def alt_tensors(directory, size):
    count = size // len(alt_record(b"t00000000"))
    return alt(directory, records=b"".join(alt_record(b"t%08d" % i) for i in range(count)), tensors=count,
               dimensions=count)


@case
def alt_same_name(directory, size):
    count = size // len(alt_record(b"t"))
    return alt(directory, records=alt_record(b"t") * count, tensors=count, dimensions=count)


@case
def alt_dimensions(directory, size):
    dims = (0,) * 64
    count = size // len(alt_record(b"t00000000", dims))
    return alt(directory, records=b"".join(alt_record(b"t%08d" % i, dims) for i in range(count)), tensors=count,
               dimensions=64 * count)


@case
def alt1_tokens(directory, size):
    fields = struct.pack("<i6iffiii", 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0, 0, 0)
    count = size // 4

    def section(marker, body):
        whole = struct.pack("<qq", marker, 16 + len(body)) + body
        return whole + bytes(-len(whole) % 32)
    return put(directory, "w.alt", struct.pack("<i28x", 0x616C7463), section(0xDEADBEEF, fields),
               section(0xBADDCAFE, struct.pack("<iiiii", count, -1, -1, -1, -1) + bytes(4 * count)),
               section(0xFACEFEED, struct.pack("<qq", 0, 0)), struct.pack("<i", 0x0FFFFFFF))


@case
def tllm_layers(directory, size):
    def matrix():
        return struct.pack("<QQf", 1, 1, 0.0)

    def vector():
        return struct.pack("<Qf", 1, 0.0)
    layer = matrix() * 5 + vector() + matrix() + vector() * 5
    count = size // len(layer)
    return put(directory, "w.tllm", struct.pack("<IIiiiiiif", 0x544C4C4D, 1, 1, count, 1, 1, 1, 1, 0.0), matrix() * 2,
               layer * count, matrix())
