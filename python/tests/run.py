#!/usr/bin/env python3
"""Runs the tests of this folder. 77: NumPy or pytest are missing, and it says so."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    for needed, package in (("numpy", "python3-numpy"), ("pytest", "python3-pytest")):
        try:
            __import__(needed)
        except ImportError:
            print(f"skipped: {sys.executable} has no {needed} (Debian: {package})")
            return 77
    import pytest

    options = ["-q", "-p", "no:cacheprovider", "-rs", "--rootdir", os.fspath(HERE), *sys.argv[1:]]
    return int(pytest.main([*options, os.fspath(HERE)] if not any(a.endswith(".py") for a in sys.argv[1:]) else options))


if __name__ == "__main__":
    sys.exit(main())
