#!/usr/bin/env python3
"""Runs `tare verify` on changed model files and prints its findings as annotations of GitHub. Exit code 1 if a file is bad.

Environment: TARE, the command; TARE_FILES, the files, one per line, or else TARE_BASE, the commit to compare with; TARE_STRICT=true.
"""

import json
import os
import re
import subprocess
import sys

# As in packaging/pre-commit. Most files called .bin are something else.
MODEL = re.compile(r"(\.(gguf|safetensors|zt|mcf|alt|npz|npy|pt|pth|ckpt)|\.safetensors\.index\.json|(^|/)(pytorch|adapter)_model[^/]*\.bin)$")
LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def escaped(text, title=False):
    """As GitHub reads it: a line is one command, and in a property commas and colons have a meaning."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if title else text


def changed(base):
    known = base and subprocess.run(["git", "cat-file", "-e", f"{base}^{{commit}}"], capture_output=True).returncode == 0
    if known:
        listed = subprocess.run(["git", "diff", "-z", "--name-only", "--diff-filter=d", f"{base}...HEAD"], capture_output=True, text=True)
        if listed.returncode != 0:  # no common commit, as in a shallow clone
            listed = subprocess.run(["git", "diff", "-z", "--name-only", "--diff-filter=d", base, "HEAD"], check=True, capture_output=True, text=True)
    else:  # a new branch, or a clone without history: everything
        listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name]


def is_pointer(path):
    """A file that Git LFS has not fetched."""
    with open(path, "rb") as file:
        return file.read(24) == b"version https://git-lfs."


def main():
    named = [line for line in os.environ.get("TARE_FILES", "").splitlines() if line.strip()]
    names = named or [name for name in changed(os.environ.get("TARE_BASE", "")) if MODEL.search(name)]
    if not names:
        print("No model file has changed.")
        return 0
    bad = 0
    for name in names:
        if os.path.isfile(name) and is_pointer(name):
            print(f"::warning file={escaped(name, True)},title=tare::is a pointer of Git LFS: check out with lfs: true")
            continue
        strict = ["--strict"] if os.environ.get("TARE_STRICT") == "true" else []
        path = name if os.path.isabs(name) else f"./{name}"  # a name may begin with a dash
        done = subprocess.run([os.environ.get("TARE", "tare"), "verify", "--json", *strict, path], capture_output=True, text=True)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            print(f"::error file={escaped(name, True)},title=tare::{escaped(done.stderr.strip() or f'ended with {done.returncode}')}")
            bad += 1
            continue
        if "error" in result:
            print(f"::error file={escaped(name, True)},title={escaped(result['error']['rule'], True)}::{escaped(result['error']['text'])}")
            bad += 1
            continue
        for finding in result["findings"]:
            where = f"{finding['item']}: " if finding["item"] else ""
            at = f" (at byte {finding['offset']})" if finding["offset"] is not None else ""
            print(f"::{LEVELS[finding['severity']]} file={escaped(name, True)},title={escaped(finding['rule'], True)}::{escaped(where + finding['sentence'] + at)}")
        verdict = "ok" if done.returncode == 0 else "bad"
        # The name and the version are a stranger's: neither may begin a line, where GitHub looks for commands.
        print(escaped(f"{verdict}: {name}, {result['format']} {result['version']}, {result['tensors']} tensors"))
        bad += done.returncode != 0
    print(f"{len(names)} checked, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
