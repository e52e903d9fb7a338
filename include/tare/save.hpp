// Saves models.
//
//   tare::Model model = tare::open("model.gguf");
//   model.metadata.set("author", "me");
//   const tare::Saved saved = tare::save(std::move(model), "model.zt");
//   for (const tare::Change& change : saved.changes) std::puts(tare::to_text(change).c_str());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tare/change.hpp"
#include "tare/elements.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/quantize.hpp"
#include "tare/sink.hpp"
#include "tare/write_options.hpp"

namespace tare {

struct AdaptOptions {
  // Cast float tensors to this type, even if that is lossy.
  std::optional<DType> dtype = {};
  // What becomes of values that exceed the largest of that type. Refused without a type or a method.
  Overflow overflow = Overflow::refuse;
  Quantization quant = {};                                    // encode float matrices
  std::vector<std::string> match = {}, skip = {};             // globs over tensor names
  std::vector<std::pair<std::string, std::string>> set = {};  // metadata: a key; JSON or else a string
  Map values = {};                                            // metadata as values, set after `set`
  std::vector<ModelPart> drop = {};                           // what may be omitted
  // Keep the names of tensors, the order of their rows and the keys as they are, whatever the programs that read the
  // target expect.
  bool keep_names = false;
  bool weights_only = false;  // omit everything but the tensors and their metadata
};

// Keys of a file that the target cannot hold. `harmful` keys change what the model computes; an unknown key counts as
// harmful.
struct LostKeys {
  std::string file;  // "config.json"
  std::vector<std::string> harmful, harmless;
};

struct SaveOptions {
  AdaptOptions adapt = {};
  WriteOptions write = {};
  std::string to = {};  // format name; empty: by the suffix of the path
  // Replace a file, or the files of a model in a directory, including those that the model is read from.
  bool overwrite = false;
  Work work = {};  // replaces `write.work`, which is not used
};

struct Saved {
  std::string to;                                        // format name
  std::uint64_t tensors = 0, bytes = 0, file_bytes = 0;  // bytes: of the tensors, decoded
  // What had to change, and remarks about the result, in the order in which they were found: sort by `impact` to show
  // what matters first. to_text makes a sentence of each.
  std::vector<Change> changes;
  std::vector<TensorOutcome> outcomes;  // one per tensor if quantization was asked for
  std::vector<LostKeys> lost;
};

// Writes a model to a file, or to a directory if the format is one, `path` ends in / or `path` is one ("-": standard
// output). The counterpart of `open`. Adapts the model first: it omits no tensor and no part unless `options.adapt`
// allows that, and Saved::changes names every fact that the format has no field for. Atomic: after an error, the path
// holds what it held before. A model that is one file may be replaced by its own result, and a directory by a directory:
// the model stays valid because it keeps its files open.
// Throws `convert.format`, `convert.read_only` and `convert.option` for invalid options, `io.sink.*` and `io.tree.*`
// for the path, `convert.*` for a model that does not fit, the rule of a broken tensor, and errors in the bytes.
[[nodiscard]] TARE_API Saved save(Model model, const std::string& path, const SaveOptions& options = {});

// Saves to a sink: one file of the format `options.to`. Commits the sink. Throws `convert.format` for a format that is
// a directory.
[[nodiscard]] TARE_API Saved save(Model model, Sink& sink, const SaveOptions& options);

}  // namespace tare
