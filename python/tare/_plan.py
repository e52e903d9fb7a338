"""A conversion as independent tasks, for a cluster: any worker, any order, any number of times.

A plan fixes which tensors of the target each task makes. A task opens the source, casts or quantizes what it must and writes one
part: whole or not at all, the same bytes whoever writes it. `finish` puts the parts together.
"""

import contextlib
import hashlib
import json
import operator
import os

from . import _errors, _progress, _tare, _work
from ._model import open


class Plan:
    """What `tare.plan` gives. It can be pickled. (The command has `tare plan`, `task` and `finish` for schedulers.)"""

    def __init__(self, facts):
        self._facts = facts

    source = property(lambda self: self._facts["source"])
    target = property(lambda self: self._facts["target"])
    folder = property(lambda self: self._facts["folder"], doc="where the parts are kept")

    @property
    def tasks(self):
        return [Task(self._facts, number) for number in range(len(self._facts["parts"]))]

    def missing(self):
        """The tasks that have not been done."""
        return [task for task in self.tasks if not task.done()]

    def run(self):
        """Runs what has not been done, here, one after the other, and finishes."""
        for task in self.missing():
            task.run()
        return self.finish()

    def finish(self, progress=None, any_owner=False):
        """Writes the target from the parts, and removes them. Raises an error if a part is missing, or belongs to another user
        (not root): any_owner=True takes those, too, from a folder that only people you trust can write to."""
        missing = self.missing()
        if missing and not os.path.exists(self.folder) and os.path.exists(self.target):
            raise _errors.UsageError(
                f"{self.target}: there are no parts, and the target exists: the plan has been finished already",
                rule="plan.finished", file=self.target,
            )  # fmt: skip
        if missing:
            raise _errors.UsageError(
                f"{len(missing)} of {len(self.tasks)} tasks have not been done: "
                f"{', '.join(str(task.number) for task in missing[:8])}",
                rule="plan.missing",
                file=self.folder,
            )
        facts = self._facts
        options = _work._options(**facts["options"])
        paths = [task.path for task in self.tasks]
        with _progress.reporter(progress, "finishing") as report:
            done = _tare._finish(facts["source"], facts["target"], options, paths, facts["id"], any_owner, report)
        for path in paths:
            with contextlib.suppress(OSError):
                os.remove(path)
        with contextlib.suppress(OSError):  # what else is in it stays
            os.rmdir(facts["folder"])
        return _work._saved(_work.Conversion, done, source_format=done["from"])

    def __repr__(self):
        return f"<tare.Plan {self.source!r} -> {self.target!r}: {len(self.tasks)} tasks>"

    def __eq__(self, other):
        return isinstance(other, Plan) and self._facts == other._facts

    __hash__ = None


class Task:
    """One part of a plan. It can be pickled, and run anywhere that sees the source and the folder of the plan."""

    def __init__(self, facts, number):
        self._facts, self.number = facts, number

    names = property(lambda self: self._facts["parts"][self.number]["names"], doc="of its tensors, as the target has them")

    @property
    def path(self):
        return os.path.join(self._facts["folder"], f"part-{self.number:05d}-of-{len(self._facts['parts']):05d}")

    def done(self):
        """Whether the part is there. It gets its name when it is whole."""
        return _tare._is_part(self.path, self._facts["id"])

    def run(self, threads=0, progress=None):
        """Writes the part, and returns its number. A second run writes the same bytes."""
        facts = self._facts
        os.makedirs(facts["folder"], exist_ok=True)
        with open(facts["source"]) as source:
            _require_same(source, facts)
        options = _work._options(**{**facts["options"], "threads": threads})
        first = facts["parts"][self.number]["first"]
        with _progress.reporter(progress, f"part {self.number}") as report:
            _tare._write_part(
                facts["source"], facts["target"], options, first, len(self.names), facts["id"], self.path, report
            )
        return self.number

    def __repr__(self):
        return f"<tare.Task {self.number}: {len(self.names)} tensors>"

    def __eq__(self, other):
        return isinstance(other, Task) and (self._facts, self.number) == (other._facts, other.number)

    __hash__ = None


def plan(source, target, *, tasks=None, task_bytes=1 << 30, folder=None, **options):
    """Splits the conversion of `source` to `target` into tasks.

    tasks    how many, about; by default one for each `task_bytes` of tensors
    folder   where parts are kept, seen by all workers; by default next to the target

    The other options are those of `convert`; the result has the bytes that it would write. Methods that look at the whole
    model before they begin (bits, one scale for a tensor) do so in every task.
    """
    source, target = os.fspath(source), os.fspath(target)
    tasks = None if tasks is None else operator.index(tasks)
    if os.path.lexists(target) and not os.path.isdir(target) and not options.get("overwrite"):
        raise _errors.ExistsError(
            f"{target}: exists already", kind="usage", rule="io.sink.exists", file=target, remedies=(("overwrite", ""),)
        )
    facts = {
        "tare_plan": 1,
        "source": os.path.abspath(source),
        "target": os.path.abspath(target) + ("/" if target.endswith("/") else ""),
        "folder": os.path.abspath(folder) if folder else os.path.abspath(target) + ".parts",
        "options": options,
    }
    # Workers may run elsewhere.
    if merge := options.get("merge"):
        options["merge"] = [os.path.abspath(path) for path in _work._paths(merge)]
    quant = options.get("quant")
    if isinstance(quant, dict) and quant.get("importance"):
        options["quant"] = {**quant, "importance": os.path.abspath(quant["importance"])}
    rows = _tare._planned(facts["source"], facts["target"], _work._options(**options))
    facts["parts"] = _split(rows, tasks, task_bytes)
    with open(source) as model:
        facts["tensors"] = _fingerprint(model)
    facts["id"] = hashlib.sha256(json.dumps(facts, sort_keys=True, default=repr).encode("utf-8", "surrogateescape")).hexdigest()
    return Plan(facts)


def _split(rows, tasks, task_bytes):
    """Runs of tensors of about the same size, in the order of the target."""
    total = sum(size for _, size in rows)
    if tasks is not None:
        if tasks < 1:
            raise ValueError("a plan has at least one task")
        task_bytes = max(-(-total // tasks), 1)
    elif task_bytes < 1:
        raise ValueError("task_bytes must be positive")
    parts, have = [{"first": 0, "names": []}], 0
    for number, (name, size) in enumerate(rows):
        if parts[-1]["names"] and have + size / 2 > task_bytes * len(parts):
            parts.append({"first": number, "names": []})
        parts[-1]["names"].append(name)
        have += size
    return parts


def _fingerprint(model):
    """Names, types and shapes of the tensors, and the sizes and times of the files: another version has another one."""
    rows = [(name, kind, list(shape), size) for name, kind, _, shape, size, _ in model._table()]
    for path in model._facts()["files"]:
        found = os.stat(path)
        rows.append((os.path.basename(path), found.st_size, found.st_mtime_ns))
    return hashlib.sha256(json.dumps(rows).encode("utf-8", "surrogateescape")).hexdigest()


def _require_same(source, facts):
    if _fingerprint(source) != facts["tensors"]:
        raise _errors.AccessError(
            f"{facts['source']}: is not what it was when the plan was made", kind="io", rule="plan.source", file=facts["source"]
        )
