"""Directories whose tokenizer files ask for much: tokens, merges and rules that are long, equal, or made of each other."""
import json
import struct

from worst.common import case, name, put
from worst.directories import directory_with

BYTE_LEVEL = '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"decoder":{"type":"ByteLevel"}'


def tokenizer(directory, vocab, merges=(), added="", model="BPE", rules=BYTE_LEVEL, more=""):
    text = '{"version":"1.0","added_tokens":[%s],%s,"model":{"type":"%s",%s"vocab":{%s},"merges":[%s]}}' % (
        added, rules, model, more, ",".join('%s:%d' % (json.dumps(v), i) for i, v in enumerate(vocab)),
        ",".join(json.dumps(m) for m in merges))
    return directory_with(directory, tokenizer__json=text)


@case
def tokenizer_merges_of_each_other(directory, size):
    words = ["a" * i for i in range(1, max(3, int((size / 2) ** 0.5)))]
    return tokenizer(directory, words, ["a " + word for word in words[:-1]])


@case
def tokenizer_blank_merges(directory, size):
    return tokenizer(directory, ["a"], ["a " * 100] * (size // 204))


@case
def tokenizer_one_merge(directory, size):
    return tokenizer(directory, ["a"], [" a" * (size // 2)])


@case
def tokenizer_pairs(directory, size):
    """Merges as lists."""
    return tokenizer(directory, ["a", "b", "ab"], [["a", "b"]] * (size // 10))


@case
def tokenizer_byte_fallback_merges(directory, size):
    """A byte-pair vocabulary whose pieces get the rank of their merge as a score."""
    vocab = ["<0x%02X>" % i for i in range(256)] + ["a" * i for i in range(1, 200)] + ["b" + name(i) for i in range(size // 40)]
    return tokenizer(directory, vocab, ["b " + name(i) for i in range(size // 40)], more='"byte_fallback":true,',
                     rules='"normalizer":null,"pre_tokenizer":null,"decoder":null')


def unigram(directory, pieces, more=""):
    text = '{"model":{"type":"Unigram","unk_id":0,%s"vocab":[%s]}}' % (
        more, ",".join('[%s,-%d.5]' % (json.dumps(piece), i) for i, piece in enumerate(pieces)))
    return directory_with(directory, tokenizer__json=text)


@case
def tokenizer_unigram(directory, size):
    return unigram(directory, [name(i) for i in range(size // 14)])


@case
def tokenizer_unigram_runs(directory, size):
    pieces = ["a" * i for i in range(1, 257)]
    while 270 * (len(pieces) - 128) < size:
        pieces.append("a" * 250 + name(len(pieces)))
    return unigram(directory, pieces, '"byte_fallback":true,')


@case
def tokenizer_word_piece(directory, size):
    return tokenizer(directory, ["##" + name(i) for i in range(size // 16)], model="WordPiece")


@case
def tokenizer_long_tokens(directory, size):
    return tokenizer(directory, [name(i) + "\u0120" * 5000 for i in range(max(1, size // 30000))])


@case
def tokenizer_control_tokens(directory, size):
    """Characters that take six bytes each when they are shown."""
    return tokenizer(directory, ["\x01" * 50 + name(i) for i in range(size // 310)])


@case
def tokenizer_same_added(directory, size):
    one = '{"id":%d,"content":"x","special":true}'
    return tokenizer(directory, ["a"], added=",".join(one % i for i in range(size // 40)))


@case
def tokenizer_added_to_one_id(directory, size):
    one = '{"id":0,"content":"%s","special":true}'
    return tokenizer(directory, ["a"], added=",".join(one % name(i) for i in range(size // 40)))


@case
def tokenizer_far_added(directory, size):
    one = '{"id":%d,"content":"%s","special":true}'
    return tokenizer(directory, ["a"], added=",".join(one % (2000000000 - i, name(i)) for i in range(size // 50)))


@case
def tokenizer_one_far_id(directory, size):
    """As far as ids may be beyond the tokens."""
    return tokenizer(directory, ["a"] + [name(i) for i in range(size // 15)], added='{"id":16777215,"content":"x"}')


@case
def tokenizer_deep_rules(directory, size):
    depth = min(size // 80, 30)
    rule = '{"type":"ByteLevel","add_prefix_space":false}'
    for _ in range(depth):
        rule = '{"type":"Sequence","pretokenizers":[%s,%s]}' % (rule, '{"type":"Digits"}')
    wide = ",".join([rule] * max(1, size // len(rule)))
    return tokenizer(directory, ["a"], rules='"pre_tokenizer":{"type":"Sequence","pretokenizers":[%s]}' % wide)


@case
def tokenizer_patterns(directory, size):
    rule = '{"type":"Split","pattern":{"Regex":"(?:%s)+"},"behavior":"Isolated","invert":false}' % ("(a|a)*" * 20)
    wide = ",".join([rule] * max(1, size // len(rule)))
    return tokenizer(directory, ["a"], rules='"pre_tokenizer":{"type":"Sequence","pretokenizers":[%s]}' % wide)


@case
def tokenizer_one_pattern(directory, size):
    rule = '{"type":"Split","pattern":{"Regex":"%s"},"behavior":"Isolated","invert":false}' % ("(a|a)*" * (size // 6))
    return tokenizer(directory, ["a"], rules='"pre_tokenizer":%s' % rule)


@case
def tokenizer_normalizers(directory, size):
    rule = '{"type":"Replace","pattern":{"String":"a"},"content":"aa"}'
    wide = ",".join([rule] * max(1, size // len(rule)))
    return tokenizer(directory, ["a"], rules='"normalizer":{"type":"Sequence","normalizers":[%s]}' % wide)


@case
def tokenizer_prepended(directory, size):
    """A long text before each of many added tokens."""
    one = '{"id":%d,"content":"%s","normalized":true}'
    added = ",".join(one % (i + 1, name(i)) for i in range(size // 100))
    return tokenizer(directory, ["a"], added=added, rules='"normalizer":{"type":"Prepend","prepend":"%s"}' % ("y" * (size // 2)))


@case
def tokenizer_template(directory, size):
    piece = '{"SpecialToken":{"id":"x","type_id":0}}'
    wide = ",".join([piece] * max(1, size // len(piece)))
    return tokenizer(directory, ["a"], rules='"post_processor":{"type":"TemplateProcessing","single":[%s]}' % wide)


@case
def tokenizer_special_tokens(directory, size):
    """In each file that may name them."""
    part = size // 3
    tokens = ",".join('"%s"' % name(i) for i in range(part // 6))
    return directory_with(directory, vocab__txt="\n".join(name(i) for i in range(part // 5)),
                          special_tokens_map__json='{"additional_special_tokens":[%s]}' % tokens,
                          tokenizer_config__json='{"additional_special_tokens":[%s]}' % tokens)


@case
def tokenizer_added_tokens_json(directory, size):
    return directory_with(directory, vocab__txt="a\nb\n", added_tokens__json="{%s}" % ",".join(
        '"%s":%d' % (name(i), i + 2) for i in range(size // 14)))


@case
def tokenizer_vocab_json(directory, size):
    half = size // 2
    return directory_with(directory, vocab__json="{%s}" % ",".join('"%s":%d' % (name(i), i) for i in range(half // 13)),
                          merges__txt="#version: 0.2\n" + "a b\n" * (half // 4))


@case
def tokenizer_merges_txt(directory, size):
    return directory_with(directory, vocab__json='{"a":0,"b":1}', merges__txt="\n" * (size // 2) + "a " * (size // 4))


@case
def tokenizer_template_names(directory, size):
    """Chat templates by name."""
    one = '{"name":"%s","template":"x"}'
    return directory_with(directory, vocab__txt="a\n", tokenizer_config__json='{"chat_template":[%s]}' % ",".join(
        one % name(i) for i in range(size // 34)))


@case
def tokenizer_chat_template(directory, size):
    return directory_with(directory, vocab__txt="a\n", chat_template__jinja="{%% if x %%}\\u0001%s" % ("\x01" * size))


# ---- SentencePiece ----

def field(number, kind, value):
    if kind == 0:
        return varint(number << 3) + varint(value)
    if kind == 5:
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def piece(text, score=-1.0, kind=1):
    return field(1, 2, field(1, 2, text) + field(2, 5, score) + field(3, 0, kind))


BPE = field(2, 2, field(3, 0, 2) + field(35, 0, 1))  # trained as byte pairs, with byte fallback


def sentencepiece(directory, pieces, more=BPE):
    start = piece(b"<unk>", 0.0, 2) + piece(b"<s>", 0.0, 3) + piece(b"</s>", 0.0, 3)
    return directory_with(directory, tokenizer__model=start + b"".join(pieces) + more)


@case
def sentencepiece_pieces(directory, size):
    return sentencepiece(directory, [piece(name(i).encode(), -i) for i in range(size // 15)])


@case
def sentencepiece_runs(directory, size):
    """Pieces of one letter, of every length up to 256, and those with another letter at the end."""
    pieces = [piece(b"a" * i, -i) for i in range(1, 257)]
    while 265 * (len(pieces) - 128) < size:
        pieces.append(piece(b"a" * 250 + name(len(pieces)).encode(), -len(pieces)))
    return sentencepiece(directory, pieces)


@case
def sentencepiece_halves(directory, size):
    pieces = [piece(b"a" * i, -i) for i in range(1, 129)] + [piece(b"b" * i, -200 - i) for i in range(1, 129)]
    pieces += [piece(b"a" * (i % 128 + 1) + b"b" * (i // 128 % 128 + 1), -500 - i) for i in range(size // 140)]
    return sentencepiece(directory, pieces)


@case
def sentencepiece_one_piece(directory, size):
    return sentencepiece(directory, [piece(b"a" * (size // 2)), piece(b"a" * (size // 4)), piece(b"a" * (size // 4 - 1))])


@case
def sentencepiece_same_piece(directory, size):
    return sentencepiece(directory, [piece(b"a")] * (size // 12))


@case
def sentencepiece_empty_pieces(directory, size):
    return sentencepiece(directory, [field(1, 2, b"")] * (size // 2))


@case
def sentencepiece_fields(directory, size):
    """Unknown fields."""
    return sentencepiece(directory, [field(1000, 0, 1)] * (size // 3))


@case
def sentencepiece_charsmap(directory, size):
    return sentencepiece(directory, [piece(b"a")], field(3, 2, field(2, 2, bytes(size))))


@case
def sentencepiece_charsmap_trie(directory, size):
    """A table of characters whose units all lead on."""
    units = struct.pack("<I", size // 2) + struct.pack("<I", 0x000004FF) * (size // 8) + b"a\0" * (size // 4)
    return sentencepiece(directory, [piece(b"a")], BPE + field(3, 2, field(2, 2, units)))


@case
def sentencepiece_symbols(directory, size):
    """User-defined symbols of the trainer."""
    symbols = b"".join(field(31, 2, name(i).encode()) for i in range(size // 6))
    return sentencepiece(directory, [piece(b"a")], field(2, 2, symbols))


@case
def sentencepiece_unigram(directory, size):
    return sentencepiece(directory, [piece(name(i).encode(), -i) for i in range(size // 15)], field(2, 2, field(3, 0, 1)))


@case
def tekken(directory, size):
    return directory_with(directory, tekken__json='{"vocab":[%s]}' % ",".join(
        '{"rank":%d,"token_bytes":"YQ=="}' % i for i in range(size // 36)))


RUNS = ("run --vocab", "run --tokenizer")


@case(verbs=RUNS)
def run_vocab_lines(directory, size):
    return put(directory, "v.txt", "\n".join(name(i) for i in range(size // 5)))


@case(verbs=RUNS)
def run_vocab_same_line(directory, size):
    return put(directory, "v.txt", "a\n" * (size // 2))


@case(verbs=RUNS)
def run_vocab_pairs(directory, size):
    return put(directory, "v.txt", "\n".join("a " + name(i) for i in range(size // 7)))


@case(verbs=RUNS)
def run_vocab_long_line(directory, size):
    return put(directory, "v.txt", "a " * (size // 2))


# ---- what `tare plan` writes ----

PLANNED = ("task", "finish")


@case(verbs=PLANNED)
def plan_words(directory, size):
    return put(directory, "p.json", '{"tare_plan":1,"directory":"/","convert":[%s],"tasks":[1],"id":""}' % ",".join(
        '"a"' for _ in range(size // 4)))


@case(verbs=PLANNED)
def plan_tasks(directory, size):
    return put(directory, "p.json", '{"tare_plan":1,"directory":"/","convert":["a","b"],"tasks":[%s],"id":""}' % ",".join(
        "0" for _ in range(size // 2)))


@case(verbs=PLANNED)
def plan_lists(directory, size):
    return put(directory, "p.json", '{"x":[%s]}' % ",".join("[]" for _ in range(size // 3)))


@case(verbs=PLANNED)
def plan_keys(directory, size):
    return put(directory, "p.json", "{%s}" % ",".join('"%s":0' % name(i) for i in range(size // 9)))
