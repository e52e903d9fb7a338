// What the parts of the Hugging Face directory share; see hf.cpp for what lies where.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/links.hpp"
#include "io/tree_swap.hpp"
#include "tare/format.hpp"

namespace tare::hf {

// What a directory has no place for: written only where it is needed.
inline constexpr std::string_view kPrivateFile = "tare.json", kPrivateRule = "hf.private.form";
// Attachments whose names cannot be file names here.
inline constexpr std::string_view kPrivateFolder = "attachments";
inline constexpr std::string_view kTemplateFolder = "additional_chat_templates";
// The weights, whole or in shards: what every reader looks for first.
inline constexpr std::string_view kFile = "model.safetensors", kIndex = "model.safetensors.index.json";

// What transformers called them before, and where there is nothing else still reads.
inline constexpr std::string_view kOldFile = "pytorch_model.bin", kOldIndex = "pytorch_model.bin.index.json";

// The weights a directory holds.
struct Weights {
  std::string file;    // name in the directory
  bool index = false;  // of a set
  bool torch = false;  // PyTorch's
  bool parts = false;  // those of a distributed checkpoint, which is the directory itself
  // Of one whose processes wrote safetensors: boxes of the tensors (split.cpp).
  std::vector<std::string> split = {};
};
// Throws `hf.weights.*`, saying which file and what to do, when there is not exactly one candidate.
Weights choose_weights(const std::string& directory, const std::vector<std::string>& files);

// shard-00001-model-00001-of-00002.safetensors: what a process of torch.distributed.checkpoint wrote for itself.
bool is_split_shard(std::string_view name);
// The model of such files. Throws `hf.split.*`.
Model read_split(const std::string& directory, const std::vector<std::string>& files, const ReadOptions& options);

// The metadata key with the weights' name before ".safetensors", where it is not "model": adapter_model,
// diffusion_pytorch_model, model.fp16. Programs find their weights by it.
inline constexpr std::string_view kStemKey = "hf.weights";
std::string stem_of(const Weights& weights);
// The stem that a model's weights are to have; nothing where it has none that can be a file's name.
std::optional<std::string> stem_in(const Map& metadata);

// Names of the files in a directory, sorted; links are followed. What has the name of a model's file is among them
// whatever it is: see `what_is_wrong`. Throws `hf.directory`.
std::vector<std::string> list_files(const std::string& directory);
std::vector<std::string> list_folders(const std::string& directory);
std::vector<std::string> list_entries(const std::string& directory);
// Files below a folder of the directory (empty: all of it), relative to the directory, sorted; links to files are among
// them, those to folders are not entered, nor is what is hidden. Throws `hf.directory`, and `hf.folder.large` for a folder
// that has more than a model's could.
std::vector<std::string> list_below(const std::string& directory, const std::string& folder);
// Why the file cannot be read, and what to do: a link that leads nowhere, a directory. Nothing: it is a regular file.
std::optional<std::string> what_is_wrong(const std::string& path);
// Whether a file of this name belongs to a model wherever it lies (config.json, a chat template, README.md): relative to
// the directory.
bool is_resource(std::string_view name);
// Of those, the ones that loaders look for: they make a directory a model's, and go when another model takes its place.
bool is_vital_resource(std::string_view name);
bool is_shard(std::string_view name);
bool is_weights(std::string_view name);
// PyTorch's, whole or the index of a set; not its shards.
bool is_torch_weights(std::string_view name);
bool is_torch_shard(std::string_view name);
// What some loader would take for the weights of the directory, were it there: PyTorch's and those of other programs.
bool is_others_weights(std::string_view name);
// What the model in a directory leaves behind when another takes its place: first the weights, in an order in which no
// state in between can be read as a model. Links are not followed.
// Only what the old model itself is made of: the weights that a reader would take (of a set what the index names), the
// well-known files beside them, and the attachments that Tare numbered and tare.json names. Other weights stay.
io::OldFiles old_files(const io::Directory& directory);
// A relative path that stays inside the directory, on any system, and can be shown on any terminal.
bool is_safe_path(std::string_view name);
std::string without_slashes(std::string path);

// Of the files that config and vocabulary are read from: file -> digest, as tare.json has it.
Map digests_of(const std::vector<Attachment>& files);
// The names of those that have another digest than the stated one, or none.
std::vector<std::string> edited_since(const Map& digests, const std::vector<Attachment>& files);
// Those that have a digest and are not among the files of the directory.
std::vector<std::string> missing_since(const Map& digests, const std::vector<std::string>& files);
// The fields that make one config of the other; null: to be taken away.
Map differences(const Config& found, const Config& wanted);
// `misfits` gets, in words, what is no field or not of its kind; what `found` has of it stays.
Config with_differences(const Config& found, const Map& fields, bool only_missing, std::vector<std::string>& misfits);

// Likewise of a vocabulary: the parts that differ; of lists of the same length only their elements, by position.
Map differences(const Vocabulary& found, const Vocabulary& wanted);
// Throws `vocabulary.malformed` for what does not fit `found`.
Vocabulary with_differences(const Vocabulary& found, const Map& parts);

// Whether it is a pipeline of several models (diffusers), which is no model itself. `refuse_pipeline` throws `hf.pipeline` if
// so.
bool is_pipeline(const std::string& directory);
void refuse_pipeline(const std::string& directory);

bool recognize(const std::string& path);
Model read(const Input& input, const ReadOptions& options);
std::vector<Change> remarks(const Model& model, const WriteOptions& options);
std::uint64_t write(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite);

}  // namespace tare::hf
