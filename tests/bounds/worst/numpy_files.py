import io
import struct
import zlib

from worst.common import case, numbered, put

def deflate(parts):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    crc, length, out = 0, 0, []
    for part in parts:
        crc = zlib.crc32(part, crc)
        length += len(part)
        out.append(packer.compress(part))
    out.append(packer.flush())
    return crc, length, b"".join(out)


def archive(directory, members, file="w.npz"):
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
    return put(directory, file, out.getvalue())


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
    return min(size * 900, (256 << 20) + 12 * size)


@case
def npz_private_zeros(directory, size):
    text = b'{"tare":1,"metadata":{"x":[' + b"0," * min(16 << 20, size * 400) + b"0]}}"
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text])), (b"x", (0, 0, b"\3\0"))])


@case
def npz_private_keys(directory, size):
    text = '{"tare":1,"metadata":{%s}}' % numbered('"%s":1', size + size // 2)
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


@case(allowed=True)
def npz_fortran_axes(directory, size):
    """Twenty-eight axes of two."""
    axes = inflated(size).bit_length() - 1
    return deflated_zeros(directory, 1 << axes, npy_header(shape="(%s)" % ("2," * axes), fortran=True), size)


@case
def npy_dimensions(directory, size):
    return put(directory, "w.npy", npy_header(shape="(" + "1," * (min(size, 1000000) // 2) + ")"), b"\0")
