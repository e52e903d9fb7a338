#!/usr/bin/env python3
"""Fails every call that can fail, one at a time, and kills the command before every change to a file; afterwards
everything on the disk must be whole and old or new.

    run.py --tare PATH --library PATH [--every K] [--jobs N] [--scenario TEXT] [--point KIND:N[+]] [--keep]

Each scenario of scenarios.py is run once to count its calls of every kind (faults.hpp), then once for each call. After
every run:
  - it ended with code 0 or 1, by the signal it was sent, and never by another; lack of memory is reported as "out of memory"
  - code 0: everything in the box is byte for byte what a run without faults leaves
  - an error, SIGTERM, SIGINT, SIGHUP: everything is byte for byte as before, or as after; nothing is left behind (a file
    that was appended to holds the old tensors or all of them, and verifies). Where the call that failed was to remove
    something, that may stay, and the next run removes it
  - SIGKILL: the target is the old model or the new one, or its error names a directory that is; everybody else's files
    are untouched; and the same command with --force then leaves what a run without faults does, and nothing else

--every K tries every K-th allocation and read only, for a test that is run often. A failure is printed with the command
that repeats it."""

import argparse
import collections
import functools
import multiprocessing
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import scenarios

# Kind of fault -> the counter of its points.
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT, "hup": signal.SIGHUP}
ONE = ["alloc", "write", "short", "sync", "name", "mode", "open", "read", "map", "thread"]
# From then on: a full disk stays full. (Renames that fail for good could not be undone either.)
LASTING = ["alloc", "write", "map", "thread"]
MANY = {"alloc", "read"}  # thinned out by --every
POINTS_A_TASK = 100


def kinds_of(counts):
    for kind in ONE:
        yield kind, "", counts[kind]
    for kind in LASTING:
        yield kind, "+", counts[kind]
    for kind in SIGNALS:
        yield kind, "", counts["change"]


def snapshot(box):
    """Everything in a directory: path -> kind, mode, content."""
    found = {}
    for folder, folders, files in os.walk(box):
        for name in folders + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            inside = os.path.relpath(path, box)
            if os.path.islink(path):
                found[inside] = ("link", os.readlink(path))
            elif name in folders:
                found[inside] = ("folder", status.st_mode & 0o7777)
            else:
                with open(path, "rb") as file:
                    found[inside] = ("file", status.st_mode & 0o7777, file.read())
    return found


def describe_difference(found, expected):
    words = []
    for path in sorted(found.keys() | expected.keys()):
        if path not in expected:
            words.append(f"{path} is new")
        elif path not in found:
            words.append(f"{path} is gone")
        elif found[path] != expected[path]:
            words.append(f"{path} is another")
    return ", ".join(words)


class Box:
    """A directory that is put into the state before the command, and a server that runs the command in it."""

    def __init__(self, options, scenario, place):
        self.options, self.scenario = options, scenario
        self.path = pathlib.Path(place, "box")
        self.dirty = True
        self.server = subprocess.Popen(
            [options.tare, *scenario.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment() | {"TARE_FAULTS_SERVE": "1"},
        )
        self.fill()
        self.before = snapshot(self.path)

    def environment(self):
        # No remembered places of memory to check, no other messages than ours.
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TARE_FAULTS")}
        return kept | {"LD_PRELOAD": self.options.library, "TARE_FAULTS_WITHOUT": self.scenario.without, "LC_ALL": "C"}

    def fill(self):
        if not self.dirty:
            return
        if self.path.exists():
            shutil.rmtree(self.path)
        self.path.mkdir(mode=0o755)
        for name, source in self.scenario.before:
            source, to = pathlib.Path(self.options.inputs, source), self.path / name
            to.parent.mkdir(exist_ok=True)
            shutil.copytree(source, to) if source.is_dir() else shutil.copy(source, to)
        for name, leads_to in self.scenario.links:
            (self.path / name).symlink_to(leads_to)
        for name in self.scenario.folders:
            (self.path / name).mkdir()
        self.dirty = False

    def run(self, what):
        """Runs the command with a fault: how it ended, how often the fault happened, the counts, the process that was hit."""
        self.fill()
        self.dirty = True
        self.server.stdin.write(f"{what}\t{self.path}\n")
        self.server.stdin.flush()
        answer = self.server.stdout.readline().split()
        if len(answer) < 2:
            raise SystemExit(f"the command cannot be run with {self.options.library}: {self.words('err')}")
        counts = dict(word.split("=") for word in answer[2:] if "=" in word and "+" not in word)
        frames = [word for word in answer[2:] if "+" in word]
        return int(answer[0]), int(answer[1]), {k: int(v) for k, v in counts.items()}, frames

    def tare(self, *words, environment=None):
        return subprocess.run(
            [self.options.tare, *words], cwd=self.path, capture_output=True, text=True, errors="replace",
            env=environment or os.environ | {"LC_ALL": "C"},
        )

    def words(self, suffix):
        return pathlib.Path(f"{self.path}.{suffix}").read_text(errors="replace")

    def digest(self, path):
        """The digest of a whole model; None where there is none."""
        if self.tare("verify", path).returncode != 0:
            return None
        result = self.tare("hash", path)
        return result.stdout.split()[0] if result.returncode == 0 else None

    def close(self):
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()


class Unfit(Exception):
    """A scenario that does not hold even without a fault."""


class Judge:
    """Returns what is wrong with what a run left; None when nothing is."""

    def __init__(self, box):
        self.box, self.scenario = box, box.scenario
        status, _, self.counts, _ = box.run("count")
        if status != 0:
            raise Unfit(f"fails without any fault: {box.words('err').strip()}")
        self.before, self.after = box.before, snapshot(box.path)
        # Bytes are compared with those of these two states; so those must be whole.
        self.after_digest = self.checked_digest()
        box.fill()
        self.before_digest = self.checked_digest()
        status = box.run("count")[0]
        if snapshot(box.path) != self.after:
            raise Unfit("two runs without faults leave different bytes")

    def checked_digest(self):
        target = self.box.path / self.scenario.target
        if target.suffix == ".txt" or not target.exists() or (target.is_dir() and not any(target.iterdir())):
            return None
        digest = self.box.digest(self.scenario.target)
        if digest is None:
            raise Unfit(f"{target.name} does not verify")
        return digest

    def is_cleaning(self, frames):
        """Whether the call that failed was there to remove something: nothing else could remove that."""
        return any("remove" in name or name in ("unlinkat", "unlink", "rmdir") for name in map(function_at, frames[:8]))

    def judge(self, kind, status, frames):
        found = snapshot(self.box.path)
        code = os.waitstatus_to_exitcode(status)
        if kind == "kill":
            return self.judge_killed() if code in (0, -signal.SIGKILL) else f"code {code} after SIGKILL"
        wrong = self.judge_code(kind, code)
        if wrong:
            return wrong
        if code == 0 and found != self.after:
            if self.is_cleaning(frames):
                return self.judge_killed(whole=True)
            if self.is_done(found):
                return None
            return f"code 0, but {describe_difference(found, self.after)}"
        if found in (self.before, self.after):
            self.box.dirty = found != self.before
            return None
        if self.scenario.appends and found.keys() == self.before.keys():
            return self.judge_between(found)
        if self.is_cleaning(frames):
            return self.judge_killed(whole=True)
        return f"code {code}, and {describe_difference(found, self.before)}"

    def judge_code(self, kind, code):
        if code == 0:
            return None
        if kind in SIGNALS:
            return None if code in (-SIGNALS[kind], 128 + SIGNALS[kind]) else f"code {code} after the signal"
        if code < 0:
            return f"ended by {signal.Signals(-code).name}"
        if code != 1:
            return f"code {code}"
        said = self.box.words("err")
        if kind == "alloc" and "out of memory" not in said:
            return f"out of memory, but it said: {said.strip()}"
        return None if said.startswith("tare: ") else f"it said: {said.strip()}"

    def judge_killed(self, whole=False):
        found = snapshot(self.box.path)
        # What is ours and was there neither before nor after.
        left = {p for p in found if p not in self.before and p not in self.after and ".tare-" in p}
        rest = {p: v for p, v in found.items() if p not in left}
        if rest not in (self.before, self.after):
            wrong = describe_difference(rest, self.after) if whole else self.judge_between(rest)
            if wrong:
                return wrong
        return self.repair(rest == self.before or rest != self.after)

    def judge_between(self, rest):
        target = self.scenario.target
        outside = [p for p in rest.keys() | self.before.keys() if not (p == target or p.startswith(target + "/"))]
        for path in outside:
            if rest.get(path) != self.before.get(path):
                return f"{path} was changed, which is not the target's"
        for path in self.before:
            if os.path.basename(path) in scenarios.USERS_OWN and rest.get(path) != self.before[path]:
                return f"{path} was changed, which is the user's"
        digests = [d for d in (self.before_digest, self.after_digest) if d]
        if self.box.digest(target) in digests:
            return None
        said = self.box.tare("verify", target).stdout + self.box.tare("info", target).stderr
        for name in re.findall(rf"{re.escape(target)}/\S*\.tare-[^\s;,:\"']+", said):
            if self.box.digest(name.rstrip(".")) in digests:
                return None
        return f"neither the old nor the new model, nor named: {said.strip()}"

    def is_done(self, found):
        """Whether the target has the expected content, though in other bytes than usual: there is more than one way to write it."""
        if not self.scenario.says or found.keys() != self.after.keys():
            return False
        if any(found[p] != self.after[p] for p in found if p != self.scenario.target):
            return False
        command, words = self.scenario.says
        return self.box.digest(self.scenario.target) == self.after_digest and self.box.tare(*command).stdout.strip() == words

    def repair(self, unfinished):
        if self.scenario.appends and not unfinished:
            return None
        result = self.box.tare(*self.scenario.repair(), environment=self.box.environment())
        if self.scenario.appends and "already" in result.stderr:
            return None  # the new tensors are there
        if result.returncode != 0:
            return f"the next run fails: {result.stderr.strip()}"
        found = snapshot(self.box.path)
        if found == self.after or self.is_done(found):
            return None
        return f"after the next run, {describe_difference(found, self.after)}"


@functools.lru_cache(maxsize=None)
def function_at(frame):
    """The name of a function as the linker knows it, from MODULE+OFFSET:NAME."""
    module, _, rest = frame.rpartition("+")
    offset, _, symbol = rest.partition(":")
    if symbol:
        return symbol
    tool = ["addr2line", "-f", "-s", "-e", module, hex(int(offset) - 1)]
    found = subprocess.run(tool, capture_output=True, text=True)
    return found.stdout.split("\n")[0] if found.returncode == 0 else hex(int(offset))


def by_frames(frames):
    """Functions of the stack where a fault happened, the innermost first, ours omitted."""
    named = "\n".join(map(function_at, frames))
    plain = subprocess.run(["c++filt", "-p"], input=named, capture_output=True, text=True).stdout.split("\n")
    ours = ("faults::", "malloc", "calloc", "realloc", "operator new", "no_memory", "(anonymous namespace)::refuse")
    return [name[:80] for name in plain if name and not name.startswith(ours)]


# Functions that end the process when they find no memory, for any caller. They are not ours, and nothing that a
# caller does prevents it; to the files it is the same as a kill, and is judged like one.
KNOWN_ENDS = (
    "__cxa_thread_atexit_impl",  # glibc: "failed to register TLS destructor: out of memory"
    "__tls_get_addr",  # glibc: "cannot allocate memory for thread-local data: ABORT"
)


def is_known_end(kind, status, frames):
    ended = os.waitstatus_to_exitcode(status)
    if kind != "alloc" or ended not in (-signal.SIGABRT, 127):
        return False
    return any(known in name for name in map(function_at, frames) for known in KNOWN_ENDS)


def run_task(task):
    """Tries some points of one kind in one scenario: passed, known ends, failures."""
    options, scenario, kind, more, numbers = task
    passed, known, failures = 0, 0, []
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        box = Box(options, scenario, place)
        try:
            judge = Judge(box)
            for number in numbers:
                point = f"{kind}:{number}{more}"
                status, _, _, frames = box.run(point)
                ends = is_known_end(kind, status, frames)
                wrong = judge.judge_killed() if ends else judge.judge(kind, status, frames)
                if wrong is None:
                    passed, known = passed + (not ends), known + ends
                else:
                    failures.append((scenario, point, wrong, frames))
                    if options.keep:
                        kept = tempfile.mkdtemp(prefix="tare-faults-kept-")
                        shutil.copytree(box.path, f"{kept}/box", symlinks=True)
                        failures[-1] = (*failures[-1][:2], f"{wrong} (kept in {kept})", failures[-1][3])
        finally:
            box.close()
    return scenario.name, kind + more, passed, known, failures


def count_calls(options, scenario):
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        box = Box(options, scenario, place)
        try:
            return Judge(box).counts
        finally:
            box.close()


def tasks_of(options, scenario):
    counts = count_calls(options, scenario)
    for kind, more, total in kinds_of(counts):
        if options.point:
            wanted, _, number = options.point.partition(":")
            if (wanted, more) == (kind, "+" if number.endswith("+") else ""):
                yield options, scenario, kind, more, [int(number.rstrip("+"))]
            continue
        step = options.every if kind in MANY else 1
        # Another beginning for each, so that a test of every k-th call does not always meet the same ones.
        first = 1 + sum(map(ord, scenario.name + kind + more)) % step
        numbers = list(range(first, total + 1, step))
        for at in range(0, len(numbers), POINTS_A_TASK):
            yield options, scenario, kind, more, numbers[at : at + POINTS_A_TASK]


def repeat_command(options, scenario, point):
    return shlex.join([sys.argv[0], "--tare", options.tare, "--library", options.library, "--scenario", scenario.name,
                       "--point", point, "--keep"])


def print_table(results):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for name, _, passed, known, failures in results:
        row = rows[name]
        row[0] += passed
        row[1] += known
        row[2] += len(failures)
    width = max(map(len, rows)) + 2
    print(f"{'scenario':{width}}{'points':>8}{'passed':>8}{'known':>8}{'failed':>8}")
    rows["in all"] = [sum(row[i] for row in rows.values()) for i in range(3)]
    for name, row in rows.items():
        print(f"{name:{width}}{sum(row):8}{row[0]:8}{row[1]:8}{row[2]:8}")


def print_failures(options, failures):
    """One of each sort in full, with how many there are of it."""
    sorts = collections.defaultdict(list)
    for failure in failures:
        scenario, point, wrong, _ = failure
        sorts[point.split(":")[0], re.sub(r"\S*\.tare-\S+|\d+|, .*", "#", wrong)].append(failure)
    for found in list(sorts.values())[: options.show]:
        scenario, point, wrong, frames = found[0]
        print(f"\n{scenario.name}, {point}: {wrong}")
        print(f"  at {' < '.join(by_frames(frames)[:8])}")
        print(f"  repeat: {repeat_command(options, scenario, point)}")
        others = collections.Counter(failure[0].name for failure in found)
        print("  " + ", ".join(f"{count} in '{name}'" for name, count in others.items()))
    if len(sorts) > options.show:
        print(f"\nand {len(sorts) - options.show} more sorts; --show N prints them")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tare", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scenario")
    parser.add_argument("--point")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--show", type=int, default=20, help="sorts of failures to print")
    options = parser.parse_args()
    options.tare, options.library = os.path.abspath(options.tare), os.path.abspath(options.library)
    os.umask(0o022)
    # In memory where there is such a place: every run flushes.
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="tare-faults-", dir=shm) as place:
        options.place, options.inputs = place, os.path.join(place, "inputs")
        os.mkdir(options.inputs)
        scenarios.make_inputs(options.tare, pathlib.Path(options.inputs))
        wanted = [s for s in scenarios.SCENARIOS if options.scenario in (None, s.name)]
        if not wanted:
            sys.exit(f"no such scenario; there are: {', '.join(s.name for s in scenarios.SCENARIOS)}")
        with multiprocessing.Pool(options.jobs) as pool:
            tasks, results = [], []
            for scenario in wanted:
                try:
                    tasks += tasks_of(options, scenario)
                except Unfit as why:
                    results.append((scenario.name, "none", 0, 0, [(scenario, "count", str(why), [])]))
            results += pool.imap(run_task, tasks)
    print_table(results)
    failures = [failure for result in results for failure in result[4]]
    print_failures(options, failures)
    return 1 if failures or not results else 0


if __name__ == "__main__":
    sys.exit(main())
