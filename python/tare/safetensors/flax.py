"""safetensors.flax for every container: JAX arrays."""

from . import IN_MEMORY, _jax, numpy, save_dict


def load_file(filename, *, backend="mmap"):
    """All tensors of a file as JAX arrays."""
    return {name: _jax(array) for name, array in numpy.load_file(filename, backend=backend).items()}


def load(data):
    """All tensors of the bytes of a file."""
    return {name: _jax(array) for name, array in numpy.load(data).items()}


def save_file(tensors, filename, metadata=None):
    """Writes a file, whole or not at all; one that exists is replaced."""
    save_dict(tensors, filename, metadata)


def save(tensors, metadata=None):
    """The bytes of the file."""
    return save_dict(tensors, IN_MEMORY, metadata)
