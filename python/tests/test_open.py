"""Opening models and reading tensors."""

import errno
import gc
import json
import os
import pickle
import shutil
import warnings

import numpy as np
import pytest

import tare
from conftest import SANITIZED

# Containers of the demo that hold the types of a model of weights.
CONTAINERS = ["demo.zt", "demo.mcf", "demo.gguf", "demo.npz", "demo.safetensors", "demo.alt", "demo.tllm", "mistral", "k4.mcf"]


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_opens_and_reads(demo, name):
    with tare.open(demo / name) as mapped, tare.open(demo / name, mmap=False) as copied:
        assert list(mapped) == list(copied) and len(mapped) > 0
        assert mapped.info()["tensors"] == len(mapped) == len(mapped.table())
        assert isinstance(mapped.metadata, dict) and isinstance(mapped.config, dict)
        for key in mapped:
            tensor = mapped.tensor(key)
            a, b = mapped[key], copied[key]
            if isinstance(a, np.ndarray):
                assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
                if tensor.layout not in tare._dtypes.PACKED:
                    assert a.shape == tensor.shape and a.dtype == tensor.dtype


def test_mapping(model_path, arrays):
    m = tare.open(model_path)
    assert list(m) == list(m.keys()) and set(m) == set(arrays)
    assert "embed.weight" in m and "nothing" not in m and 3 not in m
    assert m.get("nothing") is None and m.get("nothing", 5) == 5
    for name, array in m.items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype
    assert {k: v.shape for k, v in m.load().items()} == {k: v.shape for k, v in arrays.items()}
    assert m == m and m != tare.open(model_path) and hash(m)
    assert m.metadata == {"name": "test", "deep": {"list": [1, 2.5, None, True, b"\x00\xff"]}}
    assert "8 tensors" in repr(m) and repr(m.tensor("ids")) == "<tare.Tensor 'ids' 3x4 i64>"


def test_arrays_are_views_that_outlive_the_model(model_path, arrays):
    m = tare.open(model_path)
    array, tensor = m["layers.0.mlp.weight"], m.tensor("layers.0.mlp.weight")
    assert not array.flags.writeable and array.flags.aligned and array.base is not None
    with pytest.raises(ValueError):
        array[0, 0] = 1
    with pytest.raises(ValueError):
        array.flags.writeable = True
    part = array[1:3, ::2]
    m.close()
    del m, array
    gc.collect()
    os.remove(model_path)
    np.testing.assert_array_equal(part, arrays["layers.0.mlp.weight"][1:3, ::2])
    np.testing.assert_array_equal(tensor.numpy(), arrays["layers.0.mlp.weight"])


def test_closed(model_path):
    with tare.open(model_path) as m:
        assert not m.closed
    assert m.closed and "closed" in repr(m)
    for attempt in (lambda: m["ids"], lambda: m.tensor("ids"), lambda: len(m), lambda: list(m), lambda: m.metadata,
                    lambda: m.vocabulary, lambda: m.info(), lambda: "ids" in m, m.check, lambda: tare.hash(m)):  # fmt: skip
        with pytest.raises(ValueError) as caught:
            attempt()
        assert isinstance(caught.value, tare.ClosedError)
    m.close()


def test_bytes_in_memory(model_path, arrays):
    data = bytearray(model_path.read_bytes())
    with tare.open(data) as m:
        array = m["ids"]
        with pytest.raises(BufferError):  # the model holds on to it
            data.extend(b"x")
    np.testing.assert_array_equal(array, arrays["ids"])
    with pytest.raises(tare.UnsupportedError):
        tare.open(b"no model")
    with pytest.raises(tare.Error):
        tare.open(b"")


INDICES = [
    0, -1, np.int64(1), slice(None), slice(1, 3), slice(None, None, -1), slice(-3, None, 2), slice(5, 1), Ellipsis, None,
    (0, 1), (slice(None), 2), (..., 0), (None, 1, ..., slice(0, 2)), (slice(1, None, 2), slice(None, None, -3)), (),
    [0, 2], np.array([1, 1, 0]), [], (slice(None), [0, 1]), (slice(10**30),),
]  # fmt: skip


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("name", ["layers.0.mlp.weight", "embed.weight"])
@pytest.mark.parametrize("zstd", [None, 1])
def test_slices_are_numpys(tmp_path, arrays, mmap, name, zstd):
    tare.save(tmp_path / "m.zt", arrays, zstd=zstd)
    tensor, array = tare.open(tmp_path / "m.zt", mmap=mmap).tensor(name), arrays[name]
    for index in INDICES:
        found, expected = tensor[index], array[index]
        np.testing.assert_array_equal(found, expected, err_msg=repr(index))
        assert np.shape(found) == np.shape(expected) and found.dtype == expected.dtype
    mask = np.zeros(array.shape, bool)
    mask[1, 2] = True
    for key in (mask, True, np.array(True), np.array(False), np.array(3), (np.array(1), 2)):
        np.testing.assert_array_equal(tensor[key], array[key])
    for bad in (10**6, -(10**6), (0, 0, 0), (..., ...), "x", 1.5, (0, 10**40), np.array([None]), np.array(1.5)):
        with pytest.raises(IndexError):
            tensor[bad]
    with pytest.raises(ValueError):
        tensor[::0]
    assert len(tensor) == len(array) and tensor.size == array.size and tensor.ndim == array.ndim
    np.testing.assert_array_equal(np.asarray(tensor), array)
    assert np.asarray(tensor, dtype="f8").dtype == "f8"


def test_scalars_and_empty(model_path):
    m = tare.open(model_path)
    assert m["scalar"] == 2.5 and m["scalar"].shape == () and m.tensor("scalar")[()] == 2.5
    assert m["empty"].shape == (0, 4)
    with pytest.raises(TypeError):
        len(m.tensor("scalar"))


def test_lazy_slices_read_little(tmp_path, arrays):
    """A row of a large tensor that is not mapped is read without the rest: the rest is not even there."""
    path = tmp_path / "m.safetensors"
    tare.save(path, {"w": np.arange(1 << 20, dtype="f4").reshape(1024, 1024)})
    m = tare.open(path, mmap=False)
    tensor = m.tensor("w")
    os.truncate(path, 1 << 20)
    os.utime(path)
    with pytest.raises(OSError) as caught:
        tensor[1000]
    assert caught.value.kind == "io"


def test_file_replaced_or_truncated_while_mapped(tmp_path, arrays):
    path = tmp_path / "m.zt"
    tare.save(path, {"w": np.ones(1 << 18, "f4")})
    m = tare.open(path)
    array = m["w"]
    tare.save(path, {"w": np.zeros(1 << 18, "f4")}, overwrite=True)
    assert array.min() == 1  # the old file, as long as somebody looks at it
    m.check()
    with pytest.raises(OSError) as caught:
        m.vocabulary  # would be that of the new file
    assert caught.value.rule == "io.source.changed"
    m = tare.open(path)
    array = m["w"]
    os.truncate(path, 8192)
    assert float(array.sum()) == 0  # what is gone reads as zeros, and nothing crashes
    with pytest.raises(tare.AccessError) as caught:
        m.check()
    assert caught.value.rule == "io.source.shrank"


def test_quantized(demo):
    m = tare.open(demo / "demo.zt")
    tensor = m.tensor("quantized.k4.weight")
    assert tensor.layout == "mcf.k4" and tensor.dtype == np.float32
    whole = tensor.decode()
    assert whole.dtype == np.float32 and whole.shape == tensor.shape
    np.testing.assert_array_equal(m["quantized.k4.weight"], whole)
    np.testing.assert_array_equal(tensor[3], whole[3])
    np.testing.assert_array_equal(tensor[2:5, -4:], whole[2:5, -4:])
    np.testing.assert_array_equal(tensor.float32(), whole)
    assert [row["role"] for row in tensor.components] and len(tensor.bytes()) == tensor.nbytes
    half = m.tensor("layers.0.attention.weight")
    np.testing.assert_array_equal(half.float32(), half.numpy().astype("f4"))
    assert half.cast("f64").numpy().dtype == np.float64
    with pytest.raises(ValueError):
        half.cast("f31")
    with pytest.raises(ValueError):
        tensor.cast("f16", overflow="never")
    with pytest.raises(KeyError):
        tensor._bytes("nothing")


def test_a_cast_to_integers_rounds_only_if_asked(tmp_path):
    path = tmp_path / "fractions.zt"
    tare.save(path, {"w": np.array([1, 2.5, -3], "f4"), "whole": np.array([1, 2, -3], "f4")})
    m = tare.open(path)
    np.testing.assert_array_equal(m.tensor("whole").cast("i8").numpy(), np.array([1, 2, -3], "i1"))
    np.testing.assert_array_equal(m.tensor("w").cast("i8", overflow="clamp").numpy(), np.array([1, 2, -3], "i1"))
    for refused in (
        lambda: m.tensor("w").cast("i8").numpy(),
        lambda: m.tensor("w").cast("bool")[:],
        lambda: tare.save(tmp_path / "out.zt", {"w": m.tensor("w").cast("i8")}),
        lambda: tare.convert(path, tmp_path / "out.zt", dtype="i8"),
    ):
        with pytest.raises(tare.LossyError) as error:
            refused()
        assert error.value.rule == "cast.fraction" and ("accept_overflow", "clamp") in error.value.remedies
    assert not (tmp_path / "out.zt").exists()


def test_statistics(model_path, arrays):
    m = tare.open(model_path)
    array, stats = arrays["layers.0.mlp.weight"], m.tensor("layers.0.mlp.weight").stats()
    assert stats["count"] == array.size and stats["nan"] == 0
    assert stats["min"] == array.min() and stats["max"] == array.max()
    assert abs(stats["mean"] - array.mean(dtype="f8")) < 1e-9 and abs(stats["std"] - array.std(dtype="f8")) < 1e-9
    counts, edges = m.tensor("layers.0.mlp.weight").histogram(10)
    assert counts.sum() == array.size and len(edges) == 11 and edges[0] == array.min()
    empty = m.tensor("empty").stats()
    assert empty["count"] == 0 and all(np.isnan(empty[key]) for key in ("min", "max", "mean", "std"))
    for wrong in ({"first": 2**32 + 2}, {"threads": -1}, {"bins": -3}):
        with pytest.raises(ValueError):
            m.tensor("ids").stats(**wrong)
    assert m.tensor("ids").cast(np.float16).dtype == m.tensor("ids").cast("float16").dtype == np.float16
    assert m.tensor("ids").stats()["max"] == 11 and isinstance(m.tensor("ids").stats()["max"], int)
    with pytest.raises(ValueError):
        m.tensor("ids").histogram(0)


def test_vocabulary_and_attachments(demo, tmp_path):
    m = tare.open(demo / "mistral")
    vocabulary = m.vocabulary
    assert vocabulary is not None and len(vocabulary) == len(vocabulary.tokens) == len(vocabulary.types)
    assert isinstance(vocabulary[0], bytes) and set(vocabulary.types) <= set(tare.Vocabulary.TYPES)
    assert m.config["model_type"] == "mistral"
    assert "config.json" in m.attachments and all(isinstance(data, bytes) for data in m.attachments.values())
    with pytest.raises(KeyError):
        m.attachments["nothing"]
    tare.save(tmp_path / "v.zt", {"w": np.ones(2, "f4")}, vocabulary=vocabulary, attachments={"a/b.txt": b"hi"})
    again = tare.open(tmp_path / "v.zt")
    assert again.vocabulary.tokens == vocabulary.tokens and again.attachments["a/b.txt"] == b"hi"
    assert tare.open(demo / "demo.safetensors").vocabulary is None


def test_names_that_are_not_utf8(tmp_path):
    name = b"\xff weights".decode("utf-8", "surrogateescape")
    tare.save(tmp_path / "m.npz", {"ok": np.ones(2, "f4"), "naïve-日本": np.ones(2, "f4")})
    assert set(tare.open(tmp_path / "m.npz")) == {"ok", "naïve-日本"}
    with pytest.raises(tare.TensorNotFoundError):
        tare.open(tmp_path / "m.npz")[name]


def test_a_missing_name_costs_little(tmp_path):
    """Hints are not looked for at all by `get`."""
    from unittest import mock

    from tare import _tare

    tare.save(tmp_path / "m.safetensors", {f"{i:04}" + "n" * 180: np.ones(1, "f4") for i in range(300)})
    m = tare.open(tmp_path / "m.safetensors")
    asked = []
    with mock.patch.object(_tare, "nearest", lambda name, names, most: asked.append(len(names)) or []):
        assert m.get("x" * 184) is None and not asked
        with pytest.raises(tare.TensorNotFoundError):
            m["x" * 184]
    assert asked == [300]


def test_unknown_names(model_path):
    m = tare.open(model_path)
    with pytest.raises(KeyError) as caught:
        m["layers.0.mlp.weigth"]
    error = caught.value
    assert isinstance(error, tare.Error) and error.near[0] == "layers.0.mlp.weight" and "did you mean layers.0.mlp.weight?" in str(error)
    for key in (3, None, b"ids", 1.5, (), ("ids",), ("ids", "scalar")):
        for ask in (m.__getitem__, m.tensor):
            with pytest.raises(KeyError):
                ask(key)
        assert m.get(key) is None and key not in m
    with pytest.raises(TypeError):
        m[[1]]


def test_another_current_directory(model_path, tmp_path, monkeypatch, arrays):
    """A relative path is where it was when the model was opened."""
    monkeypatch.chdir(tmp_path)
    m = tare.open("model.zt")
    assert "'model.zt'" in repr(m)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    tare.save("model.zt", {"another": np.ones(2)})
    assert m.info()["tensors"] == len(arrays) and m.vocabulary is None
    assert list(pickle.loads(pickle.dumps(m))) == list(arrays)
    tare.save("copy.zt", m)
    assert list(tare.open("copy.zt")) == list(arrays)


def test_errors(tmp_path, model_path):
    with pytest.raises(FileNotFoundError) as caught:
        tare.open(tmp_path / "nothing.zt")
    assert caught.value.kind == "not_found" and caught.value.rule == "io.open.missing"
    assert caught.value.file == caught.value.filename == str(tmp_path / "nothing.zt")
    assert caught.value.errno == errno.ENOENT and caught.value.strerror
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.errno == errno.ENOENT and again.filename == caught.value.filename and str(again) == str(caught.value)
    data = bytearray(model_path.read_bytes())
    data[-12:] = bytes(12)
    (tmp_path / "bad.zt").write_bytes(data)
    with pytest.raises(ValueError) as caught:
        tare.open(tmp_path / "bad.zt")
    error = caught.value
    assert isinstance(error, tare.CorruptError) and error.rule.startswith("zt.") and error.sentence
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.__dict__ == error.__dict__
    with pytest.raises(FileExistsError) as caught:
        tare.save(model_path, {"w": np.ones(2, "f4")})
    assert caught.value.remedy == "overwrite=True replaces it" and "overwrite=True" in str(caught.value)
    assert caught.value.errno == errno.EEXIST
    with pytest.raises(NotImplementedError):
        tare.open(__file__)
    with pytest.raises(TypeError):
        tare.open(3.5)
    with pytest.raises(TypeError):
        tare.open(model_path, wrong=1)
    with pytest.raises(ValueError):
        tare.open("a\0b")
    with pytest.raises(ValueError):
        tare.open(model_path, threads=-1)
    assert pickle.loads(pickle.dumps(tare.open(model_path)))["scalar"] == 2.5
    with pytest.raises(TypeError):
        pickle.dumps(tare.open(model_path).tensor("ids"))


def test_permission(tmp_path, model_path):
    if os.geteuid() == 0:  # who may do anything
        error = tare._errors.make({"kind": "io", "rule": "io.open.refused", "sentence": "cannot open: Permission denied", "text": "x",
                                   "file": "x", "item": None, "offset": None, "subject": "input", "remedies": []})  # fmt: skip
    else:
        os.chmod(model_path, 0)
        with pytest.raises(PermissionError) as caught:
            tare.open(model_path)
        error = caught.value
    assert isinstance(error, tare.AccessError) and isinstance(error, PermissionError) and error.errno == errno.EACCES


def test_every_rejected_file_is_an_exception():
    """The corpus of broken files: never a crash, and always an Error with its rule."""
    root = os.path.join(os.environ.get("TARE_SOURCES", ""), "fuzz", "corpus")
    if not os.path.isdir(root):
        pytest.skip("the corpus is not here")
    seen = 0
    for folder, _, files in os.walk(root):
        for name in files:
            if not name.startswith("reject"):
                continue
            seen += 1
            try:
                with tare.open(os.path.join(folder, name)) as m:
                    m.load()
            except (tare.Error, MemoryError) as error:
                assert isinstance(error, MemoryError) or error.rule
    assert seen > 100


def test_open_and_close_do_not_leak(model_path):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def cycle(count):
        for _ in range(count):
            m = tare.open(model_path)
            m["ids"], m.tensor("scalar").numpy(), m.metadata
            m.close()

    cycle(500)
    gc.collect()
    before, files = resident(), descriptors()
    cycle(500 if SANITIZED else 10000)
    gc.collect()
    assert descriptors() == files
    if not SANITIZED:
        assert resident() - before < 4 << 20


WITHOUT_TORCH = """
import inspect, pydoc, sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "jax", "vllm", "transformers", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nowhere())
import tare

members = dict(inspect.getmembers(tare))
assert "open" in members and "Writer" in members and "torch" not in members, members
assert len(dir(tare)) == len(set(dir(tare))) and "torch" in dir(tare)
text = pydoc.plain(pydoc.render_doc(tare))
assert "convert(" in text and "Model-weight files in Python" in text
assert not hasattr(tare, "torch")
for statement in ("import tare.torch", "from tare import torch"):
    try:
        exec(statement)
    except ImportError as error:
        assert "torch" in str(error)
    else:
        raise AssertionError(statement)
try:
    tare.torch
except AttributeError as error:
    assert "No module named 'torch'" in str(error)
"""


def test_help_without_the_packages_it_can_use():
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_reprs_say_the_verdict(tmp_path):
    tare.save(tmp_path / "a.zt", {"w": np.ones(4, "f4"), "v": np.ones(2)})
    tare.save(tmp_path / "b.zt", {"w": np.zeros(4, "f4"), "v": np.ones(2)})
    assert repr(tare.diff(tmp_path / "a.zt", tmp_path / "a.zt")).startswith("Difference(same=True, different_tensors=0")
    assert repr(tare.diff(tmp_path / "a.zt", tmp_path / "b.zt")).startswith("Difference(same=False, different_tensors=1")
    assert repr(tare.verify(tmp_path / "a.zt")).startswith("Verification(ok=True, errors=0, warnings=0")
    data = bytearray((tmp_path / "a.zt").read_bytes())
    data[-1] ^= 1
    (tmp_path / "a.zt").write_bytes(data)
    assert repr(tare.verify(tmp_path / "a.zt")).startswith("Verification(ok=False, errors=1")


def test_lossy_says_whether_values_were_rounded(tmp_path):
    tare.save(tmp_path / "a.zt", {"w": np.linspace(-1, 1, 512, dtype="f4").reshape(2, 256)})
    assert not tare.convert(tmp_path / "a.zt", tmp_path / "b.npz").lossy
    for options in ({"quant": "q2_k"}, {"dtype": "f16"}):
        done = tare.convert(tmp_path / "a.zt", tmp_path / "b.gguf", overwrite=True, **options)
        assert done.lossy and repr(done).startswith("Conversion(lossy=True") and "&#9888;" in done._repr_html_()
    assert tare.quantize(tmp_path / "a.zt", tmp_path / "c.gguf", "q8_0").lossy


def test_findings_about_several_tensors_count_for_each(tmp_path):
    rows = {f"w{i}": {"dtype": "F32", "shape": [3], "data_offsets": [8 * i, 8 * i + 8]} for i in range(9)}
    header = json.dumps(rows).encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(72))
    found = tare.verify(tmp_path / "a.safetensors")
    total = sum(finding.count for finding in found.findings if finding.severity == "error")
    assert total > len(found.findings) and f"errors={total}" in repr(found) and f"{total} errors" in found._repr_html_()


def test_hints_are_those_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tare.save("mistral.zt", {"w": np.ones((2, 256), "f4")})
    for path, words in (
        ("mistrl.zt", "did you mean mistral.zt?"),
        ("ftp://example.org/m.gguf", "Tare reads https://, http://, hf:// and s3:// addresses: fetch the file first"),
        ("owner/model", "its address is hf:owner/model"),
    ):
        for work in (tare.open, tare.verify, lambda path: tare.convert(path, "out.zt")):
            if work is tare.verify:
                continue  # a finding, not an error
            with pytest.raises(FileNotFoundError) as caught:
                work(path)
            assert words in str(caught.value) and caught.value.errno == 2, caught.value
    with pytest.raises(ValueError, match="there is no method q4km; did you mean q4_k_m?"):
        tare.convert("mistral.zt", "out.gguf", quant="q4km")
    with pytest.raises(ValueError, match="does not write it"):
        tare.convert("mistral.zt", "out.gguf", quant="q8_k")
    with pytest.raises(ValueError, match="there is no type bf61; did you mean bf16?"):
        tare.convert("mistral.zt", "out.gguf", dtype="bf61")
    for wrong in (({"w": np.ones(2)}, "x.npz"), (tare.open("mistral.zt"), "x.npz")):
        with pytest.raises(TypeError, match=r"the path comes first: tare.save\(path, tensors\)"):
            tare.save(*wrong)


def test_help_begins_with_what_there_is():
    lines = tare.__doc__.splitlines()
    named = {word.strip(",:;") for line in lines for word in line.split()}
    assert all(name in named for name in tare.__all__), set(tare.__all__) - named
    assert {"Writer", "plan", "Plan", "Task"} <= set(tare.__all__) and not {"__dir__", "__getattr__", "_tare"} & set(dir(tare))
    for function in (tare.convert, tare.quantize, tare.save, tare.to_bytes, tare.plan, tare.Writer.__init__):
        text = function.__doc__ or tare.Writer.__doc__
        assert "{keywords}" not in text
    explained = tare.convert.__doc__
    for keyword in __import__("inspect").signature(tare.convert).parameters:
        assert keyword in explained, keyword
    assert "Returns a Conversion" in explained and "Raises" in explained and "--" not in explained


def test_a_vocabulary_in_a_notebook(demo):
    page = tare.open(demo / "mistral").vocabulary._repr_html_()
    assert "96 tokens" in page and "bos 1" in page and "and 36 more" in page and "&lt;unk&gt;" in page


def test_methods_differ_by_bits():
    methods = tare.methods()
    assert len({methods[f"group{bits}"] for bits in (2, 4, 8)}) == 3 and "2 bits" in methods["group2"]


def test_sparse_halves_are_parts():
    """scipy has no arithmetic for them; the page says so."""
    parts = {"indptr": np.array([0, 1, 2], "u8"), "indices": np.array([0, 1], "u8"), "values": np.array([1, 2], "f2")}
    with tare.open(tare.to_bytes({"s": tare.Sparse("sparse_csr", (2, 2), parts)}, format="zt")) as m:
        assert isinstance(m["s"], tare.Sparse) and m["s"].parts["values"].dtype == np.float16
        np.testing.assert_array_equal(m.tensor("s").numpy(), np.diag([1, 2]).astype("f2"))


def odd_gguf(folder, demo):
    """A GGUF file as another program writes it, with divisors of a rope that no config.json is known for."""
    shutil.copytree(demo / "mistral", folder / "odd")
    config = json.loads((folder / "odd" / "config.json").read_text())
    config.update(model_type="llama", architectures=["LlamaForCausalLM"], sliding_window=None)
    config["rope_scaling"] = {
        "rope_type": "llama3", "factor": 5.5, "low_freq_factor": 1.5, "high_freq_factor": 3.0,
        "original_max_position_embeddings": 50,
    }  # fmt: skip
    (folder / "odd" / "config.json").write_text(json.dumps(config))
    tare.convert(folder / "odd", folder / "odd.gguf", drop=["attachments"])
    return folder / "odd.gguf"


def test_usual_names_warn_of_other_results(tmp_path, demo):
    """What `tare convert` warns of is no secret of the model that is opened in its directory's form."""
    path = odd_gguf(tmp_path, demo)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = tare.open(path)
        assert not told
        tare.open(path, usual_names=True)
        model._like(usual_names=True)
        tare.open(path.read_bytes(), usual_names=True)
        model._settings()
        model._settings()
    assert len(told) == 4 and all("rope_freqs.weight" in str(one.message) for one in told)
    assert all(one.filename == __file__ for one in told)


def test_a_tokenizer_is_understood_or_told_of(tmp_path, demo):
    shutil.copytree(demo / "mistral", tmp_path / "m")
    path = tmp_path / "m" / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    quiet = tare.convert(tmp_path / "m", tmp_path / "quiet.gguf")
    assert not any("rstrip" in change["text"] for change in quiet.changes)
    tokenizer["added_tokens"][-1]["rstrip"] = True
    path.write_text(json.dumps(tokenizer))
    told = tare.convert(tmp_path / "m", tmp_path / "told.gguf")
    assert any("(rstrip)" in change["text"] and change["impact"] == "results" for change in told.changes)


def test_rows_are_read_in_blocks(tmp_path, monkeypatch):
    """What is compressed is not decompressed from its start for every row."""
    big = np.zeros((32768, 1024), "f2")  # 128 MiB as it is counted
    big[:, 5] = np.arange(32768) % 1000
    np.savez_compressed(tmp_path / "c.npz", big=big, small=big[:300], one=big[:500, 5])
    tensors = {"big": big, "small": big[:300], "one": big[:500, 5]}
    read, original = [], tare.Tensor.__getitem__

    def counted(self, key):
        if self._view() is None:
            read.append(key)
        return original(self, key)

    monkeypatch.setattr(tare.Tensor, "__getitem__", counted)
    with tare.open(tmp_path / "c.npz", max_expansion=1000) as m:
        for name, array in tensors.items():
            tensor, count = m.tensor(name), 0
            for row, expected in zip(tensor, array, strict=True):
                assert type(row) is type(expected) and row.dtype == expected.dtype and np.array_equal(row, expected)
                if count == 7:
                    single = tensor[7]
                    assert type(single) is type(row) and single.shape == row.shape
                    assert row.ndim == 0 or (row.flags.writeable and row.flags.c_contiguous and row.flags.owndata)
                count += 1
            assert len(read) <= 17 + 1, name
            read.clear()
        wanted = np.random.default_rng(3).integers(-32768, 32768, 9000)
        assert np.array_equal(m.tensor("big")[wanted], big[wanted]) and len(read) <= 18
        read.clear()
        with pytest.raises(IndexError):
            m.tensor("big")[np.append(wanted, 32768)]


def test_a_repr_shows_no_controls(tmp_path):
    """A layout, a type and a kind are text of the file: a terminal must not obey them."""
    tare.save(tmp_path / "a.zt", {"w": np.ones(3, "f4")})
    data = (tmp_path / "a.zt").read_bytes()
    assert data.count(b"dense") == 1
    model = tare.open(data.replace(b"dense", b"\x1b[31m"))
    kinds = tare._model.Vocabulary({"kind": "\x1b]0;owned\x07\u202e", "tokens": []})
    for shown in (repr(model), repr(model.tensor("w")), repr(kinds)):
        assert shown.isprintable(), ascii(shown)
    assert "\\x1b[31m" in repr(model.tensor("w"))
