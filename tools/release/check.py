#!/usr/bin/env python3
"""Whether the files of build/dist hold what is promised of them, where there is nothing else.

    tools/release/check.py DIST [--quick] [NAME ...]     NAME: a part of the names of the files to look at

Of every file: what it needs of the system (nothing newer than glibc 2.28; nothing at all), its size, what is inside. Files for this
machine's processor are run, in roots without compilers and without any -dev package:

  wheel      in a Debian 12 that has Python only: pip install, `tare info`, `tare demo`, the tests of the module; `tare view` in a
             browser, if this machine has one; uvx and pipx; pip refuses the other processor's, and every one with an old glibc
  archive    where there is a C library only: Debian 11's, or the oldest that the mirror has; `tare load` through a driver of our own
  static     in an empty folder, without /proc, not as root: as packaging/Dockerfile says
  archives   of either processor are also run under emulation, on old and new kinds of it: code is chosen at run time. No emulator has
             AVX-512: that is run where this machine's own processor has it, and a line says whether it does
  install.sh in the Debian 12: installs, refuses a wrong sum, undoes itself; takes the static build where glibc is old; and in a root
             with busybox and nothing else
  image      packaging/Dockerfile, with the static archive, built by buildah and run, if this machine has buildah
  hook       packaging/pre-commit with this wheel, and .pre-commit-hooks.yaml, in a repository of its own

--quick: no roots; the wheel is installed into a fresh venv of this machine, and the tests of the module run there.
--own WHEEL: that alone, of a wheel that was built with this system's libraries (`pip wheel .`); what it needs is not looked at.
"""

import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/release"))
from pack import LIMITS  # noqa: E402
from version import version  # noqa: E402

PLACE = ROOT / "build/kit/roots"
# From PyPI, where tare-weights must not be looked for: a stranger may have registered that name with a higher version.
PACKAGES = ("numpy", "pytest", "pip", "setuptools", "wheel")
GLIBC = (2, 28)
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
HERE = os.uname().machine
DEMO = "Every file was verified"  # the demo's last word about itself
wrong = []


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def expect(holds, sentence):
    if not holds:
        wrong.append(sentence)
        print(f"  WRONG: {sentence}", flush=True)


def note(text):
    print(f"  {text}", flush=True)


# ---- what a file asks for


def needs(file, title, processor, static=False, unwinder=False):
    allowed = LIBRARIES | ({"libgcc_s.so.1"} if unwinder else set())
    header = output("readelf", "-h", "-l", "-d", "-W", file)
    expect(MACHINES[processor] in header, f"{title}: is not for {processor}")
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", header))
    if static:
        expect(not libraries and "INTERP" not in header, f"{title}: expected a static file, found {libraries or 'an interpreter'}")
        if processor == HERE:
            says = subprocess.run(["ldd", file], capture_output=True, text=True)
            said = (says.stdout + says.stderr).strip()
            expect("not a dynamic executable" in said or "statically linked" in said, f"{title}: ldd says {said!r}")
        return
    symbols = output("readelf", "--dyn-syms", "-W", file)
    versions = re.findall(r"(\S+)@+GLIBC_([0-9.]+)", symbols)
    newest = max((tuple(map(int, number.split("."))) for _, number in versions), default=(0,))
    note(f"{title}: {', '.join(sorted(libraries))}; glibc {'.'.join(map(str, newest))}")
    expect(libraries <= allowed, f"{title}: needs {sorted(libraries - allowed)}")
    # Python before 3.14 ends threads by glibc's unwinder, which is libgcc_s: see tools/release/kit.
    expect(not unwinder or "libgcc_s.so.1" in libraries, f"{title}: has an unwinder of its own")
    expect(newest <= GLIBC, f"{title}: needs {[name for name, number in versions if tuple(map(int, number.split('.'))) > GLIBC]}")
    others = sorted(set(re.findall(r"@+((?:GLIBCXX|CXXABI|GCC)_[0-9.]+)", symbols)) - ({"GCC_3.0", "GCC_3.3", "GCC_4.2.0"} if unwinder else set()))
    expect(not others, f"{title}: needs {others}")
    # What is neither of the C library nor of Python would be found missing only when it is called.
    loose = [fields[7] for fields in map(str.split, symbols.splitlines()) if len(fields) == 8 and fields[6] == "UND" and fields[4] == "GLOBAL"
             and "@" not in fields[7] and not fields[7].startswith(("Py", "_Py"))]
    expect(not loose, f"{title}: nobody has {loose}")


# ---- roots


def root_of(name, suite, packages, variant):
    root = PLACE / name
    if not (PLACE / f"{name}.done").exists():
        shutil.rmtree(root, ignore_errors=True)
        PLACE.mkdir(parents=True, exist_ok=True)
        output("mmdebstrap", f"--variant={variant}", "--aptopt=Acquire::Check-Valid-Until \"false\"", f"--include={','.join(packages)}", suite, root)
        (PLACE / f"{name}.done").touch()
    for folder in ("proc", "dev"):
        (root / folder).mkdir(exist_ok=True)
    for folder in ("tmp", "trial"):
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir()
        (root / folder).chmod(0o1777)
    return root


def inside(root, *command, user=None, folder="/trial", proc=True, **environment):
    """Runs a command in a root: its code and what it printed."""
    script = 'if [ "$2" = yes ]; then mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; fi; root=$1; shift 2; exec chroot $USERSPEC "$root" "$@"'
    enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "-", root, "yes" if proc else "no"]
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/trial", "LC_ALL": "C.UTF-8", **environment}
    inner = ["/usr/bin/env", "-i", "-C", folder, *(f"{key}={value}" for key, value in env.items()), *command] if (root / "usr/bin/env").exists() else list(command)
    done = subprocess.run([str(word) for word in [*enter, *inner]], capture_output=True, text=True,
                          env={**environment, "PATH": os.environ["PATH"], "USERSPEC": f"--userspec={user}" if user else ""})
    return done.returncode, done.stdout + done.stderr


def expect_run(title, root, *command, says=None, code=0, **more):
    began = time.monotonic()
    found, text = inside(root, *command, **more)
    last = text.strip().splitlines()[-1] if text.strip() else ""
    note(f"{title}: {time.monotonic() - began:.1f} s, {last[:140]}")
    expect(found == code, f"{title}: expected code {code}, found {found}: {text[-8000:]}")
    expect(says is None or says in text, f"{title}: expected {says!r} in {text[-500:]!r}")
    return text


def start_time(file):
    """Processor time of one start, in milliseconds: of twenty, the smallest."""
    best = 1e9
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([file, "version"], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return best


class Work:
    """Processor time of the programs that run inside of it. The clock would count what else runs on this machine."""

    def __enter__(self):
        self.before = resource.getrusage(resource.RUSAGE_CHILDREN)
        return self

    def __exit__(self, *_):
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - self.before.ru_utime - self.before.ru_stime


def debian12():
    return root_of("debian12", "bookworm", ["python3", "python3-venv"], "minbase")


def old_libc():
    """The C library alone, of the oldest Debian that the mirror still has."""
    for number, suite in ((11, "bullseye"), (12, "bookworm")):
        try:
            return root_of(f"libc{number}", suite, ["libc6", "libc-bin"], "extract"), f"Debian {number}, its C library only"
        except subprocess.CalledProcessError:
            note(f"Debian {number} cannot be had from this mirror")
    sys.exit("tools/release/check.py: no Debian can be had from this mirror")


# Those that the kernels are made for, the oldest first: scalar code, SSE4 (with AES, which Highway asks for), AVX2, all that QEMU has.
PROCESSORS = {"x86_64": ("Nehalem", "Westmere", "Haswell", "max"), "aarch64": ("cortex-a53", "max")}


def emulator(processor):
    """QEMU for programs of another processor: this machine's, or Debian's package, unpacked and not installed."""
    name = f"qemu-{processor}-static"
    if shutil.which(name):
        return shutil.which(name)
    place = PLACE.parent / "qemu"
    if not (place / "usr/bin" / name).exists():
        place.mkdir(parents=True, exist_ok=True)
        output("apt-get", "-q", "-q", "-o", "APT::Sandbox::User=root", "download", "qemu-user-static", cwd=place)
        output("dpkg", "-x", next(place.glob("qemu-user-static_*.deb")), place)
    return place / "usr/bin" / name


def check_emulated(command, processor, static):
    """On other processors, old and new: the demo takes a model through every container and checks it."""
    where = []
    if not static:
        arch = {"x86_64": "amd64", "aarch64": "arm64"}[processor]
        root = PLACE / f"libc-{arch}"
        if not (PLACE / f"libc-{arch}.done").exists():
            shutil.rmtree(root, ignore_errors=True)
            PLACE.mkdir(parents=True, exist_ok=True)
            output("mmdebstrap", "--variant=extract", f"--arch={arch}", "--include=libc6", "bookworm", root)
            (PLACE / f"libc-{arch}.done").touch()
        # By its loader: links in the root are absolute, and would be looked for on this machine.
        libraries = root / f"lib/{processor}-linux-gnu"
        where = [next(libraries.glob("ld-linux-*")), "--library-path", libraries]
    for kind in PROCESSORS[processor]:
        with tempfile.TemporaryDirectory() as place:
            began = time.monotonic()
            done = subprocess.run([str(word) for word in [emulator(processor), "-cpu", kind, *where, command, "demo", "--force", place]],
                                  capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": place})
            note(f"emulated {kind}: code {done.returncode}, {time.monotonic() - began:.0f} s")
            expect(done.returncode == 0 and DEMO in done.stdout + done.stderr,
                   f"{processor}, {kind}: the demo ended with {done.returncode}: {(done.stdout + done.stderr)[-1000:]}")


# ---- the files

VIEW = """
import http.client, re, signal, subprocess, sys
# Whoever runs this in the background ignores SIGINT, and so would the server.
server = subprocess.Popen([sys.argv[1], "view", "--no-browser", sys.argv[2]], stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
try:
    port, token = re.fullmatch(r"http://127\\.0\\.0\\.1:(\\d+)/([0-9a-f]{32})/", server.stdout.readline().strip()).groups()
    client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    client.request("GET", f"/{token}/")
    answer = client.getresponse()
    page = answer.read()
    assert answer.status == 200 and b"<html" in page.lower(), (answer.status, page[:200])
    client.close()
    server.send_signal(signal.SIGINT)
    assert server.wait(30) in (0, 130, -2), server.returncode
    print("view: served", len(page), "bytes")
finally:
    server.kill()
"""


def wheel_members(wheel, processor, place):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
        names = archive.namelist()
    module = next(place.glob("tare/_tare*.so"))
    command = next(place.glob("*.data/scripts/tare"))
    needs(module, "module", processor, unwinder=True)
    needs(command, "command", processor)
    exported = [fields[7] for fields in map(str.split, output("readelf", "--dyn-syms", "-W", module).splitlines())
                if len(fields) == 8 and fields[6] not in ("UND", "Ndx")]
    expect(exported == ["PyInit__tare"], f"module: expected PyInit__tare alone, found {exported[:5]}")
    for wanted in ("/METADATA", "/licenses/LICENSE", "/licenses/linked/openssl.txt", "/sboms/tare-weights.cdx.json"):
        expect(any(name.endswith(wanted) for name in names), f"{wheel.name}: has no {wanted}")
    metadata = next(place.glob("*.dist-info/METADATA")).read_text()
    expect(not re.search(r"\]\((?!https?:|#)", metadata), f"{wheel.name}: the description has a link that leads nowhere on PyPI")
    expect(f"\nName: tare-weights\nVersion: {version()}\n" in metadata, f"{wheel.name}: METADATA states another name or version")
    expect("\nLicense-Expression: Apache-2.0\n" in metadata, f"{wheel.name}: METADATA has no licence as an expression")
    return command


def fetched_wheels(python="3.11"):
    """A folder with the wheels of PACKAGES for this processor."""
    folder = PLACE / f"wheels-{python}"
    folder.mkdir(parents=True, exist_ok=True)
    if not all(any(folder.glob(f"{name}-*")) for name in PACKAGES):
        output(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "-d", folder, "--only-binary", ":all:", "--python-version", python,
               "--implementation", "cp", "--platform", f"manylinux_2_28_{HERE}", "--platform", f"manylinux2014_{HERE}", *PACKAGES)
    return folder


def copy_of_tests(place):
    """The tests of the module with what they read of the tree, and nothing else of it: everywhere, so that what is missing shows here, too."""
    for name in ("python/tests", "python/tare/__init__.pyi", "docs", "fuzz/corpus", "tests/cli", "tests/base", "tools", "README.md"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place / name)


def check_wheel(wheel, processor):
    root = debian12() if processor == HERE else None
    with tempfile.TemporaryDirectory() as place:
        command = wheel_members(wheel, processor, pathlib.Path(place))
        if processor != HERE:
            return
        command.chmod(0o755)
        output(command, "demo", "--force", root / "trial/model")
    shutil.copytree(fetched_wheels(), root / "trial/wheels")
    shutil.copy(wheel, root / "trial/wheels")
    copy_of_tests(root / "trial/tare")
    code, text = inside(root, "sh", "-c", "command -v cc g++ clang ld make cmake; ls /usr/include | head -3; dpkg -l | grep -c -e '-dev'")
    expect(text.strip() in ("0", ""), f"the root has a compiler or headers: {text}")
    with Work() as work:
        expect_run("venv", root, "python3", "-m", "venv", "venv")
        expect_run("pip install tare-weights", root, "venv/bin/pip", "install", "-q", "--no-index", "--find-links", "wheels", "tare-weights")
        expect_run("tare info", root, "venv/bin/tare", "info", "model/mistral", says="21 tensors")
    note(f"from nothing to `tare info`: {work.seconds:.1f} s of work")
    expect(work.seconds < 15, f"from nothing to `tare info`: expected less than 15 s of work, found {work.seconds:.1f}")
    expect_run("tare demo", root, "venv/bin/tare", "demo", "--force", "demo", says=DEMO)
    refused_wheels(wheel, root)
    expect_run("pip install pytest", root, "venv/bin/pip", "install", "-q", "--no-index", "--find-links", "wheels", "pytest")
    expect_run("tare view", root, "venv/bin/python", "-c", VIEW, "venv/bin/tare", "demo/demo.zt", says="view: served")
    check_browser(root / "trial/venv/bin/tare")
    check_runners(wheel)
    check_hook(wheel)
    text = expect_run("the tests of the module", root, "venv/bin/python", "tare/python/tests/run.py", "--tb=short", "-rf", TARE_COMMAND="/trial/venv/bin/tare",
                      TARE_SOURCES="/trial/tare", PYTHONDONTWRITEBYTECODE="1", says=" passed")
    note(text.strip().splitlines()[-1])
    # A read-only home, and no /proc.
    shutil.rmtree(root / "trial/home", ignore_errors=True)
    (root / "trial/home").mkdir(mode=0o555)
    expect_run("read-only home", root, "venv/bin/python", "-c", "import tare; print(tare.open('demo/demo.zt'))", HOME="/trial/home", user="65534:65534", says="tare.Model")
    expect_run("no /proc", root, "venv/bin/tare", "verify", "demo/demo.zt", proc=False, says="ok")


def refused_wheels(wheel, root):
    """pip states the reason: a wheel of another processor, and ours on a system with an older glibc."""
    for other in wheel.parent.glob(f"tare_weights-{version()}-*.whl"):
        if other.name != wheel.name:
            shutil.copy(other, root / "trial")
            expect_run("another processor's wheel", root, "venv/bin/pip", "install", "--no-index", f"/trial/{other.name}", code=1,
                       says="is not a supported wheel on this platform")
    for glibc, code in (("2_17", 1), ("2_27", 1), ("2_28", 0)):
        expect_run(f"pip with glibc {glibc}", root, "venv/bin/pip", "download", "-q", "--no-index", "--find-links", "wheels", "--no-deps", "--only-binary", ":all:",
                   "--platform", f"manylinux_{glibc}_{HERE}", "-d", f"got{glibc}", "tare-weights", code=code, says="No matching distribution" if code else None)


def check_browser(command):
    """The page, in the browser of this machine, from the server that is linked in."""
    if not shutil.which("chromium"):
        note("tare view in a browser: not tried, there is no chromium here (tools/packages browser)")
        return
    done = subprocess.run(["/usr/bin/python3", ROOT / "tests/view/browser.py", command, "demo", "two"], capture_output=True, text=True)
    note(f"tare view in chromium: code {done.returncode}")
    expect(done.returncode == 0, f"tare view in a browser: {(done.stdout + done.stderr)[-3000:]}")


def tool(package):
    """The folder of the programs of a package of PyPI, each in an environment of its own: pipx uses uv where it sees it."""
    venv = PLACE.parent / f"tool-{package}"
    if not (venv / "bin/pip").exists():
        output("/usr/bin/python3", "-m", "venv", venv)
    output(venv / "bin/pip", "install", "-q", "--disable-pip-version-check", package)
    return venv / "bin"


def check_runners(wheel):
    """uvx and pipx with the wheel, as their users type it."""
    others = fetched_wheels()
    with tempfile.TemporaryDirectory(prefix="tare-runners-") as place:
        shutil.copy(wheel, place)
        environment = {"PATH": "/usr/bin:/bin", "HOME": place, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{place} {others}", "LC_ALL": "C.UTF-8"}
        for title, line in (("uvx", [tool("uv") / "uvx", "--offline", "--no-index", "--find-links", place, "--find-links", others, "--python", "/usr/bin/python3",
                                     "--from", "tare-weights", "tare", "version"]),
                            ("pipx", [tool("pipx") / "pipx", "run", "--python", "/usr/bin/python3", "--spec", "tare-weights", "tare", "version"])):
            done = subprocess.run([str(word) for word in line], capture_output=True, text=True, env=environment, cwd=place)
            note(f"{title}: {done.stdout.strip()}")
            expect(done.returncode == 0 and done.stdout == f"tare {version()}\n", f"{title}: ended with {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")


def check_hook(wheel):
    """packaging/pre-commit as a repository has it: a good file passes, a bad one is refused with its rule."""
    programs, others = tool("pre-commit"), fetched_wheels()
    with tempfile.TemporaryDirectory(prefix="tare-hook-") as place:
        place = pathlib.Path(place)
        for folder in ("repository", "wheels", "home"):
            (place / folder).mkdir()
        shutil.copy(wheel, place / "wheels")
        repository = place / "repository"
        shutil.copy(ROOT / "packaging/pre-commit/pre-commit-config.yaml", repository / ".pre-commit-config.yaml")
        parts = place / "parts"
        parts.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(parts)
        command = next(parts.glob("*.data/scripts/tare"))
        command.chmod(0o755)
        output(command, "demo", "--force", place / "demo")
        good = (place / "demo/demo.zt").read_bytes()
        (repository / "good.zt").write_bytes(good)
        environment = {"PATH": f"{command.parent}:{programs}:/usr/bin:/bin", "HOME": str(place / "home"), "PIP_NO_INDEX": "1",
                       "PIP_FIND_LINKS": f"{place / 'wheels'} {others}", "LC_ALL": "C.UTF-8"}

        def run(*line, folder=repository):
            done = subprocess.run([str(word) for word in line], capture_output=True, text=True, cwd=folder, env=environment)
            return done.returncode, done.stdout + done.stderr

        # A repository with the hook that others name, as this one is.
        (place / "ours").mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", place / "ours")
        for folder in (repository, place / "ours"):
            for line in (["git", "init", "-q", "."], ["git", "add", "."], ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]):
                run(*line, folder=folder)
        ways = {"the hook": ["pre-commit", "run", "-a"], "the hook of this repository": ["pre-commit", "try-repo", place / "ours", "tare-verify", "-a"]}
        for title, way in ways.items():
            code, text = run(*way)
            expect(code == 0 and "Passed" in text, f"{title}, a good file: {code} {text[-2000:]}")
        (repository / "bad.zt").write_bytes(good[:300] + bytes([good[300] ^ 1]) + good[301:])
        (repository / "-q.zt").write_bytes(good)  # a name, not an option
        run("git", "add", ".")
        for title, way in ways.items():
            code, text = run(*way)
            expect(code == 1 and "digest.mismatch" in text and "bad.zt" in text, f"{title}, a bad file: {code} {text[-2000:]}")
            note(f"{title}: a good file passes, a bad one is refused with its rule")


def check_quick(wheel, processor, own=False):
    """Into a fresh venv outside of the tree; the tests of the module from there."""
    if processor != HERE:
        with tempfile.TemporaryDirectory() as place:
            wheel_members(wheel, processor, pathlib.Path(place))
        return
    with tempfile.TemporaryDirectory(prefix="tare-wheel-") as place:
        place = pathlib.Path(place)
        (place / "parts").mkdir()
        if not own:
            wheel_members(wheel, HERE, place / "parts")
        # NumPy and pytest are this machine's own: what is tried is our wheel.
        output("/usr/bin/python3", "-m", "venv", "--system-site-packages", place / "venv")
        output(place / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", wheel)
        where = output(place / "venv/bin/python", "-c", "import tare; print(tare.__file__)", cwd=place).strip()
        expect(where.startswith(str(place)), f"the module comes from {where}")
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "TARE_COMMAND": str(place / "venv/bin/tare"), "TARE_SOURCES": str(place / "tree"),
                       "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
        copy_of_tests(place / "tree")
        run = [place / "venv/bin/python", place / "tree/python/tests/run.py"]
        files = sorted(file.name for file in (place / "tree/python/tests").glob("test_*.py"))
        halves = [subprocess.Popen([*run, *half], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                  for half in (files[::2], files[1::2])]
        texts = [half.communicate()[0] for half in halves]
        for half, text in zip(halves, texts):
            print(text[-2000:])
            expect(half.returncode == 0, f"tests of the module ended with {half.returncode}")


def unpack(archive, place):
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            expect(member.name.split("/")[0] == archive.name[: -len(".tar.gz")] and ".." not in member.name and (member.isfile() or member.isdir()),
                   f"{archive.name}: has {member.name}")
        packed.extractall(place)
    return place / archive.name[: -len(".tar.gz")]


def fake_driver(processor):
    """The driver of the tests, over host memory, compiled for the same systems: loaded as libcuda.so.1 is."""
    made = PLACE / f"driver-{processor}.so"
    source = ROOT / "tests/device/fake_cuda.cpp"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        output(PLACE.parent / f"{processor}-gnu/bin/c++", "-std=c++20", "-O1", "-g0", "-w", "-fPIC", "-shared", *(f"-I{ROOT / folder}" for folder in ("src", "tests", "include")),
               source, "-o", made)
    return made


def check_archive(archive, processor, static, quick):
    with tempfile.TemporaryDirectory() as place:
        unpacked = unpack(archive, pathlib.Path(place))
        for name in ("bin/tare", "share/man/man1/tare.1", "share/bash-completion/completions/tare", "share/zsh/site-functions/_tare",
                     "share/fish/vendor_completions.d/tare.fish", "share/doc/tare/licences/LICENSE", "share/doc/tare/parts.cdx.json"):
            expect((unpacked / name).exists() and (unpacked / name).stat().st_size > 0, f"{archive.name}: has no {name}")
        needs(unpacked / "bin/tare", "command", processor, static)
        if quick:
            return
        check_emulated(unpacked / "bin/tare", processor, static)
        if processor != HERE:
            return
        flags = set(re.findall(r"\bavx512[a-z]+\b|\bavx2\b|\bsve2?\b", pathlib.Path("/proc/cpuinfo").read_text()))
        note(f"what follows runs on this machine's own processor: {', '.join(sorted(flags)) or 'none of AVX2, AVX-512, SVE'}")
        took = start_time(unpacked / "bin/tare")
        note(f"starts in {took:.1f} ms of processor time")
        expect(took < 10, f"{archive.name}: expected a start in less than 10 ms, found {took:.1f}")
        if static:
            check_empty(archive, unpacked)
            check_image(archive)
        else:
            root, title = old_libc()
            shutil.copytree(unpacked, root / "trial/tare")
            expect_run(title, root, "/trial/tare/bin/tare", "demo", "--force", "/tmp/demo", says=DEMO)
            expect_run("no driver", root, "/trial/tare/bin/tare", "load", "/tmp/demo/demo.zt", code=1, says="there is no CUDA driver")
            shutil.copy(fake_driver(processor), root / "trial/driver.so")
            expect_run("a driver of our own", root, "/trial/tare/bin/tare", "load", "/tmp/demo/demo.zt", "--verify", TARE_CUDA_LIBRARY="/trial/driver.so")


def check_empty(archive, unpacked):
    """As the image of packaging/Dockerfile is run: its lines are what is done here."""
    lines = dict(line.split(" ", 1) for line in (ROOT / "packaging/Dockerfile").read_text().splitlines() if line[:1].isupper() and not line.startswith("ARG"))
    expect(lines["FROM"] == "scratch" and lines["ENTRYPOINT"] == '["tare"]', "packaging/Dockerfile: expected FROM scratch and ENTRYPOINT tare")
    values = {"VERSION": version(), "PROCESSOR": HERE}
    filled = {word: re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], text) for word, text in lines.items()}
    expect(filled["ADD"] == f"{archive.name} /", f"packaging/Dockerfile: adds {filled['ADD']}, not {archive.name}")
    with tempfile.TemporaryDirectory() as empty:
        empty = pathlib.Path(empty)
        empty.chmod(0o755)
        shutil.copytree(unpacked, empty / unpacked.name)
        (empty / "models").mkdir()
        (empty / "models").chmod(0o777)
        command = f"{filled['ENV'].removeprefix('PATH=')}/tare"
        user = filled["USER"]
        expect_run("empty, not root", empty, command, "demo", "--force", "/models", user=user, proc=False, says=DEMO)
        expect_run("empty, info", empty, command, "info", "/models/demo.zt", user=user, proc=False)
        expect_run("empty, GPU", empty, command, "load", "/models/demo.zt", user=user, proc=False, code=1, says="device.driver.static")
        expect_run("empty, convert", empty, command, "convert", "/models/demo.zt", "/models/again.gguf", user=user, proc=False)


def check_image(archive):
    """packaging/Dockerfile, by a program that others build images with."""
    if not shutil.which("buildah"):
        note("packaging/Dockerfile: not built, there is no buildah here (apt-get install buildah)")
        return
    name = "localhost/tare-check"
    # Without a daemon, overlay file systems and user namespaces.
    buildah = ["buildah", "--root", PLACE / "images", "--runroot", PLACE / "images.run", "--storage-driver", "vfs"]
    output(*buildah, "bud", "-q", "--isolation", "chroot", "-f", ROOT / "packaging/Dockerfile", "--build-arg", f"VERSION={version()}",
           "--build-arg", f"PROCESSOR={HERE}", "-t", name, archive.parent)
    container = output(*buildah, "from", name).strip()
    try:
        described = output(*buildah, "inspect", "--type", "image", name)
        expect('"User": "65534:65534"' in described and '"Entrypoint"' in described, f"the image: expected a user and an entry point, found {described[:2000]}")
        mounted = pathlib.Path(output(*buildah, "mount", container).strip())
        size = sum(path.stat().st_size for path in mounted.rglob("*") if path.is_file() and not path.is_symlink())
        code, text = inside(mounted, f"/tare-{version()}-linux-{HERE}-static/bin/tare", "version", user="65534:65534", proc=False)
        note(f"packaging/Dockerfile: built by buildah, {size:,} bytes; {text.strip()}")
        expect(code == 0 and text == f"tare {version()}\n", f"the image: tare version ended with {code}: {text}")
        done = subprocess.run([str(word) for word in [*buildah, "run", "--isolation", "chroot", container, "--", "tare", "version"]], capture_output=True, text=True)
        expect(done.returncode == 0 and done.stdout == f"tare {version()}\n", f"buildah run: ended with {done.returncode}: {done.stdout}{done.stderr}")
    finally:
        output(*buildah, "rm", container)
        output(*buildah, "rmi", name)


def check_busybox(dist):
    """install.sh where everything is busybox, and there is no glibc that it could find."""
    root = root_of("busybox", "bookworm", ["busybox-static"], "extract")
    busybox = root / "bin/busybox"
    for applet in output(busybox, "--list").split():
        link = busybox.parent / applet
        if not link.is_symlink() and applet != "busybox":
            link.symlink_to("busybox")
    (root / "trial/dist").mkdir()
    for path in [*dist.glob(f"tare-{version()}-linux-{HERE}*.tar.gz"), dist / "install.sh"]:
        shutil.copy(path, root / "trial/dist")
    for title, line, says in (("install.sh", "sh dist/install.sh", "installing the static build"), ("installed", ".local/bin/tare version", version()),
                              ("--uninstall", "sh dist/install.sh --uninstall", "Removed")):
        expect_run(f"busybox: {title}", root, "/bin/sh", "-c", f"export PATH=/bin HOME=/trial; cd /trial; {line}", says=says, proc=False)


def check_install(dist):
    check_busybox(dist)
    root = debian12()
    shutil.copytree(dist, root / "trial/dist", ignore=shutil.ignore_patterns("*.whl", "*.deb"))
    before = output("find", root / "trial", "-not", "-path", "*/dist*")
    expect_run("install.sh", root, "sh", "dist/install.sh", says=f"Installed tare {version()} in /trial/.local")
    expect_run("installed", root, ".local/bin/tare", "version", says=version())
    expect_run("install.sh again", root, "sh", "dist/install.sh", says="Installed")
    expect_run("install.sh --uninstall", root, "sh", "dist/install.sh", "--uninstall", says="Removed")
    (root / "trial/.local").rmdir() if (root / "trial/.local").exists() and not any((root / "trial/.local").iterdir()) else None
    expect(output("find", root / "trial", "-not", "-path", "*/dist*") == before, "install.sh --uninstall leaves something behind")
    expect_run("install.sh --uninstall twice", root, "sh", "dist/install.sh", "--uninstall", code=1, says="does not exist")
    expect_run("install.sh --static", root, "sh", "dist/install.sh", "--static", "--prefix", "other", says="in /trial/other")
    expect_run("installed, static", root, "other/bin/tare", "version", says=version())

    # A system with an older glibc, and one without: the static build, and a message about it.
    (root / "trial/old").mkdir()
    for says in ("glibc 2.27", ""):
        (root / "trial/old/getconf").write_text(f"#!/bin/sh\necho '{says}'\n")
        (root / "trial/old/getconf").chmod(0o755)
        expect_run(f"install.sh with {says or 'no glibc'}", root, "sh", "dist/install.sh", "--prefix", "/trial/older", PATH="/trial/old:/usr/bin:/bin",
                   says="installing the static build, which cannot use a GPU")
        expect_run("its demo", root, "older/bin/tare", "demo", "--force", "model", says=DEMO)
        expect_run("it is the static one", root, "older/bin/tare", "load", "model/demo.zt", code=1, says="device.driver.static")
        shutil.rmtree(root / "trial/model")
        expect_run("removed", root, "sh", "dist/install.sh", "--prefix", "/trial/older", "--uninstall", says="Removed")
    # A machine that there is no build for.
    (root / "trial/old/uname").write_text('#!/bin/sh\n[ "$1" = -m ] && echo riscv64 || echo Linux\n')
    (root / "trial/old/uname").chmod(0o755)
    expect_run("install.sh on another processor", root, "sh", "dist/install.sh", "--prefix", "/trial/older", PATH="/trial/old:/usr/bin:/bin", code=1,
               says="there is no build for riscv64")

    # What it must not do.
    archive = root / f"trial/dist/tare-{version()}-linux-{HERE}.tar.gz"
    data = archive.read_bytes()
    archive.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    expect_run("install.sh, a wrong sum", root, "sh", "dist/install.sh", code=1, says="nothing was installed")
    expect(not (root / "trial/.local").exists(), "install.sh with a wrong sum leaves something behind")
    archive.write_bytes(data)
    (root / "trial/.local/bin").mkdir(parents=True, exist_ok=True)
    (root / "trial/.local/bin/tare").write_text("somebody else's\n")
    expect_run("install.sh, a file of somebody else", root, "sh", "dist/install.sh", code=1, says="was not installed by this script")
    expect((root / "trial/.local/bin/tare").read_text() == "somebody else's\n", "install.sh replaced a file of somebody else")
    (root / "trial/closed").mkdir(mode=0o555)
    expect_run("install.sh, a read-only home", root, "sh", "dist/install.sh", HOME="/trial/closed", user="65534:65534", code=1, says="cannot be created")
    archive.unlink()
    expect_run("install.sh, no archive", root, "sh", "dist/install.sh", "--prefix", "/trial/p", code=1, says="does not exist")


def main(arguments):
    if arguments[0] == "--own":
        check_quick(pathlib.Path(arguments[1]).resolve(), HERE, own=True)
        return 1 if wrong else 0
    dist = pathlib.Path(arguments[0]).resolve()
    quick = "--quick" in arguments
    parts = [argument for argument in arguments[1:] if argument != "--quick"]
    files = [path for path in sorted(dist.iterdir()) if all(part in path.name for part in parts)]
    expect(bool(files), f"{dist} has no such file")
    for path in files:
        print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)
        limit = next((size for suffix, size in LIMITS.items() if path.name.endswith(suffix)), None)
        expect(limit is None or path.stat().st_size <= limit, f"{path.name}: expected at most {limit} bytes, found {path.stat().st_size}")
        processor = "x86_64" if "x86_64" in path.name else "aarch64"
        if path.suffix == ".whl":
            check_quick(path, processor) if quick else check_wheel(path, processor)
        elif path.name.endswith(".tar.gz") and "-linux-" in path.name:
            check_archive(path, processor, "-static" in path.name, quick)
        elif path.name == "install.sh":
            check_install(dist)
        elif path.name == "SHA256SUMS":
            for line in path.read_text().splitlines():
                digest, name = line.split("  ")
                expect(hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest, f"SHA256SUMS: {name} has another sum")
    for sentence in wrong:
        print(f"tools/release/check.py: {sentence}", file=sys.stderr)
    print("all of it holds" if not wrong else f"{len(wrong)} do not hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
