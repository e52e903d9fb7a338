#!/usr/bin/env python3
"""Trains a small language model, so that encoders can be compared on weights that training made.

    bench/train.py OUT.safetensors [--steps 300] [TEXT ...]

Bytes are its tokens; without TEXT it learns from the documentation of this repository. Needs torch and transformers.
`TARE_BENCH_MODEL=OUT.safetensors tare-bench gguf` then compares errors on every one of its matrices."""

import argparse
import pathlib

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM


def text_of(paths):
    paths = paths or sorted(pathlib.Path(__file__).resolve().parent.parent.rglob("*.md"))
    data = b"".join(pathlib.Path(p).read_bytes() for p in paths)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).long()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out")
    arguments.add_argument("--steps", type=int, default=300)
    arguments.add_argument("text", nargs="*")
    options = arguments.parse_args()
    torch.manual_seed(1)
    text = text_of(options.text)
    net = LlamaForCausalLM(LlamaConfig(
        vocab_size=256, hidden_size=512, intermediate_size=1024, num_hidden_layers=3, num_attention_heads=8,
        num_key_value_heads=4, tie_word_embeddings=False))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    for step in range(options.steps):
        starts = torch.randint(len(text) - 129, (8,))
        tokens = torch.stack([text[s : s + 128] for s in starts])
        loss = net(input_ids=tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0 or step + 1 == options.steps:
            print(f"step {step}: {loss.item():.3f} nats a byte", flush=True)
    save_file({name: value.contiguous() for name, value in net.state_dict().items()}, options.out)


if __name__ == "__main__":
    main()
