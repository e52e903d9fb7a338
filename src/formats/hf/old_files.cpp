// Lists the files of a directory's model that must be removed when another model replaces it.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.hpp"
#include "formats/hf/hf.hpp"
#include "formats/private_tree.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/descriptor_source.hpp"
#include "io/tree_sink.hpp"
#include "resources/model_files.hpp"

namespace tare::hf {
namespace {

constexpr std::uint64_t kMostPrivate = std::uint64_t{64} << 20;

std::vector<std::string> names_in(const io::Directory& directory) {
  try {
    return directory.names();
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::io, "hf.directory",
                fmt::format("cannot look into the directory: {}", error.code().message()));
  }
}

bool is_folder(const io::Directory& directory, const std::string& name) {
  struct stat status {};
  return directory.look(name.c_str(), status) && S_ISDIR(status.st_mode);
}

bool has(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// Returns the shards in the directory that an interrupted replacement left without their index, which is still in its
// staging directory.
std::vector<std::string> shards_left_in(const io::Directory& directory, const std::vector<std::string>& files) {
  std::vector<std::string> shards;
  for (const std::string& name : io::abandoned_staging_directories(directory))
    for (const char* const part : {io::kTaken, io::kOld, io::kNew}) {
      const io::Directory opened = directory.walk(fmt::format("{}/{}", name, part));
      if (!opened) continue;
      for (const std::string& index : names_in(opened))
        for (std::string& shard : safetensors::shards_named_by(opened, index))
          if (has(files, shard) && std::find(shards.begin(), shards.end(), shard) == shards.end())
            shards.push_back(std::move(shard));
    }
  return shards;
}

// Returns the weights, with the file that makes them a model first: shards without an index are not a model.
std::vector<std::string> weights_among(const io::Directory& directory, const std::vector<std::string>& files) {
  std::vector<std::string> weights;
  for (const std::string_view name : {kFile, kIndex})
    if (has(files, name)) weights.emplace_back(name);
  if (io::is_being_replaced(directory)) {
    // During a replacement, the only remaining candidate may be something else than the model, most often an adapter.
    for (std::string& shard : shards_left_in(directory, files)) weights.push_back(std::move(shard));
  } else if (weights.empty()) {
    std::copy_if(files.begin(), files.end(), std::back_inserter(weights),
                 [](const std::string& name) { return is_weights(name) && !is_shard(name); });
    // If there are several, no reader chooses one of them.
    if (weights.size() != 1) return {};
  }
  const std::size_t chosen = weights.size();
  for (std::size_t i = 0; i < chosen; ++i)
    for (const std::string& shard : safetensors::shards_named_by(directory, weights[i]))
      if (has(files, shard) && std::find(weights.begin(), weights.end(), shard) == weights.end())
        weights.push_back(shard);
  return weights;
}

bool is_number(std::string_view name) {
  return name.size() >= 6 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns the numbered attachments that tare.json names. Other files that it names may belong to the user by now.
std::vector<std::string> numbered_attachments(const io::Directory& directory) {
  std::vector<std::string> numbered;
  const io::Directory folder = directory.enter(std::string(kPrivateFolder).c_str());
  io::Descriptor file = folder ? directory.read(std::string(kPrivateFile).c_str()) : io::Descriptor();
  if (!file) return numbered;
  try {
    const SourcePtr source = io::descriptor_source(std::move(file), std::string(kPrivateFile));
    const Bytes bytes = Blob::range(source, 0, source->size()).bytes(kMostPrivate);
    const Limits limits;
    PrivateTree tree = PrivateTree::parse(as_text(bytes), private_bounds(limits), kPrivateRule);
    const Map* const names = tree.map("attachments");
    if (names == nullptr) return numbered;
    const std::string prefix = fmt::format("{}/", kPrivateFolder);
    for (const auto& [name, original] : *names) {
      struct stat status {};
      const std::string plain = name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
      if (is_number(plain) && folder.look(plain.c_str(), status) && !S_ISDIR(status.st_mode)) numbered.push_back(name);
    }
  } catch (const Error&) {
    // tare.json is not ours, so it names no attachments.
  }
  return numbered;
}

}  // namespace

io::OldFiles old_files(const io::Directory& directory) {
  io::OldFiles old;
  std::vector<std::string> files;
  // Loaders would take these for the new model's. Documents are written by people, so they stay unless the new model
  // has its own.
  const auto is_other = [](std::string_view name) {
    return (is_vital_resource(name) && resources::is_known_name(name)) || name == kPrivateFile;
  };
  for (std::string& name : names_in(directory)) {
    if (!is_folder(directory, name))
      files.push_back(std::move(name));
    else if (is_other(name) || name == kFile || name == kIndex)
      old.in_the_way.push_back(std::move(name));
  }
  old.vital = weights_among(directory, files);
  // Without a model in the directory, all files in it belong to the user.
  if (old.vital.empty() && !has(files, kPrivateFile) && !io::is_being_replaced(directory)) return old;
  // An adapter next to the model belongs to the user, and so does its config.
  const bool is_adapter = std::ranges::any_of(old.vital, [](const auto& name) { return name.starts_with("adapter_"); });
  for (const std::string& name : files) {
    if (name == "adapter_config.json" && !is_adapter) continue;
    // If it is a link to a folder, the link is removed
    if (is_other(name) || name == kTemplateFolder) old.others.push_back(name);
  }
  if (const io::Directory templates = directory.enter(std::string(kTemplateFolder).c_str()))
    for (const std::string& name : names_in(templates))
      if (name.ends_with(".jinja") && !is_folder(templates, name))
        old.others.push_back(fmt::format("{}/{}", kTemplateFolder, name));
  const auto numbered = numbered_attachments(directory);
  old.others.insert(old.others.end(), numbered.begin(), numbered.end());
  return old;
}

}  // namespace tare::hf
