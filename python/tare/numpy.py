"""Pytrees of NumPy arrays: nested dicts, whose keys are the parts of the names."""

from ._model import opened


def tree(source, separator=".", *, verify=False):
    """{'layers': {'0': {'weight': array}}} for 'layers.0.weight'. A name that is also the beginning of another is an error.
    verify: as in tare.open."""
    model = opened(source, verify)
    root = {}
    for name, array in model.load().items():
        *path, last = name.split(separator)
        place = root
        for part in path:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise ValueError(f"{name!r}: {part!r} is a tensor and also the beginning of a name")
        if last in place:
            raise ValueError(f"{name!r} is a tensor and also the beginning of a name")
        place[last] = array
    return root


def flat(tree, separator="."):
    """The inverse: a dict that tare.save takes."""
    names = {}

    def walk(prefix, node):
        for key, value in node.items():
            name = f"{prefix}{separator}{key}" if prefix else str(key)
            if isinstance(value, dict):
                walk(name, value)
            else:
                names[name] = value

    walk("", tree)
    return names
