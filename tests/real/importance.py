#!/usr/bin/env python3
"""What matrices are multiplied with: `tare calibrate` next to llama.cpp's own graph.

    importance.py TARE [PART...]
"""
import sys

import llama_library
from judging import check, equal, main, need, note, part, smollm, tare

PIECE, PIECES = 128, 2


class Watched(llama_library.Model):
    """Sums the squares of what each matrix is multiplied with, as llama.cpp's imatrix tool does."""

    def start(self):
        self.sums, self.counts = {}, {}
        numpy, ffi, lib = need("numpy"), self.ffi, self.lib

        @ffi.callback("bool(struct ggml_tensor *, bool, void *)")
        def look(tensor, asks, data):
            name = ffi.string(tensor.src[0].name).decode() if tensor.op == lib.GGML_OP_MUL_MAT else ""
            wanted = name.startswith("blk.") or name in ("output.weight", "token_embd.weight")
            if asks or not wanted:
                return wanted or not asks
            rows = tensor.src[1]
            columns, count = rows.ne[0], rows.ne[1]
            assert rows.nb[1] == 4 * columns, name
            values = numpy.frombuffer(ffi.buffer(ffi.cast("char *", rows.data), 4 * columns * count), numpy.float32)
            self.sums[name] = self.sums.get(name, 0) + (values.reshape(count, columns).astype(numpy.float64) ** 2).sum(0)
            self.counts[name] = self.counts.get(name, 0) + count
            return True

        self.look = look  # as long as the context lives
        parameters = lib.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.context_length
        parameters.n_threads = parameters.n_threads_batch = 1
        parameters.type_k = parameters.type_v = lib.GGML_TYPE_F32
        parameters.logits_all = True
        parameters.cb_eval = look
        self.context = lib.llama_new_context_with_model(self.model, parameters)
        assert self.context != ffi.NULL


@part
def sums_of_squares(folder):
    """calibrate: names, counts and sums of every matrix, as llama.cpp's graph has them for the same tokens."""
    gguf, numpy = need("gguf"), need("numpy")
    tare("convert", smollm(), folder / "m.gguf", "--dtype", "f32", "-q")
    tokens = [(i * i * 31 + 7 * i) % 49000 for i in range(PIECE * PIECES)]
    (folder / "ids.txt").write_text(" ".join(map(str, tokens)))
    tare("calibrate", folder / "m.gguf", "--tokens", folder / "ids.txt", "--context", PIECE, "-o", folder / "i.gguf", "-q")
    file = gguf.GGUFReader(folder / "i.gguf")
    ours = {tensor.name: tensor.data.reshape(-1) for tensor in file.tensors}
    equal([file.fields[key].contents() for key in ("general.type", "imatrix.chunk_count", "imatrix.chunk_size")],
          ["imatrix", PIECES, PIECE], "keys")
    with Watched(folder / "m.gguf", PIECE) as model:
        model.start()
        for first in range(0, len(tokens), PIECE):
            model.logits(tokens[first : first + PIECE])
        equal({name.removesuffix(".in_sum2") for name in ours if name.endswith(".in_sum2")}, set(model.sums), "names")
        worst = 0
        for name, sums in model.sums.items():
            equal(ours[name + ".counts"].tolist(), [model.counts[name]], f"{name}: tokens")
            off = float(numpy.abs(ours[name + ".in_sum2"] - sums).max() / sums.max())
            worst = max(worst, off)
            check(off < 1e-3, f"{name}: {off}", "matrices")
        note(f"{PIECE * PIECES} tokens: largest difference {worst:.1e} of the largest sum of a matrix")


if __name__ == "__main__":
    sys.exit(main())
