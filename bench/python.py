#!/usr/bin/env python3
"""Times the module beside the package safetensors: the same job, on the same files, in one run, taking turns.

    PYTHONPATH=build/release/python python3 bench/python.py [--dir DIR] [--repeat N] [--tensors N]

Results are compared before they are timed. Prints medians and ratios; more than 1 is in favour of Tare.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import safetensors
import safetensors.numpy as theirs

import tare
import tare.safetensors as dropin
import tare.safetensors.numpy as ours


def touch(arrays):
    """Reads a byte of every page."""
    return sum(int(array.reshape(-1).view(np.uint8)[::4096].sum()) for array in arrays.values())


def timed(job):
    begin = time.perf_counter()
    result = job()
    return time.perf_counter() - begin, result


def row(name, goal, mine, other, repeat):
    a, b = [], []
    for _ in range(repeat):
        a.append(timed(mine)[0])
        b.append(timed(other)[0])
    first, second = statistics.median(a), statistics.median(b)
    print(f"{name:<44} {first * 1e3:10.2f} ms {second * 1e3:10.2f} ms {second / first:8.2f}x  goal {goal}", flush=True)


def import_time():
    def once(code):
        script = f"import numpy, time; b = time.perf_counter(); {code}; print(time.perf_counter() - b)"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
        return float(run.stdout)

    return min(once("import tare") for _ in range(7)), min(once("import safetensors.numpy") for _ in range(7))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=None)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--tensors", type=int, default=1000)
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, "
          f"NumPy {np.__version__}, safetensors {safetensors.__version__}, tare {tare.__version__}")  # fmt: skip
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        large, many = os.path.join(folder, "large.safetensors"), os.path.join(folder, "many.safetensors")
        random = np.random.default_rng(1)
        weights = {f"layer.{i}.weight": random.integers(0, 255, 1 << 20, np.uint8).view("f4").reshape(512, 512)
                   for i in range(given.tensors)}  # fmt: skip
        theirs.save_file(weights, large)
        theirs.save_file({f"layer.{i}.weight": np.zeros(1, "f4") for i in range(100_000)}, many)
        assert touch(ours.load_file(large)) == touch(theirs.load_file(large)) == touch(weights)

        print(f"{'':<44} {'tare':>13} {'safetensors':>13}")
        row("load_file, 1,000 x 1 MiB", ">= 3", lambda: ours.load_file(large), lambda: theirs.load_file(large), given.repeat)
        row("load_file, every page touched", ">= 1", lambda: touch(ours.load_file(large)),
            lambda: touch(theirs.load_file(large)), given.repeat)  # fmt: skip
        out = os.path.join(folder, "out.safetensors")
        row("save_file, 1,000 x 1 MiB", ">= 1", lambda: ours.save_file(weights, out), lambda: theirs.save_file(weights, out),
            min(given.repeat, 5))  # fmt: skip

        def keys(module):
            with module.safe_open(many, "np") as file:
                return len(file.keys())

        assert keys(dropin) == keys(safetensors) == 100_000
        row("open and keys, 100,000 tensors", ">= 4", lambda: keys(dropin), lambda: keys(safetensors), given.repeat)

        mine, other = import_time()
        print(f"{'import, beside that of NumPy':<44} {mine * 1e3:10.2f} ms {other * 1e3:10.2f} ms            goal < 30 ms")
        m = tare.open(large)
        best = min(_per_call(m) for _ in range(20))
        print(f"{'m[name]':<44} {best * 1e6:10.3f} us                            goal < 1 us")


def _per_call(m, count=20_000):
    begin = time.perf_counter()
    for _ in range(count):
        m["layer.7.weight"]
    return (time.perf_counter() - begin) / count


if __name__ == "__main__":
    main()
