"""Models of known families that run, with sizes as large as the file allows: what they compute takes time, and should take
little memory."""
import json

from worst.common import case
from worst.zt import cbor, component, head, run_of_zeros, zt

VERBS = ("perplexity text", "compare text", "run text", "python run")
# The numbers of src/run/room.cpp: bytes for 512 tokens, and for the logits of 32.
PIECE, LOGITS, PER_BYTE = 16 << 20, 4 << 20, 8


def alphabet():
    """One character for each byte, as byte-level tokenizers spell them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(others))]


def text(content):
    return head(2, len(content)) + content.encode()


def model(directory, size, model_type="llama", layers=1, hidden=2, intermediate=1, heads=1, kv_heads=1, head_dim=2, vocabulary=256,
          experts=0, **more):
    """A zTensor file of about that size, whose weights are frames of zeros that all tensors of one shape share."""
    config = {"model_type": model_type, "vocab_size": vocabulary, "hidden_size": hidden, "intermediate_size": intermediate,
              "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim,
              "tie_word_embeddings": True, "max_position_embeddings": 1 << 20, **more}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    tokenizer = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
                 "decoder": byte_level, "model": {"type": "BPE", "vocab": {c: i for i, c in enumerate(alphabet())}, "merges": []}}
    objects, frames, data, at = {}, {}, b"", 64

    def add(tensor, *shape):
        nonlocal data, at
        length = 4
        for dimension in shape:
            length *= dimension
        if length not in frames:
            frame = run_of_zeros(length)
            frames[length] = at, len(frame)
            data += frame + bytes(-len(frame) % 64)
            at += -(-len(frame) // 64) * 64
        offset, stored = frames[length]
        objects[tensor] = {"shape": list(shape), "format": "dense", "components": {
            "data": component("f32", offset, stored, uncompressed_length=length, encoding="zstd")}}

    add("model.embed_tokens.weight", vocabulary, hidden)
    add("model.norm.weight", hidden)
    for layer in range(layers):
        def add_to_layer(part, *shape):
            add("model.layers.%d.%s.weight" % (layer, part), *shape)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            add_to_layer(norm, hidden)
        for part, rows in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
            add_to_layer("self_attn.%s_proj" % part, rows * head_dim, hidden)
        add_to_layer("self_attn.o_proj", hidden, heads * head_dim)
        if experts:
            add_to_layer("block_sparse_moe.gate", experts, hidden)
        for i in range(experts):
            for part, shape in (("w1", (intermediate, hidden)), ("w2", (hidden, intermediate)), ("w3", (intermediate, hidden))):
                add_to_layer("block_sparse_moe.experts.%d.%s" % (i, part), *shape)
        for part, shape in (("gate", (intermediate, hidden)), ("up", (intermediate, hidden)), ("down", (hidden, intermediate))):
            if not experts:
                add_to_layer("mlp.%s_proj" % part, *shape)
    files = {"config.json": text(json.dumps(config)), "tokenizer.json": text(json.dumps(tokenizer))}
    rest = size - len(data) - len(cbor(objects)) - sum(map(len, files.values()))
    assert rest > -4096, (directory, rest)
    objects["z"] = {"shape": [max(0, rest)], "format": "dense", "components": {"data": component("u8", at, max(0, rest))}}
    return zt(directory, objects, {"tare.attachments": files}, data + bytes(max(0, rest)))


def features(size):
    """Floats for each of 512 tokens."""
    return (PIECE + PER_BYTE * size) // 512 // 4


@case(verbs=VERBS, tensor="z")
def computed_hidden(directory, size):
    return model(directory, size, hidden=features(size) // 3 - 8)


@case(verbs=VERBS, tensor="z")
def computed_intermediate(directory, size):
    return model(directory, size, intermediate=features(size) // 2 - 8)


@case(verbs=VERBS, tensor="z", quick=False)
def computed_heads(directory, size):
    count = 256 + min(size, 100_000) // 256
    return model(directory, size, heads=count, kv_heads=count, head_dim=features(size) // count // 8 * 2)


@case(verbs=VERBS, tensor="z")
def computed_vocabulary(directory, size):
    return model(directory, size, vocabulary=(LOGITS + PER_BYTE * size) // 128)


@case(verbs=VERBS, tensor="z")
def computed_layers(directory, size):
    return model(directory, size, layers=size // 3000, hidden=64, intermediate=features(size) // 8)


@case(verbs=VERBS, tensor="z")
def computed_experts(directory, size):
    return model(directory, size, model_type="mixtral", experts=size // 1000, num_local_experts=size // 1000,
                 num_experts_per_tok=size // 1000)


# Beyond what is allowed: these are refused before anything is computed.
@case(verbs=VERBS, tensor="z")
def computed_hidden_beyond(directory, size):
    return model(directory, size, hidden=1 << 14)


@case(verbs=VERBS, tensor="z")
def computed_vocabulary_beyond(directory, size):
    return model(directory, size, vocabulary=1 << 20)


@case(verbs=VERBS, tensor="z")
def computed_heads_beyond(directory, size):
    return model(directory, size, heads=1 << 13)
