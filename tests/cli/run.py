#!/usr/bin/env python3
"""Runs the command-line cases: every line of a script, against what it printed when it was recorded.

    run.py --tare PATH [--build DIRECTORY] [--record] [CASE...]

A case is cases/NAME.sh, one command a line; lines that begin with # are remarks. Each line is run by bash, in one
fresh directory per case that holds the files of fixtures.py. cases/NAME.out is the transcript: "$ line", standard
output, standard error with "! " in front, the exit code in brackets unless it is 0. --record writes it anew.

Lines may use, in addition to tare:
    pty [--columns N] [--stdout | --stderr] COMMAND...   run it on a terminal (both streams, or only one of them);
                                                         ESC is shown as ^[, CR as ^M
    as-user COMMAND...                                   run it without the rights of root
"""

import argparse
import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fixtures

HERE = pathlib.Path(__file__).resolve().parent


def environment(tare, build, directory):
    tools = pathlib.Path(directory, ".bin")
    tools.mkdir()
    # A copy: the user of as-user may not be allowed to look into the build directory.
    shutil.copy(tare, tools / "tare")
    for tool in (HERE / "bin").iterdir():
        (tools / tool.name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tool}" "$@"\n')
        (tools / tool.name).chmod(0o755)
    env = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
    return env | {
        "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        # The driver of tests/device, for what needs a GPU: TARE_CUDA_LIBRARY=$FAKE_CUDA tare load ...
        "FAKE_CUDA": str(build / "tests/device/fake-cuda.so"),
    }


def shown(output, prefix=""):
    lines = output.decode(errors="backslashreplace").split("\n")
    tail = lines.pop()
    text = "".join(f"{prefix}{line}\n" for line in lines)
    return text + (f"{prefix}{tail}\\\n" if tail else "")


def transcript(script, tare, build):
    out = []
    # Readable by others: as-user works in it too.
    with tempfile.TemporaryDirectory(prefix="tare-cli-") as directory:
        os.chmod(directory, 0o755)
        fixtures.make(directory)
        env = environment(tare, build, directory)
        for line in script.read_text(encoding="utf-8").splitlines():
            if not line.strip() or line.startswith("#"):
                out.append(line + "\n")
                continue
            done = subprocess.run(
                ["bash", "-c", line], cwd=directory, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=120
            )
            out.append(f"$ {line}\n{shown(done.stdout)}{shown(done.stderr, '! ')}")
            if done.returncode != 0:
                out.append(f"[{done.returncode}]\n")
    return "".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--build", help="where the tests were built; by default where the command is")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("cases", nargs="*", help="names; all when none is given")
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build or pathlib.Path(arguments.tare).parent).resolve()
    scripts = [HERE / "cases" / f"{name}.sh" for name in arguments.cases] or sorted((HERE / "cases").glob("*.sh"))
    failed = False
    for script in scripts:
        now, recorded = transcript(script, arguments.tare, build), script.with_suffix(".out")
        if arguments.record:
            recorded.write_text(now, encoding="utf-8")
            continue
        before = recorded.read_text(encoding="utf-8") if recorded.exists() else ""
        if now != before:
            failed = True
            lines = difflib.unified_diff(before.splitlines(True), now.splitlines(True), recorded.name, "now")
            sys.stdout.writelines(lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
