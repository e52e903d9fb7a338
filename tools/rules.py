#!/usr/bin/env python3
"""Every rule id that the sources raise is explained in the documents.

A rule id is a text such as "convert.room" in the sources. ALT's readers and writers leave out the format's name, which
is put in front at run time: their "token.id" is alt.token.id or alt1.token.id. Layouts do so too: "csr.order" is
zt.csr.order where verify finds it in that container, and csr.order where a tensor is decoded; the documents have to
explain one of them. Ids that are put together from parts are not looked at.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = ("alt arch blob bpe cast cbor cli codec config convert diff hf importance io json mcf npy npz open protobuf "
            "quantize rows safetensors slice stats tllm tokenizer verify vocabulary zip zstd zt").split()
LAYOUTS = "bool coo csr data dense digest group layout packed qint quant type".split()
ALT = "dialect end magic parameters section string tensor tensors token tokenizer write".split()
CONTAINERS = "alt alt1 mcf npy npz safetensors tllm zt".split()
# Texts of the same form that are something else: files, keys of metadata, layouts, methods, and what stands in front of
# the ids that safetensors puts together.
OTHERS = set("""
    alt.c alt.qint4 alt.qint8 alt.seq_len config.json config.table
    mcf.arch mcf.base_model mcf.flags mcf.header mcf.int4 mcf.int8 mcf.k2 mcf.k3 mcf.k4 mcf.k6 mcf.minor mcf.model_name
    mcf.q4 mcf.q8 mcf.rope_scale mcf.rope_type mcf.train_context packed.f4_e2m1 packed.f6_e2m3 packed.f6_e3m2
    safetensors.header safetensors.index tllm.dropout tllm.max_sequence_length tllm.num_heads tokenizer.json
    zt.group zt.group4 zt.keys
""".split())


def ids_in(path: pathlib.Path) -> list[tuple[str, list[str]]]:
    """The rules of a source file, each with the ids of which one has to be explained."""
    is_alt = path.parent.as_posix().endswith("formats/alt")
    found = []
    for rule in re.findall(r'"([a-z0-9]+(?:\.[a-z0-9_]+)+)"', path.read_text()):
        family = rule.split(".")[0]
        if rule in OTHERS:
            continue
        if is_alt and family in ALT:
            found.append((rule, [f"alt.{rule}", f"alt1.{rule}"]))
        elif family in LAYOUTS:
            found.append((rule, [rule] + [f"{name}.{rule}" for name in CONTAINERS]))
        elif family in FAMILIES:
            found.append((rule, [rule]))
    return found


def main() -> int:
    documents = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    explained = set(re.findall(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+", documents))
    raised, missing = set(), {}
    for path in sorted((ROOT / "src").rglob("*.[ch]pp")):
        for rule, ids in ids_in(path):
            raised.add(rule)
            if explained.isdisjoint(ids):
                missing.setdefault(rule, path.relative_to(ROOT))
    for rule, path in sorted(missing.items()):
        print(f"{path}: {rule} is in no document under docs/")
    if not missing:
        print(f"{len(raised)} rules, all in the documents")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
