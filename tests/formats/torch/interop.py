#!/usr/bin/env python3
"""Files that torch.save makes, and directories of Hugging Face and of torch's distributed checkpoints with them, beside what
torch.load makes of them: names, shapes, types and every value, bit by bit.

    interop.py TARE        (TARE: the command; 77: no torch)
"""
import collections
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

if importlib.util.find_spec("torch") is None:
    print("no torch")
    sys.exit(77)
import torch

failures = []
NAMES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64",
         torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
         torch.complex64: "complex64", torch.complex128: "complex128"}
for ours, theirs in (("u16", "uint16"), ("u32", "uint32"), ("u64", "uint64"), ("f8_e4m3fn", "float8_e4m3fn"),
                     ("f8_e5m2", "float8_e5m2"), ("f8_e4m3fnuz", "float8_e4m3fnuz"), ("f8_e5m2fnuz", "float8_e5m2fnuz"),
                     ("f8_e8m0", "float8_e8m0fnu")):
    if hasattr(torch, theirs):
        NAMES[getattr(torch, theirs)] = ours


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def run(tare, *arguments, code=0):
    done = subprocess.run([tare, *map(str, arguments)], capture_output=True)
    if done.returncode != code:
        failures.append(arguments)
        print(f"FAILED: tare {' '.join(map(str, arguments))}: {done.returncode}, {done.stderr.decode()}{done.stdout.decode()[:2000]}")
    return done


def flat(tree, prefix=""):
    """The tensors in nested dicts and lists, by their names."""
    found = {}
    if isinstance(tree, torch.Tensor):
        return {prefix or "tensor": tree}
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, (list, tuple)) else ()
    for key, value in items:
        found.update(flat(value, f"{prefix}.{key}" if prefix else str(key)))
    return found


def bytes_of(tensor):
    plain = tensor.detach().contiguous().reshape(-1).clone()
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def compare(tare, path, tree, what):
    """Compares the output of `ls` and `cat` for a file with the tensors it was made of."""
    expected = flat(tree)
    done = run(tare, "ls", "--json", path)
    if done.returncode != 0:
        return
    listed = {t["name"]: t for t in json.loads(done.stdout)["tensors"]}
    check(list(listed) == list(expected), f"{what}: names {list(listed)[:9]}, expected {list(expected)[:9]}")
    for name, tensor in expected.items():
        if name not in listed:
            continue
        found = listed[name]
        check(found["shape"] == list(tensor.shape), f"{what}: {name}: shape {found['shape']}")
        if tensor.layout != torch.strided or tensor.is_quantized:
            dense = (tensor.dequantize() if tensor.is_quantized else tensor.to_dense()).float()
            values = run(tare, "cat", path, name, "--as", "f32").stdout
            check(values == bytes_of(dense), f"{what}: {name}: values of {tensor.layout}")
            continue
        check(found["dtype"] == NAMES.get(tensor.dtype), f"{what}: {name}: type {found['dtype']}, {tensor.dtype}")
        check(run(tare, "cat", path, name).stdout == bytes_of(tensor), f"{what}: {name}: bytes")


def of_every_type():
    torch.manual_seed(1)
    values = torch.randn(3, 5)
    tree = {}
    for dtype, name in NAMES.items():
        if dtype.is_complex:
            tree[name] = torch.randn(3, 5, dtype=dtype)
        elif dtype == torch.bool:
            tree[name] = values > 0
        elif dtype.is_floating_point:
            tree[name] = values.to(dtype)
        else:
            tree[name] = (values * 50).abs().to(torch.int64).to(dtype)
    return tree


def of_every_shape():
    base = torch.arange(240, dtype=torch.float32)
    cube = base.reshape(4, 5, 12)
    return {
        "scalar": torch.tensor(3.5), "empty": torch.zeros(0, 3), "one": torch.ones(1), "cube": cube, "t": base.reshape(20, 12).t(),
        "permuted": cube.permute(2, 0, 1), "rows": cube[1:3], "columns": cube[..., 3:7], "every": base[::7], "every2": cube[::2, ::2],
        "expanded": base[:5].expand(4, 5), "diagonal": base.reshape(12, 20).diagonal(), "strided": base.as_strided((3, 4), (1, 2), 5),
        "overlap": base.as_strided((3, 4), (1, 1)), "last": base[239:], "i8": base.to(torch.int8).reshape(16, 15).t(),
        "c": torch.view_as_complex(base.reshape(120, 2).clone()).reshape(10, 12).t(), "channels": torch.randn(2, 3, 4, 4).to(
            memory_format=torch.channels_last), "half": base.half().reshape(15, 16).t(), "real": base.reshape(60, 4)[:, 1],
    }


def of_every_kind():
    tied = torch.randn(4, 3)
    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    parameter = torch.nn.Parameter(torch.randn(2))
    parameter.note = "x"
    tree = collections.OrderedDict(embed=tied, head=tied, alias=tied.detach(), parameter=torch.nn.Parameter(torch.randn(2, 2)), noted=parameter)
    if hasattr(torch.nn, "Buffer"):
        tree["buffer"] = torch.nn.Buffer(torch.ones(3))
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    tree["optimizer"] = optimizer.state_dict()
    tree["model"] = layer.state_dict()
    tree["list"] = [torch.ones(1), (torch.zeros(2), {"deep": torch.ones(2)}), 7, "text"]
    tree["epoch"], tree["loss"], tree["name"], tree["none"], tree["on"] = 3, 1.5, "a model", None, True
    tree["big"], tree["negative"], tree["bytes"], tree["dtype"] = 2**63 + 5, -2**40, b"\x00\xff", torch.float16
    tree["device"], tree["size"], tree["set"], tree["huge"] = torch.device("cuda", 1), torch.Size([1, 2]), {5}, 2**200
    return tree


def big_endian(path, out):
    """The same archive as a big-endian machine would write it."""
    with zipfile.ZipFile(path) as theirs, zipfile.ZipFile(out, "w") as ours:
        for info in theirs.infolist():
            data = theirs.read(info)
            if info.filename.endswith("/byteorder"):
                data = b"big"
            elif "/data/" in info.filename:
                data = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
            ours.writestr(info.filename, data)


def files(tare, folder):
    trees = {"types": of_every_type(), "shapes": of_every_shape(), "kinds": of_every_kind(), "lone": torch.randn(3, 2),
             "list": [torch.ones(2), torch.zeros(3)], "none": {"epoch": 1}}
    for name, tree in trees.items():
        for protocol in (2, 3, 4, 5):
            for layout in (True, False):
                path = folder / f"{name}.{protocol}.{'zip' if layout else 'legacy'}.pt"
                torch.save(tree, path, pickle_protocol=protocol, _use_new_zipfile_serialization=layout)
                compare(tare, path, tree, path.name)
        done = run(tare, "verify", path)
        check(b"ok" in done.stdout, f"verify {path}")
    floats = {"a": torch.randn(3, 4), "t": torch.randn(4, 5).t()}
    torch.save(floats, folder / "floats.pt")
    big_endian(folder / "floats.pt", folder / "big.pt")
    compare(tare, folder / "big.pt", floats, "big-endian")
    with zipfile.ZipFile(folder / "floats.pt") as theirs, zipfile.ZipFile(folder / "deflated.pt", "w", zipfile.ZIP_DEFLATED) as out:
        for info in theirs.infolist():
            out.writestr(info.filename, theirs.read(info))
    compare(tare, folder / "deflated.pt", floats, "deflated")
    shown = json.loads(run(tare, "ls", "--json", folder / "kinds.2.zip.pt").stdout)["metadata"]
    for key, value in (("epoch", 3), ("loss", 1.5), ("name", "a model"), ("none", None), ("on", True), ("big", 2**63 + 5),
                       ("negative", -2**40), ("dtype", "torch.float16"), ("device", "cuda:1"), ("size", [1, 2]), ("set", [5]),
                       ("bytes", {"$bytes": "00ff"})):
        check(shown.get(key, "missing") == value, f"metadata {key}: {shown.get(key, 'missing')}")


def sparse_and_quantized(tare, folder):
    dense = torch.zeros(6, 5)
    dense[1, 2], dense[4, 0], dense[4, 3] = 1.5, -2, 3
    tree = {"coo": dense.to_sparse(), "csr": dense.to_sparse_csr(), "half": dense.half().to_sparse()}
    torch.save(tree, folder / "sparse.pt")
    compare(tare, folder / "sparse.pt", tree, "sparse")
    weights = torch.randn(4, 6)
    tree = {"tensor": torch.quantize_per_tensor(weights, 0.05, 10, torch.quint8),
            "signed": torch.quantize_per_tensor(weights, 0.05, 0, torch.qint8),
            "wide": torch.quantize_per_tensor(weights, 0.001, 3, torch.qint32),
            "channel": torch.quantize_per_channel(weights, torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([0, 1, 2, 3]), 0, torch.qint8),
            "columns": torch.quantize_per_channel(weights, torch.rand(6) + 0.1, torch.arange(6), 1, torch.quint8)}
    torch.save(tree, folder / "quantized.pt")
    compare(tare, folder / "quantized.pt", tree, "quantized")


MESH = (2, 2)


def rank_of_distributed(rank, path, port):
    """One of the processes that save a checkpoint together."""
    import os

    import torch.distributed as dist
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(MESH[0] * MESH[1]))
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", MESH)
    tree = distributed_tree()
    placed = {"rows": [Shard(0), Replicate()], "columns": [Shard(1), Replicate()], "grid": [Shard(0), Shard(1)],
              "both": [Shard(0), Shard(0)], "uneven": [Shard(0), Shard(1)], "cube": [Shard(2), Shard(1)], "half": [Replicate(), Shard(0)]}
    state = {name: distribute_tensor(tree[name], mesh, placement) for name, placement in placed.items()}
    state["plain"] = tree["plain"]
    checkpoint.save({"model": state, "step": 7, "note": "x"}, checkpoint_id=path)
    dist.destroy_process_group()


def distributed_tree():
    torch.manual_seed(5)
    return {"rows": torch.randn(8, 6), "columns": torch.randn(5, 8), "grid": torch.randn(6, 10), "both": torch.randn(8, 3),
            "uneven": torch.randn(5, 7), "cube": torch.randn(3, 4, 6), "half": torch.randn(9, 2).half(), "plain": torch.randn(3)}


def distributed(tare, folder):
    if not torch.distributed.is_available():
        return
    path = folder / "distributed"
    torch.multiprocessing.spawn(rank_of_distributed, (str(path), random.randrange(20000, 40000)), MESH[0] * MESH[1])
    tree = distributed_tree()
    listed = json.loads(run(tare, "ls", "--json", path).stdout)
    check(listed["metadata"] == {"step": 7, "note": "x"}, f"distributed: metadata {listed['metadata']}")
    check({t["name"] for t in listed["tensors"]} == {f"model.{name}" for name in tree}, "distributed: names")
    for name, tensor in tree.items():
        check(run(tare, "cat", path, f"model.{name}").stdout == bytes_of(tensor), f"distributed: {name}")


def directories(tare, folder):
    """What transformers saved before there were safetensors."""
    if importlib.util.find_spec("transformers") is None:
        return
    import transformers
    config = transformers.LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, tie_word_embeddings=False)
    torch.manual_seed(3)
    model = transformers.LlamaForCausalLM(config)
    state = model.state_dict()
    for name, parts in (("whole", 1), ("shards", 3)):
        path = folder / name
        config.save_pretrained(path)
        names = list(state)
        files = ["pytorch_model.bin"] if parts == 1 else [f"pytorch_model-{i + 1:05}-of-{parts:05}.bin" for i in range(parts)]
        for i, file in enumerate(files):
            torch.save({key: state[key] for key in names[i::parts]}, path / file)
        if parts > 1:
            weight_map = {key: files[i % parts] for i, key in enumerate(names)}
            (path / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))
        out = folder / (name + ".out")
        run(tare, "convert", path, f"{out}/")
        again = transformers.LlamaForCausalLM.from_pretrained(out, torch_dtype=torch.float32).state_dict()
        check(state.keys() == again.keys() and all(torch.equal(state[key], again[key]) for key in state), f"{name}: as transformers loads it")


def refused(tare, folder):
    class Evil:
        def __reduce__(self):
            import os
            return os.system, ("touch /tmp/tare-was-here",)
    torch.save({"a": torch.ones(1), "b": Evil()}, folder / "evil.pt")
    done = run(tare, "verify", folder / "evil.pt", code=1)
    check(b"posix.system" in done.stdout and b"torch.global.dangerous" in done.stdout, f"evil.pt: {done.stdout.decode()}")
    check(not pathlib.Path("/tmp/tare-was-here").exists(), "something was run")
    torch.save(torch.nn.Linear(2, 2), folder / "module.pt")
    done = run(tare, "ls", folder / "module.pt", code=1)
    check(b"torch.nn.modules.linear.Linear" in done.stderr and b"state_dict" in done.stderr, done.stderr.decode())
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), folder / "script.pt")
    done = run(tare, "ls", folder / "script.pt", code=1)
    check(b"TorchScript" in done.stderr, done.stderr.decode())


def main():
    tare = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="tare-torch-") as directory:
        folder = pathlib.Path(directory)
        for part in (files, sparse_and_quantized, directories, distributed, refused):
            part(tare, folder)
    print(f"torch {torch.__version__}: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
