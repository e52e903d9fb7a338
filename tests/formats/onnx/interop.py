#!/usr/bin/env python3
"""ONNX models that the package onnx makes, and those of onnxruntime's quantizers, compared with what these packages read from them:
names, shapes, types and every value. The values of MatMulNBits are those that onnxruntime computes with it.

    interop.py TARE        (TARE: the command; 77: no onnx or no onnxruntime)
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

for package in ("onnx", "onnxruntime", "ml_dtypes"):
    if importlib.util.find_spec(package) is None:
        print(f"no {package}")
        sys.exit(77)
import numpy
import onnx
import onnx.external_data_helper
from onnx import TensorProto, helper, numpy_helper

failures, compared = [], 0
NAMES = {"FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16", "INT8": "i8", "INT16": "i16",
         "INT32": "i32", "INT64": "i64", "UINT8": "u8", "UINT16": "u16", "UINT32": "u32", "UINT64": "u64", "BOOL": "bool",
         "COMPLEX64": "complex64", "COMPLEX128": "complex128", "FLOAT8E4M3FN": "f8_e4m3fn", "FLOAT8E5M2": "f8_e5m2",
         "FLOAT8E4M3FNUZ": "f8_e4m3fnuz", "FLOAT8E5M2FNUZ": "f8_e5m2fnuz", "FLOAT8E8M0": "f8_e8m0"}
NARROW = {"INT4": numpy.int8, "UINT4": numpy.uint8, "INT2": numpy.int8, "UINT2": numpy.uint8}
SMALL = ("FLOAT4E2M1", "FLOAT6E2M3", "FLOAT6E3M2")


def check(holds, what):
    global compared
    compared += 1
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def run(tare, *arguments, code=0):
    done = subprocess.run([tare, *map(str, arguments)], capture_output=True)
    if done.returncode != code:
        failures.append(arguments)
        print(f"FAILED: tare {' '.join(map(str, arguments))}: {done.returncode}, {done.stderr.decode()[:2000]}")
    return done.stdout


def tensors_in(graph):
    """All initializers and constants, with those of graphs inside of nodes."""
    found = [(tensor.name, tensor) for tensor in graph.initializer]
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                found.append((node.output[0], attribute.t))
            if attribute.type == onnx.AttributeProto.GRAPH:
                found += tensors_in(attribute.g)
    return found


def same(tare, path, skip=()):
    """Every tensor of the file, as its bytes and as numbers."""
    run(tare, "verify", path)
    model = onnx.load(path)
    listed = {tensor["name"]: tensor for tensor in json.loads(run(tare, "ls", path, "--json"))["tensors"]}
    for name, tensor in tensors_in(model.graph):
        if name in skip:
            continue
        kind, values = TensorProto.DataType.Name(tensor.data_type), numpy_helper.to_array(tensor)
        check(name in listed, f"{path.name}: {name} is listed")
        if name not in listed:
            continue
        check(listed[name]["shape"] == list(tensor.dims), f"{path.name}: {name}: shape {listed[name]['shape']}")
        if kind in SMALL:
            got = numpy.frombuffer(run(tare, "cat", path, name, "--as", "f32"), numpy.float32)
            check(numpy.array_equal(got, values.astype(numpy.float32).ravel()), f"{path.name}: values of {name}")
            continue
        wanted = values.astype(NARROW[kind]) if kind in NARROW else values
        check(run(tare, "cat", path, name) == numpy.ascontiguousarray(wanted).tobytes(), f"{path.name}: bytes of {name}")
    return listed


def save(path, tensors, **options):
    graph = helper.make_graph([], "g", [], [], initializer=tensors)
    onnx.save(helper.make_model(graph, ir_version=10, producer_name="interop"), path, **options)


def all_types(tare, folder):
    random = numpy.random.default_rng(1)
    raw, typed = [], []
    for name, number in TensorProto.DataType.items():
        if name in ("UNDEFINED", "STRING"):
            continue
        for shape in ((4, 6), (5,), ()):
            count = int(numpy.prod(shape))
            dtype = helper.tensor_dtype_to_np_dtype(number)
            values = random.integers(0, 2 if name in ("BOOL", "INT2", "UINT2") else 6, count).astype(dtype).reshape(shape)
            suffix = f"{name}.{len(shape)}"
            raw.append(numpy_helper.from_array(values, f"raw.{suffix}"))
            if name in ("COMPLEX64", "COMPLEX128") or name.startswith("FLOAT6"):
                continue
            if name.startswith("FLOAT8") or name in ("FLOAT16", "BFLOAT16") or name in NARROW or name == "FLOAT4E2M1":
                continue  # helper.make_tensor packs them itself, below
            typed.append(helper.make_tensor(f"typed.{suffix}", number, shape, values.ravel().tolist()))
    for name in ("FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "INT4", "UINT4"):
        typed.append(helper.make_tensor(f"typed.{name}", getattr(TensorProto, name), (3,), [1.0, 2.0, 0.0]))
    save(folder / "raw.onnx", raw)
    save(folder / "typed.onnx", typed)
    listed = same(tare, folder / "raw.onnx")
    for name, tensor in listed.items():
        wanted = NAMES.get(name.split(".")[1])
        data = next(iter(tensor["components"].values()))
        found = data.get("type") or data["dtype"]
        check(wanted is None or found == wanted, f"{name} is {found}")
    same(tare, folder / "typed.onnx")
    run(tare, "convert", folder / "raw.onnx", folder / "raw.zt")
    check(run(tare, "hash", folder / "raw.onnx").split()[0] == run(tare, "hash", folder / "raw.zt").split()[0], "the digest of all types")


def external(tare, folder):
    tensors = [numpy_helper.from_array(numpy.arange(5000, dtype=numpy.float32) + i, f"w{i}") for i in range(3)]
    save(folder / "one.onnx", tensors, save_as_external_data=True, location="one.bin", size_threshold=0)
    save(folder / "many.onnx", tensors, save_as_external_data=True, all_tensors_to_one_file=False, size_threshold=0)
    for name in ("one.onnx", "many.onnx"):
        same(tare, folder / name)
    outside = folder / "inner"
    outside.mkdir()
    (outside / "one.onnx").write_bytes((folder / "one.onnx").read_bytes().replace(b"one.bin", b"../o.bi"))
    run(tare, "ls", outside / "one.onnx", code=1)


def sparse(tare, folder):
    values = helper.make_tensor("s", TensorProto.FLOAT, (2,), [7.0, 8.0])
    flat = helper.make_tensor("i", TensorProto.INT64, (2,), [1, 5])
    graph = helper.make_graph([], "g", [], [], sparse_initializer=[helper.make_sparse_tensor(values, flat, (2, 3))])
    onnx.save(helper.make_model(graph, ir_version=10), folder / "sparse.onnx")
    got = numpy.frombuffer(run(tare, "cat", folder / "sparse.onnx", "s", "--as", "f32"), numpy.float32)
    check(got.tolist() == [0, 7, 0, 0, 0, 8], "a sparse initializer")


def subgraphs(tare, folder):
    def branch(name, value):
        tensor = numpy_helper.from_array(numpy.float32([value]), f"{name}_w")
        return helper.make_graph([helper.make_node("Identity", [f"{name}_w"], [f"{name}_out"])], name, [],
                                 [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, [1])], [tensor])
    node = helper.make_node("If", ["c"], ["y"], "choose", then_branch=branch("yes", 1), else_branch=branch("no", 2))
    constant = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(numpy.array(True), "unused"))
    graph = helper.make_graph([constant, node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 18)])
    onnx.checker.check_model(model)
    onnx.save(model, folder / "if.onnx")
    same(tare, folder / "if.onnx")


def packed(tare, folder):
    """Multiplying by the identity, onnxruntime computes what the blocks mean."""
    import onnxruntime
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
    random = numpy.random.default_rng(2)
    for inputs, outputs, block, symmetric, bits in ((64, 24, 32, True, 4), (100, 8, 16, False, 4), (256, 33, 128, False, 4),
                                                    (96, 16, 32, False, 8), (96, 16, 32, True, 8)):
        weights = random.standard_normal((inputs, outputs)).astype(numpy.float32)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", inputs])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", outputs])],
                                  [numpy_helper.from_array(weights, "w")])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
        label = f"{inputs}x{outputs} blocks of {block} {bits} bits {'symmetric' if symmetric else 'with zero points'}"
        try:
            config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, bits=bits)
            quantizer = MatMulNBitsQuantizer(model, algo_config=config)
            quantizer.process()
        except Exception as error:  # this release of onnxruntime does not have it
            print(f"not made: {label}: {error}")
            continue
        path = folder / f"q{inputs}_{block}_{bits}_{symmetric}.onnx"
        quantizer.model.save_model_to_file(str(path), False)
        nodes = [node for node in onnx.load(path).graph.node if node.op_type == "MatMulNBits"]
        check(len(nodes) == 1, f"{label}: quantized")
        if not nodes:
            continue
        name = nodes[0].input[1]
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        wanted = session.run(None, {"x": numpy.eye(inputs, dtype=numpy.float32)})[0].T
        got = numpy.frombuffer(run(tare, "cat", path, name, "--as", "f32"), numpy.float32).reshape(outputs, inputs)
        check(numpy.abs(got - wanted).max() <= 1e-5 * numpy.abs(wanted).max(), f"{label}: values, {numpy.abs(got - wanted).max()}")
        listed = same(tare, path, skip=set(nodes[0].input))
        check(listed[name]["layout"] == f"nbits.int{bits}", f"{label}: {listed[name]['layout']}")
        # The arrays are those of the file in another container, and mean the same.
        stored = folder / (path.stem + ".safetensors")
        run(tare, "convert", path, stored)
        check(run(tare, "cat", stored, name, "--as", "f32") == got.tobytes(), f"{label}: in safetensors")
        run(tare, "verify", stored)


def main():
    tare = sys.argv[1]
    print(f"onnx {onnx.__version__}")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for part in (all_types, external, sparse, subgraphs, packed):
            part(tare, folder)
    print(f"{compared} comparisons")
    sys.exit(1 if failures else 0)


main()
