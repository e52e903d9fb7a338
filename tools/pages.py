#!/usr/bin/env python3
"""No page of the documents is too long to read, and the README fits on a few screens.

    tools/pages.py [ROOT]
    tools/pages.py --selftest

A page of docs/ has at most 400 lines, generated or not; README.md at most 150. A page that is one table is no exception: if a table
grows beyond that, it is data, and belongs into a file that a program reads.
"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, README = 400, 150


def problems(root):
    limits = {root / "README.md": README} | {page: PAGE for page in sorted((root / "docs").rglob("*.md"))}
    if len(limits) == 1:
        return [f"{root}: no document is there"]
    found = []
    for page, limit in limits.items():
        lines = page.read_text(encoding="utf-8").count("\n")
        if lines > limit:
            found.append(f"{page.relative_to(root)}: {lines} lines, at most {limit} are allowed: split it by topic")
    return found


def selftest():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        assert problems(root)
        (root / "docs/verbs").mkdir(parents=True)
        (root / "README.md").write_text("x\n" * README)
        (root / "docs/a.md").write_text("x\n" * PAGE)
        (root / "docs/verbs/b.md").write_text("x\n" * PAGE)
        assert problems(root) == []
        (root / "README.md").write_text("x\n" * (README + 1))
        (root / "docs/verbs/b.md").write_text("x\n" * (PAGE + 1))
        assert [line.split(":")[0] for line in problems(root)] == ["README.md", "docs/verbs/b.md"]


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    found = problems(pathlib.Path(arguments[0]).resolve() if arguments else ROOT)
    print("\n".join(found) if found else "no page is too long")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
