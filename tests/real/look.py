#!/usr/bin/env python3
"""Looking at real files: what the command prints, compared with what gguf, numpy and llama.cpp find in them.

    look.py TARE [PART...]
"""
import functools
import http.client
import io
import json
import re
import signal
import subprocess
import sys

import llama_library
from judging import TARE, all_weights, check, equal, main, need, note, part, smollm, tare, tare_json, weights

KINDS = {"Q4_1": "ggml.q4_1", "Q8_0": "ggml.q8_0", "F32": "f32"}
# gguf's names of GGUF's value types, and ours.
VALUE_TYPES = {"UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT16": "i16", "UINT32": "u32", "INT32": "i32", "UINT64": "u64", "INT64": "i64",
               "FLOAT32": "f32", "FLOAT64": "f64", "BOOL": "bool", "STRING": "string"}


@functools.cache
def reader():
    return need("gguf").GGUFReader(smollm())


def decoded(tensor):
    gguf = need("gguf")
    return tensor.data if tensor.tensor_type.name == "F32" else gguf.quants.dequantize(tensor.data, tensor.tensor_type)


@part
def listing(folder):
    """info and ls against gguf and llama.cpp."""
    theirs, path = reader(), smollm()
    info, listed = tare_json("info", "--json", path), tare_json("ls", "--json", path)["tensors"]
    equal([t["name"] for t in listed], [t.name for t in theirs.tensors], "ls: names in the order of the file")
    for ours, tensor in zip(listed, theirs.tensors):
        equal(ours["shape"], [int(n) for n in reversed(tensor.shape)], f"ls: shape of {tensor.name}", "tensors")
        equal(ours["dtype"], KINDS[tensor.tensor_type.name], f"ls: type of {tensor.name}")
        component = next(iter(ours["components"].values()))
        equal((component["offset"], component["bytes"]), (tensor.data_offset, tensor.n_bytes), f"ls: place of {tensor.name}")
    equal(info["tensors"], len(theirs.tensors), "info: tensors")
    equal(info["bytes"], path.stat().st_size, "info: bytes of the file")
    equal(info["parameters"], sum(int(t.n_elements) for t in theirs.tensors), "info: parameters by gguf")
    with llama_library.Model(path) as model:
        equal(info["parameters"], model.parameters(), "info: parameters by llama.cpp")
    check("272 tensors, 134.52 million parameters" in tare("info", path), "info: its second line")


@part
def metadata_and_vocabulary(folder):
    """meta and vocab against gguf and llama.cpp."""
    theirs, path = reader(), smollm()
    fields = {key: field for key, field in theirs.fields.items() if not key.startswith("GGUF.")}
    entries = tare_json("meta", "--json", path)["entries"]
    equal([entry["key"] for entry in entries], list(fields), "meta: keys in their order")
    for entry in entries:
        field = fields[entry["key"]]
        names = [VALUE_TYPES.get(kind.name, kind.name) for kind in field.types]
        equal(entry["type"], f"[{names[1]}]" if names[0] == "ARRAY" else names[0], f"meta: type of {entry['key']}", "types")
        if names[0] != "ARRAY" or len(field.data) < 1000:
            value = field.contents()
            same = entry["value"] == value or (isinstance(value, float) and abs(entry["value"] - value) <= 1e-7 * abs(value))
            check(same, f"meta: {entry['key']}: {entry['value']!r}, expected {value!r}", "values")
    equal(tare("meta", path, "tokenizer.chat_template", text=False).decode(), fields["tokenizer.chat_template"].contents(), "meta: one value")
    tokens, kinds = fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.token_type"].contents()
    found = tare_json("vocab", "--json", path)["tokens"]
    equal([token["id"] for token in found], list(range(len(tokens))), "vocab: ids")
    with llama_library.Model(path, vocabulary_only=True) as model:
        for token in found:
            text = bytes.fromhex(token["bytes"]) if token["text"] is None else token["text"].encode()
            equal(text, model.piece(token["id"]), f"vocab: the bytes of token {token['id']}", "tokens")
    names = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}
    equal([token["type"] for token in found], [names[kind] for kind in kinds], "vocab: types")
    merges = tare_json("vocab", "--json", "--merges", path)["merges"]
    equal([merge["text"] for merge in merges], fields["tokenizer.ggml.merges"].contents(), "vocab: merges")
    equal(tare_json("vocab", "--json", path, "<|im_end|>")["tokens"][0]["id"], tokens.index("<|im_end|>"), "vocab: a token's id")
    note(f"{len(tokens)} tokens, {len(merges)} merges, {len(fields)} keys")


@part
def values(folder):
    """show, cat and one tensor to numpy, against gguf's decoder."""
    numpy, path = need("numpy"), smollm()
    for tensor in reader().tensors[::9]:
        expected = decoded(tensor).astype(numpy.float32)
        equal(tare("cat", path, tensor.name, text=False), tensor.data.tobytes(), f"cat {tensor.name}: bytes", "tensors")
        found = numpy.load(io.BytesIO(tare("cat", path, tensor.name, "--as", "npy", text=False)))
        check(numpy.array_equal(found, expected.reshape(found.shape)), f"cat --as npy {tensor.name}", "tensors")
        shown = tare_json("show", "--json", path, tensor.name)["statistics"]
        for what, value in (("min", expected.min()), ("max", expected.max())):
            equal(shown[what], float(value), f"show {tensor.name}: {what}")
        wide = expected.astype(numpy.float64)
        for what, value in (("mean", wide.mean()), ("std", wide.std())):
            check(abs(shown[what] - value) <= 1e-6 * max(wide.std(), 1e-30), f"show {tensor.name}: {what} {shown[what]}, expected {value}")
        equal(shown["zeros"], int((expected == 0).sum()), f"show {tensor.name}: zeros")
    rows = numpy.frombuffer(tare("cat", path, "token_embd.weight", "--slice", "100:103", "--as", "f32", text=False), numpy.float32)
    table = next(t for t in reader().tensors if t.name == "token_embd.weight")
    check(numpy.array_equal(rows, decoded(table)[100:103].ravel()), "cat --slice: three rows of the table")


@part
def digests(folder):
    """hash and verify: equal contents, one changed bit."""
    path = smollm()
    tare("verify", "--strict", path)
    tare("convert", path, folder / "same.zt")
    digest = tare("hash", path).split()[0]
    equal(tare("hash", folder / "same.zt").split()[0], digest, "hash: of a zTensor with the same tensors")
    data = bytearray(path.read_bytes())
    data[-1000] ^= 1
    (folder / "flipped.gguf").write_bytes(data)
    check(tare("hash", folder / "flipped.gguf").split()[0] != digest, "hash: of a file with one changed bit")
    tare("convert", path, folder / "kept.zt", "--digest", "sha256")
    tare("verify", folder / "kept.zt")
    place = tare_json("ls", "--json", folder / "kept.zt")["tensors"][5]["components"]
    offset = next(iter(place.values()))["offset"]
    with open(folder / "kept.zt", "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))
    check("digest" in tare("verify", folder / "kept.zt", code=1), "verify: one changed bit under a digest")


@part
def pages(folder):
    """view and report: the server answers, the page names every tensor."""
    path, names = smollm(), [t.name for t in reader().tensors]
    tare("report", path, "-o", folder / "page.html")
    page = (folder / "page.html").read_text()
    check(len(page) <= 4 << 20, "report: at most 4 MiB")
    # Tensors of layers are in the page by layer and role, so the names that are whole in it are the others and some examples.
    check(all(name in page for name in names if not name.startswith("blk.")), "report: the tensors outside of layers")
    check("SmolLM2-135M-Instruct.Q4_1.gguf" in page and not re.search(r"""(src|href)=["']https?:""", page), "report: loads nothing")
    check(tare("report", path, "--svg", "treemap", text=False).lstrip().startswith(b"<svg"), "report --svg")
    rows = tare_json("view", path, "--json", "tensors?sort=name&count=500")
    equal(sorted(row["name"] for row in rows["rows"]), sorted(names), "view --json: tensors")
    server = subprocess.Popen([TARE, "view", "--no-browser", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        link = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", server.stdout.readline().strip())
        if check(link, "view: prints a link"):
            connection = http.client.HTTPConnection("127.0.0.1", int(link[1]), timeout=60)
            connection.request("GET", link[2])
            check(b"<html" in connection.getresponse().read().lower(), "view: the page")
            connection.request("GET", link[2] + "api/overview")
            overview = json.loads(connection.getresponse().read())
            equal(overview["models"][0]["tensors"], len(names), "view: the overview")
            connection.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


@part
def half_downloaded(folder):
    """A half-downloaded file: one line about it, for every kind."""
    whole = smollm()
    for name, path in (("gguf", whole), ("safetensors", weights("wordllama", "*.safetensors")), ("torch", weights("resemblyzer", "*.pt"))):
        data = path.read_bytes()
        half = folder / f"half.{name}"
        half.write_bytes(data[:len(data) // 2])
        for verb in ("verify", "info", "convert"):
            more = [folder / f"{verb}-{name}.zt"] if verb == "convert" else []
            done = subprocess.run([TARE, verb, half, *more], capture_output=True, text=True, check=False)
            complaints = [line for line in (done.stdout + done.stderr).splitlines() if "truncated" in line or "extend" in line or "end of" in line]
            check(len(complaints) == 1, f"{verb} {name}: {len(complaints)} lines about it: {(done.stdout + done.stderr)[:400]}", "verbs")
            if verb != "info":
                check(done.returncode == 1, f"{verb} {name}: exit code {done.returncode}")
    check(not list(folder.glob("convert-*")), "convert: no output")


@part
def what_is_this_file(folder):
    """What is this file, without a suffix: read, or named."""
    known = [(smollm(), "GGUF"), (weights("wordllama", "*.safetensors"), "safetensors"), (weights("resemblyzer", "*.pt"), "PyTorch"),
             (weights("g2p-en", "*.npz"), "npz")]
    for number, (path, word) in enumerate(known):
        (folder / f"file{number}").symlink_to(path)
        check(word.lower() in tare("info", folder / f"file{number}").splitlines()[0].lower(), f"{path.name} is {word}", "files")
    for path in all_weights("silero-vad", "*.onnx"):
        (folder / path.stem).symlink_to(path)
        check("onnx" in tare("info", folder / path.stem).splitlines()[0].lower(), f"{path.name} is ONNX", "files")
    (folder / "script").symlink_to(weights("silero-vad", "*.jit"))
    check("TorchScript" in tare("info", folder / "script", code=1), "the TorchScript program is named", "files")
    for path in all_weights("iglm", "*training_args.bin"):
        check("transformers.training_args.TrainingArguments" in tare("info", path, code=1), "a pickle of training arguments is refused", "files")


@part
def changes(folder):
    """Metadata, --dry-run, --json and pipes, read back by gguf and numpy."""
    gguf, numpy, path = need("gguf"), need("numpy"), smollm()
    copy = folder / "copy.gguf"
    copy.write_bytes(path.read_bytes())
    tare("meta", copy, "--set", "general.author=somebody", "--dry-run")
    equal(copy.read_bytes(), path.read_bytes(), "meta --dry-run: changes nothing")
    tare("meta", copy, "--set", "general.author=somebody", "--set", "llama.context_length=4096", "--set", "my.ids:[i32]=[1,2]",
         "--remove", "general.license")
    before, after = reader(), gguf.GGUFReader(copy)
    equal(after.fields["general.author"].contents(), "somebody", "meta --set: a text")
    equal((after.fields["llama.context_length"].contents(), after.fields["llama.context_length"].types[0].name), (4096, "UINT32"), "meta --set: a number")
    equal((after.fields["my.ids"].contents(), after.fields["my.ids"].types[1].name), ([1, 2], "INT32"), "meta --set: a list")
    check("general.license" not in after.fields, "meta --remove")
    for one, other in zip(before.tensors, after.tensors):
        check(one.name == other.name and numpy.array_equal(one.data, other.data), f"meta: {one.name} is untouched", "tensors")
    for key, field in before.fields.items():
        if not key.startswith("GGUF.") and key not in ("general.license", "llama.context_length"):
            check(key in after.fields and field.types == after.fields[key].types, f"meta: {key} is untouched", "keys")
    report = tare_json("convert", path, folder / "out.zt", "--json")
    equal((report["tensors"], report["lost"]), (len(before.tensors), []), "convert --json")
    piped = tare("convert", path, "-", "--to", "npz", "--match", "blk.0.attn_norm*", text=False)
    arrays = numpy.load(io.BytesIO(piped))
    expected = next(t for t in before.tensors if t.name == "blk.0.attn_norm.weight")
    check(numpy.array_equal(arrays["blk.0.attn_norm.weight"], expected.data), "convert to a pipe: the tensor")
    check(len(piped) < 10000, f"convert to a pipe: {len(piped)} bytes for a tensor of 2304")
    (folder / "through.safetensors").write_bytes(tare("convert", path, "-", "--to", "safetensors", "--weights-only", "--match", "blk.1.*", text=False))
    equal(len(need("safetensors.numpy").load_file(folder / "through.safetensors")), 9, "convert to a pipe: safetensors")


if __name__ == "__main__":
    sys.exit(main())
