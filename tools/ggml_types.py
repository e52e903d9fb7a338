#!/usr/bin/env python3
"""Counts the files that know one of ggml's block types, and checks that its sizes and numbers are in one table.

    tools/ggml_types.py [ROOT]       prints each place that breaks a rule; exit 1 if there is one
    tools/ggml_types.py --selftest   shows that every rule can fail

A type is its row in the table, its formula and its expansion: three files (a type of codewords: four). What not every type has (a
method, a kernel, a profile, ...) is in the files of OPTIONAL. Any other file under src/ looks types up in the table.
"""

import pathlib
import re
import sys
import tempfile

TABLE = "src/codecs/ggml/type_table.hpp"
FORMULAS = ["src/codecs/ggml/blocks32.cpp", "src/codecs/ggml/blocks256.cpp", "src/codecs/ggml/blocks_grids.cpp"]
EXPANSIONS = ["src/codecs/ggml/simd_expand.hpp", "src/codecs/ggml/simd_expand_grids.hpp"]
OPTIONAL = {
    "src/codecs/ggml/encode": "the encoder of a type that has a method",
    "src/codecs/ggml/simd_rows.cpp": "a faster decoder",
    "src/codecs/ggml/simd_dot8.cpp": "a faster product",
    "src/device/decodes.cpp": "has a kernel",
    "src/device/kernels.cu": "the kernel",
    "src/formats/zt2/layouts.cpp": "has a profile",
    "src/formats/gguf/llama_cpp/file_type.cpp": "numbers of mixes, which are called after types",
    "src/convert/mixes.cpp": "mixes choose types",
    "src/cli": "examples in the help",
    "src/view/palette.cpp": "a colour that differs from that of other types with as many bits",
    "src/formats/gguf/llama_cpp/verbs/repack.cpp": "writes and reads blocks of one type in the order of another program",
    "src/codecs/packs": "MXFP4 and NVFP4 are also what other programs call their arrays",
}
ROW = re.compile(r'\{Type::(\w+),\s*"ggml\.\w+",\s*(\d+),\s*(\d+),')
COMMENT = re.compile(r"//[^\n]*")


def names_of(name):
    """The type's name, also as a part of an identifier: decode_q4_0."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:[a-z]+_)*{name}(?![A-Za-z0-9_])")


def check(root):
    rows = ROW.findall((root / TABLE).read_text(encoding="utf-8"))
    if not rows:
        return [f"{TABLE}: no rows found"]
    sources = {}
    for file in sorted(path for ending in ("*.hpp", "*.cpp", "*.cu") for path in (root / "src").rglob(ending)):
        sources[file.relative_to(root).as_posix()] = COMMENT.sub("", file.read_text(encoding="utf-8"))
    problems = []
    for name, weights, size in rows:
        word = names_of(name)
        files = {path for path, text in sources.items() if word.search(text)}
        own = {path for path in files if path in (TABLE, *FORMULAS, *EXPANSIONS)}
        most = 4 if EXPANSIONS[1] in own else 3
        if len(own) > most or not own & set(FORMULAS) or not own & set(EXPANSIONS):
            problems.append(f"{name}: expected its row, its formula and its expansion, found {sorted(own)}")
        for path in sorted(files - own):
            if not any(path.startswith(known) for known in OPTIONAL):
                problems.append(f"{path}: names {name}; look it up in {TABLE}")
        sizes = re.compile(rf"(?<![\w.]){weights}, {size}(?![\w.])")
        for path, text in sources.items():
            if path != TABLE and word.search(text) and sizes.search(text):
                problems.append(f"{path}: repeats the sizes of {name}, {weights} and {size}")
    return problems


def selftest():
    valid = {TABLE: '{Type::q4_0, "ggml.q4_0", 32, 18, f16(0)},', FORMULAS[0]: "void decode_q4_0();", EXPANSIONS[0]: "Type::q4_0"}
    cases = [
        ({}, 0),
        ({"src/codecs/ggml/encode.cpp": "encode_q4_0"}, 0),
        ({"src/inspect/a.cpp": "// q4_0\nxq4_0; q4_0_x; q4_00"}, 0),
        ({"src/inspect/a.cpp": '"ggml.q4_0"'}, 1),
        ({"src/formats/zt2/layouts.cpp": '{"q4_0", 32, 18}'}, 1),
        ({FORMULAS[0]: ""}, 1),
        ({FORMULAS[1]: "decode_q4_0"}, 1),
        ({TABLE: ""}, 1),
    ]
    for change, expected in cases:
        with tempfile.TemporaryDirectory() as directory:
            for name, text in {**valid, **change}.items():
                file = pathlib.Path(directory, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n", encoding="utf-8")
            found = check(pathlib.Path(directory))
            if len(found) != expected:
                sys.exit(f"{change}: expected {expected} problems, found {found}")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "a type of ggml's is its row, its formula and its expansion")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
