#!/usr/bin/env python3
"""safetensors by a reader and a writer made from the format's description alone, against the command.

    safetensors_independent.py TARE

Files written here are read by the command; files, sets and directories written by the command are read here. Where the
Python package `safetensors` can be imported, it reads and writes them too.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32,
        "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}


def write(path, tensors, metadata=None, indent=None):
    """tensors: name -> (dtype, shape, bytes)."""
    header, data = ({"__metadata__": metadata} if metadata is not None else {}), b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, indent=indent).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    """(tensors, metadata), after checking every rule."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    text, data = raw[8:8 + length], raw[8 + length:]
    assert len(text) == length and text.startswith(b"{")

    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), "a key stands twice"
        return dict(pairs)

    header = json.loads(text.decode(), object_pairs_hook=once)
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        bits = BITS[entry["dtype"]]
        for dimension in entry["shape"]:
            bits *= dimension
        assert begin == end and bits % 8 == 0 and stop - begin == bits // 8, name
        tensors[name] = (entry["dtype"], entry["shape"], data[begin:stop])
        end = stop
    assert end == len(data)
    return tensors, metadata


def read_set(directory):
    index = directory / "model.safetensors.index.json"
    if not index.exists():
        return read(directory / "model.safetensors")
    index = json.loads(index.read_text())
    tensors, metadata = {}, {}
    for file in sorted(set(index["weight_map"].values())):
        part, said = read(directory / file)
        assert not set(part) & set(tensors)
        assert {index["weight_map"][name] for name in part} == {file}
        tensors |= part
        metadata |= said
    assert set(tensors) == set(index["weight_map"])
    assert index["metadata"]["total_size"] == sum(len(content) for _, _, content in tensors.values())
    return tensors, metadata


def sample():
    tensors = {}
    for number, (dtype, bits) in enumerate(BITS.items()):
        shape = [2, 4] if number % 2 else [8]
        content = bytes((number * 31 + i * 7) % 64 for i in range(bits))  # 8 elements
        tensors[f"types.{dtype}"] = (dtype, shape, bytes(b & 1 for b in content) if dtype == "BOOL" else content)
    tensors["scalar"] = ("F32", [], struct.pack("<f", 1.5))
    tensors["empty"] = ("I64", [0, 7], b"")
    tensors['quote " \\ and ünïcödé 層 😀'] = ("U8", [1], b"!")
    return tensors


def main(tare):
    def run(*arguments):
        done = subprocess.run([tare, *map(str, arguments)], capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tare {arguments}: {done.returncode}\n{done.stderr.decode()}")
        return done.stdout.decode()

    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        tensors, metadata = sample(), {"format": "pt", "note": 'quoted "text"\nand a line'}
        for indent in (None, 1):
            write(place / "in.safetensors", tensors, metadata, indent)
            listed = json.loads(run("ls", "--json", place / "in.safetensors"))
            assert listed["metadata"] == metadata
            assert [t["name"].replace("\\\\", "\\") for t in listed["tensors"]] == list(tensors)
            for tensor in listed["tensors"]:
                _, shape, content = tensors[tensor["name"].replace("\\\\", "\\")]
                assert tensor["shape"] == shape and tensor["bytes"] == len(content), tensor
            run("verify", place / "in.safetensors")
            for dialect in ([], ["--dialect", "upstream"]):
                if dialect and "--dialect" not in run("help", "convert"):
                    continue
                out = place / "out.safetensors"
                run("convert", "--force", *dialect, place / "in.safetensors", out)
                assert read(out) == (tensors, metadata)
                (length,) = struct.unpack_from("<Q", out.read_bytes())
                assert (8 + length) % (8 if dialect else 4096) == 0
            run("convert", place / "in.safetensors", place / "in.zt", "--force")
            run("convert", place / "in.zt", place / "back.safetensors", "--force")
            assert read(place / "back.safetensors") == (tensors, metadata)
            run("convert", place / "in.safetensors", f"{place}/set{indent}/", "--to", "safetensors", "--shard", "5KB")
            assert len(list((place / f"set{indent}").glob("*.safetensors"))) > 1
            assert read_set(place / f"set{indent}") == (tensors, metadata)
            run("convert", place / "in.zt", f"{place}/hf{indent}/", "--shard", "5KB")
            assert read_set(place / f"hf{indent}") == (tensors, metadata)
            digests = {run("hash", place / name).split()[0] for name in
                       ("in.safetensors", "in.zt", f"set{indent}/model.safetensors.index.json", f"hf{indent}")}
            assert len(digests) == 1, digests

        try:
            import numpy
            from safetensors import safe_open
            from safetensors.numpy import save_file
        except ImportError:
            print("ok; the package safetensors is not installed and was not tried")
            return
        known = {"F32", "F64", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}
        write(place / "known.safetensors", {n: t for n, t in tensors.items() if t[0] in known}, metadata)
        run("convert", "--force", place / "known.safetensors", place / "theirs.safetensors")
        with safe_open(place / "theirs.safetensors", framework="np") as file:
            assert file.metadata() == metadata
            for name in file.keys():
                assert file.get_tensor(name).tobytes() == tensors[name][2], name
        arrays = {"a": numpy.arange(6, dtype=numpy.float32).reshape(2, 3), "b": numpy.ones(3, numpy.uint8)}
        save_file(arrays, place / "saved.safetensors", {"format": "np"})
        run("verify", "--strict", place / "saved.safetensors")
        assert run("convert", "--force", place / "saved.safetensors", place / "again.safetensors") == ""
        assert read(place / "again.safetensors") == read(place / "saved.safetensors")
        print("ok, with the package safetensors")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
