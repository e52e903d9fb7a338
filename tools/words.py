#!/usr/bin/env python3
"""No message uses a word for which CONTRIBUTING.md has a better one.

    tools/words.py [ROOT]
    tools/words.py --selftest

Looks at the texts in the sources, not at comments. Words that are right in some sentences ("where") are left to people.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "python/src", "python/tare")
# What not to write, and what to write instead.
BETTER = {
    r"stands twice|is there twice|two \w+ (?:of|with) this name": "appears twice",
    r"\bis no (?:text|number|name|file|list|object|directory|integer)\b|that is none\b": "is not a ...",
    r"(?:is|are) not there\b": "does not exist",
    r"\bleft (?:out|behind)\b|goes without": "omitted",
    r"\bno place for\b": "has no field for",
    r"\bno room for\b": "cannot hold",
    r"\btaken along as\b": "carried unchanged",
    r"\bstood in\b": "describes the original file",
    r"\bin front of\b": "before",
    r"\bbehind\b": "after",
    r"\bbeside\b": "next to",
    r"\blies? (?:in|at|inside|outside|behind)\b": "is inside, is at",
    r"runs? past|runs? out of": "extends beyond the end",
    r"(?:is|are) said to\b": "states",
    r"\bcut off\b|\bgrown\b": "truncated, extended",
    r"passed over": "ignored",
    r"\b(?:bits|bytes) a \w+": "per ...",
    r"\btells\b|\bis told\b": "reports, prints",
    r"\bmend(?:ed|s)?\b": "fix, repair",
    r"\bmeanwhile\b": "during the work",
    r"for want of": "out of",
    r"\bsound\b": "valid",
    r"\b(?:was|were) expected\b|\bexpected, (?:found|this is|\{)|\} expected\b": "expected X, found Y",
    r"\bzero-points?\b": "zero point",
    r"\bleaves? out\b": "omits",
    r"(?:is|are) not (?:a text|texts)\b": "is not text",
}
# Sentences that are right all the same.
FINE = re.compile(r"it ends too early, where \{\} was expected")
COMMENT = re.compile(r"//[^\n]*|^\s*#[^\n]*", re.MULTILINE)
# One text, or several that the compiler puts together.
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
JOINT = re.compile(r'"\s+"')


def texts(code):
    """(line, text) of each; an include has none, nor has a comment."""
    for found in re.finditer(rf"{COMMENT.pattern}|({TEXT.pattern})", code, re.MULTILINE):
        if found[1]:
            yield code.count("\n", 0, found.start(1)) + 1, JOINT.sub("", found[1])[1:-1]


def problems(root):
    found, read = [], 0
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".py", ".html", ".js"):
                continue
            read += 1
            for line, text in texts(file.read_text(encoding="utf-8")):
                text = FINE.sub("", text)
                for bad, better in BETTER.items():
                    if word := re.search(bad, text):
                        found.append(f"{file.relative_to(root)}:{line}: \"{word[0]}\": write \"{better}\"")
    return found or ([] if read else [f"{root}: no sources are there"])


def selftest():
    cases = {'fail("offset lies in the header");': 1, 'fail("what is " // a comment\n "meanwhile");': 1, 'f("it runs "\n "past");': 1,
             "// lies in\nf(\"is inside\");": 0, '#include "behind/x.hpp"\n': 0, 'f("a \\"sound\\" one");': 1,
             'f("{} was expected");': 1, 'f("{} expected, this is {}");': 1, 'f("expected {}, found {}");': 0,
             'f("it ends too early, where {} was expected");': 0, 'f("a zero-point");': 1, 'f("leave out tensors");': 1,
             'f("is not a text");': 1}
    for code, count in cases.items():
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "src/x.cpp")
            file.parent.mkdir()
            file.write_text(code)
            found = problems(pathlib.Path(directory))
            if len(found) != count:
                sys.exit(f"{code!r}: expected {count}, found {found}")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    if sys.argv[1:] == ["--selftest"]:
        selftest()
    else:
        FOUND = problems(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
        sys.exit("\n".join(FOUND) if FOUND else 0)
