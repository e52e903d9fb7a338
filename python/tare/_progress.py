"""Progress of long work: a bar, or a function of the caller."""

import contextlib
import sys


@contextlib.contextmanager
def reporter(progress, words):
    """What the extension calls with (done, expected) bytes: None, the caller's function, or that of a bar."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(words) as report:
            yield report
    elif hasattr(progress, "update") and hasattr(progress, "refresh"):
        yield _into(progress)
    elif callable(progress):
        yield progress
    else:
        raise TypeError("progress must be True, a function of (done, expected), or a tqdm bar")


def _into(bar):
    """A report function that updates a tqdm bar."""
    last = 0

    def report(done, expected):
        nonlocal last
        if expected and bar.total != expected:
            bar.total = expected
        bar.update(done - last)
        last = done

    return report


@contextlib.contextmanager
def _bar(words):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line(words)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return
    with tqdm(desc=words, unit="B", unit_scale=True, unit_divisor=1024) as bar:
        yield _into(bar)


def _line(words):
    def report(done, expected):
        if sys.stderr.isatty():
            share = f" {100 * done // expected:3d}%" if expected else ""
            print(f"\r{words}{share} {done / 2**20:.0f} MiB", end="", file=sys.stderr, flush=True)

    return report
