"""Tensors of every container for torch, and checkpoints without running anything that is in them."""

import numpy as np
import torch as _torch

from ._model import Model
from ._model import open as _open

_TYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool",
    "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2", "f8_e4m3fnuz": "float8_e4m3fnuz",
    "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e8m0": "float8_e8m0fnu", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip


def dtype(tensor):
    """The torch type of a tensor's elements; float32 for quantized ones, which are decoded."""
    if tensor.layout == "dense":
        row = tensor.components[0]
        name = _TYPES.get(row["type"] or row["dtype"]) or _TYPES[row["dtype"]]
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


def part(tensor, key):
    """What `tensor[key]` would be, reading only what it needs."""
    if tensor._private() is not None:
        return _whole(tensor)[key]
    return _dense_part(tensor, key)


def load(path, map_location="cpu", mmap=True, *, arrays=True):
    """All tensors of a model file, of any container, as a dict of torch tensors. Nothing in the file is run.

    arrays  of packed weights (GPTQ, AWQ, ...), as torch.load gives them; False: the weights, decoded
    """
    with _open(path, mmap=mmap, arrays=arrays) as model:
        return {name: tensor(model.tensor(name), map_location) for name in model}


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
            kind = getattr(_torch, _TYPES[row["type"] or row["dtype"]])
    return _torch.frombuffer(data, dtype=kind).reshape(tensor.shape)


def _dense_part(tensor, key):
    """Through the bits where NumPy does not know the type."""
    from ._tensor import _basic_index, _check_index

    items = _basic_index(key)
    if items is None:
        return _whole(tensor)[key]
    _check_index(tensor.shape, items)
    return _whole(tensor._slice(items))


def state_dict(source):
    """A mapping from names to torch tensors that are made when they are asked for; see tare.transformers."""
    from .transformers import StateDict

    return StateDict(source if isinstance(source, Model) else _open(source))
