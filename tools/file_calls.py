#!/usr/bin/env python3
"""Checks that only src/io/directory.cpp changes names in the file system, in the Python module, too, and who opens files by path.

    tools/file_calls.py [ROOT]       prints each call elsewhere that creates, renames or removes, or opens a path; exit 1 if there is one
    tools/file_calls.py --selftest   shows that every kind of call is found

A user who may write to the same directory can turn a path into a link between two calls. So names are changed relative to an open
directory, without following links, by one primitive (src/io/directory.hpp); a path-based call anywhere in src/ and python/ is refused.

A path that is made from another one, for a file that the user did not name, may be a link that leads out of the model's directory, to
a private file. io::open_beside and the class Links (src/io/links.hpp) refuse those; OPENS lists who opens files, and how it knows.
"""

import pathlib
import re
import sys
import tempfile

PRIMITIVE = "src/io/directory.cpp"

CALLS = re.compile(
    r"""
      ::(?:rename|mkdir|rmdir|unlink|link|symlink|mknod|mkfifo|chmod|chown|lchown|truncate|creat)(?:at2?)?\s*\(
    | \b(?:renameat2?|mkdirat|unlinkat|linkat|symlinkat|mknodat|fchmodat|fchownat)\s*\(
    | \b(?:mkdtemp|mkstemps?|mkostemps?|tmpfile|tmpnam)\s*\(
    | \bO_(?:CREAT|TMPFILE|TRUNC)\b
    | \b(?:fs|filesystem)::(?:remove(?:_all)?|rename|create_\w+|copy(?:_\w+)?|resize_file|permissions)\s*\(
    | \bstd::(?:ofstream|fstream|fopen|remove\s*\(\s*\w+\s*\.\s*c_str|rename\s*\()
    | ::fopen\s*\(
    """,
    re.VERBOSE,
)
OPEN = re.compile(r"(?<![\w.>])open_file\(")
OPENS = {
    "src/io/source.cpp": "defines it",
    "src/io/remote/hub.cpp": "the file of a token, which the user named",
    "src/io/remote/bucket.cpp": "likewise, of keys",
    "src/io/remote/remote_source.cpp": "a file of Hugging Face's cache, which is no link",
    "src/io/links.cpp": "io::open_beside, which checks where the file is",
    "src/formats/registry.cpp": "the path that the user named",
    "src/formats/append.cpp": "likewise",
    "src/convert/importance.cpp": "likewise",
    "src/convert/metadata.cpp": "likewise, for its size",
    "python/src/checkpoint.cpp": "likewise",
    "src/inspect/verify.cpp": "likewise, for its format",
    "src/cli/verbs/tokens.cpp": "likewise",
    "src/tiny_llama/model.cpp": "likewise",
    "src/tiny_llama/tokenizer.cpp": "likewise",
    "src/run/damage.cpp": "likewise",
    "src/formats/gguf/splits.cpp": "checks the links",
    "src/formats/ollama.cpp": "likewise",
    "src/formats/onnx/external.cpp": "likewise",
    "src/formats/hf/hf.cpp": "likewise, for all sources of the model at the end",
    "src/formats/hf/pipeline.cpp": "likewise",
    "src/formats/hf/split.cpp": "hf.cpp checks them as sources of the model",
    "src/formats/safetensors/index.cpp": "likewise",
    "src/formats/torch/distributed.cpp": "likewise",
    "src/formats/zt2/read.cpp": "likewise",
    "src/formats/zt2/shards.cpp": "likewise; of a root, the magic number only",
}
COMMENT = re.compile(r"//[^\n]*")
# The Python half leaves it to the extension. (A file without a name, of os.O_TMPFILE or tempfile.TemporaryFile, has none to change.)
PYTHON_CALLS = re.compile(
    r"""
      \bos\.(?:makedirs|mkdir|remove|removedirs|unlink|rmdir|rename|renames|replace|symlink|link|chmod|chown|truncate|mkfifo|mknod)\s*\(
    | \bshutil\.\w+\s*\( | \btempfile\.(?!TemporaryFile\b)\w+\s*\( | \bos\.O_(?:CREAT|TRUNC)\b
    | \bopen\([^()\n]*,\s*(?:mode=)?["'][rb]*[wax+]
    | \.(?:unlink|rmdir|mkdir|touch|write_bytes|write_text|symlink_to|hardlink_to)\(
    """,
    re.VERBOSE,
)


def check(root):
    problems = []
    for file in sorted((root / "python/tare").rglob("*.py")):
        text = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), file.read_text(encoding="utf-8"))
        for call in PYTHON_CALLS.finditer(text):
            line = text.count("\n", 0, call.start()) + 1
            problems.append(f"{file}:{line}: {call[0].strip()}: names are changed by the extension, with io::Directory, only")
    sources = [file for folder in ("src", "python/src") for ending in ("*.hpp", "*.cpp") for file in (root / folder).rglob(ending)]
    for file in sorted(sources):
        if file.relative_to(root).as_posix() == PRIMITIVE:
            continue
        text = COMMENT.sub(lambda comment: " " * len(comment[0]), file.read_text(encoding="utf-8"))
        for call in CALLS.finditer(text):
            line = text.count("\n", 0, call.start()) + 1
            problems.append(f"{file}:{line}: {call[0].strip()}: names are changed by io::Directory only")
        own_path = file.relative_to(root).as_posix()
        opened = None if own_path in OPENS or own_path.startswith("src/cli/") or file.suffix == ".hpp" else OPEN.search(text)
        if opened:
            problems.append(f"{file}:{text.count(chr(10), 0, opened.start()) + 1}: opens a path: use io::open_beside, or say in OPENS of "
                            "tools/file_calls.py how it knows that no link leads out of the model's directory")
    return problems


def selftest():
    wrong = """::rename(a, b)  ::mkdir(a, 0777)  ::unlink(a)  ::rmdir(a)  ::link(a, b)  ::symlink(a, b)  ::chmod(a, 0)
        ::renameat(d, a, d, b)  ::renameat2(d, a, d, b, 0)  ::mkdirat(d, a, 0)  ::unlinkat(d, a, 0)  ::linkat(d, a, d, b, 0)
        ::mkdtemp(a)  mkstemp(a)  ::open(a,O_CREAT|O_RDWR)  ::openat(d,a,O_TMPFILE)  ::open(a,O_WRONLY|O_TRUNC)
        fs::remove(a)  fs::remove_all(a)  std::filesystem::rename(a, b)  fs::create_directories(a)  fs::create_symlink(a, b)
        std::filesystem::copy_file(a, b)  std::ofstream(a)  std::rename(a, b)  ::fopen(a, b)  ::truncate(a, 0)"""
    right = """std::remove(v.begin(), v.end(), 0)  ::ftruncate(fd, 0)  ::fchmod(fd, 0)  directory.rename(a, to, b)
        tree.remove_file(a)  ::open(a, O_RDONLY)  // ::rename(a, b)
        std::filesystem::is_directory(a)  relink(a)  fs::read_symlink(a)"""
    cases = [(piece.strip(), True) for line in wrong.split("\n") for piece in line.split("  ") if piece.strip()]
    cases += [(right, False), ("open_file(path)", True), ("sources.open_file(path)", False)]
    for text, bad in cases:
        with tempfile.TemporaryDirectory() as directory:
            for name in ("src/io/a.cpp", PRIMITIVE):
                file = pathlib.Path(directory, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n", encoding="utf-8")
            found = check(pathlib.Path(directory))
            if len(found) != bad:
                sys.exit(f"{text}: {'one problem' if bad else 'nothing'} expected, found {found}")
    python = """os.makedirs(a)  os.remove(a)  os.rmdir(a)  os.rename(a, b)  os.replace(a, b)  os.symlink(a, b)  shutil.rmtree(a)
        tempfile.mkdtemp()  os.open(a, os.O_CREAT)  open(a, "wb")  open(a, mode="x")  builtins.open(a, "r+b")  path.unlink()"""
    fine = """os.open(a, os.O_TMPFILE)  tempfile.TemporaryFile(dir=a)  open(a, "rb")  open(a)  writer.write(a, "w")  os.remove  # os.remove(a)"""
    cases = [(piece.strip(), True) for line in python.split("\n") for piece in line.split("  ") if piece.strip()]
    for text, bad in [*cases, (fine, False)]:
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "python/tare/a.py")
            file.parent.mkdir(parents=True)
            file.write_text(text + "\n", encoding="utf-8")
            found = check(pathlib.Path(directory))
            if len(found) != bad:
                sys.exit(f"{text}: {'one problem' if bad else 'nothing'} expected, found {found}")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "names are changed in one place only")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
