#!/usr/bin/env python3
"""Runs the pages of the guide, docs/guide/*.md: every command in them, every program, every file.

    tools/guide.py --check BUILD     exit 1, saying where, if a command fails or prints something else than is shown
    tools/guide.py --record BUILD    builds what it needs, and rewrites what is shown to what the commands print
    tools/guide.py --selftest        shows that the check can fail

BUILD is a build directory with everything built (build/release). The blocks of a page are run in order, in one empty directory, with
an installed copy of Tare. docs/guide.md has a link to each page.

    ```console     `$ COMMAND`, what it prints below it; lines that begin with `> ` continue the command. It runs in bash
                   and must succeed: where a failure is the point, the command says so (`|| echo "exit code $?"`).
    ```cpp         the example that tools/examples.py takes out and the build compiles. NAME.cpp and the program NAME are
                   there from this block on.
    any other      written to the file that the comment in front of it names: <!-- file: NAME -->

Two marks stand for what is not shown or not the same everywhere. A line `...` stands for one or more lines, at most once
in an output; a new recording keeps as many lines in front of it and behind it as there were. `[...]` stands for any text
in a line; a new recording keeps such a line as long as it fits.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs" / "guide.md"
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\n\Z")
EXAMPLE = re.compile(r"// example: ([a-z0-9-]+)\n")
SECONDS = 300  # for one command


def fits(shown, line):
    """Whether a line that was printed is the one that is shown, where [...] is any text."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("[...]"))), line) is not None


def split(shown):
    """What is shown before `...` and after it; None after it if there is no such line."""
    if "..." not in shown:
        return shown, None
    place = shown.index("...")
    return shown[:place], shown[place + 1 :]


def same(shown, printed):
    front, back = split(shown)
    if back is None:
        return len(front) == len(printed) and all(map(fits, front, printed))
    if len(printed) <= len(front) + len(back):
        return False
    return all(map(fits, front, printed)) and all(map(fits, back, printed[len(printed) - len(back) :]))


def recorded(shown, printed):
    """The output as it is to be shown from now on."""

    def line_by_line(old, new):
        kept = [before if fits(before, now) else now for before, now in zip(old, new)]
        return kept + new[len(kept) :]

    front, back = split(shown)
    if back is None or len(printed) <= len(front) + len(back):
        return line_by_line(front, printed)
    return line_by_line(front, printed[: len(front)]) + ["..."] + line_by_line(back, printed[len(printed) - len(back) :])


def steps(body):
    """[(lines of the command, lines of its output)] of a console block, and the number of lines in front of each."""
    found = []
    for number, line in enumerate(body.splitlines()):
        if line.startswith("$ "):
            found.append(([line[2:]], [], number))
        elif found and not found[-1][1] and line.startswith("> "):
            found[-1][0].append(line[2:])
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError("a console block begins with `$ COMMAND`")
    for _, output, _ in found:
        while output and not output[-1]:
            output.pop()
        if output.count("...") > 1:
            raise ValueError("an output has two lines `...`")
    return found


def console(done):
    """The text of a console block: a blank line after every output but the last."""
    text = ""
    for command, output in done:
        text += "$ " + "\n> ".join(command) + "\n" + "".join(line + "\n" for line in output) + ("\n" if output else "")
    return text.removesuffix("\n") if done and done[-1][1] else text


class Guide:
    """A run through a document. `text` is the expected one."""

    def __init__(self, document, directory, environment, programs, name="docs/guide/x.md"):
        self.directory, self.environment, self.programs, self.name = directory, environment, programs, name
        self.problems, self.stale = [], []  # what a new recording does not mend, and what it does
        self.document = document
        self.look_outside()
        self.text = FENCE.sub(self.block, document)
        if self.text.count("```console") == 0:
            self.problems.append(f"{name}: nothing in it is run")

    def line_of(self, place):
        return self.document.count("\n", 0, place) + 1

    def look_outside(self):
        """Code that is not in a block of the kinds above would never be run."""
        outside = FENCE.sub(lambda block: "\n" * block[0].count("\n"), self.document)
        for number, line in enumerate(outside.splitlines(), 1):
            if line.startswith("    ") or line.startswith("```"):
                self.problems.append(f"{self.name}:{number}: code outside of a block that is run")

    def block(self, match):
        kind, body = match.groups()
        file = FILE.search(self.document, 0, match.start())
        try:
            if kind == "console":
                return f"```console\n{self.run(body, match.start(2))}```"
            if kind == "cpp":
                self.program(body)
            elif file:
                (self.directory / file[1]).write_text(body, encoding="utf-8")
            else:
                raise ValueError(f"a block of the kind `{kind}` is run by nobody; is it a file? <!-- file: NAME -->")
        except ValueError as error:
            self.problems.append(f"{self.name}:{self.line_of(match.start())}: {error}")
        return match[0]

    def program(self, body):
        name = EXAMPLE.match(body)
        if not name:
            raise ValueError("a cpp block begins with `// example: NAME`")
        built = self.programs / f"example-{name[1]}"
        if not built.exists():
            raise ValueError(f"{built} is not there: build it first")
        (self.directory / f"{name[1]}.cpp").write_text(body, encoding="utf-8")
        (self.directory / name[1]).symlink_to(built.resolve())

    def run(self, body, place):
        done = []
        for command, shown, number in steps(body):
            at = f"{self.name}:{self.line_of(place) + number}: `{command[0]}`"
            result = subprocess.run(["bash", "-c", "\n".join(command)], cwd=self.directory, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
            printed = [text.rstrip() for text in result.stdout.decode(errors="backslashreplace").splitlines()]
            while printed and not printed[-1]:
                printed.pop()
            said = "".join(f"\n  {text}" for text in printed)
            if result.returncode != 0:
                self.problems.append(f"{at} ended with {result.returncode}:{said}")
            elif any(text.startswith(("$ ", "```")) for text in printed):
                self.problems.append(f"{at} prints what looks like a command or the end of a block:{said}")
            elif not same(shown, printed):
                self.stale.append(f"{at} does not print what is shown, but:{said}")
            done.append((command, recorded(shown, printed)))
        return console(done)


def surroundings(prefix, temporary):
    """A plain environment in which Tare is installed, independent of the caller's."""
    kept = {key: os.environ[key] for key in ("CXX",) if key in os.environ}
    libraries = ":".join(str(path.parent) for path in prefix.rglob("libtare.*"))
    descriptions = ":".join(str(path.parent) for path in prefix.rglob("tare.pc"))
    return kept | {
        "PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "CMAKE_PREFIX_PATH": str(prefix),
        "CMAKE_GENERATOR": "Unix Makefiles",
        "PKG_CONFIG_PATH": descriptions,
        "LD_LIBRARY_PATH": libraries,
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def build_programs(build):
    programs = [f"example-{name}" for page in PAGES for name in EXAMPLE.findall(page.read_text(encoding="utf-8"))]
    subprocess.run(["cmake", "--build", build, "--target", "tare", "tare-cli", "tare-pages", *programs], check=True)


def walk(build):
    """A run through each page."""
    with tempfile.TemporaryDirectory(prefix="tare-guide-") as name:
        directory = pathlib.Path(name)
        prefix, temporary = directory / "prefix", directory / "tmp"
        temporary.mkdir()
        installed = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
        if installed.returncode != 0:
            sys.exit(f"{build} cannot be installed; is everything built?\n{installed.stderr}")
        guides = []
        for page in PAGES:
            work = directory / page.stem
            work.mkdir()
            name = str(page.relative_to(ROOT))
            guides.append(Guide(page.read_text(encoding="utf-8"), work, surroundings(prefix, temporary), build / "tests", name))
        return guides


def unlinked(index, pages):
    """The pages to which the index has no link."""
    return [f"docs/guide.md: no link to {page.name}" for page in pages if f"](guide/{page.name})" not in index]


def selftest():
    def problems(document):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "example-made").write_text("#!/bin/sh\necho made\n")
            (directory / "example-made").chmod(0o755)
            (directory / "work").mkdir()
            world = {"PATH": os.environ["PATH"]}
            found = Guide(document, directory / "work", world, directory, "guide")
            return found.text, found.problems + found.stale

    def block(*lines):
        return "Text.\n\n```console\n" + "\n".join(lines) + "\n```\n"

    right = [
        block("$ echo a", "a"),
        block("$ true", "$ echo a b", "a b", "", "$ echo c", "c"),
        block("$ cat <<end", "> a", "> end", "a"),
        block("$ seq 9", "1", "2", "...", "9"),
        block("$ seq 9", "...", "9"),
        block("$ echo took 5 s", "took [...] s"),
        block("$ false || echo \"exit code $?\"", "exit code 1"),
        block("$ echo a > kept") + block("$ cat kept", "a"),
        "```cpp\n// example: made\n```\n" + block("$ ./made && head -1 made.cpp", "made", "// example: made"),
        "<!-- file: a.txt -->\n```text\nhello\n```\n" + block("$ cat a.txt", "hello"),
    ]
    wrong = [
        (block("$ echo a", "b"), "guide:4: `echo a` does not print what is shown"),
        (block("$ echo a"), "does not print"),
        (block("$ true", "a"), "does not print"),
        (block("$ true", "$ echo a", "a", "$ seq 2", "1"), "guide:7: `seq 2` does not print"),
        (block("$ seq 9", "1", "...", "8"), "does not print"),
        (block("$ seq 2", "1", "...", "2"), "does not print"),
        (block("$ seq 9", "1", "...", "3", "...", "9"), "two lines `...`"),
        (block("$ echo took 5 m", "took [...] s"), "does not print"),
        (block("$ echo a.c", "abc"), "does not print"),
        (block("$ echo a; false", "a"), "ended with 1"),
        (block("$ echo '$ a'"), "looks like a command"),
        (block("a"), "begins with `$ COMMAND`"),
        ("```cpp\nint main() {}\n```\n" + block("$ true"), "// example: NAME"),
        ("```cpp\n// example: gone\n```\n" + block("$ true"), "is not there"),
        ("```json\n{}\n```\n" + block("$ true"), "run by nobody"),
        ("Text.\n\n    $ echo a\n\n" + block("$ true"), "guide:3: code outside"),
        ("No block at all.\n", "nothing in it is run"),
    ]
    again = [
        (block("$ echo a", "b"), block("$ echo a", "a")),
        (block("$ echo a", "$ true", "b", "$ echo c"), block("$ echo a", "a", "", "$ true", "$ echo c", "c")),
        (block("$ seq 9", "8", "9", "...", "0"), block("$ seq 9", "1", "2", "...", "9")),
        (block("$ seq 2", "1", "...", "2"), block("$ seq 2", "1", "2")),
        (block("$ echo took 5 s; echo b", "took [...] s", "a"), block("$ echo took 5 s; echo b", "took [...] s", "b")),
        (block("$ echo took 5 m; echo b", "took [...] s", "a"), block("$ echo took 5 m; echo b", "took 5 m", "b")),
    ]
    for document in right:
        text, found = problems(document)
        assert not found and text == document, (document, text, found)
    for document, sentence in wrong:
        found = problems(document)[1]
        assert len(found) == 1 and sentence in found[0], (document, found)
    for document, expected in again:
        text, found = problems(document)
        assert text == expected and found, (document, text, found)
        assert not problems(text)[1], text
    pages = [pathlib.Path("a.md"), pathlib.Path("b.md")]
    assert unlinked("[a](guide/a.md) [b](guide/b.md)", pages) == [] and len(unlinked("[a](guide/a.md)", pages)) == 1


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    if len(arguments) != 2 or arguments[0] not in ("--check", "--record"):
        sys.exit(__doc__)
    build = pathlib.Path(arguments[1]).resolve()
    if arguments[0] == "--record":
        build_programs(build)
    if not PAGES:
        sys.exit("docs/guide: no page is there")
    found = unlinked(INDEX.read_text(encoding="utf-8"), PAGES)
    for page, guide in zip(PAGES, walk(build)):
        found += guide.problems
        if arguments[0] == "--check":
            found += guide.stale
        elif guide.text != guide.document:
            page.write_text(guide.text, encoding="utf-8")
    if found:
        print("\n".join(found))
        sys.exit("The guide is not true: mend it, or run `tools/guide.py --record BUILD` and read the difference")


if __name__ == "__main__":
    main(sys.argv[1:])
