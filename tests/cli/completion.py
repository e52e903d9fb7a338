#!/usr/bin/env python3
"""completion.py TARE: TAB in a real bash, and in zsh and fish if they are installed; also on files whose tensors have hostile names, of
which nothing is run.

Bash is given a terminal of its own, because what it expands there (the names of files) it does not expand in a script."""

import json
import os
import pathlib
import pty
import select
import shutil
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

# What is typed before TAB, and what is offered or completed then.
COMPLETED = (
    ("tare show plain.safetensors mod", "model.weight"),
    ("tare diff plain.safetensors plain.safetensors mod", "model.weight"),
    ("tare compare plain.s", "plain.safetensors"),
    ("tare plain.s", "plain.safetensors"),
    ("tare quantize a b --method q4_k_", "q4_k_m"),
    ("tare quantize a b --head bf", "bf16"),
    ("tare quantize a b --to safet", "safetensors"),
)

# Names of files that bash has to quote, and not to split or expand.
COMPLETED_IN_BASH = (("tare info a\\ b", "a\\ b\\ c.zt"), ("tare info star", "star\\*.zt"))

def safetensors(path, names):
    header = json.dumps({name: {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i, name in enumerate(names)}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(len(names)))

def session(place, script, keys, shell=("/bin/bash", "--norc", "--noprofile", "-i")):
    """What the terminal shows when these keys are typed, one after the other, into a shell that has read the script."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place)
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "TERM": "dumb", "PS1": "ready> ", "PROMPT": "ready> ", "INPUTRC": "/dev/null"}
        os.execve(shell[0], shell, environment)
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

def zsh(place, command):
    """Whether zsh is installed; ends the test if it does not complete."""
    shell = shutil.which("zsh")
    if shell is None:
        return False
    (place / "_tare").write_bytes(subprocess.run([command, "completions", "zsh"], check=True, capture_output=True).stdout)
    begin = place / "begin.zsh"
    begin.write_text(f"fpath=({place} $fpath)\nautoload -U compinit\ncompinit -u -D\n")
    for line, wanted in COMPLETED:
        shown = session(place, begin, [line + "\t\t"], (shell, "-f", "-i"))
        if wanted.encode() not in shown:
            sys.exit(f"zsh: TAB after {line!r} does not give {wanted}: {shown!r}")
    return True

def fish(place, command):
    shell = shutil.which("fish")
    if shell is None:
        return False
    script = place / "tare.fish"
    script.write_bytes(subprocess.run([command, "completions", "fish"], check=True, capture_output=True).stdout)
    for line, wanted in COMPLETED:
        ask = [shell, "--no-config", "-c", f"source {script}; complete -C '{line}'"]
        shown = subprocess.run(ask, cwd=place, env={"PATH": os.environ["PATH"], "HOME": str(place)}, check=True, capture_output=True, text=True).stdout
        if wanted not in [offered.partition("\t")[0] for offered in shown.splitlines()]:
            sys.exit(f"fish: TAB after {line!r} does not give {wanted}: {shown!r}")
    return True

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
        for file in ("a b c.zt", "star*.zt"):
            (place / file).touch()
        for line, wanted in COMPLETED + COMPLETED_IN_BASH:
            shown = session(place, script, [line + "\t\t"])
            if wanted.encode() not in shown:
                sys.exit(f"bash: TAB after {line!r} does not give {wanted}: {shown!r}")
        tried = ["bash"] + [shell for shell, works in (("zsh", zsh), ("fish", fish)) if works(place, command)]
        for name in NAMES:
            safetensors(place / "m.safetensors", [name])
            session(place, script, ["tare show m.safetensors \t", "\t", "\n"])
            if (place / "PWN").exists():
                sys.exit(f"TAB, or Enter after it, ran what is in the name {name!r}")

    print(f"TAB: {len(COMPLETED + COMPLETED_IN_BASH)} words in {', '.join(tried)}; {len(NAMES)} hostile names run nothing")

if __name__ == "__main__":
    main()
