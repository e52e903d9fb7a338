"""tare.safetensors beside the package safetensors, where that is installed: signatures, results and exceptions."""

import inspect
import os
import random

import numpy as np
import pytest

import tare.safetensors as ours
import tare.safetensors.numpy

theirs = pytest.importorskip("safetensors", reason="safetensors is not installed")
pytest.importorskip("safetensors.numpy")

if not hasattr(theirs, "TensorSpec"):
    pytest.skip("a safetensors before 0.8", allow_module_level=True)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def shape_of(function):
    """Names, kinds and defaults of parameters, without annotations. Of defaults in Rust only `...` is known."""
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind if p.name != "self" else None, p.default) for p in parameters]


def same_signature(one, other):
    a, b = shape_of(one), shape_of(other)
    assert len(a) == len(b), (one, a, b)
    for mine, its in zip(a, b):
        assert mine[:2] == its[:2], (one, mine, its)
        assert mine[2] == its[2] or its[2] is ..., (one, mine, its)


def test_signatures():
    for name in ("safe_open", "TensorSpec", "serialize", "serialize_file", "deserialize", "_safe_open_handle"):
        same_signature(getattr(ours, name), getattr(theirs, name))
    for name in ("keys", "offset_keys", "metadata", "get_tensor", "get_tensors", "get_slice"):
        same_signature(getattr(ours.safe_open, name), getattr(theirs.safe_open, name))
    public = ["load", "load_file", "save", "save_file"]
    for name in public:
        same_signature(getattr(tare.safetensors.numpy, name), getattr(theirs.numpy, name))


def test_signatures_of_torch(torch):
    import safetensors.torch

    for name, function in vars(safetensors.torch).items():
        if inspect.isfunction(function) and function.__module__ == "safetensors.torch" and not name.startswith("_"):
            same_signature(getattr(tare.safetensors.torch, name), function)
    for name in ("_end_ptr", "_is_complete", "_find_shared_tensors", "_remove_duplicate_names"):  # other packages use these
        same_signature(getattr(tare.safetensors.torch, name), getattr(safetensors.torch, name))


def outcome(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return error


# What may be raised in place of what the package raises: every class that a caller of it would catch.
def same_error(mine, its):
    assert isinstance(its, Exception) and isinstance(mine, Exception), (mine, its)
    if isinstance(its, theirs.SafetensorError):
        assert isinstance(mine, ours.SafetensorError), (mine, its)
    else:
        assert isinstance(mine, tuple(c for c in type(its).__mro__ if c in (ValueError, TypeError, KeyError, OSError, RuntimeError))), (mine, its)


def test_exceptions(tmp_path):
    good = tmp_path / "good.safetensors"
    tare.safetensors.numpy.save_file({"a": np.ones((3, 2), "f4")}, good)
    cases = [
        lambda m: m.safe_open(tmp_path / "none", "np"), lambda m: m.safe_open(good, "nothing"),
        lambda m: m.safe_open(good, "np", device="cuda"), lambda m: m.safe_open(good, "np", backend="io_uring"),
        lambda m: m.safe_open(good, "np", backend=None), lambda m: m.safe_open(1, "np"),
        lambda m: m.safe_open(good, "np").get_tensor("b"), lambda m: m.safe_open(good, "np").get_slice("b"),
        lambda m: m.safe_open(good, "np").get_tensor(1), lambda m: m.numpy.load_file(good, backend="io_uring"),
        lambda m: m.numpy.load(b"abc"), lambda m: m.numpy.load(""), lambda m: m.numpy.load(5), lambda m: m.deserialize(5),
        lambda m: m.numpy.load(os.fsencode(good)), lambda m: m.deserialize(os.fsencode(good)), lambda m: m.deserialize(b"abc"), lambda m: m.deserialize("abc"),
        lambda m: m.numpy.save({"a": np.ones(2)}, metadata={"a": 1}), lambda m: m.numpy.save({"a": np.ones(2)}, metadata="x"),
        lambda m: m.numpy.save({1: np.ones(2)}), lambda m: m.numpy.save({"a": np.array([object()])}),
        lambda m: m.TensorSpec(dtype="nonsense", shape=[1], data_ptr=0, data_len=0),
        lambda m: m.TensorSpec(dtype="F32", shape=[1], data_ptr=0, data_len=0),
        lambda m: m.serialize({"a": {"dtype": "float32", "shape": [1], "data_ptr": 0, "data_len": 0}}),
        lambda m: m.serialize({"a": m.TensorSpec(dtype="float32", shape=[2], data_ptr=0, data_len=4)}),
    ]  # fmt: skip
    for number, case in enumerate(cases):
        its, mine = outcome(lambda: case(theirs)), outcome(lambda: case(ours))
        assert isinstance(its, Exception), number
        same_error(mine, its)
    for module in (ours, theirs):
        with module.safe_open(good, "np") as file:
            pass
        with pytest.raises(module.SafetensorError):
            file.keys()


def test_what_an_index_gives_may_be_changed(tmp_path):
    good = tmp_path / "good.safetensors"
    tare.safetensors.numpy.save_file({"a": np.arange(12, dtype="f4").reshape(4, 3), "s": np.array(2.5)}, good)
    before = good.read_bytes()
    for module in (ours, theirs):
        for backend in ("mmap", "pread"):
            with module.safe_open(good, "np", backend=backend) as file:
                for index in (..., slice(None), slice(1, 3), (slice(None), 1), (slice(1, 3), slice(0, 2))):
                    array = file.get_slice("a")[index]
                    assert array.flags.writeable, (module, index)
                    array += 1
                file.get_slice("s")[...][...] = 3
    assert good.read_bytes() == before


def test_device_none_is_the_default(tmp_path):
    good = tmp_path / "good.safetensors"
    tare.safetensors.numpy.save_file({"a": np.ones(3, "f4")}, good)
    for module in (ours, theirs):
        assert module.safe_open(good, "np", None).get_tensor("a").sum() == 3


def test_device_none_of_torch(torch, tmp_path):
    good = tmp_path / "good.safetensors"
    tare.safetensors.numpy.save_file({"a": np.ones(3, "f4")}, good)
    for module in (ours, theirs):
        with module.safe_open(good, "pt", None) as file:
            assert file.get_tensor("a").device.type == file.get_slice("a")[1:].device.type == "cpu"
            assert all(one.device.type == "cpu" for one in file.get_tensors().values())


def test_exceptions_of_torch(torch, tmp_path):
    import safetensors.torch  # noqa: F401

    good = tmp_path / "good.safetensors"
    tare.safetensors.torch.save_file({"a": torch.ones(3, 2)}, good)
    weight = torch.ones(4)
    cases = [
        lambda m: m.torch.save_file({"x": {"a": 1}}, tmp_path / "x"), lambda m: m.torch.save_file("text", tmp_path / "x"),
        lambda m: m.torch.save({"x": torch.eye(2).to_sparse()}), lambda m: m.torch.save({"x": np.ones(2)}),
        lambda m: m.torch.save({"a": weight, "b": weight[1:]}), lambda m: m.torch.save({"a": torch.ones(2, device="meta")}),
        lambda m: m.torch.load_file(good, device="nowhere"), lambda m: m.torch.load_file(good, backend="x"),
        lambda m: m.torch.load_file(tmp_path / "none"), lambda m: m.torch.load(b""),
        lambda m: m.torch.load_model(torch.nn.Linear(2, 2), good), lambda m: m.torch.load_model(torch.nn.Linear(2, 2), good, backend="x"),
        lambda m: m.torch._remove_duplicate_names({"b": weight[1:]}),
    ]  # fmt: skip
    for number, case in enumerate(cases):
        its, mine = outcome(lambda: case(theirs)), outcome(lambda: case(ours))
        assert isinstance(its, Exception), number
        same_error(mine, its)


def test_slices(torch, tmp_path):
    """Random keys: the same elements, or refused by both. What only NumPy can do is refused as the package refuses it."""
    values = np.arange(3 * 4 * 5, dtype="f4").reshape(3, 4, 5)
    path = tmp_path / "m.safetensors"
    tare.safetensors.numpy.save_file({"a": values}, path)
    chance = random.Random(3)

    def one(size):
        return chance.choice([
            slice(None), ..., chance.randrange(-size - 1, size + 2), slice(chance.randrange(size), chance.randrange(size + 3)),
            slice(None, None, chance.randrange(1, 4)), slice(chance.randrange(size), None), [], [0], None, np.int64(1),
        ])  # fmt: skip

    refused = 0
    for framework in ("np", "pt"):
        a, b = ours.safe_open(path, framework).get_slice("a"), theirs.safe_open(path, framework).get_slice("a")
        for _ in range(400):
            key = tuple(one(size) for size in values.shape[: chance.randrange(1, 4)])
            if sum(item is ... for item in key) > 1 or (framework == "np" and any(
                isinstance(item, slice) and item.start is not None and item.stop is not None and item.start > item.stop for item in key
            )):  # fmt: skip
                continue  # the package ends in an error of Python's own there
            key = key if len(key) > 1 else key[0]
            its, mine = outcome(lambda: b[key]), outcome(lambda: a[key])
            if isinstance(its, BaseException):
                refused += 1
                assert isinstance(mine, Exception), (framework, key, its)
            else:
                assert not isinstance(mine, Exception), (framework, key, mine)
                np.testing.assert_array_equal(np.asarray(mine), np.asarray(its), str(key))
    assert refused > 50


def test_addresses_and_bytes():
    arrays = {"f": np.arange(6, dtype="f4").reshape(2, 3), "b": np.array([True]), "none": np.zeros((0, 2), "i2"), "c": np.ones(2, "c8")}
    for module in (ours, theirs):
        specs = {
            name: module.TensorSpec(dtype=a.dtype.name, shape=a.shape, data_ptr=a.ctypes.data, data_len=a.nbytes) for name, a in arrays.items()
        }
        assert (specs["f"].dtype, specs["f"].shape, specs["f"].data_len) == ("F32", [2, 3], 24)
        assert module.serialize(specs, {"a": "b"}) == theirs.numpy.save(arrays, {"a": "b"})
        packed = module.TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 2], data_ptr=arrays["f"].ctypes.data, data_len=4)
        assert (packed.dtype, packed.shape) == ("F4", [2, 4])
        assert module.serialize({"p": packed}) == theirs.serialize(
            {"p": theirs.TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 2], data_ptr=arrays["f"].ctypes.data, data_len=4)}
        )
    data = theirs.numpy.save(arrays)
    assert dict(ours.deserialize(data)) == dict(theirs.deserialize(data))


def test_pread_and_handles(tmp_path):
    path = tmp_path / "m.safetensors"
    tare.safetensors.numpy.save_file({"a": np.ones(3)}, path)
    assert tare.safetensors.numpy.load_file(path, backend="pread")["a"].sum() == 3
    for mode in ("r", "rb"):
        with open(path, mode) as file, ours._safe_open_handle(file, "np") as opened:
            assert opened.get_tensor("a").sum() == 3


def test_two_tensors_for_tied_weights(torch, tmp_path):
    """One of them would be lost."""
    import safetensors.torch  # noqa: F401

    class Pair(torch.nn.Module):
        def __init__(self, tied):
            super().__init__()
            self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            if tied:
                self.b = self.a

    path = tmp_path / "two.safetensors"
    tare.safetensors.torch.save_model(Pair(False), path)
    for module in (ours, theirs):
        with pytest.raises(RuntimeError, match='Unexpected key.*"b.bias", "b.weight"'):
            module.torch.load_model(Pair(True), path)
        missing, unexpected = module.torch.load_model(Pair(True), path, strict=False)
        assert missing == set() and sorted(unexpected) == ["b.bias", "b.weight"]
    tare.safetensors.torch.save_model(Pair(True), path)
    for module in (ours, theirs):
        assert module.torch.load_model(Pair(True), path) == (set(), [])
        with pytest.raises(RuntimeError, match='Missing key.*"b.bias", "b.weight"'):
            module.torch.load_model(Pair(False), path)


def test_shared_memory_is_found_alike(torch):
    import safetensors.torch

    chance = random.Random(5)
    for _ in range(200):
        base, states = torch.zeros(12), {}
        for name in "abcd":
            begin = chance.randrange(11)
            states[name] = chance.choice([base, base[begin : begin + 1 + chance.randrange(12 - begin)], torch.zeros(3), torch.ones(2, device="meta")])
        groups = [sorted(map(sorted, module._find_shared_tensors(states))) for module in (tare.safetensors.torch, safetensors.torch)]
        # The package forgets a tensor that ends after the one that follows it; ours are never more groups than its.
        assert len(groups[0]) <= len(groups[1])
        removed = [outcome(lambda: module._remove_duplicate_names(states)) for module in (tare.safetensors.torch, safetensors.torch)]
        if groups[0] == groups[1]:
            assert isinstance(removed[0], Exception) == isinstance(removed[1], Exception)
            assert isinstance(removed[0], Exception) or removed[0] == dict(removed[1])
