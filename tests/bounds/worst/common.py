"""What builders are made of, and the table of them."""
import os

CASES = {}  # name: (builder, verbs)
ALLOWED = set()  # those that use up an allowance which small files have as well: they need not grow with the file
VERBS = ("info", "ls", "verify", "hash")


def case(function=None, verbs=VERBS, allowed=False):
    if function is None:
        return lambda f: case(f, verbs, allowed)
    CASES[function.__name__] = (function, verbs)
    if allowed:
        ALLOWED.add(function.__name__)
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


def numbered(form, size, separator=","):
    """The same with %d, which counts."""
    return separator.join(form % i for i in range(max(1, size // (len(form % 100000) + len(separator)))))
