"""The types that are promised are those of the code."""

import ast
import inspect
import os
import subprocess
import sys

import pytest

import tare

FOLDER = os.path.dirname(tare.__file__)


def stub():
    with open(os.path.join(FOLDER, "__init__.pyi")) as file:
        return ast.parse(file.read())


def parameters(node):
    """Names, kinds and whether there is a default, of a function in the stub."""
    kinds, arguments = inspect.Parameter, node.args
    found = []
    plain = arguments.posonlyargs + arguments.args
    for i, argument in enumerate(plain):
        kind = kinds.POSITIONAL_ONLY if i < len(arguments.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        found.append((argument.arg, kind, i >= len(plain) - len(arguments.defaults)))
    if arguments.vararg:
        found.append((arguments.vararg.arg, kinds.VAR_POSITIONAL, False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append((argument.arg, kinds.KEYWORD_ONLY, default is not None))
    if arguments.kwarg:
        found.append((arguments.kwarg.arg, kinds.VAR_KEYWORD, False))
    return found


def compare(name, node, function):
    try:
        signature = inspect.signature(function)
    except ValueError:  # of the extension, which has none
        return
    runtime = [(p.name, p.kind, p.default is not p.empty) for p in signature.parameters.values()]
    assert parameters(node) == runtime, name


def test_stub_is_the_code():
    named = set()
    for node in stub().body:
        if isinstance(node, ast.FunctionDef):
            named.add(node.name)
            compare(node.name, node, getattr(tare, node.name))
        elif isinstance(node, ast.ClassDef):
            named.add(node.name)
            kind = getattr(tare, node.name)
            assert {base.id for base in node.bases if isinstance(base, ast.Name) and hasattr(tare, base.id)} <= {
                base.__name__ for base in kind.__mro__
            }
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    found = inspect.getattr_static(kind, member.name, None)
                    assert found is not None, f"{node.name}.{member.name}"
                    decorators = {d.id for d in member.decorator_list if isinstance(d, ast.Name)}
                    if "property" in decorators:
                        assert not callable(found), f"{node.name}.{member.name} is not a property"
                    elif inspect.isfunction(found) or isinstance(found, staticmethod):
                        compare(f"{node.name}.{member.name}", member, getattr(kind, member.name))
    public = {*tare.__all__, *tare._LAZY_NAMES}
    assert named == public
    missing = []
    for name in public:
        kind = getattr(tare, name)
        if inspect.isclass(kind) and issubclass(kind, (tare.Model, tare.Tensor)):
            node = next(n for n in stub().body if isinstance(n, ast.ClassDef) and n.name == name)
            listed = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
            missing += [f"{name}.{m}" for m in vars(kind) if not m.startswith("_") and m not in listed]
    assert not missing


def test_mypy(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    sample = tmp_path / "sample.py"
    sample.write_text(
        "import tare\n"
        "m = tare.open('x')\n"
        "reveal_type(m.tensor('a').shape)\n"
        "done = tare.convert('a', 'b', quant='k4', progress=lambda done, total: None)\n"
        "reveal_type(done.file_bytes)\n"
        "tare.save('x', {'a': [1]}, wrong=1)\n"
    )
    # Of other packages, nothing is read: torch alone would take minutes.
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = skip\n[mypy-tare]\nfollow_imports = normal\n")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--config-file", "mypy.ini", str(sample)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": os.path.dirname(FOLDER)}, timeout=240,
    )  # fmt: skip
    assert 'Revealed type is "tuple[int, ...]"' in run.stdout.replace("builtins.", ""), run.stdout + run.stderr
    assert 'Unexpected keyword argument "wrong"' in run.stdout
