#!/usr/bin/env python3
"""No object of a library is destroyed when the process ends: other threads may still use it (src/base/forever.hpp).

A function that is registered with `atexit` is allowed in src/base/simdjson.cpp only, which waits for other threads.

    tools/at_exit.py LIBRARY    prints each object file that asks for a destructor at the end; exit 1 if there is one
"""

import re
import subprocess
import sys

ALLOWED = re.compile(r"^(?:simdjson\.cpp|unity_src_base_\w+)\.")  # the object file of simdjson.cpp, alone or with its folder


def main():
    lines = subprocess.run(["nm", "-A", "-u", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    found = sorted({line.split(":")[-2] for line in lines if line.split()[-1] in ("__cxa_atexit", "__aeabi_atexit") or (line.split()[-1] == "atexit" and not ALLOWED.search(line.split(":")[-2]))})
    for name in found:
        print(f"{name}: a static object with a destructor; see src/base/forever.hpp")
    if not found:
        print(f"{len({line.split(':')[-2] for line in lines})} object files, and nothing is destroyed at the end")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
