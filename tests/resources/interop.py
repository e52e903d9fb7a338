#!/usr/bin/python3
"""tokenizer.model files made by the sentencepiece package, and what it finds in them, against what tare finds there.

    interop.py TARE        needs the sentencepiece package; without it, exit status 77
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import sentencepiece
except ImportError:
    sentencepiece = None

TARE = None
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(6)  # tare's TokenType; bos, eos and pad follow

MODELS = {
    "unigram": {},
    "bpe": {"model_type": "bpe"},
    "char": {"model_type": "char", "vocab_size": 60},
    "word": {"model_type": "word", "vocab_size": 200},
    "byte_fallback": {"byte_fallback": True, "vocab_size": 700, "character_coverage": 0.98},
    "byte_fallback_bpe": {"byte_fallback": True, "vocab_size": 700, "character_coverage": 0.98, "model_type": "bpe"},
    "user_defined": {"user_defined_symbols": ["<tag>", "<sep>", "two words", "東京"]},
    "control": {"control_symbols": ["<ctl>", "<mask>"], "user_defined_symbols": ["<a>"], "model_type": "bpe"},
    "no_bos_no_eos": {"bos_id": -1, "eos_id": -1},
    "t5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    "other_names": {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "bos_piece": "[CLS]",
                    "eos_piece": "[SEP]", "unk_piece": "[UNK]"},
    "bos_is_user_defined": {"user_defined_symbols": ["<s>", "</s>"]},
    "not_normalized": {"normalization_rule_name": "identity", "add_dummy_prefix": False, "split_digits": True},
}


def train(at, options):
    words = random.Random(5)
    known = ["".join(words.choices("abcdefghijklmnopqrstuvwxyz", k=words.randint(2, 8))) for _ in range(300)]
    text = at / "text"
    text.write_text("".join(" ".join(words.choices(known, k=8)) + f" line {i} é 東京 🙂 <tag>\n" for i in range(2000)))
    sentencepiece.SentencePieceTrainer.train(**{
        "input": str(text), "model_prefix": str(at / "made"), "vocab_size": 400, "character_coverage": 1.0,
        # How many pieces it finds in a text depends on its version.
        "hard_vocab_limit": False, "minloglevel": 2, **options})
    return (at / "made.model").read_bytes()


def found_by_tare(at, model):
    """The vocabulary that tare keeps in the private member of an npz, as text."""
    home = at / "model"
    home.mkdir()
    header = b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    (home / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"\0")
    (home / "config.json").write_text("{}")
    (home / "tokenizer.model").write_bytes(model)
    subprocess.run([TARE, "convert", home, at / "it.npz"], check=True, capture_output=True)
    with zipfile.ZipFile(at / "it.npz") as archive:
        return json.loads(archive.read("__tare__.json"))["vocabulary"]


def type_of(processor, piece):
    for kind, asked in ((UNKNOWN, processor.is_unknown), (CONTROL, processor.is_control), (UNUSED, processor.is_unused),
                        (BYTE, processor.is_byte)):
        if asked(piece):
            return kind
    return NORMAL


class Models(unittest.TestCase):
    maxDiff = None

    def check(self, options):
        with tempfile.TemporaryDirectory() as directory:
            at = pathlib.Path(directory)
            model = train(at, options)
            processor = sentencepiece.SentencePieceProcessor(model_proto=model)
            found = found_by_tare(at, model)
        self.assertEqual(found["kind"], "spm")
        for name in ("unk", "bos", "eos", "pad"):
            self.assertEqual(found[name], getattr(processor, name + "_id")(), name)
        pieces = range(processor.get_piece_size())
        self.assertEqual([bytes.fromhex(token["$bytes"]).decode() for token in found["tokens"]],
                         [processor.id_to_piece(piece) for piece in pieces])
        self.assertEqual(found["scores"], [processor.get_score(piece) for piece in pieces])
        # The package does not distinguish user-defined pieces from normal ones, and has no type for bos, eos and pad.
        roles = {found[name] for name in ("bos", "eos", "pad")}
        types = [CONTROL if piece in roles else NORMAL if kind == USER_DEFINED else kind
                 for piece, kind in enumerate(found["types"])]
        self.assertEqual(types, [type_of(processor, piece) for piece in pieces])
        told = options.get("user_defined_symbols", [])
        self.assertEqual(sorted(processor.id_to_piece(piece) for piece in pieces if found["types"][piece] == USER_DEFINED),
                         sorted(told))


for name, options in MODELS.items():
    setattr(Models, "test_" + name, lambda self, options=options: self.check(options))


if __name__ == "__main__":
    if sentencepiece is None:
        print("no sentencepiece")
        sys.exit(77)
    TARE = sys.argv.pop(1)
    unittest.main()
