"""Many tensors that share the bytes of one, and storages that many tensors are parts of."""
import json
import os
import struct

from worst.common import case, name, put
from worst.numpy_files import archive, deflate, stored, zeros
from worst.torch_files import dictionary, get_memo, pickled, put_memo
from worst.llama import CONFIG, LAYER, entries_of
from worst.safetensors import safetensors
from worst.zt import cbor, component, head, zt
from worst.zt2 import PAGE, zt2

LIMIT = 16 << 20  # what a file of no size may decode to, in bytes
READ = ("report itself", "quantize zt", "quantize --bits", "quantize mcf", "convert npz", "verify", "diff", "convert gguf")


def shared(directory, size, block, values, form):
    """One matrix, and as many tensors of it as may be. `form`: the object of a matrix of so many rows of 256, in so many
    bytes. One tensor takes its own bytes, and the others count as floats."""
    data = block * ((size // 2 if size < 1 << 20 else size // 8) // len(block))
    rows = len(data) // len(block) * values // 256
    count = min(400, size // 2 // 130, 1 + (LIMIT + 28 * size) // (4 * 256 * rows))
    return zt(directory, {"%s.w" % name(i): form(rows, len(data)) for i in range(count)}, {"x": bytes_of(size - len(data) - count * 130)},
              data)


def bytes_of(size):
    return head(2, max(0, size)) + bytes(max(0, size))


@case(verbs=READ, allowed=True)
def zt_blocks_shared(directory, size):
    """Blocks of 256 numbers in 50 bytes."""
    block = bytes((i * 37 + 11) & 0x3F for i in range(50))
    return shared(directory, size, block, 256, lambda rows, length: {
        "shape": [rows, 256], "format": "ggml.iq1_s", "components": {"payload": component("u8", 64, length)}})


@case(verbs=READ, allowed=True)
def zt_halves_shared(directory, size):
    block = struct.pack("<256e", *((i * 7919 % 65537 - 32768) / 32768 for i in range(256)))
    return shared(directory, size, block, 256, lambda rows, length: {
        "shape": [rows, 256], "format": "dense", "components": {"data": component("f16", 64, length)}})


@case(verbs=READ, allowed=True)
def zt_bytes_of_floats_shared(directory, size):
    block = bytes(i * 91 % 120 for i in range(256))
    return shared(directory, size, block, 256, lambda rows, length: {
        "shape": [rows, 256], "format": "dense", "components": {"data": component("u8", 64, length, type="f8_e4m3fn")}})


@case(verbs=("info", "verify", "convert zt", "convert --verbose", "convert zt2"), allowed=True)
def zt2_places_shared(directory, size):
    """Sparse tensors that share their coordinates, which are not in order."""
    entries = size // 2 // 9
    coords = struct.pack("<%dQ" % entries, *(i * 7919 % 65537 * (entries // 65537 + 1) + i // 65537 for i in range(entries)))
    coords += bytes(-len(coords) % PAGE)
    item = {"layout": "zt.sparse_coo/1", "shape": [1 << 20], "parts": {
        "coords": {"blob": [PAGE, 8 * entries], "dtype": "u64"}, "values": {"blob": [PAGE + len(coords), entries], "dtype": "u8"}}}
    each = len(cbor(item)) + 20
    return zt2(directory, {name(i): item for i in range(size // 2 // each)}, coords + bytes(entries))


def storages(directory, size, count, bytes_each):
    """Views of the ends of compressed storages: of one after another."""
    body = b"ctorch._utils\n_rebuild_tensor_v2\n" + put_memo(1) + b"0ccollections\nOrderedDict\n)R" + put_memo(2) + b"0"
    for i in range(count):
        body += (b"(" + pickled(b"storage") + b"ctorch\nByteStorage\n" + pickled(b"%d" % i) + pickled(b"cpu") +
                 b"J" + struct.pack("<i", bytes_each) + b"tQ" + put_memo(3 + i) + b"0")
    items = []
    for i in range(min(20_000, size // 100)):
        offset = bytes_each - 1 - i // count % (bytes_each // 8)
        items.append(b"J" + struct.pack("<i", i) + get_memo(1) + b"(" + get_memo(3 + i % count) + b"J" +
                     struct.pack("<i", offset) + b"K\1\x85K\1\x85\x89" + get_memo(2) + b"tR")
    packed = deflate(zeros(bytes_each))
    body += dictionary(items) + b"."
    rest = size - len(body) - count * (len(packed[2]) + 150) - 500
    members = [(b"a/data.pkl", stored(b"\x80\2" + body)), (b"a/byteorder", stored(b"little"))]
    members += [(b"a/data/%d" % i, packed) for i in range(count)]
    members += [(b"a/data/rest", stored(bytes(max(0, rest)))), (b"a/version", stored(b"3\n"))]
    return archive(directory, members, "w.pt")


ENDS = ("info", "verify", "diff", "convert zt", "report itself", "hash --zt2")


@case(verbs=ENDS, allowed=True, tensor="0")
def torch_storages_read_at_their_ends(directory, size):
    """A few more than 64."""
    return storages(directory, size, 66, 9 * (LIMIT + 30 * size) // 10 // 66)


@case(verbs=ENDS, allowed=True, tensor="0")
def torch_small_storages_read_at_their_ends(directory, size):
    """Hundreds, each small enough for memory."""
    each = 400_000 if size > 1 << 20 else 150_000
    return storages(directory, size, 9 * (LIMIT + 30 * size) // 10 // each, each)


@case(verbs=("info", "verify", "merge into its base"), allowed=True)
def lora_shared(directory, size):
    """Layers that share one matrix, and adapters that share one pair of others."""
    rows = int((size / 4.5) ** 0.5)
    rank, count = rows // 2, max(1, size // 550_000)

    def matrix(shape, offset=64):
        return {"shape": shape, "format": "dense", "components": {"data": component("f16", offset, 2 * shape[0] * shape[1])}}
    path = zt(directory, {"l%d.weight" % i: matrix([rows, rows]) for i in range(count)}, None, bytes(2 * rows * rows))
    os.rename(path, os.path.join(directory, "base"))
    half = 2 * rank * rows
    second = 64 + half + -half % 64
    pairs = {}
    for i in range(count):
        pairs["l%d.lora_A.weight" % i] = matrix([rank, rows])
        pairs["l%d.lora_B.weight" % i] = matrix([rows, rank], second)
    path = zt(directory, pairs, None, bytes(second + half))
    put(directory, "adapter_config.json", json.dumps({"peft_type": "LORA", "r": rank, "lora_alpha": 1}))
    return path


# ---- many of a kind ----

@case(verbs=("quantize GLOB", "quantize gguf", "convert gguf"))
def llama_many_layers(directory, size):
    home = os.path.join(directory, "model")
    shapes = [("model.embed_tokens.weight", [8, 4]), ("lm_head.weight", [8, 4]), ("model.norm.weight", [4])]
    layers = max(1, size // 1250)
    for i in range(layers):
        shapes += [("model.layers.%d.%s.weight" % (i, part), [4, 4]) for part in LAYER]
        shapes += [("model.layers.%d.%s_layernorm.weight" % (i, part), [4]) for part in ("input", "post_attention")]
    safetensors(home, *entries_of(shapes), name="model.safetensors")
    put(home, "config.json", json.dumps({**CONFIG, "num_hidden_layers": layers}))
    return home


@case
def zt_a_layout_for_each(directory, size):
    def item(i):
        return {"shape": [1], "format": "x." + name(i), "components": {"data": component("u8", 64, 1)}}
    each = len(cbor(name(5000)) + cbor(item(5000)))
    return zt(directory, {name(i): item(i) for i in range(size // each)}, None, b"\0")


@case
def zt_a_type_for_each(directory, size):
    def item(i):
        return {"shape": [1], "format": "dense", "components": {"data": component("u8", 64, 1, type="y." + name(i))}}
    each = len(cbor(name(5000)) + cbor(item(5000)))
    return zt(directory, {name(i): item(i) for i in range(size // each)}, None, b"\0")
