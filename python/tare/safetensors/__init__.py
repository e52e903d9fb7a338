"""The interface of the package `safetensors`, for every container that Tare reads.

    from tare.safetensors import safe_open
    from tare.safetensors.torch import load_file, save_file

Names, arguments and results are those of the package; what differs is in docs/python.md.
"""

import importlib
import os

import numpy as np

from .. import _errors
from .._model import open as _open

SafetensorError = _errors.Error

# Tare's names of types in safetensors' spelling.
DTYPES = {
    "f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8",
    "u64": "U64", "u32": "U32", "u16": "U16", "u8": "U8", "bool": "BOOL", "f8_e4m3fn": "F8_E4M3", "f8_e5m2": "F8_E5M2",
    "f8_e4m3fnuz": "F8_E4M3FNUZ", "f8_e5m2fnuz": "F8_E5M2FNUZ", "f8_e8m0": "F8_E8M0", "complex64": "C64",
    "packed.f4_e2m1": "F4", "packed.f6_e2m3": "F6_E2M3", "packed.f6_e3m2": "F6_E3M2",
}  # fmt: skip

_TORCH = ("pt", "torch", "pytorch")
_NUMPY = ("np", "numpy")
_JAX = ("flax", "jax")


def __getattr__(name):
    if name in ("flax", "numpy", "torch"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "load_file":  # torch's, which most people mean
        return importlib.import_module(f"{__name__}.torch").load_file
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class safe_open:  # noqa: N801: the package's name
    """Opens a model file of any container; a context manager."""

    def __init__(self, filename, framework, device="cpu", *, backend=None):
        if framework not in _TORCH + _NUMPY + _JAX:
            raise _errors.UsageError(f"framework {framework!r} is invalid; the choices are 'pt', 'np' and 'flax'")
        if framework not in _TORCH and device != "cpu":
            raise _errors.UsageError(f"device {device!r} is invalid; arrays of {framework!r} are in host memory")
        self._model = _open(path_of(filename), arrays=True)  # backend: how the package reads; the result is the same
        self._framework = framework
        self._device = device

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._model.close()

    def keys(self):
        """The names, sorted."""
        names = self._model._names()
        names.sort()
        return names

    def offset_keys(self):
        """The names in the order of the file."""
        return list(self._model)

    def metadata(self):
        """The metadata as texts, or None."""
        return texts(self._model.metadata) or None

    def get_tensor(self, name):
        return _made(self._tensor(name), self._framework, self._device)

    def get_tensors(self, names=None):
        if self._framework in _TORCH:
            from .. import torch

            if torch._is_gpu(self._device):
                return torch.to_device(self._model, self._device, names)
        return {name: self.get_tensor(name) for name in (self._model if names is None else names)}

    def get_slice(self, name):
        return Slice(self._tensor(name), self._framework, self._device)

    def _tensor(self, name):
        if not isinstance(name, str):
            raise _errors.WrongTypeError(f"the name of a tensor is a str, not {type(name).__name__}")
        return self._model.tensor(name)


class Slice:
    """A tensor of which only what is asked for is read."""

    def __init__(self, tensor, framework, device):
        self._tensor, self._framework, self._device = tensor, framework, device

    def get_shape(self):
        return list(self._tensor.shape)

    def get_dtype(self):
        return DTYPES.get(self._tensor.type, self._tensor.type)

    def __getitem__(self, key):
        try:
            if self._framework in _TORCH:
                from .. import torch

                return torch.part(self._tensor, key).to(self._device)
            array = np.asarray(self._tensor[key])
        except IndexError as error:
            raise _errors.OutsideError(str(error), item=self._tensor.name) from None
        return _jax(array) if self._framework in _JAX else array


def path_of(filename):
    """A path, which may be bytes; never None, and never the bytes of a file."""
    return os.fsdecode(os.fspath(filename))


def texts(metadata):
    """Metadata as safetensors has it: a dict from str to str. What is not text becomes JSON."""
    import json

    def other(value):
        return value.hex() if isinstance(value, bytes) else str(value)

    return {
        key: value if isinstance(value, str) else json.dumps(value, default=other) for key, value in metadata.items()
    }


def _jax(array):
    import jax.numpy

    return jax.numpy.asarray(array)


def _made(tensor, framework, device):
    if framework in _TORCH:
        from .. import torch

        return torch.tensor(tensor, device=device)
    array = tensor.numpy()
    if framework in _JAX:
        return _jax(array)
    return array if array.flags.writeable else array.copy()


_UPSTREAM = "upstream"  # the bytes that the package writes
IN_MEMORY = object()  # in place of a path: the bytes are the result


def save_dict(tensors, filename, metadata):
    """The file of a dict of tensors: safetensors, unless the name has the suffix of another container."""
    from .. import _tare, _work

    if not isinstance(tensors, dict):
        raise _errors.UsageError(f"expected a dict of [str, tensor], found {type(tensors).__name__}")
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise _errors.WrongTypeError("metadata must be a dict from str to str")
    base, rows = _work._rows(tensors)
    parts = {"metadata": dict(metadata or {})}
    if filename is IN_MEMORY:
        return _tare._save(None, rows, base, parts, {"format": "safetensors", "dialect": _UPSTREAM}, None)
    name = path_of(filename)
    suffix = os.path.splitext(name)[1]
    named = [row["name"] for row in _tare.formats() if suffix in row["suffixes"] and row["writes"]]
    options = {"format": named[0] if named and suffix else "safetensors", "overwrite": True, "hasty": True}
    if options["format"] == "safetensors":
        options["dialect"] = _UPSTREAM
    _tare._save(name, rows, base, parts, options, None)
    return None
