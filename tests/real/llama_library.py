"""llama.cpp itself: the library of the package llama-cpp-cffi, through the declarations that the package was built with."""
import importlib.metadata
import importlib.util

from judging import Missing, need

PACKAGE = "llama-cpp-cffi"
FTYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9, "q2_k": 10, "q3_k_m": 12, "q4_k_m": 15, "q5_k_m": 17,
          "q6_k": 18, "iq4_nl": 25, "iq4_xs": 30}
_library = []


def library():
    """(ffi, lib); the extension alone, since the package around it wants further packages."""
    if not _library:
        need("_cffi_backend", "cffi")
        try:
            files = importlib.metadata.files(PACKAGE) or []
        except importlib.metadata.PackageNotFoundError:
            raise Missing(f"{PACKAGE} is not installed") from None
        found = [file.locate() for file in files if "_llama_cpp_cpu" in file.name and file.suffix == ".so"]
        if not found:
            raise Missing(f"{PACKAGE} has no library for this machine")
        spec = importlib.util.spec_from_file_location("_llama_cpp_cpu", found[0])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        ffi, lib = module.ffi, module.lib
        quiet = ffi.callback("void(enum ggml_log_level, const char *, void *)", lambda level, text, data: None)
        lib.llama_log_set(quiet, ffi.NULL)
        lib.llama_backend_init()
        _library.append((ffi, lib, quiet))
    return _library[0][:2]


class Model:
    """A GGUF file that llama.cpp has loaded."""

    def __init__(self, path, context=640, vocabulary_only=False):
        self.ffi, self.lib = library()
        parameters = self.lib.llama_model_default_params()
        parameters.vocab_only = vocabulary_only
        parameters.check_tensors = True
        self.model = self.lib.llama_load_model_from_file(str(path).encode(), parameters)
        if self.model == self.ffi.NULL:
            raise AssertionError(f"llama.cpp does not load {path}")
        self.context_length = context
        self.context = self.ffi.NULL

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.context != self.ffi.NULL:
            self.lib.llama_free(self.context)
        self.lib.llama_free_model(self.model)

    def parameters(self):
        return self.lib.llama_model_n_params(self.model)

    def description(self):
        text = self.ffi.new("char[256]")
        self.lib.llama_model_desc(self.model, text, 256)
        return self.ffi.string(text).decode()

    def tokenize(self, text, special=False):
        data = text.encode()
        ids = self.ffi.new("int32_t[]", len(data) + 8)
        count = self.lib.llama_tokenize(self.model, data, len(data), ids, len(data) + 8, False, special)
        assert count >= 0, text
        return list(ids[0:count])

    def piece(self, token):
        """The bytes of one token."""
        text = self.ffi.new("char[1024]")
        count = self.lib.llama_token_to_piece(self.model, token, text, 1024, 0, True)
        assert count >= 0, token
        return self.ffi.buffer(text, count)[:]

    def detokenize(self, tokens):
        room = 64 * len(tokens) + 64
        text = self.ffi.new("char[]", room)
        count = self.lib.llama_detokenize(self.model, self.ffi.new("int32_t[]", tokens), len(tokens), text, room, False, True)
        assert count >= 0, tokens
        return self.ffi.buffer(text, count)[:]

    def start(self):
        """A new, empty context. Its cache is f32, as transformers keeps it."""
        if self.context != self.ffi.NULL:
            self.lib.llama_free(self.context)
        parameters = self.lib.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.context_length
        parameters.n_threads = parameters.n_threads_batch = 1  # threads of ggml wait busily: slow on a machine that does other things
        parameters.type_k = parameters.type_v = self.lib.GGML_TYPE_F32
        parameters.logits_all = True
        self.context = self.lib.llama_new_context_with_model(self.model, parameters)
        assert self.context != self.ffi.NULL

    def use_adapter(self, path):
        self.start()
        adapter = self.lib.llama_lora_adapter_init(self.model, str(path).encode())
        if adapter == self.ffi.NULL:
            raise AssertionError(f"llama.cpp does not load the adapter {path}")
        assert self.lib.llama_lora_adapter_set(self.context, adapter, 1.0) == 0

    def _decode(self, tokens, first):
        batch = self.lib.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, first + i, 1, 1
            batch.seq_id[i][0] = 0
        code = self.lib.llama_decode(self.context, batch)
        self.lib.llama_batch_free(batch)
        assert code == 0, code
        import numpy
        width = self.lib.llama_n_vocab(self.model)
        data = self.ffi.buffer(self.lib.llama_get_logits(self.context), 4 * width * len(tokens))
        return numpy.frombuffer(data, numpy.float32).reshape(len(tokens), width).copy()

    def logits(self, tokens):
        """For each place of one text."""
        if self.context == self.ffi.NULL:
            self.start()
        self.lib.llama_kv_cache_clear(self.context)
        return self._decode(tokens, 0)

    def greedy(self, tokens, count):
        made, last = [], self.logits(tokens)[-1]
        for _ in range(count):
            made.append(int(last.argmax()))
            last = self._decode([made[-1]], len(tokens) + len(made) - 1)[-1]
        return made


def quantize(source, target, name, threads=1):
    ffi, lib = library()
    parameters = lib.llama_model_quantize_default_params()
    parameters.ftype, parameters.nthread = FTYPES[name], threads
    pointer = ffi.new("llama_model_quantize_params *", parameters)
    code = lib.llama_model_quantize(str(source).encode(), str(target).encode(), pointer)
    if code != 0:
        raise AssertionError(f"llama.cpp does not quantize {source} as {name}: {code}")


def quantize_rows(kind, rows, importance):
    """The bytes of an f32 matrix as ggml encodes it with a weight for each column. kind: the type as gguf names it."""
    import numpy
    ffi, lib = library()
    number = getattr(lib, f"GGML_TYPE_{kind}")
    rows, importance = (numpy.ascontiguousarray(array, numpy.float32) for array in (rows, importance))
    made = numpy.empty(rows.nbytes, numpy.uint8)  # no type takes more
    count = lib.ggml_quantize_chunk(number, ffi.cast("float *", rows.ctypes.data), ffi.cast("void *", made.ctypes.data), 0,
                                    len(rows), rows.shape[1], ffi.cast("float *", importance.ctypes.data))
    return made[:count]
