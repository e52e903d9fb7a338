#!/usr/bin/env python3
"""Seeds for the fuzz targets that take every kind of file (verbs) and every kind of directory (sets).

    fuzz/seeds.py OUT [--sample] [--size N]

They are what the builders in tests/bounds/worst make, which ask for all that a file of so many bytes can ask for, N (3000)
bytes each, and the files and directories of the other targets' corpora. Each comes with one verb, in turn, because all of them
would take a fuzzer minutes before it begins; its mutators choose others. The seeds are made anew for every run and are not in the
tree: a new builder is a new seed. --sample: only a few that once cost too much, and one of every 25 others, with all verbs, for a
test that replays them with sanitizers."""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HOME.parent / "tests" / "bounds"))
import worst  # noqa: E402

MOST = 65000  # bytes of an input; libFuzzer's -max_len is a little more
LINK = 0x800000
TARGETS = ("verbs", "sets")
SAMPLE = {
    "torch_states_of_one_object", "torch_states_of_one_object_deflated", "torch_keys_without_names_deflated",
    "torch_globals_after_an_error_deflated", "torch_lists_deflated", "distributed_lists_deflated", "distributed_texts_deflated",
    "distributed_entries_of_one_tensor", "index_torch_shards_deflated", "index_shards_with_trees", "gguf_many_arrays",
    "gguf_padding", "npz_one_local_header", "zt2_attributes_of_objects", "zt_broken_components_of_a_long_name", "adapter_rank_pattern",
    "config_counts_all_llama_2000000000", "files_modules_many", "tokenizer_far_ids"}


def names():
    """The table of names in set.hpp."""
    text = (HOME / "set.hpp").read_text()
    return re.findall(r'"([^"]+)"', text[text.index("kSetNames[] = {"):text.index("};", text.index("kSetNames"))])


def entry(table, name, content, link=False):
    assert len(content) < LINK, name
    row = bytes([table.index(name)]) if name in table else bytes([255, len(name.encode())]) + name.encode()
    return row + (len(content) | (LINK if link else 0)).to_bytes(3, "little") + content


def packed(table, home, opened):
    """The files below a folder as one input (set.hpp) without its first byte; `opened`: what a verb is given."""
    files, links = [], []
    for at, folders, found in os.walk(home):
        for name in sorted(folders + found):
            path = pathlib.Path(at, name)
            relative = str(path.relative_to(home))
            if path.is_symlink():
                links.append((relative, os.readlink(path).encode()))
            elif path.is_file():
                files.append((relative, path.read_bytes()))
    place = 0 if opened == home else 1 + [name for name, _ in files].index(str(opened.relative_to(home)))
    if place > 255:
        return b""
    return bytes([place]) + b"".join(entry(table, *file) for file in files) + b"".join(
        entry(table, *link, link=True) for link in links)


class Seeds:
    def __init__(self, out, every_verb):
        self.out, self.every_verb, self.count = out, every_verb, 0
        for target in TARGETS:
            shutil.rmtree(out / target, ignore_errors=True)
            (out / target).mkdir(parents=True)

    def add(self, target, name, content):
        if 0 < len(content) < MOST:
            self.count += 1
            verb = 0 if self.every_verb else 1 + self.count % 255
            (self.out / target / name).write_bytes(bytes([verb]) + content)


def add_worst(seeds, table, size, sample):
    assert SAMPLE <= worst.CASES.keys(), SAMPLE - worst.CASES.keys()
    for number, (name, case) in enumerate(worst.CASES.items()):
        if sample and name not in SAMPLE and (number % 25 or not case.quick):
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                built = pathlib.Path(case.build(directory, size))
            except ValueError:  # a builder that has no file of so few bytes
                continue
            found = [path for path in pathlib.Path(directory).rglob("*") if not path.is_dir()]
            if len(found) == 1 and built == found[0] and not built.is_symlink():
                seeds.add("verbs", "worst." + name, built.read_bytes())
            else:
                home = built if built.is_dir() else built.parent
                seeds.add("sets", "worst." + name, packed(table, home, built))


def add_corpora(seeds, table):
    formats = set(re.findall(r"&(\w+)::kFormat|(\w+)::kFormat", (HOME.parent / "src/formats/registry.cpp").read_text()))
    for folder in sorted({name for pair in formats for name in pair if name} | {"hf"}):
        for path in sorted((HOME / "corpus" / folder).glob("*")):
            if path.is_dir():
                roots = [found for found in path.glob("*") if found.stem == "root" or found.name == "model.zt"]
                seeds.add("sets", f"{folder}.{path.name}", packed(table, path, roots[0] if roots else path))
            else:
                seeds.add("verbs", f"{folder}.{path.name}", path.read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--size", type=int, default=3000)
    options = parser.parse_args()
    seeds = Seeds(options.out, every_verb=options.sample)
    table = names()
    add_worst(seeds, table, options.size, options.sample)
    if not options.sample:
        add_corpora(seeds, table)
    for target in TARGETS:
        found = [path.stat().st_size for path in (options.out / target).iterdir()]
        print(f"{target}: {len(found)} inputs, {sum(found):,} bytes")


if __name__ == "__main__":
    main()
