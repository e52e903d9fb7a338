#!/usr/bin/env python3
"""The version, and the name under which PyPI has Tare.

    tools/version.py                 prints the version, which CMakeLists.txt states and nothing else
    tools/version.py --changes       prints what CHANGELOG.md has about it; exit 1 if that is nothing, or if it is "not yet released"
    tools/version.py --check TARE    exit 1 if TARE (the built command) prints another one, or if a file of the tree states a version
                                     of Tare, or names as the one to install another project's package `tare`
    tools/version.py --selftest
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "tare-weights"
# `pip install tare` would install a stranger's package: so would pipx, uvx, uv, and a line of requirements.
WRONG_INSTALL = re.compile(r"\b(?:pip3?|pipx|uv tool|uv pip|uv)\s+(?:install|run|add)\s+(?:-\S+\s+)*['\"]?tare(?![-\w./])|\buvx\s+tare\b")
# A number that has to be changed by hand at the next release. CHANGELOG.md lists versions; other projects have some, too.
STATED = re.compile(r"""find_package\(tare\s+[0-9]|\btare[ -]v?([0-9]+\.[0-9]+\.[0-9]+)\b|tare_weights-[0-9]""")
TEXT = {".md", ".txt", ".py", ".pyi", ".cmake", ".cpp", ".hpp", ".toml", ".yml", ".yaml", ".json", ".sh", ".rb", ".in", ".out", ""}
EXEMPT = {"CHANGELOG.md", "tools/version.py"}


def version():
    found = re.search(r"^project\(tare VERSION (\d+\.\d+\.\d+)\b", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    if found is None:
        sys.exit("CMakeLists.txt: expected project(tare VERSION X.Y.Z ...)")
    return found[1]


def changes(text, wanted):
    """The section of the changelog, without its heading; or a sentence with the reason why there is none."""
    found = re.search(rf"^## {re.escape(wanted)}(?![\w.])(.*)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
    if found is None:
        return None, f"CHANGELOG.md: has no section for {wanted}"
    if "not yet" in found[1] or "unreleased" in found[1].lower():
        return None, f"CHANGELOG.md: the section for {wanted} says{found[1]}"
    if not found[2].strip():
        return None, f"CHANGELOG.md: the section for {wanted} is empty"
    return found[2].strip(), None


def faults(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if WRONG_INSTALL.search(line):
            yield f"{name}:{number}: installs another project's package; ours is called {NAME}: {line.strip()}"
        if STATED.search(line):
            yield f"{name}:{number}: states a version, which CMakeLists.txt does alone: {line.strip()}"


def tracked():
    # Also in an unpacked archive, which has no .git.
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name]
    folders = ("docs", "python", "tools", "packaging", "tests", "cmake", "src", "include")
    return [str(path.relative_to(ROOT)) for path in ROOT.glob("*") if path.is_file()] + [
        str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]


def check(tare):
    wrong = []
    printed = subprocess.run([tare, "version"], check=True, capture_output=True, text=True).stdout
    if printed != f"tare {version()}\n":
        wrong.append(f"{tare} version: expected tare {version()}, found {printed.strip()}")
    for name in tracked():
        path = ROOT / name
        if name in EXEMPT or name.startswith("fuzz/") or path.suffix not in TEXT or not path.is_file():
            continue
        try:
            wrong += faults(name, path.read_text())
        except UnicodeDecodeError:
            continue
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def selftest():
    for line in ("pip install tare", "run `pip install -U tare`", "pipx install tare", "uvx tare info", 'pip install "tare"',
                 "pip install tare[all]", "find_package(tare 0.1 REQUIRED)", "tare 0.1.0", "tare-0.1.0-linux", "tare_weights-0.1.0-cp311"):
        assert len(list(faults("x", line))) == 1, line
    for line in ("pip install tare-weights", "pip install .", "pipx install tare-weights", "uvx --from tare-weights tare info", "find_package(tare REQUIRED)",
                 "tare $version", "zTensor-Rust v0.1.0", "pip install ./tare", "ls tare-VERSION-linux"):
        assert not list(faults("x", line)), line
    log = "# Changes\n\n## 0.2.0, 2026-01-01\n\n- One.\n\n## 0.1.0, not yet released\n\n- Old.\n"
    assert changes(log, "0.2.0") == ("- One.", None)
    assert "not yet released" in changes(log, "0.1.0")[1]
    assert "no section" in changes(log, "0.3.0")[1] and "no section" in changes(log, "0.2")[1]
    assert "empty" in changes("## 1.0.0\n\n## 0.9.0\n- x\n", "1.0.0")[1]
    print("ok")


def main(arguments):
    if not arguments:
        print(version())
    elif arguments == ["--changes"]:
        text, why = changes((ROOT / "CHANGELOG.md").read_text(), version())
        if why:
            sys.exit(why)
        print(text)
    elif arguments[0] == "--check" and len(arguments) == 2:
        return check(arguments[1])
    elif arguments == ["--selftest"]:
        selftest()
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
