"""Tensors of every container for torch, and checkpoints without running anything that is in them."""

import torch as _torch

from . import _paths
from ._model import open as _open
from ._model import opened, wants_digests
from ._torch_tensors import TYPES, as_stored, dtype, part, short_name, tensor  # noqa: F401: for callers, too


def _stored_tensors(model, device):
    """All tensors of an open model, as the file stores them."""
    if not _is_gpu(device):
        return {name: as_stored(model.tensor(name), device) for name in model}
    halves = {row[0] for row in model._table() if row[2] == "packed.f4_e2m1"}  # the device would decode these
    others = to_device(model, device, [name for name in model if name not in halves])
    made = {**others, **{name: as_stored(model.tensor(name), device) for name in halves}}
    return {name: made[name] for name in model}


def load(
    path, map_location="cpu", pickle_module=None, *, weights_only=True, mmap=True, arrays=True, device=None, dtype=None,
    verify=False,
):  # fmt: skip
    """Loads what torch.load(path, weights_only=True) loads, with tensors in the mapped file, or the tensors of any other container.

    path    a path, a file that is open for reading, or bytes
    arrays  True: packed weights (GPTQ, AWQ, ...) as the stored arrays, like torch.load; False: the weights, decoded
    device  where to load, the same as map_location. For a GPU, torch allocates memory once per file, and the tensors are views
    dtype   for GPUs only: the device casts and decodes to this type
    verify  compare the digests that the file has, on every device

    A file of torch.save becomes the object that was saved: dicts, lists, numbers and tensors, which share memory as they did.
    Nothing in it is run. What torch.load refuses with weights_only=True is a tare.UnsupportedError, for any weights_only and
    pickle_module. Other containers become a Checkpoint, a dict of all tensors by their full names; so does everything with
    arrays=False or a dtype.
    """
    if hasattr(path, "read"):
        path = path.read()
        if not _paths.is_content(path):  # text would be a path chosen by the file
            raise TypeError(f"the file must be open as bytes (\"rb\"), but gives {type(path).__name__}")
    location = map_location if device is None else device
    to_gpu = _is_gpu(location)
    if not to_gpu and dtype is not None:
        raise ValueError("dtype is for devices; Tensor.to casts")
    if arrays and dtype is None:
        from . import _checkpoint

        bulk = (lambda storages: to_device(storages, location, verify=verify)) if to_gpu else None
        made = _checkpoint.load(path, {"mmap": mmap is not False, "verify": wants_digests(verify)}, location, bulk)
        if made is not None:
            return made[0]
    return _all_tensors(path, _place_of(location), mmap is not False, arrays, dtype, verify)


def _all_tensors(path, device="cpu", mmap=True, arrays=True, dtype=None, verify=False):
    """The tensors of any container, by their full names."""
    with _open(path, mmap=mmap, arrays=arrays, verify=verify) as model:
        if _is_gpu(device):
            return Checkpoint(to_device(model, device, dtype=dtype), model.metadata)
        made = as_stored if arrays else tensor
        return Checkpoint({name: made(model.tensor(name), device) for name in model}, model.metadata)


class Checkpoint(dict):
    """The tensors of a checkpoint by their full names; lookups also find parts of it.

    state["model"]   the tensors whose names begin with 'model.', without that prefix
    state["epoch"]   what the file has in addition to tensors

    Iterating yields the tensors only.
    """

    def __init__(self, tensors, rest=None):
        super().__init__(tensors)
        self.rest = rest if isinstance(rest, dict) else {}

    def __missing__(self, key):
        if isinstance(key, str):
            part, rest = _below(key, self), _below(key, self.rest)
            if part or rest:
                whole = self.rest.get(key)
                return Checkpoint(part, {**(whole if isinstance(whole, dict) else {}), **rest})
        if key in self.rest:
            return self.rest[key]
        raise KeyError(key)

    def __contains__(self, key):
        if super().__contains__(key) or key in self.rest:
            return True
        return isinstance(key, str) and bool(_below(key, self) or _below(key, self.rest))

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __reduce__(self):
        return Checkpoint, (dict(self), self.rest)


def _below(key, names):
    """The entries whose names begin with the key and a dot, without that prefix."""
    return {name[len(key) + 1 :]: value for name, value in names.items() if name.startswith(key + ".")}


def _place_of(location):
    """The device that torch.load's map_location selects for data from a file."""
    if isinstance(location, dict):
        location = location.get("cpu", "cpu")
    if callable(location) and not isinstance(location, _torch.device):
        kept = location(_torch.empty(0, dtype=_torch.uint8).untyped_storage(), "cpu")
        return kept.device if hasattr(kept, "device") else "cpu"
    return "cpu" if location is None else location


def to_device(source, device="cuda", names=None, dtype=None, verify=False, parts=None, threads=0):
    """Tensors of a file or an open model on a GPU, as a dict; returns when all have arrived.

    names: which; all by default. dtype: a torch type that floats are cast and quantized tensors decoded to (float32 where none
    is given and they must be decoded). parts: a dict from names to (axis, begin, end), as a rank of a tensor-parallel group
    takes them. verify: digests that the file has are compared with the bytes that were copied.
    """
    from . import device as _device

    with _device.Opened(source, verify) as model:
        kind = short_name(dtype)
        batch = _Batch(model, _device.plan(model, names, kind, parts), kind, device, {"threads": threads}).begin()
        tensors = batch.tensors()  # views, made while the bytes are being loaded
        batch.finish()
        return tensors


def iterate(source, device="cuda", names=None, dtype=None, verify=False, window=1 << 30):
    """Yields pairs of a name and a tensor on the GPU as they arrive, for the current stream. In addition to what the caller keeps,
    about one window of device memory is used: one half is filled while the caller works on the other. The tensors of a half
    share an allocation."""
    import concurrent.futures

    from . import device as _device

    with _device.Opened(source, verify) as model:
        sizes = {row[0]: row[4] for row in model._table()}
        rows, batches, size = [], [], 0
        kind = short_name(dtype)
        for row in _device.plan(model, sizes if names is None else names, kind):
            if rows and size + sizes[row[0]] > window // 2:
                batches.append(rows)
                rows, size = [], 0
            rows.append(row)
            size += sizes[row[0]]
        batches.append(rows)

        def begin(number):
            if number == len(batches):
                return None
            made = _Batch(model, batches[number], kind, device, {"pinned_bytes": _RING})
            return beginner.submit(made.begin)

        # A load waits for the previous one's ring in its own thread, so it begins as soon as that one has read everything.
        with concurrent.futures.ThreadPoolExecutor(1, "tare") as beginner:
            batch, number, following = None, 0, begin(0)
            try:
                while following is not None:
                    batch, number = following.result(), number + 1
                    following = begin(number)
                    yield from batch
                    batch.finish()
            finally:
                if batch is not None:
                    batch.close()


# The pinned memory of 14 threads. Two such loads cannot hold it at the same time.
_RING = 112 << 20


# Queries of torch about a device.


def _place(device):
    place = _torch.device(device)
    return place if place.index is not None else _torch.device(place.type, _torch.cuda.current_device())


def _room(size, place):
    return _torch.empty(size, dtype=_torch.uint8, device=place)


def _stream(place):
    return _torch.cuda.current_stream(place).cuda_stream


class _Batch:
    """Tensors that are being loaded into torch's memory, on the current stream."""

    def __init__(self, model, rows, kind, device, options):
        from . import _tare

        self._tare = _tare
        self._model = model
        place = _place(device)
        self._layout, sizes = _tare._device_layout(model, rows, kind, str(place))
        self._stream = _stream(place)
        # Rounded up, so that a buffer can be viewed as elements of any type.
        self._buffers = [_room((size + 15) // 16 * 16, place) for size in sizes]
        self._typed = {}
        self._options = {"device": str(place), **options}

    def begin(self):
        memory = [(buffer.data_ptr(), buffer.numel()) for buffer in self._buffers]
        self._loading = self._tare._device_load(self._model, self._layout, memory, self._stream, self._options)
        self._rows = self._tare._device_rows(self._layout)  # while the bytes are being loaded
        return self

    def _view(self, row):
        _, kind, shape, buffer, offset, size = row
        found = self._typed.get((buffer, kind))
        if found is None:
            name = TYPES.get(kind)
            element = getattr(_torch, name, None) if name else None
            if element is None:
                raise TypeError(f"this torch has no type for {kind}")
            typed = self._buffers[buffer].view(element)
            found = self._typed[buffer, kind] = (typed, typed.element_size())
        typed, width = found
        if len(shape) == 1:
            strides = (1,)
        elif len(shape) == 2:
            strides = (shape[1], 1)
        else:
            strides, step = [], 1
            for length in reversed(shape):
                strides.append(step)
                step *= length
            strides.reverse()
        return typed.as_strided(shape, strides, offset // width) if size else typed.new_empty(shape)

    def tensors(self):
        view = self._view
        with _torch.no_grad():
            return {row[0]: view(row) for row in self._rows}

    def __iter__(self):
        while True:
            number = self._tare._device_next(self._loading, self._stream)
            if number is None:
                return
            row = self._rows[number]
            yield row[0], self._view(row)

    def finish(self):
        return self._tare._device_finish(self._loading, None)

    def close(self):
        """Ends the load, if it is still running."""
        self._loading = None


def _is_gpu(device):
    kind = getattr(device, "type", None) or (device.split(":")[0] if isinstance(device, str) else None)
    return kind == "cuda" or (isinstance(device, int) and not isinstance(device, bool))


def state_dict(source, *, verify=False):
    """A mapping from names to torch tensors that are made when they are asked for; see tare.transformers. verify: as in tare.open."""
    from ._state_dict import StateDict

    return StateDict(opened(source, verify))
