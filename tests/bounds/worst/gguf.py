import struct

from worst.common import case, name, put

U8, U32, STRING, ARRAY = 0, 4, 8, 9


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(text)) + text


def entry(key, kind, value):
    return string(key) + struct.pack("<I", kind) + value


def array(kind, count, items):
    return struct.pack("<IQ", kind, count) + items


def info(name, dims=(0,), kind=0, offset=0):
    return string(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, offset)


def gguf(directory, entries=(), infos=(), data=b""):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries)) + b"".join(entries) + b"".join(infos)
    return put(directory, "w.gguf", head, bytes(-len(head) % 32), data)


ONE = [info("t", (1,), 24)]
KINDS = {"u8": (U8, b"\0"), "strings": (STRING, bytes(8)), "arrays": (ARRAY, struct.pack("<IQ", U8, 0))}


def one_array(directory, size, kind):
    number, item = KINDS[kind]
    count = size // len(item)
    return gguf(directory, [entry("x", ARRAY, array(number, count, item * count))], ONE, b"\0")


@case
def gguf_keys(directory, size):
    return gguf(directory, [entry(name(i), U8, b"\0") for i in range(size // 16)], ONE, b"\0")


@case
def gguf_same_key(directory, size):
    return gguf(directory, [entry("k", U32, bytes(4))] * (size // 17), ONE, b"\0")


@case
def gguf_zeros(directory, size):
    return one_array(directory, size, "u8")


@case
def gguf_empty_strings(directory, size):
    return one_array(directory, size, "strings")


@case
def gguf_empty_arrays(directory, size):
    return one_array(directory, size, "arrays")


@case
def gguf_nested_arrays(directory, size):
    depth = size // 12
    value = struct.pack("<IQ", ARRAY, 1) * depth + struct.pack("<IQ", U8, 0)
    return gguf(directory, [entry("x", ARRAY, value)], ONE, b"\0")


def vocabulary(tokens, merges=b"", pairs=0):
    return [entry("general.architecture", STRING, string("llama")),
            entry("tokenizer.ggml.model", STRING, string("gpt2")),
            entry("tokenizer.ggml.tokens", ARRAY, array(STRING, len(tokens), b"".join(map(string, tokens)))),
            entry("tokenizer.ggml.merges", ARRAY, array(STRING, pairs, merges))]


@case
def gguf_tokens(directory, size):
    return gguf(directory, vocabulary(["%x" % i for i in range(size // 13)]), ONE, b"\0")


@case
def gguf_same_token(directory, size):
    return gguf(directory, vocabulary(["a"] * (size // 9)), ONE, b"\0")


@case
def gguf_merges(directory, size):
    pair = string("a b")
    return gguf(directory, vocabulary(["a", "b", "ab"], pair * (size // len(pair)), size // len(pair)), ONE, b"\0")


@case
def gguf_tensors(directory, size):
    return gguf(directory, infos=[info(name(i)) for i in range(size // 35)])


@case
def gguf_same_name(directory, size):
    return gguf(directory, infos=[info("t")] * (size // 33))


@case
def gguf_shared_bytes(directory, size):
    half = size // 2
    return gguf(directory, infos=[info(name(i), (half,), 24) for i in range(half // 35)], data=bytes(half))


@case
def gguf_long_name(directory, size):
    return gguf(directory, infos=[info("n" * (size // 2))] + [info(name(i)) for i in range(size // 70)])
