"""Tensors whose bytes are read when they are asked for."""

import collections
import math
import operator

import numpy as np

from . import _dtypes, _errors, _tare
from ._index import basic_index, check_index
from ._text import shown


class Opaque(collections.namedtuple("Opaque", "syntax bytes")):
    """A metadata value that only the syntax of its file knows."""

    __slots__ = ()


class Sparse(collections.namedtuple("Sparse", "layout shape parts")):
    """The parts of a sparse tensor that scipy cannot have, or without scipy: a dict from roles to arrays."""

    __slots__ = ()


class Tensor(_tare.Tensor):
    """One tensor of a model: what is known about it, and ways to its elements.

    It keeps the file open by itself; the model may be closed.
    """

    __slots__ = ("__weakref__",)

    @property
    def dtype(self):
        """The NumPy type of the elements: that of `numpy()`."""
        if self.layout == "dense":
            return self._dtype("data")
        if self.layout in _dtypes.PACKED:
            small = _small_float(self.layout)
            return np.dtype(small) if small is not None else np.dtype("u1")
        if sparse_kind(self.layout) is not None and next((row["type"] for row in self.components if row["role"] == "values"), None) != "f4_e2m1":
            return self._dtype("values")
        return np.dtype("<f4")

    @property
    def size(self):
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self):
        return len(self.shape)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    def __iter__(self):
        if self._view() is not None:
            yield from map(self.__getitem__, range(len(self)))
            return
        step = _rows_at_once(self)
        for first in range(0, len(self), step):
            block = self[first : first + step]
            # Copies, so that a row that is kept does not keep its block.
            yield from (row.copy() for row in block) if self.ndim > 1 else block

    # ---- elements

    def numpy(self):
        """All elements as a NumPy array: a read-only view of the file where that can be, else a copy.

        Quantized and sparse tensors are decoded.
        """
        view = self._view()
        if view is not None:
            return view
        if self.layout == "dense":
            return _read(self, "data").reshape(self.shape)
        if self.layout in _dtypes.PACKED:
            small = _small_float(self.layout)
            if small is None:
                return _read(self, self.components[0]["role"], "u1")
            return _read(self._decode(), "data").astype(small).reshape(self.shape)
        return self.decode()

    def decode(self):
        """The elements as a dense array, decoded from any layout (f32 for quantized tensors)."""
        dense = self._decode()
        view = dense._view()
        return view if view is not None else _read(dense, "data").reshape(self.shape)

    def float32(self):
        """The elements as 32-bit floats. A value beyond the largest is an error."""
        return self._cast("f32", "error").numpy()

    def cast(self, dtype, overflow="error"):
        """A tensor of another storage type ('f32', 'bf16', np.float16, ...), converted when it is read."""
        return self._cast(_dtypes.name_of(dtype), overflow)

    def sparse(self):
        """A sparse tensor as scipy.sparse has it, or as its parts (Sparse) where scipy is not installed or cannot have it:
        it has no arithmetic for floats of 16 and 8 bits, and no matrices of three dimensions."""
        kind = sparse_kind(self.layout)
        if kind is None:
            raise TypeError(f"{self.name!r} is {self.layout}, not sparse")
        parts = {row["role"]: _read(self, row["role"]) for row in self.components if row["type"] != "f4_e2m1"}
        if "values" not in parts:  # NumPy has no 4-bit elements
            parts["values"] = _f4_values(self, parts["coords"].size // self.ndim if kind == "sparse_coo" else parts["indices"].size)
        if not _is_sound(kind, self.shape, parts):  # scipy would trust the indices, and read and write out of bounds
            self.numpy()  # raises the error
            raise _errors.CorruptError(f"tensor {self.name!r}: its indices are outside of the shape", kind="corrupt",
                                       rule=f"{kind[-3:]}.bounds", item=self.name)  # fmt: skip
        found = _scipy_sparse(kind, self.shape, parts)
        return found if found is not None else Sparse(self.layout, self.shape, parts)

    def verify(self):
        """Compares the stored bytes with their digests, if there are any. Raises CorruptError `digest.mismatch`.

        Whatever reads or decodes all bytes of a tensor compares them by itself. A view of a mapped file (`numpy()` of a dense
        tensor, `bytes()`, DLPack) and a slice read only what is looked at, and are not compared, unless the model was opened with
        verify=True.
        """
        self._verify()

    def bytes(self, role=None):
        """The bytes of a component, decompressed, as a memoryview; by default those of the only one."""
        if role is None:
            rows = self.components
            if len(rows) != 1:
                raise ValueError(f"{self.name!r} has the components {', '.join(r['role'] for r in rows)}: name one")
            role = rows[0]["role"]
        return memoryview(self._bytes(role))

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("another type needs a copy")
            return array.astype(dtype)
        if copy:
            return array.copy()
        if copy is False and array.flags.writeable:
            raise ValueError("the elements cannot be shown without a copy")
        return array

    def __getitem__(self, key):
        """What NumPy would give, read by touching only the bytes that it needs."""
        view = self._view()
        if view is not None:
            return view[key]
        if self.layout in _dtypes.PACKED and _small_float(self.layout) is None:
            raise TypeError(f"{self.layout} needs the package ml_dtypes; decode() gives floats")
        items = basic_index(key)
        if items is None:
            return _fancy(self, key)
        check_index(self.shape, items)
        part = self._slice(items)
        array = _read(part, "data").reshape(part.shape)
        if self.layout in _dtypes.PACKED:
            array = array.astype(_small_float(self.layout))
        if not part.shape and not any(kind in ("ellipsis", "new") for kind, *_ in items):
            return array[()]
        return array

    def torch(self, device=None):
        """The elements as a torch tensor. See tare.torch."""
        from . import _torch_tensors

        return _torch_tensors.tensor(self, device=device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None:
            raise BufferError("the elements are in host memory, which has no stream")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError("the elements are in host memory")
        return _tare._dlpack(*_exported(self, max_version, copy))

    def __dlpack_device__(self):
        return (1, 0)

    # ---- inspection

    def stats(self, bins=24, first=8, threads=0):
        """Counts, minimum, maximum, mean and standard deviation, over the finite elements, as a dict."""
        found = self._statistics(*_counts(bins=bins, first=first, threads=threads))
        for fact in ("low", "high", "histogram", "inner", "inner_low", "inner_high"):
            found.pop(fact, None)
        if found["count"] == found["nan"] + found["inf"]:  # no element is finite
            found.update(dict.fromkeys(("min", "max", "mean", "std"), math.nan))
        return found

    def histogram(self, bins=24, threads=0):
        """(counts, edges), as numpy.histogram gives them, over the finite elements."""
        if bins < 1:
            raise ValueError("a histogram needs at least one bin")
        found = self._statistics(*_counts(bins=bins, first=0, threads=threads))
        low, high = found["low"], found["high"]
        return np.array(found["histogram"], dtype=np.int64), np.linspace(low, high, bins + 1)

    def _inner_histogram(self, bins):
        """The histogram that a picture shows, without outliers, and how many values are outside."""
        found = self._statistics(*_counts(bins=bins, first=0, threads=0))
        kind = "inner_" if "inner" in found else ""
        counts = np.array(found["inner" if kind else "histogram"], dtype=np.int64)
        edges = np.linspace(found[f"{kind}low"], found[f"{kind}high"], bins + 1)
        return counts, edges, found["count"] - found["nan"] - found["inf"] - int(counts.sum())

    def __repr__(self):
        shape = "x".join(map(str, self.shape)) or "scalar"
        return f"<tare.Tensor {self.name!r} {shape} {shown(self.type)}>"

    def _repr_html_(self):
        from . import _html

        return _html.tensor(self)

    def __reduce__(self):
        raise TypeError("a tensor of a file cannot be pickled; pickle its numpy(), or the path and the name")


def _counts(**numbers):
    for name, number in numbers.items():
        if not 0 <= operator.index(number) < 1 << 31:
            raise ValueError(f"{name} must be between 0 and {(1 << 31) - 1}, not {number}")
    return numbers.values()


def _small_float(layout):
    package = _dtypes.ml_dtypes()
    return getattr(package, _dtypes.PACKED[layout], None) if package else None


def _read(tensor, role, dtype=None):
    """A component's elements, copied to new memory, in one dimension."""
    for row in tensor.components:
        if row["role"] == role:
            out = np.empty(row["bytes"], np.uint8)
            tensor._read(role, out)
            return out.view(tensor._dtype(role) if dtype is None else dtype)
    raise KeyError(role)


def _fancy(tensor, key):
    """Indexing with arrays. A list of matrix rows reads only those; everything else reads the whole tensor."""
    rows = np.asarray(key) if not isinstance(key, tuple) else None
    if rows is None or rows.dtype.kind not in "iu" or rows.ndim != 1 or not tensor.shape or 2 * rows.size > tensor.shape[0]:
        return tensor.numpy()[key]
    if not rows.size:
        return np.empty((0, *tensor.shape[1:]), tensor.dtype)
    for row in rows[(rows < -len(tensor)) | (rows >= len(tensor))]:
        tensor[int(row)]  # raises the error
    if rows.size <= _BLOCKS:
        return np.stack([tensor[int(row)] for row in rows])
    rows, step = np.where(rows < 0, rows + len(tensor), rows).astype(np.int64), _rows_at_once(tensor)
    out = np.empty((rows.size, *tensor.shape[1:]), tensor.dtype)
    for number in np.unique(rows // step):
        chosen = rows // step == number
        first, last = int(rows[chosen].min()), int(rows[chosen].max())
        out[chosen] = tensor[first : last + 1][rows[chosen] - first]
    return out


_BLOCKS = 16


def _rows_at_once(tensor):
    """How many rows to read together. What is compressed may have to be decompressed from its start each time, so the
    number of blocks is limited; and a block is at most 1 GiB, so that memory is."""
    row = max(math.prod(tensor.shape[1:]) * max(tensor.dtype.itemsize, 4), 1)  # small floats are read as f32
    whole = row * len(tensor)
    return max((whole if whole <= 64 << 20 else min(max(4 << 20, whole // _BLOCKS), 1 << 30)) // row, 1)


def sparse_kind(layout):
    """The layout that a sparse one is, whatever the width of its indices; None for others."""
    kinds = {"zt.sparse_csr/1": "sparse_csr", "zt.sparse_coo/1": "sparse_coo"}
    return layout if layout in kinds.values() else kinds.get(layout)


def _f4_values(tensor, count):
    """Sparse values of 4 bits, two per byte, as floats."""
    codes = _read(tensor, "values", "u1")
    codes = np.stack([codes & 15, codes >> 4], axis=1).reshape(-1)[:count]
    sizes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], "<f4")
    return np.concatenate([sizes, -sizes])[codes]


def _is_sound(kind, shape, parts):
    values = len(parts["values"])
    if kind == "sparse_coo":
        places = parts["coords"].reshape(len(shape), -1) if len(shape) else parts["coords"].reshape(0, 0)
        return all(not place.size or int(place.max()) < size for place, size in zip(places, shape))
    starts, columns = parts["indptr"], parts["indices"]
    return (
        len(starts) == shape[0] + 1 and int(starts[0]) == 0 and int(starts[-1]) == values == len(columns)
        and bool((starts[1:] >= starts[:-1]).all()) and (not columns.size or int(columns.max()) < shape[1])
    )  # fmt: skip


def _scipy_sparse(layout, shape, parts):
    try:
        import scipy.sparse as sparse
    except ImportError:
        return None
    if parts["values"].dtype.kind not in "fiucb" or parts["values"].dtype.itemsize < 4 and parts["values"].dtype.kind == "f":
        return None  # scipy has no arithmetic for f16
    if layout == "sparse_csr" and len(shape) == 2:
        return sparse.csr_array((parts["values"], _signed(parts["indices"]), _signed(parts["indptr"])), shape=shape)
    if layout == "sparse_coo":
        # One line of coordinates per dimension.
        coordinates = _signed(parts["coords"]).reshape(len(shape), -1)
        if len(shape) == 2 or (len(shape) == 1 and hasattr(sparse, "coo_array")):
            return sparse.coo_array((parts["values"], tuple(coordinates)), shape=shape)
    return None


def _signed(indices):
    return indices.astype(np.int64, copy=False)


# DLPack's codes for types; types without one are not exported.
_DLPACK = {
    "f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64), "i32": (0, 32), "i16": (0, 16),
    "i8": (0, 8), "u64": (1, 64), "u32": (1, 32), "u16": (1, 16), "u8": (1, 8), "bool": (6, 8), "complex64": (5, 64),
    "complex128": (5, 128), "f8_e4m3fn": (10, 8), "f8_e4m3fnuz": (11, 8), "f8_e5m2": (12, 8), "f8_e5m2fnuz": (13, 8),
    "f8_e8m0": (14, 8),
}  # fmt: skip


def _exported(tensor, max_version, copy):
    """The parts of the capsule: bytes, shape, type, whether a versioned one is accepted, whether it is read-only."""
    dense = tensor if tensor.layout == "dense" else tensor._decode()
    row = dense.components[0]
    code = _DLPACK.get(row["type"] or row["dtype"])
    if code is None:
        raise BufferError(f"DLPack has no type for {row['type'] or row['dtype']}")
    versioned = max_version is not None and tuple(max_version) >= (1, 0)
    # Only a versioned capsule can be marked as read-only.
    if versioned and not copy and dense._view() is not None:
        return dense._bytes(row["role"]), tensor.shape, *code, versioned, True
    if copy is False:
        raise BufferError("the elements cannot be shown without a copy")
    out = np.empty(row["bytes"], np.uint8)
    dense._read(row["role"], out)
    return out, tensor.shape, *code, versioned, False
