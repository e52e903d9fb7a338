#!/usr/bin/env python3
"""What packaging/ has for others, tried where it can be: the GitHub action's program on good, bad and odd files in a repository of its
own; the names of libraries in the recipes against tools/packages.txt; CMake on systems that are not supported; `make install`; what `make release` refuses; the sizes that the README states.

    packaging.py TARE CMAKE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARE, CMAKE = os.path.abspath(sys.argv[1]), sys.argv[2]
failed = []


def expect(holds, sentence):
    if not holds:
        failed.append(sentence)


def run(*command, cwd=None, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def action(place):
    program = ROOT / "packaging/github-action/verify_changed.py"

    def git(*words):
        code, text = run("git", "-c", "user.name=a", "-c", "user.email=a@b", *words, cwd=place)
        assert code == 0, text
        return text.strip()

    def verify(**environment):
        return run(sys.executable, program, cwd=place, **{"TARE": TARE, "TARE_FILES": "", "TARE_BASE": "", "TARE_STRICT": "", **environment})

    git("init", "-q", ".")
    run(TARE, "demo", "--force", place / "demo")
    (place / "old.zt").write_bytes(b"not a model")
    git("add", "old.zt")
    git("commit", "-qm", "one")
    first = git("rev-parse", "HEAD")
    good = (place / "demo/demo.zt").read_bytes()
    (place / "good.zt").write_bytes(good)
    run(TARE, "convert", "-q", place / "demo/mistral", place / "good.gguf")
    (place / "good.gguf").rename(place / "-q.gguf")
    (place / "read me.txt").write_text("x")
    git("add", "--", "good.zt", "-q.gguf", "read me.txt")
    git("commit", "-qm", "two")
    code, text = verify(TARE_BASE=first)
    expect(code == 0 and "2 checked, 0 bad" in text and "old.zt" not in text and "::" not in text, f"action, good files: {code} {text}")
    (place / "a,b:c.zt").write_bytes(good[:300] + bytes([good[300] ^ 1]) + good[301:])
    (place / "lfs.gguf").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (place / "cut.safetensors").write_bytes((place / "demo/demo.safetensors").read_bytes()[:100])
    git("add", "a,b:c.zt", "lfs.gguf", "cut.safetensors")
    git("commit", "-qm", "three")
    code, text = verify(TARE_BASE=first)
    expect(code == 1 and "5 checked, 2 bad" in text, f"action, bad files: {code} {text}")
    expect("::error file=a%2Cb%3Ac.zt,title=digest.mismatch::" in text, f"action: no annotation of the digest: {text}")
    expect("::warning file=lfs.gguf,title=tare::is a pointer" in text, f"action: no word about LFS: {text}")
    expect(re.search(r"::error file=cut\.safetensors,title=[a-z_.]+::", text), f"action: no annotation of the truncated file: {text}")
    code, text = verify(TARE_BASE="0" * 40)
    expect(code == 1 and "file=old.zt" in text, f"action, a branch without a base: {code} {text}")
    code, text = verify(TARE_FILES="good.zt\n")
    expect(code == 0 and "1 checked, 0 bad" in text, f"action, files by name: {code} {text}")
    hostile = "x\n::stop-commands::y.zt"
    (place / hostile).write_bytes(good)
    git("add", hostile)
    git("commit", "-qm", "four")
    code, text = verify(TARE_BASE=git("rev-parse", "HEAD~1"))
    expect(code == 0 and not re.search("^::", text, re.MULTILINE), f"action, a name with a line feed: {code} {text}")
    code, text = verify(TARE_FILES="gone.zt\n")
    expect(code == 1 and "::error file=gone.zt,title=io.open.missing::" in text, f"action, a missing file: {code} {text}")
    code, text = verify(TARE_BASE=git("rev-parse", "HEAD"))
    expect(code == 0 and "No model file" in text, f"action, nothing changed: {code} {text}")
    suffixes = run(TARE, "formats", "--json")[1]
    hook = (ROOT / "packaging/pre-commit/pre-commit-config.yaml").read_text()
    for suffix in set(re.findall(r'"(\.[a-z]+)"', suffixes)) & {".gguf", ".safetensors", ".zt", ".mcf", ".alt", ".npz", ".npy"}:
        expect(f"{suffix[1:]}" in hook and f'"{suffix}"' in program.read_text(), f"packaging: {suffix} is missing in the hook or the action")


def recipes():
    """Every library that the build needs is in every recipe."""
    rows = {}
    for line in (ROOT / "tools/packages.txt").read_text().split("[test]")[0].split("[build]")[1].splitlines():
        names = line.split("#")[0].split()
        if names and names[0].startswith(("lib", "zlib")):
            rows[names[0]] = names
    expect(len(rows) >= 9 and all(len(names) == 3 for names in rows.values()), f"tools/packages.txt: expected three names per row, found {rows}")
    control = (ROOT / "packaging/debian/control").read_text()
    for name in rows:
        expect(re.search(rf"\b{re.escape(name)}\b", control), f"packaging/debian/control: has no {name}")
    known = {"libzstd-dev": "zstd", "zlib1g-dev": "zlib", "libssl-dev": "openssl", "libxxhash-dev": "xxhash", "libisal-dev": "isa-l",
             "libsimdjson-dev": "simdjson", "libfmt-dev": "fmt", "libhwy-dev": "highway", "libutf8proc-dev": "utf8proc", "libmicrohttpd-dev": "libmicrohttpd"}
    expect(set(known) == set(rows), f"a library is new: {set(known) ^ set(rows)}")
    conda = (ROOT / "packaging/conda/meta.yaml").read_text()
    brew = (ROOT / "packaging/homebrew/tare.rb").read_text()
    for plain in known.values():
        words = {"isa-l": "isa-l", "highway": "libhwy|highway", "xxhash": "xxhash", "utf8proc": "(?:lib)?utf8proc"}.get(plain, plain)
        expect(re.search(rf"^\s*- (?:{words})\b", conda, re.MULTILINE), f"packaging/conda/meta.yaml: has no {plain}")
        expect(re.search(rf'depends_on "(?:{words})(?:@\d)?"', brew), f"packaging/homebrew/tare.rb: has no {plain}")


def packages(place):
    """The names for the system that it is on."""
    for system, like, wanted in (("debian", "", "libsimdjson-dev"), ("ubuntu", "debian", "libsimdjson-dev"), ("fedora", "", "simdjson-devel"),
                                 ("rocky", "rhel centos fedora", "simdjson-devel"), ("arch", "", "simdjson"), ("manjaro", "arch", "simdjson")):
        release = place / "os-release"
        release.write_text(f'ID={system}\nID_LIKE="{like}"\n')
        code, text = run(ROOT / "tools/packages", "--list", "build", TARE_OS_RELEASE=str(release))
        expect(code == 0 and wanted in text.split(), f"tools/packages on {system}: {code} {text}")
    release.write_text("ID=plan9\n")
    code, text = run(ROOT / "tools/packages", "build", TARE_OS_RELEASE=str(release))
    expect(code == 1 and "plan9" in text, f"tools/packages on an unknown system: {code} {text}")


def systems(place):
    """One sentence, before a compiler is looked for."""
    for name in ("Darwin", "Windows", "FreeBSD"):
        code, text = run(CMAKE, "-S", ROOT, "-B", place / name, "-G", "Ninja", f"-DCMAKE_SYSTEM_NAME={name}")
        expect(code != 0 and "Tare builds and runs on Linux only" in " ".join(text.split()) and "compiler identification" not in text,
               f"CMake for {name}: {code} {text[-600:]}")
    for variable in ("CMAKE_HOST_APPLE", "CMAKE_HOST_WIN32"):
        script = place / "host.cmake"
        head = (ROOT / "CMakeLists.txt").read_text().split("project(")[0]
        script.write_text(f"set({variable} 1)\n{head}")
        code, text = run(CMAKE, "-P", script)
        expect(code != 0 and "Linux only" in " ".join(text.split()), f"CMake with {variable}: {code} {text[-600:]}")


def sizes():
    """The README states what the files of a release may have, and tools/release/pack.py holds them to it."""
    sys.path.insert(0, str(ROOT / "tools/release"))
    from pack import LIMITS

    stated = re.findall(r"^\| `[^`]*?(\.whl|\.tar\.gz)` \|.*\| (\d+) MB \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    expect(len(stated) == 3 and all(LIMITS[suffix] == int(number) * 1_000_000 for suffix, number in stated),
           f"README.md: expected the sizes of tools/release/pack.py, {LIMITS}, found {stated}")


def refusals(place):
    """`make release` of a tree with changes, and of a version that CHANGELOG.md does not describe."""
    if run("git", "-C", ROOT, "rev-parse", "HEAD")[0] != 0:
        return  # an unpacked archive
    tree = place / "tree"
    code, text = run("git", "clone", "-q", "--no-local", "--depth=1", f"file://{ROOT}", tree)
    expect(code == 0, f"git clone: {text}")
    # The scripts as they are now, committed or not.
    for name in ("tools/release/release", "tools/version.py", "CHANGELOG.md", "CMakeLists.txt"):
        (tree / name).write_bytes((ROOT / name).read_bytes())

    def commit():
        run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "one", cwd=tree)

    commit()
    (tree / "LICENSE").write_text("changed\n")
    code, text = run(tree / "tools/release/release", cwd=tree)
    expect(code == 1 and "not committed" in text and "LICENSE" in text, f"make release of a tree with changes: {code} {text[-500:]}")
    (tree / "CMakeLists.txt").write_text(re.sub(r"^project\(tare VERSION \S+", "project(tare VERSION 99.0.0", (tree / "CMakeLists.txt").read_text(), flags=re.MULTILINE))
    commit()
    code, text = run(tree / "tools/release/release", cwd=tree)
    expect(code == 1 and "no section for 99.0.0" in text, f"make release of a version that CHANGELOG.md does not describe: {code} {text[-500:]}")
    expect(not (tree / "build").exists(), "make release builds before it refuses")


def installation(place):
    """`make install` needs the packages of the group build alone, and builds no test."""
    missing = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "rapidcheck", "Python", "benchmark")]
    code, text = run(CMAKE, "--preset", "install", "-B", place / "install", *missing, cwd=ROOT)
    expect(code == 0, f"the preset install: {code} {text[-1500:]}")
    code, text = run("ninja", "-C", place / "install", "-t", "targets", "all")
    expect(code == 0 and "tare-cli" in text, f"the preset install: no command: {text[-300:]}")
    expect(not re.search(r"tare-tests|fake-cuda|_test\.cpp|rapidcheck|tare-python", text), "the preset install builds tests or the module")
    rule = re.search(r"^install:(.*)\n((?:\t.*\n)*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    expect(rule and "packages" not in rule[1].split("##")[0] and "tools/packages build\n" in rule[2] and "test" not in rule[2].replace("tests", ""),
           f"make install: {rule and rule[0]}")


def main():
    with tempfile.TemporaryDirectory(prefix="tare-packaging-") as place:
        place = pathlib.Path(place)
        for check in (action, packages, systems, refusals, installation):
            folder = place / check.__name__
            folder.mkdir()
            check(folder)
        recipes()
        sizes()
    for sentence in failed:
        print(sentence)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
