"""Indices of a tensor: NumPy's basic indexing."""

import numpy as np


def basic_index(key):
    """NumPy's basic indexing in the form that the extension takes; None for anything else (arrays, lists, booleans)."""
    items = []
    for part in key if isinstance(key, tuple) else (key,):
        if part is Ellipsis:
            items.append(("ellipsis", None, None, None))
        elif part is None:
            items.append(("new", None, None, None))
        elif isinstance(part, slice):
            items.append(("range", part.start, part.stop, part.step))
        elif isinstance(part, (bool, np.bool_)) or (isinstance(part, np.ndarray) and part.dtype.kind not in "iu"):
            return None
        elif hasattr(part, "__index__") and not (isinstance(part, np.ndarray) and part.ndim):
            items.append(("index", part.__index__(), None, None))
        elif isinstance(part, (list, np.ndarray)):
            return None
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are valid indices"
            )
    return items


def check_index(shape, items):
    """Raises NumPy's exceptions for what NumPy refuses."""
    kinds = [kind for kind, *_ in items]
    if kinds.count("ellipsis") > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(kind in ("index", "range") for kind in kinds)
    if used > len(shape):
        raise IndexError(f"too many indices: the tensor has {len(shape)} dimensions, {used} were indexed")
    axis = 0
    for kind, start, stop, step in items:
        if kind == "ellipsis":
            axis += len(shape) - used
        elif kind == "index":
            if not -shape[axis] <= start < shape[axis]:
                raise IndexError(f"index {start} is out of bounds for axis {axis} with size {shape[axis]}")
            axis += 1
        elif kind == "range":
            if step == 0:
                raise ValueError("slice step cannot be zero")
            axis += 1
