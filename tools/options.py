#!/usr/bin/env python3
"""The options of conversions are in one table, src/options/conversion.hpp: counts the other files that spell one, and writes what
is made of the table for Python.

    tools/options.py --count [ROOT]     prints each file that spells an option and need not; exit 1 if there is one
    tools/options.py MODULE             writes the keywords in python/tare/__init__.pyi and the tables in docs/python-api.md
    tools/options.py --check MODULE     exit 1, saying where, if that would change one
    tools/options.py --selftest         shows that every check can fail

MODULE is the folder of the built package (build/release/python). What is between the lines `# options` and `# end of options` of the
stub, and between `<!-- options -->` or `<!-- functions -->` and `<!-- end -->` on the page, is replaced.
"""

import difflib
import importlib
import inspect
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUB, PAGE = "python/tare/__init__.pyi", "docs/python-api.md"

# ---- the count: an option is its row

TABLE = "src/options/conversion.hpp"
# The files that made a copy of each option before there was the table. What each may spell has a reason.
COPIES = {
    "src/cli/options.hpp": ("match skip no-mmap max-expansion threads json", "other verbs have them"),
    "src/cli/options.cpp": ("match skip verbose", "verbs that list tensors; --quiet excludes it"),
    "src/cli/quantize_recipe.cpp": ("method importance embeddings head keep", "they depend on the model and on each other"),
    "src/cli/verbs/convert.cpp": ("to dialect force json dtype quant overflow", "where and how OUT can be written; one needs another"),
    "src/cli/verbs/quantize.cpp": ("method keep to json explain importance measure", "which of them an error is about; what is run besides; keys of the result"),
    "src/cli/verbs/append.cpp": ("json", "how the result is shown"),
    "src/cli/verbs/plan.cpp": ("force json", "they are of the plan itself"),
    "src/cli/verbs/task.cpp": ("threads json", "they are of the task itself"),
    "python/src/options.cpp": ("", ""),
    "python/tare/_options.py": ("zstd no-zstd quant method", "two exclude each other; the keys of one are options"),
    "python/tare/_plan.py": ("threads merge quant importance force", "a task has its own; paths become absolute"),
    "python/tare/_work.py": ("method bits rules to set dtype max-expansion no-mmap threads", "functions have parameters of that name"),
    "python/tare/_writer.py": ("set force", "a parameter; a file without a name becomes the target"),
    STUB: ("to set force attach max-expansion no-mmap threads method dtype overflow", "functions have parameters of that name"),
}
ROW = re.compile(r"\n    \{(\.[^\n]*(?:\n(?!    \{|\};)[^\n]*)*)")
REGION = re.compile(r"^ *# options\n(.*?)^ *# end of options\n", re.MULTILINE | re.DOTALL)


def rows_of(table):
    """[(name, keyword)] of the rows."""
    found = []
    for row in ROW.findall(table[table.index("kConversionOptions[] = {") :]):
        name = (re.search(r'\.name = "([^"]+)"', row) or [None, ""])[1]
        keyword = (re.search(r'\.python = "(\w+)"', row) or [None, name.replace("-", "_")])[1]
        found.append((name or keyword, keyword))
    return found


def spells(path, text, name, keyword):
    if path.endswith((".cpp", ".hpp")):
        return f'"{name}"' in re.sub(r"//[^\n]*|\bname = \"[^\"]*\"", "", text)
    # As a parameter, as an argument or as a key.
    return re.search(rf"""["']{keyword}["']|(?<![\w.]){keyword}(?:=(?!=)|: )""", re.sub(r'"""(?s:.*?)"""|#[^\n]*', "", REGION.sub("", text)))


def count(root):
    rows = rows_of((root / TABLE).read_text(encoding="utf-8"))
    if not rows:
        return [f"{TABLE}: no rows found"]
    problems = []
    for path, (known, _) in COPIES.items():
        text = (root / path).read_text(encoding="utf-8")
        spelled = {name for name, keyword in rows if spells(path, text, name, keyword)}
        problems += [f"{path}: spells {name}, which is a row of {TABLE}" for name in sorted(spelled - set(known.split()))]
        problems += [f"tools/options.py: {path} does not spell {name} any more" for name in sorted(set(known.split()) - spelled)]
    return problems


# ---- what is made of the table


def of_function(tare, options, function):
    """{keyword: kind} of what the table gives to a function."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    kinds = {keyword: kind for keyword, _, _, kind, _ in tare._tare.options}
    return {name: kinds[name] for name in inspect.signature(function).parameters if name in kinds and name not in own}


def stub_of(text, tare, options):
    def fill(region):
        name = re.findall(r"^( *)def (\w+)\(", text[: region.start()], re.MULTILINE)[-1]
        of_class = re.findall(r"^class (\w+)", text[: region.start()], re.MULTILINE)[-1] if name[0] else None
        function = getattr(tare, of_class).__init__ if of_class else getattr(tare, name[1])
        indent = name[0] + "    "
        lines = [
            f"{indent}{keyword}: {options.KINDS[kind][1]} = {options.KINDS[kind][0]!r},\n"
            for keyword, kind in of_function(tare, options, function).items()
        ]
        return f"{indent}# options\n{''.join(lines)}{indent}# end of options\n"

    return REGION.sub(fill, text)


def page_of(text, tare):
    from verbs import prose

    who = {"save": "all", "convert": "`convert`, `plan`, `quantize`", "recipe": "`quantize`, and keys of `quant`", "": ""}
    table = ["| keyword | of | the command's | what it does |", "| --- | --- | --- | --- |"]
    for keyword, option, functions, _, what in tare._tare.options:
        words = prose(what) if keyword else f"in Python: {f'`{what}`' if '=' in what else what}"
        table.append(f"| {f'`{keyword}`' if keyword else '-'} | {who[functions]} | {f'`--{option}`' if option else '-'} | {words} |")
    listed = ["| function | what it does |", "| --- | --- |"]
    for name in sorted({*tare.__all__, *tare._LAZY_NAMES}):
        if inspect.isfunction(function := getattr(tare, name)):
            listed.append(f"| `tare.{name}` | {' '.join(inspect.getdoc(function).split(chr(10) * 2)[0].split()).replace('|', chr(92) + '|')} |")
    for marker, lines in (("options", table), ("functions", listed)):
        text = re.sub(rf"(<!-- {marker} -->\n).*?(<!-- end -->)", lambda m: m[1] + "\n".join(lines) + "\n" + m[2], text, flags=re.DOTALL)
    return text


def selftest():
    row = '{.name = "no-thing",\n     .help = "x",\n     .python = "thing"},\n    {.name = "other"}'
    assert rows_of(f"kConversionOptions[] = {{\n    {row},\n}};\n") == [("no-thing", "thing"), ("other", "other")]
    plain = {path: " ".join(f'has("{name}")' for name in known.split()) for path, (known, _) in COPIES.items()}
    table = (ROOT / TABLE).read_text(encoding="utf-8")
    words = dict(rows_of(table))
    for path, (known, _) in COPIES.items():
        if not path.endswith("pp"):
            plain[path] = " ".join(f'"{words[name]}"' for name in known.split())
    for change, expected in [
        ({}, 0),
        ({"src/cli/options.cpp": '"match" "skip" "verbose" "dedup"'}, 1),
        ({"src/cli/options.cpp": '"match" "skip"'}, 1),
        ({"src/cli/options.cpp": '"match" "skip" "verbose" // "dedup"'}, 0),
        ({"python/src/options.cpp": 'flag("dedup")'}, 1),
        ({"python/tare/_writer.py": '"metadata" "overwrite" f(no_zstd=1)'}, 1),
        ({STUB: plain[STUB] + "\n    # options\n    dedup: bool = False,\n    # end of options\n"}, 0),
        ({STUB: plain[STUB] + "\n    dedup: bool = False,\n"}, 1),
    ]:
        with tempfile.TemporaryDirectory() as directory:
            for name, text in {**plain, TABLE: table, **change}.items():
                file = pathlib.Path(directory, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n", encoding="utf-8")
            found = count(pathlib.Path(directory))
            if len(found) != expected:
                sys.exit(f"{change}: expected {expected} problems, found {found}")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    if arguments[:1] == ["--count"]:
        problems = count(pathlib.Path(arguments[1]) if arguments[1:] else ROOT)
        print("\n".join(problems) if problems else f"an option is a row of {TABLE}")
        sys.exit(bool(problems))
    sys.path.insert(0, arguments[-1])
    tare, options = importlib.import_module("tare"), importlib.import_module("tare._options")
    stale = []
    for name, make in ((STUB, lambda text: stub_of(text, tare, options)), (PAGE, lambda text: page_of(text, tare))):
        old = (ROOT / name).read_text(encoding="utf-8")
        new = make(old)
        if old == new:
            continue
        if arguments[0] == "--check":
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "generated"))
            stale.append(name)
        else:
            (ROOT / name).write_text(new, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)}: stale, run `make readme`")


if __name__ == "__main__":
    main(sys.argv[1:])
