"""NumPy and Python's zipfile as the other side: they write, Tare reads; Tare writes, they read.

usage: npz_interop.py TOOL    (TOOL: the program built from tool.cpp)
Exit status 77: NumPy is missing, nothing was tested.
"""

import hashlib
import io
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy (Debian: python3-numpy)")
    sys.exit(77)

TOOL = ""
NAMES = {"f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8", "u8": "u64",
         "u4": "u32", "u2": "u16", "u1": "u8", "b1": "bool", "c8": "f32", "c16": "f64"}
LOGICAL = {"c8": "complex64", "c16": "complex128"}


def tool(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def digest(array):
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes("C")).hexdigest()


def shape_text(array):
    return "x".join(str(d) for d in array.shape) or "-"


def sample(dtype, shape, order="C"):
    count = int(np.prod(shape))
    flat = (np.arange(count, dtype=np.int64) * 7919 % 251 - 60)
    if np.dtype(dtype).kind == "u":
        flat = flat + 60
    elif np.dtype(dtype).kind == "b":
        flat = flat % 2
    array = flat.astype(dtype).reshape(shape)
    return np.asfortranarray(array) if order == "F" else array


def arrays():
    """Every type in both byte orders and both memory orders, and the odd shapes."""
    made = {}
    for code in NAMES:
        for endian in "<>":
            for order in "CF":
                made[f"{code}_{'little' if endian == '<' else 'big'}_{order}"] = sample(endian + code, (5, 7, 3), order)
    for shape in [(), (1,), (0,), (3, 0, 2), (1, 1, 1), (2, 1, 3, 1, 4, 2)]:
        for order in "CF":
            made["shape" + "_".join(map(str, shape)) + order] = sample("<f4", shape, order)
    return made


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def listed(self, path, verb="list"):
        status, out, err = tool(verb, path)
        self.assertEqual(status, 0, err)
        rows = [line.split("\t") for line in out.decode().splitlines()]
        return {row[1]: row[2:] for row in rows if row[0] == "tensor"}, [row for row in rows if row[0] != "tensor"]

    def assert_listed(self, path, expected):
        for verb in ("list", "list-pread"):
            found, _ = self.listed(path, verb)
            self.assertEqual(set(found), set(expected))
            for name, array in expected.items():
                code = array.dtype.str[1:]
                self.assertEqual(found[name][:3], [NAMES[code], LOGICAL.get(code, ""), shape_text(array)], name)
                self.assertEqual(found[name][5], digest(array), name)

    def assert_refused(self, path, rule):
        status, _, err = tool("list", path)
        self.assertEqual((status, err.split("\t")[0]), (1, rule), err)
        return err


class Reading(Base):
    def test_savez(self):
        expected = arrays()
        np.savez(self.path("a.npz"), **expected)
        self.assert_listed(self.path("a.npz"), expected)

    def test_savez_compressed(self):
        expected = arrays()
        np.savez_compressed(self.path("a.npz"), **expected)
        self.assert_listed(self.path("a.npz"), expected)

    def test_large_orders(self):
        expected = {"wide": sample(">f4", (3, 1500000), "F"), "tall": sample("<f4", (1500000, 3), "F"),
                    "square": sample("<f8", (1100, 1300), "F"), "cube": sample(">i2", (150, 140, 130), "F")}
        np.savez(self.path("a.npz"), **expected)
        self.assert_listed(self.path("a.npz"), expected)
        np.savez_compressed(self.path("b.npz"), **expected)
        self.assert_listed(self.path("b.npz"), expected)

    def test_save(self):
        for name, array in arrays().items():
            np.save(self.path(name + ".npy"), array)
            found, _ = self.listed(self.path(name + ".npy"))
            self.assertEqual(list(found), [name])
            self.assertEqual(found[name][5], digest(array), name)

    def test_header_versions(self):
        for version in [(1, 0), (2, 0), (3, 0)]:
            with open(self.path("a.npy"), "wb") as file:
                np.lib.format.write_array(file, sample("<i4", (4, 5), "F"), version=version)
            self.assert_listed(self.path("a.npy"), {"a": sample("<i4", (4, 5))})

    def test_names(self):
        expected = {"a/b.c": sample("<f4", (2,)), "é": sample("<f4", (3,)), "with space": sample("<f4", (4,))}
        np.savez(self.path("a.npz"), **expected)
        self.assert_listed(self.path("a.npz"), expected)

    def test_nothing(self):
        np.savez(self.path("a.npz"))
        self.assert_listed(self.path("a.npz"), {})

    def test_stream_with_data_descriptors(self):
        class Pipe(io.RawIOBase):
            def __init__(self):
                self.parts = []

            def writable(self):
                return True

            def write(self, data):
                self.parts.append(bytes(data))
                return len(data)

        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            pipe = Pipe()
            with zipfile.ZipFile(pipe, "w", method) as archive:
                for name, array in {"a": sample("<f4", (50,)), "b": sample("<f8", (3, 3), "F")}.items():
                    with archive.open(name + ".npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array)
            with open(self.path("a.npz"), "wb") as file:
                file.write(b"".join(pipe.parts))
            self.assert_listed(self.path("a.npz"), {"a": sample("<f4", (50,)), "b": sample("<f8", (3, 3))})
            self.assertEqual([row for row in self.listed(self.path("a.npz"))[1] if row[0] == "warning"], [])

    def test_archive_comment_and_attachment(self):
        np.savez(self.path("a.npz"), w=sample("<f4", (2,)))
        with zipfile.ZipFile(self.path("a.npz"), "a") as archive:
            archive.comment = b"made by hand"
            archive.writestr("config.json", "{}")
        self.assertIn(["attachment", "config.json", "2"], self.listed(self.path("a.npz"))[1])

    def test_other_types_are_carried(self):
        for array, rule in [(np.zeros(2, [("a", "<f4")]), "npy.descr.structured"), (np.zeros(2, "S3"), "npy.descr.text"),
                            (np.zeros(2, "U3"), "npy.descr.text"), (np.zeros(2, "M8[s]"), "npy.descr.datetime"),
                            (np.zeros(2, "V3"), "npy.descr.void")]:
            np.savez(self.path("a.npz"), member=array, w=sample("<f4", (2,)))
            rows = self.listed(self.path("a.npz"))[1]
            self.assertIn(["note", rule, "member.npy"], rows)
            self.assertEqual([row[1] for row in rows if row[0] == "attachment"], ["member.npy"])
            np.save(self.path("a.npy"), array)
            self.assert_refused(self.path("a.npy"), rule)

    def test_pickle_is_never_run(self):
        marker = self.path("was-run")

        class Evil:
            def __reduce__(self):
                return (open, (marker, "w"))

        evil = np.array([None], dtype=object)
        evil[0] = Evil()
        np.savez(self.path("a.npz"), evil=evil)
        self.assertIn(["note", "npy.descr.object", "evil.npy"], self.listed(self.path("a.npz"))[1])
        self.assertFalse(os.path.exists(marker))
        np.save(self.path("a.npy"), evil)
        self.assert_refused(self.path("a.npy"), "npy.descr.object")
        self.assertFalse(os.path.exists(marker))
        pickle.loads(pickle.dumps(Evil())).close()  # it would have
        self.assertTrue(os.path.exists(marker))

    def test_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("this Python has no ml_dtypes")
        for name, dtype, logical in [("bfloat16", "bf16", ""), ("float8_e4m3fn", "u8", ""), ("float8_e5m2", "u8", "f8_e5m2")]:
            array = np.arange(6).astype(getattr(ml_dtypes, name)).reshape(2, 3)
            np.savez(self.path("a.npz"), w=array)
            found, others = self.listed(self.path("a.npz"))
            self.assertEqual(found["w"][:3], [dtype, logical, "2x3"])
            self.assertEqual(found["w"][5], hashlib.sha256(array.tobytes()).hexdigest())
            self.assertEqual(others, [["note", "npy.descr.raw", "w"]])
            if name != "float8_e5m2":  # np.load refuses what np.save wrote for this one
                self.assertEqual(tool("npz", self.path("a.npz"), self.path("b.npz"))[0], 0)
                back = np.load(self.path("b.npz"))["w"].view(getattr(ml_dtypes, name))
                self.assertTrue((back == array).all())


class Writing(Base):
    def rewritten(self, expected, deflated=False):
        (np.savez_compressed if deflated else np.savez)(self.path("in.npz"), **expected)
        status, _, err = tool("npz", self.path("in.npz"), self.path("out.npz"))
        self.assertEqual(status, 0, err)
        return self.path("out.npz")

    def test_numpy_reads_it(self):
        expected = arrays()
        for deflated in (False, True):
            with np.load(self.rewritten(expected, deflated), allow_pickle=False) as back:
                self.assertEqual(sorted(back.files), sorted(expected))
                for name, array in expected.items():
                    self.assertEqual(back[name].dtype, array.dtype.newbyteorder("<"), name)
                    self.assertTrue(np.array_equal(back[name], array), name)

    def test_members_are_canonical(self):
        expected = arrays()
        path = self.rewritten(expected)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            infos = archive.infolist()
            names = [info.filename for info in infos]
            self.assertEqual(names, sorted(names))
            for info in infos:
                self.assertEqual((info.compress_type, info.date_time, info.flag_bits),
                                 (zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0), 0))
                array = np.ascontiguousarray(expected[info.filename[:-4]])
                array = array.astype(array.dtype.newbyteorder("<")).reshape(expected[info.filename[:-4]].shape)
                plain = io.BytesIO()
                np.save(plain, array)
                self.assertEqual(archive.read(info), plain.getvalue(), info.filename)
        for row in self.listed(path)[0].values():
            self.assertEqual(row[3], "true")
            self.assertEqual(int(row[4]) % 64, 0)

    def test_data_maps(self):
        array = sample("<f4", (100, 100))
        path = self.rewritten({"w": array})
        offset = int(self.listed(path)[0]["w"][4])
        self.assertTrue(np.array_equal(np.memmap(path, "<f4", "r", offset, (100, 100)), array))

    def test_pipe_gives_the_same_bytes(self):
        path = self.rewritten(arrays())
        status, out, err = tool("npz", self.path("in.npz"), "-")
        self.assertEqual(status, 0, err)
        with open(path, "rb") as file:
            self.assertEqual(out, file.read())

    def test_npy(self):
        np.save(self.path("in.npy"), sample(">f4", (3, 4), "F"))
        status, _, err = tool("npy", self.path("in.npy"), self.path("out.npy"))
        self.assertEqual(status, 0, err)
        expected = io.BytesIO()
        np.save(expected, sample("<f4", (3, 4)))
        with open(self.path("out.npy"), "rb") as file:
            self.assertEqual(file.read(), expected.getvalue())

    def test_zip64_by_count(self):
        status, _, err = tool("many", "66000", self.path("many.npz"))
        self.assertEqual(status, 0, err)
        with zipfile.ZipFile(self.path("many.npz")) as archive:
            self.assertEqual(len(archive.namelist()), 66000)
        with np.load(self.path("many.npz")) as back:
            self.assertEqual(back["t65999"][0], 65999 % 256)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main(verbosity=1)
