"""Writing a model piece by piece, in bounded memory."""

import contextlib
import math
import operator
import os
import tempfile
import threading

import numpy as np

from . import _dtypes, _errors, _progress, _tare, _work
from ._options import as_taken, takes
from ._paths import absolute

_ALIGNMENT = 64
_LARGEST = 1 << 60


class Writer:
    """Declares tensors, takes their elements in pieces, and writes the file when it is closed.

        with tare.Writer("model.zt", metadata={"name": "mine"}) as writer:
            writer.declare("embed.weight", (32000, 4096), "bf16")
            for rows in chunks:
                writer.write("embed.weight", rows)

    Tensors may be written in any order, and memory stays bounded. Pieces go directly to their final places in an unnamed
    temporary file, which becomes the target. If a place is not known yet, they are buffered in a second unnamed file and
    copied at the end: if tensors are compressed, cast or quantized, or declared after the first piece in a container whose
    header comes before the data. The target appears whole when the writer is closed; after an exception inside of `with`,
    no file is left. The other arguments are those of `tare.save`.

    Any number of threads may declare and write at once; the pieces of one tensor are ordered by the calls. Calls during or
    after closing raise ClosedError. A call from inside another one in the same thread (by a signal handler, by `progress`,
    or by the piece itself) is a UsageError and changes nothing.
    """

    @takes("save")
    def __init__(
        self, path, *, metadata=None, config=None, vocabulary=None, attachments=None, progress=None, **options
    ):
        self._here = _Here()
        self._lock = threading.RLock()  # guards everything below
        self._closing = False
        self._path = absolute(path)
        self._parts = _work._parts(metadata, config, vocabulary, attachments)
        self._options = as_taken("Writer", "save", options)
        self._progress = progress
        self._tensors = {}  # by name
        self._promised = self._written = 0  # bytes of all of them together
        self._new = []  # those without a position yet
        self._placed = None  # the file that becomes the target, if the positions of tensors in it can be known
        self._placed_end = 0
        self._begun, self._grows = False, None  # _grows: whether later tensors come after the others in it
        self._end = 0  # end of the other file
        self._file = _unnamed_file(self._path)

    @contextlib.contextmanager
    def _entered(self):
        """Refuses a call from inside of another one in the same thread: the lock would let it in, between two steps."""
        if self._here.inside:
            if self._closing:
                self._require_open()
            raise _errors.UsageError("the writer is in use by this thread: a call of it has not ended", rule="python.nested")
        try:
            self._here.inside = True
            yield
        finally:
            self._here.inside = False

    def declare(self, name, shape, dtype):
        """A tensor that will be written: `dtype` is Tare's name of a type ('bf16', 'f8_e4m3fn') or a NumPy type."""
        with self._entered():
            self._declare(name, shape, dtype)

    def _declare(self, name, shape, dtype):
        if not isinstance(name, str):
            raise _errors.WrongTypeError(f"the name of a tensor must be a str, not {type(name).__name__}")
        storage, logical, item = _types_of(dtype)
        shape = tuple(map(operator.index, (shape,) if hasattr(shape, "__index__") else shape))
        if any(size < 0 for size in shape):
            raise ValueError(f"tensor {name!r}: a dimension is negative")
        if math.prod(shape) * item > _LARGEST:
            raise ValueError(f"tensor {name!r}: {math.prod(shape)} elements are more than a file can have")
        tensor = _Declared(name, shape, storage, logical, math.prod(shape) * item)
        with self._lock:
            self._require_open()
            if name in self._tensors:
                raise ValueError(f"tensor {name!r} has been declared already")
            self._tensors[name] = tensor
            tensor.promised, self._promised = self._promised, self._promised + tensor.size
            self._new.append(tensor)

    def write(self, name, piece):
        """The next elements of a tensor, row after row: an array of its type, or bytes."""
        with self._entered():
            self._write(name, piece)

    def _write(self, name, piece):
        with self._lock:
            self._require_open()
            if name not in self._tensors:
                raise _errors.TensorNotFoundError(f"tensor {name!r} has not been declared", rule="python.tensor", item=name)
            tensor = self._tensors[name]
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            _, _, storage, logical, piece = _work.dense_row(name, piece)
            if (storage, logical) != (tensor.storage, tensor.logical):
                raise _errors.WrongTypeError(
                    f"tensor {name!r} is {tensor.logical or tensor.storage}, the piece is {logical or storage}"
                )
        piece = memoryview(piece).cast("B")
        with self._lock:
            self._require_open()
            self._append(tensor, piece)

    def _append(self, tensor, piece):
        if tensor.done + len(piece) > tensor.size:
            raise ValueError(f"tensor {tensor.name!r} has {tensor.size} bytes; {tensor.done + len(piece)} were written")
        if not piece:
            return
        if tensor.offset is None:
            self._find_places()
        if tensor.placed:
            _tare._put(self._placed, tensor.offset + tensor.done, piece)
        else:
            with _system("cannot write", "io.sink.write", self._path):
                _write_at(self._file.fileno(), piece, tensor.offset + tensor.done)
        tensor.done += len(piece)
        self._written += len(piece)

    def add(self, name, array):
        """A whole tensor at once: anything that has its elements, not tensors of other layouts than the dense one."""
        with self._entered():
            _, shape, storage, logical, data = _work.dense_row(name, array)
            with self._lock:
                self._declare(name, shape, (storage, logical))
                self._write(name, memoryview(data))

    def close(self):
        """Writes the file, and returns a Saved. Every declared tensor must be complete."""
        if self._here.inside and self._closing:
            return None
        with self._entered(), self._lock:
            if self._file is None:
                return None
            self._closing = True
            try:
                return self._save()
            finally:
                self._closing = False
                self._discard()

    def _save(self):
        for tensor in self._tensors.values():
            if tensor.done != tensor.size:
                raise ValueError(
                    f"tensor {tensor.name!r} is not complete: {tensor.done} of {tensor.size} bytes were written"
                )
        if self._new:
            self._find_places()
        with _system("cannot write", "io.sink.write", self._path):
            os.ftruncate(self._file.fileno(), max(self._end, 1))
        rows = [tensor.row(self._file.fileno()) for tensor in self._tensors.values()]
        with _progress.reporter(self._progress, "saving") as report:
            if self._placed is None:
                # The kernel copies them from file to file, or shares them if the file system can.
                done = _tare._save(self._path, rows, None, self._parts, self._options, report)
            else:
                straight = all(tensor.placed for tensor in self._tensors.values())
                done = _tare._save_placed(self._placed, self._path, rows, self._parts, self._options, straight, report)
        return _work._saved(_work.Saved, done)

    def discard(self):
        """Ends without writing anything. While the file is written, an exception of `progress` does that."""
        with self._entered(), self._lock:
            self._discard()

    def _discard(self):
        self._placed = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _find_places(self):
        """Gives all new tensors a position: in the target if that can be known, otherwise in the other file."""
        new = self._new
        # First, because the layout of what is too large takes long.
        _tare._expect_room(self._file.fileno(), self._promised - self._written, self._path)
        self._give_places(new)
        self._new = []  # only after they have positions: if that fails, the next piece tries again

    def _give_places(self, new):
        if not self._begun:
            offsets = self._ask()
            if offsets is not None:
                runs = [(offset, tensor.size) for offset, tensor in zip(offsets, new)]
                self._placed = _tare._placed_file(self._path, bool(self._options.get("overwrite")), runs)
                self._place(new, offsets)
            self._begun = True
            if offsets is not None:
                return
        elif self._placed is not None and self._grows is not False:
            offsets, end = [], self._placed_end
            for tensor in new:
                offsets.append(_aligned(end))
                end = offsets[-1] + tensor.size
            if self._grows is None:  # determined once; `close` notices if it is different then
                found = self._ask() or ()
                expected = [t.offset for t in self._tensors.values() if t.offset is not None] + offsets
                self._grows = len(found) == len(expected) and all(
                    a == b or not t.size for a, b, t in zip(found, expected, self._tensors.values())
                )
            if self._grows:
                for offset, tensor in zip(offsets, new):
                    _tare._reserve(self._placed, offset, tensor.size)
                self._place(new, offsets)
                return
        for tensor in new:
            tensor.offset = _aligned(self._end)
            self._end = tensor.offset + tensor.size

    def _ask(self):
        """The positions of everything declared in the target, or None."""
        tensors = self._tensors.values()
        rows = [(t.name, t.shape, t.storage, t.logical, (_PLACED, t.promised, t.size)) for t in tensors]
        runs = [(t.promised, t.size) for t in tensors]
        return _tare._places(self._path, rows, self._parts, self._options, runs, self._promised)

    def _place(self, tensors, offsets):
        for tensor, offset in zip(tensors, offsets):
            tensor.placed, tensor.offset = True, offset if tensor.size else 0
            self._placed_end = max(self._placed_end, tensor.offset + tensor.size)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.discard()

    def _require_open(self):
        if self._file is None or self._closing:
            raise _errors.ClosedError("the writer has been closed", rule="python.closed")


class _Here(threading.local):
    """Whether the thread is inside of a call of the writer."""

    inside = False


_PLACED = -1  # used instead of a file's descriptor


class _Declared:
    """A declared tensor, and how much of it is written."""

    def __init__(self, name, shape, storage, logical, size):
        self.name, self.shape, self.storage, self.logical, self.size = name, shape, storage, logical, size
        self.placed, self.offset, self.done = False, None, 0

    def row(self, descriptor):
        """In the form that the extension takes."""
        place = (_PLACED if self.placed else descriptor, self.offset, self.size)
        return self.name, self.shape, self.storage, self.logical, place


def _aligned(offset):
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _write_at(descriptor, piece, offset):
    while piece:
        written = os.pwrite(descriptor, piece[: 1 << 30], offset)
        offset += written
        piece = piece[written:]


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
            raise TypeError(_dtypes.no_such_type(dtype)) from None
    return storage, logical, _dtypes.numpy_dtype(storage, logical).itemsize


@contextlib.contextmanager
def _system(doing, rule, path):
    """Turns an OSError into an error of the library that names the target, not the file without a name."""
    try:
        yield
    except OSError as error:
        raise _errors.of_system(error, doing, rule, path) from None


def _unnamed_file(path):
    """A file without a name in the folder of `path`."""
    folder = os.path.dirname(path.rstrip("/"))
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), "r+b", buffering=0)
    except (OSError, AttributeError):
        pass
    with _system("cannot create", "io.sink.create", path):
        return tempfile.TemporaryFile(dir=folder, buffering=0)
