#!/usr/bin/env python3
"""Every promise of docs/security-audit.md names the tests that hold it, and those tests exist.

    tools/security.py BUILD_DIR
    tools/security.py --selftest

A promise is a row of a table whose last column is headed "held by": names in backticks, of tests as ctest lists them (of
a parameterised test without its parameters; NAME.* for all of a suite), `fuzz.NAME` (a folder of fuzz/corpus, replayed
by builds with sanitizers), or `make TARGET`."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "security-audit.md"


def promises(page):
    """(promise, names in its last column) of every row of the tables headed "held by"."""
    rows, inside = [], False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[-1].lower() == "held by":
            inside = True
        elif inside and not re.fullmatch(r"[-: ]+", cells[-1]):
            rows.append((cells[0], re.findall(r"`([^`]+)`", cells[-1])))
    return rows


def plain(test):
    """Formats/Suite.Name/parameter -> Suite.Name"""
    return re.sub(r"^[^./]+/|/[^/]*$", "", test) if "/" in test else test


def problems(page, tests, targets):
    known = {plain(test) for test in tests} | set(tests)
    suites = {name.split(".")[0] for name in known}
    found = []
    rows = promises(page)
    if not rows:
        found.append("no promise is listed")
    for promise, names in rows:
        if not names:
            found.append(f"nothing holds: {promise}")
        for name in names:
            make = name.removeprefix("make ") if name.startswith("make ") else None
            exists = make in targets if make else name[:-2] in suites if name.endswith(".*") else name in known
            if not exists:
                found.append(f"no such test: {name} ({promise})")
    return found


def selftest():
    page = "| promise | held by |\n| --- | --- |\n| a | `S.T`, `make x` |\n| b | |\n| c | `S.Gone`, `make y` |\n| d | `P.*` |\n\n| e | `no` |\n"
    found = problems(page, ["S.T", "All/P.Q/zt"], {"x"})
    assert found == ["nothing holds: b", "no such test: S.Gone (c)", "no such test: make y (c)"], found
    assert problems("| a | held by |\n|---|---|\n| p | `P.Q` |", ["All/P.Q/zt"], set()) == []
    assert problems("nothing", [], set()) == ["no promise is listed"]


def main():
    if sys.argv[1:] == ["--selftest"]:
        selftest()
        return 0
    listing = subprocess.run(["ctest", "--test-dir", sys.argv[1], "-N"], capture_output=True, text=True, check=True).stdout
    tests = re.findall(r"^\s*Test\s+#\d+: (\S+)", listing, re.MULTILINE)
    tests += ["fuzz." + folder.name for folder in (ROOT / "fuzz" / "corpus").iterdir() if folder.is_dir()]
    targets = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    found = problems(PAGE.read_text(), tests, targets)
    for problem in found:
        print(f"{PAGE.relative_to(ROOT)}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
