#!/usr/bin/env python3
"""A new container is its folder, its page, its corpus and at most three lines elsewhere: adds the toy to a copy of the tree, and
holds the copy against the checks of the tree and the compiler. Corpus and README are made by the commands that make them.

    added.py TESTS TARE COMPILER_FLAG...    the tests and the command with the toy in their tables; the compiler and its
                                            flags, as the library's files are compiled
"""
import difflib
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "tests/toy"
# What has to be edited: the file, the text before the new line, the line.
EDITS = [
    ("src/formats/rows.hpp", "namespace tare::hf { extern const Format kFormat; }\n",
     "namespace tare::toy { extern const Format kFormat; }\n"),
    ("src/formats/registry.cpp", "        table_row<hf::kFormat>(),           //\n",
     "        table_row<toy::kFormat>(),          //\n"),
    ("CHANGELOG.md", "# Changes\n", "- Toy Box: reads and writes 1.\n"),
]


def added_lines(before, after):
    return sum(line.startswith("+ ") for line in difflib.ndiff(before.splitlines(), after.splitlines()))


def files_of(directory):
    return {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")


def check_corpus(root, tests):
    """Recording the corpus anew writes the toy's own files and touches no other; then the tests of the corpus pass."""
    corpus = root / "fuzz/corpus"
    shutil.copytree(ROOT / "fuzz/corpus", corpus)
    before = files_of(ROOT / "fuzz/corpus")
    # Once more: what the code makes of a format's samples is in the folders that others read, too.
    for record in ({"TARE_RECORD": "1"}, {}):
        run(tests, "--gtest_filter=Corpus.*", "--gtest_brief=1", TARE_TOY="1", TARE_CORPUS=str(corpus), **record)
    after = files_of(corpus)
    foreign = [name for name in after.keys() - before.keys() if "toy" not in (name.parts[0], name.name.split(".")[0])]
    changed = [name for name in before if name not in after or not filecmp.cmp(before[name], after[name], shallow=False)]
    if foreign or changed:
        sys.exit(f"the toy's corpus touches others: {sorted(map(str, foreign + changed))}")
    if pathlib.Path("toy") not in {name.parent for name in after}:
        sys.exit("the toy has no corpus")


def check_readme(root, tare):
    """In the generated parts, only the lines of the toy are new."""
    shutil.copy(ROOT / "README.md", root)
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(tare, pathlib.Path(place, "tare"))
        run(sys.executable, root / "tools/readme.py", pathlib.Path(place, "tare"))
    for page in ("README.md", "docs/formats.md", "docs/layouts.md"):
        old, new = ((path / page).read_text().splitlines() for path in (ROOT, root))
        lines = [line for line in difflib.ndiff(old, new) if line.startswith(("- ", "+ "))]
        if bool(lines) != (page == "docs/formats.md") or any(line.startswith("-") or "Toy Box" not in line for line in lines):
            sys.exit(f"{page}:\n" + "\n".join(lines))


def main():
    tests, tare, *compiler = sys.argv[1:]
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
        for check in ("tools/layers.py", "tools/rules.py"):
            run(sys.executable, root / check)
        for file in ("src/formats/toy/toy.cpp", "src/formats/registry.cpp"):
            run(*compiler, f"-I{root}/src", f"-I{root}/include", "-fsyntax-only", root / file)
        check_corpus(root, tests)
        check_readme(root, tare)
        # Without its page, the rules are missed.
        (root / "docs/formats/toy.md").unlink()
        done = subprocess.run([sys.executable, root / "tools/rules.py"], capture_output=True, text=True)
        if done.returncode == 0:
            sys.exit("tools/rules.py does not miss the toy's page")
        print(f"the toy is its folder, its page, its corpus and {lines} lines elsewhere")


if __name__ == "__main__":
    main()
