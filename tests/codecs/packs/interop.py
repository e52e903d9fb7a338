"""Weights that other libraries pack, decoded by them and by Tare: the same values, and the same arrays when they are carried.

usage: interop.py TARE [DIR]    (TARE: the command; DIR: models that tools/packs.py made, else they are made afresh)
Exit status 77: torch or safetensors is missing, nothing was tested. What needs another library that is missing is skipped.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
try:
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file
    import packs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TARE = sys.argv[1]


def tare(*arguments):
    done = subprocess.run([TARE, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def steps_apart(ours, expected):
    """The largest difference, in units in the last place of the largest value, after ours is rounded to its type once."""
    ours = ours.to(expected.dtype)
    if ours.equal(expected):
        return 0
    unit = torch.finfo(expected.dtype).eps * 2.0 ** torch.floor(torch.log2(expected.double().abs().max()))
    return max(float(((ours.double() - expected.double()).abs().max()) / unit), 1e-9)


def check(name, source, work):
    with safe_open(source / f"{name}.expected.safetensors", "pt") as file:
        allowed = int(file.metadata()["steps"])
    expected = load_file(source / f"{name}.expected.safetensors")
    model = source / name
    listed = json.loads(tare("ls", model, "--json"))["tensors"]
    shapes = {tensor["name"]: tensor["shape"] for tensor in listed}
    assert shapes == {key: list(value.shape) for key, value in expected.items()}, shapes
    info = json.loads(tare("info", model, "--json"))
    assert info["parameters"] == sum(value.numel() for value in expected.values()), info["parameters"]
    tare("verify", model, "--strict")
    # Decoded.
    tare("convert", model, work / "f32.safetensors", "--dtype", "f32", "--weights-only", "-q")
    ours = load_file(work / "f32.safetensors")
    for key, value in expected.items():
        apart = steps_apart(ours[key], value)
        assert apart <= allowed, f"{key}: {apart} steps apart"
    # Carried: by way of other containers, too.
    tare("convert", model, f"{work}/same/", "-q")
    same = load_file(work / "same/model.safetensors")
    arrays = load_file(model / "model.safetensors")
    assert list(same) == list(arrays) or set(same) == set(arrays)
    for key, value in arrays.items():
        assert same[key].dtype == value.dtype and same[key].shape == value.shape, key
        assert same[key].view(torch.uint8).equal(value.view(torch.uint8)) if value.dim() else same[key].equal(value), key
    assert (work / "same/config.json").read_bytes() == (model / "config.json").read_bytes()
    first = tare("hash", model).split()[0]
    for other in ("model.zt", "model.mcf"):
        tare("convert", model, work / other, "-q")
        assert tare("hash", work / other).split()[0] == first, other
        assert json.loads(tare("ls", work / other, "--json"))["tensors"][0]["layout"] == listed[0]["layout"], other
    return listed[0]["layout"], allowed


def main():
    with tempfile.TemporaryDirectory(prefix="tare-packs-") as held:
        source = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(held) / "made"
        if len(sys.argv) > 2:
            names = sorted(path.name.removesuffix(".expected.safetensors") for path in source.glob("*.expected.safetensors"))
        else:
            names, missing = packs.make(source)
            for name, reason in missing.items():
                print(f"{name}: skipped: {reason}")
        failed = 0
        for name in names:
            with tempfile.TemporaryDirectory(dir=held) as work:
                try:
                    layout, allowed = check(name, source, pathlib.Path(work))
                    print(f"{name}: {layout}, {'bit for bit' if allowed == 0 else f'within {allowed} step'}")
                except AssertionError as error:
                    failed += 1
                    print(f"{name}: FAILED: {error}")
        return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
