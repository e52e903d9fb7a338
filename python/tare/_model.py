"""Open models."""

import collections.abc
import contextlib
import os
import sys
import warnings

import numpy as np

from . import _dtypes, _errors, _paths, _tare
from ._tensor import Opaque, Tensor, sparse_kind
from ._text import shown

_tare._setup(np.ndarray, _errors.make, _dtypes.numpy_dtype, Tensor, Opaque)


class Model(_tare.Model, collections.abc.Mapping):
    """A model: a mapping from names to NumPy arrays, in the order of the file.

    `m[name]` shows the bytes of the file without a copy where they allow it; such an array is read-only, and valid as long as
    it lives. `m.tensor(name)` reads nothing before it is asked. Use it from as many threads as you like.
    """

    _files = None

    def __init__(self, source, **options):
        options["verify"] = wants_digests(options.get("verify"))
        self._options = options
        if _paths.is_content(source):
            self._open_bytes(source, options)
            self.path = None
        else:
            self.path = _paths.path_of(source)
            self._open(self.path, options)
            self._place = _paths.absolute(self.path)
        self._tell()

    def _tell(self):
        """Warns, at the line that called this package, of differences in the results under Hugging Face's conventions."""
        found = self._warnings()
        if not found:
            return
        frame, level = sys._getframe(1), 2
        while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__.split(".")[0]:
            frame, level = frame.f_back, level + 1
        name = "the model" if self.path is None else os.fsdecode(self.path)
        for sentence in found:
            warnings.warn(f"{name}: {sentence}", stacklevel=level)

    def _like(self, usual_names=False, verify=False):
        """The model with Hugging Face's names, order of matrix rows and files, whatever the container's conventions are; or with
        its bytes compared with their digests; or itself, if it is that already."""
        options = dict(self._options)
        options.update({key: True for key, asked in (("usual_names", usual_names), ("verify", wants_digests(verify))) if asked})
        if options == self._options:
            return self
        made = type(self).__new__(type(self))
        made._options = options
        made._open_like(self, options)
        made.path = self.path
        if self.path is not None:
            made._place = self._place
        made._tell()
        return made

    def _settings(self):
        """{name: bytes} of config.json and similar files, as in a directory made from the model."""
        if self._files is None:
            self._files = self._directory_files()
            self._tell()
        return self._files

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__

    def tensors(self):
        """The tensors, without reading them."""
        return [self.tensor(name) for name in self._names()]

    # ---- everything except the tensors

    @property
    def metadata(self):
        """Named values of the model, as a dict."""
        return self._metadata()

    @property
    def config(self):
        """The hyper-parameters that the file states, under Hugging Face's names, as a dict."""
        found = self._config()
        self._tell()
        return found

    @property
    def vocabulary(self):
        """The tokenizer's words, or None. Read when it is asked for."""
        parts = self._vocabulary()
        self._tell()
        return None if parts is None else Vocabulary(parts)

    @property
    def attachments(self):
        """The files that the model carries: a mapping from names to bytes."""
        return Attachments(self)

    @property
    def format(self):
        """The name of the container: 'zt', 'gguf', ..."""
        return self._facts()["format"]

    @property
    def nbytes(self):
        """Bytes of all tensors, decompressed."""
        return sum(row[4] for row in self._table())

    def info(self):
        """The facts that `tare info` prints, as a dict."""
        facts = self._facts()
        table = self._table()
        types = {}
        for _, kind, _, shape, size, _ in table:
            row = types.setdefault(kind, {"tensors": 0, "parameters": 0, "bytes": 0})
            row["tensors"] += 1
            row["parameters"] += _product(shape)
            row["bytes"] += size
        return {
            "path": self.path,
            "format": facts["format"],
            "version": facts["version"],
            "file_bytes": facts["file_bytes"],
            "files": facts["files"],
            "tensors": len(table),
            "parameters": sum(row["parameters"] for row in types.values()),
            "bytes": sum(row["bytes"] for row in types.values()),
            "types": types,
            "config": self.config,
            "metadata": self._metadata(),
            "attachments": self._attachments(),
        }

    def table(self):
        """A dict for each tensor: name, type, layout, shape, bytes, stored_bytes. `pandas.DataFrame(m.table())` works."""
        keys = ("name", "type", "layout", "shape", "bytes", "stored_bytes")
        return [dict(zip(keys, row)) for row in self._table()]

    def load(self, writable=False):
        """Every tensor, as a dict of arrays: what `dict(m)` gives, faster.

        writable: arrays that may be changed. The file is not: a page is copied when it is first written to.
        """
        return self._all(writable)

    def __repr__(self):
        if self.closed:
            return "<tare.Model closed>"
        facts = self._facts()
        name = self.path if self.path is not None else "bytes"
        return f"<tare.Model {name!r}: {shown(facts['format'])}, {len(self)} tensors>"

    def _repr_html_(self):
        from . import _html

        return _html.model(self)

    def __reduce__(self):
        if self.path is None:
            raise TypeError("a model of bytes cannot be pickled; pickle the bytes")
        return _reopen, (self._place, self._options)

    # ---- called by the extension

    def _load(self, name, writable=False):
        tensor = self.tensor(name)
        if sparse_kind(tensor.layout) is not None:
            return tensor.sparse()
        array = tensor.numpy()
        return array.copy() if writable and not array.flags.writeable else array

    def get(self, name, default=None):
        """`m[name]`, or the default; a name that is missing costs nothing."""
        return self[name] if name in self else default

    def _missing(self, name):
        if not isinstance(name, str):
            raise KeyError(name)
        near = _tare.nearest(name, list(self._names()), 3)
        hint = f"; did you mean {', '.join(map(shown, near))}?" if near else ""
        raise _errors.TensorNotFoundError(
            f"there is no tensor {shown(name) or 'without a name'}{hint}", rule="python.tensor", item=name, file=self.path, near=near
        )


_verifying = []  # an item for each block of `verifying` that runs; append and pop are atomic


@contextlib.contextmanager
def verifying():
    """Inside, every model that this module opens, in any thread, is opened with verify=True: for functions that have no such
    option, such as those in place of the package safetensors, and for programs that call them."""
    _verifying.append(None)
    try:
        yield
    finally:
        _verifying.pop()


def wants_digests(verify):
    return bool(verify) or bool(_verifying)


def opened(source, verify=False, **options):
    """The open model of a function that takes one, or a path, or the bytes of a file."""
    return source._like(verify=verify) if isinstance(source, Model) else open(source, verify=verify, **options)


class Attachments(collections.abc.Mapping):
    """The files that a model carries. A value is read when it is asked for."""

    def __init__(self, model):
        self._model = model
        self._sizes = model._attachments()
        model._tell()

    def __getitem__(self, name):
        if name not in self._sizes:
            raise KeyError(name)
        return self._model._attachment(name)

    def __iter__(self):
        return iter(self._sizes)

    def __len__(self):
        return len(self._sizes)

    def __repr__(self):
        return f"<attachments {self._sizes!r}>"


class Vocabulary(collections.abc.Sequence):
    """The tokens of a tokenizer, as bytes, by id."""

    TYPES = ("normal", "unknown", "control", "user_defined", "unused", "byte", "bos", "eos", "pad")

    def __init__(self, parts):
        self._parts = parts

    kind = property(lambda self: self._parts["kind"], doc="'spm', 'bpe', 'unigram', 'wordpiece', 'wordlevel' or ''")
    tokens = property(lambda self: self._parts["tokens"], doc="the bytes of each token")
    scores = property(lambda self: self._parts["scores"], doc="the score of each token")
    merges = property(lambda self: self._parts["merges"], doc="pairs 'left right' as bytes, by rank")
    bos = property(lambda self: self._parts["bos"], doc="the id of the token that begins a text, or -1")
    eos = property(lambda self: self._parts["eos"], doc="the id of the token that ends a text, or -1")
    pad = property(lambda self: self._parts["pad"], doc="the id of the token that fills up, or -1")
    unk = property(lambda self: self._parts["unk"], doc="the id of the token for what is unknown, or -1")

    @property
    def types(self):
        """The type of each token: 'normal', 'control', ..."""
        return [self.TYPES[number] for number in self._parts["types"]]

    def __getitem__(self, index):
        return self._parts["tokens"][index]

    def __len__(self):
        return len(self._parts["tokens"])

    def _repr_html_(self):
        from . import _html

        return _html.vocabulary(self)

    def __repr__(self):
        return f"<tare.Vocabulary {shown(self.kind) or 'of unknown kind'}: {len(self)} tokens>"


def _reopen(path, options):
    return Model(path, **options)


def open(
    path, *, mmap=True, usual_names=False, arrays=False, attach=(), max_expansion=None, keep_broken=False, verify=False,
    threads=0,
):  # fmt: skip
    """Opens any model file, a model's directory, or the bytes of a file, and reads its metadata.

    mmap           show tensors inside the mapped file; False: read every byte with pread
    usual_names    names and order of rows as in a Hugging Face directory, also of a model that comes from GGUF
    arrays         the arrays of packed weights (GPTQ, AWQ, ...) one by one, as they are stored, instead of the weights
    attach         globs of further files of a model's directory to carry
    max_expansion  how many times the size of the file its tensors may decode to (32)
    keep_broken    go on without tensors that break a rule of their own
    verify         compare the bytes of a tensor with the digest that the file stores, before the first of them is handed out
                   (CorruptError `digest.mismatch`). Otherwise views and slices read only what is looked at, and are not compared
    """
    attach = [attach] if isinstance(attach, str) else list(attach)
    return Model(
        path, mmap=mmap, usual_names=usual_names, arrays=arrays, attach=attach, max_expansion=max_expansion,
        keep_broken=keep_broken, verify=verify, threads=threads,
    )  # fmt: skip


def _product(shape):
    product = 1
    for size in shape:
        product *= size
    return product
