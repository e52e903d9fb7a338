"""Model-weight files in Python: open, check, convert and quantize every container that Tare knows.

    import tare
    with tare.open("model.gguf") as m:
        m["token_embd.weight"]          # a NumPy array, without a copy where the bytes allow it
    tare.convert("model.gguf", "model.zt")

The guide is docs/python.md.
"""

import importlib

from . import _tare, _work
from ._errors import (
    AccessError,
    ClosedError,
    CorruptError,
    DeniedError,
    Error,
    ExistsError,
    LimitError,
    LossyError,
    NotFoundError,
    OutsideError,
    TensorNotFoundError,
    UnsupportedError,
    UsageError,
    WrongTypeError,
)
from ._model import Attachments, Model, Vocabulary, open, verifying
from ._tensor import Opaque, Sparse, Tensor
from ._to_device import to as _to
from ._work import *  # noqa: F403: what its __all__ lists

__version__ = _tare.version
Model.to = _to

# Modules that import others (torch, scipy, matplotlib) or that few programs use: loaded on first access.
_LAZY = ("cluster", "device", "jax", "numpy", "plot", "safetensors", "torch", "transformers", "vllm")
_LAZY_NAMES = {"Writer": "_writer", "Plan": "_plan", "Task": "_plan", "plan": "_plan", "Scorer": "_run", "Comparison": "_run", "Perplexity": "_run",
               "run": "_run", "compare": "_run"}

__all__ = [
    "AccessError", "Attachments", "ClosedError", "CorruptError", "DeniedError", "Error", "ExistsError", "LimitError", "LossyError",
    "Model", "NotFoundError", "Opaque", "OutsideError", "Sparse", "Tensor", "TensorNotFoundError", "UnsupportedError", "UsageError",
    "Vocabulary", "WrongTypeError", "open", "verifying", *_work.__all__,
]  # fmt: skip


def __getattr__(name):
    if name in _LAZY:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ImportError as error:  # a dependency is missing: help(), dir() and hasattr() continue without it
            raise AttributeError(f"{__name__}.{name} cannot be imported: {error}") from error
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})
