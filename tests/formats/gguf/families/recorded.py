#!/usr/bin/env python3
"""Every family, both ways, by what llama.cpp's converter was seen to do: no packages are needed.

    recorded.py TARE    converts a model for each line of recorded.jsonl, compares names, types, shapes and keys, and goes back;
a model that lacks a matrix, or has one of another shape or in a layer too many, is refused by its name

A line has the config.json of a tiny model as transformers writes it, its tensors, and the tensors and keys of the file that the
converter made of it. `tests/real/families.py TARE --record` makes the lines. Those of towers.jsonl are multimodal models, with the files
that the converter made of both parts; `tests/real/towers.py TARE --record` makes them.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

RECORDS = [pathlib.Path(__file__).with_name(name) for name in ("recorded.jsonl", "towers.jsonl")]
SIZES = {"BF16": 2, "F32": 4, "U8": 1}
TYPES = {0: "F32", 1: "F16", 30: "BF16", 39: "MXFP4"}
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
KINDS = ["UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "FLOAT32", "BOOL", "STRING", "ARRAY", "UINT64", "INT64", "FLOAT64"]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, code):
        size = struct.calcsize(code)
        value = struct.unpack_from(code, self.data, self.at)[0]
        self.at += size
        return value

    def text(self):
        size = self.take("<Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.text(), [KINDS[kind]]
        if kind != 9:
            return self.take(SCALARS[kind]), [KINDS[kind]]
        inner, count = self.take("<I"), self.take("<Q")
        return [self.value(inner)[0] for _ in range(count)], [KINDS[kind], KINDS[inner]]


def read_gguf(path):
    """The tensors and the keys of a file: name -> (type, shape, slowest dimension first), key -> (kinds, value)."""
    reader = Reader(path.read_bytes())
    reader.at = 8
    tensors, keys = {}, {}
    tensor_count, key_count = reader.take("<Q"), reader.take("<Q")
    for _ in range(key_count):
        key = reader.text()
        value, kinds = reader.value(reader.take("<I"))
        keys[key] = (kinds, value)
    for _ in range(tensor_count):
        name = reader.text()
        shape = [reader.take("<Q") for _ in range(reader.take("<I"))][::-1]
        tensors[name] = (TYPES[reader.take("<I")], shape)
        reader.take("<Q")
    return tensors, keys


# The last byte of a number near 1 of either sign, for each byte.
NEAR_ONE = bytes((0x3E, 0x3F, 0xBE)[byte % 3] for byte in range(256))


def random_bytes(kind, name, count, dice):
    if kind == "U8":
        return bytes([127]) * count if name.endswith("_scales") else dice.randbytes(count)
    data = bytearray(dice.randbytes(SIZES[kind] * count))
    data[SIZES[kind] - 1::SIZES[kind]] = data[SIZES[kind] - 1::SIZES[kind]].translate(NEAR_ONE)
    return data


def write_safetensors(path, tensors, dice):
    """Random numbers near 1 of either sign; bytes are codes, or exponents of 1."""
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, (kind, shape) in tensors.items():
        begin = len(data)
        data += random_bytes(kind, name, math.prod(shape), dice)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(data))


def read_safetensors(path):
    blob = path.read_bytes()
    size = int.from_bytes(blob[:8], "little")
    return {name: (entry["dtype"], entry["shape"], blob[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in json.loads(blob[8:8 + size]).items() if name != "__metadata__"}


def convert(tare, source, target, *options):
    done = subprocess.run([tare, "convert", source, target, *options], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{source} to {target}: {done.stderr[-1000:]}"


def differences(path, row):
    """What a file has that the converter's file did not, or the other way around."""
    found = []
    tensors, keys = read_gguf(path)
    expected = {name: tuple(entry) for name, entry in row["gguf"].items()}
    extra = set(tensors) - set(expected) - set(row["copies"])
    if extra or set(expected) - set(tensors):
        found.append(f"names: {sorted(set(expected) - set(tensors))} are missing, {sorted(extra)} are too many")
    for name in sorted(set(expected) & set(tensors)):
        if tensors[name] != expected[name]:
            found.append(f"{name}: expected {expected[name]}, found {tensors[name]}")
    for key, (kinds, value) in row["keys"].items():
        if key not in keys or keys[key][0] != kinds or keys[key][1] != value:
            found.append(f"{key}: expected {kinds} {value}, found {keys.get(key)}")
    return found


def problems_of(tare, row, folder):
    """What differs."""
    directory, file, back, beside = folder / "hf", folder / "model.gguf", folder / "back", folder / "mmproj.gguf"
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(row["config"], indent=2, sort_keys=True) + "\n")
    for name, text in row.get("files", {}).items():
        (directory / name).write_text(text)
    write_safetensors(directory / "model.safetensors", row["tensors"], random.Random(row["family"]))
    options = ["--mmproj", beside] if "tower" in row else []
    if problem := convert(tare, directory, file, *options):
        return [problem]
    found = differences(file, row)
    if options:
        found += [f"tower: {problem}" for problem in differences(beside, row["tower"])]
    if problem := convert(tare, file, f"{back}/", *options):
        return [*found, problem]
    if (back / "config.json").read_bytes() != (directory / "config.json").read_bytes():
        found.append("config.json is another one after the way back")
    first, again = read_safetensors(directory / "model.safetensors"), read_safetensors(back / "model.safetensors")
    if set(first) != set(again):
        found.append(f"and back: {sorted(set(first) ^ set(again))}")
    found += [f"and back: {name} differs" for name in sorted(set(first) & set(again)) if first[name] != again[name]]
    return found


def damaged(row):
    """Names of what is wrong, and the tensors of a model with that."""
    tensors = row["tensors"]
    # The last matrix of the last expert, where there are any.
    matrices = [name for name in tensors if name.endswith((".down_proj.weight", ".w2.weight", ".c_proj.weight", ".fc2.weight", ".dense_4h_to_h.weight", ".output.dense.weight",
                                                              ".mlp.Wo.weight", ".mixer.out_proj.weight", ".mamba.out_proj.weight", ".DenseReluDense.wo.weight"))]
    if matrices:
        yield matrices[-1], {name: entry for name, entry in tensors.items() if name != matrices[-1]}
        yield matrices[-1], tensors | {matrices[-1]: [tensors[matrices[-1]][0], [size + 1 for size in tensors[matrices[-1]][1]]]}
    some = next(name for name in tensors if ".0." in name and len(tensors[name][1]) == 2)
    config = row["config"]
    layers = next((config[key] for key in ("num_hidden_layers", "n_layer", "num_layers") if key in config), None) or len(config["layers_block_type"])
    stray = some.replace(".0.", f".{layers + 3}.", 1)
    yield stray, tensors | {stray: tensors[some]}


def accepted(tare, row, folder):
    """Damage that is not refused by the name of the tensor."""
    if "tower" in row:
        return
    for number, (name, tensors) in enumerate(damaged(row)):
        directory = folder / f"damaged-{number}"
        directory.mkdir()
        (directory / "config.json").write_text(json.dumps(row["config"]))
        write_safetensors(directory / "model.safetensors", tensors, random.Random(name))
        said = convert(tare, directory, folder / f"damaged-{number}.gguf")
        if name not in said:
            yield f"damage of {name} is not refused by its name: {said or 'accepted'}"


def claimed(tare, rows):
    """Returns what is wrong if `tare families` names the converter as the judge of other families than the recorded ones."""
    listed = json.loads(subprocess.run([tare, "families", "--json"], capture_output=True, text=True, check=True).stdout)["families"]
    said = {row["gguf"] for row in listed if row["checked"] == "llama.cpp"}
    known = {key.partition(".")[0] for row in rows for key in row["keys"]}
    return "" if said == known else f"`tare families`: {sorted(said - known)} are not in the record, {sorted(known - said)} are"


def problems_in(tare, row):
    with tempfile.TemporaryDirectory() as folder:
        return problems_of(tare, row, pathlib.Path(folder)) + list(accepted(tare, row, pathlib.Path(folder)))


def main():
    tare, wrong = sys.argv[1], 0
    rows = [json.loads(line) for path in RECORDS for line in path.read_text().splitlines()]
    if problem := claimed(tare, rows):
        print(problem)
        wrong += 1
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for row, found in zip(rows, pool.map(lambda row: problems_in(tare, row), rows)):
            for problem in found[:8]:
                print(f"{row['family']}: {problem}")
            wrong += bool(found)
    print(f"{len(rows)} models, {wrong} problems")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
