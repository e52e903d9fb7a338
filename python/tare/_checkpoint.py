"""What torch.load(weights_only=True) makes of a checkpoint, with tensors in the mapped file.

The extension reads the pickle and runs nothing in it. It makes plain data itself, and calls a Maker for what is torch's. What
may come is a short list (src/formats/torch/objects.cpp), and arguments are looked at before torch gets them.
"""

import collections

import torch as _torch

from . import _errors, _paths, _tare
from ._model import Model


class Storages(Model):
    """The storages of a checkpoint, each a tensor of bytes under its key."""

    path = None

    def __init__(self):
        pass  # the extension sets its model


def load(source, options, location, bulk):
    """The object in a file of torch.save, or None if it is another container; the object is the only item of a tuple.

    location  torch.load's map_location
    bulk      None, or what brings all storages to a device at once: a function of a Storages
    """
    model = Storages()
    model._options = options
    name = "bytes" if _paths.is_content(source) else _paths.path_of(source)
    try:
        return _tare._checkpoint(source, options, model, lambda: Maker(model, name, location, bulk))
    finally:
        model.close()


class Maker:
    """Makes torch's objects. Its methods are called by the extension, with what it has checked: bounds of views, names."""

    def __init__(self, model, file, location, bulk):
        self._model, self._file, self._location = model, file, location
        self._bytes = {}  # key: the bytes of a storage as a tensor, on its device
        self._visible = {}  # key: the storage as an object
        self._bulk = None if bulk is None else bulk(model)
        self._calls = {
            "collections.OrderedDict": collections.OrderedDict,
            "collections.Counter": collections.Counter,
            "torch.Size": _size,
            "torch.device": _torch.device,
            "torch.serialization._get_layout": _layout,
            "_codecs.encode": _encoded,
            "builtins.bytearray": _bytearray,
            "builtins.set": _set,
            "builtins.complex": _complex,
            "torch._utils._rebuild_parameter": _parameter,
            "torch._utils._rebuild_parameter_with_state": _parameter,
            "torch._utils._rebuild_sparse_tensor": _sparse,
            "torch._utils._rebuild_qtensor": _torch._utils._rebuild_qtensor,
            "torch._utils._rebuild_meta_tensor_no_storage": _meta,
            "torch._tensor._rebuild_from_type_v2": _typed,
        }

    def large(self, stored):
        """An integer beyond 64 bits, from decimal digits or from bytes."""
        return int(stored) if isinstance(stored, str) else int.from_bytes(stored, "little", signed=True)

    def constant(self, module, name):
        found = {"torch": _torch, "torch.nn.parameter": _torch.nn.parameter, "torch.storage": _torch.storage}.get(module)
        made = getattr(found, name, None) if found is not None else None
        if made is None:
            raise self._error(_errors.UnsupportedError, f"this torch has no {module}.{name}", "torch.type", None)
        return made

    def call(self, module, name, arguments, at):
        try:
            return self._calls[f"{module}.{name}"](*arguments)
        except _errors.Error:
            raise
        except Exception as error:  # whatever torch raises for invalid arguments
            raise self._error(_errors.CorruptError, f"{name}: {error}", "torch.value", at) from error

    def set_state(self, made, state, at):
        if type(made) not in (collections.OrderedDict, collections.Counter) or type(state) is not dict:
            raise self._error(_errors.CorruptError, f"attributes for a {type(made).__name__}", "torch.value", at)
        made.__dict__.update(state)

    def storage(self, key, kind, tag):
        found = self._visible.get(key)
        if found is None:
            whole = self._stored(key, tag)
            if whole.untyped_storage().nbytes() != whole.numel():  # a part of a larger allocation
                whole = whole.clone()
            element = _torch.uint8 if kind == "UntypedStorage" else getattr(_torch, kind).dtype
            found = self._visible[key] = _torch.storage.TypedStorage(
                wrap_storage=whole.untyped_storage(), dtype=element, _internal=True
            )
        return found

    def dense(self, key, tag, kind, offset, size, stride, flags, at):
        whole = self._stored(key, tag)
        element = getattr(_torch, kind, None)
        if element is None:
            raise self._error(_errors.UnsupportedError, f"this torch has no type for {kind}", "torch.type", at)
        made = _torch.empty(0, dtype=element, device=whole.device)
        offset += whole.storage_offset() // element.itemsize
        made.set_(whole.untyped_storage(), offset, size, stride)
        if flags & 6:
            _torch._utils.set_tensor_metadata(made, {name: True for name, bit in (("conj", 2), ("neg", 4)) if flags & bit})
        if flags & 1:
            if not (element.is_floating_point or element.is_complex):
                raise self._error(_errors.CorruptError, f"a gradient for elements of type {kind}", "torch.tensor.form", at)
            made.requires_grad_()
        return made

    def _stored(self, key, tag):
        found = self._bytes.get(key)
        if found is None:
            found = self._bytes[key] = self._read(key, tag) if self._bulk is None else self._bulk[key]
        return found

    def _read(self, key, tag):
        made = self._model.tensor(key).torch()
        if made.data_ptr() % _ALIGNMENT:  # the older layout is unaligned; elements have up to 16 bytes
            made = made.clone()
        return _restored(made, tag, self._location)

    def _error(self, kind, sentence, rule, at):
        place = f"{rule}, byte {at}" if at else rule
        return kind(f"{self._file}: {sentence} ({place})", kind=_KINDS[kind], rule=rule, sentence=sentence,
                    file=self._file, offset=at or None, subject="input")  # fmt: skip


_ALIGNMENT = 16
_KINDS = {_errors.CorruptError: "corrupt", _errors.UnsupportedError: "unsupported"}


def _restored(made, tag, location):
    """Bytes on the device that map_location names. Without one they stay in host memory, wherever they were saved from."""
    if isinstance(location, dict):
        location = location.get(tag)
    elif callable(location) and not isinstance(location, _torch.device):
        kept = location(made.untyped_storage(), tag)
        if kept is None:
            return made
        if isinstance(kept, _torch.storage.TypedStorage):
            kept = kept._untyped_storage
        return _torch.empty(0, dtype=_torch.uint8, device=kept.device).set_(kept)
    if location is None or str(location) == "cpu":
        return made
    return made.to(location)


# The allowed calls. Errors in their arguments are raised as they are.


def _size(items=()):
    return _torch.Size(items)


_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn")


def _layout(name):
    short = name.removeprefix("torch.")
    if short not in _LAYOUTS or short == name:
        raise ValueError(f"{name!r} is not a layout")
    return getattr(_torch, short)


_ENCODINGS = ("latin1", "latin-1", "utf-8", "ascii")


def _encoded(text, encoding="utf-8"):
    if encoding not in _ENCODINGS:  # others run code: zlib's would decompress
        raise ValueError(f"the encoding {encoding!r}")
    return text.encode(encoding)


def _bytearray(*arguments):
    if len(arguments) == 2:
        return bytearray(_encoded(*arguments))
    if arguments and not isinstance(arguments[0], (bytes, bytearray)):  # a number would be a length
        raise TypeError(f"a bytearray of {type(arguments[0]).__name__}")
    return bytearray(*arguments)


def _set(*arguments):
    return set(*arguments)


def _complex(real, imag=0.0):
    return complex(float(real), float(imag))


def _parameter(data, requires_grad, hooks, state=None):
    if type(data) is not _torch.Tensor:
        raise TypeError(f"a parameter of {type(data).__name__}")
    return _with_attributes(_torch.nn.Parameter(data, bool(requires_grad)), state)


def _typed(made, kind, state):
    if type(made) is not kind:
        if kind not in (_torch.Tensor, _torch.nn.Parameter):
            raise TypeError(f"a tensor of type {kind.__name__}")
        made = made.as_subclass(kind)
    return _with_attributes(made, state)


def _with_attributes(made, state):
    for attributes in state if type(state) is tuple else (state,):
        for name, value in (attributes or {}).items():
            if not isinstance(name, str) or hasattr(type(made), name):
                raise ValueError(f"the attribute {name!r} is the tensor's own")
            made.__dict__[name] = value
    return made


def _sparse(layout, parts):
    if layout == _torch.sparse_coo:
        indices, values, size, *coalesced = parts
        return _torch.sparse_coo_tensor(
            indices, values, size, check_invariants=True, is_coalesced=coalesced[0] if coalesced else None
        )
    compressed, plain, values, size = parts
    return _torch.sparse_compressed_tensor(compressed, plain, values, size, layout=layout, check_invariants=True)


def _meta(kind, size, stride, requires_grad):
    return _torch.empty_strided(size, stride, dtype=kind, device="meta", requires_grad=bool(requires_grad))
