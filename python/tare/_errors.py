"""The exceptions of the library: each a tare.Error, and the builtin that people expect."""

import errno
import os


class Error(Exception):
    """What went wrong, with the facts that the library knows.

    kind      'not_found', 'io', 'corrupt', 'unsupported', 'limit', 'lossy' or 'usage'
    rule      the stable id of the rule that was broken: 'zt.component.misaligned'
    sentence  what was expected and what was found
    file      the path, or None
    item      the tensor or section, or None
    offset    the byte in the file, or None
    subject   'input', 'output', 'machine' or 'unsaid': on which side the cause is
    remedies  what would help: pairs of an option and its argument
    remedy    the first of them in words, or None
    """

    kind = "usage"
    rule = ""
    sentence = ""
    file = None
    item = None
    offset = None
    subject = "unsaid"
    remedies = ()

    def __init__(self, text="", **facts):
        super().__init__(text)
        self.text = text
        for name, value in facts.items():
            setattr(self, name, value)
        if isinstance(self, OSError):
            self.errno = _code_of(self)
            self.strerror = None if self.errno is None else os.strerror(self.errno)
            self.filename = self.file

    def __str__(self):
        remedy = self.remedy
        return f"{self.text}; {remedy}" if remedy else self.text

    @property
    def remedy(self):
        for name, argument in self.remedies:
            words = _REMEDIES.get(name)
            if words:
                return words(argument) if callable(words) else words
        return None

    def __reduce__(self):
        facts = dict(self.__dict__)
        return _rebuild, (type(self), facts.pop("text", ""), facts)


class NotFoundError(Error, FileNotFoundError):
    """A file or directory does not exist."""


class TensorNotFoundError(Error, KeyError):
    """A model has no tensor of this name."""

    kind = "not_found"


class AccessError(Error, OSError):
    """The system refused: unreadable, full, changed while it was read."""


class DeniedError(AccessError, PermissionError):
    """The system does not allow it."""


class ExistsError(Error, FileExistsError):
    """The output exists already."""


class CorruptError(Error, ValueError):
    """The bytes break a rule of their format."""


class UnsupportedError(Error, NotImplementedError):
    """Well formed, but beyond what this version, or the target, can do."""


class LimitError(Error, ValueError):
    """Larger than a limit allows."""


class LossyError(Error, ValueError):
    """Something would be lost, and no option allowed it."""


class UsageError(Error, ValueError):
    """The caller asked for something that makes no sense."""


class ClosedError(UsageError):
    """The model has been closed."""


class WrongTypeError(Error, TypeError):
    """Something is of a type that cannot be stored: an array of objects, a name that is not text."""

    rule = "python.type"


class OutsideError(Error, IndexError):
    """An index beyond the end of a tensor; of the interface of safetensors."""

    rule = "python.index"


_KINDS = {
    "not_found": NotFoundError,
    "io": AccessError,
    "corrupt": CorruptError,
    "unsupported": UnsupportedError,
    "limit": LimitError,
    "lossy": LossyError,
    "usage": UsageError,
}

_REMEDIES = {
    "overwrite": "overwrite=True replaces it",
    "drop": lambda part: f"drop=[{part!r}] omits it",
    "weights_only": "weights_only=True omits everything but the tensors",
    "skip": lambda glob: f"skip={glob!r} omits it" if glob else "skip omits tensors",
    "match": "match chooses among them",
    "cast": lambda dtype: f"dtype={dtype!r} casts tensors",
    "keep": "a rule (name, 'keep') keeps the tensor as it is",
    "use_method": lambda method: f"quant={method!r} holds it" if method else "without no_fallback=True another method is used",
    "clip": "clip=(low, high) limits it",
    "no_range": "without range=True they can be quantized",
    "accept_owners": "any_owner=True takes it all the same",
    "accept_overflow": lambda how: f"overflow={how!r} allows it" if how else "overflow='clamp' or 'infinity' allows it",
    "allow_expansion": lambda number: f"max_expansion={number or 'N'} allows it",
    "name_format": "name the format: format=...",
    "keep_names": "keep_names=True keeps the input's names, but other programs may not load the file",
    "set": "metadata={...} gives a value",
    "attach": "attach=[GLOB] includes such files",
    "compress": "zstd=LEVEL compresses",
    "shard": "shard=BYTES splits the tensors over several files",
    "write_dialect": lambda name: f"dialect={name!r} needs less room",
    "list_findings": "tare.verify lists them",
}


# The system's messages, with which sentences of the library end.
_CODES = {
    os.strerror(code): code
    for code in (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENOSPC, errno.EDQUOT, errno.EROFS,
                 errno.EIO, errno.EMFILE, errno.ENFILE, errno.ELOOP, errno.ENAMETOOLONG, errno.EFBIG, errno.ESTALE,
                 errno.ENOTEMPTY, errno.EBUSY, errno.EXDEV, errno.EEXIST)
}  # fmt: skip


_DENIED = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))


def _code_of(error):
    """errno, if it is known."""
    said = _CODES.get(error.sentence.rpartition(": ")[2])
    if said is not None:
        return said
    if isinstance(error, FileNotFoundError):
        return errno.ENOENT
    return errno.EEXIST if isinstance(error, FileExistsError) else None


def _rebuild(kind, text, facts):
    return kind(text, **facts)


def make(facts):
    """The exception for the facts of a tare::Error; called by the extension."""
    text = facts.pop("text")
    facts["remedies"] = tuple(facts["remedies"])
    kind = _KINDS[facts["kind"]]
    if kind is AccessError and any(name == "overwrite" for name, _ in facts["remedies"]):
        kind = ExistsError
    if kind is UsageError and any(name == "overwrite" for name, _ in facts["remedies"]):
        kind = ExistsError
    if facts["rule"] == "python.closed":
        kind = ClosedError
    if kind is AccessError and facts["sentence"].rpartition(": ")[2] in _DENIED:
        kind = DeniedError
    return kind(text, **facts)


def of_system(error, doing, rule, file):
    """The exception for an OSError of Python's: of the same kind and rule as if the library had made the call."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        rule = "io.sink.full"
    sentence = f"{doing}: {error.strerror}"
    kind = "not_found" if isinstance(error, FileNotFoundError) else "io"
    return make({"text": f"{file}: {sentence} ({rule})", "kind": kind, "rule": rule, "sentence": sentence, "file": file,
                 "subject": "output", "remedies": ()})  # fmt: skip
