#!/usr/bin/env python3
"""A new container is its folder and at most three lines elsewhere: adds the toy to a copy of the tree, and holds the copy
against the checks of the tree and the compiler.

    added.py COMPILER_FLAG...    the compiler and its flags, as the library's files are compiled
"""
import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "tests/toy"
# What has to be edited: the file, what stands before the new line, the line.
EDITS = [
    ("src/formats/rows.hpp", "namespace tare::hf { extern const Format kFormat; }\n",
     "namespace tare::toy { extern const Format kFormat; }\n"),
    ("src/formats/registry.cpp", "        hf::kFormat,           //\n", "        toy::kFormat,          //\n"),
    ("CHANGELOG.md", "# Changes\n", "- Toy Box: reads and writes 1.\n"),
]


def added_lines(before, after):
    return sum(line.startswith("+ ") for line in difflib.ndiff(before.splitlines(), after.splitlines()))


def main():
    with tempfile.TemporaryDirectory(prefix="tare-toy-") as directory:
        root = pathlib.Path(directory)
        for part in ("src", "include", "docs", "tools"):
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "CHANGELOG.md", root)
        # The folder: its sources and its page.
        folder = root / "src/formats/toy"
        folder.mkdir()
        source = (TOY / "toy.cpp").read_text().replace('#include "toy/toy.hpp"', '#include "formats/rows.hpp"')
        (folder / "toy.cpp").write_text(source)
        shutil.copy(TOY / "toy.md", root / "docs/formats/toy.md")
        lines = 0
        for file, anchor, line in EDITS:
            text = (root / file).read_text()
            if anchor not in text:
                sys.exit(f"{file}: no line {anchor!r} to put one behind")
            edited = text.replace(anchor, anchor + line, 1)
            lines += added_lines(text, edited)
            (root / file).write_text(edited)
        if lines > 3:
            sys.exit(f"{lines} lines outside of the folder; three are promised")
        for check in (["tools/layers.py"], ["tools/rules.py"]):
            done = subprocess.run([sys.executable, root / check[0]], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{check[0]}:\n{done.stdout}{done.stderr}")
        for file in ("src/formats/toy/toy.cpp", "src/formats/registry.cpp"):
            command = [*sys.argv[1:], f"-I{root}/src", f"-I{root}/include", "-fsyntax-only", root / file]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr}")
        # Without its page, the rules are missed.
        (root / "docs/formats/toy.md").unlink()
        done = subprocess.run([sys.executable, root / "tools/rules.py"], capture_output=True, text=True)
        if done.returncode == 0:
            sys.exit("tools/rules.py does not miss the toy's page")
        print(f"the toy is its folder and {lines} lines elsewhere")


if __name__ == "__main__":
    main()
