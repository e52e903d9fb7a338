#!/usr/bin/env python3
"""Runs the tests of this folder. 77: NumPy or pytest are missing, and it says so.

    run.py [FILE.py ...] [OPTION of pytest ...]
    run.py --with PYTHON [FILE.py ...] [OPTION of pytest ...]    with a Python that has further packages: by default the
                                                                 tests that need them
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
FURTHER = ["test_torch.py", "test_checkpoint.py", "test_exit.py", "test_device.py", "test_write.py", "test_safetensors_package.py", "test_docs.py", "test_trust.py"]


def main(arguments):
    if arguments[:1] == ["--with"]:
        if not os.access(arguments[1], os.X_OK):
            print(f"skipped: there is no {arguments[1]}; tools/interop has not been run")
            return 77
        os.execv(arguments[1], [arguments[1], __file__, *(arguments[2:] or FURTHER)])
    for needed, package in (("numpy", "python3-numpy"), ("pytest", "python3-pytest")):
        try:
            __import__(needed)
        except ImportError:
            print(f"skipped: {sys.executable} has no {needed} (Debian: {package})")
            return 77
    import pytest

    options = ["-q", "-p", "no:cacheprovider", "-rsfE", "--rootdir", os.fspath(HERE)]
    files = [os.fspath(HERE / a) for a in arguments if a.endswith(".py")]
    return int(pytest.main([*options, *(a for a in arguments if not a.endswith(".py")), *(files or [os.fspath(HERE)])]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
