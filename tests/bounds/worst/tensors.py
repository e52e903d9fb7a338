"""Tensors without elements, by the thousand, in every container: what their names alone make the command do."""
import json
import os

from worst import alt, gguf, mcf, numpy_files, safetensors, torch_files, zt, zt2
from worst.common import case, name, put

# Each takes names (bytes) and writes a float tensor of no elements for each of them.


# Codes of packed weights are recognised by their types, too.
TYPES = {b"qweight": b"I32", b"qzeros": b"I32", b"scales": b"F16", b"g_idx": b"I32", b"weight_packed": b"I32",
         b"weight_shape": b"I64", b"blocks": b"U8", b"absmax": b"U8", b"quant_state.bitsandbytes__nf4": b"U8"}


def in_safetensors(directory, names, types=TYPES):
    form = b'%s:{"dtype":"%s","shape":[0,64],"data_offsets":[0,0]}'
    return safetensors.safetensors(directory, b"{" + b",".join(
        form % (json.dumps(n.decode()).encode(), next((t for end, t in types.items() if n.endswith(end)), b"F32"))
        for n in names) + b"}", b"")


def in_directory(directory, names):
    """As Hugging Face has it, with a config that makes the names mean something."""
    in_safetensors(os.path.join(directory, "model"), [b"model.embed_tokens.weight", *names])
    os.rename(os.path.join(directory, "model/w.safetensors"), os.path.join(directory, "model/model.safetensors"))
    return os.path.dirname(put(directory, "model/config.json", '{"model_type":"mixtral","num_local_experts":8}'))


def in_gguf(directory, names):
    return gguf.gguf(directory, [gguf.entry("general.architecture", gguf.STRING, gguf.string("llama"))],
                     [gguf.TABLE] + [gguf.info(n, (64, 0)) for n in names])


def in_zt(directory, names):
    body = zt.cbor({"shape": [0, 64], "format": "dense", "components": {"data": zt.component("f32", 64, 0)}})
    return zt.zt(directory, zt.head(5, len(names)) + b"".join(zt.head(3, len(n)) + n + body for n in names))


def in_zt2(directory, names):
    body = zt2.cbor({"layout": "dense", "shape": [0, 64], "parts": {"data": {"blob": [4096, 0], "dtype": "f32"}}})
    keys = sorted(zt2.head(3, len(n)) + n for n in names)
    return zt2.zt2(directory, zt2.head(5, len(keys)) + b"".join(key + body for key in keys))


def in_mcf(directory, names):
    return mcf.mcf(directory, mcf.mcf_named(sorted(names)))


def in_alt(directory, names):
    return alt.alt(directory, records=b"".join(alt.alt_record(n, (0, 64)) for n in names), tensors=len(names),
                   dimensions=2 * len(names))


def in_npz(directory, names):
    member = numpy_files.stored(numpy_files.npy_header("<f4", "(0,64)"))
    return numpy_files.archive(directory, [(n[:65000] + b".npy", member) for n in names])


def in_torch(directory, names):
    return torch_files.torch(directory, torch_files.prelude(1) + torch_files.dictionary(
        torch_files.pickled(n) + torch_files.tensor((0, 64), (64, 1)) for n in names))


# The bytes that a tensor takes in addition to its name.
CONTAINERS = {"safetensors": (in_safetensors, 56), "gguf": (in_gguf, 44), "zt": (in_zt, 60), "zt2": (in_zt2, 48),
              "mcf": (in_mcf, 41), "alt": (in_alt, 52), "npz": (in_npz, 260), "torch": (in_torch, 60),
              "hf": (in_directory, 56)}


def layers(i):
    return b"model.layers.%d.self_attn.q_proj.weight" % i


def blocks(i):
    return b"blk.%d.attn_q.weight" % i


def experts(i):
    return b"model.layers.0.mlp.experts.%d.gate_proj.weight" % i


def experts_of_layers(i):
    return b"model.layers.%d.block_sparse_moe.experts.%d.w1.weight" % (i * 7919 % 99991, i)


def stacked_experts(i):
    return b"blk.%d.ffn_gate_exps.weight" % i


def heads(i):
    """Names that other programs look for, each after another prefix."""
    return name(i).encode() + b".lm_head.weight"


def tables(i):
    return name(i).encode() + b".embed_tokens.weight"


def far_layers(i):
    """Numbers of layers that no model has."""
    return b"model.layers.%d.mlp.up_proj.weight" % (4294967295 - i)


def digits(i):
    return b"model.layers.%0100d.mlp.up_proj.weight" % i


def dots(i):
    return b"a." * 25 + name(i).encode()


def levels(i):
    """A tree in which every name branches at another level."""
    return b".".join(b"%d" % (i >> k & 1) for k in range(20))


def adapters(i):
    return b"base_model.model.%s.lora_%s.weight" % (name(i // 2).encode(), b"AB"[i % 2:i % 2 + 1])


def gptq_codes(i):
    return b"model.layers.%d.q_proj.%s" % (i // 4, (b"qweight", b"qzeros", b"scales", b"g_idx")[i % 4])


def fp8_scales(i):
    return b"model.layers.%d.q_proj.weight%s" % (i // 2, (b"", b"_scale_inv")[i % 2])


def packed_parts(i):
    parts = (b"weight_packed", b"weight_scale", b"weight_shape", b"weight_zero_point", b"weight_global_scale")
    return b"l.%d.%s" % (i // 5, parts[i % 5])


def bnb_parts(i):
    parts = (b"", b".absmax", b".quant_map", b".nested_absmax", b".nested_quant_map", b".quant_state.bitsandbytes__nf4")
    return b"l.%d.weight%s" % (i // 6, parts[i % 6])


def quant_states(i):
    """One weight each."""
    return b"l.weight.quant_state." + name(i).encode()


def mlx_parts(i):
    return b"l.%d.%s" % (i // 3, (b"weight", b"scales", b"biases")[i % 3])


def mxfp4_parts(i):
    return b"model.layers.%d.mlp.experts.gate_up_proj_%s" % (i // 2, (b"blocks", b"scales")[i % 2])


def imatrix_sums(i):
    return b"blk.%d.attn_q.weight.%s" % (i // 2, (b"in_sum2", b"counts")[i % 2])


def control_characters(i):
    return b"\1" * 20 + name(i).encode()


def combining_marks(i):
    return "a\u0316\u0301\u0316\u0301".encode() + name(i).encode()


def alike(i):
    """Names of one length that differ in the last letters only."""
    return b"model.layers.0.self_attn.q_proj.weigh" + b"%06d" % i


def blanks(i):
    return b" " * 30 + name(i).encode()


FORMS = (layers, blocks, experts, experts_of_layers, stacked_experts, heads, tables, far_layers, digits, dots, levels,
         adapters, gptq_codes, fp8_scales, packed_parts, bnb_parts, quant_states, mlx_parts, mxfp4_parts, imatrix_sums,
         control_characters, combining_marks, alike, blanks)
# The test takes these from one container, and single names from a few; `make bounds` all of them.
QUICK = {"safetensors"}
QUICK_SINGLE = {"safetensors", "zt", "mcf", "torch"}


def count_of(form, size, each):
    return max(1, size // (each + len(form(1000))))


for _form in FORMS:
    for _container, (_write, _each) in CONTAINERS.items():
        def build(directory, size, form=_form, write=_write, each=_each):
            return write(directory, [form(i) for i in range(count_of(form, size, each))])
        case(build, called="%s_named_%s" % (_container, _form.__name__), quick=_container in QUICK,
             tensor=_form(0).decode())


# One long name, and many: each message about them quotes it.
def long_and_many(directory, size, write, each, long):
    count = max(1, (size - long) // (each + 4))
    return write(directory, [b"n" * long] + [name(i).encode() for i in range(count)])


def all_long(directory, size, write, each, long):
    return write(directory, [b"%07d" % i + b"n" * (long - 7) for i in range(max(1, size // (long + each)))])


def all_deep(directory, size, write, each, long):
    return write(directory, [b"." * long + name(i).encode() for i in range(max(1, size // (long + each)))])


for _container, (_write, _each) in CONTAINERS.items():
    for _how in (all_long, all_deep):
        for _long in (1000, 30000):
            def build(directory, size, how=_how, write=_write, each=_each, long=_long):
                return how(directory, size, write, each, long)
            case(build, called="%s_names_%s_%d" % (_container, _how.__name__, _long), quick=_container in QUICK,
                 tensor="n")

    def build(directory, size, write=_write, each=_each):
        return long_and_many(directory, size, write, each, size // 2)
    case(build, called="%s_half_one_name" % _container, tensor="n", quick=_container in QUICK_SINGLE)

    def build(directory, size, write=_write, each=_each):
        return write(directory, [b"." * (size // 2)] + [b"a." * (size // 8) + name(i).encode() for i in range(2)])
    case(build, called="%s_half_dots" % _container, tensor="n", quick=_container in QUICK_SINGLE)

    def build(directory, size, write=_write, each=_each):
        return write(directory, [b"model.layers." + b"9" * (size // 2) + b".mlp.up_proj.weight",
                                 b"blk." + b"9" * (size // 4) + b".ffn_up.weight"])
    case(build, called="%s_half_digits" % _container, tensor="n", quick=_container in QUICK_SINGLE)

    def build(directory, size, write=_write, each=_each):
        return write(directory, ["a".encode() + "\u0316\u0301".encode() * (size // 6)])
    case(build, called="%s_half_combining_marks" % _container, tensor="n", quick=_container in QUICK_SINGLE)

    def build(directory, size, write=_write, each=_each):
        return write(directory, [b"a" * (size // 3)] + [b"a" * (size // 3 - 10) + b"%06d" % i for i in range(1)])
    case(build, called="%s_two_names_alike" % _container, tensor="a" * 100, quick=_container in QUICK_SINGLE)

    def build(directory, size, write=_write, each=_each):
        return write(directory, [b"t"] * max(2, size // (each + 1)))
    case(build, called="%s_one_name_again" % _container, quick=_container in QUICK_SINGLE)
