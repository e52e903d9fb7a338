#!/usr/bin/env python3
"""completion.py TARE: TAB in a real bash, on files whose tensors have hostile names. Nothing in a name is run.

Bash is given a terminal of its own, because what it expands there (the names of files) it does not expand in a script."""

import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import tempfile
import time

NAMES = (
    "w${a[$(touch PWN)]}",
    "$((a[$(touch PWN)]))",
    "w$[a[`touch PWN`]]",
    "w`touch${IFS}PWN`",
    "$(touch PWN)",
    "w;touch PWN",
    "w' ; touch PWN; '",
    "~root",
    "$HOME",
)

def safetensors(path, names):
    header = json.dumps({name: {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i, name in enumerate(names)}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(len(names)))

def session(place, script, keys):
    """What the terminal shows when these keys are typed, one after the other."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place)
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "TERM": "dumb", "PS1": "ready> ", "INPUTRC": "/dev/null"}
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    shown = b""

    def wait(until, seconds=20):
        nonlocal shown
        end = time.monotonic() + seconds
        begin = len(shown)
        while until not in shown[begin:] and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    shown += os.read(terminal, 65536)
                except OSError:
                    return
        return

    wait(b"ready> ")
    os.write(terminal, f"source {script}; echo sour''ced\n".encode())
    wait(b"sourced")
    for key in keys:
        os.write(terminal, key.encode())
        time.sleep(1.0)
    os.write(terminal, b"\x15echo the e''nd\n")
    wait(b"the end")
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown

def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "bin").mkdir()
        (place / "bin/tare").symlink_to(command)
        os.environ["PATH"] = f"{place}/bin:/usr/bin:/bin"
        script = place / "tare.bash"
        script.write_bytes(subprocess.run([command, "completions", "bash"], check=True, capture_output=True).stdout)
        safetensors(place / "plain.safetensors", ["model.weight", "other.bias"])
        shown = session(place, script, ["tare show plain.safetensors mod\t"])
        if b"model.weight" not in shown:
            sys.exit(f"TAB does not complete the name of a tensor: {shown!r}")
        for name in NAMES:
            safetensors(place / "m.safetensors", [name])
            session(place, script, ["tare show m.safetensors \t", "\t", "\n"])
            if (place / "PWN").exists():
                sys.exit(f"TAB, or Enter after it, ran what is in the name {name!r}")

    print(f"TAB: {len(NAMES)} hostile names run nothing")

if __name__ == "__main__":
    main()
