#!/usr/bin/env python3
"""Comments are plain English, and the files that they name exist.

    tools/comments.py              the check
    tools/comments.py --list       every comment with a word that has a better one
    tools/comments.py --record     lowers the numbers in tools/comments.txt to what was found; never raises them
    tools/comments.py --selftest

Comments of C++ are searched for words that belong to people, not to code ("whoever", "tells", "lies in"), which CONTRIBUTING.md has better
words for. tools/comments.txt has a number for each folder: how many such comments are left. More fail the check, and so do fewer, until
the number is lowered: the list only shrinks.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools" / "comments.txt"
FOLDERS = ("src", "include", "python/src", "tests", "fuzz", "bench")
WORDS = re.compile(
    r"\b(?:who|whoever|whom|whose|nobody|somebody|everybody|anybody|told|tells?|telling|says?|said|stands?|stood|lies?|lay|behind|beside|"
    r"besides|meanwhile|dear|utters?|greets?|goes without|is there for|are there for|comes? along|came along)\b|(?:^|\. )Of [a-z]",
    re.IGNORECASE,
)
FINE = re.compile(r"Of (?:course)|lies about|\bwhose\b", re.IGNORECASE)
COMMENT = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|//([^\n]*)')
FILE = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:cpp|hpp|cu|ptx|cmake))(?![\w/(*])")
# Names that stand for any file, and files of other projects and of examples.
ELSEWHERE = re.compile(r"(?:^|/)(?:NAME|snake_case|look|list|llama-adapter)\b|/NAME/")


def comments(code):
    """(line, text) of each block of // comments."""
    begin, last, text = 0, -1, []
    for found in COMMENT.finditer(code):
        if found[2] is None:
            continue
        line = code.count("\n", 0, found.start()) + 1
        alone = code[code.rfind("\n", 0, found.start()) + 1 : found.start()].strip() == ""
        if text and (line != last + 1 or not alone):
            yield begin, " ".join(text)
            text = []
        if not text:
            begin = line
        text.append(found[2].strip())
        last = line if alone else -1
    if text:
        yield begin, " ".join(text)


def folder_of(path):
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] == "src" and len(parts) > 2 else parts[0]


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".cu"):
                yield path


def has_riddle(text):
    return WORDS.search(FINE.sub("", text)) is not None


def riddles(root):
    """Of each folder: the comments with such words."""
    found = {}
    for path in sources(root):
        own = path.relative_to(root)
        for line, text in comments(path.read_text(encoding="utf-8")):
            if has_riddle(text):
                found.setdefault(folder_of(own), []).append(f"{own}:{line}: {text}")
    return found


def missing_files(root, known):
    """Files that comments and documents name and that do not exist."""
    ends = {"/".join(path.split("/")[i:]) for path in known for i in range(path.count("/") + 1)}
    missing = []

    def look(own, line, text):
        for name in FILE.findall(text):
            if name not in ends and not ELSEWHERE.search(name):
                missing.append(f"{own}:{line}: names {name}, which does not exist")

    for path in sources(root):
        for line, text in comments(path.read_text(encoding="utf-8")):
            look(path.relative_to(root), line, text)
    for path in [*sorted((root / "docs").rglob("*.md")), root / "README.md", root / "CONTRIBUTING.md"]:
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            look(path.relative_to(root), number, text)
    return missing


def allowed():
    if not RECORD.exists():
        return {}
    return {folder: int(count) for folder, count in (line.split() for line in RECORD.read_text().splitlines() if line)}


def lowered(before, now):
    """The recorded numbers, lowered to what was found. Never raises one: a folder that is not recorded keeps 0."""
    return {folder: min(count, now.get(folder, 0)) for folder, count in sorted(before.items())}


def selftest():
    cases = {"// Whoever calls it.\n": 1, "// The caller owns it.\n": 0, 'f("// who");\n': 0, "int a;  // says so\nint b;  // tells\n": 2,
             "// The first line\n// lies at 4.\n": 1, "// Of blocks, what has an order.\n": 1, "// A count that lies about its bytes.\n": 0,
             'R"(// who)";\n': 0, "// An array whose size is 4.\n": 0}  # fmt: skip
    for code, count in cases.items():
        found = [text for _, text in comments(code) if has_riddle(text)]
        if len(found) != count:
            sys.exit(f"{code!r}: expected {count}, found {found}")
    recorded = lowered({"a": 3, "b": 2, "c": 1}, {"a": 1, "b": 5, "new": 4})
    if recorded != {"a": 1, "b": 2, "c": 0}:
        sys.exit(f"--record: {recorded}")
    print(f"{len(cases) + 1} cases")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    found = riddles(ROOT)
    if arguments == ["--list"]:
        print("\n".join(line for lines in found.values() for line in lines))
        return None
    before = allowed()
    if arguments == ["--record"]:
        counts = lowered(before, {folder: len(lines) for folder, lines in found.items()})
        RECORD.write_text("".join(f"{folder} {count}\n" for folder, count in counts.items() if count))
        return None
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    if len(known) < 10:  # not a clone: an archive of the sources
        folders = [folder for folder in ROOT.iterdir() if folder.is_dir() and not folder.name.startswith("build")]
        known = [str(path.relative_to(ROOT)) for path in [*ROOT.iterdir(), *(path for folder in folders for path in folder.rglob("*"))] if path.is_file()]
    problems = missing_files(ROOT, known)
    for folder in sorted({*found, *before}):
        now, most = len(found.get(folder, [])), before.get(folder, 0)
        if now > most:
            problems.append(f"{folder}: {now} comments have words that CONTRIBUTING.md has better ones for, {most} are allowed; "
                            "tools/comments.py --list")
        if now < most:
            problems.append(f"{folder}: {now} such comments are left, tools/comments.txt allows {most}: tools/comments.py --record")
    return sys.exit("\n".join(problems)) if problems else None


if __name__ == "__main__":
    main(sys.argv[1:])
