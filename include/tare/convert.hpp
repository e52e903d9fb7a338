// Converts files: `convert` for a path, `save` (save.hpp) for a model that you hold.
//
//   const tare::Conversion done = tare::convert("Llama-3.2-1B/", "model.gguf", {.adapt = {.quant = {.method = "q4_k_m"}}});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tare/export.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare {

struct ConvertOptions {
  AdaptOptions adapt = {};
  ReadOptions read = {};
  WriteOptions write = {};
  std::string to = {};     // format name; empty: by the suffix of the output
  bool overwrite = false;  // even if output and input are the same file
  bool check = false;      // verify every stored digest of the input during the work
  // Adapters (LoRA), files or directories, that are added to the weights one after the other; see merge.hpp.
  std::vector<std::string> merge = {};
  // Path of a file with the vision tower of a multimodal model, as llama.cpp has it: written with a GGUF file, and read with
  // one for a directory of both. Throws `convert.tower` for a model without one that llama.cpp knows.
  std::string mmproj = {};
  // The family whose names and keys the model has, if its config.json names another one or none: a model_type, a class or
  // GGUF's architecture. Throws `convert.family` for one that is not known.
  std::string family = {};
  Work work = {};  // replaces `read.work` and `write.work`, which are not used
};

struct Conversion : Saved {
  std::string from;  // format name
};

// `open` and `save`; the changes include what looks wrong with the input. Streams `input` into `output` ("-": standard
// output). Atomic: after an error the old output is untouched.
[[nodiscard]] TARE_API Conversion convert(const std::string& input, const std::string& output,
                                          const ConvertOptions& options = {});

// Shell-style match: * any run, ? one byte, [a-z] a set. A pattern without wildcards must equal the name.
[[nodiscard]] TARE_API bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace tare
