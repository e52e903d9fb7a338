"""Options mean the same to the module and to the command: the same bytes, or both refuse."""

import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import tare
from tare import _options, _tare

COMMAND = os.environ.get("TARE_COMMAND")
SOURCES = os.environ.get("TARE_SOURCES")
if not COMMAND or not SOURCES:
    pytest.skip("TARE_COMMAND and TARE_SOURCES do not name the command and its sources", allow_module_level=True)
sys.path.insert(0, os.fspath(pathlib.Path(SOURCES, "tests", "cli")))
import option_samples  # noqa: E402

ORDERS = [
    pytest.param(words, source, output, options, id=f"{name}-{number}")
    for name, samples in option_samples.SAMPLES.items()
    for number, (words, source, output, options) in enumerate(samples)
    if options is not None
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("orders")
    option_samples.make_files(place, option_samples.runner(COMMAND, place))
    return place


def fresh(folder, output):
    path = folder / output
    shutil.rmtree(path, ignore_errors=True)
    if not path.is_dir():
        path.unlink(missing_ok=True)
    if output == "exists.zt":
        shutil.copy(folder / "twice.zt", path)


def outcome(folder, output, work):
    """What was written, or None if it was refused."""
    fresh(folder, output)
    try:
        work()
    except (tare.Error, ValueError, TypeError):
        return None
    return option_samples.content(folder / output)


@pytest.mark.parametrize(("words", "source", "output", "options"), ORDERS)
def test_a_conversion_is_that_of_the_command(folder, monkeypatch, words, source, output, options):
    monkeypatch.chdir(folder)
    tare_command = option_samples.runner(COMMAND, folder)

    def by_command():
        try:
            tare_command("convert", source, output, *words)
        except Exception as error:
            raise ValueError(error) from None

    expected = outcome(folder, output, by_command)
    assert outcome(folder, output, lambda: tare.convert(source, output, **options)) == expected
    assert outcome(folder, output, lambda: tare.plan(source, output, tasks=2, **options).run()) == expected


@pytest.mark.parametrize(("words", "output", "options"), option_samples.QUANTIZE_SAMPLES)
def test_a_quantization_is_that_of_the_command(folder, monkeypatch, words, output, options):
    monkeypatch.chdir(folder)
    tare_command = option_samples.runner(COMMAND, folder)

    def by_command():
        try:
            tare_command("quantize", "mistral", output, *words, "-q")
        except Exception as error:
            raise ValueError(error) from None

    expected = outcome(folder, output, by_command)
    assert outcome(folder, output, lambda: tare.quantize("mistral", output, **options)) == expected


def test_every_option_of_quantize_has_a_sample(folder):
    shown = option_samples.options_of(option_samples.runner(COMMAND, folder), "quantize")
    tried = {word.removeprefix("--").partition("=")[0] for words, *_ in option_samples.QUANTIZE_SAMPLES for word in words if word.startswith("--")}
    # In Python, tare.measure and the report that quantize returns.
    assert shown - tried == {"color", "quiet", "help", "verbose", "json", "measure", "explain"}


def test_every_option_of_the_command_has_a_name_here(folder):
    tare_command = option_samples.runner(COMMAND, folder)
    general = {"color", "quiet", "help"}
    rows = {option: (keyword, text) for keyword, option, _, _, text in _tare.options if option}
    options = option_samples.options_of(tare_command, "convert") | option_samples.options_of(tare_command, "quantize")
    assert rows.keys() == options - general
    keywords = {keyword for keyword, *_ in _tare.options if keyword}
    assert len(keywords) == sum(bool(keyword) for keyword, *_ in _tare.options)
    quantize = inspect.signature(tare.quantize).parameters.keys() - {"source", "target", "progress"}
    assert quantize | {"quant"} == keywords
    assert inspect.signature(tare.convert).parameters.keys() - {"source", "target", "progress"} < keywords
    assert all(text for _, text in rows.values())


def test_an_unknown_keyword_names_the_nearest():
    for work in (
        lambda **given: tare.convert("a", "b.zt", **given),
        lambda **given: tare.quantize("a", "b.zt", "k4", **given),
        lambda **given: tare.plan("a", "b.zt", **given),
        lambda **given: tare.save("b.zt", {}, **given),
        lambda **given: tare.to_bytes({}, format="zt", **given),
        lambda **given: tare.Writer("b.zt", **given),
    ):
        for wrong, hint in (("dedupe", "Did you mean 'dedup'"), ("force", "Did you mean 'overwrite'"), ("json", "the result has it"), ("xyzzy", "'xyzzy'$")):
            with pytest.raises(TypeError, match=hint):
                work(**{wrong: 1})
    with pytest.raises(TypeError):
        tare.save("b.zt", {}, attach="*")
    with pytest.raises(ValueError, match="quant has no key 'mehtod'"):
        tare.convert("a", "b.zt", quant={"mehtod": "k4"})


def test_the_stub_and_the_page_are_made_of_the_table():
    done = subprocess.run(
        [sys.executable, pathlib.Path(SOURCES, "tools", "options.py"), "--check", pathlib.Path(tare.__file__).parent.parent],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_quantize_takes_the_options_of_convert(folder, monkeypatch):
    monkeypatch.chdir(folder)
    option_samples.runner(COMMAND, folder)("quantize", "mistral", "q.mcf", "--method", "k4", "--merge", "lora", "--force", "-q")
    expected = (folder / "q.mcf").read_bytes()
    tare.quantize("mistral", "q.mcf", "k4", merge="lora", overwrite=True)
    assert (folder / "q.mcf").read_bytes() == expected
    tare.quantize("packed.zt", "q.zt", rules=[("*q_proj*", "k4")], no_zstd=True, metadata={"by": "me"}, overwrite=True)
    with tare.open("q.zt") as model:
        assert model.metadata["by"] == "me"
        assert {row["encoding"] for tensor in model.tensors() for row in tensor.components} == {"raw"}


def test_a_size_is_that_of_the_command():
    assert _options.size("1M") == 10**6 and _options.size("1MB") == 10**6 and _options.size("1MiB") == 2**20
    assert _options.size("1.5GB") == 1_500_000_000 and _options.size(" 2 kib ") == 2048 and _options.size("17") == 17
    for wrong in ("", "GB", "1.5.5", "-1", "5 apples", "1e3x", "inf", "nan", "9" * 40):
        with pytest.raises(ValueError):
            _options.size(wrong)


def test_whatever_reads_all_bytes_compares_their_digest(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with tare.open("damaged.zt") as model:
        bad = []
        for tensor in model.tensors():
            try:
                tensor.verify()
            except tare.Error as error:
                assert error.rule == "digest.mismatch"
                bad.append(tensor.name)
        assert len(bad) == 1
        damaged = model.tensor(bad[0])
        readers = {
            "cast": lambda: damaged.cast("f64").numpy(),
            "float32": lambda: damaged.float32(),
            "stats": lambda: damaged.stats(),
            "histogram": lambda: damaged.histogram(),
            "to_bytes": lambda: tare.to_bytes(model, format="zt"),
            "to_bytes cast": lambda: tare.to_bytes(model, format="zt", dtype="f64"),
            "save": lambda: tare.save("s.zt", model, dtype="f64", overwrite=True),
            "hash": lambda: tare.hash(model),
            "diff": lambda: tare.diff(model, "digested.zt"),
        }
        passed = []
        for name, read in readers.items():
            with tare.open("damaged.zt") as fresh_model:  # each for itself: a mismatch is remembered
                damaged, model = fresh_model.tensor(bad[0]), fresh_model
                try:
                    read()
                    passed.append(name)
                except tare.Error as error:
                    assert error.rule == "digest.mismatch", name
        assert not passed
    with tare.open("damaged.zt", mmap=False) as model:
        with pytest.raises(tare.CorruptError):
            model.tensor(bad[0]).numpy()


def test_changes_are_those_of_the_command(folder, monkeypatch):
    import json

    monkeypatch.chdir(folder)
    shown = json.loads(option_samples.runner(COMMAND, folder)("convert", "mistral", "c.gguf", "--json", "--dtype", "f16"))
    done = tare.convert("mistral", "d.gguf", dtype="f16")
    assert len(shown["changes"]) == len(done.changes) > 0
    for one, other in zip(shown["changes"], done.changes):
        assert one.keys() == other.keys()
        for key in one.keys() - {"text", "remedies"}:  # the command names its own options in a sentence
            assert one[key] == other[key], key
        assert one["remedies"] == [list(remedy) for remedy in other["remedies"]]
    cast = next(change for change in shown["changes"] if change["kind"] == "cast")
    assert len(cast["items"]) > 8 and cast["before"] == "bf16" and cast["after"] == "f16"
    assert shown["lost"] == done.lost
