"""Running models: logits, perplexity, what follows a text, and the comparison of two models."""

import warnings

import numpy as np

from . import _progress, _tare
from ._errors import WrongTypeError
from ._model import Model
from ._session import Generated, Session, ids_of, start_of
from ._work import Record, _opened

__all__ = ["Calibration", "Comparison", "Perplexity", "Quality", "Scorer", "calibrate", "compare", "measure", "run"]


def _input(tokens, text):
    """What the extension takes: ids, a text, or None for the text that comes with Tare."""
    if tokens is not None and text is not None:
        raise WrongTypeError("give either tokens or text, not both")
    if text is not None and not isinstance(text, str):
        raise WrongTypeError(f"the text must be a str, not {type(text).__name__}")
    return text if tokens is None else ids_of(tokens)


class Perplexity(Record):
    """How well a model predicts: `value` with its standard `error`, from `tokens` in `pieces` of `context`; `loss` is its logarithm."""

    value: float
    error: float
    loss: float
    tokens: int
    pieces: int
    context: int


class Comparison(Record):
    """The comparison of two models on the same tokens. Estimates are pairs of a value and its standard error; divergences are in nats."""

    tokens: int  # compared
    predicted: int  # counted by the perplexities
    kl: tuple
    kl_median: tuple
    kl_99: tuple
    kl_largest: float
    perplexity_a: tuple
    perplexity_b: tuple
    ratio: tuple  # perplexity of B / perplexity of A
    top_1: tuple  # how often both name the same best token
    top_5: tuple  # how many of the best five both name
    largest_change: float  # largest difference of a token's probability
    places: list  # a dict for the embeddings, each layer and the output: name, difference, own
    parting: dict  # where they part by more than the rounding of their types: place, layer, tensor, role, relative_rms; or None
    settings: list  # (name, 'A -> B') of each setting that differs
    casts: list  # ('f32 -> bf16', number of tensors)
    worst: list  # dicts: token, kl, best_a, best_b (the tokens that each expects next); for a text, also text, next, said_a, said_b

    @property
    def same(self):
        return self.kl_largest == 0

    def _verdict(self):
        return {"same": self.same, "parting": self.parting and self.parting["place"]}


class Calibration(Record):
    """The inputs of the matrices of a model: `matrices` has, by name, the tokens that each one got (one number for each expert).
    From about `enough` tokens on, more of them change little; `remarks`: whether there were fewer, and which experts none of them reached."""

    tokens: int
    pieces: int
    context: int
    enough: int
    source: str  # the digest of the text, or of the tokens
    matrices: dict
    remarks: list


class Quality(Record):
    """What a model lost against its original, on a text. Estimates are pairs of a value and its standard error; divergences are in nats."""

    source: str  # the content digest of the original; text, tokenizer: digests of the text and of its tokens
    text: str
    tokenizer: str
    tokens: int
    context: int
    kl: tuple
    kl_99: tuple
    ratio: tuple  # perplexity of the model / perplexity of the original
    top_1: tuple  # how often both name the same best token


class Scorer:
    """A model that runs on tokens, as long as the model that it was made from is open."""

    def __init__(self, model):
        self._model = model
        facts = _tare._scorer(model)
        # What the model's files state and Tare does not compute, so that other programs may get other results.
        self.doubts = facts["doubts"]
        self.vocab_size, self.hidden_size = facts["vocab_size"], facts["hidden_size"]
        self.layers, self.context = facts["layers"], facts["context"]

    def __repr__(self):
        return f"Scorer(vocab_size={self.vocab_size!r}, hidden_size={self.hidden_size!r}, layers={self.layers!r}, context={self.context!r})"

    def logits(self, tokens, *, context=0, begin=None, threads=0, progress=None):
        """For each token, the logits of the one after it: an array of len(tokens) x vocab_size."""
        with _progress.reporter(progress, "running") as report:
            found = _tare._logits(self._model, ids_of(tokens), context, -1 if begin is None else begin, threads, report)
        return np.frombuffer(found, np.float32).reshape(-1, self.vocab_size)

    def perplexity(self, tokens=None, *, text=None, context=0, begin=None, threads=0, progress=None):
        """By llama.cpp's convention, for tokens, a text, or the text that comes with Tare: the second half of each whole piece of
        `context` tokens counts (0: 512, or what the model has)."""
        with _progress.reporter(progress, "running") as report:
            return Perplexity(**_tare._perplexity(self._model, _input(tokens, text), context, -1 if begin is None else begin, threads, report))

    def render(self, messages, *, add_generation_prompt=True, **variables):
        """The text of a conversation by the model's chat template. Messages are dicts with "role" and "content"; `variables`: what
        else the template knows (tools, enable_thinking, ...)."""
        return _tare._render(self._model, {"messages": list(messages), "add_generation_prompt": add_generation_prompt, **variables})

    def generate(
        self, start, *, count=128, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, stop=(), quantized=False, threads=0, progress=None, **variables
    ):
        """Continues `start`, a text or tokens, or answers it, if it is a list of messages (see `render`).

        The next token is the most likely one. With a temperature it is drawn: from the `top_k` most likely, of these from the most likely
        that together reach `top_p`, of these from all with at least `min_p` times the probability of the best. Generation ends before a
        token that the model's files name as the end of a text or turn, or before one of `stop`. `quantized` rounds the vectors that
        quantized weights are multiplied with to 8 bits."""
        start = start_of(start, variables)
        with _progress.reporter(progress, "generating") as report:
            return Generated(**_tare._generate(self._model, start, count, temperature, top_k, top_p, min_p, seed, ids_of(stop), quantized, threads, report))

    def stream(
        self, start, *, count=128, temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, stop=(), quantized=False, threads=0, **variables
    ):
        """The same piece by piece: an iterator over texts of whole characters, or over tokens if `start` is tokens."""
        sampler = _tare._sampler(temperature, top_k, top_p, min_p, seed)
        session = Session._for(self, start, variables, count, quantized, threads)
        return session._pieces(start, sampler, count, stop)

    def session(self, *, positions=0, quantized=False, threads=0):
        """A Session: a text that grows, of which each call computes only what is new. `positions`: the most tokens (0: what the model states)."""
        return Session(self, positions=positions, quantized=quantized, threads=threads)


def _warned(scorer, name):
    """`name`: of the model, if there are several. Warns the caller of the caller."""
    for doubt in scorer.doubts:
        warnings.warn(f"{name}{doubt}; other programs may compute something else", stacklevel=3)
    return scorer


def run(model):
    """Opens a model to run it on the CPU, from any container and layout: a Scorer, with logits, perplexity and generated text.

    `tare.families()` lists the families that can be run. What the files state and Tare does not compute is a UserWarning, and in `doubts`."""
    return _warned(Scorer(model if isinstance(model, Model) else Model(model, mmap=True, complete=True)), "")


def compare(a, b, *, tokens=None, text=None, context=0, begin=None, threads=0, progress=None):
    """Compares two models on the same tokens: KL divergence, perplexities, and the first layer and tensor at which they part.

    The tokens are given, or those of a text, which both models' tokenizers must turn into the same; by default, of one that comes with
    Tare. It is cut into pieces of `context` tokens (0: 512, or what the models have)."""
    with _opened(a, True) as first, _opened(b, True) as second, _progress.reporter(progress, "running") as report:
        _warned(Scorer(first), "A: ")
        _warned(Scorer(second), "B: ")
        return Comparison(**_tare._compare(first, second, _input(tokens, text), context, -1 if begin is None else begin, threads, report))


def calibrate(model, output, *, tokens=None, text=None, name="a text", context=0, begin=None, overwrite=False, threads=0, progress=None):
    """Measures, by running a model on a text, which columns of each matrix matter, and writes a file for `importance` of `quantize`.

    By default, the text is one of 24 KB that comes with Tare. If `output` ends in .gguf, llama.cpp's programs read the file, too.
    `name`: what the file calls the text."""
    given = _input(tokens, text)
    with _opened(model, True) as opened, _progress.reporter(progress, "calibrating") as report:
        _warned(Scorer(opened), "")
        dataset = "the text that comes with Tare" if given is None else name
        found = _tare._calibrate(opened, output, dataset, overwrite, given, context, -1 if begin is None else begin, threads, report)
        return Calibration(**found)


def measure(target, source, *, text=None, write=False, context=0, threads=0, progress=None):
    """Measures, by running both on a text, what the model `target` lost against `source`, from which it was made: a Quality.

    By default, the text is one that comes with Tare.
    `write` puts it into the file `target` as metadata (tare.quality.*). `tare verify --quality SOURCE` measures again."""
    with _opened(source, True) as first, _opened(target, True) as second, _progress.reporter(progress, "running") as report:
        return Quality(**_tare._measure(first, second, target if write else None, _input(None, text), context, -1, threads, report))
