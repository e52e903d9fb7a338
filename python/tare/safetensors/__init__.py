"""The interface of the package `safetensors`, for every container that Tare reads.

    from tare.safetensors import safe_open
    from tare.safetensors.torch import load_file, save_file

Names, arguments and results are those of the package; what differs is in docs/python.md.
"""

import importlib
import os

import numpy as np

from .. import _errors
from .._dtypes import SAFETENSORS as DTYPES
from .._model import open as _open
from .._paths import is_content

SafetensorError = _errors.Error

_BACKENDS = ("mmap", "pread")
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

    def __init__(self, filename, framework, device="cpu", *, backend="mmap"):
        self._begin(framework, device, backend)
        self._model = _open(path_of(filename), arrays=True, mmap=is_mapped(backend))

    def _begin(self, framework, device, backend):
        if framework not in _TORCH + _NUMPY + _JAX:
            raise _errors.UsageError(f"framework {framework!r} is invalid; the choices are 'pt', 'np' and 'flax'")
        if device is None:
            device = "cpu"
        if framework in _TORCH:
            check_device(device)
        elif device != "cpu":
            raise _errors.UsageError(f"device {device!r} is invalid; arrays of {framework!r} are in host memory")
        is_mapped(backend)
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

    def get_tensors(self):
        """All of them, as a dict in the order of the file."""
        if self._framework in _TORCH:
            from .. import torch

            return torch._stored_tensors(self._model, self._device)
        return {name: self.get_tensor(name) for name in self._model}

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
            array = np.asarray(self._tensor[_checked(self._tensor.shape, key)])
        except IndexError as error:
            raise _errors.OutsideError(str(error), item=self._tensor.name) from None
        if self._framework in _JAX:
            return _jax(array)
        return array if array.flags.writeable else array.copy()


class _safe_open_handle(safe_open):  # noqa: N801: the package's name
    """The same of a file that is open for reading; all of it is read."""

    def __init__(self, f, framework, device="cpu", *, backend="mmap"):
        self._begin(framework, device, backend)
        f = getattr(f, "buffer", f)  # a file that was opened as text has the bytes in its buffer
        f.seek(0)
        self._model = _open(content_of(f.read()), arrays=True)


def is_mapped(backend):
    """Whether files are to be mapped: what a backend means here."""
    if not isinstance(backend, str):
        raise _errors.WrongTypeError(f"backend must be a str, not {type(backend).__name__}")
    if backend not in _BACKENDS:
        raise _errors.UsageError(f"backend {backend!r} is invalid; the choices are {' and '.join(map(repr, _BACKENDS))}")
    return backend == "mmap"


def check_device(device):
    import torch

    try:
        torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise _errors.UsageError(f"device {device!r} is invalid: {error}") from None


def _checked(shape, key):
    """The index of an array, if the package takes it: numbers, slices that end inside, `...` and an empty list."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(item is Ellipsis for item in keys):
        place = next(i for i, item in enumerate(keys) if item is Ellipsis)
        keys = (*keys[:place], *[slice(None)] * (len(shape) - len(keys) + 1), *keys[place + 1 :])
    for axis, item in enumerate(keys):
        size = shape[axis] if axis < len(shape) else 0
        if isinstance(item, slice):
            outside = next((end for end, most in ((item.start, size - 1), (item.stop, size)) if end is not None and end > max(most, 0)), None)
            if outside is not None:
                raise IndexError(f"the slice extends to {outside}, dimension {axis} has {size}")
            if item.step is not None and item.step < 1:
                raise _errors.UsageError(f"the step of a slice must be positive, found {item.step}", rule="python.index")
        elif isinstance(key, list) and not key:
            pass
        elif not hasattr(item, "__index__") or isinstance(item, np.ndarray) and item.ndim:
            raise _errors.UsageError(f"an index is a number or a slice, not {type(item).__name__}", rule="python.index")
    return key


def path_of(filename):
    """A path, which may be bytes: the package takes files by functions of their own."""
    return os.fsdecode(filename)


def content_of(data):
    """A copy of the bytes of a file, which does not change. Refuses a number, from which bytes() would make zeros."""
    if not is_content(data):
        raise _errors.WrongTypeError(f"expected the bytes of a file, found {type(data).__name__}")
    return bytes(data)


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
        from .. import _torch_tensors

        return _torch_tensors.as_stored(tensor, device)
    array = tensor.numpy()
    if framework in _JAX:
        return _jax(array)
    return array if array.flags.writeable else array.copy()


# ---- bytes and addresses, as the package's own modules use them

# The package's names of types, which are torch's, in the spelling of the format; and how Tare stores them.
_SPECS = {
    "bool": ("BOOL", "bool", ""), "int8": ("I8", "i8", ""), "uint8": ("U8", "u8", ""), "int16": ("I16", "i16", ""),
    "uint16": ("U16", "u16", ""), "int32": ("I32", "i32", ""), "uint32": ("U32", "u32", ""), "int64": ("I64", "i64", ""),
    "uint64": ("U64", "u64", ""), "float16": ("F16", "f16", ""), "bfloat16": ("BF16", "bf16", ""),
    "float32": ("F32", "f32", ""), "float64": ("F64", "f64", ""), "complex64": ("C64", "f32", "complex64"),
    "float8_e4m3fn": ("F8_E4M3", "u8", "f8_e4m3fn"), "float8_e5m2": ("F8_E5M2", "u8", "f8_e5m2"),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", "u8", "f8_e4m3fnuz"), "float8_e5m2fnuz": ("F8_E5M2FNUZ", "u8", "f8_e5m2fnuz"),
    "float8_e8m0fnu": ("F8_E8M0", "u8", "f8_e8m0"), "float4_e2m1fn_x2": ("F4", "u8", "packed.f4_e2m1"),
}  # fmt: skip


class TensorSpec:
    """A tensor at an address of this process. The caller must keep the memory alive."""

    __slots__ = ("_row", "_shape", "_data_ptr", "_data_len")

    def __init__(self, *, dtype, shape, data_ptr, data_len):
        if dtype not in _SPECS:
            raise _errors.UsageError(f"unknown dtype {dtype!r}; the choices are {', '.join(_SPECS)}")
        sizes = [int(size) for size in shape]
        for number in (*sizes, data_ptr, data_len):
            if number < 0:
                raise OverflowError(f"{number} is negative")
        if _SPECS[dtype][0] == "F4" and sizes:
            sizes[-1] *= 2  # torch counts bytes of two elements
        self._row, self._shape, self._data_ptr, self._data_len = _SPECS[dtype], sizes, int(data_ptr), int(data_len)

    dtype = property(lambda self: self._row[0], doc="the type as the format spells it: 'F32'")
    shape = property(lambda self: list(self._shape), doc="in elements")
    data_ptr = property(lambda self: self._data_ptr, doc="the address of the first byte")
    data_len = property(lambda self: self._data_len, doc="in bytes")

    def __repr__(self):
        return f"TensorSpec(dtype={self.dtype!r}, shape={self.shape!r}, data_ptr={self._data_ptr!r}, data_len={self._data_len!r})"

    def _as_row(self, name):
        """As the extension takes it, after the lengths agree."""
        _, storage, logical = self._row
        packed = logical.startswith("packed.")
        bits = 4 if packed else 8 if storage == "bool" else int(storage.lstrip("biuf")) * (2 if logical == "complex64" else 1)
        count = 1
        for size in self._shape:
            count *= size
        expected = count * bits
        if expected != 8 * self._data_len:
            raise _errors.UsageError(f"tensor {name!r}: {self.dtype} {self._shape} is {expected / 8:g} bytes, found {self._data_len}", item=name)  # fmt: skip
        data = np.empty(0, np.uint8)
        if self._data_len:
            import ctypes

            data = np.frombuffer((ctypes.c_ubyte * self._data_len).from_address(self._data_ptr), np.uint8)
        shape = tuple(self._shape)
        return (name, shape, logical, [("payload", "u8", "", data)]) if packed else (name, shape, storage, logical, data)


def serialize(tensor_dict, metadata=None):
    """The bytes of a file of tensors at addresses: a dict from names to TensorSpec."""
    return _write_rows(_spec_rows(tensor_dict), IN_MEMORY, metadata)


def serialize_file(tensor_dict, filename, metadata=None):
    """The same into a file, whole or not at all; one that exists is replaced."""
    _write_rows(_spec_rows(tensor_dict), filename, metadata)


def deserialize(bytes):  # noqa: A002: the package's name
    """The tensors of the bytes of a file: pairs of a name and a dict with shape, dtype and data."""
    with _open(content_of(bytes), arrays=True) as model:
        return [
            (tensor.name, {"shape": list(tensor.shape), "dtype": DTYPES.get(tensor.type, tensor.type), "data": bytearray(tensor.bytes())})
            for tensor in model.tensors()
        ]  # fmt: skip


def _spec_rows(tensor_dict):
    if not isinstance(tensor_dict, dict):
        raise _errors.WrongTypeError(f"expected a dict from str to TensorSpec, found {type(tensor_dict).__name__}")
    for name, spec in tensor_dict.items():
        if not isinstance(name, str) or not isinstance(spec, TensorSpec):
            raise _errors.WrongTypeError(f"expected a dict from str to TensorSpec, found {name!r}: {type(spec).__name__}")
    return [spec._as_row(name) for name, spec in tensor_dict.items()]


_UPSTREAM = "upstream"  # the bytes that the package writes
IN_MEMORY = object()  # in place of a path: the bytes are the result


def save_dict(tensors, filename, metadata):
    """The file of a dict of tensors: safetensors, unless the name has the suffix of another container."""
    from .. import _work

    if not isinstance(tensors, dict):
        raise _errors.UsageError(f"expected a dict of [str, tensor], found {type(tensors).__name__}")
    return _write_rows(_work._rows(tensors)[1], filename, metadata)


def _write_rows(rows, filename, metadata):
    from .. import _tare

    if not isinstance(metadata, (dict, type(None))):
        raise _errors.WrongTypeError(f"metadata must be a dict from str to str, not {type(metadata).__name__}")
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise _errors.WrongTypeError("metadata must be a dict from str to str")
    parts = {"metadata": dict(metadata or {})}
    if filename is IN_MEMORY:
        return _tare._save(None, rows, None, parts, {"format": "safetensors", "dialect": _UPSTREAM}, None)
    name = path_of(filename)
    suffix = os.path.splitext(name)[1]
    named = [row["name"] for row in _tare.formats() if suffix in row["suffixes"] and row["writes"]]
    options = {"format": named[0] if named and suffix else "safetensors", "overwrite": True, "hasty": True}
    if options["format"] == "safetensors":
        options["dialect"] = _UPSTREAM
    _tare._save(name, rows, None, parts, options, None)
    return None
