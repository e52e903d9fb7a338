"""Model-weight files in Python: open, check, convert and quantize every container that Tare knows.

    import tare
    with tare.open("model.gguf") as m:
        m["token_embd.weight"]          # a NumPy array, without a copy where the bytes allow it
    tare.convert("model.gguf", "model.zt")

Functions

    open        opens a model: a file, a model's directory, an address (hf:org/name, https://...), ollama:NAME, or bytes
    save        writes tensors, or a model, to a file or a directory; to_bytes gives the bytes of the file
    convert     takes a model from one container to another
    quantize    converts with fewer bits per weight, and reports what that cost
    verify      checks everything that can be checked
    diff        compares the weights of two models
    run         runs a model on the CPU: logits, perplexity, generated text
    compare     compares what two models predict for the same text
    calibrate   measures which columns of the matrices matter, for quantize
    measure     measures the loss of a model against its original, and writes it into its file
    hash        the content digest: the same in every container that stores the same tensors
    formats     the containers, and what each can hold
    families    the families of models that convert to GGUF and back
    methods     the ways to quantize
    plan        divides a conversion into tasks, for a cluster
    verifying   a context in which every stored digest is compared

Classes

    Model       what `open` gives: a mapping from names to arrays, with metadata, config, vocabulary and attachments
    Tensor      one tensor of a model, not yet read; Sparse: one as its parts; Opaque: bytes of a syntax of their own
    Vocabulary  the tokens; Attachments: the files that a model carries
    Writer      writes a file tensor by tensor, for models that do not fit into memory
    Plan, Task  what `plan` gives, and one of its tasks
    Scorer      what `run` gives; Session: a text that grows; Perplexity, Comparison, Generated, Calibration, Quality: what
                they, `compare`, `calibrate` and `measure` give
    Saved, Conversion, Quantized        what was written, and what changed
    Verification, Finding, Difference   what `verify` and `diff` found
    Error       what is raised: NotFoundError, TensorNotFoundError, CorruptError, UnsupportedError, LimitError, LossyError, UsageError,
                ExistsError, AccessError, DeniedError, ClosedError, WrongTypeError, OutsideError are kinds of it

Modules: tare.numpy, torch, jax, transformers, safetensors (in place of that package), device (memory of a GPU), plot, cluster, vllm.

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
               "Generated": "_session", "Session": "_session", "run": "_run", "compare": "_run", "calibrate": "_run", "measure": "_run",
               "Calibration": "_run", "Quality": "_run"}

__all__ = [
    "AccessError", "Attachments", "ClosedError", "CorruptError", "DeniedError", "Error", "ExistsError", "LimitError", "LossyError",
    "Model", "NotFoundError", "Opaque", "OutsideError", "Sparse", "Tensor", "TensorNotFoundError", "UnsupportedError", "UsageError",
    "Vocabulary", "WrongTypeError", "open", "verifying", *_LAZY_NAMES, *_work.__all__,
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
    facts = ("__all__", "__doc__", "__file__", "__name__", "__package__", "__path__", "__spec__", "__version__")
    return sorted({*__all__, *_LAZY, *facts})
