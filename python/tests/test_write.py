"""Writing piece by piece, plans, notebooks."""

import errno
import ast
import json
import os
import pathlib
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tare
from conftest import command


def test_writer(tmp_path):
    values = np.arange(40, dtype="f4").reshape(8, 5)
    with tare.Writer(tmp_path / "m.zt", metadata={"a": 1}, digest="sha256") as writer:
        writer.declare("w", (8, 5), "f32")
        writer.declare("half", 6, np.float16)
        writer.declare("brain", (2,), "bf16")
        writer.declare("empty", (0, 3), "i64")
        writer.write("w", values[:3])
        writer.write("half", np.ones(6, "f2"))
        writer.write("w", values[3:])
        writer.write("brain", b"\x80\x3f\x00\x40")
        writer.add("whole", values.T)
        assert not (tmp_path / "m.zt").exists() and os.listdir(tmp_path) == []
    m = tare.open(tmp_path / "m.zt")
    np.testing.assert_array_equal(m["w"], values)
    np.testing.assert_array_equal(m["whole"], values.T)
    assert m["half"].sum() == 6 and m.tensor("brain").float32().tolist() == [1.0, 2.0] and m["empty"].shape == (0, 3)
    assert m.metadata == {"a": 1} and m.tensor("w").components[0]["digest"]
    with pytest.raises(tare.ClosedError):
        writer.write("w", values)
    assert writer.close() is None


@pytest.mark.parametrize("name, options, straight", [
    ("m.zt", {}, True), ("m.zt", {"digest": "sha256"}, True), ("m.safetensors", {}, True), ("m.gguf", {}, True),
    ("m.zt", {"zstd": 1}, False), ("m.mcf", {"quant": "k4"}, False), ("m.npz", {}, None), ("m.mcf", {}, None),
    ("m.zt", {"dtype": "f16"}, False), ("dir/", {"format": "hf", "config": {"model_type": "llama"}}, False),
])  # fmt: skip
def test_writer_takes_the_room_of_the_file(tmp_path, arrays, name, options, straight):
    """Pieces go to their places in the target where the container allows it, and the bytes are those of `save`."""
    tensors = {k: v for k, v in arrays.items() if k in ("embed.weight", "layers.0.mlp.weight", "empty", "layers.0.norm.weight")}
    if name == "m.gguf":
        del tensors["empty"]
    os.mkdir(tmp_path / "a"), os.mkdir(tmp_path / "b")
    tare.save(f"{tmp_path}/a/{name}", tensors, metadata={"k": "v"}, **options)
    with tare.Writer(f"{tmp_path}/b/{name}", metadata={"k": "v"}, **options) as writer:
        for key, array in tensors.items():
            writer.declare(key, array.shape, array.dtype)
        for part in range(4):  # a quarter of each, then the next
            for key, array in reversed(tensors.items()):
                writer.write(key, array.reshape(-1)[part * array.size // 4 : (part + 1) * array.size // 4])
        aside = os.fstat(writer._file.fileno()).st_blocks
        assert straight is None or (aside == 0) == straight
        assert os.listdir(tmp_path / "b") == []
    for folder, _, files in os.walk(tmp_path / "a"):
        for file in files:
            other = folder.replace(str(tmp_path / "a"), str(tmp_path / "b"))
            assert open(os.path.join(folder, file), "rb").read() == open(os.path.join(other, file), "rb").read()


@pytest.mark.parametrize("suffix, straight", [("zt", True), ("safetensors", None), ("npz", None)])
def test_writer_declares_late(tmp_path, arrays, suffix, straight):
    """One tensor after the other: behind the others where the header comes last."""
    path = tmp_path / f"m.{suffix}"
    with tare.Writer(path) as writer:
        for name, array in arrays.items():
            writer.declare(name, array.shape, array.dtype)
            writer.write(name, array)
        assert straight is None or (os.fstat(writer._file.fileno()).st_blocks == 0) == straight
    tare.save(tmp_path / f"o.{suffix}", arrays)
    assert path.read_bytes() == (tmp_path / f"o.{suffix}").read_bytes() and len(os.listdir(tmp_path)) == 2


def test_writer_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = tare.Writer("m.zt")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    writer.add("w", np.ones(3))
    writer.close()
    assert os.listdir(tmp_path / "other") == [] and (tmp_path / "m.zt").exists()


def test_writer_and_a_file_that_exists(tmp_path):
    path = tmp_path / "m.zt"
    tare.save(path, {"old": np.ones(3)})
    writer = tare.Writer(path)
    writer.declare("w", 2, "f32")
    with pytest.raises(FileExistsError):  # before the work, not after it
        writer.write("w", np.ones(2, "f4"))
    writer.discard()
    with pytest.raises(RuntimeError), tare.Writer(path, overwrite=True) as writer:
        writer.add("w", np.ones(2, "f4"))
        raise RuntimeError
    assert list(tare.open(path)) == ["old"]
    with tare.Writer(path, overwrite=True) as writer:
        writer.add("w", np.ones(2, "f4"))
    assert list(tare.open(path)) == ["w"] and os.listdir(tmp_path) == ["m.zt"]


def test_errors_of_the_system_are_the_librarys(tmp_path, monkeypatch):
    """Of the file without a name, too: with a rule, and with the name of the target."""
    (tmp_path / "file.zt").write_bytes(b"x")
    for folder, rule, kind in (("file.zt", "io.sink.create", OSError), ("no", "io.sink.create", FileNotFoundError)):
        with pytest.raises(tare.Error) as error:
            tare.Writer(tmp_path / folder / "b.zt")
        assert isinstance(error.value, kind) and error.value.rule == rule
        assert error.value.filename == error.value.file == f"{tmp_path}/{folder}/b.zt" and error.value.errno
    for code, rule in ((errno.ENOSPC, "io.sink.full"), (errno.EDQUOT, "io.sink.full"), (errno.EIO, "io.sink.write")):
        for call in ("pwrite", "ftruncate"):

            def fails(*_, code=code):
                raise OSError(code, os.strerror(code))

            with pytest.raises(tare.AccessError) as error, tare.Writer(tmp_path / "m.zt", zstd=3) as writer:
                monkeypatch.setattr(os, call, fails)
                writer.add("w", np.ones(4, "f4"))
                writer.close()
            monkeypatch.undo()
            assert (error.value.rule, error.value.errno, error.value.file) == (rule, code, f"{tmp_path}/m.zt")
    with pytest.raises(OSError, match="mine"), tare.Writer(tmp_path / "m.zt") as writer:
        writer._progress = lambda *_: (_ for _ in ()).throw(OSError("mine"))
        writer.add("w", np.ones(4, "f4"))
    assert os.listdir(tmp_path) == ["file.zt"]


def test_writer_and_a_tensor_that_is_larger_than_the_disk(tmp_path):
    """The room is looked at before the layout of 2**48 bytes, which is found in bounded memory."""
    asked, places = [], tare._tare._places
    for options in ({}, {"zstd": 3}):
        with pytest.MonkeyPatch.context() as patch, tare.Writer(tmp_path / "m.zt", **options) as writer:
            patch.setattr(tare._tare, "_places", lambda *a: asked.append(a) or places(*a))
            patch.setattr(tare._tare, "_expect_room", no_room)
            writer.declare("w", 2**46, "f4")
            with pytest.raises(tare.AccessError, match="full"):
                writer.write("w", b"1234")
            assert not asked
            writer.discard()
    with tare.Writer(tmp_path / "m.zt") as writer:
        writer.declare("v", 3, "u1")
        writer.declare("w", 2**46, "f4")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = writer._ask()
        assert found is not None and found[1] >= found[0] + 3
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB
        writer.discard()


def no_room(descriptor, count, path):
    assert count == 2**48
    with open("/dev/full", "wb", buffering=0) as full:
        try:
            full.write(b"x")
        except OSError as error:
            raise tare._errors.of_system(error, "cannot write", "io.sink.write", path) from None


def test_writer_refuses(tmp_path):
    writer = tare.Writer(tmp_path / "m.zt")
    writer.declare("w", (4,), "f32")
    for name, piece, error in (("x", b"", KeyError), ("w", np.ones(4), TypeError), ("w", np.ones(5, "f4"), ValueError)):
        with pytest.raises(error):
            writer.write(name, piece)
    for arguments, error in ((("w", (4,), "f32"), ValueError), (("v", (-1,), "f32"), ValueError), (("v", (1.5,), "f32"), TypeError),
                             (("v", (2**40, 2**40), "f32"), ValueError), (("v", (1,), "f31"), TypeError),
                             ((3, (1,), "f32"), TypeError)):  # fmt: skip
        with pytest.raises(error):
            writer.declare(*arguments)
    writer.write("w", np.ones(3, "f4"))
    with pytest.raises(ValueError, match="not complete: 12 of 16"):
        writer.close()
    with pytest.raises(RuntimeError), tare.Writer(tmp_path / "m.zt") as writer:
        raise RuntimeError
    with pytest.raises(FileNotFoundError):
        tare.Writer(tmp_path / "no" / "m.zt")
    with pytest.raises(TypeError):
        tare.Writer(tmp_path / "m.zt", wrong=3)
    assert os.listdir(tmp_path) == []
    with tare.Writer(tmp_path / "none.zt"):
        pass
    assert len(tare.open(tmp_path / "none.zt")) == 0


@pytest.mark.parametrize("target, options", [("o.zt", {"zstd": 3, "digest": "sha256"}), ("o.mcf", {"quant": "k4"}),
                                             ("o.gguf", {"quant": "q4_0"}), ("mix.gguf", {"quant": "q4_k_m"}),
                                             ("bits.mcf", {"quant": {"bits": 5.0}}), ("o.npz", {"dtype": "f16"}),
                                             ("hf/", {"format": "hf"}), ("o.safetensors", {"weights_only": True})])  # fmt: skip
def test_plan_gives_the_bytes_of_convert(demo, tmp_path, target, options):
    source = demo / "mistral"
    plan = tare.plan(source, f"{tmp_path}/{target}", tasks=4, **options)
    assert 2 <= len(plan.tasks) <= 8 and pickle.loads(pickle.dumps(plan)) == plan
    assert sum(len(task.names) for task in plan.tasks) == len(tare.open(source))
    with pytest.raises(tare.UsageError, match="have not been done"):
        plan.finish()
    tasks = plan.tasks
    random.Random(3).shuffle(tasks)
    for task in tasks + tasks[:2]:  # in any order, and some twice
        task = pickle.loads(pickle.dumps(task))
        before = open(task.path, "rb").read() if os.path.exists(task.path) else None
        task.run()
        assert before in (None, open(task.path, "rb").read())
    assert not plan.missing()
    plan.finish()
    assert not os.path.exists(plan.folder)
    (tmp_path / "direct").mkdir()
    tare.convert(source, f"{tmp_path}/direct/{target}", **options)
    for folder, _, files in os.walk(tmp_path / "direct"):
        for name in files:
            other = os.path.join(str(tmp_path) + folder[len(str(tmp_path / "direct")) :], name)
            assert open(os.path.join(folder, name), "rb").read() == open(other, "rb").read(), name


def test_finish_removes_nothing_but_parts(demo, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("precious")
    plan = tare.plan(demo / "mistral", tmp_path / "o.mcf", tasks=2, folder=tmp_path / "mine")
    plan.run()
    assert os.listdir(tmp_path / "mine") == ["notes.txt"]


def test_killed_tasks_run_again(demo, tmp_path):
    plan = tare.plan(demo / "mistral", tmp_path / "o.mcf", tasks=3, quant="k4")
    code = "import pickle, sys; pickle.load(sys.stdin.buffer).run()"
    for task in plan.tasks:
        victim = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
        victim.stdin.write(pickle.dumps(task))
        victim.stdin.close()
        time.sleep(random.Random(task.number).random() / 3)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    for task in plan.missing():
        task.run()
    plan.finish()
    tare.convert(demo / "mistral", tmp_path / "direct.mcf", quant="k4")
    assert (tmp_path / "o.mcf").read_bytes() == (tmp_path / "direct.mcf").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["direct.mcf", "o.mcf"]


def test_plan_refuses(demo, tmp_path):
    source = demo / "mistral.zt"
    for options, error in (({"tasks": 0}, ValueError), ({"tasks": "a"}, TypeError), ({"wrong": 1}, TypeError), ({"shard": "x"}, ValueError),
                           ({"dedup": True}, ValueError)):  # fmt: skip
        with pytest.raises(error):
            tare.plan(source, tmp_path / "o.zt", **options)
    with pytest.raises(FileNotFoundError):
        tare.plan(tmp_path / "nothing", tmp_path / "o.zt")
    copy = tmp_path / "m.zt"
    copy.write_bytes(source.read_bytes())
    plan = tare.plan(copy, tmp_path / "o.zt", match="model.layers.*", skip="*norm*")
    assert all("norm" not in name for task in plan.tasks for name in task.names)
    tare.save(copy, {"w": np.ones(3)}, overwrite=True)
    with pytest.raises(tare.AccessError):
        plan.tasks[0].run()
    with pytest.raises(FileExistsError):
        tare.plan(source, copy)


def test_plan_knows_its_source(tmp_path):
    """The next checkpoint of the same training has the same names and shapes."""
    def checkpoint(step):
        tare.save(tmp_path / "s.safetensors", {f"l.{i}": np.full((64, 64), i + step, "f4") for i in range(4)}, overwrite=True)

    checkpoint(0)
    plan = pickle.loads(pickle.dumps(tare.plan(tmp_path / "s.safetensors", tmp_path / "o.zt", tasks=2)))
    plan.tasks[0].run()
    checkpoint(100)
    with pytest.raises(tare.AccessError) as caught:
        plan.tasks[1].run()
    assert caught.value.rule == "plan.source"
    # Below that, parts say what they were made of.
    again = tare.plan(tmp_path / "s.safetensors", tmp_path / "o.zt", tasks=2)
    task = again.tasks[0]
    task.run()
    checkpoint(200)
    tare._tare._write_part(again.source, again.target, {}, 2, 2, again._facts["id"], again.tasks[1].path, None)
    with pytest.raises(tare.AccessError) as caught:
        again.finish()
    assert caught.value.rule == "plan.source" and not os.path.exists(again.target)
    done = tare.plan(tmp_path / "s.safetensors", tmp_path / "o.zt", tasks=2)
    done.run()
    with pytest.raises(tare.UsageError, match="finished already"):
        done.finish()


@pytest.mark.parametrize("target", ["o.gguf", "o.zt"])
def test_a_damaged_part_is_noticed(tmp_path, target):
    random = np.random.default_rng(3)
    tare.save(tmp_path / "s.zt", {f"l.{i}": random.standard_normal((64, 64)).astype("f4") for i in range(4)}, digest="sha256")
    plan = tare.plan(tmp_path / "s.zt", tmp_path / target, tasks=2)
    for task in plan.tasks:
        task.run()
    data = bytearray(open(plan.tasks[0].path, "rb").read())
    data[1000] ^= 1
    with open(plan.tasks[0].path, "wb") as file:
        file.write(data)
    with pytest.raises(tare.CorruptError) as caught:
        plan.finish()
    assert caught.value.rule == "plan.part.damaged" and caught.value.file == plan.tasks[0].path
    plan.tasks[0].run()  # as one that has been killed
    plan.finish()
    tare.convert(tmp_path / "s.zt", tmp_path / f"direct.{target}", format=target[2:])
    assert (tmp_path / target).read_bytes() == (tmp_path / f"direct.{target}").read_bytes()


@pytest.mark.parametrize("options", [{"zstd": 3}, {}])
def test_plan_of_compressed_tensors(tmp_path, options):
    """Compressed as `convert` does it, and copied as they are, in every container that compresses."""
    same = np.repeat(np.arange(64, dtype="f4"), 1024).reshape(64, 1024)
    arrays = {f"l.{i}": same + (i // 2) for i in range(6)}  # two of each
    for suffix in ("zt", "zt2"):
        tare.save(tmp_path / f"packed.{suffix}", arrays, zstd=5)
    tare.save(tmp_path / "plain.safetensors", arrays)
    for source in ("packed.zt", "packed.zt2", "plain.safetensors"):
        for suffix in ("zt", "zt2"):
            tare.plan(tmp_path / source, tmp_path / f"plan.{suffix}", tasks=3, overwrite=True, **options).run()
            tare.convert(tmp_path / source, tmp_path / f"direct.{suffix}", overwrite=True, **options)
            assert (tmp_path / f"plan.{suffix}").read_bytes() == (tmp_path / f"direct.{suffix}").read_bytes(), (source, suffix)


def mortal(plan, marker):
    """The plan, with tasks of which the first to come kills its worker."""
    import types

    class Mortal:  # in here, so that it is pickled with its code
        def __init__(self, task):
            self.task = task

        def run(self, threads=0):
            import os
            import signal

            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return self.task.run(threads=threads)
            os.kill(os.getpid(), signal.SIGKILL)

    return types.SimpleNamespace(missing=lambda: [Mortal(task) for task in plan.missing()], finish=plan.finish)


def test_ray(demo, tmp_path):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}})  # fmt: skip
    try:
        done = tare.cluster.ray.run(tare.plan(demo / "mistral", tmp_path / "o.mcf", tasks=4, quant="k4"))
        plan = tare.plan(demo / "mistral", tmp_path / "killed.mcf", tasks=4, quant="k4")
        tare.cluster.ray.run(mortal(plan, os.fspath(tmp_path / "marker")))
    finally:
        ray.shutdown()
    tare.convert(demo / "mistral", tmp_path / "direct.mcf", quant="k4")
    assert done.tensors == 21 and (tmp_path / "o.mcf").read_bytes() == (tmp_path / "direct.mcf").read_bytes()
    assert (tmp_path / "marker").exists() and (tmp_path / "killed.mcf").read_bytes() == (tmp_path / "direct.mcf").read_bytes()


def test_dask(demo, tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            tare.cluster.dask.run(tare.plan(demo / "mistral", tmp_path / "o.mcf", tasks=4, quant="k4"), client)
            plan = tare.plan(demo / "mistral", tmp_path / "killed.mcf", tasks=4, quant="k4")
            tare.cluster.dask.run(mortal(plan, os.fspath(tmp_path / "marker")), client)
    tare.convert(demo / "mistral", tmp_path / "direct.mcf", quant="k4")
    assert (tmp_path / "o.mcf").read_bytes() == (tmp_path / "direct.mcf").read_bytes()
    assert (tmp_path / "marker").exists() and (tmp_path / "killed.mcf").read_bytes() == (tmp_path / "direct.mcf").read_bytes()


def test_notebook(demo, model_path, tmp_path):
    import xml.dom.minidom

    m = tare.open(demo / "demo.zt")
    page = m._repr_html_()
    assert "quantized.k4.weight" in page and "<svg" in page
    for t in m.tensors():
        xml.dom.minidom.parseString(f"<div>{t._repr_html_().replace('&times;', 'x')}</div>")
    xml.dom.minidom.parseString(f"<div>{page.replace('&times;', 'x')}</div>")
    m.close()
    assert "closed" in m._repr_html_()
    tare.save(tmp_path / "x.zt", {"<b>&\x1b[2J": np.ones(2, "f4")})
    page = tare.open(tmp_path / "x.zt")._repr_html_()
    assert "<b>&\x1b" not in page and "\x1b" not in page


def test_files_that_describe_the_model_stay(demo, tmp_path):
    """A file that is given replaces itself alone: what only config.json states is not lost."""
    config = json.loads((demo / "mistral/config.json").read_bytes()) | {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    tare.save(f"{tmp_path}/m/", tare.open(demo / "mistral"), attachments={"config.json": json.dumps(config).encode()})
    for target in ("a/", "a.zt", "a.gguf"):
        tare.save(f"{tmp_path}/{target}", tare.open(tmp_path / "m"), attachments={"generation_config.json": b'{"top_k": 7}'})
        tare.convert(f"{tmp_path}/{target}", f"{tmp_path}/back/", format="hf", overwrite=True)
        kept = json.loads((tmp_path / "back/config.json").read_bytes())
        assert kept["rope_scaling"]["factor"] == 2.0, target
        assert json.loads((tmp_path / "back/generation_config.json").read_bytes())["top_k"] == 7


def test_ids_of_a_new_vocabulary(demo, tmp_path):
    model = tare.open(demo / "mistral")
    words = model.vocabulary
    assert words.eos == 2 and json.loads(model.attachments["config.json"]).get("eos_token_id", 2) == 2
    config = json.loads(model.attachments["config.json"]) | {"eos_token_id": 2, "bos_token_id": [1, 5]}
    tare.save(f"{tmp_path}/m/", model, attachments={"config.json": json.dumps(config).encode()})
    model = tare.open(tmp_path / "m")
    new = tare.Vocabulary(dict(words._parts, bos=5, eos=7))
    tare.save(f"{tmp_path}/n/", model, vocabulary=new)
    made = json.loads((tmp_path / "n/config.json").read_bytes())
    assert made["eos_token_id"] == 7 and made["bos_token_id"] == [1, 5]


def test_weights_alone_do_not_replace_a_directory(demo, tmp_path):
    tare.save(f"{tmp_path}/m/", tare.open(demo / "mistral"))
    before = sorted(path.name for path in (tmp_path / "m").iterdir())
    for convert in (
        lambda: tare.convert(tmp_path / "m/model.safetensors", f"{tmp_path}/m/", overwrite=True, dtype="f16"),
        lambda: tare.save(f"{tmp_path}/m/", {"w": np.ones(2, "f4")}, overwrite=True),
    ):
        with pytest.raises(tare.UsageError) as caught:
            convert()
        assert caught.value.rule == "convert.directory" and sorted(path.name for path in (tmp_path / "m").iterdir()) == before
    tare.convert(tmp_path / "m", f"{tmp_path}/m/", overwrite=True, dtype="f16")
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == before


def test_results_in_a_notebook(demo, tmp_path):
    import xml.dom.minidom

    done = tare.quantize(demo / "mistral", tmp_path / "q.mcf", "k4")
    difference = tare.diff(demo / "mistral", tmp_path / "q.mcf")
    tare.save(tmp_path / "a.zt", {"<w>": np.ones(2, "f4"), "only": np.ones(1, "f4")})
    tare.save(tmp_path / "b.zt", {"<w>": np.ones((2, 3), "f8")})
    odd = tare.diff(tmp_path / "a.zt", tmp_path / "b.zt")
    (tmp_path / "bad.zt").write_bytes((tmp_path / "a.zt").read_bytes()[:-9])
    bad = tare.verify(tmp_path / "bad.zt")
    same = tare.diff(tmp_path / "a.zt", tmp_path / "a.zt")
    for result in (done, difference, odd, bad, same, tare.verify(tmp_path / "a.zt"), tare.convert(tmp_path / "a.zt", tmp_path / "a.npz")):
        xml.dom.minidom.parseString(f"<div>{result._repr_html_()}</div>")
    assert f"{done.bits_per_weight:.2f} bits per weight" in done._repr_html_() and "bits_per_weight=" in repr(done)
    assert "lm_head.weight" in difference._repr_html_() and "mcf.k4" in difference._repr_html_()
    assert "&lt;w&gt;" in odd._repr_html_() and "missing" in odd._repr_html_() and "2x3 f64" in odd._repr_html_()
    assert "the same" in same._repr_html_() and "nothing is wrong" in tare.verify(tmp_path / "a.zt")._repr_html_()
    assert bad.findings[0].rule in bad._repr_html_() and not bad.ok
    assert "<th style='text-align:left'>name</th>" in tare.open(tmp_path / "a.zt")._repr_html_()


def test_a_notebook_shows_the_worst_first(tmp_path):
    wrong = {f"layer.{i:02}.weight": np.full(4, 1 + i / 1000, "f4") for i in range(70)}
    tare.save(tmp_path / "a.zt", {name: np.ones(4, "f4") for name in wrong} | {"only.a": np.ones(1, "f4")})
    tare.save(tmp_path / "b.zt", wrong | {"layer.05.weight": np.full(4, np.nan, "f4")})
    page = tare.diff(tmp_path / "a.zt", tmp_path / "b.zt")._repr_html_()
    places = [page.index(name) for name in ("only.a", "layer.05.", "layer.69.", "layer.68.")]
    assert places == sorted(places) and "layer.01." not in page and "and 10 more" in page
    tare.save(tmp_path / "odd.safetensors", {"w": np.array([np.nan, 1], "f4")}, metadata={"b": "1", "a": "2"})
    found = tare.verify(tmp_path / "odd.safetensors")
    page = found._repr_html_()
    assert found.ok and not found.strict and "1 warning" in page and "&#9888;" in page and "&#10003;" not in page
    severities = re.findall(r"<td style='text-align:left'>(error|warning|note)</td>", page)
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    assert "&#10003;" in tare.verify(tmp_path / "a.zt")._repr_html_()


def test_a_notebook_shows_a_part_of_many_tensors(tmp_path):
    tare.save(tmp_path / "many.zt", {f"layer.{i}.weight": np.ones(4, "f4") for i in range(5000)})
    page = tare.open(tmp_path / "many.zt")._repr_html_()
    assert "and 4,940 more" in page and len(page) < 200_000
    tare.save(tmp_path / "other.zt", {f"layer.{i}.weight": np.zeros(4, "f4") for i in range(5000)})
    assert len(tare.diff(tmp_path / "many.zt", tmp_path / "other.zt")._repr_html_()) < 50_000


def test_a_notebook_bundles_small_tensors(tmp_path):
    tare.save(tmp_path / "many.safetensors", {f"layer.{i}.weight": np.ones(4, "f4" if i % 2 else "f8") for i in range(5000)})
    page = tare.open(tmp_path / "many.safetensors")._repr_html_()
    tiles = [float(w) * float(h) for w, h in re.findall(r"width='([0-9.]+)' height='([0-9.]+)' fill=", page)]
    assert 300 < len(tiles) <= 400 and max(tiles) < 4 * sorted(tiles)[len(tiles) // 2] and "#999999" not in page
    assert "</b>: safetensors, 5,000 tensors" in page and " ," not in page


def test_a_notebook_shows_few_far_values_as_a_number(tmp_path):
    values = np.linspace(-1, 1, 5000, dtype="f4")
    tare.save(tmp_path / "far.zt", {"far": np.append(values, np.float32([4000, -300])), "near": values})
    model = tare.open(tmp_path / "far.zt")
    assert "2 values lie outside of -1 to 1" in model.tensor("far")._repr_html_()
    assert "outside" not in model.tensor("near")._repr_html_()
    counts, edges = model.tensor("far").histogram(40)  # as numpy's, over the whole range
    assert counts.sum() == 5002 and edges[-1] == 4000


def test_a_notebook_shows_the_beginning_of_a_long_name(tmp_path):
    tare.save(tmp_path / "long.zt", {"x" * 100_000 + "\x7f" * 100_000: np.ones(4, "f4")})
    model = tare.open(tmp_path / "long.zt")
    assert len(model._repr_html_()) < 10_000 and len(next(iter(model.tensors()))._repr_html_()) < 50_000


def test_the_notebook_of_the_docs(tmp_path, monkeypatch):
    """Every cell of docs/notebook.ipynb runs, in order, in an empty folder, and gives the text and the HTML that it shows.
    With TARE_RECORD=1, what it gives is stored."""
    path = pathlib.Path(__file__).resolve().parents[2] / "docs/notebook.ipynb"
    if not path.exists():
        pytest.skip("the docs are not here")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    scope, shown = {}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        *before, last = ast.parse("".join(cell["source"])).body
        value = None
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), "cell", "exec"), scope)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
        else:
            exec(compile(ast.Module([*before, last], []), "cell", "exec"), scope)
        given = {} if value is None else {"text/plain": [repr(value)]}
        if hasattr(value, "_repr_html_"):
            given["text/html"] = [value._repr_html_()]
        if os.environ.get("TARE_RECORD"):
            for output in cell["outputs"]:
                output["data"] = given
        stored = [{kind: ["".join(text)] for kind, text in output["data"].items()} for output in cell["outputs"]]
        assert ([given] if given else []) == stored, "".join(cell["source"])
        shown += sum(map(len, stored))
    assert shown >= 10
    if os.environ.get("TARE_RECORD"):
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def test_numbers_for_people():
    table = json.loads((pathlib.Path(__file__).resolve().parents[2] / "tests/base/numbers.json").read_text())
    assert len(table["sizes"]) > 10 and len(table["numbers"]) > 10
    for size, text in table["sizes"]:
        assert tare._tare.size_text(size) == text
    for number, digits, text in table["numbers"]:
        assert tare._tare.number_text(number, digits) == text


def test_plot(model_path, demo, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    m = tare.open(model_path)
    ax = tare.plot.histogram(m.tensor("layers.0.mlp.weight"), bins=20)
    assert "mlp" in ax.get_title()
    assert "64x256 float32" in tare.plot.histogram(m["layers.0.mlp.weight"], ax=ax).get_title()
    reports = {q: tare.quantize(demo / "mistral", tmp_path / f"{q}.mcf", q) for q in ("k4", "q8")}
    assert tare.plot.errors(reports).get_xlabel() == "bits per weight"


def test_writer_passes_no_damaged_bytes_on(tmp_path):
    array = np.arange(64, dtype="f4")
    tare.save(tmp_path / "good.zt", {"w": array}, digest="sha256")
    data = bytearray((tmp_path / "good.zt").read_bytes())
    data[data.find(array.tobytes()) + 8] ^= 4
    (tmp_path / "bad.zt").write_bytes(data)
    bad = tare.open(tmp_path / "bad.zt").tensor("w")
    with pytest.raises(tare.Error) as error, tare.Writer(tmp_path / "out.zt") as writer:
        writer.add("w", bad)
    assert error.value.rule == "digest.mismatch"
    with pytest.raises(tare.Error) as error, tare.Writer(tmp_path / "out.zt") as writer:
        writer.declare("w", 64, "f32")
        writer.write("w", bad)
    assert error.value.rule == "digest.mismatch" and not (tmp_path / "out.zt").exists()


@pytest.mark.parametrize("value", [[1, 2], [1, 2.5], ["a"], [], {"a": [1]}, b"\x00ab", 5, 1.5, True, "[1]", "x", float("inf")])
def test_metadata_of_a_conversion_keeps_its_types(tmp_path, value):
    tare.save(tmp_path / "m.zt", {"w": np.ones((32, 64), "f4")})
    tare.save(tmp_path / "saved.zt", tare.open(tmp_path / "m.zt"), metadata={"k": value})
    tare.convert(tmp_path / "m.zt", tmp_path / "c.zt", metadata={"k": value})
    tare.quantize(tmp_path / "m.zt", tmp_path / "q.zt", "group4", metadata={"k": value})
    for name in ("saved.zt", "c.zt", "q.zt"):
        found = tare.open(tmp_path / name).metadata["k"]
        assert found == value and type(found) is type(value), name
    tare.convert(tmp_path / "m.zt", tmp_path / "nan.zt", metadata={"k": float("nan")})
    assert np.isnan(tare.open(tmp_path / "nan.zt").metadata["k"])


@pytest.mark.parametrize("suffix", ["zt", "zt2", "gguf", "mcf"])
def test_a_new_config_is_not_undone_by_a_file(tmp_path, suffix):
    files = {"config.json": b'{"model_type": "unheard_of", "rope_theta": 1.0, "other": [1]}', "README.md": b"read"}
    tare.save(tmp_path / "m.zt", {"w": np.ones(4, "f4")}, attachments=files, config={"model_type": "unheard_of", "rope_theta": 1.0})
    model = tare.open(tmp_path / "m.zt")
    for more in ({}, {"extra": 5}):
        path = tmp_path / f"o.{suffix}"
        tare.save(path, model, config={**model.config, "rope_theta": 2.0, **more}, keep_names=True, overwrite=True)
        found = tare.open(path)
        stated = json.loads(bytes(found.attachments["config.json"]))
        assert found.config["rope_theta"] == stated["rope_theta"] == 2.0
        assert stated.get("extra") == more.get("extra") and (more or stated["other"] == [1])
        assert bytes(found.attachments["README.md"]) == b"read"  # the other files are kept


@pytest.mark.parametrize("suffix", ["zt", "zt2", "gguf", "mcf", "npz"])
def test_new_files_describe_the_model(tmp_path, suffix):
    def config(theta):
        return json.dumps({"model_type": "unheard_of", "rope_parameters": {"rope_theta": theta}, "other": [1]}).encode()

    def tokens(text):
        return json.dumps({"model": {"type": "BPE", "vocab": {text: 0, "x": 1}, "merges": []}}).encode()

    old, new = ({"config.json": config(t), "tokenizer.json": tokens(c), "notes.txt": b"n"} for t, c in ((1.0, "a"), (2.0, "b")))
    arrays = {"w": np.ones(4, "f4")}
    tare.save(tmp_path / "m.zt", arrays, attachments=old)
    assert tare.open(tmp_path / "m.zt").config["rope_theta"] == 1.0
    path = tmp_path / f"o.{suffix}"
    for tensors in (tare.open(tmp_path / "m.zt"), arrays, None):
        if tensors is None:
            with tare.Writer(path, attachments=new, keep_names=True, overwrite=True) as writer:
                writer.declare("w", (4,), "f32")
                writer.write("w", arrays["w"])
        else:
            tare.save(path, tensors, attachments=new, keep_names=True, overwrite=True)
        found = tare.open(path)
        assert found.config["rope_theta"] == 2.0 and found.vocabulary[0] == b"b"
        assert not [finding for finding in tare.verify(path).findings if finding.rule.endswith(".differs")]
        assert json.loads(bytes(found.attachments["config.json"]))["rope_parameters"]["rope_theta"] == 2.0
    for given in ({"config": {"rope_theta": 3.0}}, {"config": {"rope_theta": 2.0, "other": [2]}}, {"config": {"more": 1}}):
        with pytest.raises(tare.Error) as error:
            tare.save(path, arrays, attachments=new, keep_names=True, overwrite=True, **given)
        assert error.value.rule == "config.contradiction"
    tare.save(path, arrays, attachments=new, config={"rope_theta": 2.0, "other": [1]}, keep_names=True, overwrite=True)
    assert tare.open(path).config["model_type"] == "unheard_of"
    with pytest.raises(tare.Error) as error:
        tare.save(path, arrays, attachments=new, vocabulary=tare.open(tmp_path / "m.zt").vocabulary, overwrite=True)
    assert error.value.rule == "tokenizer.contradiction"
    # A hyper-parameter of the wrong kind is refused, not dropped.
    for wrong in ({"hidden_size": 64.0}, {"hidden_size": "64"}, {"hidden_size": 2**63}, {"rms_norm_eps": "1e-6"}, {"model_type": 5},
                  {"tie_word_embeddings": 1}):  # fmt: skip
        for write in (lambda: tare.save(path, arrays, config=wrong, overwrite=True), lambda: tare.to_bytes(arrays, format="zt", config=wrong),
                      lambda: tare.Writer(path, config=wrong, overwrite=True).close()):  # fmt: skip
            with pytest.raises(tare.UsageError, match=next(iter(wrong))) as error:
                write()
            assert error.value.rule == "config.given"
    tare.save(path, arrays, config={"hidden_size": 64, "rope_theta": 10000, "sliding_window": None}, overwrite=True)
    assert dict(tare.open(path).config) == {"hidden_size": 64, "rope_theta": 10000.0}
    # A config with keys that Tare has no field for becomes a config.json, which describes the model as well.
    tare.save(path, arrays, config=json.loads(config(4.0)), keep_names=True, overwrite=True)
    assert tare.open(path).config["rope_theta"] == 4.0


@pytest.mark.parametrize("suffix", ["zt", "gguf"])
def test_metadata_that_is_set_by_the_command(tmp_path, suffix):
    path = tmp_path / f"m.{suffix}"
    tare.save(path, {"w": np.ones(4, "f4")}, metadata={"general.tags": ["a", "b"]})
    command("convert", path, tmp_path / f"o.{suffix}", "--set", 'general.tags=["e"]', "--set", "k=[1, 2]", "--set", "t=[1, 2")
    found = tare.open(tmp_path / f"o.{suffix}").metadata
    assert found["general.tags"] == ["e"] and found["k"] == [1, 2] and found["t"] == "[1, 2"
    command("meta", path, "--set", 'general.tags=["e"]', "--set", "k=[1, 2]")
    found = tare.open(path).metadata
    assert found["general.tags"] == ["e"] and found["k"] == [1, 2]
    for value in ("e", 5):
        with pytest.raises(tare.Error) as error:
            tare.convert(path, tmp_path / f"no.{suffix}", metadata={"general.tags": value})
        assert error.value.rule == {"zt": "convert.set", "gguf": "meta.value"}[suffix]  # by the type of the key


@pytest.mark.parametrize("first, second", [("hf", "gguf"), ("hf", "zt2"), ("gguf", "hf"), ("zt2", "gguf"), ("gguf", "gguf")])
def test_a_directory_is_opened_as_what_was_written(tmp_path, first, second):
    """A model in another container may be there before: what is written is found, or nothing is written."""
    old, new = ({f"layers.{i}.w": np.full((64, 64), value, "f4") for i in range(4)} for value in (1, 2))
    out = f"{tmp_path}/out/"
    tare.save(out, old, format=first, shard="20KB")
    if first != second and second != "hf":
        with pytest.raises(tare.Error) as error:
            tare.save(out, new, format=second, shard="20KB", overwrite=True)
        assert error.value.rule == "convert.directory"
        assert (tare.open(out)["layers.0.w"] == 1).all()
    else:
        tare.save(out, new, format=second, shard="20KB", overwrite=True)
        assert (tare.open(out)["layers.0.w"] == 2).all()


@pytest.mark.parametrize("options", [{}, {"dtype": "f16"}, {"quant": "group4"}])
@pytest.mark.parametrize("target", ["zt", "zt2", "safetensors", "npz", "mcf", "gguf"])
def test_stored_members_of_an_archive_are_compared(tmp_path, target, options):
    """NumPy compares the CRC-32 of an array; so does whoever converts it."""
    if options.get("quant") and target not in ("zt", "zt2"):
        options = {"dtype": "f16"}
    array = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    np.savez(tmp_path / "good.npz", w=array)
    data = bytearray((tmp_path / "good.npz").read_bytes())
    data[data.find(array.tobytes()) + 8] ^= 4
    (tmp_path / "bad.npz").write_bytes(data)
    with pytest.raises(tare.Error) as error:
        tare.convert(tmp_path / "bad.npz", tmp_path / f"out.{target}", **options)
    assert error.value.rule == "zip.member.crc" and not (tmp_path / f"out.{target}").exists()
    tensor = tare.open(tmp_path / "bad.npz").tensor("w")
    for read in (tensor.verify, tensor.float32, tensor.stats, lambda: tare.hash(tmp_path / "bad.npz")):  # `bytes` is a view
        with pytest.raises(tare.Error) as error:
            read()
        assert error.value.rule == "zip.member.crc"
    assert [finding.rule for finding in tare.verify(tmp_path / "bad.npz").findings] == ["zip.member.crc"]


def test_outputs_never_replace_other_files_of_the_input(tmp_path):
    values = {f"l.{i}": np.full((64, 64), i, "f4") for i in range(4)}
    tare.save(f"{tmp_path}/set/", values, format="safetensors", shard="20KB")
    tare.save(tmp_path / "one.zt", values)
    shard = next((tmp_path / "set").glob("*-00001-of-*"))
    os.link(shard, tmp_path / "linked.zt")
    before = shard.read_bytes()
    model = tare.open(tmp_path / "set")
    for path in (shard, tmp_path / "linked.zt", tmp_path / "set/model.safetensors.index.json"):
        for write in (lambda out: tare.save(out, model, format="zt", overwrite=True),
                      lambda out: tare.convert(tmp_path / "set", out, format="zt", overwrite=True)):
            with pytest.raises(tare.Error) as caught:
                write(path)
            assert caught.value.rule == "io.sink.input"
    assert shard.read_bytes() == before
    # What takes the place of the whole model may.
    for _ in range(2):
        tare.convert(tmp_path / "one.zt", tmp_path / "one.zt", overwrite=True)
        tare.save(tmp_path / "one.zt", tare.open(tmp_path / "one.zt"), overwrite=True)
        tare.save(f"{tmp_path}/set/", tare.open(tmp_path / "set"), format="safetensors", shard="20KB", overwrite=True)
    assert len(tare.open(tmp_path / "set")) == len(tare.open(tmp_path / "one.zt")) == 4


def test_saving_an_array_imports_nothing():
    """A child of fork would wait forever for an import that another thread of its parent had begun."""
    script = """
import sys, numpy, tare
before = set(sys.modules)
tare.to_bytes({"a": numpy.ones(3)}, format="zt")
print(*sorted(name for name in set(sys.modules) - before if name.split(".")[0] == "numpy"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_one_file_has_no_shards(demo):
    with tare.open(demo / "mistral.zt") as model:
        for size in (1, "1MB"):
            with pytest.raises(ValueError, match="sharded set is a directory") as caught:
                tare.to_bytes(model, format="safetensors", shard=size)
            assert caught.value.rule == "convert.shards"


@pytest.mark.parametrize("number", [-1, 2**32 + 1, 2**63, 2**64 + 5, -(2**64)])
def test_numbers_do_not_wrap(demo, tmp_path, number):
    source, target = demo / "mistral.zt", tmp_path / "o.safetensors"
    with tare.open(source) as model:
        tensor = next(iter(model.tensors()))
        calls = [
            lambda: tare.convert(source, target, threads=number),
            lambda: tare.hash(model, threads=number),
            lambda: tare.diff(model, model, threads=number),
            lambda: tare.verify(source, threads=number),
            lambda: tensor.stats(bins=number),
            lambda: tensor.stats(threads=number),
            lambda: tare.open(source, threads=number),
        ]
        if number != 2**32 + 1:
            calls += [
                lambda: tare.convert(source, tmp_path / "shards/", format="safetensors", shard=number),
                lambda: tare.convert(source, target, max_expansion=number),
            ]
        for call in calls:
            with pytest.raises(ValueError):
                call()
    assert os.listdir(tmp_path) == []
