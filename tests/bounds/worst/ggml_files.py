import os
import struct

from worst.common import case, name


def numbers(*values):
    return struct.pack(f"<{len(values)}i", *values)


def whisper(directory, tokens, tensors, count):
    path = os.path.join(directory, "ggml-w.bin")
    with open(path, "wb") as file:
        file.write(b"lmgg" + numbers(count, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 201) + bytes(804) + numbers(count) + tokens + tensors)
    return path


@case
def ggml_tokens(directory, size):
    return whisper(directory, bytes(4 * (size // 4)), b"", size // 4)


@case
def ggml_tensors(directory, size):
    def tensor(text):
        return numbers(1, len(text), 0, 0) + text
    return whisper(directory, b"", b"".join(tensor(name(i).encode()) for i in range(size // 19)), 0)


@case
def ggml_any_program(directory, size):
    """Each program reads as many tokens as there can be, and then something that is not a tensor."""
    path = os.path.join(directory, "ggml-m.bin")
    with open(path, "wb") as file:
        file.write(b"lmgg" + numbers(size // 4 - 20, *[0] * (size // 4)) + b"\xff" * 16)
    return path
