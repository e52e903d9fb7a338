import os
import struct

from worst.common import case, name, put
from worst.numpy_files import archive, deflate, stored


def pickled(text):
    return b"X" + struct.pack("<I", len(text)) + text


def put_memo(number):
    return b"r" + struct.pack("<I", number)


def get_memo(number):
    return b"j" + struct.pack("<I", number)


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


def one_long_number_again(size):
    """A number of 64 bytes in many places: each needs its decimal digits."""
    return dictionary([pickled(b"k"), b"](\x8a\x40" + b"\x7f" * 63 + b"\1q\x09" + b"h\x09" * (size // 2) + b"e"])


@case
def torch_one_long_number_again(directory, size):
    return torch(directory, one_long_number_again(size))


@case(allowed=True)
def torch_one_long_number_again_deflated(directory, size):
    return torch_deflated(directory, [one_long_number_again(deflated_size(size))])


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


def torch_deflated(directory, parts):
    """The pickle is deflated: repetitions take next to nothing."""
    return archive(directory, [(b"a/data.pkl", deflate([b"\x80\2", *parts, b"."])), (b"a/version", stored(b"3\n"))], "w.pt")


MOST_PICKLED = 4 << 20  # what a deflated pickle may have


def deflated_size(size):
    """Grows with the file, up to what is allowed: files of 60 KB get nearly all of it."""
    return min(MOST_PICKLED - 100000, 60 * size)


def built(times):
    """An object whose state was set again and again, to nothing."""
    return b"ccollections\nOrderedDict\n)R" + b"Nb" * times


@case
def torch_states_of_one_object(directory, size):
    """An object of many states, in a list many times."""
    return torch(directory, dictionary([pickled(b"a"), b"](", built(size // 4), put_memo(0), b"h\0" * (size // 4), b"e"]))


@case(allowed=True)
def torch_states_of_one_object_deflated(directory, size):
    many = deflated_size(size)
    return torch_deflated(directory, [dictionary([pickled(b"a"), b"](", built(many // 4), put_memo(0),
                                                  b"h\0" * (many // 4), b"e"])])


@case
def torch_states_of_one_dict_in_dicts(directory, size):
    """The same in dicts of tensors: their names are what is asked for."""
    return torch(directory, prelude(1) + dictionary([
        pickled(b"a"), b"](", built(size // 4), put_memo(9), b"(h\x09" + tensor((0,), (1,)) + b"t",
        b"h\x09" * (size // 8), b"e"]))


@case
def torch_keys_without_names(directory, size):
    """Keys that are omitted, of a dict with a long name."""
    return torch(directory, dictionary([pickled(b"n" * (size // 2)), dictionary([b")K\1"] * (size // 6))]))


@case(allowed=True)
def torch_keys_without_names_deflated(directory, size):
    many = deflated_size(size)
    return torch_deflated(directory, [dictionary([pickled(b"n" * (many // 2)), dictionary([b")K\1"] * (many // 6))])])


@case
def torch_globals_after_an_error(directory, size):
    """Names of 1024 bytes, and a global of them again and again, after the pickle has broken off."""
    return torch(directory, pickled(b"m" * 1024) + pickled(b"n" * 1024) + b"\x80\xff" + b"\x93" * size)


@case(allowed=True)
def torch_globals_after_an_error_deflated(directory, size):
    return torch_deflated(directory, [pickled(b"m" * 1024) + pickled(b"n" * 1024) + b"\x80\xff" +
                                      b"\x93" * deflated_size(size)])


@case
def torch_long_globals(directory, size):
    """One long name as module and name of a global, again and again."""
    return torch(directory, pickled(b"m" * (size // 2)) + put_memo(0) + b"0" + b"h\0h\0\x930" * (size // 14) +
                 dictionary([pickled(b"k"), b"K\1"]))


@case(allowed=True)
def torch_long_globals_deflated(directory, size):
    many = deflated_size(size)
    return torch_deflated(directory, [pickled(b"m" * (many // 2)) + put_memo(0) + b"0" + b"h\0h\0\x930" * (many // 14) +
                                      dictionary([pickled(b"k"), b"K\1"])])


@case(allowed=True)
def torch_numbers_deflated(directory, size):
    return torch_deflated(directory, [dictionary([pickled(b"k"), b"](" + b"K\1" * (deflated_size(size) // 2) + b"e"])])


@case(allowed=True)
def torch_lists_deflated(directory, size):
    return torch_deflated(directory, [dictionary([pickled(b"k"), b"](" + b"]" * deflated_size(size) + b"e"])])


@case(allowed=True)
def torch_dicts_deflated(directory, size):
    return torch_deflated(directory, [dictionary([pickled(b"k"), b"](" + b"}" * deflated_size(size) + b"e"])])


@case
def torch_one_tensor_again(directory, size):
    one = tensor((0,), (1,)) + put_memo(9)
    return torch(directory, prelude(1) + dictionary([pickled(b"t"), one, pickled(b"l"), b"](" + b"h\x09" * (size // 2) + b"e"]))


@case(allowed=True)
def torch_one_tensor_again_deflated(directory, size):
    one = tensor((0,), (1,)) + put_memo(9)
    return torch_deflated(directory, [prelude(1) + dictionary([
        pickled(b"t"), one, pickled(b"l"), b"](" + b"h\x09" * (deflated_size(size) // 2) + b"e"])])


@case
def torch_one_dict_again(directory, size):
    """A dict of tensors that is in many places: each has another name there."""
    many = int((size / 4) ** 0.5)
    inner = dictionary(pickled(b"%d" % i) + tensor((0,), (1,)) for i in range(size // 100))
    return torch(directory, prelude(1) + dictionary([pickled(b"t"), inner, put_memo(9), pickled(b"l"), b"](" +
                                                     b"h\x09" * many + b"e"]))


@case
def torch_long_name_of_many(directory, size):
    """A dict with a name of half the file, of tensors: each has it in its name."""
    inner = dictionary(pickled(name(i).encode()) + tensor((0,), (1,)) for i in range(size // 100))
    return torch(directory, prelude(1) + dictionary([pickled(b"n" * (size // 2)), inner]))


@case
def torch_name_of_medium_length(directory, size):
    inner = dictionary(pickled(name(i).encode()) + tensor((0,), (1,)) for i in range(size // 50))
    return torch(directory, prelude(1) + dictionary([pickled(b"n" * 2000), inner]))


@case
def torch_one_text_again(directory, size):
    """A text of half the file, in a list many times."""
    return torch(directory, dictionary([pickled(b"k"), pickled(b"n" * (size // 2)), put_memo(0), pickled(b"l"),
                                        b"](" + b"h\0" * (size // 4) + b"e"]))


@case
def torch_one_key_again(directory, size):
    """A long key in many dicts."""
    one = b"}h\0K\1s"
    return torch(directory, dictionary([pickled(b"k"), pickled(b"n" * (size // 2)), put_memo(0), pickled(b"l"),
                                        b"](" + one * (size // 2 // len(one)) + b"e"]))


@case
def torch_broken_tensors(directory, size):
    """Each has a kind that is not read."""
    one = get_memo(REBUILD) + b")R"
    return torch(directory, prelude(1) + dictionary(
        pickled(name(i).encode()) + one for i in range(size // 16)))


@case
def torch_broken_tensors_of_one_name(directory, size):
    """The same in a dict with a long name."""
    one = get_memo(REBUILD) + b")R"
    return torch(directory, prelude(1) + dictionary([pickled(b"n" * (size // 2)), dictionary(
        pickled(name(i).encode()) + one for i in range(size // 32))]))


@case
def torch_refused_globals(directory, size):
    return torch(directory, b"".join(b"cos\n%s\n)R0" % name(i).encode() for i in range(size // 14)) +
                 dictionary([pickled(b"k"), b"K\1"]))


@case
def torch_unused_storages(directory, size):
    members = [(b"a/data.pkl", stored(b"\x80\2" + dictionary([pickled(b"k"), b"K\1"]) + b"."))]
    long = b"a/data/" + b"s" * 3000
    return archive(directory, members + [(long + b"%d" % i, stored(b"")) for i in range(size // 6200)], "w.pt")


@case
def torch_storage_ids(directory, size):
    """Ids of storages that do not exist, with a long key each time."""
    one = b"(" + pickled(b"storage") + b"ctorch\nFloatStorage\n" + b"h\0" + pickled(b"cpu") + b"K\1tQ"
    return torch(directory, dictionary([pickled(b"k"), pickled(b"s" * (size // 2)), put_memo(0), pickled(b"l"),
                                        b"](" + one * (size // 2 // len(one)) + b"e"]))


@case
def torch_numbers_of_digits(directory, size):
    """Whole numbers of 1000 digits, in decimal: each is converted."""
    one = b"I" + b"7" * 1000 + b"\n"
    return torch(directory, dictionary([pickled(b"k"), b"](" + one * (size // len(one)) + b"e"]))


@case
def torch_escapes(directory, size):
    return torch(directory, dictionary([pickled(b"k"), b"](" + b"S'\\x41'\n" * (size // 8) + b"e"]))


@case
def torch_module_versions(directory, size):
    """An OrderedDict with the attribute _metadata, in many places."""
    versions = b"}" + pickled(b"_metadata") + dictionary(pickled(name(i).encode()) + b"}" for i in range(size // 20)) + b"s"
    one = b"ccollections\nOrderedDict\n)R(" + pickled(b"x") + tensor((0,), (1,)) + b"u" + versions + b"b"
    return torch(directory, prelude(1) + dictionary([pickled(b"a"), one, put_memo(9), pickled(b"l"), b"](" +
                                                     b"h\x09" * (size // 4) + b"e"]))


# The layout before PyTorch 1.6: five pickles in a row, then the storages.
MAGIC = b"\x80\2\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + b"\x80\2M\xe9\x03."


def legacy(directory, body, keys=b"]", data=b"", info=b"}"):
    return put(directory, "w.pt", MAGIC, b"\x80\2", info, b".\x80\2", body, b".\x80\2", keys, b".", data)


def persistent(key, elements=0):
    return b"(" + pickled(b"storage") + b"ctorch\nFloatStorage\n" + pickled(key) + pickled(b"cpu") + b"K%cNtQ" % elements


@case
def torch_legacy_keys(directory, size):
    return legacy(directory, dictionary(pickled(name(i).encode()) + b"K\1" for i in range(size // 10)))


@case
def torch_legacy_storages(directory, size):
    count = size // 100
    return legacy(directory, b"](" + b"".join(persistent(name(i).encode()) for i in range(count)) + b"e",
                  b"](" + b"".join(pickled(name(i).encode()) for i in range(count)) + b"e", bytes(8 * count))


@case
def torch_legacy_info(directory, size):
    return legacy(directory, b"}", info=dictionary(pickled(name(i).encode()) + b"K\1" for i in range(size // 10)))


@case
def torch_legacy_states(directory, size):
    return legacy(directory, dictionary([pickled(b"a"), b"](", built(size // 4), put_memo(0), b"h\0" * (size // 4), b"e"]))


@case
def torch_legacy_without_end(directory, size):
    """Opcodes that do nothing, as far as the file goes: how long the pickle is has to be found out."""
    return put(directory, "w.pt", MAGIC, b"\x80\2", b"N0" * (size // 2))


# ---- distributed checkpoints ----

CHECKPOINT = b"ctorch.distributed.checkpoint.metadata\n%s\n"


def instance(kind, *fields):
    return CHECKPOINT % kind + b")\x81" + dictionary(fields) + b"b"


def stored_at(offset, length, file=None):
    return (b"ctorch.distributed.checkpoint.filesystem\n_StorageInfo\n)\x81" + dictionary([
        pickled(b"relative_path"), file or pickled(b"a.distcp"), pickled(b"offset"), b"J" + struct.pack("<i", offset),
        pickled(b"length"), b"J" + struct.pack("<i", length)]) + b"b")


def index(fqn, offset=None):
    return instance(b"MetadataIndex", pickled(b"fqn"), fqn, pickled(b"offset"), b"N" if offset is None else offset)


def checkpoint(directory, entries, items, data=b"x", files=()):
    """entries: [(name, what it is)], items: [(index, where it is)], all pickled."""
    home = os.path.join(directory, "dcp")
    body = instance(b"Metadata", pickled(b"state_dict_metadata"), dictionary(a + b for a, b in entries),
                    pickled(b"storage_data"), dictionary(a + b for a, b in items))
    put(home, ".metadata", b"\x80\2", body, b".")
    put(home, "a.distcp", data)
    for file, content in files:
        put(home, file, content)
    return home


BYTES = CHECKPOINT % b"BytesStorageMetadata" + b")\x81"


def packed_archive(directory, body, pack=deflate):
    path = archive(directory, [(b"a/data.pkl", pack([b"\x80\2", body, b"."])), (b"a/version", stored(b"3\n"))], "part")
    with open(path, "rb") as file:
        data = file.read()
    os.remove(path)
    return data


def objects(directory, size, body):
    """As many as fit, each an archive of that pickle."""
    one = packed_archive(directory, body)
    count = max(1, size // (len(one) + 190))
    return checkpoint(directory, [(pickled(b"o%d" % i), BYTES) for i in range(count)],
                      [(index(pickled(b"o%d" % i)), stored_at(i * len(one), len(one))) for i in range(count)],
                      one * count)


@case
def distributed_lists_deflated(directory, size):
    """Archives of 1 KB that each unpack to a list of 380,000 numbers."""
    return objects(directory, size, b"](" + b"K\1" * 380000 + b"e")


@case
def distributed_texts_deflated(directory, size):
    """The same of a text of 3 MB."""
    return objects(directory, size, pickled(b"n" * 3000000))


@case
def distributed_states_deflated(directory, size):
    return objects(directory, size, b"](" + built(1000) + put_memo(0) + b"h\0" * 1000 + b"e")


@case
def distributed_objects(directory, size):
    return objects(directory, size, b"K\1")


@case
def distributed_long_name(directory, size):
    """Places of one name, which is half the metadata."""
    start = pickled(b"n" * (size // 2)) + put_memo(0) + b"0"
    info = b"j\1\0\0\0"
    home = os.path.join(directory, "dcp")

    def fields(i):
        return instance(b"MetadataIndex", pickled(b"fqn"), b"h\0", pickled(b"offset"), b"J" + struct.pack("<i", i) + b"\x85")
    count = max(1, size // 2 // (len(fields(0)) + 5))
    put(home, ".metadata", b"\x80\2", start, stored_at(0, 1), put_memo(1), b"0", instance(
        b"Metadata", pickled(b"state_dict_metadata"), dictionary([]), pickled(b"storage_data"),
        dictionary(fields(i) + info for i in range(count))), b".")
    put(home, "a.distcp", b"x")
    return home


@case
def distributed_chunks(directory, size):
    """A tensor of many chunks, of which none is stored."""
    def pair(i):
        return b"J" + struct.pack("<i", i) + b"\x85"

    def chunk(i):
        return instance(b"ChunkStorageMetadata", pickled(b"offsets"), pair(i), pickled(b"sizes"), pair(1))
    count = size // len(chunk(0))
    one = instance(b"TensorStorageMetadata", pickled(b"size"), pair(count), pickled(b"chunks"), b"](" +
                   b"".join(chunk(i) for i in range(count)) + b"e")
    return checkpoint(directory, [(pickled(b"t"), one)], [])


@case
def distributed_one_chunk_again(directory, size):
    pair = b"K\1\x85"
    chunk = instance(b"ChunkStorageMetadata", pickled(b"offsets"), b"K\0\x85", pickled(b"sizes"), pair)
    one = instance(b"TensorStorageMetadata", pickled(b"size"), pair, pickled(b"chunks"), b"](" + chunk + put_memo(9) +
                   b"h\x09" * (size // 2) + b"e")
    return checkpoint(directory, [(pickled(b"t"), one)], [])


@case
def distributed_entries_of_one_tensor(directory, size):
    """Names that all have the same description, of many chunks."""
    pair = b"K\1\x85"
    chunk = instance(b"ChunkStorageMetadata", pickled(b"offsets"), b"K\0\x85", pickled(b"sizes"), pair)
    one = instance(b"TensorStorageMetadata", pickled(b"size"), pair, pickled(b"chunks"), b"](" + chunk + put_memo(9) +
                   b"h\x09" * (size // 4) + b"e") + put_memo(10)
    return checkpoint(directory, [(pickled(b"t"), one)] + [
        (pickled(name(i).encode()), get_memo(10)) for i in range(size // 30)], [])


@case
def distributed_fields(directory, size):
    """One dict of many fields is the state of every place, in addition to its own."""
    state = dictionary(pickled(name(i).encode()) + b"N" for i in range(size // 20)) + put_memo(9)
    place = stored_at(0, 1)
    first = index(pickled(b"first")) + state + b"b"
    return checkpoint(directory, [], [(first, place)] + [
        (index(pickled(name(i).encode())) + b"h\x09b", place) for i in range(size // 2 // 280)])


@case
def distributed_states_of_a_place(directory, size):
    """One place whose state was set again and again, to nothing, and that is in the table many times."""
    place = stored_at(0, 1) + b"Nb" * (size // 4) + put_memo(9)
    return checkpoint(directory, [], [(index(pickled(b"first")), place)] + [
        (index(pickled(name(i).encode())), b"h\x09") for i in range(size // 2 // 100)])


def all_from_one(body, inner, outer):
    """A dict that refers to a dict `outer` times, which refers to one object `inner` times."""
    def number(i):
        return b"M" + struct.pack("<H", i)
    table = body + put_memo(9) + b"0" + dictionary(number(i) + b"h\x09" for i in range(inner)) + put_memo(10) + b"0"
    return table + dictionary(number(i) + b"h\x0a" for i in range(outer))


@case
def distributed_tensors_of_a_long_name(directory, size):
    """An object whose name is long, and which refers to one tensor many times."""
    often = int(min(60000, size / 4) ** 0.5)
    part = archive(directory, [(b"a/data.pkl", stored(b"\x80\2" + prelude(1) + all_from_one(tensor((1,), (1,)), often, often) + b".")),
                               (b"a/byteorder", stored(b"little")), (b"a/data/0", stored(bytes(4))), (b"a/version", stored(b"3\n"))],
                   "part")
    with open(part, "rb") as file:
        data = file.read()
    os.remove(part)
    long = pickled(b"n" * (size // 2))
    return checkpoint(directory, [(long, BYTES)], [(index(long), stored_at(0, len(data)))], data)


@case
def torch_tensors_of_many_dimensions(directory, size):
    """As many as there may be, of one tensor that is referred to again and again."""
    often = int(min(size, 240000) ** 0.5 * 0.7)
    twos = [2] * 30 + [1] * 34
    body = prelude(16) + all_from_one(tensor(twos, ([1, 0] * 32)[:30] + [0] * 34), often, often)
    return archive(directory, [(b"a/data.pkl", stored(b"\x80\2" + body + b".")), (b"a/byteorder", stored(b"little")),
                               (b"a/data/0", stored(bytes(64))), (b"a/data/1", stored(bytes(size - 20 * often))),
                               (b"a/version", stored(b"3\n"))], "w.pt")
