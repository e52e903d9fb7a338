"""How long the original libraries take to decode a matrix of 8192 x 4096 to bf16 on one core of a CPU.

    bench/packs.py ROUNDS    prints "LAYOUT SECONDS" for each library that is installed and runs on a CPU

tare-bench runs it with the Python interpreter in TARE_BENCH_PYTHON. AutoGPTQ has no function that only decodes, so this times its
forward pass for one token, which decodes the whole matrix each time.
"""

import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import packs  # noqa: E402

OUT, IN, GROUP = 8192, 4096, 128
torch.set_num_threads(1)


def words(*shape):
    return torch.randint(-2**31, 2**31, shape, dtype=torch.int64).to(torch.int32)


def gptq4():
    layer = packs.part_of("auto_gptq", "nn_modules/qlinear/qlinear_cuda.py").QuantLinear(4, GROUP, IN, OUT, False)
    layer.qweight, layer.qzeros = words(IN // 8, OUT), words(IN // GROUP, OUT // 8)
    layer.scales = torch.full((IN // GROUP, OUT), 2.0**-7).half()
    token = torch.ones(1, IN, dtype=torch.float16)
    return lambda: layer(token)


def awq4():
    decode = packs.part_of("awq", "utils/packing_utils.py").dequantize_gemm
    codes, zeros = words(IN, OUT // 8), words(IN // GROUP, OUT // 8)
    scales = torch.full((IN // GROUP, OUT), 2.0**-7).half()
    return lambda: decode(codes, zeros, scales, 4, GROUP).to(torch.bfloat16)


def bnb_nf4():
    import bitsandbytes.functional as bnb
    codes, state = bnb.quantize_4bit(torch.randn(OUT, IN, dtype=torch.bfloat16), quant_type="nf4", blocksize=64)
    return lambda: bnb.dequantize_4bit(codes, state)


def fp8_block():
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    codes, scales = torch.randn(OUT, IN).to(torch.float8_e4m3fn), torch.rand(OUT // 128, IN // 128)
    return lambda: Fp8Dequantize(None)._dequantize_one(codes, scales, torch.bfloat16)


if __name__ == "__main__":
    for layout, make in {"gptq4": gptq4, "awq4": awq4, "bnb.nf4": bnb_nf4, "fp8.block": fp8_block}.items():
        try:
            with torch.no_grad():
                decode, best = make(), 1e9
                for _ in range(int(sys.argv[1])):
                    start = time.thread_time()
                    decode()
                    best = min(best, time.thread_time() - start)
        except (ImportError, AttributeError, RuntimeError, TypeError) as problem:
            print(f"{layout}: {problem}", file=sys.stderr)
            continue
        print(layout, best, flush=True)
