"""Eight threads on one model. This is what the thread sanitizer runs (preset tsan)."""

import os
import signal
import sys
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


@pytest.fixture
def switching():
    """Python's threads take turns after every few steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("target", ["w.zt", "w.safetensors", "w.mcf"])
@pytest.mark.parametrize("early", [True, False])
def test_threads_feed_one_writer(tmp_path, switching, target, early):
    """Each of them tensors of its own; what is in the file is what they fed."""
    count = 5 if SANITIZED else 20
    for turn in range(2 if SANITIZED else 12):
        names = [[f"t{j}.{i}" for i in range(count)] for j in range(THREADS)]
        with tare.Writer(tmp_path / target, overwrite=True) as writer:
            for name in sum(names, []) if early else ():
                writer.declare(name, (64,), "f4")

            def feed(j):
                for i, name in enumerate(names[j]):
                    if not early:
                        writer.declare(name, (64,), "f4")
                    for part in (0, 32):
                        writer.write(name, np.full(32, 1000 * j + i, "f4"))

            in_threads(feed)
        with tare.open(tmp_path / target) as m:
            assert len(m) == THREADS * count
            for j in range(THREADS):
                for i, name in enumerate(names[j]):
                    assert (m[name] == 1000 * j + i).all(), name
        assert tare.verify(tmp_path / target).ok


def test_a_writer_is_closed_while_others_feed_it(tmp_path, switching):
    """Each of them gets ClosedError, sooner or later; the file is whole, and has what was complete by then."""
    for turn in range(2 if SANITIZED else 10):
        writer = tare.Writer(tmp_path / "w.zt", overwrite=True)
        for i in range(100):
            writer.add(f"a{i}", np.full(16, i, "f4"))
        fed = []

        def feed(j):
            if j == 0:
                return writer.close()
            with pytest.raises(tare.ClosedError):
                for i in range(100000):
                    writer.add(f"b{j}.{i}", np.full(16, i, "f4"))
                    fed.append((f"b{j}.{i}", i))

        in_threads(feed, 4)
        assert tare.verify(tmp_path / "w.zt").ok
        with tare.open(tmp_path / "w.zt") as m:
            assert len(m) == 100 + len(fed)
            assert all((m[f"a{i}"] == i).all() for i in range(100)) and all((m[name] == i).all() for name, i in fed)


def test_the_extension_takes_no_pieces_while_it_saves(tmp_path):
    """Also of a caller who goes around the writer's lock."""
    writer = tare.Writer(tmp_path / "w.zt")
    writer.add("a", np.ones(16, "f4"))
    placed = writer._placed
    attempts = []

    def report(done, expected):
        for attempt in (lambda: tare._tare._put(placed, 0, b"x"), lambda: tare._tare._reserve(placed, 1 << 20, 8),
                        lambda: writer.add("b", np.ones(3)), lambda: writer.declare("b", 3, "f4"), writer.discard):  # fmt: skip
            with pytest.raises(tare.ClosedError):
                attempt()
            attempts.append(attempt)
        assert writer.close() is None

    writer._progress = report
    assert placed is not None and writer.close().tensors == 1
    assert attempts and tare.verify(tmp_path / "w.zt").ok and list(tare.open(tmp_path / "w.zt")) == ["a"]


def test_a_writer_whose_first_piece_was_refused(tmp_path):
    """The next one is refused for the same reason."""
    (tmp_path / "w.zt").write_bytes(b"precious")
    with pytest.raises(FileExistsError), tare.Writer(tmp_path / "w.zt") as writer:
        writer.declare("a", 4, "f4")
        for attempt in range(2):
            with pytest.raises(FileExistsError):
                writer.write("a", bytes(16))
        writer.write("a", bytes(16))
    assert (tmp_path / "w.zt").read_bytes() == b"precious"


def test_a_writer_is_not_entered_twice_by_one_thread(tmp_path, monkeypatch):
    """Of a signal handler, or of the piece itself. Nothing is changed, and the outer call goes on."""
    refused = []

    def enter():
        for attempt in (lambda: writer.declare("late", 1, "f4"), lambda: writer.write("w", np.full(1, 9, "f4")),
                        lambda: writer.add("late", np.ones(1, "f4")), writer.close, writer.discard):  # fmt: skip
            with pytest.raises(tare.UsageError) as error:
                attempt()
            refused.append(error.value.rule)

    class Size:
        def __index__(self):
            enter()
            return 4

    class Piece:
        def __array__(self, dtype=None, copy=None):
            enter()
            return np.full(2, 1, "f4")

    put = tare._tare._put

    def interrupted(*arguments):  # where a signal handler runs
        enter()
        put(*arguments)

    with tare.Writer(tmp_path / "w.zt") as writer:
        writer.declare("w", (Size(),), "f4")
        writer.write("w", Piece())
        monkeypatch.setattr(tare._tare, "_put", interrupted)
        writer.write("w", np.full(2, 2, "f4"))
        monkeypatch.undo()
        writer.add("v", Piece())
    assert refused == ["python.nested"] * 20
    with tare.open(tmp_path / "w.zt") as m:
        assert sorted(m) == ["v", "w"] and m["w"].tolist() == [1, 1, 2, 2] and m["v"].tolist() == [1, 1]


@pytest.mark.skipif(SANITIZED, reason="sanitizers have threads of their own, which a child of fork lacks")
@pytest.mark.parametrize("raises", [False, True])
def test_a_child_of_fork_does_not_wait_for_the_thread_of_its_parent(packed, tmp_path, raises):
    """It gets an error and can use the module; the parent's work goes on."""
    parent, children = os.getpid(), []

    def report(done, expected):
        if children:
            return
        children.append(os.fork())
        if os.getpid() != parent:
            signal.alarm(60)  # ends a child that waits forever
            if raises:
                raise RuntimeError("of the child")

    path, _ = packed
    good = False
    try:
        tare.convert(path, tmp_path / "out.zt", progress=report)
    except BaseException as error:  # noqa: BLE001
        good = str(error) == "of the child" if raises else getattr(error, "rule", "") == "python.fork"
    finally:
        if os.getpid() != parent:
            good = good and len(tare.open(path)) > 0 and tare.verify(path).ok
            os._exit(0 if good else 1)
    assert len(children) == 1 and os.waitpid(children[0], 0)[1] == 0
    assert tare.verify(tmp_path / "out.zt").ok
