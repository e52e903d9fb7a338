"""A conversion as independent tasks, for a cluster: any worker, any order, any number of times.

A plan fixes which tensors of the target each task makes. A task opens the source, casts or quantizes what it must and writes one
part: whole or not at all, with the same bytes on every machine. `finish` puts the parts together.
"""

import hashlib
import json
import operator
import os

from . import _errors, _progress, _tare, _work
from ._model import open
from ._options import as_taken, paths, takes
from ._paths import absolute, path_of


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

    def run(self, any_owner=False):
        """Runs what has not been done, here, one after the other, and finishes. any_owner: see `finish`."""
        for task in self.missing():
            task.run(any_owner=any_owner)
        return self.finish(any_owner=any_owner)

    def finish(self, progress=None, any_owner=False):
        """Writes the target from the parts, and removes them. Raises an error if a part is missing, or if one or the folder
        belongs to another user (not root): any_owner=True takes those, too, if only people you trust can write there."""
        missing = self.missing()
        if missing and not os.path.lexists(self.folder) and os.path.exists(self.target):
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
        options = as_taken("plan", "convert", facts["options"])
        names = [task.name for task in self.tasks]
        with _Folder(facts["folder"], any_owner=any_owner) as folder, _progress.reporter(progress, "finishing") as report:
            paths = [folder.path_of(name) for name in names]
            done = _tare._finish(facts["source"], facts["target"], options, paths, facts["id"], any_owner, report)
            folder.remove(names)  # other files in it are kept, and then the folder is, too
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

    name = property(lambda self: f"part-{self.number:05d}-of-{len(self._facts['parts']):05d}", doc="of its file")
    path = property(lambda self: os.path.join(self._facts["folder"], self.name))

    def done(self):
        """Whether the part exists, from any worker. A part gets its name when it is whole."""
        with _Folder(self._facts["folder"], any_owner=True) as folder:
            return folder.exists and _tare._is_part(folder.path_of(self.name), self._facts["id"])

    def run(self, threads=0, progress=None, any_owner=False):
        """Writes the part, and returns its number. A second run writes the same bytes. any_owner: into a folder of another
        user (not root), too, if only people you trust can write there."""
        facts = self._facts
        with open(facts["source"]) as source:
            _require_same(source, facts)
        options = as_taken("plan", "convert", {**facts["options"], "threads": threads})
        first = facts["parts"][self.number]["first"]
        with _Folder(facts["folder"], make=True, any_owner=any_owner) as folder:
            try:
                with _progress.reporter(progress, f"part {self.number}") as report:
                    _tare._write_part(
                        facts["source"], facts["target"], options, first, len(self.names), facts["id"],
                        folder.path_of(self.name), report,
                    )  # fmt: skip
            except BaseException:
                if folder.made:
                    folder.remove(())  # only the folder, if it is empty
                raise
        return self.number

    def __repr__(self):
        return f"<tare.Task {self.number!r}: {len(self.names)} tensors>"

    def __eq__(self, other):
        return isinstance(other, Task) and (self._facts, self.number) == (other._facts, other.number)

    __hash__ = None


class _Folder:
    """The folder of the parts, opened once: a folder or link that replaces it afterwards is not touched."""

    def __init__(self, path, make=False, any_owner=False):
        self._path = path
        self.made = make and not os.path.lexists(path)
        self._opened, self._lead = _tare._parts_folder(path, make, any_owner) or (None, path)

    exists = property(lambda self: self._opened is not None)

    def path_of(self, name):
        return f"{self._lead}/{name}"

    def remove(self, names):
        _tare._remove_parts(self._opened, list(names))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self._opened = None
        if isinstance(error, _errors.Error) and (error.file or "").startswith(self._lead + "/"):
            shown = os.path.join(self._path, error.file[len(self._lead) + 1 :])
            error.text = error.text.replace(error.file, shown, 1)
            error.file = error.filename = shown


@takes("convert")
def plan(source, target, *, tasks=None, task_bytes=1 << 30, folder=None, **options):
    """Splits the conversion of `source` to `target` into tasks.

    tasks    how many, about; by default one for each `task_bytes` of tensors
    folder   where parts are kept, seen by all workers; by default next to the target

    The other options are those of `convert`; the result has the bytes that it would write. Methods that look at the whole
    model before they begin (bits, one scale for a tensor) do so in every task.
    """
    target = path_of(target)
    tasks = None if tasks is None else operator.index(tasks)
    if os.path.lexists(target) and not os.path.isdir(target) and not options.get("overwrite"):
        raise _errors.ExistsError(
            f"{target}: exists already", kind="usage", rule="io.sink.exists", file=target, remedies=(("overwrite", ""),)
        )
    facts = {
        "tare_plan": 1,
        "source": absolute(source),
        "target": absolute(target),
        "folder": absolute(folder if folder else _beside(target)),
        "options": options,
    }
    # Workers may run in another directory.
    if merge := options.get("merge"):
        options["merge"] = [absolute(path) for path in paths(merge)]
    quant = options.get("quant")
    if isinstance(quant, dict) and quant.get("importance"):
        options["quant"] = {**quant, "importance": absolute(quant["importance"])}
    rows = _tare._planned(facts["source"], facts["target"], as_taken("plan", "convert", options))
    facts["parts"] = _split(rows, tasks, task_bytes)
    with open(source) as model:
        facts["tensors"] = _fingerprint(model)
    text = json.dumps(facts, sort_keys=True, default=_as_json)
    facts["id"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Plan(facts)


def _beside(target):
    """The default folder of the parts."""
    if os.path.basename(target.rstrip("/")) in ("", ".", ".."):  # there is no name to append to
        target = os.path.realpath(target)
    return target.rstrip("/") + ".parts"


def _as_json(value):
    """Converts option values that JSON cannot represent."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    return value.tolist() if hasattr(value, "tolist") else str(value)


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
    """Names, types and shapes of the tensors, and the sizes and times of the files; it differs between versions."""
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
