import struct

from worst.common import case, put

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
