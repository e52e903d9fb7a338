#!/usr/bin/env python3
"""SIGINT, SIGTERM and SIGHUP in the middle of the work: the command dies by that signal, what was there is there, and
nothing is left next to it.

    signals.py TARE

A lock that we hold on the target keeps the command where everything is written and nothing has its name yet. Where
there is nothing to lock, the work is long enough.
"""

import fcntl
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

import fixtures

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def wait_until(condition, process):
    for _ in range(6000):
        if condition():
            return
        if process.poll() is not None:
            sys.exit(f"ended early: {process.returncode}")
        time.sleep(0.01)
    sys.exit("nothing happened")


def listing(directory):
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def expect(condition, *what):
    if not condition:
        sys.exit(f"not as expected: {what}")


def staged(out):
    """The last of the files is being written, or waits with the others for the lock."""
    return any(out.glob(".tare-*/part/model.safetensors"))


def start(tare, arguments, **options):
    # As a shell starts it: a program in the background of a script has these signals ignored.
    def usual():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen([tare, *arguments], preexec_fn=usual, **options)


def into_a_directory(tare, work):
    out = work / "out"
    subprocess.run([tare, "convert", work / "tiny.zt", f"{out}/", "-q"], check=True)
    (out / "notes").write_text("mine")
    before = listing(out)
    for number in SIGNALS:
        lock = os.open(out, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = start(tare, ["convert", work / "model.zt", f"{out}/", "--force", "--match", "layers*"],
                        stderr=subprocess.DEVNULL)
        wait_until(lambda: staged(out), process)
        process.send_signal(number)
        expect(process.wait(60) == -number, number, process.returncode)
        os.close(lock)
        expect(listing(out) == before, sorted(listing(out)))


def opened(process, place):
    """Whether the process has a file open in there, which may have no name."""
    try:
        folder = f"/proc/{process.pid}/fd"
        return any(os.path.dirname(os.readlink(f"{folder}/{name}")).startswith(str(place)) for name in os.listdir(folder))
    except FileNotFoundError:  # closed while we looked
        return False


def into_a_new_directory_and_file(tare, work):
    """The result is whole or not there, and nothing else is."""
    (work / "large.zt").write_bytes(fixtures.zt({"w": fixtures.dense([24 << 20], "u8", os.urandom(24 << 20))}))
    for target, more in (("new/", ["--set", "a=1"]), ("new.zt", ["--zstd=19", "--threads", "1"])):
        for number in SIGNALS:
            place = pathlib.Path(tempfile.mkdtemp(dir=work))
            process = start(tare, ["convert", work / "large.zt", f"{place}/{target}", *more], stderr=subprocess.DEVNULL)
            wait_until(lambda: opened(process, place), process)
            process.send_signal(number)
            code = process.wait(60)
            left = sorted(path.name for path in place.iterdir())
            if target == "new.zt":  # seconds of work
                expect(code == -number, code)
            expect(left == [] if code else left == [target.strip("/")], code, left)


def the_bar_ends_its_line(tare, work):
    out = work / "shown"
    subprocess.run([tare, "convert", work / "tiny.zt", f"{out}/", "-q"], check=True)
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ours, theirs = pty.openpty()
    process = start(tare, ["convert", work / "tiny.zt", f"{out}/", "--force"], stderr=theirs, stdout=theirs, stdin=theirs)
    os.close(theirs)
    wait_until(lambda: staged(out), process)
    shown = b""
    while b"converting" not in shown:
        shown += os.read(ours, 65536)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    try:
        while more := os.read(ours, 65536):
            shown += more
    except OSError:  # all ends of the terminal are closed
        pass
    expect(shown.endswith(b"\r\n"), shown[-200:])
    os.close(lock)


def what_was_generated_stays(tare, work):
    """A text that would never end: after its beginning, the pipe is not read, which keeps the command in the middle."""
    subprocess.run([tare, "demo", work / "demo", "-q"], check=True, stdout=subprocess.DEVNULL)
    model, temporary = work / "demo" / "mistral", work / "temporary"
    temporary.mkdir()
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 1 << 24, "sliding_window": 16}))
    before = listing(model)
    arguments = ["run", model, "-p", "the model of this file"]
    expected = subprocess.run([tare, *arguments, "-n", "60"], check=True, capture_output=True).stdout.rstrip(b"\n")
    for number in SIGNALS:
        process = start(tare, [*arguments, "-n", str(1 << 23)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        env={**os.environ, "TMPDIR": str(temporary)})
        shown = b""
        while len(shown) < len(expected):
            more = os.read(process.stdout.fileno(), 4096)
            expect(more, "ended early", shown)
            shown += more
        process.send_signal(number)
        rest, words = process.communicate(timeout=60)
        # In a shell, the code is 128 + number: 130 after Ctrl-C.
        expect(process.returncode == -number, number, process.returncode)
        expect((shown + rest).startswith(expected), expected, shown[:200])
        (shown + rest).decode()  # whole characters
        expect(words == b"", words)
        expect(list(temporary.iterdir()) == [] and listing(model) == before, sorted(listing(model)))


def ignored_signals_stay_ignored(tare, work):
    """nohup, and jobs in the background of a script."""
    out = work / "ignored"
    subprocess.run([tare, "convert", work / "tiny.zt", f"{out}/", "-q"], check=True)
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = subprocess.Popen([tare, "convert", work / "tiny.zt", f"{out}/", "--force"], stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until(lambda: staged(out), process)
    process.send_signal(signal.SIGHUP)
    os.close(lock)
    expect(process.wait(60) == 0, process.returncode)


def main(tare):
    with tempfile.TemporaryDirectory(prefix="tare-signals-") as directory:
        work = pathlib.Path(directory)
        fixtures.make(directory)
        for test in (into_a_directory, into_a_new_directory_and_file, the_bar_ends_its_line, what_was_generated_stays,
                     ignored_signals_stay_ignored):
            test(tare, work)


if __name__ == "__main__":
    main(sys.argv[1])
