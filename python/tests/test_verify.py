"""verify=True: damaged bytes that have a digest are never handed out, whichever function loads them."""

import concurrent.futures
import importlib
import inspect
import os
import pkgutil
import shutil

import numpy as np
import pytest

import tare

NAME = "layers.0.mlp.weight"
MODULES = ("numpy", "jax", "device", "torch", "transformers", "vllm", "plot", "safetensors", "safetensors.numpy", "safetensors.torch",
           "safetensors.flax", "cluster", "cluster.ray", "cluster.dask")  # fmt: skip


def _tensors(path, **options):
    return tare.open(path, **options).tensor(NAME)


def _inside(load):
    """For functions without the option."""

    def loaded(path, verify):
        if not verify:
            return load(path)
        with tare.verifying():
            return load(path)

    return loaded


def _generic(load):
    """Of a path, or of an open model."""
    return {"": load, "of a model": lambda path, verify: load(tare.open(path), verify)}


def _safe(framework, what):
    def load(path):
        with tare.safetensors.safe_open(path, framework) as file:
            return what(file)

    return load


def _content(path):
    with open(path, "rb") as file:
        return file.read()


# Every function of the module that gives bytes of a model: how to call it, by its name.
LOADERS = {
    "open": {
        "[name]": lambda path, verify: tare.open(path, verify=verify)[NAME],
        "content": lambda path, verify: tare.open(_content(path), verify=verify)[NAME],
        "pread": lambda path, verify: tare.open(path, mmap=False, verify=verify)[NAME],
        "usual names": lambda path, verify: tare.open(path, usual_names=True, verify=verify)[NAME],
        "arrays": lambda path, verify: tare.open(path, arrays=True, verify=verify)[NAME],
        "load": lambda path, verify: tare.open(path, verify=verify).load(),
        "load writable": lambda path, verify: tare.open(path, verify=verify).load(writable=True),
        "dict": lambda path, verify: dict(tare.open(path, verify=verify)),
        "numpy": lambda path, verify: _tensors(path, verify=verify).numpy(),
        "row": lambda path, verify: _tensors(path, verify=verify)[63],
        "rows": lambda path, verify: next(iter(_tensors(path, verify=verify))),
        "fancy": lambda path, verify: _tensors(path, verify=verify)[[1, 2, 3]],
        "bytes": lambda path, verify: _tensors(path, verify=verify).bytes(),
        "array": lambda path, verify: np.asarray(_tensors(path, verify=verify)),
        "dlpack": lambda path, verify: np.from_dlpack(_tensors(path, verify=verify)),
        "decode": lambda path, verify: _tensors(path, verify=verify).decode(),
        "float32": lambda path, verify: _tensors(path, verify=verify).float32(),
        "cast": lambda path, verify: _tensors(path, verify=verify).cast("f16").numpy(),
        "cast row": lambda path, verify: _tensors(path, verify=verify).cast("f64")[63],
        "stats": lambda path, verify: _tensors(path, verify=verify).stats(),
        "histogram": lambda path, verify: _tensors(path, verify=verify).histogram(),
        "pickled": lambda path, verify: __import__("pickle").loads(__import__("pickle").dumps(tare.open(path, verify=verify)))[NAME],
    },
    "verifying": {"": _inside(lambda path: tare.open(path)[NAME])},
    "Model": {"": lambda path, verify: tare.Model(path, verify=verify)[NAME]},
    "numpy.tree": _generic(lambda source, verify: tare.numpy.tree(source, verify=verify)),
    "jax.tree": _generic(lambda source, verify: tare.jax.tree(source, verify=verify)),
    "torch.load": {
        "": lambda path, verify: tare.torch.load(path, verify=verify),
        "decoded": lambda path, verify: tare.torch.load(path, verify=verify, arrays=False),
        "pread": lambda path, verify: tare.torch.load(path, verify=verify, mmap=False),
        "content": lambda path, verify: tare.torch.load(_content(path), verify=verify),
        "inside": _inside(lambda path: tare.torch.load(path)),
    },
    "torch.tensor": {
        "": lambda path, verify: tare.torch.tensor(_tensors(path, verify=verify)),
        "method": lambda path, verify: _tensors(path, verify=verify).torch(),
    },
    "torch.part": {"": lambda path, verify: tare.torch.part(_tensors(path, verify=verify), 63)},
    "torch.state_dict": {
        "": lambda path, verify: tare.torch.state_dict(path, verify=verify)[NAME][...],
        "of a model": lambda path, verify: tare.torch.state_dict(tare.open(path), verify=verify)[NAME][...],
        "part": lambda path, verify: tare.torch.state_dict(path, verify=verify)[NAME][63],
    },
    "transformers.state_dict": {
        "": lambda path, verify: tare.transformers.state_dict(path, verify=verify)[NAME][...],
        "of a model": lambda path, verify: tare.transformers.state_dict(tare.open(path), verify=verify)[NAME][...],
        "of a model of usual names": lambda path, verify: tare.transformers.state_dict(
            tare.open(path, usual_names=True), verify=verify)[NAME][...],  # fmt: skip
        "to": lambda path, verify: tare.transformers.state_dict(path, verify=verify)[NAME].to("cpu"),
    },
    "vllm.weights": {"": lambda path, verify: dict(tare.vllm.weights(path, verify=verify))},
    "safetensors.safe_open": {
        f"{framework} {name}": _inside(_safe(framework, what))
        for framework in ("np", "pt", "flax")
        for name, what in (
            ("tensor", lambda file: file.get_tensor(NAME)), ("tensors", lambda file: file.get_tensors()),
            ("slice", lambda file: file.get_slice(NAME)[63]))
    },
    "safetensors.deserialize": {"": _inside(lambda path: tare.safetensors.deserialize(_content(path)))},
    **{
        f"safetensors.{module}.{name}": {"": _inside(load)}
        for module in ("numpy", "torch", "flax")
        for name, load in (
            ("load_file", lambda path, module=module: _module(f"safetensors.{module}").load_file(path)),
            ("load", lambda path, module=module: _module(f"safetensors.{module}").load(_content(path))),
        )
    },
    "safetensors.torch.load_model": {"": _inside(lambda path: tare.safetensors.torch.load_model(_net(), path, strict=False))},
}  # fmt: skip
# From_pretrained needs a model of transformers, devices need one, and what runs a model needs its config.json: test_torch.py,
# test_device.py and test_run.py.
ELSEWHERE = {"transformers.from_pretrained", "torch.to_device", "torch.iterate", "device.load", "run", "compare", "calibrate", "measure"}
# These read all bytes that they use, and compare them without being asked.
ALWAYS = {
    "convert": lambda path, out: tare.convert(path, out / "o.npz"),
    "quantize": lambda path, out: tare.quantize(path, out / "o.mcf", "int8"),
    "save": lambda path, out: tare.save(out / "o.zt", tare.open(path)),
    "to_bytes": lambda path, out: tare.to_bytes(tare.open(path), format="npz"),
    "hash": lambda path, out: tare.hash(path),
    "diff": lambda path, out: tare.diff(path, _write(out / "other.npz")),
    "Writer": lambda path, out: _copied(path, out / "o.zt"),
    "plan": lambda path, out: tare.plan(path, out / "o.npz").run(),
}
# No bytes of tensors come out of these.
OTHERS = {
    "verify", "formats", "families", "methods", "torch.dtype", "transformers.config", "transformers.config_dict", "transformers.class_for",
    "vllm.register", "vllm.find", "device.facts", "device.release", "device.plan", "numpy.flat", "jax.flat", "plot.histogram",
    "plot.errors", "safetensors.serialize", "safetensors.serialize_file", "safetensors.save_dict", "safetensors.content_of",
    "safetensors.path_of", "safetensors.texts", "safetensors.is_mapped", "safetensors.check_device", "cluster.ray.run", "cluster.dask.run",
    "safetensors.torch.save_model", "safetensors.torch.storage_ptr", "safetensors.torch.storage_size",
    *(f"safetensors.{module}.{name}" for module in ("numpy", "torch", "flax") for name in ("save", "save_file")),
}  # fmt: skip


def _module(name):
    return importlib.import_module(f"tare.{name}")


def _net():
    torch = pytest.importorskip("torch")

    class Part(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(64, 256))

    return Part()


def _copied(path, target):
    with tare.Writer(target) as writer:
        writer.add(NAME, tare.open(path).tensor(NAME))


def _write(path, **options):
    values = (np.arange(64 * 256) % 8191).astype("f4").reshape(64, 256)
    tare.save(path, {NAME: values, "other": np.ones(7, "f4")}, **options)
    return path


def _write_torch(path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.save({NAME: torch.from_numpy(tare.open(_write(path.with_suffix(".zt")))[NAME].copy())}, path)
    return path


FILES = {
    "zt sha256": lambda folder: _write(folder / "m.zt", digest="sha256"),
    "zt crc32c": lambda folder: _write(folder / "m.zt", digest="crc32c"),
    "zt2": lambda folder: _write(folder / "m.zt2"),
    "zt2 zstd": lambda folder: _write(folder / "m.zt2", zstd=True),
    "npz": lambda folder: _write(folder / "m.npz"),
    "pt": lambda folder: _write_torch(folder / "m.pt"),
}


@pytest.fixture(params=FILES)
def files(tmp_path, request):
    """A file with digests or checksums, and one with a flipped bit in the middle of a tensor."""
    good = FILES[request.param](tmp_path)
    data = bytearray(good.read_bytes())
    row = next(row for row in tare.open(good).tensor(NAME).components)
    place = row["offset"] + row["stored_bytes"] // 2
    data[place] ^= 0x10
    bad = tmp_path / ("bad" + good.suffix)
    bad.write_bytes(data)
    return good, bad


def _needs(name):
    if name.startswith(("torch.", "transformers.", "vllm.", "safetensors.torch")):
        pytest.importorskip("torch", reason="torch is not installed")
    if name.startswith(("jax.", "safetensors.flax")):
        pytest.importorskip("jax", reason="jax is not installed")


@pytest.mark.parametrize("name", LOADERS)
def test_loaders_compare(files, name):
    _needs(name)
    good, bad = files
    for way, load in LOADERS[name].items():
        if way.startswith("pt "):
            _needs("torch.")
        if way.startswith("flax "):
            try:
                import jax  # noqa: F401
            except ImportError:
                continue
        for verify in (False, True):
            load(good, verify)
        try:
            load(bad, True)
        except tare.CorruptError as error:
            assert error.rule, (name, way)
        else:
            pytest.fail(f"{name} {way}: damaged bytes were handed out")


@pytest.mark.parametrize("name", ALWAYS)
def test_all_bytes_are_compared_always(files, name, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    ALWAYS[name](files[0], out)
    shutil.rmtree(out)
    out.mkdir()
    with pytest.raises(tare.CorruptError):
        ALWAYS[name](files[1], out)


def test_a_mapped_view_is_not_compared_unasked(tmp_path):
    """Or a part of a large file could not be looked at without reading all of it."""
    path = _write(tmp_path / "m.zt", digest="sha256")
    row = tare.open(path).tensor(NAME).components[0]
    data = bytearray(path.read_bytes())
    data[row["offset"] + 5000] ^= 1
    path.write_bytes(data)
    assert tare.open(path)[NAME].shape == (64, 256)
    with tare.verifying():
        model = tare.open(path)
    with pytest.raises(tare.CorruptError) as caught:
        model[NAME]
    assert caught.value.rule == "digest.mismatch" and caught.value.item == NAME
    assert model["other"].sum() == 7  # the others are as they were
    assert tare.open(path)[NAME].shape == (64, 256)
    with tare.verifying(), tare.verifying(), concurrent.futures.ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(tare.safetensors.numpy.load_file, path) for _ in range(4)]:
            assert isinstance(done.exception(), tare.CorruptError)
    assert tare.open(path)[NAME].shape == (64, 256)


def _public():
    """Names of the functions and classes that a program can call, as far as their modules can be imported."""
    for name in dir(tare):
        found = getattr(tare, name, None)
        if not name.startswith("_") and callable(found) and not (inspect.isclass(found) and name not in ("Model", "Writer")):
            yield name
    for module in MODULES:
        try:
            loaded = _module(module)
        except ImportError:
            continue
        for name, found in vars(loaded).items():
            if name.startswith("_") or not callable(found) or getattr(found, "__module__", None) not in (f"tare.{module}", "tare.numpy"):
                continue
            if inspect.isfunction(found) or name == "safe_open":
                yield f"{module}.{name}"


def test_every_function_is_in_a_list():
    """A new way to load is compared, too."""
    known = {*LOADERS, *ALWAYS, *OTHERS, *ELSEWHERE}
    assert [name for name in _public() if name not in known] == []
    below = {name.split(".", 1)[1] for _, name, _ in pkgutil.walk_packages([os.path.dirname(tare.__file__)], "tare.")}
    assert {name for name in below if not name.split(".")[-1].startswith("_")} <= set(MODULES)
