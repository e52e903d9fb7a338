"""Eight threads on one model. This is what the thread sanitizer runs (preset tsan)."""

import os
import threading

import numpy as np
import pytest

import tare
from conftest import SANITIZED

THREADS = 8


def in_threads(work, count=THREADS):
    """Runs work(number) in so many threads at once; the first failure is raised here."""
    failures, started = [], threading.Barrier(count)

    def one(number):
        try:
            started.wait()
            work(number)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture
def packed(tmp_path, arrays):
    """A file with plain, compressed and quantized tensors, a vocabulary of none, and an attachment; and what to expect."""
    path = tmp_path / "packed.zt"
    weight = arrays["layers.0.mlp.weight"]
    data = tare.to_bytes({"k4": weight}, format="mcf", quant="k4")
    with tare.open(data) as quantized, tare.open(tare.to_bytes({"z": weight}, format="zt", zstd=3)) as compressed:
        tensors = {**arrays, "k4": quantized.tensor("k4"), "z": compressed.tensor("z")}
        tare.save(path, tensors, metadata={"a": [1, {"b": 2}]}, attachments={"note.txt": b"hello"})
        expected = {**arrays, "k4": quantized["k4"], "z": weight}
    return path, expected


def test_stress(packed, tmp_path):
    """Every way to the elements, and whole conversions, at once; each thread begins somewhere else."""
    path, expected = packed
    m = tare.open(path)
    assert m.tensor("k4").layout == "mcf.k4" and m.tensor("z").components[0]["encoding"] == "zstd"
    names, tensors, digest = list(expected), {name: m.tensor(name) for name in expected}, tare.hash(m)

    def read(name):
        np.testing.assert_array_equal(m[name], expected[name])

    def lazy(name):
        tensor = m.tensor(name)  # of its own
        np.testing.assert_array_equal(tensor.numpy(), expected[name])
        assert tensor.shape == expected[name].shape and tensor.dtype == expected[name].dtype

    def shared(name):
        tensor = tensors[name]  # of all threads
        if tensor.ndim == 2 and tensor.size:
            np.testing.assert_array_equal(tensor[1:3, ::2], expected[name][1:3, ::2])
            np.testing.assert_array_equal(tensor[[0, 2]], expected[name][[0, 2]])
        assert len(tensor.bytes(tensor.components[0]["role"])) and tensor.stats(threads=2)["count"] == tensor.size

    def whole(name):
        for writable in (True, False):
            loaded = m.load(writable=writable)
            np.testing.assert_array_equal(loaded[name], expected[name])
        loaded = tare.safetensors.numpy.load_file(path)
        loaded[name][...] = 0  # nobody else sees that

    def beside(name):
        assert m.metadata == {"a": [1, {"b": 2}]} and m.attachments["note.txt"] == b"hello" and m.vocabulary is None
        assert len(m.info()["types"]) > 3 and len(m.table()) == len(expected) and name in m and "<svg" in m._repr_html_()
        with pytest.raises(KeyError):
            m[name + "x"]

    def work(name):
        target = tmp_path / f"{threading.get_ident()}.zt"
        tare.convert(path, target, overwrite=True, zstd=1, digest="sha256", threads=2)
        assert tare.verify(target, threads=2).ok and tare.hash(target, threads=2) == digest
        tare.save(target, {"w": tensors[name], "v": m[name]}, overwrite=True)
        with tare.Writer(target, overwrite=True) as writer:
            writer.declare("w", 1000, "f32")
            for _ in range(10):
                writer.write("w", np.ones(100, "f4"))
        assert tare.open(target)["w"].sum() == 1000
        os.remove(target)

    jobs = [read, lazy, shared, whole, beside, work]

    def thread(number):
        for i in range(12 if SANITIZED else 60):
            name = names[(i + number) % len(names)]
            if name == "empty":
                continue
            jobs[(i + number) % len(jobs)](name)

    in_threads(thread)
    m.check()


def test_one_progress_for_each(packed, tmp_path):
    """Callbacks of several conversions at once come to their own threads."""
    path, _ = packed

    def thread(number):
        seen = []
        tare.convert(path, tmp_path / f"{number}.zt", progress=lambda done, total: seen.append(threading.get_ident()))
        assert set(seen) == {threading.get_ident()}

    in_threads(thread)


def test_closing_under_other_threads(packed):
    path, _ = packed
    for _ in range(5 if SANITIZED else 30):
        m = tare.open(path)

        def thread(number):
            if number == 0:
                return m.close()
            try:
                while True:
                    m["layers.0.mlp.weight"].sum()
                    m.tensor("z").numpy()
                    m.attachments  # noqa: B018
            except tare.ClosedError:
                pass

        in_threads(thread)


def test_first_use_by_all_at_once(packed):
    """What is made once and kept (the type of a dtype, the private mapping, the complete model) by whoever comes first."""
    path, expected = packed
    for _ in range(3 if SANITIZED else 20):
        m = tare.open(path)

        def thread(number):
            m.attachments["note.txt"], m.vocabulary, m["complex"], m.load(writable=True)
            np.testing.assert_array_equal(m["k4"], expected["k4"])

        in_threads(thread)
