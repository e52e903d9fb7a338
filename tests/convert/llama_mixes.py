#!/usr/bin/env python3
"""The types that llama.cpp's own quantizer chooses, for tests/convert/mixes_test.cpp.

    llama_mixes.py              compares them with data/llama_mixes.txt (77: no package that has the quantizer)
    llama_mixes.py --record     writes that file

The quantizer is that of the package llama-cpp-cffi (`pip install --no-deps llama-cpp-cffi`), whose library exports it. For each
model below, which has two rows a tensor, it makes a file of each type, with and without an importance matrix, and the types are
read from that file. It refuses some names without one. A line of the data is a model, a name, whether there was an importance
matrix (`-`, `+`; `*`: either) and the types that are not the first one: `role=TYPE*COUNT` for each run of layers.
"""
import ctypes
import importlib.metadata
import itertools
import pathlib
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent / "data" / "llama_mixes.txt"
PACKAGE = "llama-cpp-cffi"
NAMES = {"q4_0": 2, "q4_1": 3, "q5_0": 8, "q5_1": 9, "q8_0": 7, "q2_k": 10, "q3_k_s": 11, "q3_k_m": 12, "q3_k_l": 13, "q4_k_s": 14,
         "q4_k_m": 15, "q5_k_s": 16, "q5_k_m": 17, "q6_k": 18, "iq4_nl": 25, "iq4_xs": 30, "q2_k_s": 21, "iq2_xxs": 19,
         "iq2_xs": 20, "iq2_s": 28, "iq2_m": 29, "iq3_xxs": 23, "iq3_xs": 22, "iq3_s": 26, "iq3_m": 27, "iq1_s": 24, "iq1_m": 31,
         "tq1_0": 36, "tq2_0": 37}
NEED_IMPORTANCE = ["q2_k_s", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m", "iq3_xxs", "iq1_s", "iq1_m"]
HEADS = 8
ROLES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
EXPERT_ROLES = ["ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"]


def models():
    """(architecture, layers, heads that share a key, experts, tied, width, inner width)"""
    for layers, tied in itertools.product((1, 2, 8, 12, 32), (0, 1)):
        yield "llama", layers, 1, 0, tied, 256, 512
    for tied in (0, 1):
        yield "llama", 12, 1, 0, tied, 96, 160
        yield "llama", 30, 3, 0, tied, 576, 1536  # SmolLM2
        yield "llama", 16, 4, 0, tied, 256, 512
    yield "llama", 16, 1, 0, 0, 256, 96
    yield "llama", 16, 4, 0, 0, 96, 256
    yield "llama", 80, 1, 0, 0, 256, 512
    yield "llama", 80, 4, 0, 0, 256, 512
    yield "qwen2", 80, 1, 0, 0, 256, 512
    yield "qwen2", 24, 2, 0, 1, 256, 512
    yield "llama", 32, 4, 8, 0, 256, 512
    yield "llama", 16, 4, 4, 0, 256, 512


class Parameters(ctypes.Structure):
    """llama_model_quantize_params of that package's llama.cpp."""
    _fields_ = [("nthread", ctypes.c_int32), ("ftype", ctypes.c_int), ("output_tensor_type", ctypes.c_int),
                ("token_embedding_type", ctypes.c_int), ("allow_requantize", ctypes.c_bool),
                ("quantize_output_tensor", ctypes.c_bool), ("only_copy", ctypes.c_bool), ("pure", ctypes.c_bool),
                ("keep_split", ctypes.c_bool), ("imatrix", ctypes.c_void_p), ("kv_overrides", ctypes.c_void_p)]


class Map(ctypes.Structure):
    """A std::unordered_map of libstdc++ from std::string to std::vector<float>, in one bucket."""
    _fields_ = [("buckets", ctypes.c_void_p), ("bucket_count", ctypes.c_size_t), ("first", ctypes.c_void_p),
                ("count", ctypes.c_size_t), ("load", ctypes.c_float), ("next_resize", ctypes.c_size_t),
                ("single_bucket", ctypes.c_void_p)]


class Node(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("text", ctypes.c_void_p), ("length", ctypes.c_size_t), ("short", ctypes.c_char * 16),
                ("begin", ctypes.c_void_p), ("end", ctypes.c_void_p), ("room", ctypes.c_void_p), ("hash", ctypes.c_size_t)]


def importance_map(columns):
    """The same importance for all columns; `columns`: how many values each tensor needs. The types depend on whether there are
    values, not on what they are."""
    hash_bytes = ctypes.CDLL("libstdc++.so.6")["_ZSt11_Hash_bytesPKvmm"]
    hash_bytes.restype, hash_bytes.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
    made = Map(bucket_count=1, load=1.0, count=len(columns))
    made.buckets = ctypes.addressof(made) + Map.single_bucket.offset
    made.single_bucket = ctypes.addressof(made) + Map.first.offset
    made.kept = []
    for name, count in columns.items():
        text, values = ctypes.create_string_buffer(name.encode()), (ctypes.c_float * count)(*[1.0] * count)
        begin = ctypes.addressof(values)
        end = begin + 4 * count
        node = Node(made.first, ctypes.addressof(text), len(name), b"", begin, end, end, hash_bytes(name.encode(), len(name), 0xC70F6907))
        made.first = ctypes.addressof(node)
        made.kept += [text, values, node]
    return made


def library():
    try:
        files = importlib.metadata.files(PACKAGE) or []
        found = [file.locate() for file in files if "_llama_cpp_cpu" in file.name and file.suffix == ".so"]
        import gguf  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    if not found:
        print(f"skipped: {PACKAGE} has no library for this machine")
        sys.exit(77)
    try:
        loaded = ctypes.CDLL(str(found[0]))
    except OSError as reason:  # built for another libstdc++
        print(f"skipped: {PACKAGE}'s library does not load on this machine: {reason}")
        sys.exit(77)
    loaded.llama_model_quantize_default_params.restype = Parameters
    loaded.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Parameters)]
    quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda level, text, data: None)
    loaded.llama_log_set(quiet, None)
    loaded.kept = quiet
    return loaded


def write_model(path, architecture, layers, sharing, experts, tied, width, inner):
    import gguf
    import numpy
    random = numpy.random.default_rng(1)
    out = gguf.GGUFWriter(path, architecture)
    out.add_block_count(layers)
    out.add_context_length(64)
    out.add_embedding_length(width)
    out.add_feed_forward_length(inner)
    out.add_head_count(HEADS * sharing)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(4)
    if experts:
        out.add_expert_count(experts)
        out.add_expert_used_count(2)
    columns = {"attn_output": width, "ffn_down": inner, "ffn_down_exps": inner}

    def add(name, *shape):
        out.add_tensor(name, random.standard_normal(shape, dtype=numpy.float32))

    add("token_embd.weight", 4, width)
    if not tied:
        add("output.weight", 4, width)
    for layer in range(layers):
        for role in (ROLES[:4] + EXPERT_ROLES if experts else ROLES):
            lead = (experts,) if role.endswith("_exps") else ()
            add(f"blk.{layer}.{role}.weight", *lead, 2, columns.get(role, width))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def columns_in(path):
    import gguf
    return {tensor.name: int(tensor.shape[0] * (tensor.shape[2] if len(tensor.shape) > 2 else 1))
            for tensor in gguf.GGUFReader(path).tensors}


BASES = {"iq2_m": "iq2_s", "iq2_s": "iq2_xs", "iq3_m": "iq3_s", "iq3_xs": "iq3_s"}


def types_in(path):
    import gguf
    return {tensor.name: tensor.tensor_type.name.lower() for tensor in gguf.GGUFReader(path).tensors}


def runs(types):
    return ",".join(f"{kind}*{len(list(group))}" for kind, group in itertools.groupby(types))


def text_of(name, types, layers, experts, tied):
    """The roles of which not every tensor is of the type that the name begins with."""
    plain = name if name.startswith("iq") else name.removesuffix("_s").removesuffix("_m").removesuffix("_l")
    base = BASES.get(name, plain)
    parts = []
    for role in ("token_embd", *(() if tied else ("output",))):
        if types[f"{role}.weight"] != base:
            parts.append(f"{role}={types[f'{role}.weight']}")
    for role in ROLES[:4] + EXPERT_ROLES if experts else ROLES:
        kinds = [types[f"blk.{layer}.{role}.weight"] for layer in range(layers)]
        if set(kinds) != {base}:
            parts.append(f"{role}={runs(kinds)}")
    return " ".join(parts)


def lines(loaded):
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/in.gguf", f"{folder}/out.gguf"
        for model in models():
            architecture, layers, sharing, experts, tied, width, inner = model
            write_model(source, *model)
            columns = columns_in(source)
            for name, number in NAMES.items():
                found = []
                for weighted in (False, True):
                    if not weighted and name in NEED_IMPORTANCE:
                        found.append(None)
                        continue
                    values = importance_map(columns)
                    parameters = loaded.llama_model_quantize_default_params()
                    parameters.ftype = number
                    parameters.nthread = 1
                    parameters.imatrix = ctypes.addressof(values) if weighted else None
                    if loaded.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(parameters)) != 0:
                        if not name.startswith("tq"):  # refused for rows that are not whole blocks
                            sys.exit(f"{name} of {model}: the quantizer failed")
                        found.append(None)
                        continue
                    found.append(text_of(name, types_in(target), layers, experts, tied))
                where = f"{architecture} layers={layers} sharing={sharing} experts={experts} tied={tied} {width}x{inner}"
                if found == [None, None]:
                    continue
                if found[0] == found[1]:
                    yield f"{where} {name} * {found[0]}".rstrip()
                else:
                    if found[0] is not None:
                        yield f"{where} {name} - {found[0]}".rstrip()
                    yield f"{where} {name} + {found[1]}".rstrip()


def main():
    made = list(lines(library()))
    version = importlib.metadata.version(PACKAGE)
    if "--record" in sys.argv:
        head = f"# Made by tests/convert/llama_mixes.py --record with the quantizer of {PACKAGE} {version}; its first lines explain it."
        DATA.write_text("\n".join([head, *made]) + "\n")
        print(f"{len(made)} lines")
        return 0
    recorded = [line for line in DATA.read_text().splitlines() if not line.startswith("#")]
    different = [pair for pair in itertools.zip_longest(recorded, made) if pair[0] != pair[1]]
    for was, is_now in different[:20]:
        print(f"recorded: {was}\n{PACKAGE} {version}: {is_now}")
    print(f"{len(different)} of {len(made)} lines differ from what was recorded")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
