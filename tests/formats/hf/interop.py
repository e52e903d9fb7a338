"""Hugging Face's libraries as the other side: they save a tiny model of random weights, Tare converts its directory
(straight, and by way of one file), they load the result, and it computes what the original did.

usage: hub_interop.py TARE    (TARE: the command)
Exit status 77: torch or transformers is missing, nothing was tested. Without peft, diffusers, sentence-transformers or
sentencepiece the parts that need them are skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", HF_HUB_DISABLE_PROGRESS_BARS="1")
try:
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TARE = ""
torch.set_num_threads(1)


def tare(*arguments, code=0):
    done = subprocess.run([TARE, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout + done.stderr


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def llama(**more):
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, **more)
    return transformers.LlamaForCausalLM(config).eval()


IDS = torch.arange(12)[None]


class Case(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="tare-hub-")
        self.addCleanup(held.cleanup)
        self.at = pathlib.Path(held.name)

    def ways(self, source):
        """The directory converted straight and by way of a file of each kind that carries everything."""
        tare("convert", source, f"{self.at}/straight/")
        yield self.at / "straight"
        for suffix in ("zt", "mcf", "npz"):
            tare("convert", source, self.at / f"there.{suffix}")
            tare("convert", self.at / f"there.{suffix}", f"{self.at}/by_{suffix}/")
            yield self.at / f"by_{suffix}"

    def test_a_model_whole_and_in_shards(self):
        model = llama().to(torch.bfloat16)
        model.save_pretrained(self.at / "whole")
        model.save_pretrained(self.at / "shards", max_shard_size="20KB")
        wanted = transformers.AutoModelForCausalLM.from_pretrained(self.at / "whole").eval()(IDS).logits
        for source in ("whole", "shards"):
            for found in self.ways(self.at / source):
                loaded = transformers.AutoModelForCausalLM.from_pretrained(found)
                self.assertTrue(torch.equal(loaded.eval()(IDS).logits, wanted), found)
            for path in self.at.iterdir():
                if path.name.startswith(("straight", "by_", "there")):
                    subprocess.run(["rm", "-r", path], check=True)

    def test_shards_are_merged_by_one_flag(self):
        model = llama()
        model.save_pretrained(self.at / "shards", max_shard_size="20KB")
        tare("convert", self.at / "shards", self.at / "all.safetensors", "--weights-only", "--dialect", "upstream")
        shards = {}
        for file in (self.at / "shards").glob("*.safetensors"):
            shards |= load_file(file)
        save_file(shards, self.at / "wanted.safetensors", metadata={"format": "pt"})
        self.assertEqual((self.at / "all.safetensors").read_bytes(), (self.at / "wanted.safetensors").read_bytes())

    def test_a_variant(self):
        llama().to(torch.float16).save_pretrained(self.at / "m", variant="fp16", max_shard_size="20KB")
        wanted = transformers.AutoModelForCausalLM.from_pretrained(self.at / "m", variant="fp16")(IDS).logits
        for shard in ([], ["--shard", "20KB"]):
            out = self.at / f"out{len(shard)}"
            tare("convert", self.at / "m", f"{out}/", *shard)
            loaded = transformers.AutoModelForCausalLM.from_pretrained(out, variant="fp16")
            self.assertTrue(torch.equal(loaded(IDS).logits, wanted))

    def test_a_cast_tells_config_json(self):
        llama().to(torch.bfloat16).save_pretrained(self.at / "m")
        for name, dtype in (("f16", torch.float16), ("f32", torch.float32)):
            said = tare("convert", "-v", self.at / "m", f"{self.at}/{name}/", "--dtype", name)
            self.assertIn(f"config.json: dtype changed from bfloat16 to {str(dtype).removeprefix('torch.')}", said)
            loaded = transformers.AutoModelForCausalLM.from_pretrained(self.at / name, dtype="auto")
            self.assertEqual(loaded.dtype, dtype)
        tare("quantize", self.at / "m", self.at / "q.mcf", "--method", "q8")
        tare("convert", self.at / "q.mcf", f"{self.at}/decoded/")
        loaded = transformers.AutoModelForCausalLM.from_pretrained(self.at / "decoded", dtype="auto")
        self.assertEqual(loaded.dtype, torch.float32)

    def test_code_of_the_model(self):
        source = self.at / "m"
        source.mkdir()
        (source / "helpers_foo.py").write_text("SCALE = 3.0\n")
        (source / "configuration_foo.py").write_text(
            "from transformers import PretrainedConfig\n\n\nclass FooConfig(PretrainedConfig):\n    model_type = 'foo'\n")
        (source / "modeling_foo.py").write_text(
            "import torch\nfrom transformers import PreTrainedModel\n"
            "from .configuration_foo import FooConfig\nfrom .helpers_foo import SCALE\n\n\n"
            "class FooModel(PreTrainedModel):\n    config_class = FooConfig\n\n"
            "    def __init__(self, config):\n        super().__init__(config)\n"
            "        self.line = torch.nn.Linear(4, 4)\n        self.post_init()\n\n"
            "    def forward(self, x):\n        return self.line(x) * SCALE\n")
        (source / "config.json").write_text(json.dumps({
            "model_type": "foo", "architectures": ["FooModel"],
            "auto_map": {"AutoConfig": "configuration_foo.FooConfig", "AutoModel": "modeling_foo.FooModel"}}))
        weights = {"line.weight": torch.randn(4, 4), "line.bias": torch.randn(4)}
        save_file(weights, source / "model.safetensors", metadata={"format": "pt"})
        x = torch.randn(2, 4)
        wanted = torch.nn.functional.linear(x, weights["line.weight"], weights["line.bias"]) * 3
        for found in self.ways(source):
            loaded = transformers.AutoModel.from_pretrained(found, trust_remote_code=True)
            self.assertTrue(torch.allclose(loaded(x), wanted), found)

    def test_every_file_that_a_tokenizer_declares(self):
        names = {"video_preprocessor_config.json", "processor_config.json", "preprocessor_config.json"}
        mapping = transformers.models.auto.tokenization_auto.TOKENIZER_MAPPING_NAMES
        for value in mapping.values():
            for name in (value if isinstance(value, (tuple, list)) else [value]):
                kind = getattr(transformers, name, None) if name else None
                declared = getattr(kind, "vocab_files_names", None)
                if isinstance(declared, dict):
                    names |= {file for file in declared.values() if isinstance(file, str)}
        # A tokenizer made of Python objects is no file that a model should carry.
        names = {name for name in names if not name.endswith((".pkl", ".bin"))}
        self.assertGreater(len(names), 15)
        source = self.at / "m"
        source.mkdir()
        for name in names:
            (source / name).write_text("{}")
        (source / "config.json").write_text("{}")
        save_file({"w": torch.zeros(1)}, source / "model.safetensors")
        listed = subprocess.run([TARE, "ls", "--json", source], capture_output=True, check=True).stdout
        carried = {item["name"] for item in json.loads(listed)["attachments"]}
        self.assertEqual(names - carried, set())

    @unittest.skipUnless(optional("sentencepiece") and optional("google.protobuf"), "no sentencepiece or protobuf")
    def test_sentencepiece_of_other_names(self):
        import sentencepiece

        text = self.at / "text"
        text.write_text("\n".join(f"the {i} words of line {i * i} are numbers and words" for i in range(400)))
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(self.at / "spm"), vocab_size=80, character_coverage=1.0,
            pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]",
            unk_piece="[UNK]", minloglevel=2)
        source = self.at / "m"
        source.mkdir()
        (source / "spm.model").write_bytes((self.at / "spm.model").read_bytes())
        (source / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer"}))
        (source / "config.json").write_text(json.dumps({"model_type": "deberta-v2"}))
        save_file({"w": torch.zeros(1)}, source / "model.safetensors")
        wanted = transformers.AutoTokenizer.from_pretrained(source)("the words of line 7").input_ids
        for found in self.ways(source):
            loaded = transformers.AutoTokenizer.from_pretrained(found)("the words of line 7").input_ids
            self.assertEqual(loaded, wanted)

    @unittest.skipUnless(optional("peft"), "no peft")
    def test_an_adapter(self):
        import peft

        adapted = peft.get_peft_model(llama(), peft.LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False))
        adapted.eval().save_pretrained(self.at / "lora")
        wanted = adapted(IDS).logits
        for found in self.ways(self.at / "lora"):
            loaded = peft.PeftModel.from_pretrained(llama(), found).eval()
            self.assertTrue(torch.equal(loaded(IDS).logits, wanted), found)

    @unittest.skipUnless(optional("peft"), "no peft")
    def test_adapters_are_merged_as_peft_merges_them(self):
        import peft

        def trained(adapted):
            torch.manual_seed(7)
            for name, value in adapted.named_parameters():
                if value.requires_grad:
                    value.data.normal_(0, 0.1)
                    if "magnitude" in name:
                        value.data.abs_().add_(0.5)
            return adapted.eval()

        def gpt2():
            torch.manual_seed(4)
            return transformers.GPT2LMHeadModel(transformers.GPT2Config(
                vocab_size=40, n_positions=32, n_embd=16, n_layer=2, n_head=2)).eval()

        lora = peft.LoraConfig
        layers = ["q_proj", "v_proj", "down_proj"]
        cases = {
            "plain": (llama, lora(r=4, lora_alpha=16, target_modules=layers)),
            "rslora": (llama, lora(r=4, lora_alpha=3, use_rslora=True, target_modules=layers)),
            "dora": (llama, lora(r=4, use_dora=True, target_modules=layers)),
            "patterns": (llama, lora(r=4, target_modules=layers, rank_pattern={"q_proj": 2, "layers.1.mlp.down_proj": 6},
                                     alpha_pattern={"^model.layers.0.self_attn.q_proj": 32, "down_proj": 1})),
            "saved": (llama, lora(r=4, target_modules=layers, modules_to_save=["lm_head"])),
            "embeddings": (llama, lora(r=4, target_modules=[*layers, "embed_tokens"])),
            "bias": (lambda: llama(attention_bias=True), lora(r=4, target_modules=layers, bias="lora_only")),
            "lora_bias": (lambda: llama(attention_bias=True), lora(r=4, target_modules=["q_proj"], lora_bias=True)),
            "conv1d": (gpt2, lora(r=4, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True)),
        }
        for name, (make, config) in cases.items():
            for suffix in ("safetensors", "bin"):
                at = self.at / f"{name}-{suffix}"
                make().save_pretrained(at / "base")
                adapted = trained(peft.get_peft_model(make(), config))
                adapted.save_pretrained(at / "lora")
                if suffix == "bin":
                    weights = at / "lora/adapter_model.safetensors"
                    torch.save(load_file(weights), at / "lora/adapter_model.bin")
                    weights.unlink()
                self.assertIn("LoRA adapter", tare("info", at / "lora"), name)
                wanted = adapted.merge_and_unload().state_dict()
                said = tare("convert", at / "base", f"{at}/merged/", "--merge", at / "lora")
                self.assertIn("merged", said)
                found = load_file(at / "merged/model.safetensors")
                base = load_file(at / "base/model.safetensors")
                for key, value in found.items():
                    self.assertTrue(torch.allclose(value, wanted[key], rtol=2e-6, atol=1e-7), (name, key))
                self.assertTrue(any(not torch.equal(found[key], base[key]) for key in base), name)
        # What is not a sum of matrices is refused, with the reason.
        adapted = peft.get_peft_model(llama(), peft.IA3Config(target_modules=["q_proj"], feedforward_modules=[]))
        adapted.save_pretrained(self.at / "ia3")
        llama().save_pretrained(self.at / "base")
        self.assertIn("lora.method", tare("convert", self.at / "base", f"{self.at}/no/", "--merge", self.at / "ia3", code=1))

    @unittest.skipUnless(optional("diffusers"), "no diffusers")
    def test_a_pipeline(self):
        import diffusers

        unet = diffusers.UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1,
                                     block_out_channels=(8, 8), down_block_types=("DownBlock2D", "DownBlock2D"),
                                     up_block_types=("UpBlock2D", "UpBlock2D"), norm_num_groups=4)
        pipeline = diffusers.DDPMPipeline(unet, diffusers.DDPMScheduler())
        pipeline.save_pretrained(self.at / "p")
        pipeline.save_pretrained(self.at / "p", variant="fp16")
        said = json.loads(tare("info", "--json", self.at / "p"))
        self.assertEqual(said["pipeline"], "DDPMPipeline")
        self.assertEqual(said["parameters"], sum(value.numel() for value in unet.parameters()))
        self.assertEqual({part["name"]: part["is_model"] for part in said["parts"]}, {"unet": True, "scheduler": False})
        self.assertIn("name one of them: unet/", tare("convert", self.at / "p", self.at / "p.zt", code=1))
        tare("convert", self.at / "p/unet", self.at / "unet.zt")

    @unittest.skipUnless(optional("diffusers"), "no diffusers")
    def test_a_part_of_a_pipeline(self):
        import diffusers

        torch.manual_seed(2)
        unet = diffusers.UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1,
                                     block_out_channels=(8, 8), down_block_types=("DownBlock2D", "DownBlock2D"),
                                     up_block_types=("UpBlock2D", "UpBlock2D"), norm_num_groups=4).eval()
        x = torch.randn(1, 1, 8, 8)
        wanted = unet(x, 3).sample
        unet.save_pretrained(self.at / "unet")
        for found in self.ways(self.at / "unet"):
            loaded = diffusers.UNet2DModel.from_pretrained(found).eval()
            self.assertTrue(torch.equal(loaded(x, 3).sample, wanted), found)

    @unittest.skipUnless(optional("sentence_transformers"), "no sentence-transformers")
    def test_sentence_embeddings(self):
        import sentence_transformers
        from sentence_transformers import models

        bert = self.at / "bert"
        torch.manual_seed(3)
        transformers.BertModel(transformers.BertConfig(
            vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
            max_position_embeddings=32)).save_pretrained(bert)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "words", "of", "a", "line", "are", "here"]
        (bert / "vocab.txt").write_text("\n".join(words) + "\n")
        transformers.BertTokenizer(str(bert / "vocab.txt")).save_pretrained(bert)
        part = models.Transformer(str(bert), max_seq_length=16)
        whole = sentence_transformers.SentenceTransformer(modules=[
            part, models.Pooling(16, pooling_mode="max"), models.Dense(16, 8), models.Normalize()])
        whole.save(str(self.at / "st"))
        wanted = whole.encode(["the words", "a line of words"])
        for found in self.ways(self.at / "st"):
            loaded = sentence_transformers.SentenceTransformer(str(found))
            self.assertTrue((loaded.encode(["the words", "a line of words"]) == wanted).all(), found)

    def test_what_is_quantized_is_decoded_when_asked(self):
        source = self.at / "fp8"
        source.mkdir()
        (source / "config.json").write_text(json.dumps(
            {"model_type": "llama", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}))
        codes, scales = torch.randn(256, 128).to(torch.float8_e4m3fn), torch.tensor([[0.5], [3.0]])
        save_file({"up.weight": codes, "up.weight_scale_inv": scales}, source / "model.safetensors")
        expected = codes.float() * scales.repeat_interleave(128, 0)
        tare("convert", source, f"{self.at}/out/", "--dtype", "f32")
        self.assertTrue(torch.equal(load_file(self.at / "out/model.safetensors")["up.weight"], expected))
        self.assertNotIn("quantization_config", json.loads((self.at / "out/config.json").read_text()))
        self.assertIn("quantized already: FP8", tare("info", source))
        for found in self.ways(source):
            self.assertTrue(torch.equal(load_file(found / "model.safetensors")["up.weight"].view(torch.uint8),
                                        codes.view(torch.uint8)))

    def test_pytorchs_own_files_are_read_or_named(self):
        model = llama()
        torch.save(model.state_dict(), self.at / "pytorch_model.bin")
        torch.save(model.state_dict(), self.at / "old.pt", _use_new_zipfile_serialization=False)
        for name in ("pytorch_model.bin", "old.pt"):
            tare("convert", self.at / name, self.at / f"{name}.safetensors")
            found = load_file(self.at / f"{name}.safetensors")
            for key, value in model.state_dict().items():
                self.assertTrue(torch.equal(found[key], value), key)
        torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), self.at / "script.pt")
        self.assertIn("a TorchScript program", tare("info", self.at / "script.pt", code=1))
        torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),)), self.at / "program.pt2")
        self.assertIn("an exported PyTorch program", tare("info", self.at / "program.pt2", code=1))


if __name__ == "__main__":
    TARE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
