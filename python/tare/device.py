"""Tensors in the memory of a GPU, for libraries that take DLPack: jax, cupy, torch.

    arrays = tare.device.load("model.zt", device="cuda")
    x = cupy.from_dlpack(arrays["w"])

For torch there is tare.torch.load(path, device="cuda"), which fills memory that torch allocates.
"""

import os

from . import _tare
from ._model import Model, opened
from ._text import shown

# DLPack's codes: (code, bits).
_DLPACK = {
    "f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64), "i32": (0, 32), "i16": (0, 16),
    "i8": (0, 8), "u64": (1, 64), "u32": (1, 32), "u16": (1, 16), "u8": (1, 8), "bool": (6, 8), "complex64": (5, 64),
    "complex128": (5, 128), "f8_e4m3fn": (10, 8), "f8_e4m3fnuz": (11, 8), "f8_e5m2": (12, 8), "f8_e5m2fnuz": (13, 8),
    "f8_e8m0": (14, 8),
}  # fmt: skip
# NumPy's names, for __cuda_array_interface__.
_TYPESTR = {
    "f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1", "u64": "<u8",
    "u32": "<u4", "u16": "<u2", "u8": "|u1", "bool": "|b1", "complex64": "<c8", "complex128": "<c16",
}  # fmt: skip


def facts(device="cuda"):
    """Name, memory and free memory of a device, and the version of its driver."""
    return _tare._device_facts(device)


def release():
    """Gives back the pinned memory that is kept for the next load."""
    _tare._device_release()


def plan(model, names=None, dtype=None, parts=None):
    """What is to be loaded: rows of (name, type or None, part or None), or None for everything. `parts`: a dict from names to
    (axis, begin, end)."""
    if names is None and not parts:
        return None
    rows = []
    parts = parts or {}
    wanted = None if names is None else set(names)
    for name, kind, layout, _, _, _ in model._table():
        if wanted is not None:
            if name not in wanted:
                continue
            wanted.discard(name)
        rows.append((name, dtype if layout != "dense" or kind in _FLOATS else None, parts.get(name)))
    if wanted:
        raise KeyError(sorted(wanted)[0])
    return rows


_FLOATS = ("f64", "f32", "f16", "bf16", "f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz", "f8_e8m0")


def load(source, device="cuda", names=None, dtype=None, verify=False, parts=None, threads=0):
    """Tensors of a file or an open model as a dict of DeviceTensor. The device's memory is Tare's, and lives as long as one of
    them. Returns when everything has arrived. Tensors that are not dense are decoded, to float32 unless `dtype` is "f16" or
    "bf16"; floats are cast to it. `verify` checks digests on the way."""
    with Opened(source, verify) as model:
        rows = plan(model, names, dtype, parts)
        layout, _ = _tare._device_layout(model, rows, dtype, device)
        loading = _tare._device_load(model, layout, None, None, {"device": device, "threads": threads})
        placed = _tare._device_rows(layout)
        _tare._device_finish(loading, None)
    return {row[0]: DeviceTensor(loading, i, row, device) for i, row in enumerate(placed)}


class Opened:
    """A model for the time of a with statement, opened if it is a path."""

    def __init__(self, source, verify=False):
        self._own = not isinstance(source, Model)
        self._model = opened(os.fspath(source) if self._own else source, verify)

    def __enter__(self):
        return self._model

    def __exit__(self, *exception):
        if self._own:
            self._model.close()


class DeviceTensor:
    """A tensor in the memory of a GPU."""

    def __init__(self, loading, number, row, device):
        self._loading = loading
        self.name, self.dtype, self.shape, _, _, self.nbytes = row
        self.device = device if ":" in device else f"{device}:0"
        self.address = _tare._device_address(loading, number)

    def __dlpack_device__(self):
        kind, number = self.device.split(":")
        return (2 if kind == "cuda" else 10, int(number))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            raise BufferError("the tensor is not copied; copy what is made of it")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is in the memory of {self.device}")
        if self.dtype not in _DLPACK:
            raise BufferError(f"DLPack has no type {self.dtype}")
        code, bits = _DLPACK[self.dtype]
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        return _tare._device_dlpack(self.address, *self.__dlpack_device__(), self.shape, code, bits, versioned, self._loading)

    @property
    def __cuda_array_interface__(self):
        if self.dtype not in _TYPESTR:
            raise AttributeError(f"there is no type string for {self.dtype}; use DLPack")
        return {"shape": self.shape, "typestr": _TYPESTR[self.dtype], "data": (self.address, False), "version": 3}

    def tobytes(self):
        """A copy of the bytes in host memory."""
        return _tare._device_read(self.device, self.address, self.nbytes)

    def __repr__(self):
        return f"<tare.DeviceTensor {self.name!r}: {shown(self.dtype)} {list(self.shape)} on {shown(self.device)}>"
