#!/usr/bin/env python3
"""The other end of interop.py: the package ztensor 1.2, in an environment of its own, as 2.x has the same name.

    first.py write FILE      every type and layout, compressed and not, with each kind of digest
    first.py append FILE     two tensors more
    first.py dump FILE       what the package reads, as JSON
"""
import hashlib
import json
import sys

import numpy as np
import ztensor

TYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")


def noise(shape, dtype, seed):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    data = (np.arange(count, dtype="u4") * 2654435761 + seed * 40503 >> 11).astype("u1") % (2 if dtype == "?" else 60)
    return data.view(dtype).reshape(shape)


def write(path):
    with ztensor.Writer(path) as writer:
        for i, dtype in enumerate(TYPES):
            name = np.dtype(dtype).name
            writer.write_numpy(f"type.{name}", noise((2, 3), dtype, i))
            writer.write_numpy(f"packed.{name}", noise((40, 50), dtype, i), compress=True, checksum="crc32c")
            writer.write_numpy(f"hashed.{name}", noise((3,), dtype, i), checksum="sha256")
        writer.write("type.bf16", ztensor.Tensor({"data": noise((2, 3), "u2", 3)}, dtype="bfloat16"))
        writer.write("logical.f8", ztensor.Tensor({"data": noise((4,), "u1", 3)}, type="f8_e4m3fn"))
        writer.write_numpy("shape.empty", np.zeros((0, 4), "f4"))
        writer.write_numpy("shape.scalar", np.array(2.5, "f4"))
        values = np.array([1, 2, 3], "f4")
        writer.write("csr", ztensor.Tensor({"values": values, "indices": np.array([0, 2, 1], "u8"),
                                            "indptr": np.array([0, 2, 3], "u8")}, shape=[2, 3], format="sparse_csr"))
        writer.write("coo", ztensor.Tensor({"values": values, "coords": np.array([0, 0, 1, 0, 2, 1], "u8")}, shape=[2, 3],
                                           format="sparse_coo"), compress=3)
        writer.write("group", ztensor.Tensor(
            {"packed_weight": noise((4,), "i4", 5), "scales": np.ones(4, "f2"), "zeros": np.ones(4, "f2")}, shape=[2, 16],
            format="quantized_group", attributes={"bits": 4, "group_size": 8, "packing": "8_per_i32"}))
        writer.write("own", ztensor.Tensor({"a": noise((3,), "u1", 7), "longer": noise((2,), "u1", 8)}, shape=[2],
                                           format="x_own", attributes={"k": [1, 2.5, True, {"z": -1}]}))


def append(path):
    writer = ztensor.Writer.append(path)
    writer.write_numpy("zz.dense", noise((5,), "f4", 9))
    writer.write_numpy("zz.packed", noise((50, 50), "i2", 9), compress=True, checksum="sha256")
    writer.finish()


def dump(path):
    reader = ztensor.Reader(path)
    found = {}
    for name in reader.keys():
        facts = reader.metadata(name)
        parts = {}
        for role, row in facts.components.items():
            data, _ = reader._inner._read_component_raw(name, role)
            parts[role] = [row["dtype"], row.get("type"), hashlib.sha256(bytes(data)).hexdigest()]
        found[name] = [facts.format, list(facts.shape), facts.attributes or {}, parts]
    print(json.dumps(found, sort_keys=True))


if __name__ == "__main__":
    {"write": write, "append": append, "dump": dump}[sys.argv[1]](sys.argv[2])
