#!/usr/bin/env python3
"""Runs format.mjs. 77: there is no node.

    format.py NODE
"""

import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent


def main():
    node = sys.argv[1]
    if not node or node.endswith("-NOTFOUND"):
        return 77
    page = TESTS.parent / "src/view/page/format.js"
    return subprocess.run([node, TESTS / "view/format.mjs", page, TESTS / "base/numbers.json"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
