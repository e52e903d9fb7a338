#!/usr/bin/python3
"""The command on files that ask for too much (worst), with every verb that opens a file (verbs).

    run.py growth TARE METER [CASE ...]    the test: files of 60 KB, counted by meter.cpp, which looks at no clock. A file of
                                           twice the size may cost about twice as much, not four times, and none of them
                                           more than the limits. TARE_BOUNDS_SECONDS limits the processor time, too: a loop
                                           that calls nothing is not counted otherwise. Two verbs for each case, by its name
    run.py growth-all TARE METER [CASE ...]  the same with seven verbs for each case: half an hour, a part of `make bounds`
    run.py large TARE [CASE ...]           `make bounds`: processor time and memory, with every verb on files of 60 KB, and on
                                           one file of 5 MB of each container; the verbs that differ most on the others
    run.py resident TARE                   what is streamed does not stay in memory
    run.py scoring TARE METER [TOKENS]     what a layer of a model of 70 billion weights takes, in a sparse file of zeros
    run.py table TARE OUT [CASE ...]       the same as large; every number goes to OUT, a line of JSON each

CASE is a name or a glob. TARE_BOUNDS_VERBS names the verbs to run instead, separated by commas, or "all". With
TARE_PYTHON_MODULE, the directory of the Python module, that is run as well.
"""
import array
import fnmatch
import json
import os
import resource
import subprocess
import sys
import tempfile
import zlib

import verbs
import worst

SMALL, LARGE = 60_000, 5_000_000
# Sorting takes n log n, and tables grow in steps.
GROWTH = 2.6
# What may be spent whatever the file: start-up, buffers, one more step of a table that grows.
SLACK = {"allocations": 500, "peak": 1_500_000, "calls": 3000, "bytes": 1_000_000, "read": 300_000, "spilled": 300_000}
# What a file of SMALL bytes may cost at most: what takes 64 MB, and in the order of 0.2 seconds.
MOST = {"peak": 50_000_000, "allocations": 1_000_000, "calls": 4_000_000, "bytes": 500_000_000, "read": 200_000_000, "spilled": 200_000_000}
# The promise: processor seconds and megabytes, by the size of the file. Start-up alone takes 8 MB and 0.01 s.
PROMISE = {SMALL: (0.2, 64), LARGE: (2.0, 256)}
# More is not needed to know that it is too much.
SECONDS, ADDRESSES, WAITED = 10, 2 << 30, 300
ARITHMETIC = 100  # seconds, for the verbs that compute


def cases(globs, quick):
    for name, case in worst.CASES.items():
        if globs and not any(fnmatch.fnmatch(name, glob) for glob in globs):
            continue
        if globs or case.quick or not quick:
            yield name, case


def verbs_of(name, case, size, sampled=0):
    """With `sampled` verbs of each case, chosen by its name, all verbs are run on some case: one of QUICK, or all of them, and one other."""
    if case.verbs is not None:
        return [verb for verb in case.verbs if verb not in verbs.PYTHON or module()]
    asked = os.environ.get("TARE_BOUNDS_VERBS")
    if asked and asked != "all":
        return asked.split(",")
    if sampled:
        others = [verb for verb in verbs.VERBS if verb not in verbs.QUICK]
        chosen = zlib.crc32(name.encode())
        quick = verbs.QUICK if sampled > len(verbs.QUICK) else [verbs.QUICK[chosen // len(others) % len(verbs.QUICK)]]
        return [*quick, others[chosen % len(others)]]
    if size == LARGE and asked != "all" and name not in verbs.WHOLE:
        return verbs.TELLING
    return [*verbs.VERBS, *(verbs.PYTHON if module() else ())]


def module():
    """Where the Python module is, if it was built."""
    home = os.environ.get("TARE_PYTHON_MODULE", "")
    return home if os.path.exists(os.path.join(home, "tare", "__init__.py")) else ""


def measure(tare, meter, verb, path, tensor):
    """What meter.cpp counts, with one thread: the same in every run, on every machine."""
    with tempfile.NamedTemporaryFile() as report, tempfile.TemporaryDirectory() as work:
        environment = {**os.environ, "LD_PRELOAD": meter, "TARE_METER": report.name, "TMPDIR": work}
        arguments = verbs.command(verbs.Run(tare, path, tensor, work), verb, threads=1)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            done = subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=6 * SECONDS)
        except subprocess.TimeoutExpired:
            return None
        # 0: fine. 1: refused, or found to be bad. 2: the target has no room for that. Nothing else is an answer.
        assert done.returncode in (0, 1, 2), (verb, path, done.returncode, done.stderr[:500])
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return {**json.loads(report.read()), "seconds": used}


def takes_too_long(counts, again):
    """The fastest of three runs counts: a busy machine is slow now and then."""
    most = float(os.environ.get("TARE_BOUNDS_SECONDS") or 0)
    tries = 2 if most else 0
    while tries and counts["seconds"] > most:
        counts["seconds"] = min(counts["seconds"], again()["seconds"])
        tries -= 1
    return most and counts["seconds"] > most


def check_growth(tare, meter, name, case, sampled, problems):
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as double:
        paths = case.build(small, SMALL // 2), case.build(double, SMALL)
        for verb in verbs_of(name, case, SMALL, sampled):
            once, twice = (measure(tare, meter, verb, path, case.tensor) for path in paths)
            if once is None or twice is None:
                problems.append("%s %s: not done after %d s" % (name, verb, 6 * SECONDS))
                break  # the others open the same file
            if verb not in verbs.COMPUTING and takes_too_long(
                    twice, lambda: measure(tare, meter, verb, paths[1], case.tensor)):
                problems.append("%s %s: %.2f s of processor time" % (name, verb, twice["seconds"]))
            for what, slack in SLACK.items():
                if verb in verbs.COMPUTING and what not in ("peak", "read"):
                    continue  # these grow with the arithmetic
                if not case.allowed and twice[what] > GROWTH * once[what] + slack:
                    problems.append("%s %s: %s grow from %d to %d when the file doubles" %
                                    (name, verb, what, once[what], twice[what]))
                if twice[what] > MOST[what]:
                    problems.append("%s %s: %d %s, at most %d allowed" % (name, verb, twice[what], what, MOST[what]))


def size_of(directory):
    """What takes room: a file counts once, however many names it has."""
    found = {}
    for at, _, names in os.walk(directory):
        for name in names:
            status = os.lstat(os.path.join(at, name))
            found[status.st_dev, status.st_ino] = status.st_size
    return sum(found.values())


# In a process of its own, whose children are the command alone.
PROBE = """
import json, resource, subprocess, sys
seconds, addresses = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
try:
    done = subprocess.run(sys.argv[4:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=int(sys.argv[3]))
    code, said = done.returncode, done.stderr[-160:].decode(errors="replace")
except subprocess.TimeoutExpired:
    code, said = None, ""
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, round(used.ru_utime + used.ru_stime, 3), used.ru_maxrss * 1024 // 1000000, said]))
"""


def probe(arguments, work=None, seconds=SECONDS):
    """Exit code (None: never), processor seconds, megabytes, the last words."""
    environment = {**os.environ, **({"TMPDIR": work} if work else {}), **({"PYTHONPATH": module()} if module() else {})}
    done = subprocess.run([sys.executable, "-c", PROBE, str(seconds), str(ADDRESSES), str(WAITED), *arguments], capture_output=True,
                          text=True, check=True, env=environment)
    return json.loads(done.stdout)


def probe_case(tare, name, case, size):
    """One line for each verb that is run."""
    with tempfile.TemporaryDirectory() as directory:
        path = case.build(directory, size)
        found = size_of(directory)
        for verb in verbs_of(name, case, size):
            with tempfile.TemporaryDirectory() as work:
                arguments = verbs.command(verbs.Run(tare, path, case.tensor, work), verb)
                code, seconds, megabytes, said = probe(arguments, work, ARITHMETIC if verb in verbs.COMPUTING else SECONDS)
            yield {"case": name, "verb": verb, "size": size, "real": found, "code": code, "cpu": seconds, "mb": megabytes,
                   "err": said}


def is_kept(row):
    seconds, megabytes = PROMISE[row["size"]]
    if row["verb"] in verbs.PYTHON:  # the interpreter and NumPy
        seconds, megabytes = seconds + 0.3, megabytes + 40
    in_time = row["cpu"] <= seconds or row["verb"] in verbs.COMPUTING
    return row["code"] in (0, 1, 2) and in_time and row["mb"] <= megabytes


def check_large(tare, name, case, problems, out=None):
    for size in PROMISE:
        for row in probe_case(tare, name, case, size):
            if out:
                print(json.dumps(row), file=out, flush=True)
            if not is_kept(row):
                problems.append("%s %s: %d bytes, ended with %s, %.2f s, %d MB" % (
                    name, row["verb"], row["real"], row["code"], row["cpu"], row["mb"]))
                print(problems[-1], flush=True)


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
            code, _, megabytes, _ = probe([tare, *arguments])
            if code != 0 or megabytes > 64:
                problems.append("%s: ended with %s, %s MB resident of 134, 64 allowed" % (arguments[0], code, megabytes))


HIDDEN, INNER, HEADS, KV_HEADS = 8192, 28672, 64, 8
TILE = 12 * (INNER + 16) * 4 * 2  # twelve rows that are decoded together, and a copy, for each thread


def large_layer(directory):
    """A Llama of one layer in Q4_0: 856 million weights, all zeros, in a file that takes a few kilobytes of the disk."""
    from worst.gguf import STRING, U32, entry, info, string
    shapes = {"token_embd": (HIDDEN, 256), "output_norm": (HIDDEN,), "blk.0.attn_norm": (HIDDEN,), "blk.0.ffn_norm": (HIDDEN,),
              "blk.0.attn_q": (HIDDEN, HIDDEN), "blk.0.attn_k": (HIDDEN, HIDDEN // HEADS * KV_HEADS),
              "blk.0.attn_v": (HIDDEN, HIDDEN // HEADS * KV_HEADS), "blk.0.attn_output": (HIDDEN, HIDDEN),
              "blk.0.ffn_gate": (HIDDEN, INNER), "blk.0.ffn_up": (HIDDEN, INNER), "blk.0.ffn_down": (INNER, HIDDEN)}
    infos, at = [], 0
    for name, dims in shapes.items():
        infos.append(info(name + ".weight", dims, 0 if len(dims) == 1 else 2, at))
        at += dims[0] * 4 if len(dims) == 1 else dims[0] // 32 * 18 * dims[1]
    numbers = {"context_length": 4096, "embedding_length": HIDDEN, "block_count": 1, "feed_forward_length": INNER,
               "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS, "vocab_size": 256}
    entries = [entry("general.architecture", STRING, string("llama"))]
    entries += [entry("llama." + key, U32, number.to_bytes(4, "little")) for key, number in numbers.items()]
    entries.append(entry("llama.attention.layer_norm_rms_epsilon", 6, array.array("f", [1e-5]).tobytes()))
    head = b"GGUF" + (3).to_bytes(4, "little") + len(infos).to_bytes(8, "little") + len(entries).to_bytes(8, "little")
    head += b"".join(entries) + b"".join(infos)
    path = os.path.join(directory, "large.gguf")
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        file.truncate(len(head) + -len(head) % 32 + at)
    return path


def check_scoring(tare, meter, tokens, problems):
    """Hidden states, a tile for each thread, and 256 MiB: counted by meter.cpp, so that pages of the mapped file are not in it."""
    threads = 2
    most = tokens * HIDDEN * 4 + threads * TILE + (256 << 20)
    with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile() as report:
        path, ids = large_layer(directory), os.path.join(directory, "ids.txt")
        with open(ids, "w") as file:
            file.write(" ".join(str(i % 256) for i in range(tokens)))
        done = subprocess.run([tare, "perplexity", path, "--tokens", ids, "--context", "32", "--threads", str(threads)],
                              env={**os.environ, "LD_PRELOAD": meter, "TARE_METER": report.name}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        used = json.loads(report.read())["peak"]
        print("%d tokens: %d of %d bytes" % (tokens, used, most))
        if done.returncode != 0 or used > most:
            problems.append("scoring: ended with %d, %d bytes, %d allowed: %s" % (done.returncode, used, most, done.stderr[:500]))


def main(mode, tare, *rest):
    problems = []
    if mode == "resident":
        check_resident(tare, problems)
    elif mode == "scoring":
        check_scoring(tare, rest[0], int(rest[1]) if len(rest) > 1 else 32, problems)
    elif mode in ("growth", "growth-all"):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))  # the command inherits it
        for name, case in cases(rest[1:], quick=True):
            check_growth(tare, rest[0], name, case, 2 if mode == "growth" else len(verbs.QUICK) + 1, problems)
    elif mode == "large":
        for name, case in cases(rest, quick=False):
            check_large(tare, name, case, problems)
    elif mode == "table":
        with open(rest[0], "a") as out:
            for name, case in cases(rest[1:], quick=False):
                check_large(tare, name, case, problems, out)
    print("\n".join(problems) if mode in ("growth", "growth-all", "resident", "scoring") else "%d promises broken" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
