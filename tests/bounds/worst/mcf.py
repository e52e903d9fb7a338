import struct

from worst.common import case, put

def align8(data):
    return data + bytes(-len(data) % 8)


def mcf(directory, sections):
    out, listing = bytearray(40), []
    for kind, data in sections:
        data = data(len(out)) if callable(data) else data
        listing.append(struct.pack("<IIQQ", kind, 1, len(out), len(data)))
        out += align8(bytes(data))
    at = len(out)
    out += b"".join(listing)
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
    """Texts that overlap, each a tree of zeros: [0,0,...]."""
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


def mcf_named(names, rank=2, dims=(0, 64)):
    """A tensor of no elements for each name, all of the same two dimensions."""
    at, table = 0, []
    for name in names:
        table.append(struct.pack("<IIIIIIQQ", at, len(name), 1, rank, 0, 0, 40, 0))
        at += len(name)
    table = b"".join(table)
    shape = struct.pack("<%dQ" % rank, *dims)
    return [(4, bytes(64)), (3, struct.pack("<IIIIQQQQ", 1, 0, len(names), rank, 48, 48 + len(table),
                                            48 + len(table) + len(shape), at) + table + shape + b"".join(names))]


@case
def mcf_dimensions(directory, size):
    return mcf(directory, mcf_tensors(size // 49, 64, lambda i: b"t%08d" % i))


@case
def mcf_same_name(directory, size):
    return mcf(directory, mcf_tensors(size // 41, 1, lambda i: b"t"))


def mcf_index(entries, names, rank=2, dims=(0, 64)):
    """entries: [(offset of the name, its length, type)], of empty tensors."""
    table = b"".join(struct.pack("<IIIIIIQQ", at, length, kind, rank, 0, 0, 40, 0) for at, length, kind in entries)
    shape = struct.pack("<%dQ" % rank, *dims)
    return [(4, bytes(64)), (3, struct.pack("<IIIIQQQQ", 1, 0, len(entries), rank, 48, 48 + len(table),
                                            48 + len(table) + len(shape), len(names)) + table + shape + names)]


@case
def mcf_names_upon_each_other(directory, size):
    """Names that are all the same bytes, each one byte shorter than the one before."""
    half, count = size // 2, size // 2 // 40
    return mcf(directory, mcf_index([(0, half - i, 1) for i in range(count)], b"n" * half))


@case
def mcf_names_upon_each_other_broken(directory, size):
    half, count = size // 2, size // 2 // 40
    return mcf(directory, mcf_index([(0, half - i, 99) for i in range(count)], b"n" * half))


@case
def mcf_one_long_name_again(directory, size):
    half, count = size // 2, size // 2 // 40
    return mcf(directory, mcf_index([(0, half, 1)] * count, b"n" * half))


@case
def mcf_medium_names_upon_each_other(directory, size):
    count = size // 42
    return mcf(directory, mcf_index([(i, 2000, 1) for i in range(count)],
                                    b"".join(b"%06d" % (i // 6) for i in range(0, count + 2000, 6))))


@case
def mcf_broken_tensors(directory, size):
    return mcf(directory, mcf_index([(7 * i, 7, 99) for i in range(size // 47)],
                                    b"".join(b"t%06d" % i for i in range(size // 47))))


def mcf_shared(directory, size, key, value):
    """Pairs that have all the same text."""
    strings, pairs = mcf_string(value), []
    each = len(mcf_string(key % 0))
    pairs = [(88 + len(strings) + i * each, 88) for i in range(max(1, (size - len(value)) // (24 + each)))]
    strings += b"".join(mcf_string(key % i) for i in range(len(pairs)))
    return mcf(directory, [*mcf_named([b"t"]), (1, mcf_info(pairs, strings))])


@case
def mcf_one_value_again(directory, size):
    return mcf_shared(directory, size, b"k%07d", b"v" * (size // 2))


@case
def mcf_one_medium_value_again(directory, size):
    return mcf_shared(directory, size, b"k%07d", b"v" * 2000)


@case
def mcf_one_attachment_again(directory, size):
    return mcf_shared(directory, size, b"tare.attachment.k%07d", b"v" * (size // 2))


@case
def mcf_one_tree_again(directory, size):
    return mcf_shared(directory, size, b"tare.attributes.k%07d", b'{"x":[' + b"0," * (size // 4) + b"0]}")


@case
def mcf_one_small_tree_again(directory, size):
    return mcf_shared(directory, size, b"tare.attributes.k%07d", b'{"x":[' + b"0," * 1000 + b"0]}")


@case
def mcf_one_tree_for_tensors(directory, size):
    """The same attributes for tensors that exist."""
    tree = b'{"x":[' + b"0," * (size // 8) + b"0]}"
    count = size // 2 // 130
    strings, pairs = mcf_string(tree), []
    keys = [mcf_string(b"tare.attributes.k%07d" % i) for i in range(count)]
    at = 88 + len(strings)
    for key in keys:
        pairs.append((at, 88))
        at += len(key)
    return mcf(directory, [*mcf_named([b"k%07d" % i for i in range(count)]),
                           (1, mcf_info(pairs, strings + b"".join(keys)))])


@case
def mcf_type_names(directory, size):
    return mcf_shared(directory, size, b"tare.type.k%07d", b"f8_" + b"x" * (size // 2))


@case
def mcf_keys_upon_each_other(directory, size):
    """Keys that are one text: each a string that begins inside of the one before."""
    count = size // 2 // 24
    strings = b"".join(struct.pack("<II", size // 2 - 8 * i, 0x61616161) for i in range(size // 2 // 8)) + bytes(size // 8)
    return mcf(directory, [(1, mcf_info([(88 + 8 * i, 88) for i in range(count)], strings))])


@case
def mcf_sections(directory, size):
    return mcf(directory, [(0x10000 + i, b"12345678") for i in range(size // 32)])


@case
def mcf_quantized(directory, size):
    """Records of tensors that do not exist."""
    count = size // 24
    body = struct.pack("<II", 1, count) + b"".join(
        struct.pack("<IBBHH6xff", i, 0x20, 0, 32, 0, 0.0, 0.0) for i in range(count))
    return mcf(directory, [*mcf_named([b"t"]), (2, body)])


@case
def mcf_attachments(directory, size):
    strings, pairs = mcf_string(b""), []
    for i in range(size // 64):
        pairs.append((96 + i * 32, 88))
    strings += b"".join(mcf_string(b"tare.attachment.a%07d" % i) + bytes(0) for i in range(len(pairs)))
    return mcf(directory, [(1, mcf_info(pairs, strings))])


@case
def mcf_vocabulary_tree(directory, size):
    text = mcf_string(b'{"tokens":[' + b",".join(b'"%x"' % i for i in range(size // 9)) + b"]}")
    return mcf(directory, [(1, mcf_info([(88 + len(text), 88)], text + mcf_string(b"tare.vocabulary")))])


@case
def mcf_files(directory, size):
    """Every file that has a section, each as large as it may be."""
    part = size // 6
    numbers = b"[" + b"0," * (part // 2 - 40) + b"0]"
    vocabulary = b",".join(b'"%x":%d' % (i, i) for i in range(part // 14))
    return mcf(directory, [*mcf_named([b"t"]), (0x100, b'{"model_type":"llama","x":' + numbers + b"}"), (0x101, b'{"x":' + numbers + b"}"),
                           (0x102, b'{"model":{"type":"BPE","vocab":{' + vocabulary + b'},"merges":[]}}'),
                           (0x103, b'{"x":' + numbers + b"}"), (0x104, b"{" + vocabulary + b"}"),
                           (0x105, b"a b\n" * (part // 4))])


@case
def mcf_records_of_a_long_name(directory, size):
    """Records about one tensor, again and again, which has a long name."""
    count = size // 2 // 24
    records = struct.pack("<II", 1, count) + struct.pack("<IBBHH6xff", 0, 0x20, 0, 32, 0, 0.0, 0.0) * count
    return mcf(directory, [*mcf_named([b"n" * (size // 2)]), (2, records)])


@case
def mcf_records_of_many_names(directory, size):
    """Records that contradict their tensors, whose names are long: 1000 bytes each."""
    count = size // 1100
    records = struct.pack("<II", 1, count) + b"".join(
        struct.pack("<IBBHH6xff", i, 0x20, 0, 32, 0, 0.0, 0.0) for i in range(count))
    return mcf(directory, [*mcf_named([b"%07d" % i + b"n" * 1000 for i in range(count)]), (2, records)])
