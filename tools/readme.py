#!/usr/bin/env python3
"""Fills the parts of README.md and of the pages in docs/ that are output of the command.

    tools/readme.py TARE            rewrites them
    tools/readme.py --check TARE    exit 1, saying where, if that would change one

TARE is the built command. The text between a marker and `<!-- end -->` is replaced:

    <!-- markdown: tare ARGUMENTS -->   by the output
    <!-- shell: LINE; LINE -->          by a block of `$ LINE` and its output, for each line (a semicolon and a space apart)

Lines are run by bash and must succeed; `tare verify` and `tare diff` may also end with 1, which is an answer. Each page has a directory of its own, which `tare demo .` has filled, unless that is the page's
first line: then the directory is empty.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGION = re.compile(r"(<!-- (markdown|shell): (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# A plain environment with 80 columns, independent of the caller's; options of sanitizers stay.
SURROUNDINGS = {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PATH": os.environ["PATH"], "TERM": "dumb"}
SURROUNDINGS |= {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}


def output_of(tare, line, directory):
    world = SURROUNDINGS | {"PATH": f"{pathlib.Path(tare).parent}:{SURROUNDINGS['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=directory, env=world, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    if done.returncode not in ((0, 1) if re.match(r"tare (?:verify|diff) [^|]*$", line) else (0,)):
        sys.exit(f"`{line}` ended with {done.returncode}:\n{done.stdout}")
    return "".join(text.rstrip() + "\n" for text in done.stdout.splitlines())


def filled(text, tare, directory):
    def fill(region):
        begin, kind, lines, _, end = region.groups()
        if kind == "markdown":
            return f"{begin}{output_of(tare, lines, directory)}{end}"
        shown = [f"$ {line.strip()}\n{output_of(tare, line, directory)}" for line in lines.split("; ")]
        return f"{begin}```console\n{chr(10).join(shown)}```\n{end}"

    return REGION.sub(fill, text)


def main(arguments):
    check = arguments[:1] == ["--check"]
    tare = str(pathlib.Path(arguments[-1]).resolve())
    pages = {page: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
    pages = {page: text for page, text in pages.items() if REGION.search(text)}
    if ROOT / "README.md" not in pages:
        sys.exit("README.md: no generated part found")
    stale = []
    for page, old in pages.items():
        with tempfile.TemporaryDirectory() as directory:
            if not REGION.search(old)[3].startswith("tare demo ."):
                output_of(tare, "tare demo .", directory)
            new = filled(old, tare, directory)
        if old == new:
            continue
        if not check:
            page.write_text(new, encoding="utf-8")
            continue
        name = str(page.relative_to(ROOT))
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "generated"))
        stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)}: stale, run `make readme`")


if __name__ == "__main__":
    main(sys.argv[1:])
