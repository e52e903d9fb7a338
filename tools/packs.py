#!/usr/bin/env python3
"""Makes small models whose weights are packed by the original libraries, with the values that the same libraries decode
them to.

    tools/packs.py DIR [NAME...]    makes DIR/NAME/ (config.json, model.safetensors) and DIR/NAME.expected.safetensors, and
                                    DIR/versions.json; only those of the names if some are given
    tools/packs.py --list           prints the names

The expected values have the type in which the library computes. The metadata key "steps" states by how many units in the
last place of the largest value ours may differ, where the library rounds to that type more often than once.

Needs torch, safetensors and whatever the case needs: transformers, bitsandbytes, compressed-tensors, autoawq, auto-gptq,
nvidia-modelopt,
mlx (with mlx-cpu), onnx and onnxruntime. What is missing is skipped and named. Of AutoGPTQ and AutoAWQ only the files with the packing are
loaded: the packages themselves want a GPU. GPTQModel, whose newer format ("gptq_v2") has the zero points without the
offset, does not install without one: there the zero points of AutoGPTQ are restated, and everything else is its own.
"""

import importlib.metadata
import importlib.util
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file

CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


def part_of(package, path):
    """A module by its file, without running the package's __init__."""
    found = importlib.util.find_spec(package)
    if found is None:
        raise ImportError(f"No module named '{package}'")
    file = pathlib.Path(found.submodule_search_locations[0]) / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def weights(out, inputs, dtype=torch.float16):
    return (torch.randn(out, inputs) / 4).to(dtype)


def config(method, **more):
    return {"model_type": "packed", "quantization_config": {"quant_method": method, **more}}


# GPTQ -----------------------------------------------------------------------------------------------------------------

def grid(weight, bits, group, symmetric):
    """Scales and zero points [out, groups] as GPTQ's quantizer chooses them."""
    top = 2**bits - 1
    groups = weight.float().reshape(weight.shape[0], -1, group)
    low, high = groups.amin(-1).clamp(max=0), groups.amax(-1).clamp(min=0)
    if symmetric:
        high = torch.maximum(low.abs(), high)
        low = -high
    scales = ((high - low) / top).half().float()
    zeros = torch.full_like(scales, (top + 1) // 2) if symmetric else torch.round(-low / scales).clamp(1, top)
    return scales, zeros


def gptq(bits, symmetric, act_order=False, out=32, inputs=64, group=32):
    linear = torch.nn.Linear(inputs, out, bias=False, dtype=torch.float16)
    linear.weight.data = weights(out, inputs)
    module = part_of("auto_gptq", "nn_modules/qlinear/qlinear_cuda.py")
    layer = module.QuantLinear(bits, group, inputs, out, False)
    order = torch.arange(inputs) // group
    if act_order:
        order = order[torch.randperm(inputs)]
    scales, zeros = grid(linear.weight.data, bits, group, symmetric)
    linear.weight.data = (scales[:, order] * (torch.randint(0, 2**bits, (out, inputs)) - zeros[:, order])).half()
    layer.pack(linear, scales.clone(), zeros.clone(), order.to(torch.int32))
    decoded = layer(torch.eye(inputs, dtype=torch.float16)).t().contiguous()
    arrays = {f"q.{name}": getattr(layer, name).contiguous() for name in ("qweight", "qzeros", "scales", "g_idx")}
    arrays["q.g_idx"] = arrays["q.g_idx"].to(torch.int32)
    return arrays, {"q.weight": decoded}


def gptq_config(bits, group=32, **more):
    return config("gptq", bits=bits, group_size=group, **more)


@case
def gptq2():
    return *gptq(2, True), gptq_config(2)


@case
def gptq3():
    return *gptq(3, False), gptq_config(3, sym=False)


@case
def gptq4():
    return *gptq(4, True), gptq_config(4, sym=True)


@case
def gptq4_asymmetric():
    return *gptq(4, False), gptq_config(4, sym=False)


@case
def gptq4_act_order():
    return *gptq(4, False, act_order=True), gptq_config(4, sym=False, desc_act=True)


@case
def gptq8():
    return *gptq(8, False), gptq_config(8, sym=False)


@case
def gptq4_v2():
    arrays, expected = gptq(4, False)
    fields = arrays["q.qzeros"].unsqueeze(-1) >> torch.arange(0, 32, 4) & 15
    restated = ((fields + 1 & 15) << torch.arange(0, 32, 4)).sum(-1)
    arrays["q.qzeros"] = restated.to(torch.int64).to(torch.int32)
    return arrays, expected, gptq_config(4, sym=False, checkpoint_format="gptq_v2")


@case
def gptq4_no_g_idx():
    arrays, expected = gptq(4, True)
    del arrays["q.g_idx"]
    return arrays, expected, gptq_config(4, sym=True)


# AWQ ------------------------------------------------------------------------------------------------------------------

@case
def awq4():
    packing = part_of("awq", "utils/packing_utils.py")
    out, inputs, group = 32, 64, 32
    word = lambda *shape: torch.randint(-2**31, 2**31, shape, dtype=torch.int64).to(torch.int32)
    arrays = {"q.qweight": word(inputs, out // 8), "q.qzeros": word(inputs // group, out // 8),
              "q.scales": (torch.rand(inputs // group, out) / 8).half()}
    decoded = packing.dequantize_gemm(arrays["q.qweight"], arrays["q.qzeros"], arrays["q.scales"], 4, group)
    return arrays, {"q.weight": decoded.t().contiguous()}, config("awq", bits=4, group_size=group, version="gemm",
                                                                  zero_point=True)


# bitsandbytes ---------------------------------------------------------------------------------------------------------

# Rows of whole blocks: of others, the CPU's kernels (0.50) decode blocks for each row, though they are stored over all rows.
def bnb4(kind, nested, dtype, shape=(32, 128)):
    import bitsandbytes.functional as bnb
    codes, state = bnb.quantize_4bit(weights(*shape, dtype), quant_type=kind, compress_statistics=nested, blocksize=64)
    arrays = {f"q.weight.{name}": value for name, value in state.as_dict(packed=True).items()}
    arrays["q.weight"] = codes
    return arrays, {"q.weight": bnb.dequantize_4bit(codes, state)}, config(
        "bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type=kind, bnb_4bit_use_double_quant=nested)


@case
def bnb_nf4():
    return bnb4("nf4", False, torch.float32)


@case
def bnb_nf4_nested():
    return bnb4("nf4", True, torch.bfloat16, (129, 128))  # more than one block of scales


@case
def bnb_nf4_f16():
    return bnb4("nf4", True, torch.float16)


@case
def bnb_fp4():
    return bnb4("fp4", True, torch.float32)


@case
def bnb_int8():
    import bitsandbytes.functional as bnb
    codes, scales, _ = bnb.int8_vectorwise_quant(weights(32, 48))
    arrays = {"q.weight": codes, "q.SCB": scales, "q.weight_format": torch.tensor(0, dtype=torch.uint8)}
    return arrays, {"q.weight": bnb.int8_vectorwise_dequant(codes, scales)}, config("bitsandbytes", load_in_8bit=True)


# compressed-tensors ---------------------------------------------------------------------------------------------------

def compressed(form, arguments, weight, scale, zero=None, **more):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**arguments))
    compressor = BaseCompressor.get_value_from_registry(form)
    state = {"weight": weight, "weight_scale": scale, **more}
    if zero is not None:
        state["weight_zero_point"] = zero
    packed = compressor.compress(dict(state), scheme)
    decoded = compressor.decompress(dict(packed), scheme)["weight"]
    stated = config("compressed-tensors", format=form, config_groups={"group_0": {
        "targets": ["Linear"], "weights": {key: value for key, value in arguments.items()}}})
    return {f"q.{name}": value.data.contiguous() for name, value in packed.items()}, {"q.weight": decoded}, stated


def ct_integers(bits, symmetric, group, out=24, inputs=64, form="pack-quantized", dtype=torch.bfloat16):
    weight = weights(out, inputs, dtype)
    size = group or inputs
    groups = weight.float().reshape(out, -1, size)
    half = 2 ** (bits - 1)
    low, high = groups.amin(-1), groups.amax(-1)
    scale = ((torch.maximum(low.abs(), high) / (half - 0.5)) if symmetric else (high - low) / (2 * half - 1)).to(dtype)
    zero = None if symmetric else torch.round(-half - low / scale.float()).clamp(-half, half - 1).to(torch.int8)
    arguments = {"num_bits": bits, "type": "int", "symmetric": symmetric, "strategy": "group" if group else "channel"}
    if group:
        arguments["group_size"] = group
    return compressed(form, arguments, weight, scale, zero)


@case
def ct_int4():
    return ct_integers(4, True, 32)


@case
def ct_int4_asymmetric():
    return ct_integers(4, False, 32)


@case
def ct_int4_channel():
    return ct_integers(4, True, None, inputs=72)


@case
def ct_int8():
    return ct_integers(8, True, 32)


@case
def ct_int8_asymmetric():
    return ct_integers(8, False, 32)


@case
def ct_int3():
    return ct_integers(3, False, 32)


@case
def ct_int6():
    return ct_integers(6, True, 16)


@case
def ct_int2():
    return ct_integers(2, False, 32, dtype=torch.float16)


@case
def int8_channel():
    return ct_integers(8, True, None, form="int-quantized")


@case
def int8_group():
    return ct_integers(8, True, 32, form="int-quantized")


@case
def int8_tensor():
    weight = weights(24, 48, torch.bfloat16)
    scale = (weight.float().abs().amax().reshape(1) / 127).to(torch.bfloat16)
    return compressed("int-quantized", {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "tensor"}, weight, scale)


@case
def fp8_group():
    weight = weights(24, 64, torch.bfloat16)
    scale = (weight.float().reshape(24, 2, 32).abs().amax(-1) / 448).to(torch.bfloat16)
    return compressed("float-quantized", {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "group",
                                          "group_size": 32}, weight, scale)


@case
def fp8_channel():
    weight = weights(24, 48, torch.bfloat16)
    scale = (weight.float().abs().amax(-1, keepdim=True) / 448).to(torch.bfloat16)
    return compressed("float-quantized", {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "channel"}, weight,
                      scale)


@case
def fp8_tensor():
    weight = weights(24, 48, torch.bfloat16)
    scale = (weight.float().abs().amax().reshape(1) / 448).to(torch.float32)
    return compressed("float-quantized", {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "tensor"}, weight,
                      scale)


@case
def nvfp4():
    weight = weights(16, 64, torch.float32)
    groups = weight.reshape(16, -1, 16)
    overall = torch.tensor([448 * 6 / weight.abs().max()], dtype=torch.float32)
    scale = (overall * groups.abs().amax(-1) / 6).to(torch.float8_e4m3fn).to(torch.float32)
    return compressed("nvfp4-pack-quantized", {"num_bits": 4, "type": "float", "symmetric": True,
                                               "strategy": "tensor_group", "group_size": 16}, weight, scale,
                      weight_global_scale=overall)


@case
def mxfp4_compressed_tensors():
    weight = weights(16, 64, torch.bfloat16)
    scale = torch.exp2(torch.floor(torch.log2(weight.float().reshape(16, -1, 32).abs().amax(-1))) - 2).to(torch.bfloat16)
    return compressed("mxfp4-pack-quantized", {"num_bits": 4, "type": "float", "symmetric": True, "strategy": "group",
                                               "group_size": 32}, weight, scale)


# transformers ---------------------------------------------------------------------------------------------------------

@case
def nvfp4_modelopt():
    from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor
    packed, scale, overall = NVFP4QTensor.quantize(weights(16, 64, torch.float32), 16)
    decoded = packed.dequantize(dtype=torch.float32, scale=scale, double_scale=overall, block_sizes={-1: 16})
    arrays = {"q.weight": packed._quantized_data, "q.weight_scale": scale, "q.weight_scale_2": overall,
              "q.input_scale": torch.tensor(0.5)}
    # Its table has 0 for the code of -0, which is the same number in other bits.
    return arrays, {"q.weight": decoded}, config("modelopt", quant_algo="NVFP4"), 1


@case
def fp8_block():
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    weight = (torch.randn(48, 64) * 100).to(torch.float8_e4m3fn)
    scale = torch.rand(3, 4) / 100
    decoded = Fp8Dequantize(None)._dequantize_one(weight, scale, torch.float32)
    return {"q.weight": weight, "q.weight_scale_inv": scale}, {"q.weight": decoded}, config(
        "fp8", weight_block_size=[16, 16])


@case
def fp8_block_e8m0():
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    weight = (torch.randn(32, 48) * 100).to(torch.float8_e4m3fn)
    scale = torch.randint(110, 130, (2, 3), dtype=torch.uint8).view(torch.float8_e8m0fnu)
    decoded = Fp8Dequantize(None)._dequantize_one(weight, scale, torch.float32)
    return {"q.weight": weight, "q.scale": scale}, {"q.weight": decoded}, config("fp8", weight_block_size=[16, 16])


@case
def mxfp4_int8():
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    weight = torch.randint(-128, 128, (16, 32), dtype=torch.int8)
    scale = torch.randint(110, 130, (16, 2), dtype=torch.uint8).view(torch.float8_e8m0fnu)
    decoded = Fp8Dequantize(None)._dequantize_one(weight, scale, torch.float32)
    return {"q.weight": weight, "q.scale": scale}, {"q.weight": decoded}, config("fp8", expert_dtype="fp4")


@case
def mxfp4():
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
    blocks = torch.randint(0, 256, (2, 24, 2, 16), dtype=torch.uint8)
    scales = torch.randint(110, 130, (2, 24, 2), dtype=torch.uint8)
    decoded = convert_moe_packed_tensors(blocks, scales, dtype=torch.bfloat16)
    return {"e.gate_up_proj_blocks": blocks, "e.gate_up_proj_scales": scales}, {"e.gate_up_proj": decoded}, config("mxfp4")


# MLX ------------------------------------------------------------------------------------------------------------------

def mlx(bits, group=64, dtype="float32", steps=0):
    import mlx.core as mx
    import numpy as np

    def tensor(array):
        if array.dtype == mx.bfloat16:
            return torch.from_numpy(np.array(array.view(mx.uint16)).astype(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(np.array(array))

    mx.set_default_device(mx.cpu)
    weight = mx.array(weights(16, 128, torch.float32).numpy()).astype(getattr(mx, dtype))
    codes, scales, biases = mx.quantize(weight, group_size=group, bits=bits)
    decoded = mx.dequantize(codes, scales, biases, group_size=group, bits=bits)
    arrays = {"q.weight": torch.from_numpy(np.array(codes)), "q.scales": tensor(scales), "q.biases": tensor(biases)}
    return arrays, {"q.weight": tensor(decoded)}, {
        "model_type": "packed", "quantization": {"group_size": group, "bits": bits}}, steps


@case
def mlx_affine2():
    return mlx(2)


@case
def mlx_affine3():
    return mlx(3)


@case
def mlx_affine4():
    return mlx(4)


@case
def mlx_affine4_bf16():
    return mlx(4, 32, "bfloat16", 1)


@case
def mlx_affine5():
    return mlx(5)


@case
def mlx_affine6():
    return mlx(6, 32)


@case
def mlx_affine8():
    return mlx(8)


@case
def mlx_affine8_f16():
    return mlx(8, 64, "float16", 1)


# MatMulNBits of ONNX ---------------------------------------------------------------------------------------------------

def nbits(bits, symmetric=False, inputs=64, block=32, steps=0):
    """What onnxruntime computes for the identity is what the blocks mean."""
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    outputs = 8
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "packed",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", inputs])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", outputs])],
                              [numpy_helper.from_array(weights(outputs, inputs, torch.float32).T.contiguous().numpy(), "w")])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    quantizer = MatMulNBitsQuantizer(model, algo_config=DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, bits=bits))
    quantizer.process()
    made = quantizer.model.model
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    decoded = session.run(None, {"x": np.eye(inputs, dtype=np.float32)})[0].T
    node = next(node for node in made.graph.node if node.op_type == "MatMulNBits")
    stored = {array.name: numpy_helper.to_array(array) for array in made.graph.initializer}
    names = dict(zip(("codes", "scales", "zero_points"), node.input[1:]))
    facts = {"K": inputs, "N": outputs, "bits": bits, "block_size": block,
             **{role: name for role, name in names.items() if role != "codes"}}
    arrays = {name: torch.from_numpy(stored[name].copy()) for name in names.values()}
    return arrays, {names["codes"]: torch.from_numpy(decoded.copy())}, config("matmulnbits", weights={names["codes"]: facts}), steps


@case
def nbits2():
    return nbits(2)


@case
def nbits4():
    return nbits(4)


@case
def nbits4_symmetric():
    return nbits(4, True, 48, 16, 1)  # a sum is never -0, a product may be


@case
def nbits8():
    return nbits(8)


def versions():
    found = {}
    for name in ("torch", "transformers", "bitsandbytes", "compressed-tensors", "autoawq", "auto-gptq", "mlx", "nvidia-modelopt",
                 "onnx", "onnxruntime", "safetensors"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def make(folder, names=()):
    """Returns the names that were made and, for the others, what is missing."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made, missing = [], {}
    for name, function in CASES.items():
        if names and name not in names:
            continue
        torch.manual_seed(7)
        try:
            arrays, expected, stated, *steps = function()
        except ImportError as error:
            missing[name] = str(error)
            continue
        (folder / name).mkdir(exist_ok=True)
        save_file(arrays, folder / name / "model.safetensors", {"format": "pt"})
        (folder / name / "config.json").write_text(json.dumps(stated, indent=1) + "\n")
        save_file({key: value.contiguous() for key, value in expected.items()}, folder / f"{name}.expected.safetensors",
                  {"steps": str(steps[0] if steps else 0)})
        made.append(name)
    (folder / "versions.json").write_text(json.dumps(versions(), indent=1, sort_keys=True) + "\n")
    return made, missing


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    made, missing = make(sys.argv[1], sys.argv[2:])
    for name, reason in missing.items():
        print(f"{name}: skipped: {reason}")
    print(f"{len(made)} made")
    return 0


if __name__ == "__main__":
    sys.exit(main())
