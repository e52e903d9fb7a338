#!/usr/bin/env python3
"""Checks that only python/src/gil.* calls functions of Python that take or release the GIL, or that can run Python code.

    tools/gil_calls.py [ROOT]       prints each call elsewhere; exit 1 if there is one
    tools/gil_calls.py --selftest   shows that every kind of call is found

A thread inside such a call when Python ends never comes back from it; before Python 3.14 its stack is unwound instead, which
ends the process if it meets a destructor. The functions of gil.hpp hold the thread there.
"""

import pathlib
import re
import sys
import tempfile

PRIMITIVES = {"python/src/gil.hpp", "python/src/gil.cpp"}

CALLS = re.compile(
    r"""
      \bPyEval_\w+ | \bPyGILState_\w+ | \bPyThread_\w+ | \bPyThreadState_\w+ | \bpthread_exit\b
    | \bPy_(?:BEGIN|END)_ALLOW_THREADS\b | \bPy_(?:UN)?BLOCK_THREADS\b | \bPy_(?:BEGIN|END)_CRITICAL_SECTION\w*
    | \bPy_(?:X?DECREF|CLEAR|X?SETREF|DecRef)\b | \bPyErr_CheckSignals\b | \bPy_MakePendingCalls\b
    | \bPyObject_(?:Call\w*|Vectorcall\w*|GetAttr\w*|SetAttr\w*|DelAttr\w*|HasAttr\w*|GetItem|SetItem|DelItem\w*|Is(?:True|Instance|Subclass)
        |Not|RichCompare\w*|Hash|Repr|Str|ASCII|Bytes|Format|Dir|Size|Length|GetIter|GetAIter|GetBuffer)\b
    | \bPyBuffer_Release\b | \bPyIter_\w+ | \bPyNumber_\w+ | \bPyMapping_\w+
    | \bPySequence_(?!Size\b)\w+ | \bPyImport_\w+ | \bPyRun_\w+ | \bPyFloat_AsDouble\b | \bPyComplex_\w*As\w+
    | \bPyUnicode_FS\w+ | \bPyDict_(?:SetItem|DelItem|Update|Merge\w*)\b | \bPySet_(?:Add|Discard|Contains|New)\b
    | \bPyGC_Collect\b | \bPyWeakref_\w+ | \bPyArg_\w+
    """,
    re.VERBOSE,
)
# Refused in gil.* as well: they believe an object's __class__, and their result decided which memory is read as what (is_of in
# python.hpp looks at the type itself).
BELIEVERS = re.compile(r"\bPyObject_Is(?:Instance|Subclass)\b")
COMMENT = re.compile(r"//[^\n]*")


def check(root):
    problems = []
    for file in sorted([*(root / "python/src").rglob("*.hpp"), *(root / "python/src").rglob("*.cpp")]):
        text = COMMENT.sub(lambda comment: " " * len(comment[0]), file.read_text(encoding="utf-8"))

        def add(call, why):
            problems.append(f"{file}:{text.count(chr(10), 0, call.start()) + 1}: {call[0].strip()}: {why}")

        for call in BELIEVERS.finditer(text):
            add(call, "believes what __class__ says; is_of of python/src/python.hpp does not")
        if file.relative_to(root).as_posix() not in PRIMITIVES:
            for call in CALLS.finditer(text):
                add(call, "what may wait for the GIL is called by python/src/gil.hpp only")
    return problems


def selftest():
    wrong = """PyEval_RestoreThread(s)  PyEval_SaveThread()  PyGILState_Ensure()  Py_END_ALLOW_THREADS  Py_DECREF(a)
        Py_XDECREF(a)  Py_CLEAR(a)  PyObject_Call(a, b, c)  PyObject_CallMethod(a, "b", "c")  PyErr_CheckSignals()
        PyObject_GetAttrString(a, "b")  PyObject_IsTrue(a)  PyNumber_Index(a)  PySequence_GetItem(a, 0)  PyImport_ImportModule("a")
        PyObject_GetBuffer(a, b, 0)  PyBuffer_Release(b)  PyFloat_AsDouble(a)  PyDict_SetItem(a, b, c)  PySet_Add(a, b)
        PyThread_exit_thread()  pthread_exit(0)  PyIter_Next(a)  PyUnicode_FSConverter(a, b)  PyArg_ParseTuple(a, "O", b)"""
    right = """PySequence_Size(a)  PyDict_SetItemString(a, "b", c)  PyList_Append(a, b)  PyTuple_Pack(1, a)  drop(a)
        entered(f)  PyBuffer_FillInfo(a)  // PyEval_RestoreThread(s)"""
    cases = [(piece.strip(), True) for line in wrong.split("\n") for piece in line.split("  ") if piece.strip()]
    cases += [(right, False)]
    for text, bad in cases:
        with tempfile.TemporaryDirectory() as directory:
            for name in ("python/src/a.cpp", *PRIMITIVES):
                file = pathlib.Path(directory, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            problems = check(pathlib.Path(directory))
            if bool(problems) != bad or any("gil." in problem.split(":")[0] for problem in problems):
                print(f"{text}: {problems}")
                return 1
    for text in ("PyObject_IsInstance(a, b)", "PyObject_IsSubclass(a, b)"):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "python/src/gil.hpp")
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            if not check(pathlib.Path(directory)):
                print(f"{text}: is not found in gil.hpp")
                return 1
    print(f"{len(cases)} cases")
    return 0


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    problems = check(root)
    print("\n".join(problems) if problems else "only python/src/gil.* waits for the GIL")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
