"""Types of the package, for editors and type checkers. tests/test_types.py compares them with the code."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import cluster as cluster
from . import device as device
from . import jax as jax
from . import numpy as numpy
from . import plot as plot
from . import safetensors as safetensors
from . import torch as torch
from . import transformers as transformers
from . import vllm as vllm

__version__: str

_Path = str | os.PathLike[str] | os.PathLike[bytes]
_Content = bytes | bytearray | memoryview
_Array = npt.NDArray[Any]
_Progress = bool | Callable[[int, int], object] | Any | None
_Globs = str | Iterable[str]
_Quant = str | Mapping[str, Any] | None

class Error(Exception):
    kind: str
    rule: str
    sentence: str
    text: str
    file: str | None
    item: str | None
    offset: int | None
    subject: str
    remedies: tuple[tuple[str, str], ...]
    def __init__(self, text: str = "", **facts: Any) -> None: ...
    @property
    def remedy(self) -> str | None: ...

class NotFoundError(Error, FileNotFoundError): ...

class TensorNotFoundError(Error, KeyError):
    near: list[str]

class AccessError(Error, OSError): ...
class DeniedError(AccessError, PermissionError): ...
class ExistsError(Error, FileExistsError): ...
class CorruptError(Error, ValueError): ...
class UnsupportedError(Error, NotImplementedError): ...
class LimitError(Error, ValueError): ...
class LossyError(Error, ValueError): ...
class UsageError(Error, ValueError): ...
class ClosedError(UsageError): ...
class WrongTypeError(Error, TypeError): ...
class OutsideError(Error, IndexError): ...

class Opaque(NamedTuple):
    syntax: str
    bytes: bytes

class Sparse(NamedTuple):
    layout: str
    shape: tuple[int, ...]
    parts: dict[str, _Array]

class Tensor:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def layout(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def size(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...
    @property
    def attributes(self) -> dict[str, Any]: ...
    @property
    def components(self) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> _Array: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def numpy(self) -> _Array: ...
    def decode(self) -> _Array: ...
    def float32(self) -> npt.NDArray[np.float32]: ...
    def cast(self, dtype: str, overflow: str = "error") -> Tensor: ...
    def sparse(self) -> Any: ...
    def verify(self) -> None: ...
    def bytes(self, role: str | None = None) -> memoryview: ...
    def torch(self, device: Any = None) -> Any: ...
    def stats(self, bins: int = 24, first: int = 8, threads: int = 0) -> dict[str, Any]: ...
    def histogram(self, bins: int = 24, threads: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]: ...

class Attachments(Mapping[str, bytes]):
    def __init__(self, model: Model) -> None: ...
    def __getitem__(self, name: str) -> bytes: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Vocabulary(Sequence[bytes]):
    TYPES: tuple[str, ...]
    def __init__(self, parts: dict[str, Any]) -> None: ...
    @property
    def kind(self) -> str: ...
    @property
    def tokens(self) -> list[bytes]: ...
    @property
    def scores(self) -> list[float]: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def merges(self) -> list[bytes]: ...
    @property
    def bos(self) -> int: ...
    @property
    def eos(self) -> int: ...
    @property
    def pad(self) -> int: ...
    @property
    def unk(self) -> int: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __len__(self) -> int: ...

class Model(Mapping[str, Any]):
    path: Any
    def __init__(self, source: Any, **options: Any) -> None: ...
    def __enter__(self) -> Model: ...
    def __exit__(self, *exception: Any) -> None: ...
    def __getitem__(self, name: str) -> Any: ...
    def get(self, name: object, default: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def vocabulary(self) -> Vocabulary | None: ...
    @property
    def attachments(self) -> Attachments: ...
    @property
    def format(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def tensor(self, name: str, /) -> Tensor: ...
    def tensors(self) -> list[Tensor]: ...
    def info(self) -> dict[str, Any]: ...
    def table(self) -> list[dict[str, Any]]: ...
    def load(self, writable: bool = False) -> dict[str, Any]: ...
    def to(
        self, device: str, names: Iterable[str] | None = None, dtype: Any = None, verify: bool = False
    ) -> dict[str, Any]: ...
    def check(self) -> None: ...
    def close(self) -> None: ...

class Saved:
    format: str
    tensors: int
    bytes: int
    file_bytes: int
    changes: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    def __init__(self, **facts: Any) -> None: ...
    @property
    def lossy(self) -> bool: ...

class Conversion(Saved):
    source_format: str

class Quantized(Conversion):
    report: list[dict[str, Any]]
    @property
    def bits_per_weight(self) -> float: ...
    @property
    def relative_rms(self) -> float: ...

class Finding:
    severity: str
    kind: str
    rule: str
    sentence: str
    file: str | None
    item: str | None
    offset: int | None
    remedies: list[tuple[str, str]]
    count: int
    last: str | None
    def __init__(self, **facts: Any) -> None: ...

class Verification:
    format: str
    version: str
    tensors: int
    bytes: int
    findings: list[Finding]
    def __init__(self, **facts: Any) -> None: ...
    @property
    def ok(self) -> bool: ...
    @property
    def strict(self) -> bool: ...
    def __bool__(self) -> bool: ...

class Difference:
    compared: int
    tensors: list[dict[str, Any]]
    metadata: list[dict[str, Any]]
    def __init__(self, **facts: Any) -> None: ...
    @property
    def same(self) -> bool: ...
    def __bool__(self) -> bool: ...

class Perplexity:
    value: float
    error: float
    loss: float
    tokens: int
    pieces: int
    context: int
    def __init__(self, **facts: Any) -> None: ...

class Calibration:
    tokens: int
    pieces: int
    context: int
    enough: int
    source: str
    matrices: dict[str, list[int]]
    remarks: list[str]
    def __init__(self, **facts: Any) -> None: ...

class Quality:
    source: str
    text: str
    tokenizer: str
    tokens: int
    context: int
    kl: tuple[float, float]
    kl_99: tuple[float, float]
    ratio: tuple[float, float]
    top_1: tuple[float, float]
    def __init__(self, **facts: Any) -> None: ...

class Comparison:
    tokens: int
    predicted: int
    kl: tuple[float, float]
    kl_median: tuple[float, float]
    kl_99: tuple[float, float]
    kl_largest: float
    perplexity_a: tuple[float, float]
    perplexity_b: tuple[float, float]
    ratio: tuple[float, float]
    top_1: tuple[float, float]
    top_5: tuple[float, float]
    largest_change: float
    places: list[dict[str, Any]]
    parting: dict[str, Any] | None
    settings: list[tuple[str, str]]
    casts: list[tuple[str, int]]
    worst: list[dict[str, Any]]
    def __init__(self, **facts: Any) -> None: ...
    @property
    def same(self) -> bool: ...

class Generated:
    prompt: list[int]
    tokens: list[int]
    text: str | None
    end: str
    def __init__(self, **facts: Any) -> None: ...

class Scorer:
    vocab_size: int
    hidden_size: int
    layers: int
    context: int
    doubts: list[str]
    def __init__(self, model: Model) -> None: ...
    def logits(
        self, tokens: Any, *, context: int = 0, begin: int | None = None, threads: int = 0, progress: _Progress = None
    ) -> np.ndarray[Any, Any]: ...
    def perplexity(
        self,
        tokens: Any = None,
        *,
        text: str | None = None,
        context: int = 0,
        begin: int | None = None,
        threads: int = 0,
        progress: _Progress = None,
    ) -> Perplexity: ...

    def render(self, messages: Iterable[Mapping[str, Any]], *, add_generation_prompt: bool = True, **variables: Any) -> str: ...
    def generate(
        self,
        start: Any,
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        quantized: bool = False,
        threads: int = 0,
        progress: _Progress = None,
        **variables: Any,
    ) -> Generated: ...
    @overload
    def stream(
        self,
        start: str | list[dict[str, Any]],
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        quantized: bool = False,
        threads: int = 0,
        **variables: Any,
    ) -> Iterator[str]: ...
    @overload
    def stream(
        self,
        start: Any,
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        quantized: bool = False,
        threads: int = 0,
        **variables: Any,
    ) -> Iterator[int]: ...
    def session(self, *, positions: int = 0, quantized: bool = False, threads: int = 0) -> Session: ...

class Session:
    end: str | None
    def __init__(self, scorer: Scorer, *, positions: int = 0, quantized: bool = False, threads: int = 0) -> None: ...
    @property
    def tokens(self) -> list[int]: ...
    @property
    def room(self) -> int: ...
    def feed(self, tokens: Any, *, progress: _Progress = None) -> np.ndarray[Any, Any]: ...
    def rewind(self, position: int) -> None: ...
    def generate(
        self,
        start: Any = None,
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        progress: _Progress = None,
        **variables: Any,
    ) -> Generated: ...
    @overload
    def stream(
        self,
        start: str | list[dict[str, Any]] | None = None,
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        **variables: Any,
    ) -> Iterator[str]: ...
    @overload
    def stream(
        self,
        start: Any = None,
        *,
        count: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        stop: Any = (),
        **variables: Any,
    ) -> Iterator[int]: ...

class Writer:
    def __init__(
        self,
        path: _Path,
        *,
        metadata: Mapping[str, Any] | None = None,
        config: Mapping[str, Any] | None = None,
        vocabulary: Vocabulary | None = None,
        attachments: Mapping[str, Any] | None = None,
        # options
        format: str | None = None,
        dtype: Any = None,
        quant: _Quant = None,
        shard: int | str | None = None,
        match: _Globs = (),
        skip: _Globs = (),
        drop: _Globs = (),
        weights_only: bool = False,
        keep_names: bool = False,
        overwrite: bool = False,
        overflow: str | None = None,
        zstd: bool | int | None = None,
        no_zstd: bool = False,
        digest: str | None = None,
        dedup: bool = False,
        dialect: str | None = None,
        threads: int = 0,
        # end of options
        progress: _Progress = None,
    ) -> None: ...
    def declare(self, name: str, shape: int | Iterable[int], dtype: Any) -> None: ...
    def write(self, name: str, piece: Any) -> None: ...
    def add(self, name: str, array: Any) -> None: ...
    def close(self) -> Saved | None: ...
    def discard(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None: ...

class Task:
    number: int
    def __init__(self, facts: dict[str, Any], number: int) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    def done(self) -> bool: ...
    def run(self, threads: int = 0, progress: _Progress = None, any_owner: bool = False) -> int: ...

class Plan:
    def __init__(self, facts: dict[str, Any]) -> None: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def tasks(self) -> list[Task]: ...
    def missing(self) -> list[Task]: ...
    def run(self, any_owner: bool = False) -> Conversion: ...
    def finish(self, progress: _Progress = None, any_owner: bool = False) -> Conversion: ...

def open(
    path: _Path | _Content,
    *,
    mmap: bool = True,
    usual_names: bool = False,
    arrays: bool = False,
    attach: _Globs = (),
    max_expansion: int | None = None,
    keep_broken: bool = False,
    verify: bool = False,
    threads: int = 0,
) -> Model: ...
def verifying() -> AbstractContextManager[None]: ...
def save(
    path: _Path,
    tensors: Model | Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    vocabulary: Vocabulary | None = None,
    attachments: Mapping[str, Any] | None = None,
    # options
    format: str | None = None,
    dtype: Any = None,
    quant: _Quant = None,
    shard: int | str | None = None,
    match: _Globs = (),
    skip: _Globs = (),
    drop: _Globs = (),
    weights_only: bool = False,
    keep_names: bool = False,
    overwrite: bool = False,
    overflow: str | None = None,
    zstd: bool | int | None = None,
    no_zstd: bool = False,
    digest: str | None = None,
    dedup: bool = False,
    dialect: str | None = None,
    threads: int = 0,
    # end of options
    progress: _Progress = None,
) -> Saved: ...
def to_bytes(
    tensors: Model | Mapping[str, Any],
    *,
    format: str,
    metadata: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    vocabulary: Vocabulary | None = None,
    attachments: Mapping[str, Any] | None = None,
    # options
    dtype: Any = None,
    quant: _Quant = None,
    shard: int | str | None = None,
    match: _Globs = (),
    skip: _Globs = (),
    drop: _Globs = (),
    weights_only: bool = False,
    keep_names: bool = False,
    overwrite: bool = False,
    overflow: str | None = None,
    zstd: bool | int | None = None,
    no_zstd: bool = False,
    digest: str | None = None,
    dedup: bool = False,
    dialect: str | None = None,
    threads: int = 0,
    # end of options
) -> bytes: ...
def convert(
    source: _Path,
    target: _Path,
    *,
    # options
    format: str | None = None,
    dtype: Any = None,
    quant: _Quant = None,
    merge: _Path | Iterable[_Path] = (),
    mmproj: str | None = None,
    family: str | None = None,
    shard: int | str | None = None,
    match: _Globs = (),
    skip: _Globs = (),
    drop: _Globs = (),
    weights_only: bool = False,
    keep_names: bool = False,
    attach: _Globs = (),
    metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    overflow: str | None = None,
    zstd: bool | int | None = None,
    no_zstd: bool = False,
    digest: str | None = None,
    dedup: bool = False,
    dialect: str | None = None,
    check: bool = False,
    mmap: bool = True,
    max_expansion: int | None = None,
    threads: int = 0,
    # end of options
    progress: _Progress = None,
) -> Conversion: ...
def quantize(
    source: _Path,
    target: _Path,
    method: str | None = None,
    *,
    # options
    bits: float | None = None,
    importance: _Path | None = None,
    keep: _Globs = (),
    rules: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    format: str | None = None,
    dtype: Any = None,
    merge: _Path | Iterable[_Path] = (),
    mmproj: str | None = None,
    family: str | None = None,
    shard: int | str | None = None,
    match: _Globs = (),
    skip: _Globs = (),
    drop: _Globs = (),
    weights_only: bool = False,
    keep_names: bool = False,
    attach: _Globs = (),
    metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    overflow: str | None = None,
    pure: bool = False,
    no_fallback: bool = False,
    fast: bool = False,
    clip: tuple[float, float] | None = None,
    range: bool = False,
    zstd: bool | int | None = None,
    no_zstd: bool = False,
    digest: str | None = None,
    dedup: bool = False,
    dialect: str | None = None,
    check: bool = False,
    mmap: bool = True,
    max_expansion: int | None = None,
    threads: int = 0,
    # end of options
    progress: _Progress = None,
) -> Quantized: ...
def verify(
    path: _Path,
    *,
    mmap: bool = True,
    max_expansion: int | None = None,
    threads: int = 0,
    progress: _Progress = None,
) -> Verification: ...
def hash(model: Model | _Path | _Content, *, threads: int = 0, progress: _Progress = None) -> str: ...
def diff(a: Model | _Path | _Content, b: Model | _Path | _Content, *, threads: int = 0, progress: _Progress = None) -> Difference: ...
def run(model: Model | _Path | _Content) -> Scorer: ...
def compare(
    a: Model | _Path | _Content,
    b: Model | _Path | _Content,
    *,
    tokens: Any = None,
    text: str | None = None,
    context: int = 0,
    begin: int | None = None,
    threads: int = 0,
    progress: _Progress = None,
) -> Comparison: ...
def calibrate(
    model: Model | _Path | _Content,
    output: _Path,
    *,
    tokens: Any = None,
    text: str | None = None,
    name: str = "a text",
    context: int = 0,
    begin: int | None = None,
    overwrite: bool = False,
    threads: int = 0,
    progress: _Progress = None,
) -> Calibration: ...
def measure(
    target: Model | _Path | _Content,
    source: Model | _Path | _Content,
    *,
    text: str | None = None,
    write: bool = False,
    context: int = 0,
    threads: int = 0,
    progress: _Progress = None,
) -> Quality: ...
def formats() -> list[dict[str, Any]]: ...
def families() -> list[dict[str, Any]]: ...
def methods() -> dict[str, str]: ...
def plan(
    source: _Path,
    target: _Path,
    *,
    tasks: int | None = None,
    task_bytes: int = ...,
    folder: _Path | None = None,
    # options
    format: str | None = None,
    dtype: Any = None,
    quant: _Quant = None,
    merge: _Path | Iterable[_Path] = (),
    mmproj: str | None = None,
    family: str | None = None,
    shard: int | str | None = None,
    match: _Globs = (),
    skip: _Globs = (),
    drop: _Globs = (),
    weights_only: bool = False,
    keep_names: bool = False,
    attach: _Globs = (),
    metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    overflow: str | None = None,
    zstd: bool | int | None = None,
    no_zstd: bool = False,
    digest: str | None = None,
    dedup: bool = False,
    dialect: str | None = None,
    check: bool = False,
    mmap: bool = True,
    max_expansion: int | None = None,
    threads: int = 0,
    # end of options
) -> Plan: ...
