#!/usr/bin/env python3
"""Every link in the documents leads to a file and a heading of this tree, and every path they name exists.

    tools/links.py [ROOT]
    tools/links.py --selftest

Looks at links without a scheme, [text](path#heading), and at paths in backticks that begin with a folder of the tree, such as
`src/formats/zt/*.cpp`; those with a word in capitals (`src/formats/NAME/`) are placeholders.
"""

import collections
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:bench|cmake|docs|fuzz|include|src|tests|tools)/[^`\s]*)`")


def headings(text):
    """The anchors that a page has: GitHub's way to make them of headings."""
    found, times = set(), collections.Counter()
    for title in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        found.add(f"{slug}-{times[slug]}" if times[slug] else slug)
        times[slug] += 1
    return found


def problems(root):
    found = []
    # Not build/, which may have whole systems in it.
    folders = [folder for folder in root.iterdir() if folder.is_dir() and not folder.name.startswith(("build", "out", "."))]
    pages = {page: page.read_text(encoding="utf-8") for page in [*root.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]}
    if not pages:
        found.append(f"{root}: no document is there")
    for page, text in sorted(pages.items()):
        words = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
        for number, line in enumerate(words.splitlines(), 1):
            here = f"{page.relative_to(root)}:{number}"
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, heading = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                if not file.exists():
                    found.append(f"{here}: {target} leads nowhere")
                elif heading and heading not in headings(pages.get(file, "")):
                    found.append(f"{here}: {target}: there is no such heading")
            for path in PATH.findall(line):
                if not re.search(r"[A-Z]{3}", path) and not any(root.glob(path.rstrip("/"))):
                    found.append(f"{here}: {path} does not exist")
    return found


def selftest():
    other = "# Other page\n\n## What it is, and `why`\n\n```sh\n# No heading\n```\n\n## Twice\n\n## Twice\n"
    cases = [
        ("[a](docs/other.md)", 0), ("[a](docs/gone.md)", 1), ("[a](docs)", 0), ("[a](https://example.org/gone)", 0),
        ("[a](docs/other.md#what-it-is-and-why)", 0), ("[a](docs/other.md#gone)", 1), ("[a](docs/other.md#no-heading)", 1),
        ("[a](docs/other.md#twice-1)", 0), ("[a](#here)", 0), ("[a](#there)", 1), ("`docs/other.md`", 0),
        ("`docs/gone.md`", 1), ("`docs/*.md`", 0), ("`docs/gone*.md`", 1), ("`docs/NAME.md`", 0),
        ("```sh\n[a](docs/gone.md)\n```", 0), ("a\n\n[a](docs/gone.md) [b](docs/gone.md)", 2),
    ]
    for text, count in cases:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "docs").mkdir()
            (root / "docs/other.md").write_text(other)
            (root / "README.md").write_text(f"# Here\n\n{text}\n")
            found = problems(root)
            assert len(found) == count, (text, found)
    with tempfile.TemporaryDirectory() as name:
        assert problems(pathlib.Path(name))


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    found = problems(pathlib.Path(arguments[0]).resolve() if arguments else ROOT)
    print("\n".join(found) if found else "every link leads somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
