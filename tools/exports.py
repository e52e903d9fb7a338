#!/usr/bin/env python3
"""A shared libtare exports what its public headers mark with TARE_API, all of it and nothing else.

    tools/exports.py LIBRARY     prints what should not be exported, and what should be and is not; exit 1 if there is any
    tools/exports.py --selftest  shows that both can fail
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# "class TARE_API Name", "TARE_API Type name(" and "operator==".
CLASS = re.compile(r"\b(?:class|struct) TARE_API (\w+)")
FUNCTION = re.compile(r"\bTARE_API\b[^;{(]*?\b(\w+|operator==)\(")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
PREFIX = re.compile(r"^(?:vtable for |typeinfo for |typeinfo name for |guard variable for )")


def promised(header):
    """The names that a header marks, with their namespace."""
    text = re.sub(r"//[^\n]*", "", header)
    space = NAMESPACE.search(text)
    names = set(CLASS.findall(text)) | set(FUNCTION.findall(text))
    return {f"{space[1]}::{name}" for name in names} if space else set()


def exported(symbols):
    """The class or function at namespace scope of each demangled symbol, with the symbol."""
    found = {}
    for symbol in symbols:
        bare = PREFIX.sub("", symbol)
        # A template begins with its result: the name is the last word before the arguments that is in a namespace.
        name = re.match(r"(?:[^(]*\s)?((?:\w+::)+(?:operator==|\w+))", re.sub(r"\(anonymous namespace\)", "anonymous", bare))
        found.setdefault(name[1] if name else bare, symbol)
    return found


def problems_of(headers, symbols):
    names = set().union(*map(promised, headers))
    found = exported(symbols)
    member = lambda name: any("::".join(name.split("::")[:n]) in names for n in range(2, name.count("::") + 2))
    unwanted = [f"exported, and not marked with TARE_API: {symbol}" for name, symbol in found.items() if not member(name)]
    covered = {"::".join(name.split("::")[:n]) for name in found for n in range(2, name.count("::") + 2)}
    return sorted(unwanted) + [f"marked with TARE_API, and not exported: {name}" for name in sorted(names - covered)]


def selftest():
    header = """
namespace tare {
class TARE_API Error : public std::runtime_error {};
[[nodiscard]] TARE_API Model open(const std::string& path,
                                  int options = {});
struct Plain { friend TARE_API bool operator==(const Plain& a, const Plain& b); };
template <typename T> TARE_API Tensor dense(std::vector<T> values);
}
"""
    good = ["tare::Error::what() const", "vtable for tare::Error", "tare::open(std::string const&, int)",
            "tare::operator==(tare::Plain const&, tare::Plain const&)",
            "tare::Tensor tare::dense<float>(std::vector<float, std::allocator<float> >)"]
    cases = [(good, 0), (good[1:2] + good[2:], 0), (good[:3], 2), (good + ["tare::io::Place::Place()"], 1),
             (good + ["std::vector<int>::push_back(int)"], 1), (good + ["main"], 1), (good + ["tare::opened()"], 1),
             (good + ["std::vector<float> tare::Error::values<float>(unsigned long) const"], 0)]
    for symbols, count in cases:
        found = problems_of([header], symbols)
        if len(found) != count:
            sys.exit(f"{symbols}: {count} problems expected, found {found}")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    headers = [path.read_text() for path in sorted((ROOT / "include").rglob("*.hpp")) if path.name != "export.hpp"]
    table = subprocess.run(["nm", "-D", "-C", "--defined-only", arguments[0]], check=True, capture_output=True, text=True)
    symbols = [line.split(" ", 2)[2] for line in table.stdout.splitlines()]
    problems = problems_of(headers, symbols)
    print("\n".join(problems) if problems else f"{len(symbols)} symbols, all of them public")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
