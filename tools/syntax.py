#!/usr/bin/env python3
"""Whether every file of a configured build compiles, without making objects: warnings and errors, in a fifth of the time of a build.

    tools/syntax.py BUILD [JOBS [REGEX]]      BUILD: a build folder with compile_commands.json; REGEX: only files with such a path

Warnings count where the build has -Werror. What only the optimizer warns about is not found.
"""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys


def checked(entry):
    words, command = iter(shlex.split(entry["command"])), []
    for word in words:
        if word in ("-o", "-MF", "-MT", "-MQ"):
            next(words)
        elif word not in ("-c", "-MD", "-MMD"):
            command.append(word)
    done = subprocess.run([*command, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr.strip()


def main(build, jobs="1", wanted=""):
    entries = [entry for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
               if pathlib.Path(entry["file"]).exists() and re.search(wanted, entry["file"])]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for file, code, text in pool.map(checked, entries):
            bad += code != 0
            if text:
                print(f"{file}: {'' if code else 'compiles, but '}{text}", flush=True)
    print(f"{len(entries)} files, {bad} do not compile")
    return 1 if bad or not entries else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
