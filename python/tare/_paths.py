"""Paths, and what is not one."""

import os


def is_content(source):
    """Whether it is the bytes of a file. Bytes are never a path: the sender of a file must not be able to choose another file of this machine."""
    return isinstance(source, (bytes, bytearray, memoryview))


def path_of(path):
    """A path as text, from a str or anything with __fspath__."""
    if is_content(path):
        raise TypeError(f"a path must be a str or a pathlib.Path, not {type(path).__name__}; os.fsdecode makes one of bytes")
    return os.fsdecode(path)


def absolute(path):
    """Where it is, also when the current directory is another. (os.path.abspath would take a/../ out, whatever a links to.)"""
    path = path_of(path)
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
