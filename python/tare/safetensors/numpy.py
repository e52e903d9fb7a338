"""safetensors.numpy for every container."""

from .._model import open as _open
from . import IN_MEMORY, content_of, is_mapped, path_of, save_dict


def load_file(filename, *, backend="mmap"):
    """All tensors of a file as NumPy arrays. They may be changed; the file is not."""
    with _open(path_of(filename), arrays=True, mmap=is_mapped(backend)) as model:
        return model.load(writable=True)


def load(data):
    """All tensors of the bytes of a file."""
    with _open(content_of(data), arrays=True) as model:
        return model.load(writable=True)


def save_file(tensor_dict, filename, metadata=None):
    """Writes a file, whole or not at all; one that exists is replaced."""
    save_dict(tensor_dict, filename, metadata)


def save(tensor_dict, metadata=None):
    """The bytes of the file."""
    return save_dict(tensor_dict, IN_MEMORY, metadata)
