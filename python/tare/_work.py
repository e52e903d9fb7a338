"""Saving, converting, quantizing, verifying, hashing and comparing models."""

import builtins
import os

import numpy as np

from . import _dtypes, _progress, _tare
from ._model import Model, Vocabulary, open
from ._tensor import Tensor


class Record:
    """Facts with names. (dataclasses would take half of the time of `import tare`.)"""

    def __init__(self, **facts):
        self.__dict__.update(facts)

    def __repr__(self):
        facts = ((name, value) for name, value in self.__dict__.items() if not isinstance(value, (list, dict)))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in facts)})"

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None


class Saved(Record):
    """What was written."""

    format: str
    tensors: int
    bytes: int  # of the tensors, decompressed
    file_bytes: int
    changes: list  # dicts: what is not as it was; 'text' is the sentence
    lost: list  # dicts: keys of a file that the target has no place for


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


def save(
    path,
    tensors,
    *,
    metadata=None,
    config=None,
    vocabulary=None,
    attachments=None,
    format=None,
    dtype=None,
    overflow=None,
    quant=None,
    zstd=None,
    digest=None,
    dedup=False,
    dialect=None,
    shard=None,
    match=(),
    skip=(),
    drop=(),
    weights_only=False,
    keep_names=False,
    overwrite=False,
    threads=0,
    progress=None,
):
    """Writes tensors to a file, or to a directory of Hugging Face's layout (a path that ends in /). Whole or not at all.

    tensors      a model, or a mapping from names to arrays (NumPy, torch, JAX, anything with __array__ or DLPack) or to
                 tensors of models. Strided arrays are written in the usual order.
    metadata     a dict of texts, numbers, bytes, lists and dicts
    config       a dict of hyper-parameters; keys that Tare does not know go into an attached config.json
    vocabulary   of another model (m.vocabulary)
    attachments  a mapping from names to bytes, or to paths
    format       its name ('zt', 'safetensors', ...); by default that of the suffix

    If `tensors` is a model, its metadata, config, vocabulary and attachments are written, too; what is given here replaces
    them. The other options are those of `convert`.
    """
    options = _options(
        format=format, dtype=dtype, overflow=overflow, quant=quant, zstd=zstd, digest=digest, dedup=dedup,
        dialect=dialect, shard=shard, match=match, skip=skip, drop=drop, weights_only=weights_only,
        keep_names=keep_names, overwrite=overwrite, threads=threads,
    )  # fmt: skip
    base, rows = _rows(tensors)
    parts = _parts(metadata, config, vocabulary, attachments)
    with _progress.reporter(progress, "saving") as report:
        return _saved(Saved, _tare._save(path, rows, base, parts, options, report))


def to_bytes(tensors, *, format, metadata=None, config=None, vocabulary=None, attachments=None, threads=0, **options):
    """The bytes of the file that `save` would write."""
    base, rows = _rows(tensors)
    parts = _parts(metadata, config, vocabulary, attachments)
    return _tare._save(None, rows, base, parts, _options(format=format, threads=threads, **options), None)


def convert(
    source,
    target,
    *,
    format=None,
    dtype=None,
    overflow=None,
    quant=None,
    zstd=None,
    no_zstd=False,
    digest=None,
    dedup=False,
    dialect=None,
    shard=None,
    match=(),
    skip=(),
    drop=(),
    weights_only=False,
    keep_names=False,
    attach=(),
    metadata=None,
    check=False,
    overwrite=False,
    mmap=True,
    max_expansion=None,
    threads=0,
    progress=None,
):
    """Takes a model from one container to another, in bounded memory. The target appears whole or not at all.

    format        of the target; by default that of its suffix. A path that ends in / is a directory
    dtype         cast float tensors ('bf16', ...); overflow: 'error', 'clamp' or 'infinity'
    quant         a method ('k4'), or a dict as for `quantize`
    zstd, digest  compress at a level (True: 3); store a digest ('sha256', ...) with each tensor
    match, skip   globs over names of tensors
    drop          parts that may be omitted: 'metadata', 'config', 'vocabulary', 'attachments', 'attributes'
    metadata      a dict of keys to set
    progress      True for a bar (tqdm if installed), or a function of (done, expected) bytes
    """
    options = _options(
        format=format, dtype=dtype, overflow=overflow, quant=quant, zstd=zstd, unpack=no_zstd, digest=digest,
        dedup=dedup, dialect=dialect, shard=shard, match=match, skip=skip, drop=drop, weights_only=weights_only,
        keep_names=keep_names, attach=attach, set=metadata, check=check, overwrite=overwrite, mmap=mmap,
        max_expansion=max_expansion, threads=threads,
    )  # fmt: skip
    with _progress.reporter(progress, "converting") as report:
        done = _tare._convert(source, target, options, report)
    return _saved(Conversion, done, source_format=done["from"])


def quantize(
    source,
    target,
    method=None,
    *,
    bits=None,
    rules=(),
    keep=(),
    fast=False,
    range=False,
    no_fallback=False,
    clip=None,
    importance=None,
    progress=None,
    **options,
):
    """Converts with a recipe and says what it cost.

    method      for all float matrices: 'k4', 'q4_k', a mix such as 'q4_k_m', ...; see tare.methods()
    bits        in place of it: the method of each tensor is chosen so that all take at most so many bits per weight
    rules       pairs (glob, method), the first that matches decides; keep: globs of tensors to leave as they are
    importance  a file with weights of columns

    The other options are those of `convert`.
    """
    recipe = {
        "method": method, "bits": bits, "rules": [*((glob, "keep") for glob in _texts(keep)), *rules], "fast": fast,
        "range": range, "no_fallback": no_fallback, "clip": clip, "importance": importance,
    }  # fmt: skip
    if method is None and bits is None and not rules:
        raise ValueError("give a method, rules or bits")
    if method is not None and bits is not None:
        raise ValueError("bits chooses the methods itself; give one of the two")
    if "metadata" in options:
        options["set"] = options.pop("metadata")
    with _progress.reporter(progress, "quantizing") as report:
        done = _tare._convert(source, target, _options(quant=recipe, **options), report)
    return _saved(Quantized, done, source_format=done["from"], report=done["outcomes"])


def verify(path, *, mmap=True, max_expansion=None, threads=0, progress=None):
    """Checks everything that can be checked: structure, bounds, digests, data. What is wrong with a file is a finding."""
    options = _options(mmap=mmap, max_expansion=max_expansion, threads=threads)
    with _progress.reporter(progress, "verifying") as report:
        found = _tare._verify(path, options, report)
    findings = [Finding(**row) for row in found.pop("findings")]
    return Verification(**found, findings=findings)


def hash(model, *, threads=0, progress=None):
    """The content digest of a model or file: the same in every container that stores the same tensors."""
    with _opened(model) as m, _progress.reporter(progress, "hashing") as report:
        return _tare._hash(m, threads, report)


def diff(a, b, *, threads=0, progress=None):
    """What differs between two models or files."""
    with _opened(a) as first, _opened(b) as second, _progress.reporter(progress, "comparing") as report:
        return Difference(**_tare._diff(first, second, threads, report))


def formats():
    """The containers, as dicts: name, title, suffixes, what they hold."""
    return _tare.formats()


def methods():
    """The quantization methods and mixes of them: a dict from names to what they are."""
    return {**{name: title for name, _, title in _tare.methods()}, **dict(_tare.mixes)}


# ---- from Python's objects to the extension's


class _opened:
    """A model as it is, or one that is opened and closed again."""

    def __init__(self, model):
        self._own = not isinstance(model, Model)
        self._model = open(model) if self._own else model

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


def _texts(value):
    return [value] if isinstance(value, str) else list(value)


_KNOWN = {
    "format", "dtype", "overflow", "quant", "zstd", "unpack", "digest", "dedup", "dialect", "shard", "match", "skip", "drop",
    "weights_only", "keep_names", "attach", "set", "check", "overwrite", "mmap", "max_expansion", "threads",
}  # fmt: skip


def _options(**options):
    unknown = options.keys() - _KNOWN
    if unknown:
        raise TypeError(f"there is no option {', '.join(map(repr, sorted(unknown)))}")
    for name in ("match", "skip", "drop", "attach"):
        if name in options:
            options[name] = _texts(options[name] or ())
    if options.get("zstd") is True:
        options["zstd"] = 3
    elif options.get("zstd") is False:
        options["zstd"] = None
    if isinstance(options.get("quant"), str):
        options["quant"] = {"method": options["quant"]}
    if isinstance(options.get("shard"), str):
        options["shard"] = _size(options["shard"])
    if options.get("dtype") is not None and not isinstance(options["dtype"], str):
        storage, logical = _dtypes.tare_dtype(np.dtype(options["dtype"]))
        options["dtype"] = logical or storage
    if options.get("set"):
        import json

        options["set"] = [(key, json.dumps(value)) for key, value in options["set"].items()]
    return options


def _size(text):
    """'5GB', '500MiB', '1024' in bytes."""
    units = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
    units |= {f"{u}ib": n for u, n in units.items() if len(u) == 1 and u != "b"}
    units |= {"kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4}
    digits = text.strip().rstrip("BKMGTibkmgt")
    unit = text.strip()[len(digits) :].lower()
    if not digits.strip().isdecimal() or unit not in units:
        raise ValueError(f"{text!r} is not a size such as '5GB' or '500MiB'")
    return int(digits) * units[unit]


def _parts(metadata, config, vocabulary, attachments):
    parts = {}
    if metadata is not None:
        parts["metadata"] = dict(metadata)
    if attachments is not None:
        parts["attachments"] = {name: _attachment(name, value) for name, value in attachments.items()}
    if config is not None:
        parts["config"] = dict(config)
        files = parts.get("attachments", {})
        if "config.json" not in files and config.keys() - set(_tare.config_fields):
            import json

            parts["attachments"] = {**files, "config.json": json.dumps(dict(config), indent=2).encode()}
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
    """(model or None, rows for the extension)."""
    base = tensors if isinstance(tensors, Model) else None
    if base is not None:
        return base, [(tensor.name, tensor) for tensor in base.tensors()]
    rows = []
    for name, value in dict(tensors).items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a tensor must be a str, not {type(name).__name__}")
        rows.append(_row(name, value))
    return base, rows


def _row(name, value):
    if isinstance(value, Tensor):
        return name, value
    array = _array(name, value)
    if isinstance(array, tuple):  # bits of a type that NumPy lacks
        bits, storage, logical = array
        shape = bits.shape
    else:
        try:
            storage, logical = _dtypes.tare_dtype(array.dtype)
        except TypeError as error:
            raise TypeError(f"tensor {name!r}: {error}") from None
        bits, shape = array, array.shape
        if not _dtypes.is_native(array.dtype):
            bits = bits.astype(array.dtype.newbyteorder("<"))
    data = np.ascontiguousarray(bits).reshape(-1).view(np.uint8)
    return name, tuple(shape), storage, logical, data


_TORCH = {
    "bfloat16": ("bf16", "", "int16"), "float8_e4m3fn": ("u8", "f8_e4m3fn", "uint8"),
    "float8_e5m2": ("u8", "f8_e5m2", "uint8"), "float8_e4m3fnuz": ("u8", "f8_e4m3fnuz", "uint8"),
    "float8_e5m2fnuz": ("u8", "f8_e5m2fnuz", "uint8"), "float8_e8m0fnu": ("u8", "f8_e8m0", "uint8"),
}  # fmt: skip


def _array(name, value):
    if isinstance(value, np.ndarray):
        return value
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        import torch

        value = value.detach().cpu()
        if value.layout != torch.strided:
            raise TypeError(f"tensor {name!r}: a torch tensor of layout {value.layout} cannot be stored; use to_dense()")
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
            raise TypeError(f"tensor {name!r}: an array of objects cannot be stored")
        return array
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    raise TypeError(f"tensor {name!r}: {type(value).__name__} is not an array")
