"""Python ends while daemon threads are inside the module: the process ends as if they were not there.

Each script makes a file or two, then forks: a child has threads that do one thing over and over, and comes to its end while
they do. Before 3.14 Python ends such a thread by unwinding its stack, at the moment when it takes the GIL again.
"""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tare

from conftest import SANITIZED

RUNS = 5 if SANITIZED else 20

FRAME = """
import os, random, sys, threading, time
import numpy as np
import tare

folder = sys.argv[1]
weight = np.random.default_rng(1).standard_normal((64, 1024)).astype("f4")
path = os.path.join(folder, "m.zt")
tare.save(path, {{"w": weight, "v": weight}}, zstd=1, metadata={{"a": 1}}, attachments={{"note.txt": b"x" * 5000}}, overwrite=True)
data = open(path, "rb").read()
m = tare.open(path)
tensor = m.tensor("w")
seen = []


def own(suffix):
    return os.path.join(folder, f"{{os.getpid()}}-{{threading.get_ident()}}.{{suffix}}")

{setup}

def work():
{work}

def endless():
    while True:
        work()


def child():
    for _ in range(4):
        threading.Thread(target=endless, daemon=True).start()
    time.sleep(random.random() * 0.03)


def parent():
    work()  # what is imported or made once is there, and it works
    for run in range({runs}):
        pid = os.fork()
        if pid == 0:
            child()
            return
        status = os.waitpid(pid, 0)[1]
        if status != 0:
            print(f"run {{run}}: status {{status}}", file=sys.stderr)
            os._exit(1)


parent()
"""

# A checkpoint without tensors: torch's own functions end the process when Python ends under them.
CHECKPOINT = """
import io, pickle, zipfile
from tare import _tare
class Storages(tare.Model):
    def __init__(self): pass
class Maker:
    constant = call = set_state = storage = dense = None
    def large(self, data):
        return int.from_bytes(data, "little", signed=True)
whole = {"a": [2**70 + i for i in range(50)], "b": (set("xyz"), None, {"c": "x"})}
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as members:
    members.writestr("x/data.pkl", pickle.dumps(whole, protocol=4))
saved = archive.getvalue()
"""

# Everything that lets other threads run, or calls into Python: the name of the entry, what is made before, what the threads do.
ENTRIES = {
    "open": ("", "tare.open(path).close()"),
    "open_bytes": ("", "tare.open(data).close()"),
    "open_fails": ("", "try: tare.open(path + 'x')\nexcept tare.NotFoundError: pass"),
    "name_fails": ("", "try: m['x']\nexcept KeyError: pass"),
    "array": ("", "m['w']"),
    "writable": ("", "m.load(writable=True)"),
    "read": ("", "tensor.numpy()"),
    "slice": ("", "tensor[1:3]"),
    "bytes": ("", "tensor.bytes()"),
    "stats": ("", "tensor.stats()"),
    "verify_tensor": ("", "tensor.verify()"),
    "cast": ("", "tensor.cast('f16')"),
    "rows": ("", "for row in tensor: pass"),
    "check": ("", "m.check()"),
    "usual_names": ("", "m._like(usual_names=True).close()"),
    "settings": ("", "tare.open(path)._settings()"),
    "attachment": ("", "tare.open(path).attachments['note.txt']"),
    "to_bytes": ("", "tare.to_bytes({'w': weight}, format='zt')"),
    "save": ("", "tare.save(own('zt'), {'w': weight}, overwrite=True)"),
    "save_hastily": ("", "tare.safetensors.numpy.save_file({'w': weight}, own('safetensors'))"),
    "writer": ("", "with tare.Writer(own('zt'), overwrite=True) as w:\n    w.declare('w', 1024, 'f32')\n    w.write('w', weight[0])"),
    "convert": ("", "tare.convert(path, own('mcf'), overwrite=True)"),
    "convert_reporting": ("", "tare.convert(path, own('mcf'), overwrite=True, progress=lambda a, b: time.sleep(0.001))"),
    "verify": ("", "assert tare.verify(path).ok"),
    "hash": ("", "tare.hash(path)"),
    "diff": ("", "assert tare.diff(path, path).same"),
    "quantize": ("", "tare.quantize(path, own('mcf'), 'k4', overwrite=True)"),
    "plan": ("", "plan = tare.plan(path, own('zt'), tasks=2, overwrite=True)\nfor task in plan.tasks: task.run()\nplan.finish()"),
    "dlpack": ("", "np.from_dlpack(tensor)"),
    "checkpoint": (CHECKPOINT, "assert _tare._checkpoint(saved, {}, Storages(), Maker) == (whole,)"),
    "device": ("import tare.device", "for one in tare.device.load(m).values(): one.tobytes()"),
}  # fmt: skip


def run(setup, work, folder, **environment):
    script = FRAME.format(setup=textwrap.dedent(setup), work=textwrap.indent(work, "    "), runs=RUNS)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", script, os.fspath(folder)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=300)  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
def test_daemon_threads_at_exit(entry, tmp_path):
    environment = {}
    if entry == "device":
        environment["TARE_CUDA_LIBRARY"] = os.environ.get("TARE_FAKE_CUDA_PATH", "")
        if not os.path.exists(environment["TARE_CUDA_LIBRARY"]):
            pytest.skip("TARE_FAKE_CUDA_PATH does not name the driver of the tests")
    done = run(*ENTRIES[entry], tmp_path, **environment)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_last_thread_may_use_the_module(tmp_path):
    """What is freed while Python ends still works, in the thread that ends it."""
    setup = """
    class Late:
        def __del__(self, tensor=tensor, size=weight.size, write=os.write):
            write(1, b"late " if sys.is_finalizing() and tensor.stats()["count"] == size else b"early ")
    late = Late()
    """
    done = run(setup, "tensor.stats()", tmp_path)  # in the children, threads keep it
    assert done.returncode == 0 and done.stderr == "" and done.stdout == "late ", done.stderr


def test_a_thread_that_ends_with_python_can_be_waited_for(tmp_path):
    """Threads are held only once Python is ending for good: callbacks of atexit run before that."""
    setup = """
    import atexit
    stop = threading.Event()
    def wait():
        stop.set()
        for thread in threading.enumerate():
            if thread.daemon: thread.join()
        os.write(1, b"joined ")
    atexit.register(wait)
    """
    done = run(setup, "tensor.stats()\n    if stop.is_set(): sys.exit()".replace("\n    ", "\n"), tmp_path)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("joined") == RUNS + 1, done.stderr


def test_what_a_worker_lets_go_is_freed():
    """A thread that Python does not know leaves objects behind; they are free when the call that started it returns."""
    memory = bytearray(4 * 1024)
    weight = np.frombuffer(memory, dtype="f4")
    for _ in range(20):
        tare.to_bytes({"w": weight}, format="zt")
    del weight
    memory.append(0)  # refused while anything still exports the buffer
