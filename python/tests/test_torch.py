"""torch, transformers, the package safetensors, ml_dtypes, scipy: as far as they are installed."""

import json
import os
import shutil
import sys
import types
import warnings

import numpy as np
import pytest

import tare


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def tensors(torch):
    generator = torch.Generator().manual_seed(5)
    values = torch.randn(6, 8, generator=generator)
    made = {name: values.to(getattr(torch, name)) for name in ("float64", "float32", "float16", "bfloat16")}
    for name in ("int64", "int32", "int16", "int8", "uint8"):
        made[name] = torch.arange(12).reshape(3, 4).to(getattr(torch, name))
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        if hasattr(torch, name):
            made[name] = values.to(getattr(torch, name))
    made["bool"] = torch.tensor([True, False])
    made["complex64"] = torch.complex(values, values)
    made["scalar"] = torch.tensor(2.5)
    made["empty"] = torch.zeros(0, 3)
    made["transposed"] = values.t()
    made["grad"] = torch.nn.Parameter(values)
    return made


def same(a, b, torch):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(
        a.contiguous().reshape(-1).view(torch.uint8), b.contiguous().reshape(-1).view(torch.uint8)
    )


@pytest.mark.parametrize("suffix", ["safetensors", "zt", "npz"])
def test_torch_round_trip(torch, tmp_path, suffix):
    from tare.safetensors.torch import load, load_file, save, save_file

    path = tmp_path / f"m.{suffix}"
    made = tensors(torch)
    save_file({k: v for k, v in made.items() if k not in ("transposed", "grad")}, path, {"format": "pt"})
    loaded = load_file(path)
    for name, tensor in loaded.items():
        assert same(tensor, made[name].detach(), torch), name
    # May be written to; the file stays as it is.
    before = path.read_bytes()
    loaded["float32"].zero_()
    loaded["bfloat16"].fill_(3)
    assert path.read_bytes() == before
    assert same(load(save({"t": made["transposed"]}))["t"], made["transposed"], torch)
    assert same(load(save({"g": made["grad"]}))["g"], made["grad"].detach(), torch)
    loaded = tare.torch.load(path)
    os.remove(path)
    assert same(loaded["float32"], made["float32"], torch)


def test_torch_slices(torch, tmp_path):
    from tare.safetensors import safe_open

    values = torch.arange(60.0).reshape(6, 10).to(torch.bfloat16)
    for options in ({}, {"zstd": 3}):
        tare.save(tmp_path / "m.zt", {"w": values}, overwrite=True, **options)
        with safe_open(tmp_path / "m.zt", framework="pt") as file:
            part = file.get_slice("w")
            assert part.get_dtype() == "BF16" and part.get_shape() == [6, 10]
            for key in (0, slice(1, 3), (slice(None), slice(2, 5)), ..., (-1, -1)):
                assert torch.equal(part[key], values[key])
            assert torch.equal(file.get_tensor("w"), values)


def test_shared_memory(torch, tmp_path):
    from tare.safetensors.torch import load_model, save_file, save_model

    weight = torch.ones(4, 4)
    with pytest.raises(RuntimeError, match="share memory"):
        save_file({"a": weight, "b": weight.view(-1)}, tmp_path / "m.safetensors")
    save_file({"a": weight[:2], "b": weight[2:]}, tmp_path / "m.safetensors")  # parts that do not overlap

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(4, 4, bias=False)
            self.b = torch.nn.Linear(4, 4, bias=False)
            self.b.weight = self.a.weight

    first, second = Tied(), Tied()
    save_model(first, tmp_path / "t.safetensors")
    assert len(tare.open(tmp_path / "t.safetensors")) == 1
    missing, unexpected = load_model(second, tmp_path / "t.safetensors")
    assert not missing and not unexpected and torch.equal(first.a.weight, second.b.weight)
    with pytest.raises(RuntimeError):
        load_model(torch.nn.Linear(2, 2), tmp_path / "t.safetensors")


def test_dlpack(torch, model_path, arrays, demo):
    m = tare.open(model_path)
    tensor = m.tensor("layers.0.mlp.weight")
    assert tensor.__dlpack_device__() == (1, 0)
    taken = torch.from_dlpack(tensor)
    np.testing.assert_array_equal(taken.numpy(), arrays["layers.0.mlp.weight"])
    quantized = tare.open(demo / "demo.zt").tensor("quantized.k4.weight")
    np.testing.assert_array_equal(torch.from_dlpack(quantized).numpy(), quantized.decode())
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=3)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=False)  # nobody could be told that it is read-only
    del taken
    tensor.__dlpack__(max_version=(1, 0))  # dropped without being taken


def test_writing_through_torch(torch, model_path, arrays):
    """torch takes no notice of read-only flags. What it writes changes neither the file nor other models, and kills nobody."""
    import warnings

    before = model_path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of that itself
        for take in (lambda m: torch.from_dlpack(m.tensor("ids")), lambda m: torch.as_tensor(m.tensor("ids")),
                     lambda m: torch.from_numpy(m["ids"]), lambda m: torch.from_dlpack(m["ids"]), lambda m: m.tensor("ids").torch()):
            m = tare.open(model_path)
            try:
                taken = take(m)
            except (BufferError, RuntimeError):  # an older torch refuses what is read-only
                continue
            taken.zero_()
            assert not m["ids"].flags.writeable and model_path.read_bytes() == before
            np.testing.assert_array_equal(tare.open(model_path)["ids"], arrays["ids"])
            m.check()


def test_torch_types_that_numpy_lacks(torch, tmp_path):
    from tare.safetensors.torch import save, save_file

    with pytest.raises(ValueError, match="to_dense"):
        save({"s": torch.eye(3).to_sparse()})
    if hasattr(torch, "float4_e2m1fn_x2"):
        bits = torch.arange(32, dtype=torch.uint8).reshape(4, 8)
        save_file({"x": bits.view(torch.float4_e2m1fn_x2)}, tmp_path / "m.safetensors")
        tensor = tare.open(tmp_path / "m.safetensors").tensor("x")
        assert tensor.shape == (4, 16) and tensor.layout == "packed.f4_e2m1" and bytes(tensor.bytes()) == bits.numpy().tobytes()
        # Back as torch has them: two in an element.
        loaded = [tare.safetensors.torch.load_file(tmp_path / "m.safetensors")["x"], tare.torch.load(tmp_path / "m.safetensors")["x"]]
        with tare.safetensors.safe_open(tmp_path / "m.safetensors", "pt") as file:
            loaded += [file.get_tensor("x"), file.get_tensors()["x"]]
        for x in loaded:
            assert x.dtype == torch.float4_e2m1fn_x2 and x.shape == (4, 8) and torch.equal(x.view(torch.uint8), bits)


def test_dlpack_to_numpy(model_path, arrays):
    tensor = tare.open(model_path).tensor("layers.0.mlp.weight")
    array = np.from_dlpack(tensor)
    np.testing.assert_array_equal(array, arrays["layers.0.mlp.weight"])


def test_the_package_safetensors(tmp_path, arrays):
    """Ours read by theirs, theirs by ours, and the same bytes."""
    theirs = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    from tare.safetensors.numpy import load_file, save_file

    plain = {k: v for k, v in arrays.items() if k != "complex"}
    save_file(plain, tmp_path / "ours.safetensors", {"a": "b"})
    theirs.save_file(plain, tmp_path / "theirs.safetensors", {"a": "b"})
    for name in ("ours", "theirs"):
        a, b = theirs.load_file(tmp_path / f"{name}.safetensors"), load_file(tmp_path / f"{name}.safetensors")
        assert a.keys() == b.keys()
        for key in a:
            np.testing.assert_array_equal(a[key], b[key])
            np.testing.assert_array_equal(a[key], plain[key])
    from safetensors import safe_open

    with safe_open(tmp_path / "ours.safetensors", "np") as file:
        ours = tare.safetensors.safe_open(tmp_path / "ours.safetensors", "np")
        assert file.keys() == ours.keys() and file.metadata() == ours.metadata()
        assert file.get_slice("ids").get_dtype() == ours.get_slice("ids").get_dtype()
        np.testing.assert_array_equal(file.get_slice("embed.weight")[2:5], ours.get_slice("embed.weight")[2:5])


def test_what_is_read_can_be_saved(tmp_path):
    """Sparse matrices and floats of 4 and 6 bits, as `m[name]` gives them."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    for kind, suffix in (("float4_e2m1fn", "safetensors"), ("float6_e2m3fn", "zt"), ("float6_e3m2fn", "zt")):
        if not hasattr(ml_dtypes, kind):
            continue
        values = np.linspace(-3, 3, 48).reshape(6, 8).astype(getattr(ml_dtypes, kind))
        tare.save(tmp_path / f"{kind}.{suffix}", {"x": values, "t": values.T})
        m = tare.open(tmp_path / f"{kind}.{suffix}")
        assert m["x"].dtype == values.dtype and m.tensor("x").nbytes == 48 * int(kind[5]) // 8
        np.testing.assert_array_equal(m["x"].astype("f4"), values.astype("f4"))
        np.testing.assert_array_equal(m["t"].astype("f4"), values.T.astype("f4"))
        with pytest.raises(ValueError, match="whole bytes"):
            tare.save(tmp_path / "odd.zt", {"x": values.reshape(-1)[:3]})


def test_sparse_can_be_saved(tmp_path):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    random = np.random.default_rng(3)
    dense = np.where(random.random((7, 9)) < 0.3, random.standard_normal((7, 9)), 0).astype("f4")
    matrices = {kind: getattr(sparse, f"{kind}_matrix")(dense) for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")}
    unsorted = sparse.csr_matrix((np.ones(3, "f4"), [2, 0, 2], [0, 3]), shape=(1, 4))  # a column twice, and not in order
    tare.save(tmp_path / "s.zt", {**matrices, "array": sparse.csr_array(dense), "unsorted": unsorted})
    assert tare.verify(tmp_path / "s.zt").ok
    m = tare.open(tmp_path / "s.zt")
    for name in m:
        assert m.tensor(name).layout == ("sparse_coo" if name == "coo" else "sparse_csr")
        np.testing.assert_array_equal(m[name].toarray(), unsorted.toarray() if name == "unsorted" else dense)
    tare.save(tmp_path / "again.zt", dict(m))
    assert tare.diff(tmp_path / "again.zt", tmp_path / "s.zt").same
    parts = {row["role"]: tare._tensor._read(m.tensor("csr"), row["role"]) for row in m.tensor("csr").components}
    tare.save(tmp_path / "parts.zt", {"csr": tare.Sparse("sparse_csr", (7, 9), parts)})
    np.testing.assert_array_equal(tare.open(tmp_path / "parts.zt").tensor("csr").numpy(), dense)
    broken = tare.Sparse("sparse_csr", (7, 9), {**parts, "indices": parts["indices"] + 100})
    tare.save(tmp_path / "broken.zt", {"csr": broken})
    with pytest.raises(ValueError):
        tare.open(tmp_path / "broken.zt")["csr"]


def test_ml_dtypes(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    kinds = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
    made = {kind: np.linspace(-2, 2, 16).astype(getattr(ml_dtypes, kind)).reshape(4, 4) for kind in kinds}
    for suffix in ("zt", "safetensors"):
        path = tmp_path / f"m.{suffix}"
        tare.save(path, made)
        m = tare.open(path)
        for kind, array in made.items():
            assert m[kind].dtype == array.dtype and m[kind].tobytes() == array.tobytes()
            assert m.tensor(kind)[1:3, 0].tobytes() == array[1:3, 0].tobytes()
            assert m.tensor(kind).float32().tobytes() == array.astype("f4").tobytes()
            assert not m[kind].flags.writeable
    assert tare.safetensors.numpy.load_file(tmp_path / "m.safetensors")["bfloat16"].dtype == ml_dtypes.bfloat16


def test_without_ml_dtypes(tmp_path, monkeypatch):
    bits = np.arange(8, dtype="u2")
    data = tare.to_bytes({"w": bits}, format="npz")
    assert tare.open(data)["w"].dtype == np.uint16
    if "ml_dtypes" not in sys.modules:
        path = tmp_path / "m.zt"
        tare.save(path, {"w": np.ones(8, "f4")}, dtype="bf16")
        assert tare.open(path)["w"].dtype in (np.dtype("u2"), tare._dtypes.numpy_dtype("bf16", ""))
        assert tare.open(path).tensor("w").float32().tolist() == [1.0] * 8


def sparse_file(path):
    """A zTensor file with a sparse matrix in both layouts, made by the command's own corpus."""
    root = os.path.join(os.environ.get("TARE_SOURCES", ""), "fuzz", "corpus", "zt")
    if not os.path.isdir(root):
        pytest.skip("the corpus is not here")
    for name in sorted(os.listdir(root)):
        if not name.startswith("reject"):
            try:
                m = tare.open(os.path.join(root, name))
            except tare.Error:
                continue
            for tensor in m.tensors():
                if tensor.layout.startswith("sparse_"):
                    yield m, tensor


def test_sparse_of_narrow_indices():
    """Indices of 32 bits, values of 4, and broken ones: scipy gets only what it can trust."""
    root = os.path.join(os.environ.get("TARE_SOURCES", ""), "fuzz", "corpus", "zt2")
    if not os.path.isdir(root):
        pytest.skip("the corpus is not here")
    good = tare.open(os.path.join(root, "valid.csr_u32"))
    tensor = next(iter(good.tensors()))
    assert tensor.layout == "zt.sparse_csr/1"
    value = good[tensor.name]
    if not isinstance(value, tare.Sparse):
        np.testing.assert_array_equal(value.toarray(), tensor.numpy())
    for name in ("valid.csr_f4", "valid.coo_f4"):
        with tare.open(os.path.join(root, name)) as m:
            tensor = next(iter(m.tensors()))
            np.testing.assert_array_equal(tensor.numpy(), np.array([[1, 0, -0.5], [0, 6, 0]], tensor.dtype))
            value = m[tensor.name]
            if isinstance(value, tare.Sparse):
                np.testing.assert_array_equal(value.parts["values"], np.array([1, -0.5, 6], "f4"))
            else:
                np.testing.assert_array_equal(value.toarray(), tensor.numpy())
    for name in sorted(os.listdir(root)):
        if name.startswith(("reject.zt2.csr.indptr", "reject.zt2.csr.column", "reject.zt2.coo.bounds")):
            with tare.open(os.path.join(root, name)) as m, pytest.raises(ValueError):
                m[next(iter(m))]


def test_sparse(tmp_path):
    found = set()
    for m, tensor in sparse_file(tmp_path):
        value = m[tensor.name]
        dense = tensor.numpy()
        assert dense.shape == tensor.shape and dense.dtype == tensor.dtype
        if isinstance(value, tare.Sparse):
            assert value.shape == tensor.shape and "values" in value.parts
        else:
            np.testing.assert_array_equal(value.toarray(), dense)
        found.add(tensor.layout)
    assert found == {"sparse_csr", "sparse_coo"}
    with pytest.raises(TypeError):
        tare.open(tare.to_bytes({"w": np.ones(2)}, format="npz")).tensor("w").sparse()


@pytest.mark.parametrize("container", ["mistral", "m.gguf", "m.zt", "m.mcf"])
def test_transformers(torch, demo, tmp_path, container):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    path = demo / "mistral"
    if container != "mistral":
        path = tmp_path / container
        tare.convert(demo / "mistral", path)
    state = tare.transformers.state_dict(path)
    expected = tare.open(demo / "mistral")
    assert set(state) == set(expected)
    config = tare.transformers.config(demo / "mistral")
    model = transformers.MistralForCausalLM.from_pretrained(None, config=config, state_dict=state, dtype=torch.float32)
    own = model.state_dict()
    for name in expected:
        assert torch.equal(own[name], torch.from_numpy(expected.tensor(name).float32().copy())), name
    same = tare.transformers.from_pretrained(path, dtype=torch.float32).state_dict()
    assert all(torch.equal(same[name], own[name]) for name in own)
    base = tare.transformers.from_pretrained(path, auto=transformers.AutoModel, dtype=torch.float32)
    assert type(base) is tare.transformers.class_for(transformers.AutoModel, config) is transformers.MistralModel
    assert torch.equal(base.state_dict()["norm.weight"], own["model.norm.weight"])
    with pytest.raises(ValueError, match="AutoModelForTableQuestionAnswering"):
        tare.transformers.class_for(transformers.AutoModelForTableQuestionAnswering, config)
    try:  # what the Auto classes make of it differs between versions of transformers
        auto = transformers.AutoModelForCausalLM.from_pretrained(None, config=config, state_dict=state, dtype=torch.float32)
    except TypeError as error:
        assert "NoneType" in str(error)
    else:
        assert torch.equal(auto.state_dict()["model.norm.weight"], own["model.norm.weight"])
    lazy = next(iter(state.values()))
    assert lazy.is_floating_point() and lazy.numel() == lazy[...].numel() and lazy.shape == lazy[...].shape


def llama_cpp_file(folder, config, name="their.gguf", **options):
    """A GGUF file of a random model, as another program would have written it: without the files of the directory."""
    import torch
    import transformers

    torch.manual_seed(3)
    transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16).save_pretrained(folder / "original")
    tare.convert(folder / "original", folder / name, drop=["attachments"], **options)
    return folder / name, transformers.AutoModelForCausalLM.from_pretrained(folder / "original")


SMALL = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 128, "vocab_size": 160, "bos_token_id": 1, "eos_token_id": 2,
         "pad_token_id": None}  # fmt: skip
CONTAINERS = ["gguf", "zt", "zt2", "mcf", "npz"]


def equal_nets(torch, one, other):
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(a[name].dtype == b[name].dtype and torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("quant", [None, "q8_0"])
def test_transformers_as_from_a_directory(torch, tmp_path, container, quant):
    """A tied Llama: its head is in no file, and GGUF has names and an order of rows of its own."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.LlamaConfig(**SMALL, tie_word_embeddings=True, rope_theta=5000.0)
    file, net = llama_cpp_file(tmp_path, config, quant=quant)
    path = tmp_path / f"model.{container}"
    if container == "gguf":
        path = file
    else:
        tare.convert(file, path, format=container)
    tare.convert(path, f"{tmp_path}/made/")
    expected = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "made")
    for source in (path, tare.open(path), tare.open(path, usual_names=True), tare.open(path.read_bytes())):
        found = tare.transformers.from_pretrained(source)
        assert type(found) is type(expected) and found.config.tie_word_embeddings and found.dtype == expected.dtype
        assert found.lm_head.weight.data_ptr() == found.model.embed_tokens.weight.data_ptr()
        assert equal_nets(torch, found, expected)
        own, theirs = found.config.to_dict(), expected.config.to_dict()
        assert {key for key in own.keys() | theirs.keys() if own.get(key) != theirs.get(key)} <= {"_name_or_path"}
    ids = torch.tensor([[1, 5, 9, 20, 7, 11]])
    with torch.no_grad():
        assert torch.equal(found(ids).logits, expected(ids).logits)
        if quant is None:
            assert torch.equal(found(ids).logits, net.eval()(ids).logits)


@pytest.mark.parametrize("container", ["zt", "zt2", "npz"])
def test_transformers_compares_digests(torch, tmp_path, container):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    file, _ = llama_cpp_file(tmp_path, transformers.LlamaConfig(**SMALL))
    path = tmp_path / f"model.{container}"
    tare.convert(file, path, **({"digest": "sha256"} if container == "zt" else {}))
    data, row = bytearray(path.read_bytes()), tare.open(path).tensors()[3].components[0]
    data[row["offset"] + row["stored_bytes"] // 2] ^= 1
    bad = path.with_name("bad" + path.suffix)
    bad.write_bytes(data)
    good = tare.transformers.from_pretrained(path, verify=True)
    assert equal_nets(torch, good, tare.transformers.from_pretrained(tare.open(path), verify=True))

    def inside():
        with tare.verifying():
            return tare.transformers.from_pretrained(bad)

    for ask in (lambda: tare.transformers.from_pretrained(bad, verify=True), inside,
                lambda: tare.transformers.from_pretrained(tare.open(bad), verify=True),
                lambda: tare.transformers.from_pretrained(tare.open(bad, usual_names=True), verify=True),
                lambda: tare.transformers.from_pretrained(tare.open(bad, verify=True))):  # fmt: skip
        with pytest.raises(tare.CorruptError):
            ask()


def test_transformers_warns_of_other_results(torch, tmp_path):
    """A rope that config.json has no numbers for: `tare convert` warns, and so does whoever asks for the model."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    rope = {"rope_type": "llama3", "rope_theta": 700.0, "factor": 5.5, "low_freq_factor": 1.5, "high_freq_factor": 3.0,
            "original_max_position_embeddings": 50}  # fmt: skip
    file, _ = llama_cpp_file(tmp_path, transformers.LlamaConfig(**SMALL, rope_parameters=rope))
    for ask in (tare.transformers.from_pretrained, tare.transformers.config, tare.transformers.state_dict):
        for source in (file, tare.open(file)):
            with pytest.warns(UserWarning, match="rope_freqs.weight") as told:
                ask(source)
            mine = [one for one in told if "rope_freqs.weight" in str(one.message)]
            assert len(mine) == 1 and mine[0].filename == __file__


def test_transformers_refuses_missing_weights(torch, tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    file, _ = llama_cpp_file(tmp_path, transformers.LlamaConfig(**SMALL))
    tare.convert(file, tmp_path / "less.zt", skip=["blk.1.attn_v.weight"])
    with pytest.raises(ValueError, match="LlamaForCausalLM has 1 weights .*: model.layers.1.self_attn.v_proj.weight"):
        tare.transformers.from_pretrained(tmp_path / "less.zt")
    with pytest.raises(tare.Error, match="model.layers.1.self_attn.v_proj.weight") as error:
        tare.convert(tmp_path / "less.zt", f"{tmp_path}/less/")
    assert error.value.rule == "convert.config" and not (tmp_path / "less").exists()
    # A family that Tare knows nothing of: transformers counts.
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=50, n_positions=16))
    net.save_pretrained(tmp_path / "gpt2")
    assert equal_nets(torch, tare.transformers.from_pretrained(tmp_path / "gpt2"), net)
    tare.convert(tmp_path / "gpt2", tmp_path / "gpt2.zt", skip=["*h.1.mlp.c_fc.weight"])
    with pytest.raises(ValueError, match=r"GPT2LMHeadModel has 1 weights that the file lacks: transformer.h.1.mlp.c_fc.weight"):
        tare.transformers.from_pretrained(tmp_path / "gpt2.zt")
    # What is meant to be new is named.
    classify = transformers.AutoModelForSequenceClassification
    with pytest.raises(ValueError, match="score.weight"):
        tare.transformers.from_pretrained(tmp_path / "gpt2", auto=classify)
    with warnings.catch_warnings(record=True):
        new = tare.transformers.from_pretrained(tmp_path / "gpt2", auto=classify, allow_missing="score.*")
    assert torch.equal(new.transformer.wte.weight, net.transformer.wte.weight)
    with pytest.warns(UserWarning, match="GPT2Model does not use"):
        tare.save(tmp_path / "more.zt", {**dict(tare.open(tmp_path / "gpt2")), "extra": np.ones(2, "f4")},
                  config=tare.open(tmp_path / "gpt2").config)  # fmt: skip
        tare.transformers.from_pretrained(tmp_path / "more.zt", auto=transformers.AutoModel)


def test_transformers_of_models_that_a_conversion_changed(torch, tmp_path):
    """Phi 3's longrope, OLMo 3's theta, rows beyond the tokens, models without a head, from llama.cpp's keys alone."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    factors = {"long_factor": [1.0 + i / 4 for i in range(8)], "short_factor": [1.0 + i / 16 for i in range(8)]}
    phi = transformers.Phi3Config(**SMALL, original_max_position_embeddings=32,
                                  rope_scaling={"rope_type": "longrope", **factors})  # fmt: skip
    olmo = getattr(transformers, "Olmo3Config", None)
    configs = {"phi3": phi, "gemma3": transformers.Gemma3TextConfig(**SMALL, head_dim=16, query_pre_attn_scalar=16)}
    if olmo is not None:
        rope = {"rope_type": "default", "rope_theta": 777.0}
        configs["olmo3"] = olmo(**SMALL, sliding_window=16, rope_parameters={"full_attention": dict(rope), "sliding_attention": rope})
    for name, config in configs.items():
        (tmp_path / name).mkdir()
        file, net = llama_cpp_file(tmp_path / name, config)
        ids = (torch.arange(64)[None] * 7 + 3) % 160
        with torch.no_grad():
            found = tare.transformers.from_pretrained(file).eval()(ids).logits
            assert torch.equal(found, net.eval()(ids).logits), name
    (tmp_path / "bare").mkdir()
    original = tmp_path / "bare" / "original"
    transformers.Qwen3Model(transformers.Qwen3Config(**SMALL, head_dim=16)).save_pretrained(original)
    tare.convert(original, tmp_path / "bare.gguf")
    tare.convert(tmp_path / "bare.gguf", f"{tmp_path}/bare/back/")
    assert set(tare.open(tmp_path / "bare" / "back")) == set(tare.open(original))


def packed_arrays(inputs=64, outputs=16, group=32):
    """A weight as GPTQ stores it, and what it stands for."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 16, (inputs, outputs))
    words = sum(codes[i::8].astype("u4") << np.uint32(4 * i) for i in range(8)).view("i4")
    scales = random.uniform(0.5, 2, (inputs // group, outputs)).astype("f2")
    arrays = {
        "model.layers.0.self_attn.q_proj.qweight": words,
        "model.layers.0.self_attn.q_proj.qzeros": np.full((inputs // group, outputs // 8), 0x77777777, "i4"),
        "model.layers.0.self_attn.q_proj.scales": scales,
        "model.layers.0.self_attn.q_proj.g_idx": (np.arange(inputs) // group).astype("i4"),
    }
    weight = (codes - 8.0) * scales.astype("f4")[np.arange(inputs) // group]
    return arrays, weight.T


def test_packed_arrays(tmp_path):
    """Drop-ins show what is stored; `tare.open` shows the weight."""
    arrays, weight = packed_arrays()
    path = tmp_path / "m.safetensors"
    tare.safetensors.numpy.save_file(arrays, path)
    name = "model.layers.0.self_attn.q_proj.weight"
    m = tare.open(path)
    assert list(m) == [name] and m.tensor(name).layout == "gptq4"
    np.testing.assert_allclose(m[name], weight, rtol=1e-3)
    stored = tare.open(path, arrays=True)
    assert set(stored) == set(arrays)
    assert set(tare.safetensors.numpy.load(path.read_bytes())) == set(arrays)
    loaded = tare.safetensors.numpy.load_file(path)
    with tare.safetensors.safe_open(path, "np") as file:
        assert file.keys() == sorted(arrays)
        for key in arrays:
            np.testing.assert_array_equal(loaded[key], arrays[key])
            np.testing.assert_array_equal(file.get_tensor(key), arrays[key])
            np.testing.assert_array_equal(stored[key], arrays[key])
    import pickle

    assert set(pickle.loads(pickle.dumps(stored))) == set(arrays)


def test_torch_load(torch, tmp_path):
    """Checkpoints of torch, also packed ones: what torch.load gives, without running anything."""
    arrays, weight = packed_arrays()
    packed = {key: torch.from_numpy(value) for key, value in arrays.items()}
    plain = {k: v for k, v in tensors(torch).items() if k != "grad"}
    for state in (plain, packed):
        for legacy in (False, True):
            if legacy:  # torch itself cannot read younger types from its old files
                state = {key: value for key, value in state.items() if "float8" not in key}
            torch.save(state, tmp_path / "m.pt", _use_new_zipfile_serialization=not legacy)
            loaded, theirs = tare.torch.load(tmp_path / "m.pt"), torch.load(tmp_path / "m.pt", weights_only=True)
            assert loaded.keys() == theirs.keys()
            for name in loaded:
                assert same(loaded[name], theirs[name], torch), (name, legacy)
    decoded = tare.torch.load(tmp_path / "m.pt", arrays=False)
    np.testing.assert_allclose(decoded["model.layers.0.self_attn.q_proj.weight"].float().numpy(), weight, rtol=1e-3)

    class Evil:
        def __reduce__(self):
            return os.system, ("touch " + os.fspath(tmp_path / "ran"),)

    torch.save({"w": torch.ones(2), "evil": Evil()}, tmp_path / "evil.pt")
    try:
        tare.torch.load(tmp_path / "evil.pt")
    except tare.Error:
        pass
    assert not (tmp_path / "ran").exists()


def test_torch_load_of_whatever_people_save(torch, tmp_path):
    """As torch.load is called, and with what training writes."""
    import io

    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    adam = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 4)).sum().backward()
    adam.step()
    path = tmp_path / "last.ckpt"
    torch.save({"model": net.state_dict(), "optimizer": adam.state_dict(), "epoch": 3, "note": "x"}, path)
    ckpt = tare.torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict(ckpt["model"])
    assert list(ckpt) == ["model", "optimizer", "epoch", "note"] and ckpt["epoch"] == 3 and ckpt["note"] == "x"
    assert ckpt["optimizer"]["param_groups"][0]["lr"] == 0.001 and ckpt["optimizer"]["state"][0]["exp_avg"].shape == (3, 4)
    adam.load_state_dict(ckpt["optimizer"])
    # In a container with names only, the parts are found by their names.
    tare.convert(path, tmp_path / "last.zt")
    ckpt = tare.torch.load(tmp_path / "last.zt")
    net.load_state_dict(ckpt["model"])
    assert ckpt["epoch"] == 3 and ckpt["note"] == "x" and ckpt.get("step") is None and "model" in ckpt and "nothing" not in ckpt
    assert torch.equal(ckpt["model.0.weight"], ckpt["model"]["0.weight"]) and ckpt["model"]["0"].keys() == {"weight", "bias"}
    with pytest.raises(KeyError):
        ckpt["nothing"]
    import pickle

    assert pickle.loads(pickle.dumps(ckpt))["epoch"] == 3
    state = {k: v for k, v in net.state_dict().items()}
    torch.save(state, tmp_path / "pytorch_model.bin")
    data = (tmp_path / "pytorch_model.bin").read_bytes()
    with open(tmp_path / "pytorch_model.bin", "rb") as file:
        for source in (tmp_path / "pytorch_model.bin", str(tmp_path / "pytorch_model.bin"), file, io.BytesIO(data), data):
            for place in ("cpu", None, torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
                if hasattr(source, "seek"):
                    source.seek(0)
                loaded = tare.torch.load(source, place)
                assert loaded.keys() == state.keys() and all(same(loaded[k], state[k], torch) for k in state)
    # One tensor, and a list of them.
    torch.save(torch.ones(3), tmp_path / "one.pt")
    torch.save([torch.ones(2), torch.zeros(3)], tmp_path / "list.pt")
    assert torch.equal(tare.torch.load(tmp_path / "one.pt"), torch.ones(3))
    assert [t.numel() for t in tare.torch.load(tmp_path / "list.pt")] == [2, 3]
    with pytest.raises(NotImplementedError, match="state_dict"):
        torch.save(net, tmp_path / "whole.pt")
        tare.torch.load(tmp_path / "whole.pt")


def test_torch_load_of_several_files(torch, tmp_path):
    """Shards with an index, and what torch.distributed.checkpoint writes."""
    import json
    import warnings

    state = {k: v for k, v in tensors(torch).items() if k in ("float32", "bfloat16", "int64")}
    folder, weight_map = tmp_path / "shards", {}
    folder.mkdir()
    for i, (name, value) in enumerate(state.items()):
        weight_map[name] = f"pytorch_model-{i + 1:05d}-of-{len(state):05d}.bin"
        torch.save({name: value}, folder / weight_map[name])
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    checkpoint = pytest.importorskip("torch.distributed.checkpoint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is one process
        checkpoint.save({"model": state}, checkpoint_id=os.fspath(tmp_path / "dcp"))
    loaded, distributed = tare.torch.load(folder), tare.torch.load(tmp_path / "dcp")["model"]
    for name, value in state.items():
        assert same(loaded[name], value, torch) and same(distributed[name], value, torch)


@pytest.mark.parametrize("container", ["m.gguf", "q4.gguf", "m.zt", "k4.mcf", "m.npz"])
def test_torch_load_of_other_containers(torch, demo, tmp_path, container):
    options = {"q4.gguf": {"quant": "q4_0"}, "k4.mcf": {"quant": "k4"}}.get(container, {})
    tare.convert(demo / "mistral", tmp_path / container, weights_only=container == "m.npz", **options)
    loaded = tare.torch.load(tmp_path / container)
    with tare.open(tmp_path / container) as m:
        assert loaded.keys() == set(m)
        for name, value in loaded.items():
            assert value.dtype == tare.torch.dtype(m.tensor(name))
            np.testing.assert_array_equal(value.float().numpy(), m.tensor(name).float32())


def test_packed_config(tmp_path):
    """What comes decoded is not said to be packed."""
    arrays, _ = packed_arrays()
    (tmp_path / "m").mkdir()
    tare.safetensors.numpy.save_file(arrays, tmp_path / "m" / "model.safetensors")
    text = '{"model_type": "llama", "hidden_size": 64, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}'
    (tmp_path / "m" / "config.json").write_text(text)
    import importlib

    pytest.importorskip("torch", reason="torch is not installed")
    facts = importlib.import_module("tare.transformers").config_dict(tmp_path / "m")
    assert facts == {"model_type": "llama", "hidden_size": 64}


def stub_of_vllm(monkeypatch, torch):
    """The parts of vLLM that a plug-in meets."""
    loaders = {}

    class BaseModelLoader:
        def __init__(self, load_config):
            self.load_config = load_config

    def register_model_loader(name):
        def register(kind):
            loaders[name] = kind
            return kind

        return register

    root = types.ModuleType("vllm")
    executor = types.ModuleType("vllm.model_executor")
    loader = types.ModuleType("vllm.model_executor.model_loader")
    loader.BaseModelLoader, loader.register_model_loader = BaseModelLoader, register_model_loader
    base = types.ModuleType("vllm.model_executor.model_loader.base_loader")
    base.BaseModelLoader = BaseModelLoader
    for module in (root, executor, loader, base):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return loaders


def test_vllm_plugin(torch, demo, tmp_path, monkeypatch):
    loaders = stub_of_vllm(monkeypatch, torch)
    tare.vllm.register()
    tare.vllm.register()  # vLLM calls plug-ins in every process, and sometimes twice
    tare.convert(demo / "mistral", tmp_path / "model.gguf")

    class Net:
        def __init__(self):
            self.weights = {}

        def load_weights(self, pairs):
            self.weights.update(pairs)
            return set(self.weights)

    for path in (demo / "mistral", tmp_path / "model.gguf", tmp_path):
        loader = loaders["tare"](types.SimpleNamespace(model_loader_extra_config={}))
        config = types.SimpleNamespace(model=os.fspath(path), model_weights=None)
        loader.download_model(config)
        net = Net()
        loader.load_weights(net, config)
        expected = tare.open(demo / "mistral")
        assert set(net.weights) == set(expected)
        for name, weight in net.weights.items():
            np.testing.assert_array_equal(weight.float().numpy(), expected.tensor(name).float32())
    with pytest.raises(ValueError):
        loaders["tare"](types.SimpleNamespace(model_loader_extra_config={"wrong": 1}))
    with pytest.raises(FileNotFoundError):
        loader.download_model(types.SimpleNamespace(model=os.fspath(tmp_path / "nothing"), model_weights=None))


def test_vllm_itself(torch, demo, tmp_path, monkeypatch):
    """The same with vLLM, as far as it goes without a GPU: it finds the plug-in, knows the load format and loads the weights."""
    pytest.importorskip("vllm", reason="vllm is not installed")
    from vllm.config import LoadConfig
    from vllm.model_executor.model_loader import get_model_loader
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader
    from vllm.plugins import load_plugins_by_group

    # What `pip install .` puts next to the package, for a module that is not installed.
    facts = tmp_path / "path" / "tare_plugin-0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: tare-plugin\nVersion: 0\n")
    (facts / "entry_points.txt").write_text("[vllm.general_plugins]\ntare = tare.vllm:register\n")
    monkeypatch.syspath_prepend(tmp_path / "path")
    plugins = load_plugins_by_group("vllm.general_plugins")
    assert "tare" in plugins
    plugins["tare"]()
    loader = get_model_loader(LoadConfig(load_format="tare"))
    assert isinstance(loader, BaseModelLoader) and type(loader).__name__ == "TareModelLoader"
    tare.convert(demo / "mistral", tmp_path / "model.gguf")
    taken = {}
    net = types.SimpleNamespace(load_weights=lambda pairs: taken.update(pairs))
    config = types.SimpleNamespace(model=os.fspath(tmp_path / "model.gguf"), model_weights=None)
    loader.download_model(config)
    loader.load_weights(net, config)
    expected = tare.open(demo / "mistral")
    assert set(taken) == set(expected)
    for name, weight in taken.items():
        np.testing.assert_array_equal(weight.float().numpy(), expected.tensor(name).float32())


def test_trees(model_path, tmp_path):
    tree = tare.numpy.tree(model_path)
    assert tree["layers"]["0"]["mlp"]["weight"].shape == (64, 256)
    assert set(tare.numpy.flat(tree)) == set(tare.open(model_path))
    tare.save(tmp_path / "bad.zt", {"a": np.ones(1), "a.b": np.ones(1)})
    with pytest.raises(ValueError):
        tare.numpy.tree(tmp_path / "bad.zt")


def test_jax(model_path, arrays, tmp_path):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from tare.safetensors import flax, safe_open

    tree = tare.jax.tree(model_path)
    assert isinstance(tree["ids"], jax.Array) and tree["layers"]["0"]["mlp"]["weight"].shape == (64, 256)
    made = {"w": jax.numpy.arange(12.0).reshape(3, 4), "h": jax.numpy.ones(5, jax.numpy.bfloat16), "i": jax.numpy.arange(3)}
    flax.save_file(made, tmp_path / "m.safetensors", {"format": "flax"})
    for loaded in (flax.load_file(tmp_path / "m.safetensors"), flax.load(flax.save(made))):
        assert loaded.keys() == made.keys()
        for name, array in loaded.items():
            assert isinstance(array, jax.Array) and array.dtype == made[name].dtype and (array == made[name]).all()
    for framework in ("flax", "jax"):
        with safe_open(tmp_path / "m.safetensors", framework=framework) as file:
            assert isinstance(file.get_tensor("h"), jax.Array) and file.metadata() == {"format": "flax"}
            assert file.get_slice("w")[1:, 2].tolist() == [6.0, 10.0]
    tare.save(tmp_path / "m.zt", tare.numpy.flat({"a": made}))
    assert tare.jax.tree(tmp_path / "m.zt")["a"]["h"].dtype == jax.numpy.bfloat16
    try:
        from safetensors.flax import load_file as theirs
    except ImportError:
        return
    assert (theirs(tmp_path / "m.safetensors")["w"] == made["w"]).all()


def test_a_blank_is_put_before_any_text(tmp_path, demo):
    """Also before one that begins with blanks, in a vocabulary that has added tokens."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    shutil.copytree(demo / "mistral", tmp_path / "m")
    path = tmp_path / "m" / "tokenizer.json"
    said = json.loads(path.read_text())
    said["model"]["vocab"][95][0] = "<mask>"
    said["added_tokens"].append({**said["added_tokens"][0], "id": 95, "content": "<mask>", "special": False})
    path.write_text(json.dumps(said))
    tare.convert(tmp_path / "m", tmp_path / "m.gguf", drop=["attachments"])
    tare.convert(tmp_path / "m.gguf", f"{tmp_path}/back/")
    theirs, made = (tokenizers.Tokenizer.from_file(str(tmp_path / name / "tokenizer.json")) for name in ("m", "back"))
    assert made.token_to_id("<mask>") == 95
    for text in ("the of", " the", "  the  of ", "   "):
        own, other = (t.encode(text, add_special_tokens=False) for t in (made, theirs))
        assert own.tokens == other.tokens, text
        assert made.decode(own.ids) == theirs.decode(other.ids)
    # No blank is put after an added token.
    assert made.encode("the<mask>the", add_special_tokens=False).tokens[1:3] != ["<mask>", "▁the"]


def test_stored_members_of_a_checkpoint_are_compared(torch, tmp_path):
    """Of a tensor that is a part of its storage, too."""
    values = torch.arange(4096, dtype=torch.float32)
    torch.save({"whole": values.clone(), "part": values[100:200], "turned": values.clone().reshape(64, 64).t()}, tmp_path / "good.pt")
    good = (tmp_path / "good.pt").read_bytes()
    raw, places, at = values.numpy().tobytes(), [], -1
    while (at := good.find(raw, at + 1)) >= 0:
        places.append(at)
    assert len(places) == 3
    for place in places:
        data = bytearray(good)
        data[place + 4 * 150] ^= 1
        (tmp_path / "bad.pt").write_bytes(data)
        with pytest.raises(tare.Error) as error:
            tare.convert(tmp_path / "bad.pt", tmp_path / "out.safetensors")
        assert error.value.rule == "zip.member.crc"
        with pytest.raises(tare.Error):
            tare.torch.load(tmp_path / "bad.pt", verify=True)
