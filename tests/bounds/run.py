#!/usr/bin/python3
"""The command on files that ask for too much (worst), counted by meter.cpp: nothing here looks at a clock.

    run.py growth TARE METER [CASE ...]    a file of twice the size may cost about twice as much, not four times
    run.py large  TARE METER [CASE ...]    no file of 5 MB makes the command hold 256 MB, or work without end
    run.py resident TARE                   what is streamed does not stay in memory
    run.py table  TARE [CASE ...]          seconds and megabytes of the same, for people
"""
import array
import json
import os
import subprocess
import sys
import tempfile

import worst

SMALL, LARGE = 150_000, 5_000_000
# Sorting takes n log n, and tables grow in steps.
GROWTH = 2.6
# What may be spent whatever the file: start-up, buffers, one more step of a table that grows.
SLACK = {"allocations": 3000, "peak": 6_000_000, "calls": 20_000, "bytes": 8_000_000, "read": 1_000_000}
MOST = {"peak": 256_000_000, "allocations": 30_000_000, "calls": 150_000_000, "bytes": 4_000_000_000,
        "read": 2_000_000_000}


def command(tare, verb, path):
    if verb == "drop":
        return [tare, "convert", path, os.path.join(os.path.dirname(path), "out.zt"), "--drop", "metadata", "--force",
                "--threads", "1"]
    rest = ["t"] if verb == "show" else []
    return [tare, verb, path, *rest] + (["--threads", "1"] if verb not in ("info", "ls") else [])


def measure(tare, meter, verb, path):
    with tempfile.NamedTemporaryFile() as report:
        environment = {**os.environ, "LD_PRELOAD": meter, "TARE_METER": report.name, "TMPDIR": os.path.dirname(path)}
        done = subprocess.run(command(tare, verb, path), env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        # 0: fine. 1: refused, or found to be bad. Nothing else is an answer.
        assert done.returncode in (0, 1), (verb, path, done.returncode, done.stderr[:500])
        counts = json.loads(report.read())
    return counts


def check_growth(tare, meter, name, problems):
    builder, verbs = worst.CASES[name]
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as double:
        paths = builder(small, SMALL), builder(double, 2 * SMALL)
        for verb in verbs:
            once, twice = (measure(tare, meter, verb, path) for path in paths)
            for what, slack in SLACK.items():
                if twice[what] > GROWTH * once[what] + slack:
                    problems.append("%s %s: %s grow from %d to %d when the file doubles" %
                                    (name, verb, what, once[what], twice[what]))


def check_large(tare, meter, name, problems):
    builder, verbs = worst.CASES[name]
    with tempfile.TemporaryDirectory() as directory:
        path = builder(directory, LARGE)
        for verb in verbs:
            counts = measure(tare, meter, verb, path)
            for what, most in MOST.items():
                if counts[what] > most:
                    problems.append("%s %s: %d %s, at most %d allowed" % (name, verb, counts[what], what, most))


def size_of(directory):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(directory) for name in names)


PROBE = """
import resource, subprocess, sys
try:
    code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode
except subprocess.TimeoutExpired:
    code = "-"
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, round(used.ru_utime + used.ru_stime, 2), used.ru_maxrss // 1000)
"""


def probe(arguments):
    done = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.split()


# What a command shows as its own of a model that it streams: less than half of it, although the file is mapped.
def check_resident(tare, problems):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "m.safetensors")
        header = b'{"w":{"dtype":"F32","shape":[8192,4096],"data_offsets":[0,134217728]}}'
        with open(path, "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            megabyte = array.array("f", ((i * 7919 % 65537 - 32768) / 32768 for i in range(1 << 18))).tobytes()
            for _ in range(128):
                file.write(megabyte)
        for arguments in (["quantize", path, path + ".mcf", "--method", "int8"],
                          ["quantize", path, path + ".gguf", "--method", "q8_0"],
                          ["convert", path, path + ".npz", "--dtype", "f16"]):
            code, _, megabytes = probe([tare, *arguments])
            if code != "0" or int(megabytes) > 64:
                problems.append("%s: ended with %s, %s MB resident of 134, 64 allowed" % (arguments[0], code, megabytes))


def print_table(tare, name):
    builder, verbs = worst.CASES[name]
    with tempfile.TemporaryDirectory() as directory:
        path = builder(directory, LARGE)
        cells = []
        for verb in verbs:
            code, seconds, megabytes = probe(command(tare, verb, path))
            cells.append("%s %s s %s MB (%s)" % (verb, seconds, megabytes, code))
        print("%-32s %8d bytes  %s" % (name, size_of(directory), "  ".join(cells)), flush=True)


def main(mode, tare, *rest):
    names = rest if mode == "table" else rest[1:]
    problems = []
    if mode == "resident":
        check_resident(tare, problems)
        print("\n".join(problems))
        return 1 if problems else 0
    for name in names or worst.CASES:
        if mode == "growth" and name in worst.ALLOWED:
            continue
        if mode == "table":
            print_table(tare, name)
        else:
            {"growth": check_growth, "large": check_large}[mode](tare, rest[0], name, problems)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
