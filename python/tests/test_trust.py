"""What the module must not believe: an object's __class__, the bytes of a file, a folder that anybody may have planted."""

import io
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest.mock

import numpy as np
import pytest

import tare
import tare.safetensors.numpy


class Liar:
    """Says that it is of another class."""

    def __init__(self, kind):
        self._kind = kind

    __class__ = property(lambda self: self._kind)


@pytest.mark.parametrize("make", [Liar, lambda kind: unittest.mock.Mock(spec=kind), lambda kind: unittest.mock.MagicMock(spec=kind)])
def test_a_class_that_an_object_claims(tmp_path, model_path, make):
    """It decided which memory is read as a model's or a tensor's."""
    model, tensor, opaque = make(tare.Model), make(tare.Tensor), make(tare.Opaque)
    real = tare.open(model_path)
    for attempt in (
        lambda: tare.hash(model), lambda: tare.diff(model, model), lambda: tare.diff(real, model), lambda: tare.diff(model, real),
        lambda: tare.save(tmp_path / "o.zt", model), lambda: tare.to_bytes(model, format="zt"),
        lambda: tare.save(tmp_path / "o.zt", {"a": tensor}), lambda: tare.to_bytes({"a": tensor}, format="zt"),
        lambda: tare._tare._hash(model, 0, None), lambda: tare._tare._diff(real, model, 0, None), lambda: real._open_like(model, {}),
        lambda: tare._tare._save(None, [("a", tensor)], None, {}, {"format": "zt"}, None),
        lambda: tare._tare._save(None, [], model, {}, {"format": "zt"}, None),
        lambda: tare._tare._checkpoint(os.fspath(model_path), {}, model, lambda: None) or _refuse(),
        lambda: tare.Model.__getitem__(model, "a"), lambda: tare.Tensor.numpy(tensor)[...].sum() if isinstance(tensor, Liar) else _refuse(),
        lambda: tare.to_bytes({"a": np.ones(2)}, format="zt", metadata={"o": opaque}),
    ):  # fmt: skip
        with pytest.raises((TypeError, AttributeError, ValueError)):
            attempt()
    assert not (tmp_path / "o.zt").exists()


def _refuse():
    raise TypeError


JUNK = (None, 5, -1, 1 << 70, 2.5, "x", b"x", [], (), {}, [1], [()], [("a",)], [("a", None)], [("a", (1,), "f4", "", b"")], ("a", 1), {"a": 1},
        {"tensors": 5}, {"attachments": 5}, {"attachments": {"a": 5}}, object(), lambda *arguments: None)  # fmt: skip
# Replaces the classes of the module; takes addresses, for whoever has them from the module itself.
DANGEROUS = {"_setup", "_device_read", "_device_dlpack"}


def test_private_functions_refuse_junk(tmp_path, model_path, monkeypatch):
    """With an exception that says what is wrong: SystemError is for a broken interpreter."""
    monkeypatch.chdir(tmp_path)
    random, model = np.random.default_rng(3), tare.open(model_path)
    tensor = model.tensor("embed.weight")
    tried = 0
    for owner in (tare._tare, tare.Model.__new__(tare.Model), model, tensor):
        for name in dir(owner):
            kind = type(getattr(owner if owner is tare._tare else type(owner), name, None)).__name__
            if name in DANGEROUS or name.startswith("__") or kind not in ("builtin_function_or_method", "method_descriptor") or name == "close":
                continue
            method = getattr(owner, name)
            for count in range(9):
                for _ in range(12):
                    arguments = [JUNK[i] for i in random.integers(0, len(JUNK), count)]
                    try:
                        method(*arguments)
                    except SystemError as error:
                        raise AssertionError((name, arguments)) from error
                    except Exception:
                        pass
                    tried += 1
    assert tried > 3000 and model["embed.weight"].shape == (32, 64)


def test_bytes_are_content_and_never_a_path(tmp_path, model_path, arrays):
    """Whoever sends a file must not choose which file of this machine is read."""
    path = os.fspath(model_path).encode()
    sent = tmp_path / "sent"
    sent.write_bytes(path)
    st = tare.safetensors
    for data in (path, bytearray(path), memoryview(path)):
        for attempt in (tare.open, tare.hash, st.numpy.load, st.deserialize, tare.numpy.tree, lambda data: tare.diff(data, model_path),
                        lambda data: tare.diff(model_path, data)):  # fmt: skip
            with pytest.raises(tare.UnsupportedError) as caught:
                attempt(data)
            assert caught.value.rule == "open.unrecognized"
        # These take paths only, and say so instead of taking bytes for one.
        for attempt in (tare.verify, lambda data: tare.convert(data, tmp_path / "o.zt"), lambda data: tare.plan(data, tmp_path / "o.zt"),
                        lambda data: tare.convert(model_path, data), lambda data: tare.save(data, arrays), lambda data: tare.Writer(data),
                        lambda data: tare.convert(model_path, tmp_path / "o.zt", merge=data),
                        lambda data: tare.quantize(model_path, tmp_path / "o.mcf", "k4", importance=data)):  # fmt: skip
            with pytest.raises(TypeError):
                attempt(data)
    with sent.open("rb") as file, pytest.raises(tare.UnsupportedError):
        st._safe_open_handle(file, "np")
    assert sorted(os.listdir(tmp_path)) == ["model.zt", "sent"]
    assert list(tare.open(os.fsdecode(path))) == list(arrays)

    class Place:  # says that it is a path, in bytes
        def __fspath__(self):
            return path

    assert list(tare.open(Place())) == list(arrays) and tare.verify(Place()).ok


def test_torch_loads_content(model_path):
    pytest.importorskip("torch", reason="torch is not installed")
    path = os.fspath(model_path)
    for sent in (path.encode(), bytearray(path.encode()), io.BytesIO(path.encode())):
        with pytest.raises(tare.UnsupportedError):
            tare.torch.load(sent)
        with pytest.raises(tare.UnsupportedError):
            tare.torch.load(sent if not hasattr(sent, "seek") else io.BytesIO(path.encode()), arrays=False)
    with pytest.raises(TypeError):
        tare.torch.load(io.StringIO(path))
    with pytest.raises(tare.UnsupportedError):
        tare.safetensors.torch.load(path.encode())


@pytest.mark.parametrize("data", [5, 0, None, "abc", [1, 2], np.int64(5)])
def test_a_number_is_not_the_bytes_of_a_file(data):
    for load in (tare.safetensors.numpy.load, tare.safetensors.deserialize):
        with pytest.raises(TypeError):
            load(data)


# ---- the folder of a plan's parts


@pytest.fixture
def planned(tmp_path):
    source = tmp_path / "s.zt"
    tare.save(source, {f"l.{i}": np.full((32, 32), i, "f4") for i in range(4)})
    return tare.plan(source, tmp_path / "o.zt", tasks=2)


def test_a_link_is_not_the_folder_of_parts(planned, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    os.symlink(other, planned.folder)
    for attempt in (planned.tasks[0].run, planned.tasks[0].done, planned.missing, planned.finish, planned.run):
        with pytest.raises(tare.Error) as caught:
            attempt()
        assert caught.value.rule == "io.sink.link"
    assert os.listdir(other) == [] and not os.path.exists(planned.target)


def test_a_folder_of_another_user_is_not_that_of_parts(planned):
    if os.getuid() != 0:
        pytest.skip("only root can give a folder to another user")
    os.mkdir(planned.folder)
    os.chown(planned.folder, 65533, 65533)
    with pytest.raises(tare.AccessError) as caught:
        planned.tasks[0].run()
    assert caught.value.rule == "plan.folder.owner" and "any_owner=True" in str(caught.value)
    assert os.listdir(planned.folder) == []
    for task in planned.tasks:
        task.run(any_owner=True)
    assert not planned.missing()
    with pytest.raises(tare.AccessError) as caught:
        planned.finish()
    assert caught.value.rule == "plan.folder.owner" and not os.path.exists(planned.target)
    planned.finish(any_owner=True)
    assert len(tare.open(planned.target)) == 4


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_finish_removes_parts_of_the_folder_that_it_opened(planned, tmp_path, kind):
    """The folder is swapped for the parts of another plan while `finish` works."""
    other = tare.plan(planned.source, tmp_path / "big.zt", tasks=2)
    for task in planned.tasks + other.tasks:
        task.run()
    swapped = []

    def swap(done, expected):
        if not swapped:
            swapped.append(os.rename(planned.folder, tmp_path / "aside"))
            if kind == "link":
                os.symlink(other.folder, planned.folder)
            else:
                os.mkdir(planned.folder)
                for task in other.tasks:
                    os.link(task.path, os.path.join(planned.folder, task.name))

    planned.finish(progress=swap)
    assert swapped and not other.missing() and os.listdir(tmp_path / "aside") == []
    if kind == "folder":
        assert len(os.listdir(planned.folder)) == 2
    assert len(tare.open(planned.target)) == 4
    other.finish()


def test_errors_name_the_part(planned):
    for task in planned.tasks:
        task.run()
    part = pathlib.Path(planned.tasks[1].path)
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    with pytest.raises(tare.CorruptError) as caught:
        planned.finish()
    assert caught.value.file == os.fspath(part) and os.fspath(part) in str(caught.value) and "/proc" not in str(caught.value)


def test_paths_are_not_normalized_as_text(tmp_path, monkeypatch):
    """`link/..` is above what the link leads to, not where the link is."""
    (tmp_path / "a/sub").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.symlink("../a/sub", tmp_path / "b/link")
    tare.save(tmp_path / "a/m.zt", {"w": np.ones(4, "f4")})
    tare.save(tmp_path / "b/m.zt", {"w": np.zeros(4, "f4")})
    monkeypatch.chdir(tmp_path / "b")
    plan = tare.plan("link/../m.zt", "link/../planned.zt")
    assert plan.folder.endswith("link/../planned.zt.parts")
    monkeypatch.chdir(tmp_path)
    plan.run()
    monkeypatch.chdir(tmp_path / "b")
    assert sorted(os.listdir(tmp_path / "a")) == ["m.zt", "planned.zt", "sub"]
    assert tare.open(tmp_path / "a/planned.zt")["w"].sum() == 4
    with tare.Writer("link/../written.zt") as writer:
        writer.add("w", np.ones(3, "f4"))
    tare.plan("m.zt", "link/../x.zt", folder="link/../parts").tasks[0].run()
    assert sorted(os.listdir(tmp_path / "a")) == ["m.zt", "parts", "planned.zt", "sub", "written.zt"]
    assert sorted(os.listdir(tmp_path / "b")) == ["link", "m.zt"]
    monkeypatch.chdir(tmp_path / "a/sub")
    assert tare.plan("../m.zt", "..", format="hf", overwrite=True).folder == os.fspath(tmp_path / "a.parts")


# ---- no threads


def test_without_threads_all_work_is_done(tmp_path):
    """A limit on processes is that of the user: another one than root, who has none."""
    code = """
        import os, resource, sys
        import numpy as np
        import tare, tare._plan, tare._writer, tare.safetensors.numpy
        os.chdir(sys.argv[1])
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65533)
            os.setuid(65533)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        import threading
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            pass
        else:
            sys.exit(77)
        tensors = {f"w{i}": np.full((64, 64), i, "f4") for i in range(4)}
        seen = []
        report = lambda done, expected: seen.append((done, expected))
        tare.save("a.zt", tensors, progress=report)
        assert seen and seen[-1] == (65536, 65536), seen
        tare.convert("a.zt", "b.safetensors", progress=report)
        tare.quantize("a.zt", "c.mcf", "k4")
        assert tare.verify("b.safetensors", progress=report).ok
        assert tare.hash("a.zt") == tare.hash("b.safetensors")
        assert not tare.diff("a.zt", "b.safetensors")
        assert len(tare.open(tare.to_bytes(tensors, format="zt"))) == 4
        tare.plan("a.zt", "d.zt", tasks=2).run()
        with tare.Writer("e.zt") as writer:
            writer.add("w", tensors["w1"])
        tare.safetensors.numpy.save_file(tensors, "f.safetensors")
        def stop(done, expected):
            raise InterruptedError
        before = open("b.safetensors", "rb").read()
        for attempt in (lambda: tare.convert("a.zt", "b.safetensors", overwrite=True, progress=stop),
                        lambda: tare.save("g.zt", tensors, progress=stop), lambda: tare.verify("a.zt", progress=stop)):
            try:
                attempt()
            except InterruptedError:
                pass
            else:
                sys.exit("was not stopped")
        assert open("b.safetensors", "rb").read() == before and not os.path.exists("g.zt")
        print(sorted(os.listdir()))
    """
    with tempfile.TemporaryDirectory() as folder:  # that other users can enter
        os.chmod(folder, 0o777)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), folder], capture_output=True, text=True, env=environment)
        if done.returncode == 77:
            pytest.skip("the limit on processes does not hold here")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "['a.zt', 'b.safetensors', 'c.mcf', 'd.zt', 'e.zt', 'f.safetensors']"
