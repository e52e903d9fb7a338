"""safetensors.torch for every container."""

from .. import torch as _torch
from .._model import open as _open
from . import IN_MEMORY, path_of, save_dict


def load_file(filename, device="cpu"):
    """All tensors of a file. They may be changed; the file is not."""
    return _torch._all_tensors(path_of(filename), device)


def load(data):
    """All tensors of the bytes of a file."""
    with _open(bytes(data), arrays=True) as model:
        return {name: _torch.tensor(model.tensor(name)) for name in model}


def save_file(tensors, filename, metadata=None):
    """Writes a file, whole or not at all; one that exists is replaced."""
    _refuse_shared(tensors)
    save_dict(tensors, filename, metadata)


def save(tensors, metadata=None):
    """The bytes of the file."""
    _refuse_shared(tensors)
    return save_dict(tensors, IN_MEMORY, metadata)


def save_model(model, filename, metadata=None, force_contiguous=True):
    """Writes the weights of a torch.nn.Module. Of weights that share memory, one is written."""
    state = model.state_dict()
    metadata = dict(metadata or {})
    for names in _shared(state):
        kept, *others = sorted(names, key=lambda name: (-state[name].numel(), name))
        for name in others:
            del state[name]
            metadata.setdefault(name, kept)
    if not force_contiguous and any(not tensor.is_contiguous() for tensor in state.values()):
        raise ValueError("a weight is not contiguous; force_contiguous=True writes it in the usual order")
    save_dict(state, filename, metadata)


def load_model(model, filename, strict=True, device="cpu"):
    """Loads the weights of a torch.nn.Module; returns the names that are missing and those that are unexpected."""
    state = load_file(filename, device=device)
    own = model.state_dict()
    absent = set(own) - set(state)
    for names in _shared(own):
        if any(name in state for name in names):
            absent -= set(names)
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing = set(missing) & absent
    if strict and (missing or unexpected):
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(model).__name__}: missing {sorted(missing)}, "
            f"unexpected {sorted(unexpected)}"
        )
    return missing, unexpected


def _shared(tensors):
    """Lists of names whose tensors share memory."""
    import torch

    groups = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            continue
        if tensor.device.type != "meta" and tensor.numel():
            storage = tensor.untyped_storage()
            groups.setdefault((tensor.device, storage.data_ptr(), storage.nbytes()), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def _refuse_shared(tensors):
    import torch

    for names in _shared(tensors) if isinstance(tensors, dict) else ():
        spans = sorted(
            (tensors[name].data_ptr(), tensors[name].data_ptr() + tensors[name].numel() * tensors[name].element_size())
            for name in names
            if isinstance(tensors[name], torch.Tensor)
        )
        if any(a[1] > b[0] for a, b in zip(spans, spans[1:])):
            raise RuntimeError(
                f"tensors share memory: {', '.join(sorted(names))}; clone() one of them, or use save_model"
            )
