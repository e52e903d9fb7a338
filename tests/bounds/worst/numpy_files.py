import io
import struct
import zlib

from verbs import BACKWARDS
from worst.common import case, name, numbered, put

def deflate(parts):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    crc, length, out = 0, 0, []
    for part in parts:
        crc = zlib.crc32(part, crc)
        length += len(part)
        out.append(packer.compress(part))
    out.append(packer.flush())
    return crc, length, b"".join(out)


def stored(data):
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    return zlib.crc32(data), len(data), packer.compress(data) + packer.flush()


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
    """With another member that does not shrink: what the array may inflate to goes by the whole file."""
    member = deflate([header, *zeros(size)])
    rest = bytes(max(0, file_size - len(member[2])))
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    return archive(directory, [(b"t.npy", member),
                               (b"x", (zlib.crc32(rest), len(rest), packer.compress(rest) + packer.flush()))])


def inflated(size):
    """As much as a file of that size is allowed, and not more than deflate can do."""
    return min(size * 900, (256 << 20) + 12 * size)


def opened(size):
    """About as much as a deflated file of that size may decode to without an option; its bytes count nearly twice."""
    return ((16 << 20) + 31 * size) // 2


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


@case(verbs=BACKWARDS)
def npz_deflated_rows(directory, size):
    rows = opened(size) // 4096
    return deflated_zeros(directory, rows * 4096, npy_header("<f2", "(%d, 2048)" % rows), size)


@case(verbs=BACKWARDS)
def npz_fortran_rows(directory, size):
    rows = opened(size) // 2 // 4096  # these bytes count twice
    return deflated_zeros(directory, rows * 4096, npy_header("<f2", "(%d, 2048)" % rows, fortran=True), size)


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


def one_header(directory, size, name, extra=b"", file="w.npz"):
    """Entries that all point to one local header, which has a long name: each is refused with it."""
    data = npy_header() + b"\0"
    crc = zlib.crc32(data)
    local = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x21, crc, len(data), len(data), len(name), len(extra))
    out = [b"PK\3\4" + local + name + extra + data]
    start, listing = len(out[0]), []
    for i in range(max(1, (size - start) // 56)):
        short = b"%06d.npy" % i
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x21, crc, len(data), len(data), len(short), 0)
        listing.append(struct.pack("<IH", 0x02014B50, 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + short)
    count, length = min(len(listing), 0xFFFF), sum(map(len, listing))
    if len(listing) <= 0xFFFF:
        end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, length, start, 0)
    else:
        end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(listing), len(listing), length, start)
        end += struct.pack("<IIQI", 0x07064B50, 0, start + length, 1)
        end += struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return put(directory, file, *out, *listing, end)


@case
def npz_one_local_header(directory, size):
    return one_header(directory, size, b"n" * min(65000, size // 2))


@case
def npz_one_local_header_short(directory, size):
    return one_header(directory, size, b"000000.npy")


@case
def torch_one_local_header(directory, size):
    return one_header(directory, size, b"a/" + b"n" * min(65000, size // 2), file="w.pt")


@case
def npz_one_local_header_with_extras(directory, size):
    return one_header(directory, size, b"000000.npy", (struct.pack("<HH", 0x9999, 0)) * (min(65000, size // 2) // 4))


@case
def npz_extras(directory, size):
    """Members of many extra records."""
    def members():
        count = size // 131200 or 1
        for i in range(count):
            yield b"t%d.npy" % i
    extra = struct.pack("<HH", 0x9999, 0) * (min(65000, size // 3) // 4)
    data, out, listing = npy_header() + b"\0", io.BytesIO(), []
    for member in members():
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x21, zlib.crc32(data), len(data), len(data), len(member), len(extra))
        listing.append(struct.pack("<IH", 0x02014B50, 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, out.tell()) + member + extra)
        out.write(b"PK\3\4" + fields + member + extra + data)
    start = out.tell()
    out.write(b"".join(listing))
    out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(listing), len(listing), out.tell() - start, start, 0))
    return put(directory, "w.npz", out.getvalue())


@case
def npz_objects(directory, size):
    """Arrays of something else than numbers, each a note."""
    member = deflate([npy_header("|O"), b"\0"])
    return archive(directory, [ARRAY] + [(b"t%07d.npy" % i, member) for i in range(size // (len(member[2]) + 100))])


@case
def npz_broken_arrays(directory, size):
    member = deflate([npy_header("<f4", "(99,)"), b"\0"])
    return archive(directory, [(b"t%07d.npy" % i, member) for i in range(size // (len(member[2]) + 100))])


@case
def npz_broken_arrays_with_long_names(directory, size):
    member = deflate([npy_header("<f4", "(99,)"), b"\0"])
    return archive(directory, [(b"%07d" % i + b"n" * 2000 + b".npy", member) for i in range(size // 4200)])


@case
def npz_records_deflated(directory, size):
    """Headers of records with many fields, deflated."""
    fields = ", ".join("('%s', '<f4')" % name(i) for i in range(20000))
    text = "{'descr': [%s], 'fortran_order': False, 'shape': (1,), }\n" % fields
    member = deflate([b"\x93NUMPY\2\0" + struct.pack("<I", len(text)) + text.encode(), bytes(80000)])
    return archive(directory, [ARRAY] + [(b"t%d.npy" % i, member) for i in range(max(1, size // (len(member[2]) + 120)))])


@case
def npz_header_of_digits(directory, size):
    member = deflate([npy_header(shape="(" + "9" * 900000 + ",)"), b"\0"])
    return archive(directory, [(b"t%d.npy" % i, member) for i in range(max(1, size // (len(member[2]) + 120)))])


@case(allowed=True)
def npz_private_types_deflated(directory, size):
    """Names of tensors that do not exist, each a warning."""
    text = '{"tare":1,"types":{%s}}' % numbered('"%s":"bf16"', min(31 << 20, size * 20))
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text.encode()]))])


@case(allowed=True)
def npz_private_attributes_deflated(directory, size):
    text = '{"tare":1,"attributes":{%s}}' % ",".join(['"t":{}'] + ['"%d":{"a":0}' % i for i in range(min(1 << 20, size))])
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text.encode()]))])


@case(allowed=True)
def npz_private_text_deflated(directory, size):
    """Bytes in hexadecimal: twice as long as what they are."""
    text = b'{"tare":1,"metadata":{"x":{"$bytes":"' + b"00" * min(15 << 20, size * 200) + b'"}}}'
    return archive(directory, [ARRAY, (b"__tare__.json", deflate([text]))])


@case(allowed=True)
def npz_attachments_deflated(directory, size):
    """Files that unpack to 256 MB together."""
    each = deflate(zeros(4 << 20))
    count = min(64, max(1, size // (len(each[2]) + 120)))
    return archive(directory, [ARRAY] + [(b"f%d.txt" % i, each) for i in range(count)])


@case(allowed=True)
def npz_config_deflated(directory, size):
    """A config.json that unpacks to a thousand times its size."""
    text = b'{"model_type":"llama","x":[' + b"0," * min(16 << 20, size * 400) + b"0]}"
    return archive(directory, [ARRAY, (b"config.json", deflate([text]))])


@case(allowed=True)
def npz_tokenizer_deflated(directory, size):
    text = '{"model":{"type":"BPE","vocab":{%s},"merges":[]}}' % ",".join('"%x":%d' % (i, i) for i in range(
        min(2000000, size // 3)))
    return archive(directory, [ARRAY, (b"config.json", deflate([b'{"model_type":"llama"}'])),
                               (b"tokenizer.json", deflate([text.encode()]))])


@case
def npz_empty_arrays(directory, size):
    member = stored(npy_header("<f4", "(0, 1099511627776)"))
    return archive(directory, [(b"t%07d.npy" % i, member) for i in range(size // (len(member[2]) + 100))])


@case(allowed=True)
def npz_many_deflated(directory, size):
    """Arrays that unpack to a thousand times their size, all together 256 MB."""
    each = deflate([npy_header(shape="(%d,)" % (4 << 20)), *zeros(4 << 20)])
    return archive(directory, [(b"t%d.npy" % i, each) for i in range(min(60, max(1, size // (len(each[2]) + 120))))])


@case(allowed=True)
def npz_many_fortran_deflated(directory, size):
    each = deflate([npy_header(shape="(2048, 2048)", fortran=True), *zeros(4 << 20)])
    return archive(directory, [(b"t%d.npy" % i, each) for i in range(min(60, max(1, size // (len(each[2]) + 120))))])


@case
def npy_digits(directory, size):
    return put(directory, "w.npy", npy_header(shape="(" + "9" * min(size, 1000000) + ",)"), b"\0")


@case
def npy_blanks(directory, size):
    return put(directory, "w.npy", npy_header(least=min(size, 1000000)), b"\0")


@case
def npy_parentheses(directory, size):
    return put(directory, "w.npy", npy_header(shape="(" * min(size, 1000000)), b"\0")
