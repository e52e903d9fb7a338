#!/usr/bin/env python3
"""`tare tokens` gives the ids of tokenizers, sentencepiece and llama.cpp, for thousands of texts and every kind of tokenizer.

    tokenizing.py TARE [PART...]

SmolLM2's own tokenizer is compared with llama.cpp. Small ones of every other kind are trained by the package that judges them.
"""
import io
import json
import os
import struct
import sys

import llama_library
from judging import ROOT, check, equal, main, need, note, part, smollm, tare
from tokenizing_texts import malformed, texts

sys.path.insert(0, str(ROOT / "tests/tokenize"))

COUNT = 3000
MARKS = ["<|im_start|>", "<mask>", " <mask>", "<r>", "<r>  ", "quick", "quickly"]
ALPHABET = 256


def ids_of(path, some, *options):
    """For each text, which may be bytes; many in one call of the command."""
    made, batch, size = [], [], 0
    for text in [*some, None]:
        data = text.encode() if isinstance(text, str) else text
        if batch and (data is None or size + len(data) > 60000):
            lines = json.loads(tare("tokens", path, "--json", *options, "--", *batch, text=False))["texts"]
            made += [line["ids"] for line in lines]
            batch, size = [], 0
        if data is not None:
            batch.append(os.fsdecode(data))
            size += len(data) + 8
    return made


def compare(found, expected, some, what):
    equal(len(found), len(some), f"{what}: how many")
    for ours, theirs, text in zip(found, expected, some):
        equal(ours, theirs, f"{what}: {text!r}", "texts")


def plain(some):
    """Texts that an argument of a command can be."""
    return [text for text in some if text and "\0" not in text]


def directory(folder, files):
    """A model's directory without a weight."""
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2) + b"{}")
    (folder / "config.json").write_text('{"model_type": "llama"}')
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def trained_bytes():
    tokenizers = need("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.train_from_iterator(texts(2500, 11), tokenizers.trainers.BpeTrainer(
        vocab_size=5000, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>"], show_progress=False))
    return tokenizer


def gguf_file(path, pre, tokenizer):
    gguf = need("gguf")
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in ((writer.add_context_length, 64), (writer.add_embedding_length, 8), (writer.add_block_count, 0), (writer.add_feed_forward_length, 8),
                       (writer.add_head_count, 1), (writer.add_layer_norm_rms_eps, 1e-5), (writer.add_rope_dimension_count, 8), (writer.add_vocab_size, len(tokens)),
                       (writer.add_tokenizer_model, "gpt2"), (writer.add_tokenizer_pre, pre), (writer.add_token_list, tokens),
                       (writer.add_token_types, [3 if token in ("<s>", "</s>") else 1 for token in tokens]),
                       (writer.add_token_merges, [" ".join(merge) if isinstance(merge, list) else merge for merge in model["merges"]]),
                       (writer.add_bos_token_id, 0), (writer.add_eos_token_id, 1)):
        add(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@part
def smollm_texts(folder):
    """SmolLM2: the wheel's GGUF and its conversions have llama.cpp's ids, and decoding returns the texts."""
    some = plain(texts(COUNT, special=["<|im_start|>", "<|im_end|>", "<repo_name>", "<|endoftext|>"]))
    with llama_library.Model(smollm(), vocabulary_only=True) as judge:
        for options, special in ((["--no-bos"], False), (["--no-bos", "--special"], True)):
            compare(ids_of(smollm(), some, *options), [judge.tokenize(text, special=special) for text in some], some, f"special: {special}")
        expected = [judge.tokenize(text) for text in some[:500]]
    for target in ("model.zt", "model.mcf", "directory/"):
        tare("convert", smollm(), f"{folder}/{target}")
        compare(ids_of(folder / target, some[:500], "--no-bos"), expected, some[:500], target)
    for text, ids in list(zip(some, expected))[:100]:
        if ids:
            equal(tare("tokens", smollm(), "--decode", ",".join(map(str, ids)), text=False), text.encode() + b"\n", f"decoded: {text!r}", "decoded texts")


@part
def ways_to_split(folder):
    """Every name of a way to split texts that GGUF has: the pattern as tokenizers matches it, the name as llama.cpp does if it knows it."""
    need("tokenizers")
    import record
    some = plain(texts(COUNT))
    tokenizer = trained_bytes()
    names = record.names()
    for group, steps in record.cuts().items():
        tokenizer.pre_tokenizer = record.splitter(steps)
        state = json.loads(tokenizer.to_str())
        for whole in (False, True):
            state["model"]["ignore_merges"] = whole
            path = directory(folder / "hf", {"tokenizer.json": json.dumps(state)})
            judge = need("tokenizers").Tokenizer.from_file(str(path / "tokenizer.json"))
            expected = [one.ids for one in judge.encode_batch(some, add_special_tokens=False)]
            compare(ids_of(path, some, "--no-bos"), expected, some, f"{group}, tokenizer.json, ignore_merges: {whole}")
            for name in (name for name, (its, ignores) in names.items() if its == group and ignores == whole):
                few = some if name == group else some[:300]
                gguf_file(folder / "one.gguf", name, tokenizer)
                found = ids_of(folder / "one.gguf", few, "--no-bos")
                compare(found, expected[:len(few)], few, f"{name}, key")
                # llama.cpp matches these groups as their programs do; of the others it makes something similar.
                if group not in ("llama", "qwen2", "gpt-2", "digits"):
                    continue
                try:
                    with llama_library.Model(folder / "one.gguf", vocabulary_only=True) as llama:
                        # It does not know that the long s is an s, as the patterns' own program does.
                        both = [(text, ids) for text, ids in zip(few, found) if "\u017f" not in text]
                        compare([ids for _, ids in both], [llama.tokenize(text) for text, _ in both], [text for text, _ in both], f"{name}, llama.cpp")
                except AssertionError as reason:
                    note(f"llama.cpp here does not know {name} ({reason})")


def judge_tokenizer(folder, name, tokenizer, frame=False):
    tokenizers = need("tokenizers")
    tokenizer.add_tokens([tokenizers.AddedToken("<|im_start|>", special=True), tokenizers.AddedToken("<mask>", special=True, lstrip=True),
                          tokenizers.AddedToken("<r>", rstrip=True, normalized=False), tokenizers.AddedToken("quick", single_word=True, normalized=True)])
    path = directory(folder / "hf", {"tokenizer.json": tokenizer.to_str()})
    judge = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
    some = plain(texts(COUNT, special=MARKS))
    compare(ids_of(path, some, "--special", *([] if frame else ["--no-bos"])), [one.ids for one in judge.encode_batch(some, add_special_tokens=frame)], some, name)
    judge.encode_special_tokens = True
    some = some[:500]
    compare(ids_of(path, some, "--no-bos"), [one.ids for one in judge.encode_batch(some, add_special_tokens=False)], some, f"{name}, special tokens as letters")


@part
def kinds_of_tokenizer_json(folder):
    """Word pieces, whole words, pieces by merges with and without bytes, suffixes, and every way that a match can split a text."""
    tokenizers = need("tokenizers")
    models, normalizers, pre, decoders, trainers = (getattr(tokenizers, name) for name in ("models", "normalizers", "pre_tokenizers", "decoders", "trainers"))
    corpus, regex = texts(2500, 11), tokenizers.Regex
    for lower in (True, False):
        one = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
        one.normalizer, one.pre_tokenizer, one.decoder = normalizers.BertNormalizer(lowercase=lower), pre.BertPreTokenizer(), decoders.WordPiece()
        one.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False))
        one.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
        judge_tokenizer(folder, f"word pieces, small letters: {lower}", one, frame=True)
    one = tokenizers.Tokenizer(models.WordLevel(unk_token="[UNK]"))
    one.pre_tokenizer = pre.Whitespace()
    one.train_from_iterator(corpus, trainers.WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False))
    judge_tokenizer(folder, "whole words", one)
    one = tokenizers.Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    one.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    one.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=4000, special_tokens=["<unk>", "<s>"] + [f"<0x{byte:02X}>" for byte in range(ALPHABET)], show_progress=False, limit_alphabet=300))
    one.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    judge_tokenizer(folder, "pieces by merges, bytes", one, frame=True)
    one = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    one.pre_tokenizer = pre.Metaspace(prepend_scheme="first")
    one.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=3000, special_tokens=["<unk>"], show_progress=False, limit_alphabet=200))
    judge_tokenizer(folder, "pieces by merges, unknown characters", one)
    one = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    one.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(regex(r"\s+"), " "), normalizers.Lowercase()])
    one.pre_tokenizer = pre.Sequence([pre.Split(regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True),
                                      pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    one.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=3000, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False,
                                                        initial_alphabet=pre.ByteLevel.alphabet()))
    judge_tokenizer(folder, "suffixes at the end of words", one)
    possessive = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    scripts = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
               r"|\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    last = pre.ByteLevel(add_prefix_space=False, use_regex=False)
    for name, splitter in {
            "with the one before": pre.Split(" ", "merged_with_previous"), "with the next": pre.Split(regex(r"[aeiou\s]"), "merged_with_next"),
            "contiguous": pre.Split(regex(r"\s|\d"), "contiguous"), "punctuation": pre.Sequence([pre.Punctuation("contiguous"), pre.WhitespaceSplit()]),
            "digits": pre.Sequence([pre.Digits(individual_digits=False), pre.ByteLevel(add_prefix_space=True)]),
            "possessive": pre.Sequence([pre.Split(regex(possessive), "isolated"), last]), "scripts": pre.Sequence([pre.Split(regex(scripts), "isolated"), last])}.items():
        one = tokenizers.Tokenizer(models.BPE())
        one.pre_tokenizer = splitter
        one.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=3000, show_progress=False, initial_alphabet=pre.ByteLevel.alphabet()))
        judge_tokenizer(folder, f"split: {name}", one)


def likeliest_differ_only_in_ties(folder, name, tokenizer):
    """The judge adds up the scores of a run of equal characters in another order: of pieces with the same sum, it may choose others."""
    tokenizers = need("tokenizers")
    path = directory(folder / "hf", {"tokenizer.json": tokenizer.to_str()})
    judge, some = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json")), plain(texts(COUNT, special=MARKS))
    expected = [one.ids for one in judge.encode_batch(some, add_special_tokens=False)]
    differ = 0
    for ours, theirs, text in zip(ids_of(path, some, "--no-bos"), expected, some):
        check(sorted(ours) == sorted(theirs), f"{name}: {text!r}: expected {theirs}, found {ours}", "texts")
        differ += ours != theirs
    check(differ <= len(some) // 200, f"{name}: {differ} texts have their tokens in another order")
    note(f"{name}: {differ} of {len(some)} texts have the same tokens in another order")


@part
def likeliest_pieces(folder):
    """Unigram models of tokenizer.json, with the normalizers that they have."""
    tokenizers = need("tokenizers")
    normalizers, pre = tokenizers.normalizers, tokenizers.pre_tokenizers
    for name, normalizer, splitter in (("NFKC", normalizers.NFKC(), pre.Metaspace()), ("NFD", normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Strip()]),
                                                                                    pre.Metaspace(prepend_scheme="never")), ("NFKD", normalizers.NFKD(), pre.Metaspace(split=False))):
        one = tokenizers.Tokenizer(tokenizers.models.Unigram())
        one.normalizer, one.pre_tokenizer = normalizer, splitter
        one.train_from_iterator(texts(2500, 11), tokenizers.trainers.UnigramTrainer(vocab_size=2000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
        likeliest_differ_only_in_ties(folder, name, one)


@part
def sentencepiece_files(folder):
    """tokenizer.model of every kind, texts and bytes that are not UTF-8."""
    sentencepiece = need("sentencepiece")
    kinds = {"BPE with bytes": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
             "BPE, nmt_nfkc": {"model_type": "bpe", "normalization_rule_name": "nmt_nfkc"},
             "BPE, user-defined": {"model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, "normalization_rule_name": "identity",
                                   "remove_extra_whitespaces": False, "user_defined_symbols": ["<|im_start|>", "   ", "ing", "def "], "control_symbols": ["<ctl>"]},
             "unigram, nmt_nfkc": {"normalization_rule_name": "nmt_nfkc"}, "unigram, nfkc_cf with bytes": {"normalization_rule_name": "nfkc_cf", "byte_fallback": True},
             "unigram, identity": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}}
    some = plain(texts(COUNT, special=["<|im_start|>"])) + malformed(400)
    for name, options in kinds.items():
        model = io.BytesIO()
        lines = iter([line for text in texts(2500, 11) for line in text.split("\n") if line and "\0" not in line])
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=model, vocab_size=2200 if "model_type" in options else 1600,
                                                 character_coverage=0.98, hard_vocab_limit=False, minloglevel=2, **options)
        path = directory(folder / "hf", {"tokenizer.model": model.getvalue()})
        judge = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        compare(ids_of(path, some, "--no-bos"), [judge.encode(text) for text in some], some, name)


if __name__ == "__main__":
    sys.exit(main())
