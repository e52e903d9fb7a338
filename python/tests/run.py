#!/usr/bin/env python3
"""Runs the tests of this folder. 77: NumPy or pytest are missing, and it says so.

    run.py [FILE.py ...] [OPTION of pytest ...]
    run.py --with PYTHON    those that need further packages, with the Python that has them
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
FURTHER = ["test_torch.py", "test_write.py", "test_docs.py"]


def main(arguments):
    if arguments[:1] == ["--with"]:
        if not os.access(arguments[1], os.X_OK):
            print("skipped: tools/interop has not been run")
            return 77
        os.execv(arguments[1], [arguments[1], __file__, *(os.fspath(HERE / name) for name in FURTHER)])
    for needed, package in (("numpy", "python3-numpy"), ("pytest", "python3-pytest")):
        try:
            __import__(needed)
        except ImportError:
            print(f"skipped: {sys.executable} has no {needed} (Debian: {package})")
            return 77
    import pytest

    options = ["-q", "-p", "no:cacheprovider", "-rs", "--rootdir", os.fspath(HERE), *arguments]
    return int(pytest.main(options if any(a.endswith(".py") for a in arguments) else [*options, os.fspath(HERE)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
