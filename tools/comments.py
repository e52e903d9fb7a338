#!/usr/bin/env python3
"""Comments are plain English, and the files that they name exist.

    tools/comments.py              the check
    tools/comments.py --list       every comment with a word that has a better one
    tools/comments.py --record     lowers the numbers in tools/comments.txt to what was found; never raises them
    tools/comments.py --selftest

Comments of C++, JavaScript, Python (docstrings, too), CMake and shell scripts are searched for words that belong to people, not to code
("whoever", "tells", "lies in"), which CONTRIBUTING.md has better words for. tools/comments.txt has a number for each folder: how many such
comments are left. More fail the check, and so do fewer, until the number is lowered: the list only shrinks.
"""

import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools" / "comments.txt"
CPP = (".cpp", ".hpp", ".cu")
FOLDERS = ("src", "include", "python", "tests", "fuzz", "bench", "tools", "cmake")
WORDS = re.compile(
    r"\b(?:who|whoever|whom|whose|nobody|somebody|everybody|anybody|told|tells?|telling|says?|said|stands?|stood|lies?|lay|behind|beside|"
    r"besides|meanwhile|dear|utters?|greets?|goes without|is there for|are there for|comes? along|came along)\b|(?:^|\. )Of [a-z]",
    re.IGNORECASE,
)
FINE = re.compile(r"Of (?:course)|lies about|\bwhose\b", re.IGNORECASE)
COMMENT = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|//([^\n]*)')
SCRIPT = re.compile(r'(`)(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(?<![:\\])//([^\n]*)')
HASH = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\'\n]*\'|(?<![^\s;])#([^\n]*)')
FILE = re.compile(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:cpp|hpp|cu|ptx|cmake))(?![\w/(*])")
# Placeholders for any file, and files of other projects and of examples.
ELSEWHERE = re.compile(r"(?:^|/)(?:NAME|NAME_fuzz|snake_case|look|list|llama-adapter|whisper|x)\b|/NAME/")


def pieces(code, suffix):
    """(offset, text) of each comment, line by line."""
    if suffix in CPP or suffix == ".js":
        kind = SCRIPT if suffix == ".js" else COMMENT
        return ((found.start(), found[2].strip()) for found in kind.finditer(code) if found[2] is not None)
    if suffix != ".py":
        return ((found.start(), found[1].strip(" #!")) for found in HASH.finditer(code) if found[1] is not None)
    return python_pieces(code)


def python_pieces(code):
    starts = [0, *(found.end() for found in re.finditer("\n", code))]
    last = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.COMMENT:
            yield begin, token.string.strip("# ")
        elif token.type == tokenize.STRING and last in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            for line in token.string.split("\n"):
                yield begin, line.strip(' "')
                begin += len(line) + 1
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            last = token.type


def comments(code, suffix=".cpp"):
    """(line, text) of each block of comments."""
    begin, last, text = 0, -1, []
    for start, piece in pieces(code, suffix):
        line = code.count("\n", 0, start) + 1
        alone = code[code.rfind("\n", 0, start) + 1 : start].strip() == ""
        if text and (line != last + 1 or not alone):
            yield begin, " ".join(text)
            text = []
        if not text:
            begin = line
        text.append(piece)
        last = line if alone else -1
    if text:
        yield begin, " ".join(text)


def folder_of(path):
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] in ("src", "python", "tests") and len(parts) > 2 else parts[0]


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            script = path.suffix in ("", ".sh") and path.is_file() and path.read_bytes().startswith(b"#!")
            if path.suffix in (*CPP, ".js", ".py", ".cmake") or path.name == "CMakeLists.txt" or script:
                yield path


def has_riddle(text):
    return WORDS.search(FINE.sub("", text)) is not None


def riddles(root):
    """The comments with such words, by folder."""
    found = {}
    for path in sources(root):
        own = path.relative_to(root)
        for line, text in comments(path.read_text(encoding="utf-8"), path.suffix):
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
        for line, text in comments(path.read_text(encoding="utf-8"), path.suffix):
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
    others = {(".py", '"""Whoever calls it."""\nx = "who"  # says so\n'): 2, (".py", "f(\n    'who',\n)\n"): 0,
              (".js", "// It tells.\n'// who'\n"): 1, (".cmake", 'set(x "# who")  # lies at 4\n'): 1, (".sh", "echo ${x#who}\n# said\n"): 1}  # fmt: skip
    for (suffix, code), count in others.items():
        found = [text for _, text in comments(code, suffix) if has_riddle(text)]
        if len(found) != count:
            sys.exit(f"{suffix} {code!r}: expected {count}, found {found}")
    recorded = lowered({"a": 3, "b": 2, "c": 1}, {"a": 1, "b": 5, "new": 4})
    if recorded != {"a": 1, "b": 2, "c": 0}:
        sys.exit(f"--record: {recorded}")
    print(f"{len(cases) + len(others) + 1} cases")


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
