"""What builders are made of, and the table of them."""
import os
from typing import Callable, NamedTuple, Optional, Sequence

CASES = {}  # name: Case


class Case(NamedTuple):
    build: Callable  # (directory, bytes) -> path
    verbs: Optional[Sequence[str]]  # keys of verbs.VERBS; None: all that take a model
    allowed: bool  # uses up an allowance which small files have as well: need not grow with the file
    tensor: str  # the tensor that `show`, `cat` and others ask for
    quick: bool  # is run by the test bounds.growth, too, not only by `make bounds`


def case(function=None, verbs=None, allowed=False, tensor="t", quick=True, called=None):
    if function is None:
        return lambda f: case(f, verbs, allowed, tensor, quick, called)
    called = called or function.__name__
    assert called not in CASES, called
    CASES[called] = Case(function, verbs, allowed, tensor, quick)
    return function


def put(directory, name, *parts):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)
    return path


def repeated(item, size, separator=b","):
    """About `size` bytes of one item, again and again."""
    return separator.join([item] * max(1, size // (len(item) + len(separator))))


ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def name(number):
    """Another for each number, as short as can be: the shorter a name, the more a byte of the file costs."""
    text = ""
    while number >= 0:
        number, digit = divmod(number, len(ALPHABET))
        text += ALPHABET[digit]
        number -= 1
    return text


def numbered(form, size, separator=","):
    """About `size` bytes of `form`, each with another name for its %s."""
    items, used = [], 0
    while used < size or not items:
        items.append(form % name(len(items)))
        used += len(items[-1]) + len(separator)
    return separator.join(items)
