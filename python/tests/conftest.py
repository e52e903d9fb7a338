"""What the tests share: models made by the command and by the module itself."""

import os
import subprocess

import numpy as np
import pytest

import tare

SANITIZED = bool(os.environ.get("TARE_SANITIZED"))


def command(*arguments):
    """Runs `tare`; the test is skipped where there is none."""
    path = os.environ.get("TARE_COMMAND")
    if not path:
        pytest.skip("TARE_COMMAND does not name the command")
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run([path, *map(os.fspath, arguments)], check=True, capture_output=True, env=environment).stdout


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder that `tare demo` makes: a model in every container."""
    folder = tmp_path_factory.mktemp("demo")
    command("demo", "--force", folder)
    return folder


@pytest.fixture
def arrays():
    random = np.random.default_rng(7)
    return {
        "embed.weight": random.standard_normal((32, 64)).astype("f4"),
        "layers.0.norm.weight": random.standard_normal(64).astype("f2"),
        "layers.0.mlp.weight": random.standard_normal((64, 256)).astype("f4"),
        "ids": np.arange(12, dtype="i8").reshape(3, 4),
        "flag": np.array([True, False]),
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 4), "f4"),
        "complex": (random.standard_normal(6) + 1j).astype("c8"),
    }


@pytest.fixture
def model_path(tmp_path, arrays):
    path = tmp_path / "model.zt"
    tare.save(path, arrays, metadata={"name": "test", "deep": {"list": [1, 2.5, None, True, b"\x00\xff"]}})
    return path
