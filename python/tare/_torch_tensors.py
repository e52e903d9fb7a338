"""Tensors of a file as torch tensors, and the names of types in both."""

import numpy as np
import torch as _torch

from ._index import basic_index, check_index

TYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool",
    "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2", "f8_e4m3fnuz": "float8_e4m3fnuz",
    "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e8m0": "float8_e8m0fnu", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip


def dtype(tensor):
    """The torch type of a tensor's elements; float32 for quantized ones, which are decoded."""
    if tensor.layout == "dense":
        row = tensor.components[0]
        name = TYPES.get(row["type"] or row["dtype"]) or TYPES[row["dtype"]]
        found = getattr(_torch, name, None)
        if found is None:
            raise TypeError(f"this torch has no type for {row['type'] or row['dtype']}")
        return found
    return _torch.float32


def tensor(tensor, device=None):
    """A tensor of a file as a torch tensor.

    Its memory is that of the file where the bytes allow it. It may be changed all the same: a page is copied when it is
    first written to, and the file stays as it is.
    """
    made = _whole(tensor)
    return made if device is None else made.to(device)


def as_stored(tensor, device="cpu"):
    """The same with 4-bit floats as torch stores them, two per element, for callers that want the stored form."""
    packed = getattr(_torch, "float4_e2m1fn_x2", None)
    if tensor.layout != "packed.f4_e2m1" or packed is None or not tensor.shape or tensor.shape[-1] % 2:
        return globals()["tensor"](tensor, device)
    bits = np.empty(tensor.nbytes, np.uint8)
    tensor._read("payload", bits)
    shape = (*tensor.shape[:-1], tensor.shape[-1] // 2)
    return _torch.from_numpy(bits).view(packed).reshape(shape).to(device)


def part(tensor, key):
    """What `tensor[key]` would be, reading only what it needs."""
    if tensor._private() is not None:
        return _whole(tensor)[key]
    return _dense_part(tensor, key)


def short_name(kind):
    """Tare's name of a torch type."""
    if kind is None or isinstance(kind, str):
        return kind
    for short, name in TYPES.items():
        if getattr(_torch, name, None) is kind:
            return short
    raise TypeError(f"elements become float32, float16 or bfloat16 on the way, not {kind}")


def _whole(tensor):
    kind = dtype(tensor)
    if not tensor.size:
        return _torch.empty(tensor.shape, dtype=kind)
    data = tensor._private() if tensor.layout == "dense" else None
    if data is None:
        dense = tensor if tensor.layout == "dense" else tensor._decode()
        row = dense.components[0]
        data = np.empty(row["bytes"], np.uint8)
        dense._read(row["role"], data)
        if tensor.layout != "dense":
            kind = getattr(_torch, TYPES[row["type"] or row["dtype"]])
    return _torch.frombuffer(data, dtype=kind).reshape(tensor.shape)


def _dense_part(tensor, key):
    """Goes through the bits if NumPy does not know the type."""
    items = basic_index(key)
    if items is None:
        return _whole(tensor)[key]
    check_index(tensor.shape, items)
    return _whole(tensor._slice(items))
