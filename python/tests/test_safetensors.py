"""The interface of the package safetensors, and saving."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tare
import tare.safetensors
from tare.safetensors import SafetensorError, safe_open
from tare.safetensors.numpy import load, load_file, save, save_file


def test_round_trip(tmp_path, arrays):
    path = tmp_path / "m.safetensors"
    save_file(arrays, path, metadata={"format": "np"})
    loaded = load_file(path)
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype and loaded[name].flags.writeable
    # Changing an array changes nothing else.
    before = path.read_bytes()
    loaded["embed.weight"][:] = 7
    assert path.read_bytes() == before and load_file(path)["embed.weight"][0, 0] == arrays["embed.weight"][0, 0]
    assert load(save(arrays))["ids"].tolist() == arrays["ids"].tolist()
    assert save(arrays, {"format": "np"}) == before  # the same bytes in memory
    save_file({"other": np.ones(3)}, path)  # replaces
    assert list(load_file(path)) == ["other"]


@pytest.mark.parametrize("metadata", [None, {"format": "np"}])
def test_the_same_bytes_as_the_package(tmp_path, metadata):
    package = pytest.importorskip("safetensors.numpy")
    weights = {"b": np.ones((3, 2), "f4"), "a": np.ones(5, "u1"), "c": np.ones((), "f8"), "none": np.zeros((0, 3), "i2"), "h": np.ones(3, "f2")}
    expected = package.save(weights, metadata)
    assert save(weights, metadata) == expected
    save_file(weights, tmp_path / "m.safetensors", metadata)
    assert (tmp_path / "m.safetensors").read_bytes() == expected


def test_strides_and_byte_orders(tmp_path):
    base = np.arange(24, dtype="f4").reshape(2, 3, 4)
    cases = {
        "transposed": base.T,
        "fortran": np.asfortranarray(base),
        "stepped": base[:, ::-1, ::2],
        "broadcast": np.broadcast_to(np.float32(3), (2, 5)),
        "big": base.astype(">f4"),
        "big_int": np.arange(5, dtype=">i8"),
        "zero": np.zeros((3, 0, 2), "i2"),
    }
    save_file(cases, tmp_path / "m.safetensors")
    for name, array in load_file(tmp_path / "m.safetensors").items():
        np.testing.assert_array_equal(array, cases[name])
        assert array.shape == cases[name].shape and array.dtype == cases[name].dtype.newbyteorder("<")


@pytest.mark.parametrize("name", ["demo.zt", "demo.gguf", "demo.npz", "demo.safetensors", "demo.mcf"])
def test_every_container_by_content(demo, tmp_path, name):
    path = tmp_path / "weights.bin"
    path.write_bytes((demo / name).read_bytes())
    loaded = load_file(path)
    with safe_open(path, framework="np") as file, tare.open(path) as m:
        assert file.keys() == sorted(m) == sorted(loaded) and file.offset_keys() == list(m)
        for key in file.keys():
            if m.tensor(key).layout == "dense":
                assert file.get_tensor(key).tobytes() == loaded[key].tobytes() == m[key].tobytes()


def test_safe_open(tmp_path, arrays):
    path = tmp_path / "m.safetensors"
    save_file(arrays, path, {"a": "b"})
    with safe_open(str(path), framework="np", device="cpu") as file:
        assert file.metadata() == {"a": "b"}
        part = file.get_slice("embed.weight")
        assert part.get_shape() == [32, 64] and part.get_dtype() == "F32"
        np.testing.assert_array_equal(part[2:4, :5], arrays["embed.weight"][2:4, :5])
        np.testing.assert_array_equal(part[-1], arrays["embed.weight"][-1])
        assert set(file.get_tensors()) == set(arrays)
        with pytest.raises(SafetensorError):
            file.get_tensor("nothing")
        with pytest.raises(TypeError):
            file.get_tensor(1)
        for outside in (99, (0, 99), (0, 0, 0)):
            with pytest.raises(SafetensorError) as caught:
                part[outside]
            assert isinstance(caught.value, IndexError)
        assert isinstance(file.get_slice("ids")[1, 2], np.ndarray)
    assert load_file(os.fsencode(path)).keys() == arrays.keys()
    for wrong in ({"device": "xx"}, {"foo": 1}):
        with pytest.raises((SafetensorError, TypeError)):
            safe_open(path, framework="np", **wrong)
    with pytest.raises(FileNotFoundError):
        safe_open(tmp_path / "nothing.safetensors", "np")
    with pytest.raises(SafetensorError):
        safe_open(path, framework="basic")
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(SafetensorError):
        load_file(tmp_path / "bad.safetensors")
    save_file({"x": np.ones(1)}, path)
    with safe_open(path, "np") as file:
        assert file.metadata() is None


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "m.safetensors"
    ones = np.ones(2, "f4")
    for bad in ({"x": np.array([object()])}, {"x": "text"}, {1: ones}, {"x": np.array(["a"])}, {"x": None},
                {"x": np.array(["2020-01-01"], "M8[D]")}, {"x": [[1], [1, 2]]}, {"x": np.zeros(2, "f4,i4")},
                {"x": np.ma.array([1, 2], mask=[0, 1])}):  # fmt: skip
        with pytest.raises((TypeError, ValueError)) as caught:
            save_file(bad, path)
        assert isinstance(caught.value, (SafetensorError, ValueError))
    with pytest.raises(TypeError):
        save_file({"x": ones}, None)
    with pytest.raises(TypeError):
        tare.save(None, {"x": ones}, format="zt")
    with pytest.raises(TypeError):
        tare.Writer(None)
    for bad in ([ones], 3, None, "text"):
        with pytest.raises(tare.WrongTypeError):
            tare.save(path, bad)
    for metadata in ({"a": 1}, {1: "a"}):
        with pytest.raises(TypeError):
            save_file({"x": ones}, path, metadata)
    with pytest.raises(ValueError):
        save_file([1], path)
    with pytest.raises(tare.Error):
        save_file({"x": ones}, tmp_path / "no" / "folder.safetensors")
    with pytest.raises(tare.Error):
        save_file({"x": ones}, tmp_path)
    assert os.listdir(tmp_path) == []


def test_save_options(tmp_path, arrays):
    saved = tare.save(tmp_path / "m.zt", arrays, zstd=True, digest="sha256", metadata={"k": np.float32(0.5)})
    assert saved.format == "zt" and saved.tensors == len(arrays) and saved.file_bytes > 0
    m = tare.open(tmp_path / "m.zt")
    assert m.tensor("layers.0.mlp.weight").components[0]["digest"].startswith("sha256:")
    assert m.tensor("layers.0.mlp.weight").components[0]["encoding"] == "zstd" and m.metadata == {"k": 0.5}
    tare.save(tmp_path / "q.mcf", {"w": arrays["layers.0.mlp.weight"]}, quant="k4")
    assert tare.open(tmp_path / "q.mcf").tensor("w").layout == "mcf.k4"
    # A model as it is, with everything that it has; a tensor of it under another name.
    tare.save(tmp_path / "copy.zt", m)
    assert (tmp_path / "copy.zt").read_bytes() == (tmp_path / "m.zt").read_bytes()
    tare.save(tmp_path / "two.zt", {"a": m.tensor("ids"), "b": m["ids"], "c": [1, 2], "d": 1.5})
    two = tare.open(tmp_path / "two.zt")
    assert two["a"].tolist() == two["b"].tolist() and two["c"].tolist() == [1, 2] and two["d"] == 1.5
    # A model's own file may be replaced.
    tare.save(tmp_path / "m.zt", m, overwrite=True, metadata={"new": 1})
    assert m["ids"].tolist() == arrays["ids"].tolist() and tare.open(tmp_path / "m.zt").metadata == {"new": 1}
    tare.save(f"{tmp_path}/dir/", {"w": np.ones((4, 4), "f4")}, format="hf", config={"model_type": "llama", "extra": [1]})
    assert tare.open(f"{tmp_path}/dir").config["model_type"] == "llama"
    assert b"extra" in tare.open(f"{tmp_path}/dir").attachments["config.json"]
    for wrong in ({"dtype": "f31"}, {"digest": "md5"}, {"zstd": 99}, {"quant": "nothing"}, {"format": "nothing"},
                  {"drop": ["all"]}, {"shard": "5 apples"}, {"shard": 0}, {"overflow": "x"}, {"threads": -2}):  # fmt: skip
        with pytest.raises(ValueError):
            tare.save(tmp_path / "w.zt", {"w": np.ones((4, 256), "f4")}, **wrong)
    # Fractions do not become integers unless that is asked for.
    parts = {"w": np.array([0, 0.25, 3], "f4")}
    with pytest.raises(tare.LossyError) as refused:
        tare.save(tmp_path / "int8.zt", parts, dtype="int8")
    assert refused.value.rule == "cast.fraction" and ("use_method", "q8") in refused.value.remedies
    assert "quant='q8' holds it" in str(refused.value)
    tare.save(tmp_path / "int8.zt", parts, dtype="int8", overflow="clamp")
    assert tare.open(tmp_path / "int8.zt")["w"].tolist() == [0, 0, 3]
    # What the command refuses: an option without effect.
    for path, wrong in (("w.zt", {"overflow": "clamp"}), ("w.zt", {"overflow": "error"}), ("w.npz", {"no_zstd": True})):
        with pytest.raises(ValueError):
            tare.save(tmp_path / path, {"w": np.ones(4, "f4")}, **wrong)
        with pytest.raises(ValueError):
            tare.convert(tmp_path / "m.zt", tmp_path / path, overwrite=True, **wrong)
    with pytest.raises(ValueError):
        tare.save(tmp_path / "w.unknown", {"w": np.ones(4, "f4")})
    for quant, error in (({"*": "k4"}, ValueError), ({"method": "k4", "bogus": 1}, ValueError), (4, TypeError)):
        with pytest.raises(error):
            tare.save(tmp_path / "w.mcf", {"w": np.ones((4, 256), "f4")}, quant=quant)
    tare.save(tmp_path / "n.zt", {"w": np.ones(4, "f4"), "odd": np.array([0, 7, 1], "u1").view(bool)}, dtype="float16",
              metadata={"array": np.arange(3), "scalar": np.int8(3)})  # fmt: skip
    n = tare.open(tmp_path / "n.zt")
    assert n["w"].dtype == np.float16 and n["odd"].tolist() == [False, True, True] and tare.verify(tmp_path / "n.zt").ok
    assert n.metadata == {"array": [0, 1, 2], "scalar": 3}
    for parts in ({"metadata": {"a": object()}}, {"metadata": {1: 2}}, {"attachments": {"a": 3}}, {"vocabulary": 3}):
        with pytest.raises(TypeError):
            tare.save(tmp_path / "w.zt", {"w": np.ones(4, "f4")}, **parts)
    loop = []
    loop.append(loop)
    for value in (2**70, loop):
        with pytest.raises(ValueError):
            tare.save(tmp_path / "w.zt", {"w": np.ones(4, "f4")}, metadata={"a": value})
    assert not (tmp_path / "w.zt").exists()


def test_convert_verify_hash_diff(demo, tmp_path):
    done = tare.convert(demo / "mistral", tmp_path / "m.gguf")
    assert done.source_format == "hf" and done.format == "gguf" and all("text" in change for change in done.changes)
    assert tare.verify(tmp_path / "m.gguf").ok
    back = tare.open(tmp_path / "m.gguf", usual_names=True)
    original = tare.open(demo / "mistral")
    assert set(back) == set(original)
    for name in original:
        assert back.tensor(name).float32().tobytes() == original.tensor(name).float32().tobytes()
    assert tare.hash(demo / "mistral") == tare.hash(original) == tare.hash(demo / "mistral.zt")
    assert tare.diff(original, demo / "mistral.zt").tensors == []
    found = tare.diff(demo / "mistral.zt", demo / "k4.mcf")
    assert found and not found.same and found.tensors
    report = tare.quantize(demo / "mistral", tmp_path / "q.mcf", "k4", keep="*norm*")
    assert 4 < report.bits_per_weight < 6 and 0 < report.relative_rms < 0.2
    assert {"name", "type", "bits_per_weight", "relative_rms"} <= report.report[0].keys()
    with pytest.raises(ValueError):
        tare.quantize(demo / "mistral", tmp_path / "q2.mcf")
    for pure, head in ((False, "ggml.q8_0"), (True, "ggml.q4_0")):
        rows = tare.quantize(demo / "mistral", tmp_path / f"{pure}.gguf", "q4_0", pure=pure).report
        assert {row["name"]: row["type"] for row in rows}["output.weight"] == head
    with pytest.raises(tare.UsageError):
        tare.quantize(demo / "mistral", tmp_path / "q3.mcf", "k4", pure=True)
    with pytest.raises(tare.ExistsError):
        tare.convert(demo / "mistral", tmp_path / "m.gguf")
    (tmp_path / "bad.zt").write_bytes(b"ZTEN1000" + b"\xff" * 100)
    verified = tare.verify(tmp_path / "bad.zt")
    assert not verified and verified.findings[0].severity == "error" and verified.findings[0].rule
    assert not tare.verify(tmp_path / "nothing").ok
    assert "zt" in {row["name"] for row in tare.formats()} and "k4" in tare.methods()
    llama = next(row for row in tare.families() if row["gguf"] == "llama")
    assert "mixtral" in llama["model_types"] and "MixtralForCausalLM" in llama["classes"] and "llama" in llama["computes"]


def test_progress(tmp_path):
    tare.save(tmp_path / "m.zt", {f"w{i}": np.ones(1 << 18, "f4") for i in range(20)})
    seen = []
    tare.convert(tmp_path / "m.zt", tmp_path / "n.zt", zstd=9, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1] == 20 << 20
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    tare.convert(tmp_path / "m.zt", tmp_path / "n.zt", overwrite=True, progress=True)
    with pytest.raises(TypeError):
        tare.verify(tmp_path / "m.zt", progress=3)

    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    before = (tmp_path / "n.zt").read_bytes()
    tare.save(tmp_path / "r.zt", {"w": np.random.default_rng(5).standard_normal(1 << 22).astype("f4")})
    with pytest.raises(Stop):  # what a callback raises ends the work; this takes longer than the first call is away
        tare.convert(tmp_path / "r.zt", tmp_path / "n.zt", overwrite=True, zstd=19, progress=stop)
    assert (tmp_path / "n.zt").read_bytes() == before and sorted(os.listdir(tmp_path)) == ["m.zt", "n.zt", "r.zt"]


@pytest.mark.parametrize("suffix", ["zt", "safetensors", "mcf", "gguf", "npz"])
def test_a_plain_copy_is_stopped(tmp_path, suffix):
    """What the kernel copies stops as well, and the old file stays."""
    source, target = tmp_path / "s.safetensors", tmp_path / f"o.{suffix}"
    tare.save(source, {f"w{i}": np.ones((1 << 22,), "f4") for i in range(24)})
    target.write_bytes(b"precious")
    model = tare.open(source)
    for work in (lambda **more: tare.convert(source, target, overwrite=True, **more),
                 lambda **more: tare.save(target, model, overwrite=True, **more)):  # fmt: skip
        calls = []

        def stop(done, expected):
            calls.append(done)
            raise InterruptedError

        try:
            work(progress=stop)
        except InterruptedError:
            pass
        assert len(calls) == 1
        assert target.read_bytes() == b"precious" and sorted(os.listdir(tmp_path)) == sorted([source.name, target.name])


@pytest.mark.parametrize("target, options", [
    ("o.zt", {}), ("o.safetensors", {}), ("o.gguf", {}), ("o.mcf", {}), ("o.npz", {}), ("hf/", {"format": "hf"}),
    ("z/", {"format": "zt2", "shard": "1MB"}), ("g/", {"format": "gguf", "shard": "1MB"}), ("s/", {"format": "safetensors"}),
])  # fmt: skip
def test_the_last_report_comes_before_the_output(tmp_path, target, options):
    """What it raises leaves nothing behind, however fast the work was."""
    source, place = tmp_path / "s.zt", f"{tmp_path}/{target}"
    tensors = {"w": np.ones((4, 256), "f4")}
    tare.save(source, tensors)

    class Stop(Exception):
        pass

    def stop(done, expected):
        assert not os.path.exists(place)
        raise Stop

    plan = tare.plan(source, place, tasks=1, **options)
    for work in (lambda **more: tare.convert(source, place, **options, **more), lambda **more: tare.save(place, tensors, **options, **more),
                 lambda **more: plan.tasks[0].run(**more), lambda **more: (plan.tasks[0].run(), plan.finish(**more)),
                 lambda **more: feed(tare.Writer(place, **options, **more), tensors)):  # fmt: skip
        with pytest.raises(Stop):
            work(progress=stop)
        assert not os.path.exists(place)
    seen = []
    tare.convert(source, place, **options, progress=lambda done, expected: seen.append((done, expected)))
    assert os.path.exists(place) and seen[-1] == (4096, 4096)


def feed(writer, tensors):
    for name, array in tensors.items():
        writer.add(name, array)
    writer.close()


@pytest.fixture
def interruptible():
    """As in a terminal: a shell has what it starts in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_leaves_nothing(tmp_path, interruptible):
    random = np.random.default_rng(3)
    tare.save(tmp_path / "m.zt", {f"w{i}": random.standard_normal((512, 4096)).astype("f4") for i in range(12)})
    interrupt = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    interrupt.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tare.convert(tmp_path / "m.zt", tmp_path / "n.zt", zstd=22)
    interrupt.join()
    assert os.listdir(tmp_path) == ["m.zt"]
    assert tare.verify(tmp_path / "m.zt").ok and time.monotonic() - started < 120


def test_interrupt_of_save_file(tmp_path, interruptible):
    interrupt = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    weights = {f"w{i}": np.zeros(1 << 28, "u1") for i in range(6)}  # not in memory before they are read
    with pytest.raises(KeyboardInterrupt):
        interrupt.start()
        save_file(weights, tmp_path / "m.safetensors")
    interrupt.join()
    assert os.listdir(tmp_path) == []


def test_other_threads_run_meanwhile(tmp_path):
    tare.save(tmp_path / "m.zt", {f"w{i}": np.ones((512, 512), "f4") for i in range(8)})
    steps, over = 0, threading.Event()

    def count():
        nonlocal steps
        while not over.is_set():
            steps += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    tare.convert(tmp_path / "m.zt", tmp_path / "n.zt", zstd=15)
    tare.hash(tmp_path / "n.zt")
    over.set()
    thread.join()
    assert steps > 0


def test_import_is_light():
    """Importing it loads NumPy and nothing large beside it."""
    code = "import sys, tare; print(*sorted({'torch', 'scipy', 'json', 'dataclasses', 'inspect', 'difflib'} & set(sys.modules)))"
    before = "import sys, numpy; print(*sorted({'torch', 'scipy', 'json', 'dataclasses', 'inspect', 'difflib'} & set(sys.modules)))"
    run = [subprocess.run([sys.executable, "-c", c], capture_output=True, text=True, check=True).stdout for c in (code, before)]
    assert run[0] == run[1]


@pytest.mark.parametrize("rules", [[("*", "k4")], [["*", "k4"]], (("*", "k4"),), {"*": "k4"}])
def test_rules_are_pairs(tmp_path, rules):
    """JSON has lists, and a dict is pairs, too."""
    tare.save(tmp_path / "m.zt", {"w": np.ones((4, 256), "f4")})
    done = tare.quantize(tmp_path / "m.zt", tmp_path / "o.mcf", rules=rules)
    assert [row["type"] for row in done.report] == ["mcf.k4"]
    tare.convert(tmp_path / "m.zt", tmp_path / "p.mcf", quant={"rules": rules})
    assert (tmp_path / "o.mcf").read_bytes() == (tmp_path / "p.mcf").read_bytes()
    tare.quantize(tmp_path / "m.zt", tmp_path / "q.mcf", "k4", rules=rules, clip=[-0.5, 0.5])


@pytest.mark.parametrize("rules", ["ab", ["ab"], [("*",)], [("*", "k4", "x")], [("*", 4)], [(b"*", "k4")], 5, [5], {"*": 4}, [{"*": "k4"}]])
def test_rules_that_are_not_pairs(tmp_path, rules):
    tare.save(tmp_path / "m.zt", {"w": np.ones((4, 256), "f4")})
    for attempt in (lambda: tare.quantize(tmp_path / "m.zt", tmp_path / "o.mcf", "k4", rules=rules),
                    lambda: tare.convert(tmp_path / "m.zt", tmp_path / "o.mcf", quant={"method": "k4", "rules": rules})):  # fmt: skip
        with pytest.raises(TypeError):
            attempt()
    for clip in (5, "ab", [1], [1, 2, 3], ["a", "b"], {1: 2, 3: 4}):
        with pytest.raises(TypeError):
            tare.quantize(tmp_path / "m.zt", tmp_path / "o.mcf", "k4", clip=clip)


def test_tuples_for_the_extension_are_tuples(model_path):
    """A list in place of one is an error of the caller's, not of the interpreter's."""
    tensor = tare.open(model_path).tensor("ids")
    for attempt in (lambda: tensor._slice([["index", 0, None, None]]), lambda: tensor._slice(["index"]),
                    lambda: tare._tare._places("x.zt", [("a", (1,), "f32", "", (-1, 0, 4))], {}, {}, [[0, 4]], 4)):  # fmt: skip
        with pytest.raises(TypeError):
            attempt()


def test_convert_sets_the_metadata_that_save_writes(tmp_path):
    values = {"text": "5", "word": "true", "whole": 7, "large": 2**64 - 1, "float": 0.5, "no": float("nan"), "most": float("inf"),
              "bytes": b"\0\xff", "list": [1, {"b": None}], "dict": {"a": [1.5]}, "none": None, "yes": True, "half": np.float32(0.25)}  # fmt: skip
    tensors = {"w": np.ones(4, "f4")}
    tare.save(tmp_path / "m.zt", tensors)
    tare.save(tmp_path / "saved.zt", tensors, metadata=values)
    tare.convert(tmp_path / "m.zt", tmp_path / "converted.zt", metadata=values)
    assert (tmp_path / "saved.zt").read_bytes() == (tmp_path / "converted.zt").read_bytes()
    found = tare.open(tmp_path / "converted.zt").metadata
    assert np.isnan(found["no"]) and found["bytes"] == b"\0\xff" and found["list"] == [1, {"b": None}] and found["text"] == "5"
    plan = tare.plan(tmp_path / "m.zt", tmp_path / "planned.zt", metadata=values)
    plan.run()
    assert (tmp_path / "planned.zt").read_bytes() == (tmp_path / "converted.zt").read_bytes()
    assert tare.plan(tmp_path / "m.zt", tmp_path / "x.zt", metadata={"bytes": b"1"})._facts["id"] != tare.plan(
        tmp_path / "m.zt", tmp_path / "x.zt", metadata={"bytes": b"2"})._facts["id"]  # fmt: skip
    for wrong in ({1: 2}, {"a": 10**30}, {"a": object()}, {"a": {3}}):
        for attempt in (lambda: tare.convert(tmp_path / "m.zt", tmp_path / "x.zt", metadata=wrong),
                        lambda: tare.save(tmp_path / "x.zt", tensors, metadata=wrong)):  # fmt: skip
            with pytest.raises((TypeError, ValueError)):
                attempt()
    for target in ("x.safetensors", "x.gguf", "x.mcf"):  # what one refuses, the other one does
        outcomes = []
        for name, value in values.items():
            for attempt in (lambda: tare.convert(tmp_path / "m.zt", tmp_path / target, metadata={name: value}, overwrite=True),
                            lambda: tare.save(tmp_path / target, tensors, metadata={name: value}, overwrite=True)):  # fmt: skip
                try:
                    attempt()
                    outcomes.append((name, repr(tare.open(tmp_path / target).metadata.get(name))))
                except tare.Error as error:
                    outcomes.append((name, error.rule))
        assert outcomes[::2] == outcomes[1::2]
