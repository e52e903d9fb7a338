import json

from worst.common import case, put
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
