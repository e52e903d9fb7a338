#!/usr/bin/env python3
"""What the viewer adds to the command: code, constants and the page, in bytes. Less than 1 MB. Exit code 77 without binutils.

    size.py libtare-view.a
"""

import shutil
import subprocess
import sys

if shutil.which("size") is None:
    print("skipped: `size` is not installed")
    sys.exit(77)
lines = subprocess.run(["size", "-t", sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines()
text, data = map(int, lines[-1].split()[:2])
print(f"{text + data} bytes")
assert text + data < 1_000_000, "the viewer has become larger than it may be"
