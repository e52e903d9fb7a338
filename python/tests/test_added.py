"""A function of the module is at most three places: C++, a Python module, the stub (CONTRIBUTING.md)."""

import os
import shutil
import subprocess
import sys

import tare

FOLDER = os.path.dirname(tare.__file__)
FUNCTION = '''

def made_up(bytes, *, threads=0):
    """What a test adds."""
    return _tare.size_text(bytes)


__all__ += ["made_up"]
'''
STUB = "def made_up(bytes: int, *, threads: int = 0) -> str: ...\n"
USE = """
import tare, test_types
assert tare.made_up(1024) == "1.0 KiB" and "made_up" in tare.__all__ and "made_up" in dir(tare)
test_types.test_stub_is_the_code()
"""


def test_a_function_is_three_places(tmp_path):
    package = tmp_path / "tare"
    shutil.copytree(FOLDER, package, ignore=shutil.ignore_patterns("__pycache__"))

    def use():
        path = os.pathsep.join([str(tmp_path), os.path.dirname(__file__)])
        return subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})

    changed = ["src/work.cpp"]  # size_text stands for a function there, which the test cannot compile
    for name, text in (("_work.py", FUNCTION), ("__init__.pyi", STUB)):
        done = use()
        assert done.returncode != 0, f"{name} need not be changed"
        with open(package / name, "a") as file:
            file.write(text)
        changed.append(name)
    done = use()
    assert done.returncode == 0, done.stderr
    assert len(changed) <= 3
