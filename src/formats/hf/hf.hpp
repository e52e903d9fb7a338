// Declarations shared by the parts of the Hugging Face directory; hf.cpp describes the layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "io/links.hpp"
#include "io/tree_swap.hpp"

namespace tare::hf {

// Holds what no other file of a directory can; written only if needed.
inline constexpr std::string_view kPrivateFile = "tare.json", kPrivateRule = "hf.private.form";
// The folder for attachments with names that cannot be file names here.
inline constexpr std::string_view kPrivateFolder = "attachments";
inline constexpr std::string_view kTemplateFolder = "additional_chat_templates";
// The weights, in one file or in shards: the first names that every reader tries.
inline constexpr std::string_view kFile = "model.safetensors", kIndex = "model.safetensors.index.json";

// The older names of transformers, which it still reads if the others do not exist.
inline constexpr std::string_view kOldFile = "pytorch_model.bin", kOldIndex = "pytorch_model.bin.index.json";

// The weights a directory holds.
struct Weights {
  std::string file;    // name in the directory
  bool index = false;  // the index of a set
  bool torch = false;  // in PyTorch's format
  bool parts = false;  // a distributed checkpoint, which is the directory itself
  // The files of a distributed checkpoint in safetensors, each with parts of the tensors (split.cpp).
  std::vector<std::string> split = {};
};
// Throws `hf.weights.*`, with the file and advice, unless there is exactly one candidate.
Weights choose_weights(const std::string& directory, const std::vector<std::string>& files);

// Recognizes shard-00001-model-00001-of-00002.safetensors: what one process of torch.distributed.checkpoint wrote.
bool is_split_shard(std::string_view name);
// Reads a model from such files. Throws `hf.split.*`.
Model read_split(const std::string& directory, const std::vector<std::string>& files, const ReadOptions& options);

// The metadata key for the weights' name before ".safetensors", if it is not "model": adapter_model,
// diffusion_pytorch_model, model.fp16. Programs find their weights by it.
inline constexpr std::string_view kStemKey = "hf.weights";
std::string stem_of(const Weights& weights);
// Returns the stem for the files of a model's weights; nothing if the metadata has none that can be a file's name.
std::optional<std::string> stem_in(const Map& metadata);

// Returns the sorted names of the files in a directory; links are followed. Everything with the name of a model's file
// is listed, even if it is not a file: see `what_is_wrong`. Throws `hf.directory`.
std::vector<std::string> list_files(const std::string& directory);
std::vector<std::string> list_folders(const std::string& directory);
std::vector<std::string> list_entries(const std::string& directory);
// Returns the files below a folder of the directory (empty: all of it), sorted and relative to the directory. Links to
// files are included; links to folders and hidden folders are not entered. Throws `hf.directory`, and `hf.folder.large`
// for a folder with more files than a model's can have.
std::vector<std::string> list_below(const std::string& directory, const std::string& folder);
// Returns why the file cannot be read, with advice: a broken link, a directory. Returns nothing for a regular file.
std::optional<std::string> what_is_wrong(const std::string& path);
// Returns whether a file of this name, relative to the directory, is always part of a model (config.json, a chat
// template, README.md).
bool is_resource(std::string_view name);
// Returns whether it is a resource that loaders look for. Such a file makes a directory a model's, and it is removed
// when another model replaces the model.
bool is_vital_resource(std::string_view name);
bool is_shard(std::string_view name);
bool is_weights(std::string_view name);
// PyTorch weights, as one file or the index of a set; not the shards.
bool is_torch_weights(std::string_view name);
bool is_torch_shard(std::string_view name);
// Returns whether some loader would take a file of this name for the weights of the directory: PyTorch's, and those of
// other programs.
bool is_others_weights(std::string_view name);
// Returns the files to remove when another model replaces the one in the directory: the weights first, in an order in
// which no intermediate state can be read as a model. Links are not followed.
// Only parts of the old model are listed: the weights that a reader would choose (for a set, the files that its index
// names), the well-known files next to them, and the attachments that Tare numbered and tare.json names. Other weights
// stay.
io::OldFiles old_files(const io::Directory& directory);
// Returns whether it is a relative path that stays inside the directory on any system, and can be printed on any
// terminal.
bool is_safe_path(std::string_view name);
std::string without_slashes(std::string path);

// Returns file -> digest for the files that config and vocabulary are read from, as stored in tare.json.
Map digests_of(const std::vector<Attachment>& files);
// Returns the files that have no digest, or another one than the stated one.
std::vector<std::string> edited_since(const Map& digests, const std::vector<Attachment>& files);
// Returns the files that have a stated digest and do not exist in the directory.
std::vector<std::string> missing_since(const Map& digests, const std::vector<std::string>& files);
// Returns the fields that turn `found` into `wanted`; null means that the field is removed.
Map differences(const Config& found, const Config& wanted);
// Applies such differences. `misfits` receives a description of each entry that is not a field or has the wrong kind;
// the field of `found` stays.
Config with_differences(const Config& found, const Map& fields, bool only_missing, std::vector<std::string>& misfits);

// The same for a vocabulary: the parts that differ. For lists of the same length only the elements that differ, by
// position.
Map differences(const Vocabulary& found, const Vocabulary& wanted);
// Throws `vocabulary.malformed` for differences that do not fit `found`.
Vocabulary with_differences(const Vocabulary& found, const Map& parts);

// Returns whether the directory is a pipeline of several models (diffusers), which is not a model itself.
// `refuse_pipeline` throws `hf.pipeline` if it is.
bool is_pipeline(const std::string& directory);
void refuse_pipeline(const std::string& directory);

bool recognize(const std::string& path);
Model read(const Input& input, const ReadOptions& options);
std::vector<Change> remarks(const Model& model, const WriteOptions& options);
std::uint64_t write(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::hf
