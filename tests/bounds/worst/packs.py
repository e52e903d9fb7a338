import json
import struct

from worst.common import case, name, put
from worst.safetensors import safetensors

GPTQ = {"model_type": "llama", "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True}}
NF4 = {"model_type": "llama", "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}


def model(directory, config, entries, data):
    put(directory, "model/config.json", json.dumps(config))
    safetensors(directory, "{%s}" % ",".join(entries), data, "model/model.safetensors")
    return directory + "/model"


def entry(name, dtype, shape, start, length):
    return '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (
        name, dtype, json.dumps(shape, separators=(",", ":")), start, start + length)


def gptq(name, at):
    return [entry(name + ".qweight", "I32", [4, 8], at, 128), entry(name + ".qzeros", "I32", [1, 1], at + 128, 4),
            entry(name + ".scales", "F16", [1, 8], at + 132, 16), entry(name + ".g_idx", "I32", [32], at + 148, 128)]


@case
def packs_sets(directory, size):
    count = size // 560
    return model(directory, GPTQ, [item for i in range(count) for item in gptq("l%07d" % i, 276 * i)], bytes(276 * count))


@case
def packs_lone_members(directory, size):
    count = size // 75
    return model(directory, GPTQ, [entry("l%07d.qweight" % i, "I32", [0, 8], 0, 0) for i in range(count)], b"")


@case
def packs_states(directory, size):
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [1, 64],
                        "x": [0] * (size // 3)}).encode()
    parts = [("l.weight", "U8", [32, 1], 32), ("l.weight.absmax", "F32", [1], 4), ("l.weight.quant_map", "F32", [16], 64),
             ("l.weight.quant_state.bitsandbytes__nf4", "U8", [len(state)], len(state))]
    at, entries = 0, []
    for name, dtype, shape, length in parts:
        entries.append(entry(name, dtype, shape, at, length))
        at += length
    return model(directory, NF4, entries, bytes(100) + state)


# Sets of arrays without elements, whose other dimensions are as large as can be: what is looked at must not be counted by those.
SETS = {
    "gptq": [("qweight", "I32"), ("qzeros", "I32"), ("scales", "F16"), ("g_idx", "I32")],
    "awq": [("qweight", "I32"), ("qzeros", "I32"), ("scales", "F16")],
    "nf4": [("weight", "U8"), ("weight.absmax", "F32"), ("weight.quant_map", "F32"), ("weight.quant_state.bitsandbytes__nf4", "U8")],
    "nf4_nested": [("weight", "U8"), ("weight.absmax", "U8"), ("weight.quant_map", "F32"), ("weight.nested_absmax", "F32"),
                   ("weight.nested_quant_map", "F32"), ("weight.quant_state.bitsandbytes__nf4", "U8")],
    "int8": [("weight", "I8"), ("SCB", "F32"), ("weight_format", "U8")],
    "compressed": [("weight_packed", "I32"), ("weight_scale", "F16"), ("weight_shape", "I64"), ("weight_zero_point", "I32"),
                   ("weight_g_idx", "I32")],
    "nvfp4": [("weight_packed", "U8"), ("weight_scale", "F8_E4M3"), ("weight_global_scale", "F32")],
    "modelopt": [("weight", "U8"), ("weight_scale", "F8_E4M3"), ("weight_scale_2", "F32")],
    "mxfp4": [("down_proj_blocks", "U8"), ("down_proj_scales", "U8")],
    "fp8": [("weight", "F8_E4M3"), ("weight_scale_inv", "F32")],
    "fp8_tensor": [("weight", "F8_E4M3"), ("weight_scale", "F32")],
    "mlx": [("weight", "U32"), ("scales", "F16"), ("biases", "F16")],
}
HUGE = 1 << 40
SHAPES = {"rows": [HUGE, 0], "columns": [0, HUGE], "stack": [HUGE, 0, 1], "blocks": [0, HUGE, 90, 16]}


def empty_set(directory, size, members, shape):
    count = max(1, size // (100 * len(members)))
    return safetensors(directory, "{%s}" % ",".join(
        entry("l.%d.%s" % (i, end), dtype, shape, 0, 0) for i in range(count) for end, dtype in members), b"")


for _set, _members in SETS.items():
    for _shape in SHAPES:
        def _build(directory, size, members=_members, shape=_shape):
            return empty_set(directory, size, members, SHAPES[shape])
        case(_build, called="packs_empty_%s_%s" % (_set, _shape), quick=_shape == "rows", tensor="l.0.weight")


@case
def packs_states_of_nothing(directory, size):
    """Codes without bytes, that are 2^62 weights by the state."""
    state = json.dumps({"quant_type": "nf4", "blocksize": 1, "dtype": "bfloat16", "shape": [1 << 31, 1 << 31],
                        "nested_blocksize": 1, "nested_offset": 0.5, "nested_dtype": "float32"}).encode()
    count = max(1, size // (400 + len(state)))
    entries, at = [], 0
    for i in range(count):
        name = "l.%d.weight" % i
        entries += [entry(name, "U8", [0, 1], at, 0), entry(name + ".absmax", "F32", [0], at, 0),
                    entry(name + ".quant_map", "F32", [0], at, 0),
                    entry(name + ".quant_state.bitsandbytes__nf4", "U8", [len(state)], at, len(state))]
        at += len(state)
    return model(directory, NF4, entries, state * count)


@case
def packs_shapes_of_nothing(directory, size):
    """compressed-tensors: the shape is in an array of its own."""
    shape = struct.pack("<qq", 1 << 40, 1 << 20)
    count = max(1, size // 320)
    entries = []
    for i in range(count):
        entries += [entry("l.%d.weight_packed" % i, "I32", [0, 1], 16 * i, 0), entry("l.%d.weight_scale" % i, "F16", [0, 1], 16 * i, 0),
                    entry("l.%d.weight_shape" % i, "I64", [2], 16 * i, 16)]
    return model(directory, {"model_type": "llama", "quantization_config": {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 1}}}}}, entries, shape * count)


@case
def packs_many_config_groups(directory, size):
    """compressed-tensors: as many groups of layers in the config as there are sets, all alike."""
    count = max(1, size // 320)
    entries = []
    for i in range(count):
        entries += [entry("l%d.weight_packed" % i, "I32", [1, 4], 26 * i, 16), entry("l%d.weight_scale" % i, "F16", [1, 1], 26 * i + 16, 2),
                    entry("l%d.weight_shape" % i, "I32", [2], 26 * i + 18, 8)]
    groups = {name(i): {"weights": {}} for i in range(size // 3 // 80)}
    return model(directory, {"model_type": "llama", "quantization_config": {
        "quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups}}, entries,
                 (bytes(16) + b"\0\x3c" + struct.pack("<ii", 1, 32)) * count)


@case
def packs_groups_of_one(directory, size):
    """GPTQ with an order of columns: every row is of another group."""
    rows = size // 12 // 8 * 8
    order = struct.pack("<%di" % rows, *(i * 7919 % rows for i in range(rows)))
    parts = [("l.qweight", "I32", [rows // 8, 8], rows * 4), ("l.qzeros", "I32", [1, 1], 4), ("l.scales", "F16", [1, 8], 16),
             ("l.g_idx", "I32", [rows], rows * 4)]
    at, entries = 0, []
    for name, dtype, shape, length in parts:
        entries.append(entry(name, dtype, shape, at, length))
        at += length
    return model(directory, GPTQ, entries, bytes(rows * 4 + 20) + order)
