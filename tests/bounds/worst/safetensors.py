import json
import struct

from worst.common import case, name, numbered, put, repeated

TENSOR = '"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'


def safetensors(directory, header, data=b"\0", name="w.safetensors"):
    header = header.encode() if isinstance(header, str) else header
    return put(directory, name, struct.pack("<Q", len(header)), header, data)


def private(directory, tree):
    text = json.dumps({"__tare__": tree if isinstance(tree, str) else tree.decode()})
    return safetensors(directory, '{"__metadata__":%s,%s}' % (text, TENSOR))


@case
def safetensors_keys(directory, size):
    return safetensors(directory, '{"__metadata__":{%s},%s}' % (numbered('"%s":"v"', size), TENSOR))


@case
def safetensors_private_keys(directory, size):
    return private(directory, '{"tare":1,"metadata":{%s}}' % numbered('"%s":1', size - size // 5))


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
    return private(directory, '{"tare":1,"attributes":{%s}}' % numbered('"%s":{"a":1}', size - size // 3))


@case
def safetensors_tensors(directory, size):
    return safetensors(directory, "{%s}" % numbered('"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size),
                       b"")


@case
def safetensors_same_name(directory, size):
    return safetensors(directory, b"{" + repeated(b'"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size) + b"}",
                       b"")


@case
def safetensors_unknown_fields(directory, size):
    return safetensors(directory, '{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],%s}}' %
                       numbered('"%s":0', size))


@case
def safetensors_dimensions(directory, size):
    return safetensors(directory, b'{"t":{"dtype":"U8","shape":[' + repeated(b"1", size) + b'],"data_offsets":[0,1]}}')


@case
def safetensors_long_name(directory, size):
    long = "n" * (size // 8)
    return safetensors(directory, '{"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},%s}' %
                       (long, numbered('"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size - len(long))),
                       b"")


def index(directory, metadata, weights):
    return put(directory, "model.safetensors.index.json", '{"metadata":{%s},"weight_map":{%s}}' % (metadata, weights))


@case
def index_keys(directory, size):
    safetensors(directory, "{%s}" % TENSOR, name="model-00001-of-00001.safetensors")
    return index(directory, numbered('"%s":"v"', size), '"t":"model-00001-of-00001.safetensors"')


@case
def index_same_key(directory, size):
    safetensors(directory, "{%s}" % TENSOR, name="model-00001-of-00001.safetensors")
    return index(directory, ",".join(['"k":1'] * (size // 6)), '"t":"model-00001-of-00001.safetensors"')


@case
def index_missing_shards(directory, size):
    count = size // 49
    weights = ",".join('"%s":"model-%07d-of-%07d.safetensors"' % (name(i), i + 1, count) for i in range(count))
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
        safetensors(directory, text % (numbered('"%%s":"%d"' % i, size // 2), i), name="m%d.safetensors" % i)
    return index(directory, "", '"t1":"m1.safetensors","t2":"m2.safetensors"')


@case
def index_extra_tensors(directory, size):
    entries = numbered('"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}', size)
    safetensors(directory, "{%s}" % entries, b"", name="m1.safetensors")
    return index(directory, "", '"t":"m1.safetensors"')


@case
def safetensors_unknown_fields_of_a_long_name(directory, size):
    """A tensor whose name is half the file, with unknown fields: each is a warning about it."""
    return safetensors(directory, '{"%s":{"dtype":"U8","shape":[1],"data_offsets":[0,1],%s}}' %
                       ("n" * (size // 2), numbered('"%s":0', size // 2)))


@case
def safetensors_unknown_fields_of_many(directory, size):
    return safetensors(directory, "{%s}" % numbered('"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0}', size), b"")


@case
def safetensors_unaligned(directory, size):
    """A byte, and floats after it: each is a note."""
    items = ['"%s.":{"dtype":"F16","shape":[1],"data_offsets":[%d,%d]}' % (name(i), 2 * i + 1, 2 * i + 3) for i in range(size // 70)]
    return safetensors(directory, "{%s,%s}" % (TENSOR, ",".join(items)), bytes(2 * len(items) + 1))


@case
def safetensors_stale_attributes(directory, size):
    """Attributes of tensors that do not exist."""
    return private(directory, '{"tare":1,"attributes":{%s}}' % numbered('"%s.":{"a":1}', size - size // 3))


@case
def safetensors_escapes(directory, size):
    return safetensors(directory, "{%s}" % ",".join(
        '"%s%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % ("\\u0001" * 100, name(i)) for i in range(size // 655)), b"")


@case
def safetensors_one_escaped_name(directory, size):
    return safetensors(directory, '{"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' % ("\\u0001" * (size // 6)), b"")


@case
def safetensors_nan(directory, size):
    """A warning for each tensor."""
    items = ['"%s":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}' % (name(i), 4 * i, 4 * i + 4) for i in range(size // 68)]
    return safetensors(directory, "{%s}" % ",".join(items), b"\0\0\xc0\x7f" * len(items))


@case
def safetensors_private_same_trees(directory, size):
    """Attributes of many tensors, of a thousand values each."""
    count = max(1, size // 2100)
    names = [name(i) + "." for i in range(count)]
    tree = '{"tare":1,"attributes":{%s}}' % ",".join('"%s":{"a":[%s]}' % (n, ",".join(["0"] * 1000)) for n in names)
    return safetensors(directory, '{"__metadata__":%s,%s}' % (json.dumps({"__tare__": tree}), ",".join(
        '"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % n for n in names)), b"")


@case
def safetensors_metadata_long_values(directory, size):
    return safetensors(directory, '{"__metadata__":{%s},%s}' % (",".join(
        '"%s":"%s"' % (name(i), "\\u0001" * 5000) for i in range(max(1, size // 30010))), TENSOR))


@case
def safetensors_ranks(directory, size):
    """Tensors of 64 dimensions."""
    shape = ",".join(["1"] * 63 + ["0"])
    return safetensors(directory, "{%s}" % numbered('"%%s":{"dtype":"U8","shape":[%s],"data_offsets":[0,0]}' % shape, size), b"")


@case
def safetensors_types(directory, size):
    """All types that there are, in turn."""
    types = ("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64", "C64",
             "F4", "F6_E2M3", "F6_E3M2", "F8_E8M0")
    count = size // 60
    return safetensors(directory, "{%s}" % ",".join('"%s":{"dtype":"%s","shape":[0,8],"data_offsets":[0,0]}' % (
        name(i), types[i % len(types)]) for i in range(count)), b"")


@case
def safetensors_small_matrices(directory, size):
    """One block each: whatever is done for a matrix is done often."""
    items = ['"%s.weight":{"dtype":"F32","shape":[1,32],"data_offsets":[%d,%d]}' % (name(i), 128 * i, 128 * i + 128)
             for i in range(size // 200)]
    return safetensors(directory, "{%s}" % ",".join(items), struct.pack("<f", 1.0) * 32 * len(items))


@case(verbs=("report itself", "view heat", "view compare", "convert --zstd"))
def safetensors_thin_bytes(directory, size):
    """A column of bytes: a picture of it reads very many short rows."""
    return safetensors(directory, '{"t.weight":{"dtype":"U8","shape":[%d,1],"data_offsets":[0,%d]}}' % (size, size), bytes(size))


@case(verbs=("convert --zstd", "convert --json", "quantize --bits", "quantize --bits 6", "quantize zt", "quantize zt2", "convert zt2",
             "convert shards", "report itself"))
def safetensors_small_tensors(directory, size):
    """Tensors of 32 bytes: every buffer that is made for each of them is too large."""
    count = size // 100
    rows = ",".join('"%d":{"dtype":"F8_E4M3","shape":[1,32],"data_offsets":[%d,%d]}' % (i, 32 * i, 32 * i + 32) for i in range(count))
    return safetensors(directory, "{%s}" % rows, bytes(32 * count))


@case
def safetensors_thin_matrix(directory, size):
    """A column: no block fits."""
    rows = size // 4
    return safetensors(directory, '{"t.weight":{"dtype":"F32","shape":[%d,1],"data_offsets":[0,%d]}}' % (rows, 4 * rows),
                       struct.pack("<f", 1.0) * rows)
