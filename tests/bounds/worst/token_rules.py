"""Directories whose tokenizer.json asks for much when a text becomes tokens, or tokens become text: rules that multiply
what they get, pieces that begin alike, replacements as long as the file."""
import base64
import json
import struct

from worst.common import case, name
from worst.directories import directory_with

TOKENS = ("tokens", "tokens --pieces", "tokens --decode")


def rules(directory, model, **parts):
    return directory_with(directory, tokenizer__json=json.dumps({"version": "1.0", **parts, "model": model}))


def letters(**more):
    return {"type": "BPE", "vocab": {"a": 0, "b": 1, "\u2581": 2}, "merges": [], **more}


def unigram(pieces, **more):
    return {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *([piece, -1.0 - i] for i, piece in enumerate(pieces))],
            **more}


def lengths(size):
    """As many rows of one letter as fit, each longer than the one before."""
    return ["a" * i for i in range(1, min(4096, max(2, int((2 * size) ** 0.5))))]


def replace(what, by):
    return {"type": "Replace", "pattern": {"String": what}, "content": by}


@case(verbs=TOKENS, allowed=True)
def rules_pieces_begin_alike(directory, size):
    return rules(directory, unigram(lengths(size)))


@case(verbs=TOKENS, allowed=True)
def rules_words_begin_alike(directory, size):
    words = lengths(size // 2)
    return rules(directory, {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
                             "max_input_chars_per_word": 10 ** 9,
                             "vocab": {word: i for i, word in enumerate(words + ["##" + word for word in words])}})


@case(verbs=TOKENS, allowed=True)
def rules_added_begin_alike(directory, size):
    return rules(directory, letters(), added_tokens=[
        {"id": 3 + i, "content": word + "b", "special": False, "normalized": i % 2 == 0}
        for i, word in enumerate(lengths(size))])


@case(verbs=TOKENS, allowed=True)
def rules_added_that_grow(directory, size):
    """Every added token goes through normalizers that make it long."""
    steps = [replace("a", "a" * 20)] * 8
    return rules(directory, letters(), normalizer={"type": "Sequence", "normalizers": steps}, added_tokens=[
        {"id": 3 + i, "content": "a" * 50 + name(i), "special": False, "normalized": True} for i in range(size // 140)])


@case(verbs=TOKENS, allowed=True)
def rules_many_added(directory, size):
    return rules(directory, letters(), normalizer={"type": "NFKC"}, added_tokens=[
        {"id": 3 + i, "content": "\uFDFA" * 3 + name(i), "special": False, "normalized": True} for i in range(size // 100)])


@case(verbs=TOKENS, allowed=True)
def rules_added_of_marks(directory, size):
    """Marks are put in order one by one."""
    return rules(directory, letters(), normalizer={"type": "NFD"}, added_tokens=[
        {"id": 3 + i, "content": "\u0301\u0323" * 1000, "special": False, "normalized": True}
        for i in range(max(1, size // 12100))])


@case(verbs=TOKENS, allowed=True)
def rules_added_that_are_cleaned(directory, size):
    """Short tokens, each of which goes through every step."""
    steps = [{"type": "BertNormalizer"}] * 60
    return rules(directory, letters(), normalizer={"type": "Sequence", "normalizers": steps}, added_tokens=[
        {"id": 3 + i, "content": name(i)} for i in range(size // 32)])


@case(verbs=TOKENS, allowed=True)
def rules_normalizers_that_clean(directory, size):
    return rules(directory, letters(), normalizer={"type": "Sequence", "normalizers": [
        replace("a", "\u4e00\u00c9" * min(700, size // 8)), *[{"type": "BertNormalizer"}] * 60]})


@case(verbs=TOKENS, allowed=True)
def rules_normalizers_that_multiply(directory, size):
    return rules(directory, letters(), normalizer={
        "type": "Sequence", "normalizers": [replace("a", "a" * max(1, size // 64))] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_prepended(directory, size):
    return rules(directory, letters(), normalizer={
        "type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "a" * max(1, size // 64)}] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_pattern_tries_everything(directory, size):
    split = {"type": "Split", "pattern": {"Regex": "(?:a|aa|aaa)+c|(?:a+a+)+c"}, "behavior": "Isolated", "invert": False}
    return rules(directory, letters(), pre_tokenizer={"type": "Sequence", "pretokenizers": [split] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_pattern_of_ranges(directory, size):
    ranges = "".join(chr(0x4E00 + 2 * i % 20000) for i in range(size // 3))
    split = {"type": "Split", "pattern": {"Regex": "(?i:[a%s]+)" % ranges}, "behavior": "Isolated", "invert": False}
    return directory_with(directory, tokenizer__json=json.dumps({"pre_tokenizer": split, "model": letters()},
                                                                ensure_ascii=False))


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def ideographs(count):
    return "".join(chr(0x4E00 + 2 * i % 20000) for i in range(count))


def split_by(directory, *patterns):
    return directory_with(directory, tokenizer__json=json.dumps(
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split(one) for one in patterns]}, "model": letters()},
        ensure_ascii=False))


@case(verbs=TOKENS, allowed=True)
def rules_patterns_without_case(directory, size):
    """Sets that are closed under case, and each character of the text is looked up in all of them."""
    part = ideographs(size // 3 // 60)
    return split_by(directory, *("(?i)[%s%s]+a" % (part, chr(0x4E01 + 2 * i)) for i in range(60)))


@case(verbs=TOKENS, allowed=True)
def rules_pattern_of_sets(directory, size):
    """Sets in a set."""
    return split_by(directory, "[%s]+b" % "".join("[^%s]" % one for one in ideographs(size // 6)))


@case(verbs=TOKENS, allowed=True)
def rules_pattern_of_letters_without_case(directory, size):
    letters = "".join(chr(c) for c in range(0x400, 0x460))
    return split_by(directory, *("(?i)" + letters * max(1, size // 200 // 60) for _ in range(60)))


@case(verbs=TOKENS, allowed=True)
def rules_pattern_of_classes(directory, size):
    return split_by(directory, "|".join(r"(?i:[^\p{L}%s])" % one for one in ideographs(size // 19)))


@case(verbs=TOKENS, allowed=True)
def rules_patterns_of_nothing(directory, size):
    """Each place of a text is a match."""
    return rules(directory, letters(), normalizer={
        "type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"Regex": "b*"}, "content": "x"}] * 10},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split("|a")] * 50})


@case(verbs=TOKENS, allowed=True)
def rules_patterns_repeated(directory, size):
    split = {"type": "Split", "pattern": {"Regex": "(?:a{1,3}b){1,1000}" * 4}, "behavior": "Isolated", "invert": False}
    return rules(directory, letters(), pre_tokenizer={"type": "Sequence", "pretokenizers": [split] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_blanks_again(directory, size):
    step = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    return rules(directory, letters(), pre_tokenizer={"type": "Sequence", "pretokenizers": [step] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_long_suffix(directory, size):
    return rules(directory, letters(end_of_word_suffix="x" * (size // 2), continuing_subword_prefix="y" * (size // 2)))


@case(verbs=TOKENS, allowed=True)
def rules_long_unknown(directory, size):
    long = "u" * (size // 2)
    return rules(directory, {"type": "WordLevel", "unk_token": long, "vocab": {long: 0}},
                 pre_tokenizer={"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False})


@case(verbs=TOKENS, allowed=True)
def rules_decoders_that_multiply(directory, size):
    return rules(directory, letters(), decoder={
        "type": "Sequence", "decoders": [replace("a", "a" * max(1, size // 64))] * 60})


@case(verbs=TOKENS, allowed=True)
def rules_decoders_of_a_long_token(directory, size):
    long = "a" * (size // 3)
    return rules(directory, {"type": "WordLevel", "unk_token": long, "vocab": {long: 0}}, decoder={
        "type": "Sequence", "decoders": [replace("a", "b"), replace("b", "a")] * 30})


@case(verbs=TOKENS, allowed=True)
def rules_decoders_that_search(directory, size):
    """Each place of a long token is compared with a text that is nearly there."""
    long = "a" * (size // 3)
    return rules(directory, {"type": "WordLevel", "unk_token": long, "vocab": {long: 0}}, decoder={
        "type": "Sequence", "decoders": [replace("a" * (size // 6) + "b", "c")] * 2})


@case(verbs=TOKENS, allowed=True)
def rules_characters(directory, size):
    """A table of characters with one replacement as long as the file."""
    units = bytearray(struct.pack("<I", 0) * 512)
    root, letter = 0, ord("a")
    units[0:4] = struct.pack("<I", 256 << 10)  # the children of the root begin at unit 256
    at = (256 ^ letter) * 4
    units[at:at + 4] = struct.pack("<I", (1 << 10) | 0x100 | letter)  # an end; its value is at the next unit
    value = (256 ^ letter ^ 1) * 4
    units[value:value + 4] = struct.pack("<I", 0x80000000 | root)
    table = struct.pack("<I", len(units)) + bytes(units) + b"b" * (size * 3 // 8) + b"\0"
    return rules(directory, letters(), normalizer={
        "type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()})
