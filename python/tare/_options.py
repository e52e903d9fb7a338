"""The keywords that are options of conversions, from the table of the extension (src/options/conversion.hpp).

A new option is a row of that table and needs no edit here, unless it takes values of a new kind.
"""

import inspect
import os
import re
import textwrap

from . import _dtypes, _tare
from ._paths import path_of


def _texts(value):
    return [value] if isinstance(value, str) else list(value)


def paths(value):
    """A path, or several, as texts."""
    return [path_of(path) for path in ([value] if isinstance(value, (str, bytes, os.PathLike)) else value)]


def size(value):
    """'5GB', '1.5 GiB', '1024' in bytes, as the command reads them."""
    if not isinstance(value, str):
        return value
    found = _tare._parse_size(value.strip())
    if found is None:
        raise ValueError(f"{value!r} is not a size such as '5GB' or '500MiB'")
    return found


def _level(value):
    return 3 if value is True else None if value is False else value


def _recipe(value):
    """The argument of `quantize` as a dict; a text is the method."""
    if isinstance(value, str):
        return {"method": value}
    if not isinstance(value, dict):
        raise TypeError(f"quant must be the name of a method or a dict, not {type(value).__name__}")
    unknown = value.keys() - _keywords("recipe").keys()
    if unknown:
        raise ValueError(
            f"quant has no key {', '.join(map(repr, sorted(unknown, key=str)))}; it has {', '.join(sorted(_keywords('recipe')))}, "
            "where rules are pairs (glob, method)"
        )
    return as_taken("quant", "recipe", value)


def _pairs(value):
    return list(value.items() if isinstance(value, dict) else value)


# What an option takes, by the kind that the table states: (default, type for the stub, function that makes what the extension
# takes, or None).
KINDS = {
    "flag": (False, "bool", None),
    "mapped": (True, "bool", None),
    "text": (None, "str | None", None),
    "texts": ((), "_Globs", _texts),
    "path": (None, "_Path | None", None),
    "paths": ((), "_Path | Iterable[_Path]", paths),
    "number": (None, "int | None", None),
    "count": (0, "int", None),
    "level": (None, "bool | int | None", _level),
    "size": (None, "int | str | None", size),
    "real": (None, "float | None", None),
    "reals": (None, "tuple[float, float] | None", None),
    "type": (None, "Any", _dtypes.name_of),
    "recipe": (None, "_Quant", _recipe),
    "pairs": ((), "Mapping[str, str] | Iterable[tuple[str, str]]", _pairs),
    "values": (None, "Mapping[str, Any] | None", dict),
}  # fmt: skip

# Which groups of the table the functions take.
_GROUPS = {
    "save": {"save"},
    "convert": {"save", "convert"},
    "quantize": {"save", "convert", "recipe"},
    "recipe": {"recipe"},
}


def _keywords(functions):
    """{keyword: kind} of what `functions` take, in the order of the table."""
    rows = {keyword: kind for keyword, _, group, kind, _ in _tare.options if group in _GROUPS[functions]}
    if functions == "quantize":
        del rows["quant"]  # whose keys are its own keywords
    return rows


def as_taken(name, functions, given):
    """What was given to the function `name`, in the form that the extension takes."""
    known = _keywords(functions)
    taken = {}
    for keyword, value in given.items():
        if keyword not in known:
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}{_hint(keyword, known)}")
        convert = KINDS[known[keyword]][2]
        taken[keyword] = value if value is None or convert is None else convert(value)
    if taken.get("zstd") and taken.get("no_zstd"):
        raise ValueError("zstd and no_zstd exclude each other")
    return taken


def with_recipe(taken):
    """The keywords of `quantize` as those of `convert`: its own become the keys of `quant`."""
    own = _keywords("recipe")
    recipe = {keyword: value for keyword, value in taken.items() if keyword in own}
    return {**{keyword: value for keyword, value in taken.items() if keyword not in own}, "quant": recipe}


def _hint(keyword, known):
    for name, option, _, _, text in _tare.options:
        if option and option.replace("-", "_") == keyword and name != keyword:
            if name in known:
                return f". Did you mean {name!r}?"
            if not name:
                return f": {text}"
    near = _tare.nearest(keyword, list(known), 1)
    return f". Did you mean {near[0]!r}?" if near else ""


def _explained(functions, text):
    """A line of a docstring for each keyword that `text` does not explain already."""
    known = _keywords(functions)
    spelled = {option: name for name, option, *_ in _tare.options if name and option}
    explained = {word.strip() for line in text.splitlines() if (found := re.match(r"    ([a-z_, ]+?)  +\S", line)) for word in found[1].split(",")}
    lines = []
    for name, _, _, _, words in _tare.options:
        if name not in known or name in explained:
            continue
        words = re.sub(r"--([a-z-]+)", lambda option: spelled.get(option[1], option[1]), words)
        words = words.replace("; may be given several times", "; one, or several")
        words = re.sub(r"\bOUT\b", "the target", re.sub(r"\bIN\b", "the source", words))
        lines += textwrap.wrap(words, 120, initial_indent=f"    {name:<14}", subsequent_indent=" " * 18)
    return "\n".join(lines).lstrip()


def takes(functions):
    """A decorator: the signature shows the keywords of the table in place of `**options`."""

    def decorate(function):
        own = dict(inspect.signature(function).parameters)
        del own["options"]
        last = [own.pop("progress")] if "progress" in own else []
        rows = [
            inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=KINDS[kind][0])
            for keyword, kind in _keywords(functions).items()
            if keyword not in own
        ]
        function.__signature__ = inspect.Signature([*own.values(), *rows, *last])
        if function.__doc__:  # python -OO has none
            function.__doc__ = function.__doc__.replace("{keywords}", _explained(functions, function.__doc__))
        return function

    return decorate
