import struct

from worst.common import case, name, put

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
    count = size // len(alt_record(b"abc"))
    return alt(directory, records=b"".join(alt_record(name(i).encode()) for i in range(count)), tensors=count,
               dimensions=count)


@case
def alt_same_name(directory, size):
    count = size // len(alt_record(b"t"))
    return alt(directory, records=alt_record(b"t") * count, tensors=count, dimensions=count)


@case
def alt_dimensions(directory, size):
    dims = (0,) * 64
    count = size // len(alt_record(b"abc", dims))
    return alt(directory, records=b"".join(alt_record(name(i).encode(), dims) for i in range(count)), tensors=count,
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


def tllm(directory, layers=1, context=1, tokens=1, hidden=1):
    """A Tiny Llama whose vectors have one element."""
    def matrix(rows=1, columns=1):
        return struct.pack("<QQ", rows, columns) + bytes(4 * rows * columns)

    def vector(size=1):
        return struct.pack("<Q", size) + bytes(4 * size)
    layer = (matrix() * 4 + matrix(1, hidden) + vector(hidden) + matrix(hidden, 1) + vector() + vector() * 4)
    return put(directory, "w.tllm", struct.pack("<IIiiiiiif", 0x544C4C4D, 1, 1, layers, 1, hidden, context, tokens, 0.0),
               matrix(tokens, 1), matrix(context, 1), layer * layers, matrix(1, tokens))


@case
def tllm_layers(directory, size):
    return tllm(directory, size // 192)


@case
def tllm_layers_and_positions(directory, size):
    """What is kept while it runs is the one times the other."""
    return tllm(directory, layers=size // 2 // 192, context=size // 2 // 4)


@case
def tllm_tokens(directory, size):
    return tllm(directory, tokens=size // 8)


@case
def tllm_hidden(directory, size):
    return tllm(directory, hidden=size // 12)
