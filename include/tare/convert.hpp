// Making a model fit another container, saving it, and taking a file from one container to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/change.hpp"
#include "tare/elements.hpp"
#include "tare/export.hpp"
#include "tare/format.hpp"
#include "tare/quantize.hpp"
#include "tare/sink.hpp"

namespace tare {

struct AdaptOptions {
  std::optional<DType> dtype = {};                 // cast float tensors to this type (lossy casts included: asked for)
  Overflow overflow = Overflow::refuse;            // of values that such a cast takes beyond the type's largest
  Quantization quant = {};                         // encode float matrices
  std::vector<std::string> match = {}, skip = {};  // globs over tensor names
  std::vector<std::pair<std::string, std::string>> set = {};  // metadata: key, JSON or else a string
  Map values = {};                                            // metadata as values, set after the former
  std::vector<ModelPart> drop = {};                           // what may be omitted
  bool keep_names = false;    // of tensors, and all else that Format::adopt and Format::release would change
  bool weights_only = false;  // leave out everything but the tensors and the metadata that is about them
  unsigned threads = 0;       // for codecs that look at the data first; 0: all cores
};

// Keys of a file that the target has neither a field nor room for. `harmful`: those that change what the model computes,
// as far as is known; a key that nobody knows is taken to be one.
struct LostKeys {
  std::string file;  // "config.json"
  std::vector<std::string> harmful, harmless;
};

struct Adapted {
  Model model;
  std::vector<Change> changes;  // what had to change; to_text makes a sentence of each
  std::vector<TensorOutcome>
      outcomes;  // of every tensor when `quant` was asked for; reports are complete after writing
  std::vector<LostKeys> lost;
};

// The model as `target` can hold it. What cannot be held is converted losslessly, carried in private keys where there
// is room, or refused with the tensor's name and the remedy that would allow it; never dropped in silence.
[[nodiscard]] TARE_API Adapted adapt(Model model, const Format& target, const AdaptOptions& options = {});

struct SaveOptions {
  AdaptOptions adapt = {};
  WriteOptions write = {};
  std::string to = {};     // format name; empty: from the path's suffix
  bool overwrite = false;  // replace a file, or the files of a model in a directory; also those the model is read from
};

// What was written.
struct Saved {
  std::string to;                                        // the format
  std::uint64_t tensors = 0, bytes = 0, file_bytes = 0;  // bytes: of the tensors, decoded
  std::vector<Change> changes;                           // see Adapted, and what the format says about the result
  std::vector<TensorOutcome> outcomes;                   // of every tensor, when quantization was asked for
  std::vector<LostKeys> lost;
};

// Writes a model to a file, or to a directory where the format is one or `path` ends in / or is one ("-": standard
// output). The counterpart of `open`. The model is adapted first: no tensor and no part is left out that `options.adapt` does
// not allow, and Saved::changes names every fact that the format has no place for.
// Atomic: on any error there is what was there before. The model's own files may be replaced, and it stays valid: it
// keeps them open.
// Throws `convert.format`, `convert.read_only` and `convert.option` for what makes no sense, `io.sink.*` and `io.tree.*`
// for the path, `convert.*` for a model that does not fit, a broken tensor's own rule, and what is wrong with the bytes.
[[nodiscard]] TARE_API Saved save(Model model, const std::string& path, const SaveOptions& options = {});

// `save` to a sink: one file, of the format `options.to`. Commits the sink. Throws `convert.format` for a format that is a
// directory.
[[nodiscard]] TARE_API Saved save(Model model, Sink& sink, const SaveOptions& options);

struct ConvertOptions {
  AdaptOptions adapt = {};
  ReadOptions read = {};
  WriteOptions write = {};
  std::string to = {};     // format name; empty: from the output's suffix
  bool overwrite = false;  // also when output and input are the same file
  bool check = false;      // verify every stored digest of the input on the way
  // Adapters (LoRA), files or directories, that are added to the weights one after the other; see merge.hpp.
  std::vector<std::string> merge = {};
};

struct Conversion : Saved {
  std::string from;  // the format
};

// `open` and `save`, with what looks wrong about the input among the changes. Streams `input` into `output` ("-":
// standard output). Atomic: on any error the old output is untouched.
[[nodiscard]] TARE_API Conversion convert(const std::string& input, const std::string& output,
                                          const ConvertOptions& options = {});

// Shell-style match: * any run, ? one byte, [a-z] a set. A pattern without wildcards is a whole name.
[[nodiscard]] TARE_API bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace tare
