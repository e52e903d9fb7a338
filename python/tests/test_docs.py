"""Every block of Python in the documents runs, those of a page one after the other, in a folder with the same small model."""

import glob
import os
import re
import shutil

import pytest

import tare

SOURCES = os.environ.get("TARE_SOURCES", "")
PAGE = os.path.join(SOURCES, "docs", "python.md")
NEEDS = re.compile(r"<!-- needs: ([\w, ]+) -->\s*$")


def pages():
    """Every document that has Python in it."""
    found = glob.glob(os.path.join(SOURCES, "docs", "**", "*.md"), recursive=True) if SOURCES else []
    found += [os.path.join(SOURCES, "README.md")] if SOURCES else []
    return [page for page in sorted(found) if blocks(page)]


def blocks(page=PAGE):
    """(line, packages it needs, code)."""
    if not os.path.exists(page):
        return []
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        needs = NEEDS.search(text[: match.start()])
        found.append((text[: match.start()].count("\n") + 2, needs.group(1).split(", ") if needs else [], match.group(1)))
    return found


def test_the_pages_are_found():
    if not blocks():
        pytest.skip("the pages are not here")
    assert len(blocks()) > 10
    assert {"README.md", "python.md", "python-frameworks.md", "gpu.md", "recipes.md", "tour.md"} <= {os.path.basename(page) for page in pages()}


@pytest.mark.parametrize("page", pages() or [PAGE], ids=os.path.basename)
def test_page(page, demo, tmp_path, monkeypatch):
    if not blocks(page):
        pytest.skip("the page is not here")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo / "mistral", "mistral")
    tare.convert("mistral", "model.zt")
    tare.convert("mistral", "model.gguf")
    tare.convert("mistral", "model.safetensors", weights_only=True)
    names = {"__name__": "page"}
    skipped = []
    for line, needs, code in blocks(page):
        absent = [name for name in needs if not _there(name)]
        if absent:
            skipped.append(f"line {line} needs {', '.join(absent)}")
            continue
        # With the number of the line in the page, for whoever reads the traceback.
        exec(compile("\n" * (line - 1) + code, page, "exec"), names)  # noqa: S102
    if skipped:
        print("not run:", "; ".join(skipped))


def _there(name):
    if name == "cuda":
        return _there("torch") and __import__("torch").cuda.is_available()
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_every_error_is_in_the_table():
    if not blocks():
        pytest.skip("the page is not here")
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("## Errors") :].split("\n## ")[0]
    rows = [line for line in table.split("\n") if line.startswith("| `")]
    for name in tare.__all__:
        kind = getattr(tare, name)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind is not tare.Error:
            row = next((row for row in rows if f"`{name}`" in row.split("|")[1]), None)
            assert row is not None, name
            builtin = next(base for base in kind.__mro__ if base.__module__ == "builtins")
            assert f"`{builtin.__name__}`" in row.split("|")[2], (name, builtin)
