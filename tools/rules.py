#!/usr/bin/env python3
"""Every rule id that the sources raise is explained in the documents.

    tools/rules.py               prints each one that is not; exit 1 if there is one
    tools/rules.py --selftest    shows that it can fail

A rule id is a text such as "convert.room" in the sources; its first word is a family. Families are the containers (the
folders of src/formats, and the names of their rows) and whatever an Error is raised with: a new one needs no edit here. A
container's readers and writers may leave its name out where it is put in front at run time: "token.id" of formats/alt is
alt.token.id or alt1.token.id. Layouts do so too: "csr.order" is zt.csr.order where verify finds it in that container, and
csr.order where a tensor is decoded; the documents have to explain one of them. Ids that are put together from parts are
not looked at, but for the ones of formats/fits.cpp, which every writer may raise: "FORMAT.write.room".
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYOUTS = "bool coo csr data dense digest group layout pack packed qint quant type".split()
ID = r'"([a-z0-9]+(?:\.[a-z0-9_]+)+)"'
RAISED = re.compile(r"ErrorKind::\w+,\s*" + ID)
# Helpers that put the container's name in front.
SHORT = re.compile(r"\b(?:complain|fail|warn|note|error|refuse|throw_\w+)\(\s*" + ID)
FIT = re.compile(r'error\("([a-z]+)"')
# Texts of the same form that are something else: files, keys of metadata, layouts, methods, and the beginnings of
# the ids that safetensors puts together.
OTHERS = set("""
    alt.c alt.qint4 alt.qint8 alt.seq_len config.json
    mcf.arch mcf.base_model mcf.flags mcf.header mcf.int4 mcf.int8 mcf.k2 mcf.k3 mcf.k4 mcf.k6 mcf.minor mcf.model_name
    mcf.q4 mcf.q8 mcf.rope_scale mcf.rope_type mcf.train_context packed.f4_e2m1 packed.f6_e2m3 packed.f6_e3m2
    safetensors.header safetensors.index tllm.dropout tllm.max_sequence_length tllm.num_heads tokenizer.json
    torch._dynamo torch._inductor torch._metadata torch._tensor torch._utils torch.distributed.checkpoint.filesystem
    torch.distributed.checkpoint.metadata torch.fx torch.hub torch.jit torch.nn torch.nn.parameter
    torch.serialization torch.sparse_coo torch.sparse_csr torch.storage torch.tensor torch.utils.cpp_extension
    zt.group zt.group4 zt.keys
""".split())


def rows(root: pathlib.Path) -> dict[str, list[str]]:
    """The names of the rows in each folder of a container."""
    found = {}
    for folder in sorted((root / "src/formats").glob("*/")):
        texts = "".join(path.read_text() for path in sorted(folder.glob("*.cpp")))
        found[folder.name] = re.findall(r'\.name = "([a-z0-9_]+)"', texts) or [folder.name]
    return found


def ids_in(text: str, names: list[str], families: set[str], containers: list[str]) -> list[tuple[str, list[str]]]:
    """The rules of a source file, each with the ids of which one has to be explained. `names`: of the rows it belongs to."""
    short = set(SHORT.findall(text)) if names else set()
    found = []
    for rule in re.findall(ID, text):
        family = rule.split(".")[0]
        if rule in OTHERS:
            continue
        if rule in short and family not in containers:
            found.append((rule, [rule] + [f"{name}.{rule}" for name in names]))
        elif family in LAYOUTS:
            found.append((rule, [rule] + [f"{name}.{rule}" for name in containers]))
        elif family in families:
            found.append((rule, [rule]))
    return found


def check(root: pathlib.Path) -> tuple[set[str], dict[str, pathlib.Path]]:
    """All rules, and those that are not explained with the file that raises them."""
    documents = "\n".join(path.read_text() for path in sorted((root / "docs").rglob("*.md")))
    explained = set(re.findall(r"[A-Za-z0-9_]+(?:\.[a-z0-9_]+)+", documents))
    folders = rows(root)
    containers = [name for names in folders.values() for name in names]
    sources = {path: path.read_text() for path in sorted((root / "src").rglob("*.[ch]pp"))}
    families = {*containers, *folders}
    for text in sources.values():
        families.update(rule.split(".")[0] for rule in RAISED.findall(text))
    raised, missing = set(), {}
    for path, text in sources.items():
        inside = path.relative_to(root / "src").parts
        names = folders.get(inside[1], []) if inside[0] == "formats" else []
        ids = ids_in(text, names, families, containers)
        if inside == ("formats", "fits.cpp"):
            ids += [(f"FORMAT.write.{rule}", [f"FORMAT.write.{rule}"]) for rule in FIT.findall(text)]
        for rule, any_of in ids:
            raised.add(rule)
            if explained.isdisjoint(any_of):
                missing.setdefault(rule, path.relative_to(root))
    return raised, missing


def selftest() -> None:
    for path, text, expected in [
        ("src/io/a.cpp", 'throw Error(ErrorKind::io, "fresh.thing", "words");', ["fresh.thing"]),
        ("src/io/a.cpp", 'throw Error(ErrorKind::io, "known.thing", "words");', []),
        ("src/io/a.cpp", 'warn("fresh.thing");  // no such family', []),
        ("src/formats/toy/toy.cpp", '.name = "toy", warn("toy.thing");', ["toy.thing"]),
        ("src/formats/toy/toy.cpp", '.name = "toy", complain("token.id", 3);', ["token.id"]),
        ("src/formats/toy/toy.cpp", '.name = "toy", complain("known.id", 3);', []),
        ("src/codecs/a.cpp", 'return Problem{"csr.thing"};', ["csr.thing"]),
        ("src/formats/fits.cpp", 'throw error("room", words);', ["FORMAT.write.room"]),
    ]:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, content in ((path, text), ("docs/rules.md", "`known.thing` `toy.known.id`")):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            found = sorted(check(root)[1])
            if found != expected:
                sys.exit(f"{path} with {text}: {expected} expected, found {found}")


def main() -> int:
    if sys.argv[1:] == ["--selftest"]:
        selftest()
        return 0
    raised, missing = check(ROOT)
    for rule, path in sorted(missing.items()):
        print(f"{path}: {rule} is in no document under docs/")
    if not missing:
        print(f"{len(raised)} rules, all in the documents")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
