#!/usr/bin/env python3
"""What packaging/ has for others, tried where it can be: the GitHub action's program on good, bad and odd files in a repository of its
own; install.sh, with archives that hold a script, by this system's shell and by busybox; the names of libraries in the recipes against
tools/packages.txt, and the recipes as a release has them; CMake on systems that are not supported; `make install`; what a fuzz-gcc build
has; what `make release` refuses; the sizes that the README states; PyPI's page; the list of parts.

    packaging.py TARE CMAKE
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/release")]
sys.dont_write_bytecode = True
import pack  # noqa: E402
from version import version  # noqa: E402

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
    code, text = verify(TARE_FILES="good.zt\n-q.gguf\n")
    expect(code == 0 and "2 checked, 0 bad" in text, f"action, a name with a dash: {code} {text}")


def hooks():
    """The action and both hooks look at the same files, and take a name with a dash for a name."""
    patterns = set()
    for name in ("packaging/pre-commit/pre-commit-config.yaml", ".pre-commit-hooks.yaml"):
        text = (ROOT / name).read_text()
        patterns.add(re.search(r"^ *files: (.*)$", text, re.MULTILINE)[1])
        expect(re.search(r"^ *entry: tare verify .*--$", text, re.MULTILINE), f"{name}: expected an entry that ends with --")
    patterns.add(re.search(r'^MODEL = re\.compile\(r"(.*)"\)$', (ROOT / "packaging/github-action/verify_changed.py").read_text(), re.MULTILINE)[1])
    expect(len(patterns) == 1, f"packaging: the action and the hooks look at different files: {patterns}")
    wanted = re.compile(patterns.pop())
    suffixes = set(re.findall(r'"(\.[a-z]+)"', run(TARE, "formats", "--json")[1]))
    for suffix in suffixes & {".gguf", ".safetensors", ".zt", ".mcf", ".alt", ".npz", ".npy", ".pt", ".pth", ".ckpt"}:
        expect(wanted.search(f"a{suffix}"), f"packaging: {suffix} is missing in the hooks and the action")
    for name, holds in (("a/pytorch_model-00001-of-00002.bin", True), ("adapter_model.bin", True), ("firmware.bin", False), ("m.safetensors.index.json", True),
                        ("config.json", False)):
        expect(bool(wanted.search(name)) == holds, f"packaging: expected the hooks to {'take' if holds else 'leave'} {name}")


def install_script(place):
    """install.sh as tools/release/install-script writes it. The command in its archives is a script."""
    dist = place / "dist"
    dist.mkdir()
    for kind in ("", "-static"):
        name = f"tare-{version()}-linux-{os.uname().machine}{kind}"
        for path, text in (("bin/tare", f"#!/bin/sh\necho tare {version()}{kind}\n"), ("share/man/man1/tare.1", "the manual\n")):
            file = place / name / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            file.chmod(0o755)
        with tarfile.open(dist / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(place / name, name)
    write = ROOT / "tools/release/install-script"
    code, text = run(write, dist, "https://example.org/x?a=1&b=2")
    script = (dist / "install.sh").read_text()
    expect(code == 0 and "from='https://example.org/x?a=1&b=2'\n" in script and "@" not in re.sub(r"\$@", "", script), f"install-script, an address with &: {code} {text}")
    expect(run(write, dist, "https://example.org/'; id")[0] == 2, "install-script takes an address with a quote")
    code, text = run(write, dist)
    expect(code == 0, f"install-script: {code} {text}")

    shells = [["sh"]]
    if shutil.which("busybox"):
        # Its own programs before those of the system, and no getconf.
        tools = place / "busybox"
        tools.mkdir()
        for applet in run("busybox", "--list")[1].split():
            (tools / applet).symlink_to(shutil.which("busybox"))
        shells.append([tools / "sh"])
    for number, shell in enumerate(shells):
        home = place / f"home{number}"
        home.mkdir()
        tools = {"HOME": str(home), **({"PATH": str(shell[0].parent)} if number else {})}
        local, command = home / ".local", home / ".local/bin/tare"

        def install(*words, **more):
            return run(*shell, dist / "install.sh", *words, **{**tools, **more})

        code, text = install()
        expect(code == 0 and f"Installed tare {version()}" in text and command.exists(), f"{shell[0]} install.sh: {code} {text}")
        code, text = install("--uninstall")
        expect(code == 0 and "Removed 2 files" in text and not list(local.rglob("*")), f"{shell[0]} install.sh --uninstall: {code} {text} {list(local.rglob('*'))}")
        # A link of another program, to a file that does not exist.
        command.parent.mkdir(parents=True)
        command.symlink_to("gone")
        code, text = install()
        expect(code == 1 and "was not installed by this script" in text and os.readlink(command) == "gone", f"{shell[0]} install.sh over a link: {code} {text}")
        # What is refused leaves nothing: no folder that was not there.
        archive = dist / f"tare-{version()}-linux-{os.uname().machine}-static.tar.gz"
        good = archive.read_bytes()
        archive.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        code, text = install("--static", "--prefix", home / "a/b/c")
        expect(code == 1 and "nothing was installed" in text and not (home / "a").exists(), f"{shell[0]} install.sh with a wrong sum: {code} {text}")
        archive.write_bytes(good)
        (home / "a").mkdir()
        code, text = install("--from", home, "--prefix", home / "a/b/c")
        expect(code == 1 and "does not exist" in text and not list((home / "a").iterdir()), f"{shell[0]} install.sh without an archive: {code} {text}")
        code, text = install("--static", "--prefix", home / "a/b/c")
        expect(code == 0 and "-static in" in text, f"{shell[0]} install.sh into a new folder: {code} {text}")


def filled(place):
    """The recipes as a release has them."""
    archive = place / f"tare-{version()}.tar.gz"
    archive.write_bytes(b"sources")
    code, text = run(ROOT / "tools/release/recipes", place, "https://example.org/x?a=1&b=2")
    expect(code == 0, f"tools/release/recipes: {code} {text}")
    digest = hashlib.sha256(b"sources").hexdigest()
    for name in ("tare.rb", "meta.yaml"):
        text = (place / name).read_text()
        expect(f'"https://example.org/x?a=1&b=2/tare-{version()}.tar.gz"' in text and digest in text and not re.search(r"@[A-Z]", text),
               f"tools/release/recipes: {name} is not filled in: {text[:800]}")
    if shutil.which("ruby"):
        code, text = run("ruby", "-c", place / "tare.rb")
        expect(code == 0, f"tare.rb: {text}")
    # What conda-build does first, as far as this recipe needs it.
    text = re.sub(r'\{\{ (?:compiler|stdlib)\("(\w+)"\) \}\}', r"the-\1", (place / "meta.yaml").read_text())
    try:
        import yaml
    except ImportError:
        return
    recipe = yaml.safe_load(text)
    expect(recipe["package"] == {"name": "tare-weights", "version": version()} and recipe["source"]["sha256"] == digest and len(recipe["build"]["script"]) == 3,
           f"meta.yaml: {recipe}")


def debian():
    """The library's package is called after its soname, which changes with the version."""
    name = "libtare" + ".".join(version().split(".")[:2])
    for path in [*(ROOT / "packaging/debian").rglob("*"), ROOT / "tools/release/deb"]:
        for text in [path.name, *([path.read_text()] if path.is_file() else [])]:
            for found in re.findall(r"libtare[0-9][0-9.]*[0-9]", text):
                expect(found == name, f"{path}: expected {name}, found {found}")


def parts(place):
    """The list of parts states for each what it is, its licence and its origin."""
    rows = [line.split() for line in (ROOT / "tools/release/sources.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    expect(len(rows) == 10 and all(re.fullmatch(r"[0-9a-f]{64}", row[4]) and row[3][0].isdigit() for row in rows),
           f"tools/release/sources.txt: expected a version and a SHA-256 for each of ten, found {rows}")
    kit = place / "build/kit/x"
    kit.mkdir(parents=True)
    (kit / "versions.txt").write_text("zlib\t1:1.2\tZlib\tz\tpkg:deb/debian/zlib@1%3A1.2?arch=source\t" + "0" * 64 + "\n"
                                      "libc++\t1\tApache-2.0 WITH LLVM-exception\tlibc++\tpkg:pypi/ziglang@1#lib/libcxx\t-\n")
    before, pack.ROOT = pack.ROOT, place
    try:
        found = list(pack.parts("x"))
    finally:
        pack.ROOT = before
    expect([part["licenses"] for part in found] == [[{"license": {"id": "Zlib"}}], [{"expression": "Apache-2.0 WITH LLVM-exception"}]],
           f"the licences in the list of parts: {found}")
    expect("hashes" in found[0] and "hashes" not in found[1] and json.dumps(found), f"the list of parts: {found}")


def page():
    """PyPI shows the README without this repository around it."""
    text = pack.described("Name: x\n\n" + (ROOT / "README.md").read_text())
    expect(text.startswith("Name: x\n\n# Tare\n") and not re.search(r"\]\((?!https?:|#)", text) and "](" in (ROOT / "README.md").read_text(),
           "the description for PyPI has a link that leads nowhere there")
    expect(pack.described("A: b\n\n![x](y.png)\n\nsee [z](z.md) and [w](https://w)") == "A: b\n\nsee z and [w](https://w)", "pack.described")


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
    stated = re.findall(r"^\| `[^`]*?(\.whl|\.tar\.gz)` \|.*\| (\d+) MB \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    expect(len(stated) == 3 and all(pack.LIMITS[suffix] == int(number) * 1_000_000 for suffix, number in stated),
           f"README.md: expected the sizes of tools/release/pack.py, {pack.LIMITS}, found {stated}")


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


def fuzzing(place):
    """With GCC the command cannot be linked, so nothing of it is built by default, and its manual is not printed by it."""
    code, text = run(CMAKE, "--preset", "fuzz-gcc", "-B", place / "fuzz", cwd=ROOT)
    expect(code == 0, f"the preset fuzz-gcc: {code} {text[-1500:]}")
    code, text = run("ninja", "-C", place / "fuzz", "-t", "inputs", "all")
    expect(code == 0 and "fuzz/CMakeFiles/fuzz-zip.dir/entry.cpp.o" in text.split(), f"the preset fuzz-gcc: no fuzz target: {text[-300:]}")
    expect(not re.search(r"src/cli/|\btare\.1$", text, re.MULTILINE), "the preset fuzz-gcc builds the command, or something that needs it")


def main():
    with tempfile.TemporaryDirectory(prefix="tare-packaging-") as place:
        place = pathlib.Path(place)
        for check in (action, install_script, filled, packages, parts, systems, refusals, installation, fuzzing):
            folder = place / check.__name__
            folder.mkdir()
            check(folder)
        hooks()
        recipes()
        debian()
        sizes()
        page()
    for sentence in failed:
        print(sentence)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
