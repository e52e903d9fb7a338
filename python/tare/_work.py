"""Saving, converting, quantizing, verifying, hashing and comparing models."""

import builtins
import collections.abc
import os
import sys

import numpy as np

from . import _dtypes, _paths, _progress, _tare
from ._errors import UsageError, WrongTypeError
from ._model import Model, Vocabulary
from ._options import as_taken, takes, with_recipe
from ._paths import path_of
from ._tensor import Sparse, Tensor

# The part of `tare` that is here: a new function needs no other list.
__all__ = [
    "Conversion", "Difference", "Finding", "Quantized", "Saved", "Verification", "convert", "diff", "families", "formats", "hash", "methods",
    "quantize", "save", "to_bytes", "verify",
]  # fmt: skip


class Record:
    """Facts with names. (dataclasses would take half of the time of `import tare`.)"""

    def __init__(self, **facts):
        self.__dict__.update(facts)

    def _verdict(self):
        """What the repr shows first, as a dict."""
        return {}

    def __repr__(self):
        facts = self._verdict()
        facts.update((name, value) for name, value in self.__dict__.items() if not isinstance(value, (list, dict)))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in facts.items())})"

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None


class Saved(Record):
    """What was written."""

    format: str
    tensors: int
    bytes: int  # size of all tensors, decompressed
    file_bytes: int
    changes: list  # dicts: what is not as it was; 'text' is the sentence
    lost: list  # dicts: keys of a file for which the target has no field

    @property
    def lossy(self):
        """Whether values were rounded, or something is not in the output."""
        return bool(self.lost) or any(change["lossy"] for change in self.changes)

    def _verdict(self):
        return {"lossy": self.lossy, "changes": len(self.changes)}

    def _repr_html_(self):
        from . import _html

        return _html.saved(self)


class Conversion(Saved):
    """What was converted."""

    source_format: str


class Quantized(Conversion):
    """What was quantized: `report` has a dict for each tensor, ready for pandas.DataFrame."""

    report: list

    @property
    def bits_per_weight(self):
        weights = sum(row["weights"] for row in self.report)
        return 8 * sum(row["bytes"] for row in self.report) / weights if weights else 0.0

    @property
    def relative_rms(self):
        """The error of all tensors whose error was measured, relative to their size."""
        measured = [row for row in self.report if row["squared_error"] is not None]
        total = sum(row["squared_sum"] for row in measured)
        return (sum(row["squared_error"] for row in measured) / total) ** 0.5 if total else 0.0

    def _verdict(self):
        return {"bits_per_weight": round(self.bits_per_weight, 2), "relative_rms": float(f"{self.relative_rms:.3g}")}

    def _repr_html_(self):
        from . import _html

        return _html.quantized(self)


class Finding(Record):
    """One thing that is wrong with a file, or worth knowing."""

    severity: str  # 'error', 'warning' or 'note'
    kind: str
    rule: str
    sentence: str
    file: str
    item: str
    offset: int
    remedies: list
    count: int  # more than 1: tensors in a row that break the same rule; `item` is the first of them, `last` the last
    last: str


class Verification(Record):
    """What `verify` found. True if there is no error (see also `strict`)."""

    format: str
    version: str
    tensors: int
    bytes: int
    findings: list

    @property
    def ok(self):
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def strict(self):
        """Whether there is no warning either."""
        return not any(finding.severity != "note" for finding in self.findings)

    def __bool__(self):
        return self.ok

    def _verdict(self):
        return {"ok": self.ok, "errors": self._count("error"), "warnings": self._count("warning")}

    def _count(self, severity):
        """As the command counts: a finding about several tensors counts for each."""
        return sum(finding.count for finding in self.findings if finding.severity == severity)

    def _repr_html_(self):
        from . import _html

        return _html.verification(self)


class Difference(Record):
    """What differs between two models. True if something does."""

    compared: int
    tensors: list  # a dict for each tensor that differs
    metadata: list  # a dict for each key

    @property
    def same(self):
        return not self.tensors and not self.metadata

    def __bool__(self):
        return not self.same

    def _verdict(self):
        return {"same": self.same, "different_tensors": len(self.tensors), "different_metadata": len(self.metadata)}

    def _repr_html_(self):
        from . import _html

        return _html.difference(self)


@takes("save")
def save(path, tensors, *, metadata=None, config=None, vocabulary=None, attachments=None, progress=None, **options):
    """Writes tensors to a file, or to a directory of Hugging Face's layout (a path that ends in /). Whole or not at all.

    tensors      a model, or a mapping from names to arrays (NumPy, torch, JAX, anything with __array__ or DLPack) or to
                 tensors of models. Strided arrays are written in the usual order.
    metadata     a dict of texts, numbers, bytes, lists and dicts
    config       a dict of hyper-parameters; keys that Tare does not know go into an attached config.json
    vocabulary   of another model (m.vocabulary)
    attachments  a mapping from names to bytes, or to paths. A config.json and a tokenizer's files among them describe the
                 model: its config and vocabulary are read from them, and a `config` or `vocabulary` that contradicts them
                 is refused. Such files of a model stay unless they are replaced; its other files are replaced by these
    format       its name ('zt', 'safetensors', ...); by default that of the suffix

    If `tensors` is a model, its metadata, config, vocabulary and attachments are written, too; what is given here replaces
    them.

    {keywords}

    Returns a Saved: the format, the sizes, and what is not as it was. Raises a subclass of tare.Error, and leaves what the path
    held before.
    """
    options = as_taken("save", "save", options)
    if isinstance(path, (Model, collections.abc.Mapping)):
        raise WrongTypeError("the path comes first: tare.save(path, tensors)")
    path = path_of(path)
    base, rows = _rows(tensors)
    parts = _parts(metadata, config, vocabulary, attachments)
    with _progress.reporter(progress, "saving") as report:
        return _saved(Saved, _tare._save(path, rows, base, parts, options, report))


@takes("save")
def to_bytes(tensors, *, format, metadata=None, config=None, vocabulary=None, attachments=None, **options):
    """The bytes of the file that `save` would write.

    {keywords}
    """
    base, rows = _rows(tensors)
    parts = _parts(metadata, config, vocabulary, attachments)
    options = as_taken("to_bytes", "save", {"format": format, **options})
    return _tare._save(None, rows, base, parts, options, None)


@takes("convert")
def convert(source, target, *, progress=None, **options):
    """Takes a model from one container to another, in bounded memory. The target appears whole or not at all.

    source        a file, or a model's directory
    target        a path. One that ends in / is a directory
    quant         a method ('k4', 'q4_k_m'), or a dict as for `quantize`: {'method': 'k4', 'keep': '*norm*'}
    overflow      'error', 'clamp' or 'infinity': what to do with values that `dtype` cannot hold
    zstd          a level, or True for 3
    digest        'sha256', 'crc32c', 'xxh3', 'xxh3-128' or 'none': store one with each tensor
    match, skip   a glob over names of tensors, or several: convert only these; omit these
    drop          what may be omitted: 'metadata', 'config', 'vocabulary', 'attachments', 'attributes'
    metadata      a dict of keys to set
    progress      True for a bar (tqdm if installed), or a function of (done, expected) bytes

    {keywords}

    Returns a Conversion: the formats, the sizes, `changes` (a dict for each thing that is not as it was; 'text' is the sentence)
    and `lossy`. Raises a subclass of tare.Error (NotFoundError, CorruptError, LossyError, ExistsError, ...), and leaves what the
    target held before.
    """
    options = as_taken("convert", "convert", options)
    with _progress.reporter(progress, "converting") as report:
        done = _tare._convert(source, target, options, report)
    return _saved(Conversion, done, source_format=done["from"])


@takes("quantize")
def quantize(source, target, method=None, *, progress=None, **options):
    """Converts with fewer bits per weight, and reports what that cost.

    method      for all float matrices: 'k4', a mix such as 'q4_k_m' or 'q4_0', ...; see tare.methods()
    pure        with a mix: its main method for all tensors that it quantizes
    bits        instead of a method: chooses one for each tensor, so that all take at most this many bits per weight on average
    rules       pairs (glob, method) or a dict of them; the first match decides
    keep        globs of tensors to leave as they are
    importance  a file that states which columns matter: what tare.calibrate writes, or an imatrix of llama.cpp

    {keywords}

    Returns a Quantized: a Conversion with `report` (a dict for each tensor), `bits_per_weight` and `relative_rms`. Raises what
    `convert` raises.
    """
    options = as_taken("quantize", "quantize", {"method": method, **options})
    if method is None and options.get("bits") is None and not options.get("rules"):
        raise ValueError("give a method, rules or bits")
    if method is not None and options.get("bits") is not None:
        raise ValueError("bits chooses the methods itself; give one of the two")
    with _progress.reporter(progress, "quantizing") as report:
        done = _tare._convert(source, target, with_recipe(options), report)
    return _saved(Quantized, done, source_format=done["from"], report=done["outcomes"])


def verify(path, *, mmap=True, max_expansion=None, threads=0, progress=None):
    """Checks everything that can be checked: structure, bounds, digests, data. What is wrong with a file is a finding."""
    options = {"mmap": mmap, "max_expansion": max_expansion, "threads": threads}
    with _progress.reporter(progress, "verifying") as report:
        found = _tare._verify(path, options, report)
    findings = [Finding(**row) for row in found.pop("findings")]
    return Verification(**found, findings=findings)


def hash(model, *, threads=0, progress=None):
    """The content digest of a model or file: the same in every container that stores the same tensors."""
    with _opened(model) as m, _progress.reporter(progress, "hashing") as report:
        return _tare._hash(m, threads, report)


def diff(a, b, *, threads=0, progress=None):
    """What differs between two models or files.

    If fewer than half of the names are in both (a GGUF file and the directory it was made from), and Hugging Face's names match
    more, both are compared under these, and in the row order of Hugging Face.
    """
    same = not _paths.is_content(a) and not isinstance(a, Model) and a == b  # opened once
    with _opened(a, True) as first, _opened(first if same else b, True) as second, _progress.reporter(progress, "comparing") as report:
        return Difference(**_tare._diff(first, second, threads, report))


def formats():
    """The containers, as dicts: name, title, suffixes, what they hold."""
    return _tare.formats()


def families():
    """The families of models that convert between a Hugging Face directory and GGUF, as dicts.

    Each has gguf (the architecture), title, model_types, classes, `computes` (the types that Tare computes itself) and `checked` (by
    which program: see docs/families.md).
    """
    return _tare.families()


def methods():
    """The quantization methods and mixes of them: a dict from names to what they are."""
    return {**{name: title for name, _, title in _tare.methods()}, **dict(_tare.mixes)}


# ---- conversion of Python's objects for the extension


class _opened:
    """A given model, or one that is opened here and closed again."""

    def __init__(self, model, complete=False):
        self._own = not isinstance(model, Model)
        self._model = Model(model, mmap=True, complete=complete) if self._own else model

    def __enter__(self):
        return self._model

    def __exit__(self, *exception):
        if self._own:
            self._model.close()


def _saved(kind, done, **more):
    return kind(
        format=done["to"], tensors=done["tensors"], bytes=done["bytes"], file_bytes=done["file_bytes"],
        changes=done["changes"], lost=done["lost"], **more,
    )  # fmt: skip


def _parts(metadata, config, vocabulary, attachments):
    parts = {}
    if metadata is not None:
        parts["metadata"] = dict(metadata)
    if attachments is not None:
        parts["attachments"] = {name: _attachment(name, value) for name, value in attachments.items()}
    if config is not None:
        parts["config"] = dict(config)
        if config.keys() - set(_tare.config_fields):
            import json

            parts["config_json"] = json.dumps(dict(config), indent=2).encode()
    if vocabulary is not None:
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError("vocabulary must be that of a model: m.vocabulary")
        parts["vocabulary"] = vocabulary._parts
    return parts


def _attachment(name, value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value
    if isinstance(value, os.PathLike):
        with builtins.open(value, "rb") as file:
            return file.read()
    raise TypeError(f"attachment {name!r} must be bytes or a path (pathlib.Path), not {type(value).__name__}")


def _rows(tensors):
    """(model or None, rows for the extension, or None for the model's own tensors)."""
    if isinstance(tensors, Model):
        return tensors, None
    if isinstance(tensors, (str, bytes, os.PathLike)):
        raise WrongTypeError("the path comes first: tare.save(path, tensors)")
    try:
        named = dict(tensors)  # a copy: the caller's may change during the work
    except (TypeError, ValueError):
        raise WrongTypeError(f"tensors must be a model or a mapping from names to arrays, not {type(tensors).__name__}") from None
    rows = []
    for name, value in named.items():
        if not isinstance(name, str):
            raise WrongTypeError(f"the name of a tensor must be a str, not {type(name).__name__}")
        rows.append(_row(name, value))
    return None, rows


def _row(name, value):
    """A tensor in the form that the extension takes: the tensor itself, or one made from an object with elements."""
    if isinstance(value, Tensor):
        return name, value
    if isinstance(value, Sparse):
        return name, tuple(value.shape), value.layout, [_component(name, role, part) for role, part in value.parts.items()]
    if type(value).__module__.startswith("scipy.sparse"):
        return _sparse_row(name, value)
    if isinstance(value, np.ndarray):
        return _packed_row(name, value) if _dtypes.packed_layout(value.dtype) else dense_row(name, value)
    if str(getattr(value, "dtype", "")) == "torch.float4_e2m1fn_x2":  # two per byte
        import torch

        bits = value.detach().cpu().contiguous().view(torch.uint8).numpy()
        return name, (*bits.shape[:-1], 2 * bits.shape[-1]), "packed.f4_e2m1", [("payload", "u8", "", bits.reshape(-1))]
    return dense_row(name, value)


def _component(name, role, array):
    _, _, storage, logical, data = dense_row(name, array)
    return role, storage, logical, data


def _sparse_row(name, matrix):
    """scipy.sparse: coordinate lists unchanged, everything else as compressed sparse rows."""
    if matrix.format == "coo":
        places = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        parts = {"coords": np.stack(places).astype("<u8"), "values": matrix.data}
    else:
        matrix = matrix.tocsr(copy=True)
        matrix.sum_duplicates()  # also sorts the columns of a matrix row
        parts = {"indices": matrix.indices.astype("<u8"), "indptr": matrix.indptr.astype("<u8"), "values": matrix.data}
    layout = "sparse_coo" if "coords" in parts else "sparse_csr"
    return name, tuple(matrix.shape), layout, [_component(name, role, part) for role, part in parts.items()]


def _packed_row(name, array):
    """4- and 6-bit floats without gaps, the first in the lowest bits; ml_dtypes has one per byte."""
    bits = 4 if "float4" in array.dtype.name else 6
    group, width = (2, 1) if bits == 4 else (4, 3)
    if array.size % group:
        raise UsageError(f"tensor {name!r}: {array.size} elements of {bits} bits do not fill whole bytes", rule="python.type", item=name)  # fmt: skip
    codes = np.ascontiguousarray(array).reshape(-1, group).view(np.uint8).astype(np.uint32)
    words = sum(codes[:, i] << np.uint32(bits * i) for i in range(group))
    data = np.stack([(words >> np.uint32(8 * i)).astype(np.uint8) for i in range(width)], axis=1)
    return name, array.shape, _dtypes.packed_layout(array.dtype), [("payload", "u8", "", data.reshape(-1))]


def dense_row(name, value):
    """(name, shape, storage type, logical type, bytes) of an array."""
    if isinstance(value, Tensor):
        value.verify()  # the code below uses the file's bytes without checking them
    array = _array(name, value)
    if isinstance(array, tuple):  # the bits of a type that NumPy lacks
        bits, storage, logical = array
        shape = bits.shape
    else:
        try:
            storage, logical = _dtypes.tare_dtype(array.dtype)
        except TypeError as error:
            raise WrongTypeError(f"tensor {name!r}: {error}", item=name) from None
        bits, shape = array, array.shape
        if not _dtypes.is_native(array.dtype):
            bits = bits.astype(array.dtype.newbyteorder("<"))
    data = np.ascontiguousarray(bits).reshape(-1).view(np.uint8)
    if storage == "bool" and data.size and data.max() > 1:  # possible in a view; files have 0 and 1
        data = (data != 0).view(np.uint8)
    return name, tuple(shape), storage, logical, data


_TORCH = {
    "bfloat16": ("bf16", "", "int16"), "float8_e4m3fn": ("u8", "f8_e4m3fn", "uint8"),
    "float8_e5m2": ("u8", "f8_e5m2", "uint8"), "float8_e4m3fnuz": ("u8", "f8_e4m3fnuz", "uint8"),
    "float8_e5m2fnuz": ("u8", "f8_e5m2fnuz", "uint8"), "float8_e8m0fnu": ("u8", "f8_e8m0", "uint8"),
}  # fmt: skip


def _array(name, value):
    if isinstance(value, np.ndarray):
        # np.ma would import it, and a child of fork waits forever for an import that another thread has begun.
        masked = sys.modules.get("numpy.ma")
        if isinstance(value, getattr(masked, "MaskedArray", ())) and masked.is_masked(value):
            raise WrongTypeError(f"tensor {name!r}: a mask cannot be stored; use filled()", item=name)
        return value
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        import torch

        value = value.detach().cpu()
        if value.layout != torch.strided:
            raise WrongTypeError(
                f"tensor {name!r}: a torch tensor of layout {value.layout} cannot be stored; use to_dense()", item=name
            )
        if value.is_conj() or value.is_neg():
            value = value.resolve_conj().resolve_neg()
        special = _TORCH.get(str(value.dtype).removeprefix("torch."))
        if special is not None:
            storage, logical, bits = special
            return value.contiguous().view(getattr(torch, bits)).numpy(), storage, logical
        return value.numpy()
    if hasattr(value, "__array__") or np.isscalar(value) or isinstance(value, (list, tuple)):
        array = np.asarray(value)
        if array.dtype.kind == "O":
            raise WrongTypeError(f"tensor {name!r}: an array of objects cannot be stored", item=name)
        return array
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    raise WrongTypeError(f"tensor {name!r}: {type(value).__name__} is not an array", item=name)
