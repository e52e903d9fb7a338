#!/usr/bin/env python3
"""Compares loaders of weights into GPU memory in one run: Tare, and the others that are installed.

    bench/gpu/make.py /dev/shm/m; bench/gpu/make.py /var/tmp/m
    PYTHONPATH=build/release/python bench/gpu/run.py --tmpfs /dev/shm/m --disk /var/tmp/m [--only REGEX] [--json FILE]

Every loader runs in its own process, in which the CUDA context already exists; it loads three times, and the bytes of some tensors
of each result are compared with the file. The time is from the call until the device has everything and the caller has the
tensors; torch keeps its memory from one load to the next. GB/s are 10^9 bytes per second, the best of three. The first call of a
fresh process is shown separately, for "big tmpfs". "cold": one shard, which is dropped from the page cache before each load.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import time

COLUMNS = ["big tmpfs", "big warm", "small tmpfs", "small warm", "big cold"]


# ---- loaders: a function from files to a dict of tensors


def tare_all(files, **options):
    """Loads all files at once, as a sharded model is opened."""
    import tare
    import tare.torch

    if len(files) == 1:
        return tare.torch.load(files[0], device="cuda", **options)
    with tare.open(os.path.dirname(files[0]) + "/set") as model:
        return tare.torch.to_device(model, "cuda", **options)


def safetensors_load(files):
    from safetensors.torch import load_file

    tensors = {}
    for file in files:
        tensors.update(load_file(file, device="cuda"))
    return tensors


def prefetch(files, threads=8, at_once=False):
    from safetensors import safe_open

    tensors = {}
    with contextlib.ExitStack() as stack:
        handles = [stack.enter_context(safe_open(file, framework="pt", device="cuda")) for file in files]
        if at_once:
            loaders = [handle.prefetch(device="cuda", threads=threads) for handle in handles]
            for loader in loaders:
                tensors.update(loader)
        else:
            for handle in handles:
                tensors.update(handle.prefetch(device="cuda", threads=threads))
    return tensors


def fastsafetensors(files, nogds=True):
    from fastsafetensors import fastsafe_open

    with fastsafe_open(files, device="cuda:0", nogds=nogds) as handle:
        return {name: handle.get_tensor(name) for name in handle.keys()}


def instanttensor(files, backend=None):
    import instanttensor

    options = {} if backend is None else {"backend": getattr(instanttensor.Backend, backend)}
    with instanttensor.safe_open(files, framework="pt", device=0, **options) as handle:
        return dict(handle.tensors())


LOADERS = {
    "tare": lambda files: tare_all(files),
    "tare verify": lambda files: tare_all(files, verify=True),
    "safetensors load_file": safetensors_load,
    "safetensors prefetch(8), all at once": lambda files: prefetch(files, at_once=True),
    "safetensors prefetch(16), all at once": lambda files: prefetch(files, 16, True),
    "fastsafetensors buffered": lambda files: fastsafetensors(files),
    "fastsafetensors default": lambda files: fastsafetensors(files, nogds=False),
    "instanttensor default": lambda files: instanttensor(files),
    "instanttensor MMAP": lambda files: instanttensor(files, "MMAP"),
}


# ---- the process of a loader


def child(name, columns, places):
    import torch

    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    for column in columns:
        size, place = column.split()
        root = places["tmpfs" if place == "tmpfs" else "disk"]
        files = sorted(glob.glob(os.path.join(root, size + "*.safetensors")))
        if place == "cold":
            files = files[:1]
        if place == "warm":
            for file in files:
                with open(file, "rb", buffering=0) as handle:
                    while handle.read(1 << 24):
                        pass
        times, checked = [], None
        for number in range(3):
            if place == "cold":
                with open(files[0], "rb") as handle:
                    os.fsync(handle.fileno())
                    os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            begin = time.perf_counter()
            tensors = LOADERS[name](files)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
            if number == 0:
                checked = compare(tensors, files)
            count = len(tensors)
            total = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
            del tensors  # torch keeps the memory for the next load
        row = {"seconds": times, "bytes": total, "tensors": count, "equal": checked}
        print("RESULT " + json.dumps({column: row}), flush=True)


def compare(tensors, files):
    """Whether the tensors are those of the files: bytes of the first, the last and each 50th tensor."""
    import numpy as np
    import torch

    for file in files:
        with open(file, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(length))
        names = [name for name in header if name != "__metadata__"]
        for name in [*names[:: max(1, len(names) // 4)], names[-1]]:
            begin, end = header[name]["data_offsets"]
            stored = np.fromfile(file, np.uint8, end - begin, offset=8 + length + begin)
            found = tensors[name]
            if list(found.shape) != header[name]["shape"]:
                return False
            if not torch.equal(found.reshape(-1).view(torch.uint8), torch.from_numpy(stored).cuda()):
                return False
    return True


def link():
    """GB/s of one large copy from pinned memory."""
    import torch

    host = torch.empty(1 << 28, dtype=torch.uint8).pin_memory()
    there = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    best = 0
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(4):
            there.copy_(host, non_blocking=True)
        torch.cuda.synchronize()
        best = max(best, 4 * host.numel() / (time.perf_counter() - begin) / 1e9)
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tmpfs", required=True)
    parser.add_argument("--disk")
    parser.add_argument("--only", default="")
    parser.add_argument("--columns", default=",".join(COLUMNS))
    parser.add_argument("--json")
    parser.add_argument("--limit", type=float, default=40, help="seconds for a loader and a column")
    parser.add_argument("--child")
    arguments = parser.parse_args()
    places = {"tmpfs": arguments.tmpfs, "disk": arguments.disk}
    columns = [column for column in arguments.columns.split(",") if arguments.disk or "tmpfs" in column]
    if arguments.child:
        return child(arguments.child, columns, places)
    for root in filter(None, places.values()):
        sharded(root)
    results = {}
    for name in LOADERS:
        if not re.search(arguments.only, name):
            continue
        results[name] = {}
        # The first column gets its own process, so that its first call is really the first.
        for some in (columns[:1], columns[1:]):
            if not some:
                continue
            command = [sys.executable, __file__, *sys.argv[1:], "--columns", ",".join(some), "--child", name]
            rows, why = {}, "failed"
            try:
                limit = arguments.limit * len(some)
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
                output, why = done.stdout, done.stderr.strip()[-300:]
            except subprocess.TimeoutExpired as expired:
                output, why = (expired.stdout or b"").decode(), f"more than {limit} s"
            for line in output.splitlines():
                if line.startswith("RESULT "):
                    rows.update(json.loads(line[7:]))
            for column in some:
                results[name][column] = rows.get(column, {"error": why})
                print(f"{name:40} {column:12} {text(results[name][column])}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"link": link(), "results": results}, file, indent=1)
    print(f"link: {link():.1f} GB/s")


def text(row):
    if "error" in row:
        return row["error"].splitlines()[-1] if row["error"] else "failed"
    rates = [row["bytes"] / seconds / 1e9 for seconds in row["seconds"]]
    return f"{max(rates):5.1f} GB/s, first {row['seconds'][0] * 1e3:6.0f} ms, {'equal' if row['equal'] else 'NOT EQUAL'}"


def sharded(root):
    """Links the shards into a directory that is one model."""
    place = os.path.join(root, "set")
    os.makedirs(place, exist_ok=True)
    weights = {}
    for file in sorted(glob.glob(os.path.join(root, "big-*.safetensors"))):
        name = os.path.basename(file)
        with contextlib.suppress(FileExistsError):
            os.link(file, os.path.join(place, name))
        with open(file, "rb") as handle:
            header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
        weights.update({tensor: name for tensor in header if tensor != "__metadata__"})
    with open(os.path.join(place, "model.safetensors.index.json"), "w") as handle:
        json.dump({"metadata": {}, "weight_map": weights}, handle)


if __name__ == "__main__":
    main()
