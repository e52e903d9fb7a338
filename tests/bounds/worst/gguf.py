import os
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


I8, U16, I32, F32, BOOL, U64 = 1, 2, 5, 6, 7, 10
ARCHITECTURE = entry("general.architecture", STRING, string("llama"))


@case
def gguf_many_arrays(directory, size):
    """Each of as many numbers as one may have."""
    count = 262144
    whole = max(1, size // count)
    part = size // whole
    return gguf(directory, [entry(name(i), ARRAY, array(I8, part, bytes(part))) for i in range(whole)], ONE, b"\0")


@case
def gguf_many_arrays_of_bools(directory, size):
    count = 262144
    whole = max(1, size // count)
    part = size // whole
    return gguf(directory, [entry(name(i), ARRAY, array(BOOL, part, bytes(part))) for i in range(whole)], ONE, b"\0")


@case
def gguf_small_arrays(directory, size):
    return gguf(directory, [entry(name(i), ARRAY, array(I8, 4, bytes(4))) for i in range(size // 31)], ONE, b"\0")


@case
def gguf_bad_strings(directory, size):
    """Texts that are not UTF-8: each is a warning."""
    return gguf(directory, [entry(name(i), STRING, string(b"\xff")) for i in range(size // 24)], ONE, b"\0")


@case
def gguf_long_keys(directory, size):
    long = min(65000, size // 4)
    return gguf(directory, [entry(name(i) + "k" * long, STRING, string(b"\xff")) for i in range(size // (long + 24))], ONE,
                b"\0")


@case
def gguf_unknown_types(directory, size):
    return gguf(directory, infos=[info(name(i), (1,), 99) for i in range(size // 35)])


@case
def gguf_unknown_types_long(directory, size):
    return gguf(directory, infos=[info("%063d" % i, (1,), 99) for i in range(size // 95)])


@case
def gguf_padding(directory, size):
    """Tensors at one place with up to 1 MiB of padding after each, and those of unknown types between them."""
    alignment = 1 << max(5, min(20, (size // 3).bit_length() - 1))
    entries = [entry("general.alignment", U32, struct.pack("<I", alignment))]
    infos = []
    for i in range(max(1, (size - 2 * alignment) // 74)):
        infos += [info(name(2 * i), (1,), 99), info(name(2 * i + 1), (1,), 24)]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), 1) + entries[0] + b"".join(infos)
    return put(directory, "w.gguf", head, bytes(-len(head) % alignment), bytes(alignment))


def small_floats(directory, size, dims, every):
    """Tensors of a few floats each."""
    count = size // (every + 48)
    return gguf(directory, [entry("general.alignment", U32, struct.pack("<I", 8))],
                [info(name(i), dims, 0, every * i) for i in range(count)], struct.pack("<f", 1.0) * (every // 4 * count))


@case(verbs=("report itself", "report other", "convert zt2", "quantize zt2", "verify", "info"))
def gguf_pairs(directory, size):
    return small_floats(directory, size, (2,), 8)


@case(verbs=("report itself", "quantize zt", "quantize zt2", "quantize --bits 6", "quantize mcf", "quantize gguf", "convert npz"))
def gguf_short_rows(directory, size):
    return small_floats(directory, size, (8, 1), 32)


@case
def gguf_one_byte_again(directory, size):
    return gguf(directory, infos=[info(name(i), (1,), 24) for i in range(size // 35)], data=b"\0")


@case
def gguf_beyond_the_end(directory, size):
    return gguf(directory, infos=[info(name(i), (1 << 40,), 24, i << 20) for i in range(size // 35)])


@case
def gguf_blocks_at_one_place(directory, size):
    half = size // 2 // 144 * 144
    return gguf(directory, infos=[info(name(i), (half // 144 * 256,), 12) for i in range(half // 35)], data=bytes(half))


@case
def gguf_files(directory, size):
    return gguf(directory, [entry("tare.file.%s" % name(i), ARRAY, array(U8, 0, b"")) for i in range(size // 38)], ONE,
                b"\0")


@case
def gguf_private_attributes(directory, size):
    tree = '{"tare":1,"attributes":{%s}}' % ",".join('"%s":{"a":1}' % name(i) for i in range(size // 15))
    return gguf(directory, [entry("tare.private", STRING, string(tree))], ONE, b"\0")


# A file that has it is taken for a model of its architecture.
TABLE = info("token_embd.weight", (64, 0))


def experts(directory, size, dims, keys=()):
    names = ["blk.%d.ffn_%s_exps.weight" % (i, part) for i in range(max(1, size // 250)) for part in ("gate", "up", "down")]
    return gguf(directory, [ARCHITECTURE, *keys], [TABLE] + [info(n, dims) for n in names])


@case
def gguf_experts_of_nothing(directory, size):
    """Stacks of 2^33 experts without elements."""
    return experts(directory, size, (0, 1, 1 << 33))


@case
def gguf_experts_of_nothing_at_all(directory, size):
    return experts(directory, size, (0, 0, 1 << 40))


@case
def gguf_some_experts_of_nothing(directory, size):
    """Fewer, but more than there are bytes."""
    return experts(directory, size, (0, 1, 1 << 20))


@case
def gguf_few_experts_of_nothing(directory, size):
    return experts(directory, size, (0, 1, 500))


@case
def gguf_stated_experts_of_nothing(directory, size):
    """As many as the keys state."""
    keys = [entry("llama.expert_count", U32, struct.pack("<I", 1 << 24)),
            entry("llama.expert_used_count", U32, struct.pack("<I", 1 << 24))]
    return experts(directory, size, (0, 1, 1 << 24), keys)


@case
def gguf_token_rows_of_nothing(directory, size):
    """A token table of 2^40 rows without columns."""
    return gguf(directory, [*vocabulary(["a", "b"]), entry("x", ARRAY, array(U8, size, bytes(size)))],
                [info("token_embd.weight", (0, 1 << 40)), info("output.weight", (0, 1 << 40))])


@case
def gguf_rows_of_nothing(directory, size):
    """Tensors whose rows llama.cpp has in another order."""
    keys = [entry("llama.attention.head_count", U32, struct.pack("<I", 1)),
            entry("llama.attention.head_count_kv", U32, struct.pack("<I", 1)),
            entry("llama.block_count", U32, struct.pack("<I", 1))]
    return gguf(directory, [ARCHITECTURE, *keys],
                [TABLE] + [info("blk.%d.attn_%s.weight" % (i, part), (0, 1 << 40)) for i in range(max(1, size // 100)) for part in "qk"])


NUMBERS = ("vocab_size", "embedding_length", "feed_forward_length", "block_count", "attention.head_count",
           "attention.head_count_kv", "attention.key_length", "attention.value_length", "context_length",
           "attention.sliding_window", "rope.dimension_count", "expert_count", "expert_used_count",
           "expert_feed_forward_length", "expert_shared_feed_forward_length", "leading_dense_block_count",
           "rope.scaling.original_context_length", "attention.sliding_window_pattern")
FAMILIES = ("llama", "qwen2", "qwen3", "qwen2moe", "qwen3moe", "gemma", "gemma2", "gemma3", "phi3", "granite", "olmo", "olmo2",
            "smollm3", "mistral3")


def counts(directory, size, architecture, number):
    keys = [entry("general.architecture", STRING, string(architecture))]
    keys += [entry("%s.%s" % (architecture, key), U32, struct.pack("<I", number)) for key in NUMBERS]
    keys += [entry("%s.rope.freq_base" % architecture, F32, struct.pack("<f", 1e4)),
             entry("%s.attention.layer_norm_rms_epsilon" % architecture, F32, struct.pack("<f", 1e-5)),
             entry("tokenizer.ggml.model", STRING, string("gpt2")),
             entry("tokenizer.ggml.pre", STRING, string("llama-bpe")),
             entry("tokenizer.ggml.tokens", ARRAY, array(STRING, 2, string("a") + string("b"))),
             entry("x", ARRAY, array(U8, size - 2000, bytes(size - 2000)))]
    tensors = [info("token_embd.weight", (0, number))]
    if architecture == "llama":
        tensors += [info("blk.0.attn_%s.weight" % part, (0, number)) for part in "qk"]
    return gguf(directory, keys, tensors)


for _family in FAMILIES:
    for _number in (0xFFFFFFFF, 1 << 22):
        def _build(directory, size, family=_family, number=_number):
            return counts(directory, size, family, number)
        case(_build, called="gguf_counts_%s_%d" % (_family, _number), quick=_family in ("llama", "gemma3") and _number > 1 << 30,
             tensor="token_embd.weight")


# ---- tokenizers ----

def scored(tokens, kind="llama", pre="default"):
    count = len(tokens)
    return [ARCHITECTURE, entry("tokenizer.ggml.model", STRING, string(kind)),
            entry("tokenizer.ggml.pre", STRING, string(pre)),
            entry("tokenizer.ggml.tokens", ARRAY, array(STRING, count, b"".join(map(string, tokens)))),
            entry("tokenizer.ggml.scores", ARRAY, array(F32, count, b"".join(
                struct.pack("<f", -i) for i in range(count)))),
            entry("tokenizer.ggml.token_type", ARRAY, array(I32, count, struct.pack("<i", 1) * count))]


@case
def gguf_scored_runs(directory, size):
    """Tokens of one letter, of every length up to 256, and those with another letter at the end."""
    tokens = ["a" * i for i in range(1, 257)]
    while 272 * (len(tokens) - 128) < size:
        tokens.append("a" * 250 + name(len(tokens)))
    return gguf(directory, scored(tokens), ONE, b"\0")


@case
def gguf_scored_halves(directory, size):
    """Tokens that are any two others."""
    tokens = ["a" * i for i in range(1, 129)]
    tokens += ["a" * (i % 128 + 1) + "b" * (i // 128 + 1) for i in range(size // 90)]
    return gguf(directory, scored(tokens), ONE, b"\0")


@case
def gguf_scored_t5(directory, size):
    return gguf(directory, scored(["%x" % i for i in range(size // 22)], "t5"), ONE, b"\0")


@case
def gguf_scored_bert(directory, size):
    return gguf(directory, scored(["%x" % i for i in range(size // 22)], "bert"), ONE, b"\0")


@case
def gguf_one_scored_token(directory, size):
    return gguf(directory, scored(["a" * (size // 2), "a" * (size // 4), "a" * (size // 4)]), ONE, b"\0")


@case
def gguf_empty_tokens(directory, size):
    return gguf(directory, scored([""] * (size // 16)), ONE, b"\0")


@case
def gguf_blank_merges(directory, size):
    """Merges of blanks: which one parts the halves has to be tried."""
    pair = string("a " * 100)
    count = size // len(pair)
    return gguf(directory, vocabulary(["a", "b"], pair * count, count), ONE, b"\0")


@case
def gguf_one_blank_merge(directory, size):
    return gguf(directory, vocabulary(["a", "b"], string(" a" * (size // 2)), 1), ONE, b"\0")


@case
def gguf_merges_of_each_other(directory, size):
    """Merges that make the parts of the next."""
    words = ["a" * i for i in range(1, max(3, int((size / 2) ** 0.5)))]
    merges = [string("a " + word) for word in words]
    return gguf(directory, vocabulary(words, b"".join(merges), len(merges)), ONE, b"\0")


@case
def gguf_plain_tokens(directory, size):
    """Characters beyond the byte-level alphabet, in every token."""
    return gguf(directory, vocabulary(["\u3042%x" % i for i in range(size // 16)]), ONE, b"\0")


@case
def gguf_special_tokens(directory, size):
    tokens = ["<|%x|>" % i for i in range(size // 20)]
    types = array(I32, len(tokens), struct.pack("<i", 3) * len(tokens))
    return gguf(directory, [*vocabulary(tokens), entry("tokenizer.ggml.token_type", ARRAY, types)], ONE, b"\0")


@case
def gguf_template(directory, size):
    text = "{% if x %}{{ y }}{% endif %}\n" * (size // 29)
    return gguf(directory, [*vocabulary(["a"]), entry("tokenizer.chat_template", STRING, string(text))], ONE, b"\0")


@case
def gguf_charsmap(directory, size):
    return gguf(directory, [*scored(["a"], "t5"), entry("tokenizer.ggml.precompiled_charsmap", ARRAY,
                                                        array(U8, size, bytes(size)))], ONE, b"\0")


def split(directory, number, count, entries=(), infos=(), total=0):
    entries = [entry("split.no", U16, struct.pack("<H", number)), entry("split.count", U16, struct.pack("<H", count)),
               entry("split.tensors.count", I32, struct.pack("<i", total)), *entries]
    path = gguf(directory, entries, infos)
    return os.rename(path, os.path.join(directory, "m-%05d-of-%05d.gguf" % (number + 1, count)))


@case
def gguf_many_splits(directory, size):
    count = min(3000, size // 200)
    for i in range(count):
        split(directory, i, count, (), [info("t%d" % i)], count)
    return os.path.join(directory, "m-00001-of-%05d.gguf" % count)


@case
def gguf_one_split_again(directory, size):
    """Links to one file, which cost no bytes."""
    count = 2000
    split(directory, 0, count, [entry(name(i), U8, b"\0") for i in range(size // 32)],
          [info(name(i)) for i in range(size // 70)], count)
    for i in range(1, count):
        os.link(os.path.join(directory, "m-00001-of-%05d.gguf" % count),
                os.path.join(directory, "m-%05d-of-%05d.gguf" % (i + 1, count)))
    return os.path.join(directory, "m-00001-of-%05d.gguf" % count)
