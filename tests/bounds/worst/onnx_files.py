import os

from worst.common import case, name


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def onnx(directory, graph, more=b""):
    path = os.path.join(directory, "m.onnx")
    with open(path, "wb") as file:
        file.write(number(1, 10) + message(7, graph) + message(8, number(2, 21)) + more)
    return path


def tensor(called, dims, kind, data):
    return message(5, b"".join(number(1, size) for size in dims) + number(2, kind) + message(8, called.encode()) + data)


@case
def onnx_tensors(directory, size):
    return onnx(directory, b"".join(tensor(name(i), [0], 1, b"") for i in range(size // 16)))


@case
def onnx_same_name(directory, size):
    return onnx(directory, tensor("w", [0], 1, b"") * (size // 9))


@case
def onnx_fields(directory, size):
    return onnx(directory, b"\x08\x01" * (size // 2))


@case
def onnx_dimensions(directory, size):
    return onnx(directory, tensor("w", [1] * (size // 2), 1, b""))


@case
def onnx_deep(directory, size):
    """Each of many is deeper than any limit."""
    graph = b""
    for _ in range(200):
        graph = message(1, message(5, message(1, b"b") + message(6, graph)))
    return onnx(directory, graph * max(1, size // len(graph)))


@case
def onnx_nested_names(directory, size):
    """The path of each graph has the names of all nodes around it."""
    graph, long = tensor("w", [0], 1, b""), b"n" * (size // 60)
    for _ in range(50):
        graph = tensor("w", [0], 1, b"") + message(1, message(3, long) + message(5, message(1, b"b") + message(6, graph)))
    return onnx(directory, graph)


@case
def onnx_wide_graphs(directory, size):
    return onnx(directory, message(1, message(3, b"n") + message(5, message(1, b"b") + message(6, b"") * (size // 2))))


@case
def onnx_varints(directory, size):
    return onnx(directory, tensor("w", [size], 7, message(7, b"\x01" * size)))


@case
def onnx_single_numbers(directory, size):
    return onnx(directory, tensor("w", [size // 2], 7, b"\x38\x01" * (size // 2)))


@case
def onnx_bits(directory, size):
    return onnx(directory, tensor("w", [size * 4], 25, message(9, bytes(size))))


@case
def onnx_sparse(directory, size):
    """Flat positions become a coordinate for each of 60 dimensions."""
    entries = size // 12
    def unnamed(kind, width):
        return number(1, entries) + number(2, kind) + message(9, bytes(entries * width))
    values = message(8, b"s") + unnamed(1, 4)
    return onnx(directory, message(15, message(1, values) + message(2, unnamed(7, 8)) + number(3, 1) * 59 + number(3, 2)))


@case
def onnx_externals(directory, size):
    def outside(i):
        place = message(1, b"location") + message(2, name(i).encode())
        return tensor(name(i), [1], 1, message(13, place) + number(14, 1))
    return onnx(directory, b"".join(outside(i) for i in range(size // 40)))


@case
def onnx_properties(directory, size):
    return onnx(directory, b"", b"".join(message(14, message(1, name(i).encode())) for i in range(size // 9)))


@case
def onnx_packed(directory, size):
    """Every node states another matrix; none has scales."""
    nodes = b"".join(
        message(1, message(1, b"x") + message(1, name(i).encode()) + message(1, b"s") + message(4, b"MatMulNBits") +
                message(5, message(1, b"K") + number(3, 16)) + message(7, b"com.microsoft")) +
        tensor(name(i), [1, 1, 8], 2, message(9, bytes(8))) for i in range(size // 80))
    return onnx(directory, nodes)
