#!/usr/bin/env python3
"""Fills the parts of README.md that are output of the command.

    tools/readme.py TARE            rewrites README.md
    tools/readme.py --check TARE    exit 1, saying where, if that would change it

TARE is the built command. What stands between a marker and `<!-- end -->` is replaced:

    <!-- markdown: tare ARGUMENTS -->   by the output
    <!-- shell: LINE; LINE -->          by a block of `$ LINE` and its output, for each line

Lines are run by bash, in an empty directory that `tare demo .` has filled, and must succeed.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
REGION = re.compile(r"(<!-- (markdown|shell): (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# A plain 80-column world, whoever calls; what a sanitizer was told stays.
SURROUNDINGS = {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PATH": os.environ["PATH"], "TERM": "dumb"}
SURROUNDINGS |= {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}


def output_of(tare, line, directory):
    world = SURROUNDINGS | {"PATH": f"{pathlib.Path(tare).parent}:{SURROUNDINGS['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=directory, env=world, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    if done.returncode != 0:
        sys.exit(f"README.md: `{line}` ended with {done.returncode}:\n{done.stdout}")
    return "".join(text.rstrip() + "\n" for text in done.stdout.splitlines())


def filled(text, tare, directory):
    def fill(region):
        begin, kind, lines, _, end = region.groups()
        if kind == "markdown":
            return f"{begin}{output_of(tare, lines, directory)}{end}"
        shown = [f"$ {line.strip()}\n{output_of(tare, line, directory)}" for line in lines.split(";")]
        return f"{begin}```console\n{chr(10).join(shown)}```\n{end}"

    return REGION.sub(fill, text)


def main(arguments):
    check = arguments[:1] == ["--check"]
    tare = str(pathlib.Path(arguments[-1]).resolve())
    old = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        output_of(tare, "tare demo .", directory)
        new = filled(old, tare, directory)
    if not REGION.search(old):
        sys.exit("README.md: no generated part found")
    if check and old != new:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "README.md", "generated"))
        sys.exit("README.md is stale: run `make readme`")
    if not check and old != new:
        README.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
