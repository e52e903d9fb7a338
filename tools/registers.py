#!/usr/bin/env python3
"""No function of a library uses MMX registers: without an `emms` after it that spoils the x87 unit, and `long double` is NaN
from then on. GCC 12 does so by itself where it vectorizes for SSE4.

    tools/registers.py LIBRARY    prints each function that does; exit 1 if there is one
"""
import re
import subprocess
import sys


def main():
    lines = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", sys.argv[1]], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    function, found = "", []
    for line in lines:
        if line.endswith(">:"):
            function = line
        elif re.search(r"%mm[0-7]", line) and function not in found:
            found.append(function)
    for name in found:
        print(f"MMX registers in {name}")
    if not found:
        print(f"{sum(line.endswith('>:') for line in lines)} functions, none with MMX registers")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
