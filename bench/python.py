#!/usr/bin/env python3
"""Compares the module with the package safetensors: the same job, on the same files, in one run, taking turns.

    PYTHONPATH=build/release/python python3 bench/python.py [--dir DIR] [--repeat N] [--tensors N] [ROW ...]

Results are compared before they are timed. Prints medians and ratios; more than 1 is in favour of Tare. Rows: load, save, keys,
import, call, writer, ray; all by default. `ray` needs Ray, and reports if it is not installed.
"""

import argparse
import os
import pickle
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


ROWS = ("load", "save", "keys", "import", "call", "writer", "ray")


def touch(arrays):
    """Reads a byte of every page."""
    return sum(int(array.reshape(-1).view(np.uint8)[::4096].sum()) for array in arrays.values())


def timed(job):
    begin = time.perf_counter()
    result = job()
    return time.perf_counter() - begin, result


def row(name, goal, mine, other, repeat, before=lambda: None):
    a, b = [], []
    for i in range(repeat):
        for job, times in ((mine, a), (other, b)) if i % 2 == 0 else ((other, b), (mine, a)):
            before()
            times.append(timed(job)[0])
    first, second = statistics.median(a), statistics.median(b)
    print(f"{name:<44} {first * 1e3:10.2f} ms {second * 1e3:10.2f} ms {second / first:8.2f}x  goal {goal}", flush=True)


def import_time():
    def once(code):
        script = f"import numpy, time; b = time.perf_counter(); {code}; print(time.perf_counter() - b)"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
        return float(run.stdout)

    return min(once("import tare") for _ in range(7)), min(once("import safetensors.numpy") for _ in range(7))


def files(folder, given, rows):
    large, many = os.path.join(folder, "large.safetensors"), os.path.join(folder, "many.safetensors")
    random = np.random.default_rng(1)
    weights = {f"layer.{i}.weight": random.integers(0, 255, 1 << 20, np.uint8).view("f4").reshape(512, 512)
               for i in range(given.tensors)}  # fmt: skip
    theirs.save_file(weights, large)
    assert touch(ours.load_file(large)) == touch(theirs.load_file(large)) == touch(weights)
    print(f"{'':<44} {'tare':>13} {'safetensors':>13}")
    if "load" in rows:
        row(f"load_file, {given.tensors:,} x 1 MiB", ">= 3", lambda: ours.load_file(large), lambda: theirs.load_file(large),
            given.repeat)  # fmt: skip
        row("load_file, every page touched", ">= 1", lambda: touch(ours.load_file(large)),
            lambda: touch(theirs.load_file(large)), given.repeat)  # fmt: skip
    if "save" in rows:
        out = os.path.join(folder, "out.safetensors")
        row(f"save_file, {given.tensors:,} x 1 MiB", ">= 1", lambda: ours.save_file(weights, out),
            lambda: theirs.save_file(weights, out), given.repeat, lambda: os.path.exists(out) and os.remove(out))
        row("save_file, in place of a file", ">= 1", lambda: ours.save_file(weights, out),
            lambda: theirs.save_file(weights, out), given.repeat)  # fmt: skip
        os.remove(out)
    if "keys" in rows:
        theirs.save_file({f"layer.{i}.weight": np.zeros(1, "f4") for i in range(100_000)}, many)

        def keys(module):
            with module.safe_open(many, "np") as file:
                return len(file.keys())

        assert keys(dropin) == keys(safetensors) == 100_000
        row("open and keys, 100,000 tensors", ">= 4", lambda: keys(dropin), lambda: keys(safetensors), given.repeat)
    if "import" in rows:
        mine, other = import_time()
        print(f"{'import, beside that of NumPy':<44} {mine * 1e3:10.2f} ms {other * 1e3:10.2f} ms            goal < 30 ms")
    if "call" in rows:
        with tare.open(large) as m:
            best = min(_per_call(m) for _ in range(20))
        print(f"{'m[name]':<44} {best * 1e6:10.3f} us                            goal < 1 us")
    if "writer" in rows:
        writer(folder, weights, given.repeat)


def writer(folder, weights, repeat):
    """Compares writing in pieces with writing all at once; both wait for the disk."""
    out = os.path.join(folder, "written.zt")

    def pieces():
        with tare.Writer(out, overwrite=True) as writer:
            for name, array in weights.items():
                writer.declare(name, array.shape, array.dtype)
            for name, array in weights.items():
                writer.write(name, array)

    times = [(timed(pieces)[0], timed(lambda: tare.save(out, weights, overwrite=True))[0]) for _ in range(min(repeat, 5))]
    first, second = (statistics.median(column) for column in zip(*times))
    print(f"{'tare.Writer, beside tare.save':<44} {first * 1e3:10.2f} ms {second * 1e3:10.2f} ms {second / first:8.2f}x")
    os.remove(out)


def _per_call(m, count=20_000):
    begin = time.perf_counter()
    for _ in range(count):
        m["layer.7.weight"]
    return (time.perf_counter() - begin) / count


# A worker without Ray: prints "ready", then runs the pickled list of tasks from standard input.
_PLAIN = """
import pickle, sys, tare
print("ready", flush=True)
for task in pickle.load(sys.stdin.buffer):
    task.run(threads=1)
"""


def cluster(folder, repeat):
    """Compares one Ray worker with two, one thread each, on a conversion bound by the processor; and the same with plain processes."""
    try:
        import ray
    except ImportError:
        print("two Ray workers: Ray is not installed")
        return
    source, number = os.path.join(folder, "source.safetensors"), iter(range(10**6))
    random = np.random.default_rng(2)
    theirs.save_file({f"layer.{i}.weight": random.standard_normal((1024, 512), "f4") for i in range(64)}, source)

    def made():
        return tare.plan(source, os.path.join(folder, f"{next(number)}.zt"), tasks=8, zstd=19)

    def on_ray(workers):  # each task requests a share of the two processors that allows this many workers
        return timed(lambda: tare.cluster.ray.run(plans.pop(), threads=1, num_cpus=2 / workers))[0]

    def plainly(workers):
        plan = plans.pop()
        started = [subprocess.Popen([sys.executable, "-c", _PLAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                   for _ in range(workers)]  # fmt: skip
        for process in started:
            process.stdout.readline()

        def job():
            for i, process in enumerate(started):
                process.stdin.write(pickle.dumps(plan.tasks[i::workers]))
                process.stdin.close()
            assert not any([process.wait() for process in started])
            plan.finish()

        return timed(job)[0]

    # By default Ray gives its workers a lower priority than itself (niceness + 15).
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}})  # fmt: skip
    try:
        @ray.remote(num_cpus=1)
        def ready():
            import tare  # noqa: F401

            time.sleep(0.5)
            return os.getpid()

        def warm():  # waits until both have started and imported tare; Ray ends a worker that is idle for a second
            while len(set(ray.get([ready.remote(), ready.remote()]))) < 2:
                pass

        ways = {"Ray": on_ray, "processes": plainly}
        times = {(name, workers): [] for name in ways for workers in (1, 2)}
        loads = []
        for _ in range(repeat):
            for name, workers in times:
                plans = [made()]
                warm()
                times[name, workers].append(ways[name](workers))
            loads.append(os.getloadavg()[0])
    finally:
        ray.shutdown()
    for name in ways:
        one, two = times[name, 1], times[name, 2]
        ratios = sorted(a / b for a, b in zip(one, two))
        print(f"{f'two workers beside one, {name}':<44} {min(two):10.2f} s  {min(one):10.2f} s  {min(one) / min(two):8.2f}x  "
              f"goal >= 1.7   pairs {ratios[0]:.2f} to {ratios[-1]:.2f}, load {min(loads):.1f} to {max(loads):.1f}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=None)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--tensors", type=int, default=1000)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    given = parser.parse_args()
    rows = set(given.rows or ROWS)
    if rows - set(ROWS):
        parser.error(f"there are the rows {', '.join(ROWS)}")
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, "
          f"NumPy {np.__version__}, safetensors {safetensors.__version__}, tare {tare.__version__}")  # fmt: skip
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        if rows - {"ray"}:
            files(folder, given, rows)
        if "ray" in rows:
            cluster(folder, min(given.repeat, 5))


if __name__ == "__main__":
    main()
