"""GPU memory: with the driver of tests/device in a process of its own, and with a real device where there is one."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tare

FAKE = os.environ.get("TARE_FAKE_CUDA_PATH", "")


def with_fake(script, *arguments):
    """Runs a script with the driver of the tests; one process, one driver."""
    if not os.path.exists(FAKE):
        pytest.skip("TARE_FAKE_CUDA_PATH does not name the driver of the tests")
    environment = dict(os.environ, TARE_CUDA_LIBRARY=FAKE)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), *map(os.fspath, arguments)], env=environment,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_load_as_objects(model_path):
    with_fake(
        """
        import sys, tare, tare.device
        with tare.open(sys.argv[1]) as model:
            loaded = tare.device.load(model, verify=True)
            assert set(loaded) == set(model)
            for name, found in loaded.items():
                assert found.tobytes() == model.tensor(name).bytes(), name
                assert tuple(found.shape) == tuple(model.tensor(name).shape)
                assert found.__dlpack_device__() == (2, 0)
        one = loaded["embed.weight"]
        assert one.__cuda_array_interface__["typestr"] == "<f4" and one.__cuda_array_interface__["data"][0] == one.address
        capsule = one.__dlpack__()
        del loaded, one      # the capsule keeps the memory
        del capsule
        tare.device.release()
        """,
        model_path,
    )


def test_digests_are_compared(tmp_path, arrays):
    path = tmp_path / "m.zt"
    tare.save(path, arrays, digest="sha256")
    data = bytearray(path.read_bytes())
    data[tare.open(path).tensor("embed.weight").components[0]["offset"] + 4000] ^= 4
    path.write_bytes(data)
    with_fake(
        """
        import sys, tare, tare.device
        path, refused = sys.argv[1], 0
        def inside():
            with tare.verifying():
                return tare.device.load(path)
        for load in (lambda: tare.device.load(path, verify=True), lambda: tare.device.load(tare.open(path), verify=True),
                     lambda: tare.device.load(tare.open(path, verify=True)), inside):
            try:
                load()
            except tare.CorruptError as error:
                assert error.rule == "digest.mismatch"
                refused += 1
        assert refused == 4
        tare.device.load(path)  # unasked, nothing is compared
        """,
        path,
    )


def test_parts_types_and_errors(model_path):
    with_fake(
        """
        import sys, numpy as np, tare, tare.device
        model = tare.open(sys.argv[1])
        w = model["embed.weight"]
        part = tare.device.load(model, names=["embed.weight"], parts={"embed.weight": (1, 16, 32)})["embed.weight"]
        assert part.shape == (32, 16) and part.tobytes() == np.ascontiguousarray(w[:, 16:32]).tobytes()
        half = tare.device.load(model, names=["embed.weight"], dtype="f16")["embed.weight"]
        assert half.dtype == "f16" and half.tobytes() == w.astype("f2").tobytes()
        whole = tare.device.load(model, dtype="bf16")
        assert whole["ids"].dtype == "i64" and whole["embed.weight"].dtype == "bf16"
        for device, rule in (("cuda:5", "device.index"), ("gpu", "device.name")):
            try:
                tare.device.load(model, device=device)
            except tare.Error as error:
                assert error.rule == rule
            else:
                raise AssertionError(device)
        """,
        model_path,
    )


def test_no_driver(model_path):
    script = """
        import sys, tare, tare.device
        try:
            tare.device.load(sys.argv[1])
        except tare.Error as error:
            assert error.rule == "device.driver.missing", error
        else:
            raise AssertionError("no error")
    """
    environment = dict(os.environ, TARE_CUDA_LIBRARY="nowhere.so")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), os.fspath(model_path)], env=environment,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr


# ---- torch over the memory of the driver of the tests


# The driver's device memory is the host's, so torch's tensors for the processor can lie in it.
TORCH_ON_FAKE = """
import ctypes, os, sys, time
import torch
import tare, tare.device, tare.torch

cuda = ctypes.CDLL(os.environ["TARE_CUDA_LIBRARY"])
tare.device.facts("cuda")
context = ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 7) == 0 and cuda.cuCtxPushCurrent_v2(context) == 0
allocated = []

def room(size, place):
    assert place == torch.device("cuda:0")
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 16))) == 0
    allocated.append(size)
    return torch.frombuffer((ctypes.c_uint8 * max(size, 16)).from_address(address.value), dtype=torch.uint8)[:size]

tare.torch._place = lambda device: torch.device("cuda:0")
tare.torch._room = room
tare.torch._stream = lambda place: 0

def copied():
    count = cuda.fake_cuda_copies(None, ctypes.c_size_t(0))
    copies = (ctypes.c_uint64 * (2 * count))()
    cuda.fake_cuda_copies(copies, ctypes.c_size_t(count))
    return sum(copies[1::2])

def check(loaded, path=sys.argv[1], **options):
    expected = {t.name: tare.torch.tensor(t) for t in tare.open(path, **options).tensors()}
    assert set(loaded) == set(expected), (set(loaded), set(expected))
    for name, tensor in expected.items():
        assert loaded[name].dtype == tensor.dtype and loaded[name].shape == tensor.shape, name
        assert torch.equal(loaded[name].reshape(-1).contiguous().view(torch.uint8), tensor.reshape(-1).contiguous().view(torch.uint8)), name
"""


def with_torch(script, *arguments):
    pytest.importorskip("torch", reason="torch is not installed")
    with_fake(TORCH_ON_FAKE + textwrap.dedent(script), *arguments)


def test_every_way_into_torch(model_path):
    with_torch(
        """
        import tare.safetensors.torch
        check(tare.torch.load(sys.argv[1], device="cuda", verify=True))
        check(tare.safetensors.torch.load_file(sys.argv[1], device="cuda"))
        check(tare.safetensors.load_file(sys.argv[1], device="cuda"))
        check(tare.open(sys.argv[1]).to("cuda"))
        check(dict(tare.torch.iterate(sys.argv[1], window=1 << 14)))
        assert len(allocated) > 4
        """,
        model_path,
    )


def test_the_next_window_is_read_while_the_caller_works(tmp_path):
    random = np.random.default_rng(5)
    path = tmp_path / "m.zt"
    tare.save(path, {f"w{i}": random.standard_normal((64, 1024)).astype("f4") for i in range(12)}, digest="xxh3")
    with_torch(
        """
        # Windows of 2 MiB: halves of four tensors.
        pairs = tare.torch.iterate(sys.argv[1], window=2 << 20, verify=True)
        loaded = dict([next(pairs)])
        deadline = time.monotonic() + 20
        while copied() < 2 << 20 and time.monotonic() < deadline:
            time.sleep(0.01)  # the caller is at work
        assert 2 << 20 <= copied() < 3 << 20, copied()
        loaded.update(pairs)
        assert len(allocated) == 3, allocated
        check(loaded)
        # Left in the middle, with a load under way behind it.
        for name, tensor in tare.torch.iterate(sys.argv[1], window=1 << 20):
            break
        check(dict(tare.torch.iterate(sys.argv[1], names=None, window=1 << 30)))
        """,
        path,
    )


def test_errors_come_out_of_the_iterator(tmp_path):
    random = np.random.default_rng(5)
    path = tmp_path / "m.zt"
    tare.save(path, {f"w{i}": random.standard_normal((64, 1024)).astype("f4") for i in range(8)}, digest="xxh3")
    with tare.open(path) as model:
        at = model.tensor("w5").components[0]["offset"] + 1000
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with_torch(
        """
        seen = []
        try:
            for name, tensor in tare.torch.iterate(sys.argv[1], window=1 << 20, verify=True):
                seen.append(name)
            raise AssertionError("no error")
        except tare.Error as error:
            assert error.rule == "digest.mismatch" and "w5" in str(error), error
        assert "w5" not in seen and "w0" in seen
        """,
        path,
    )


def test_transformers_and_vllm_take_this_way_by_themselves(model_path):
    with_torch(
        """
        import tare.transformers, tare.vllm
        for place in ("cuda", "cuda:0", 0, {"": "cuda"}, {"": 0}, torch.device("cuda:0")):
            before = len(allocated)
            check(tare.transformers._state_for(sys.argv[1], place), usual_names=True)
            assert len(allocated) > before, place
        assert isinstance(tare.transformers._state_for(sys.argv[1], "cpu"), tare.transformers.StateDict)
        assert isinstance(tare.transformers._state_for(sys.argv[1], {"a": 0, "b": "cpu"}), tare.transformers.StateDict)
        # vLLM has its device as torch's default one while it loads.
        torch.get_default_device = lambda: torch.device("cuda:0")
        before = len(allocated)
        check(dict(tare.vllm.weights(sys.argv[1])), usual_names=True, arrays=True)
        assert len(allocated) > before
        """,
        model_path,
    )


# ---- with a device


@pytest.fixture
def cuda():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return torch


def same_bytes(torch, found, expected):
    return torch.equal(found.cpu().contiguous().reshape(-1).view(torch.uint8), expected.contiguous().reshape(-1).view(torch.uint8))


def test_torch_on_the_device(cuda, demo):
    import tare.safetensors.torch
    import tare.torch

    for path in sorted(demo.iterdir()):
        try:
            on_host = tare.torch.load(path)
        except (tare.Error, TypeError):
            continue
        loads = {
            "load": lambda path=path: tare.torch.load(path, device="cuda", verify=True),
            "load_file": lambda path=path: tare.safetensors.torch.load_file(path, device="cuda:0"),
            "to": lambda path=path: tare.open(path).to("cuda"),
            "iterate": lambda path=path: dict(tare.torch.iterate(path, window=1 << 16)),
        }
        for kind, load in loads.items():
            loaded = load()
            assert set(loaded) == set(on_host), (path, kind)
            for name, expected in on_host.items():
                assert loaded[name].is_cuda and loaded[name].shape == expected.shape, (path, kind, name)
                assert loaded[name].dtype == expected.dtype, (path, kind, name)
                assert same_bytes(cuda, loaded[name], expected), (path, kind, name)


def test_decoded_by_the_device(cuda, tmp_path):
    import tare.torch

    random = np.random.default_rng(3)
    tare.save(tmp_path / "m.zt", {"w": random.standard_normal((512, 4096)).astype("f4") * 0.05})
    for method, suffix in [(m, "mcf") for m in ("q8", "q4", "k6", "k4", "k3", "k2")] + [
        (m, "gguf") for m in ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs")
    ]:
        path = tmp_path / f"{method}.zt"
        tare.quantize(tmp_path / "m.zt", path, method=method)
        with tare.open(path) as model:
            values = cuda.from_numpy(model.tensor("w").float32().copy())
            for kind in (cuda.float32, cuda.float16, cuda.bfloat16):
                found = tare.torch.to_device(model, "cuda", dtype=kind)["w"]
                assert same_bytes(cuda, found, values.to(kind)), (method, kind)


def test_arrays_of_others(cuda, model_path):
    import tare.device

    loaded = tare.device.load(model_path)
    expected = tare.open(model_path)
    assert same_bytes(cuda, cuda.from_dlpack(loaded["embed.weight"]), cuda.from_numpy(expected["embed.weight"].copy()))
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    assert (cupy.asnumpy(cupy.from_dlpack(loaded["embed.weight"])) == expected["embed.weight"]).all()
    jax = pytest.importorskip("jax", reason="jax is not installed")
    assert (np.asarray(jax.dlpack.from_dlpack(loaded["embed.weight"])) == expected["embed.weight"]).all()
