#!/usr/bin/env python3
"""Compares the module on zTensor 2 files with the package ztensor 2.x: the same job, on the same files, in one run, taking turns.

    PYTHONPATH=build/release/python python3 bench/zt2.py [--dir DIR] [--repeat N] [--mib N]

Results are compared before they are timed. Prints the best times and ratios; more than 1 is in favour of Tare.
"""

import argparse
import os
import platform
import tempfile
import time

import numpy as np
import ztensor

import tare


def timed(job):
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def row(name, goal, mine, other, repeat):
    a, b = [], []
    for _ in range(repeat):
        a.append(timed(mine))
        b.append(timed(other))
    print(f"{name:<52} {min(a) * 1e3:9.2f} ms {min(b) * 1e3:9.2f} ms {min(b) / min(a):7.2f}x  goal {goal}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=None)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--mib", type=int, default=512, help="size of the large model")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, "
          f"tare {tare.__version__}")  # fmt: skip
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        many, large, out = (os.path.join(folder, name) for name in ("many.zt", "large.zt", "out.zt"))
        tare.save(many, {f"model.layers.{i % 97}.proj.{i}.weight": np.full(4, i, "f4") for i in range(100_000)}, format="zt2",
                  dialect="pages")  # fmt: skip
        random = np.random.default_rng(1)
        weights = {f"layer.{i:03}.weight": random.integers(0, 255, 16 << 20, np.uint8).view("f4").reshape(2048, 2048)
                   for i in range(given.mib // 16)}  # fmt: skip

        def write_theirs():
            writer = ztensor.Writer(out)
            for name in sorted(weights):
                writer.add(name, weights[name].reshape(-1).view("u1"), list(weights[name].shape), "f32")
            writer.finish()

        def write_ours():
            tare.save(out, weights, format="zt2", overwrite=True)

        write_theirs()
        with open(out, "rb") as file:
            theirs = file.read()
        write_ours()
        with open(out, "rb") as file:
            assert file.read() == theirs, "the same bytes"
        os.rename(out, large)
        plain = os.path.join(folder, "large.safetensors")
        tare.convert(large, plain)

        def list_ours():
            with tare.open(many) as model:
                return list(model)

        assert sorted(list_ours()) == sorted(ztensor.open(many).keys())
        print(f"{'':<52} {'tare':>12} {'ztensor':>12}")
        row("open and list 100,000 tensors", ">= 3", list_ours, lambda: list(ztensor.open(many).keys()), given.repeat)
        row("  the package's index, which maps nothing", ">= 3", list_ours, lambda: list(ztensor.index(many).keys()), given.repeat)

        def read_ours():
            with tare.open(large) as model:
                return [int(np.asarray(model[name]).reshape(-1).view("u8").sum()) for name in sorted(model)]

        def read_theirs():
            with ztensor.open(large) as model:
                return [int(np.frombuffer(memoryview(model[name]), "u8").sum()) for name in sorted(model.keys())]

        assert read_ours() == read_theirs()
        size = f"{given.mib} MiB"
        row(f"read {size}, every byte summed", ">= 1", read_ours, read_theirs, given.repeat)
        row(f"write {size}, canonical, with digests", ">= 1", write_ours, write_theirs, given.repeat)
        row(f"convert {size} of safetensors", ">= 1", lambda: tare.convert(plain, out, format="zt2", overwrite=True),
            lambda: ztensor.convert(plain, out), given.repeat)  # fmt: skip
        row(f"verify {size}; ours looks at the values, too", "none", lambda: tare.verify(large),
            lambda: ztensor.verify(large, deep=True), given.repeat)  # fmt: skip


if __name__ == "__main__":
    main()
