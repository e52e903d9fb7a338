// Files of ggml before GGUF: whisper.cpp's ggml-*.bin, which it still uses, and what llama.cpp and the examples of ggml
// wrote until August 2023. All numbers are 32 bits, little-endian:
//
//   magic                  "lmgg", "fmgg" or "tjgg"
//   version                not in "lmgg"; 1 in "fmgg", 1 to 3 in "tjgg"
//   hyper-parameters       as many as the program has; no field names the program (read.cpp)
//   mel filters            whisper.cpp only: rows, columns, f32s
//   vocabulary             the number of tokens, if the program writes it; for each its length, its bytes, and in "fmgg"
//                          and "tjgg" its score
//   tensors, until the end of the file:
//     dimensions, length of the name, type; the dimensions, the fastest first; the name
//     data                 "tjgg": from the next multiple of 32 bytes on
//
// There is no index: a tensor's place follows from the sizes of those before it. Types are ggml's, as in GGUF. Blocks
// of quantized weights had other forms before; those are refused, because nothing decodes them any more: "tjgg" before
// version 3, "fmgg", and "lmgg" whose last hyper-parameter is below 2000.
//
// A Model has the tensors under their names, the filters as the tensor "mel_filters", the tokens as its vocabulary, and
// the hyper-parameters as metadata: "whisper.n_mels". Writing is not possible: GGUF holds all of it.
#include "formats/ggmlbin/ggmlbin.hpp"

#include <algorithm>
#include <array>

#include "base/endian.hpp"
#include "codecs/ggml/type_table.hpp"
#include "formats/rows.hpp"

namespace tare::ggmlbin {
namespace {

bool recognize(const Source& source) {
  std::array<std::byte, 4> head{};
  if (source.size() < head.size()) return false;
  source.read(0, head);
  return is_magic(load_le<std::uint32_t>(head.data()));
}

constexpr std::string_view kSuffixes[] = {".ggml", ".bin"};
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32};
constexpr auto kLayouts = [] {
  std::array<std::string_view, 1 + std::size(codec::ggml::kTypes)> all{"dense"};
  std::ranges::transform(codec::ggml::kTypes, all.begin() + 1, &codec::ggml::TypeFacts::layout);
  return all;
}();

}  // namespace

constinit const Format kFormat = {
    .name = "ggmlbin",
    .title = "Old ggml",
    .versions = "reads whisper.cpp's models, and ggml, ggmf and ggjt 1 to 3 of llama.cpp and GPT-2, GPT-J and NeoX",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kTypes, .logical_types = {}, .layouts = kLayouts, .metadata = Room::tree, .vocabulary = true},
    .recognize = recognize,
    .read = read,
};

}  // namespace tare::ggmlbin
