#!/usr/bin/env python3
"""Writes a page for each verb of the command, docs/verbs/VERB.md, from its own help and from examples that are run.

    tools/verbs.py TARE            writes the pages, and their index docs/verbs/README.md
    tools/verbs.py --check TARE    exit 1, saying where, if that would change one
    tools/verbs.py --selftest      shows that the check can fail

TARE is the built command. EXAMPLES below has the lines to run for each verb, in a directory that `tare demo .` has filled; a verb
without lines is an error. Options that many verbs share are described once, in the index.
"""

import collections
import difflib
import pathlib
import re
import sys
import tempfile

import schema
from readme import ROOT, output_of

FOLDER = ROOT / "docs" / "verbs"
# For each verb: lines that are run, and pages with more about it.
EXAMPLES = {
    "info": (["tare info mistral.zt | head -9"], ["guide/look.md", "remote.md", "stores.md"]),
    "ls": (["tare ls mistral --sort size | head -4", "tare ls mistral --match '*norm*' --json | head -c 300"], ["guide/look.md", "remote.md", "stores.md", "json.md"]),
    "show": (["tare show mistral model.norm.weight --bins 5"], ["guide/look.md"]),
    "cat": (["tare cat mistral lm_head.weight --slice '0, :4' --as f32 | od -A n -t f4", "tare cat mistral model.norm.weight --as npy -o norm.npy"],
            ["recipes.md#one-tensor-into-numpy"]),
    "extract": (["tare extract mistral", "tare extract mistral generation_config.json"], ["guide/edit.md"]),
    "meta": (["tare meta mistral.zt", "tare meta mistral.zt --set author=me --dry-run", "tare meta mistral.zt --set author=me"],
             ["guide/edit.md#metadata-and-tokens", "cli.md#metadata"]),
    "vocab": (["tare vocab mistral | head -4", "tare vocab mistral '<s>' --id 2"], ["guide/edit.md#metadata-and-tokens"]),
    "tokens": (["tare tokens mistral 'Hello, world'", "tare tokens mistral 'Hello' --pieces"], ["guide/edit.md#metadata-and-tokens"]),
    "convert": (["tare convert mistral half.npz --dtype f16", "tare convert mistral model.gguf -q"], ["guide/convert.md", "convert.md", "adapters.md"]),
    "quantize": (["tare quantize mistral small.mcf --method k4", "tare quantize mistral budget.gguf --bits 6.5 -q"],
                 ["guide/quantize.md", "quantization.md"]),
    "append": (["tare append mistral.zt demo.npy", "tare ls mistral.zt --match demo"], ["guide/edit.md"]),
    "plan": (["tare plan job.json --tasks 3 -- mistral big.gguf --quant q8_0"], ["recipes.md#convert-on-a-cluster"]),
    "task": (["tare plan job.json --tasks 3 -q -- mistral big.gguf --quant q8_0 > /dev/null", "seq 0 2 | xargs -n 1 tare task job.json"],
             ["recipes.md#convert-on-a-cluster"]),
    "finish": (["tare plan job.json --tasks 3 -q -- mistral big.zt > /dev/null", "seq 0 2 | xargs -n 1 tare task job.json -q", "tare finish job.json"],
               ["recipes.md#convert-on-a-cluster"]),
    "verify": (["tare verify mistral demo.zt", "head -c 50000 demo.zt > cut.zt", "tare verify cut.zt || echo \"exit code $?\""],
               ["guide/look.md#check", "rules.md"]),
    "hash": (["tare hash mistral mistral.zt"], ["recipes.md#split-into-shards-and-join-them"]),
    "diff": (["tare diff mistral k4.mcf --tensors --match '*layers.0.mlp*' || echo \"exit code $?\"", "tare diff mistral mistral.zt --tensors"],
             ["guide/look.md#compare", "recipes.md#what-did-quantization-cost"]),
    "compare": (["tare compare mistral mistral.zt"], ["run.md"]),
    "calibrate": (["seq 1 2 95 > ids.txt", "tare calibrate mistral --tokens ids.txt --context 20 -o imatrix.gguf"],
                  ["quantization.md#calibration", "run.md"]),
    "perplexity": (["seq 1 2 95 > ids.txt", "tare perplexity mistral --tokens ids.txt --context 20 | sed -E 's/([.][0-9])[0-9]+/\\1/g'"], ["run.md"]),
    "load": (["tare load mistral --device tpu || echo \"exit code $?\""], ["gpu.md"]),
    "view": (["tare view mistral --json 'tensors?sort=bytes&way=down&count=1'"], ["view.md", "view-api.md"]),
    "report": (["tare report mistral k4.mcf -o cost.html", "tare report mistral --svg treemap -o treemap.svg", "head -c 15 cost.html"], ["view.md#pictures"]),
    "run": (["tare run mistral -p 'the model of this file' -n 8", "tare run demo.tllm --tokens 1,2,3 -n 5"], ["run.md", "tiny-llama.md"]),
    "formats": (["tare formats npy | head -8"], ["formats.md", "layouts.md"]),
    "families": (["tare families qwen3_moe", "tare families MixtralForCausalLM --json"], ["families.md", "formats/gguf-directory.md"]),
    "cache": (["XDG_CACHE_HOME=$PWD/caches tare cache 2>&1 | sed 's/ in .*//'"], ["remote.md#the-cache"]),
    "demo": (["tare demo play | head -6"], ["tour.md"]),
    "version": (["tare version | sed 's/[0-9].*/X.Y.Z/'"], []),
    "help": (["tare help version | head -3"], ["cli.md"]),
}
# What `tare demo .` makes.
FILES = re.compile(r"\b(?:mistral|demo\.|k4\.)")
# Choices that a page of their own describes.
ELSEWHERE = {"--quant METHOD": "a method of [layouts.md](../layouts.md)"}
SHARED = 5  # An option that so many verbs have, with the same words, is described in the index.


def parsed(text):
    """(usage, paragraphs, [(option, what it does)], [(command, meaning)]) of a verb's help."""
    text, _, details = text.partition("\n\nDetails:\n")
    start = re.search(r"\n(?:Options|Most used options):\n", text)
    head, rest = text[: start.start()], text[start.end() :]
    usage, *paragraphs = [*head.split("\n\n"), *details.split("\n\n")]
    options, _, examples = rest.partition("\n\nExample")
    rows = []
    for line in options.splitlines():
        if not line.startswith(" "):  # the heading of a section, or the line before one
            continue
        start = re.match(r"  (?:(-\w), |    )(--\S+(?: \S+)*)(?:   *(.*))?$", line)
        if start:
            name = f"{start[1]}, {start[2]}" if start[1] else start[2]
            rows.append([name, start[3] or ""])
        else:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
    lines = [line for line in examples.splitlines()[1:] if line.strip()]
    return (usage.removeprefix("Usage: "), [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()],
            [tuple(row) for row in rows], [(lines[i].strip(), lines[i + 1].strip()) for i in range(0, len(lines), 2)])


def verbs_of(text):
    """{verb: summary} of `tare help --all`."""
    table = text[text.index("Verbs:\n") :].split("\n\n")[0].splitlines()[1:]
    return {line.split()[0]: re.split(r"  +", line.strip())[-1] for line in table}


def cell(text):
    return re.sub(r"([|*<\[\]_])", r"\\\1", text)


def prose(text):
    """Markdown of a sentence of the help: options and names in code, the rest as it is."""
    def word(match):
        return match[0] if match[0].startswith("`") else f"`{match[0]}`"

    marked = re.sub(r"`[^`]+`|(?<![\w`])--?[a-z][\w-]*(?:=[A-Z]+)?|\*\.\w+|\b[a-z]+\d?_[\w.]+\b|\([*?][^)]*\)", word, text)
    return "".join(part if part.startswith("`") else cell(part) for part in re.split(r"(`[^`]+`)", marked))


def option_rows(options):
    out = ["| option | what it does |", "| --- | --- |"]
    for name, what in options:
        what = f"{prose(what.split(': ')[0])}: {ELSEWHERE[name]}" if name in ELSEWHERE else prose(what)
        out.append(f"| `{name}` | {what} |")
    return out


def page_of(verb, summary, help_text, shared, ran, more):
    usage, paragraphs, options, examples = parsed(help_text)
    own = [option for option in options if option not in shared]
    others = [name for name, what in options if (name, what) in shared]
    out = [f"# tare {verb}", "", f"{prose(summary[0].upper() + summary[1:])}.", "", "```text", usage, "```", ""]
    for paragraph in paragraphs:
        out += [prose(paragraph), ""]
    files = any(FILES.search(line) for line, _ in ran)
    out += ["## Example", "", *(["The files are those of `tare demo .`:", ""] if files else []), "```console"]
    for line, output in ran:
        out += [f"$ {line}", *output.splitlines(), ""]
    out[-1:] = ["```", ""]
    if examples:
        out += ["More, with files of your own:" if files else "More:", "", "```sh"]
        for command, meaning in examples:
            out += [f"{command}   # {meaning}"]
        out += ["```", ""]
    out += ["## Options", ""]
    if own:
        out += [*option_rows(own), ""]
    if others:
        out += ["Also " + ", ".join(f"`{name}`" for name in others) + ": [the same for every verb](README.md#options-of-every-verb).", ""]
    out += schema.of_verb(verb, schema.load())
    links = [f"[{page}](../{page})" for page in more]
    out += ["See also: " + ", ".join([*links, "[all verbs](README.md)"]) + "."]
    return "\n".join(out) + "\n"


def index_of(verbs, shared):
    out = ["# The verbs", "", "`tare help VERB` prints the text of each page, `tare help --all` this list. [The tour](../tour.md) shows the most useful ones in five minutes.", "",
           "| verb | what it does |", "| --- | --- |"]
    out += [f"| [{verb}]({verb}.md) | {prose(summary)} |" for verb, summary in verbs.items()]
    out += ["", "## Options of every verb", "", "Most verbs have these, and they mean the same for all of them. `--json` is described in [json.md](../json.md).", "",
            *option_rows(shared)]
    return "\n".join(out) + "\n"


def pages(tare):
    """{name: text} of every page there should be."""
    with tempfile.TemporaryDirectory() as directory:
        verbs = verbs_of(output_of(tare, "tare help --all", directory))
        helps = {verb: output_of(tare, f"tare help {verb}", directory) for verb in verbs}
    if missing := sorted(set(verbs) ^ set(EXAMPLES)):
        sys.exit(f"tools/verbs.py: EXAMPLES does not have exactly the verbs of the command: {', '.join(missing)}")
    times = collections.Counter(option for text in helps.values() for option in parsed(text)[2])
    shared = [option for option in times if times[option] >= SHARED and not re.search("--(match|skip|force|output|range|merge|shard|verbose)", option[0])]
    made = {"README.md": index_of(verbs, shared)}
    for verb, summary in verbs.items():
        lines, more = EXAMPLES[verb]
        with tempfile.TemporaryDirectory() as directory:
            output_of(tare, "tare demo .", directory)
            ran = [(line, output_of(tare, line, directory)) for line in lines]
        made[f"{verb}.md"] = page_of(verb, summary, helps[verb], shared, ran, more)
    return made


def differences(folder, made):
    """(what differs as lines, names of pages that differ)."""
    old = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    lines, stale = [], []
    for name in sorted(old.keys() | made.keys()):
        if old.get(name) != made.get(name):
            stale.append(name)
            lines += difflib.unified_diff(old.get(name, "").splitlines(True), made.get(name, "").splitlines(True), name, "generated")
    return lines, stale


def selftest():
    text = ("Usage: tare x [OPTION...] FILE\n\nDoes x,\nand y.\n\nSecond.\n\nOptions:\n      --to FORMAT   one\n                    two\n"
            "  -f, --force       replace\n      --method [GLOB=]METHOD\n                    third\n\nExample:\n  tare x a\n      why\n")
    usage, paragraphs, options, examples = parsed(text)
    assert usage == "tare x [OPTION...] FILE" and paragraphs == ["Does x, and y.", "Second."], (usage, paragraphs)
    assert options == [("--to FORMAT", "one two"), ("-f, --force", "replace"), ("--method [GLOB=]METHOD", "third")], options
    assert examples == [("tare x a", "why")], examples
    assert verbs_of("tare: z\n\nVerbs:\n  a FILE...  first thing\n  b          second\n\nend\n") == {"a": "first thing", "b": "second"}
    assert prose("with --dtype: a|b, *.md and `tare x`") == "with `--dtype`: a\\|b, `*.md` and `tare x`", prose("with --dtype: a|b, *.md and `tare x`")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.md").write_text("a\n")
        (folder / "gone.md").write_text("a\n")
        assert differences(folder, {"a.md": "a\n", "gone.md": "a\n"}) == ([], [])
        assert differences(folder, {"a.md": "b\n", "new.md": "c\n"})[1] == ["a.md", "gone.md", "new.md"]


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    made = pages(str(pathlib.Path(arguments[-1]).resolve()))
    lines, stale = differences(FOLDER, made)
    if arguments[:1] == ["--check"]:
        sys.stdout.writelines(lines)
        if stale:
            sys.exit(f"docs/verbs: {', '.join(stale)}: stale, run `make readme`")
        return
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        if name in made:
            (FOLDER / name).write_text(made[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
