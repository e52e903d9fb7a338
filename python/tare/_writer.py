"""Writing a model piece by piece, in bounded memory."""

import math
import os
import tempfile

import numpy as np

from . import _dtypes, _errors, _progress, _tare, _work

_ALIGNMENT = 64


class Writer:
    """Declares tensors, takes their elements in pieces, and writes the file when it is closed.

        with tare.Writer("model.zt", metadata={"name": "mine"}) as writer:
            writer.declare("embed.weight", (32000, 4096), "bf16")
            for rows in chunks:
                writer.write("embed.weight", rows)

    Pieces go to a file without a name next to the target, so that memory stays bounded, and tensors may be fed in any order.
    The target appears whole when the writer is closed; an exception inside of `with` leaves nothing behind. The other
    arguments are those of `tare.save`.
    """

    def __init__(
        self, path, *, metadata=None, config=None, vocabulary=None, attachments=None, progress=None, **options
    ):
        self._path = os.fspath(path)
        self._parts = _work._parts(metadata, config, vocabulary, attachments)
        self._options = _work._options(**options)
        self._progress = progress
        self._tensors = {}  # name: [shape, storage, logical, offset, size, done]
        self._end = 0
        self._file = _unnamed_file(os.path.dirname(os.path.abspath(self._path)))

    def declare(self, name, shape, dtype):
        """A tensor that will be written: `dtype` is Tare's name of a type ('bf16', 'f8_e4m3fn') or a NumPy type."""
        self._require_open()
        if not isinstance(name, str):
            raise TypeError(f"the name of a tensor must be a str, not {type(name).__name__}")
        if name in self._tensors:
            raise ValueError(f"tensor {name!r} has been declared already")
        storage, logical, item = _types_of(dtype)
        shape = tuple(int(size) for size in ((shape,) if isinstance(shape, int) else shape))
        if any(size < 0 for size in shape):
            raise ValueError(f"tensor {name!r}: a dimension is negative")
        size = math.prod(shape) * item
        self._end = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        self._tensors[name] = [shape, storage, logical, self._end, size, 0]
        self._end += size

    def write(self, name, piece):
        """The next elements of a tensor, row after row: an array of its type, or bytes."""
        self._require_open()
        if name not in self._tensors:
            raise _errors.TensorNotFoundError(f"tensor {name!r} has not been declared", rule="python.tensor", item=name)
        row = self._tensors[name]
        _, storage, logical, offset, size, done = row
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            _, _, found, type_, piece = _work._row(name, piece)
            if (found, type_) != (storage, logical):
                raise TypeError(f"tensor {name!r} is {logical or storage}, the piece is {type_ or found}")
        piece = memoryview(piece).cast("B")
        if done + len(piece) > size:
            raise ValueError(f"tensor {name!r} has {size} bytes; {done + len(piece)} were written")
        at = offset + done
        while piece:
            written = os.pwrite(self._file.fileno(), piece[: 1 << 30], at)
            at += written
            piece = piece[written:]
        row[5] = at - offset

    def add(self, name, array):
        """A whole tensor at once: anything that `tare.save` takes but tensors of files."""
        _, shape, storage, logical, data = _work._row(name, array)
        self.declare(name, shape, (storage, logical))
        self.write(name, memoryview(data))

    def close(self):
        """Writes the file, and says what was written. Every declared tensor must be complete."""
        if self._file is None:
            return None
        try:
            for name, (_, _, _, _, size, done) in self._tensors.items():
                if done != size:
                    raise ValueError(f"tensor {name!r} is not complete: {done} of {size} bytes were written")
            os.ftruncate(self._file.fileno(), max(self._end, 1))
            with _progress.reporter(self._progress, "saving") as report:
                # The kernel copies them from file to file, and shares them where the file system can.
                rows = [
                    (name, shape, storage, logical, (self._file.fileno(), offset, size))
                    for name, (shape, storage, logical, offset, size, _) in self._tensors.items()
                ]
                done = _tare._save(self._path, rows, None, self._parts, self._options, report)
            return _work._saved(_work.Saved, done)
        finally:
            self.discard()

    def discard(self):
        """Ends without writing anything."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.discard()

    def _require_open(self):
        if self._file is None:
            raise _errors.ClosedError("the writer has been closed", rule="python.closed")


def _types_of(dtype):
    """(storage, logical, bytes of an element)."""
    if isinstance(dtype, tuple):
        storage, logical = dtype
    elif isinstance(dtype, str) and dtype in _dtypes.TARE_NAMES:
        storage, logical = _dtypes.TARE_NAMES[dtype]
    else:
        try:
            storage, logical = _dtypes.tare_dtype(np.dtype(dtype))
        except TypeError:
            raise TypeError(f"there is no type {dtype!r}") from None
    return storage, logical, _dtypes.numpy_dtype(storage, logical).itemsize


def _unnamed_file(folder):
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), "r+b", buffering=0)
    except (OSError, AttributeError):
        pass
    try:
        return tempfile.TemporaryFile(dir=folder, buffering=0)
    except FileNotFoundError as error:
        raise _errors.NotFoundError(
            f"{folder}: {error.strerror}", kind="not_found", rule="io.sink.directory", file=folder
        ) from None
