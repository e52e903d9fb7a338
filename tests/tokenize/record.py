#!/usr/bin/env python3
"""Writes recorded.json: small tokenizers of every kind, and the ids that the packages tokenizers and sentencepiece give texts.

    tools/judge tests/tokenize/record.py

The test `Tokenizer.Recorded` compares Tare's ids with these. tests/real/tokenizing.py compares many more, with the packages themselves.
"""
import ast
import io
import json
import pathlib
import re
import sys
import tempfile

import sentencepiece
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
from tokenizing_texts import texts  # noqa: E402

PRE = HERE.parents[1] / "src/formats/gguf/llama_cpp/pre_tokenizers.cpp"


def cuts():
    """The ways to split texts that Tare has a name for: {group: steps}."""
    text = '"(?:[^"\\\\]|\\\\.)*"'
    row = re.compile(r'\{"([\w.-]+)",\s*\{((?:\s*,?\s*(?:R"\(.*?\)"|' + text + r'))+)\}\}', re.DOTALL)
    found = {}
    for name, body in row.findall(PRE.read_text(encoding="utf-8")):
        steps = re.findall(r'R"\((.*?)\)"|((?:' + text + r'\s*)+)', body, re.DOTALL)
        found[name] = [raw or "".join(map(ast.literal_eval, re.findall(text, plain))) for raw, plain in steps]
    return found


def names():
    """What GGUF calls them: {name: (group, whether a word that is a token is not built by merges)}."""
    rows = re.findall(r'^ +\{"([^"]+)", "([^"]+)"(.*)\},?$', PRE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (group, "kPreWhole" in flags or "ignores_merges = true" in flags) for name, group, flags in rows}


def splitter(steps):
    made = []
    for step in steps:
        if step == "bytes":
            made.append(pre_tokenizers.ByteLevel(add_prefix_space=False))
        elif step == "digits one by one":
            made.append(pre_tokenizers.Digits(individual_digits=True))
        else:
            made.append(pre_tokenizers.Split(tokenizers.Regex(step.removeprefix("split ")), "isolated"))
    if steps[-1] != "bytes":
        made.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    return pre_tokenizers.Sequence(made)


def add_tokens(tokenizer):
    tokenizer.add_tokens([AddedToken("<|a|>", special=True), AddedToken("<mask>", special=True, lstrip=True),
                          AddedToken("<r>", rstrip=True, normalized=False), AddedToken("quick", single_word=True)])


def hugging_face():
    corpus = texts(600, 11)
    made = {}
    byte_level = tokenizers.Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    byte_level.decoder = decoders.ByteLevel()
    byte_level.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    for name, steps in cuts().items():
        byte_level.pre_tokenizer = splitter(steps)
        made[f"bytes {name}"] = byte_level.to_str()
    words = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer, words.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    words.decoder = decoders.WordPiece()
    words.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=400, limit_alphabet=150, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    add_tokens(words)
    made["word pieces"] = words.to_str()
    pieces = tokenizers.Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    pieces.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    pieces.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    pieces.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=600, limit_alphabet=80, special_tokens=["<unk>", "<s>"] + [f"<0x{byte:02X}>" for byte in range(256)], show_progress=False))
    add_tokens(pieces)
    made["pieces by merges"] = pieces.to_str()
    likeliest = tokenizers.Tokenizer(models.Unigram())
    likeliest.normalizer, likeliest.pre_tokenizer, likeliest.decoder = normalizers.NFKC(), pre_tokenizers.Metaspace(), decoders.Metaspace()
    likeliest.train_from_iterator(corpus, trainers.UnigramTrainer(vocab_size=1100, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
    made["likeliest pieces"] = likeliest.to_str()
    whole = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    whole.train_from_iterator(corpus, trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False))
    made["whole words"] = whole.to_str()
    return made


def google():
    rules = "FF21\t41\nFB01\t66 69\n65 301\tE9\n3000\t20\n9\t20\n"
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "rules.tsv"
        table.write_text(rules, encoding="utf-8")
        for name, options in {
                "sentencepiece bpe": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
                "sentencepiece bpe, user-defined": {"model_type": "bpe", "add_dummy_prefix": False, "normalization_rule_name": "identity",
                                                    "remove_extra_whitespaces": False, "user_defined_symbols": ["<|a|>", "ing"]},
                "sentencepiece unigram": {"normalization_rule_tsv": str(table)}}.items():
            model = io.BytesIO()
            sentences = iter([line for text in texts(600, 11) for line in text.split("\n") if line and "\0" not in line])
            sentencepiece.SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=900, character_coverage=0.98,
                                                     hard_vocab_limit=False, minloglevel=2, **options)
            made[name] = model.getvalue()
    return made


def main():
    some = texts(60, 3, ["<|a|>", "<mask>", " <r>  ", "quick", "quickly"])
    recorded = []
    for name, text in hugging_face().items():
        judge = tokenizers.Tokenizer.from_str(text)
        compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
        shared = name.startswith("bytes ") and name != "bytes llama"
        kept = {"pre_tokenizer": json.loads(text)["pre_tokenizer"]} if shared else {"tokenizer": compact}
        recorded.append({"name": name, **kept, "ids": [judge.encode(one).ids for one in some]})
    for name, data in google().items():
        judge = sentencepiece.SentencePieceProcessor(model_proto=data)
        recorded.append({"name": name, "model": data.hex(), "ids": [judge.encode(one) for one in some]})
    lines = ",\n".join(json.dumps(one, ensure_ascii=True, separators=(",", ":")) for one in recorded)
    texts_line = json.dumps(some, ensure_ascii=True)
    (HERE / "recorded.json").write_text(f'{{"texts": {texts_line},\n"tokenizers": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
