#!/usr/bin/env python3
"""No page of the documents is too long to read, no paragraph is a wall of text, and the README fits on a few screens.

    tools/pages.py [ROOT]
    tools/pages.py --selftest

A page of docs/ has at most 400 lines, generated or not; README.md at most 150. A page that is one table is no exception: if a table
grows beyond that, it is data, and belongs into a file that a program reads.

A paragraph or an item of a list has at most 70 words, a link counting as its text. Tables and blocks of code are not counted, nor are the
pages of docs/verbs, whose texts are those of the help, and other generated parts.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, README, WORDS = 400, 150, 70
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"<!-- (?!needs|file).*?<!-- end -->", re.DOTALL)
ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|(?<=\|)\n|\n(?=\|)")


def walls(text):
    """(first words, number of words) of each paragraph that is too long."""
    text = GENERATED.sub("\n\n", CODE.sub("\n\n", text))
    found = []
    for part in ITEM.split(text):
        words = len(re.sub(r"\]\([^)]*\)", "]", part).split())
        if words > WORDS and not part.lstrip("\n").startswith(("|", "    ")):
            found.append((part.split()[:6], words))
    return found


def problems(root):
    limits = {root / "README.md": README} | {page: PAGE for page in sorted((root / "docs").rglob("*.md"))}
    if len(limits) == 1:
        return [f"{root}: no document is there"]
    found = []
    for page in [*limits, root / "CONTRIBUTING.md"]:
        if page.exists() and page.parent != root / "docs" / "verbs":
            found += [f"{page.relative_to(root)}: the paragraph \"{' '.join(begin)} ...\" has {words} words, at most {WORDS} are allowed: use a list or a table"
                      for begin, words in walls(page.read_text(encoding="utf-8"))]
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
        long = "word " * (WORDS + 1)
        for wall in (long, f"- a\n- {long}\n", f"| a |\n{long}", f"1. a\n2. [{long}](x)"):
            assert len(walls(f"x\n\n{wall}\n\ny")) == 1, wall
        for fine in ("word " * WORDS, f"| {long} |", f"```sh\n{long}\n```", "    " + long, f"<!-- markdown: a -->\n{long}\n<!-- end -->", "- a b c\n" * WORDS):
            assert walls(f"x\n\n{fine}\n\ny") == [], fine
        (root / "README.md").write_text(long)
        (root / "docs/verbs/b.md").write_text(long)
        (root / "CONTRIBUTING.md").write_text(long)
        assert [line.split(":")[0] for line in problems(root)] == ["README.md", "CONTRIBUTING.md"]
        (root / "CONTRIBUTING.md").unlink()
        (root / "README.md").write_text("x\n\n" * (README // 2))
        (root / "docs/a.md").write_text("x\n\n" * (PAGE // 2))
        (root / "docs/verbs/b.md").write_text("x\n" * PAGE)
        assert problems(root) == []
        (root / "README.md").write_text("\n" * (README + 1))
        (root / "docs/verbs/b.md").write_text("\n" * (PAGE + 1))
        assert [line.split(":")[0] for line in problems(root)] == ["README.md", "docs/verbs/b.md"]


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    found = problems(pathlib.Path(arguments[0]).resolve() if arguments else ROOT)
    print("\n".join(found) if found else "no page is too long")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
