"""safetensors.torch for every container."""

import torch as _framework

from .. import _errors
from .. import torch as _torch
from .._model import open as _open
from .._tensor import Tensor
from . import IN_MEMORY, check_device, content_of, is_mapped, path_of, save_dict


def load_file(filename, device="cpu", *, backend="mmap"):
    """All tensors of a file. They may be changed; the file is not."""
    check_device(device)
    with _open(path_of(filename), arrays=True, mmap=is_mapped(backend)) as model:
        return _torch._stored_tensors(model, device)


def load(data):
    """All tensors of the bytes of a file."""
    with _open(content_of(data), arrays=True) as model:
        return _torch._stored_tensors(model, "cpu")


def save_file(tensors, filename, metadata=None):
    """Writes a file, whole or not at all; one that exists is replaced."""
    _check(tensors)
    save_dict(tensors, filename, metadata)


def save(tensors, metadata=None):
    """The bytes of the file."""
    _check(tensors)
    return save_dict(tensors, IN_MEMORY, metadata)


def save_model(model, filename, metadata=None, force_contiguous=True):
    """Writes the weights of a torch.nn.Module. If weights share memory, only one of them is written; metadata names it for the others."""
    state = model.state_dict()
    metadata = dict(metadata or {})
    for kept, others in _remove_duplicate_names(state).items():
        for name in others:
            del state[name]
            metadata.setdefault(name, kept)
    for name, tensor in state.items():
        if not force_contiguous and not tensor.is_contiguous():
            raise ValueError(f"{name} is not contiguous; use save_model(..., force_contiguous=True) to write it in C order")
    save_file(state, filename, metadata)


def load_model(model, filename, strict=True, device="cpu", *, backend="mmap"):
    """Loads the weights of a torch.nn.Module; returns the names that are missing and those that are unexpected.

    Of weights that share memory in the model, the file has one. Two for them are unexpected: one would be lost.
    """
    state = load_file(filename, device, backend=backend)
    tied = _remove_duplicate_names(model.state_dict(), preferred_names=state)
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing = set(missing)
    for others in tied.values():
        unexpected.extend(name for name in others if name not in missing)
        missing.difference_update(others)
    if strict and (missing or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for word, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                quoted = ", ".join(f'"{name}"' for name in sorted(names))
                lines.append(f"{word} key(s) in state_dict: {quoted}")
        raise RuntimeError("\n    ".join(lines))
    return missing, unexpected


# ---- memory that tensors share; other packages import these names from safetensors.torch


def storage_ptr(tensor):
    """The address of the memory that a tensor is a view of; 0 if it has none."""
    return tensor.untyped_storage().data_ptr()


def storage_size(tensor):
    """The bytes of that memory."""
    return tensor.untyped_storage().nbytes()


def _end_ptr(tensor):
    """The address after the last element."""
    if not tensor.numel():
        return tensor.data_ptr()
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr() + (last + 1) * tensor.element_size()


def _is_complete(tensor):
    """Whether it is all of its memory."""
    return tensor.data_ptr() == storage_ptr(tensor) and tensor.numel() * tensor.element_size() == storage_size(tensor)


def _find_shared_tensors(state_dict):
    """Sets of names: those whose tensors overlap are in one. Tensors without memory are in none."""
    memories = {}
    for name, tensor in state_dict.items():
        if isinstance(tensor, _framework.Tensor) and tensor.layout == _framework.strided and tensor.device.type != "meta":
            place = storage_ptr(tensor), storage_size(tensor)
            if all(place):
                memories.setdefault((tensor.device, *place), []).append(name)
    groups = []
    for names in memories.values():
        end = None
        for name in sorted(names, key=lambda name: (state_dict[name].data_ptr(), _end_ptr(state_dict[name]))):
            if end is None or state_dict[name].data_ptr() >= end:
                groups.append({name})
                end = _end_ptr(state_dict[name])
            else:
                groups[-1].add(name)
                end = max(end, _end_ptr(state_dict[name]))
    return groups


def _remove_duplicate_names(state_dict, *, preferred_names=None, discard_names=None):
    """{the name to keep: the others} of tensors that share memory, as far as one of them is all of it.

    Among several, one of preferred_names is kept, else one that is not in discard_names, else the first by name.
    """
    removed = {}
    for names in _find_shared_tensors(state_dict):
        whole = {name for name in names if _is_complete(state_dict[name])}
        if not whole:
            raise RuntimeError(f"none of {', '.join(sorted(names))} is all of the memory that it is a view of; clone() it first")
        choices = whole & set(preferred_names or ()) or whole - set(discard_names or ()) or whole
        kept = min(choices)
        if len(names) > 1:
            removed[kept] = sorted(names - {kept})
    return removed


def _check(tensors):
    """Refuses what the package refuses, with its exceptions."""
    if not isinstance(tensors, dict):
        raise _errors.UsageError(f"expected a dict of [str, torch.Tensor], found {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor):
            continue  # a tensor of an open file, which Tare checks itself
        if not isinstance(tensor, _framework.Tensor):
            raise _errors.UsageError(f"{name!r}: expected a torch.Tensor, found {type(tensor).__name__}")
        if tensor.layout != _framework.strided:
            raise _errors.UsageError(f"{name!r} is sparse; make it dense with to_dense()")
    for names in _find_shared_tensors(tensors):
        if len(names) > 1:
            raise RuntimeError(
                f"tensors share memory: {', '.join(sorted(names))}; clone() one of them, or use save_model"
            )
