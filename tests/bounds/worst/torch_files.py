import struct
import zlib

from worst.common import case, name
from worst.numpy_files import archive


def pickled(text):
    return b"X" + struct.pack("<I", len(text)) + text


def put_memo(number):
    return b"r" + struct.pack("<I", number)


def get_memo(number):
    return b"j" + struct.pack("<I", number)


def stored(data):
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    return zlib.crc32(data), len(data), packer.compress(data) + packer.flush()


def torch(directory, body, data=bytes(4)):
    """`body` leaves one object on the stack."""
    return archive(directory, [(b"a/data.pkl", stored(b"\x80\2" + body + b".")), (b"a/byteorder", stored(b"little")),
                               (b"a/data/0", stored(data)), (b"a/version", stored(b"3\n"))], "w.pt")


REBUILD, STORAGE, ORDERED = 1, 2, 3


def prelude(elements):
    """A function, a storage and an empty dictionary in the memo, nothing on the stack."""
    return (b"ctorch._utils\n_rebuild_tensor_v2\n" + put_memo(REBUILD) + b"0(" + pickled(b"storage") +
            b"ctorch\nFloatStorage\n" + pickled(b"0") + pickled(b"cpu") + b"J" + struct.pack("<i", elements) + b"tQ" +
            put_memo(STORAGE) + b"0ccollections\nOrderedDict\n)R" + put_memo(ORDERED) + b"0")


def tensor(shape, strides, offset=0):
    def numbers(values):
        return b"(" + b"".join(b"J" + struct.pack("<i", v) for v in values) + b"t"
    return (get_memo(REBUILD) + b"(" + get_memo(STORAGE) + b"J" + struct.pack("<i", offset) + numbers(shape) +
            numbers(strides) + b"\x89" + get_memo(ORDERED) + b"tR")


def dictionary(items):
    return b"}(" + b"".join(items) + b"u"


@case
def torch_keys(directory, size):
    return torch(directory, dictionary(pickled(name(i).encode()) + b"K\1" for i in range(size // 10)))


@case
def torch_same_key(directory, size):
    return torch(directory, dictionary([pickled(b"k") + b"K\1"] * (size // 8)))


@case
def torch_numbers(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"](" + b"K\1" * (size // 2) + b"e"]))


@case
def torch_empty_lists(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"](" + b"]" * size + b"e"]))


@case
def torch_deep(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"]" * size + b"a" * (size - 1)]))


@case
def torch_memo(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"K\1" + b"".join(put_memo(i) for i in range(size // 5))]))


@case
def torch_far_memo(directory, size):
    body = b"".join(put_memo(0xFFFFFFFF - i) for i in range(size // 5))
    return torch(directory, dictionary([pickled(b"k"), b"K\1" + body]))


@case
def torch_laughs(directory, size):
    """Each list has the one before ten times: 10 to the power of 60."""
    body = b"]" + put_memo(0)
    for i in range(1, 60):
        body += b"0](" + get_memo(i - 1) * 10 + b"e" + put_memo(i)
    return torch(directory, dictionary([pickled(b"k"), body, pickled(b"x"), pickled(b"n" * size)]))


@case
def torch_wide_laughs(directory, size):
    many = size // 10
    return torch(directory, dictionary([pickled(b"k"), b"](" + b"K\1" * many + b"e" + put_memo(0), pickled(b"x"),
                                        b"](" + get_memo(0) * (many // 5) + b"e"]))


@case
def torch_popped(directory, size):
    return torch(directory, b"K\0010" * (size // 3) + dictionary([pickled(b"k"), b"K\1"]))


@case
def torch_long_number(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"\x8b" + struct.pack("<i", size) + b"\1" * size]))


@case
def torch_decimal_number(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"I" + b"9" * size + b"\n"]))


@case
def torch_dimensions(directory, size):
    many = size // 10
    return torch(directory, prelude(1) + dictionary([pickled(b"t"), tensor((1,) * many, (1,) * many)]))


@case
def torch_tensors(directory, size):
    return torch(directory, prelude(1) + dictionary(
        pickled(name(i).encode()) + tensor((1,), (1,)) for i in range(size // 46)))


@case
def torch_same_storage(directory, size):
    elements = size // 8
    return torch(directory, prelude(elements) + dictionary(
        pickled(name(i).encode()) + tensor((elements,), (1,)) for i in range(size // 92)), bytes(4 * elements))


@case
def torch_expanded(directory, size):
    return torch(directory, prelude(1) + dictionary(
        pickled(name(i).encode()) + tensor((1 << 15, 1 << 15), (0, 0)) for i in range(size // 56)))


@case
def torch_turned(directory, size):
    side = int((size // 4) ** 0.5)
    return torch(directory, prelude(side * side) + dictionary([pickled(b"t"), tensor((side, side), (1, side))]),
                 bytes(4 * side * side))


@case
def torch_globals(directory, size):
    return torch(directory, b"".join(b"cm\nf%07d\n0" % i for i in range(size // 13)) +
                 dictionary([pickled(b"k"), b"K\1"]))


@case
def torch_members(directory, size):
    members = [(b"a/data.pkl", stored(b"\x80\2" + dictionary([pickled(b"k"), b"K\1"]) + b"."))]
    return archive(directory, members + [(b"a/data/" + name(i).encode(), stored(b"")) for i in range(size // 110)], "w.pt")
