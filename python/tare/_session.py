"""Texts that grow: what a model has read stays, so that each call computes only what is new."""

import codecs

import numpy as np

from . import _progress, _tare
from ._errors import WrongTypeError
from ._work import Record

__all__ = ["Generated", "Session"]


def ids_of(tokens):
    """Little-endian 32-bit integers. What does not fit becomes the nearest one, which no model has."""
    ids = np.asarray(tokens)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise WrongTypeError(f"tokens are a list of whole numbers, not {ids.dtype} of shape {ids.shape}")
    limits = np.iinfo(np.int32)
    return np.minimum(ids, limits.max).astype(np.int64).clip(limits.min).astype("<i4")


def start_of(start, variables):
    """What the extension takes: a text, ids, or a dict for a list of messages."""
    if isinstance(start, (list, tuple)) and start and isinstance(start[0], dict):
        return {"add_generation_prompt": True, **variables, "messages": list(start)}
    if variables:
        raise WrongTypeError(f"{next(iter(variables))} is for a list of messages")
    return start if isinstance(start, str) else ids_of(start)


class Generated(Record):
    """What a model has made: `tokens`, and their `text` if the model has a tokenizer; `prompt`, the tokens that it started with; and
    why there are no more (`end`): "count", "stop" or "positions"."""

    prompt: list
    tokens: list
    text: str
    end: str


class Session:
    """A text that grows, with the keys and values of all its tokens: each call computes only what is new.

    `tokens` is the text so far, `end` why the last generation ended. For one thread at a time, as long as the model is open."""

    def __init__(self, scorer, *, positions=0, quantized=False, threads=0):
        self._begin(scorer)
        self._open(positions, quantized, threads)

    def _begin(self, scorer):
        self._model, self._held = scorer._model, _tare._session(scorer._model)
        self._tokens, self._read = [], 0  # how many of them the model has read
        self.end = None

    def _open(self, positions, quantized, threads):
        _tare._session_open(self._model, self._held, len(self._tokens), positions, quantized, threads, None)

    @classmethod
    def _for(cls, scorer, start, variables, count, quantized, threads):
        """A session with a start, and room for `count` tokens more."""
        session = cls.__new__(cls)
        session._begin(scorer)
        session._start(start, variables)
        session._open(len(session._tokens) + count, quantized, threads)
        return session

    @property
    def tokens(self):
        return list(self._tokens)

    @property
    def room(self):
        """How many tokens may follow."""
        return max(0, self._space())

    def _space(self):
        position, room = _tare._session_state(self._held)
        return position + room - len(self._tokens)

    def __repr__(self):
        return f"Session({len(self._tokens)} tokens)"

    def feed(self, tokens, *, progress=None):
        """Appends tokens, and returns the logits of the one after them."""
        with _progress.reporter(progress, "running") as report:
            found = self._appended(ids_of(tokens).tolist(), lambda ids: _tare._session_feed(self._model, self._held, ids, report))
        return np.frombuffer(found, np.float32)

    def rewind(self, position):
        """Forgets all tokens from this position on."""
        if not 0 <= position <= len(self._tokens):
            raise ValueError(f"the position is {position}, expected 0 to {len(self._tokens)}")
        _tare._session_rewind(self._held, position)
        del self._tokens[position:]
        self._read = min(self._read, position)

    def generate(
        self, start=None, *, count=128, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, stop=(), progress=None, **variables
    ):
        """What follows the session's text and `start`: a text, tokens, or a list of messages. Messages are the whole conversation: of the
        session's text, what it begins with stays, and the rest is replaced. The other arguments are those of `Scorer.generate`."""
        sampler = _tare._sampler(temperature, top_k, top_p, min_p, seed)
        new = self._start(start, variables)
        first = len(self._tokens) - len(new)
        with _progress.reporter(progress, "generating") as report:
            made = list(self._steps(sampler, count, ids_of(stop).tolist(), report))
        words = _tare._session_text(self._held, ids_of(made))
        text = None if words is None else words.decode(errors="replace")
        return Generated(prompt=self._tokens[first : first + len(new)], tokens=made, text=text, end=self.end)

    def stream(self, start=None, *, count=128, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, stop=(), **variables):
        """The same piece by piece: an iterator over texts of whole characters, or over tokens if `start` is tokens. It may be left at any
        time; the session then has what was made so far."""
        sampler = _tare._sampler(temperature, top_k, top_p, min_p, seed)
        self._start(start, variables)
        return self._pieces(start, sampler, count, stop)

    def _pieces(self, start, sampler, count, stop):
        steps = self._steps(sampler, count, ids_of(stop).tolist(), None)
        as_text = start is None or isinstance(start, str) or (len(start) > 0 and isinstance(start[0], dict))
        return self._texts(steps) if as_text else steps

    def _texts(self, steps):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for token in steps:
            words = _tare._session_text(self._held, ids_of([token]))
            if piece := decoder.decode(words if words is not None else f"<{token}>".encode()):
                yield piece
        if piece := decoder.decode(b"", True):
            yield piece

    def _start(self, start, variables):
        """Appends what the start adds, without running it, and returns all of its tokens."""
        if start is None and not variables:
            return []
        begin = start_of(start, variables)
        new = _tare._session_tokens(self._model, self._held, begin, not self._tokens)
        if isinstance(begin, dict):
            same = next((i for i, (a, b) in enumerate(zip(self._tokens, new)) if a != b), min(len(self._tokens), len(new)))
            self.rewind(same)
            self._tokens += new[same:]
        else:
            self._tokens += new
        return new

    def _steps(self, sampler, count, stops, report):
        stops = {*stops, *_tare._session_stops(self._held)}
        self.end = "count"
        for done in range(count):
            if self._read == len(self._tokens) and self._tokens:
                self._read -= 1  # its logits are needed again
                _tare._session_rewind(self._held, self._read)
            token = self._appended([], lambda ids: _tare._session_next(self._model, self._held, sampler, ids, None))
            if token in stops:
                self.end = "stop"
                return
            self._tokens.append(token)
            if report is not None:
                report(done + 1, count)
            yield token
            if self._space() < 0 and done + 1 < count:
                self.end = "positions"
                return

    def _appended(self, tokens, run):
        """Runs what has not been read, and these tokens after it."""
        tokens = self._tokens[self._read :] + tokens
        try:
            found = run(ids_of(tokens))
        except BaseException:
            # Part of them may have been read.
            self._read, _ = _tare._session_state(self._held)
            self._tokens = (self._tokens[: self._read] + tokens)[: self._read]
            raise
        self._tokens[self._read :] = tokens
        self._read = len(self._tokens)
        return found
