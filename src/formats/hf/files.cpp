// Decides which files of a directory are weights, resources, or something else.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/name_map.hpp"
#include "base/path_parts.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/foreign_weights.hpp"
#include "formats/hf/hf.hpp"
#include "formats/rows.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/descriptor.hpp"
#include "io/listing.hpp"
#include "io/places.hpp"
#include "io/remote/url.hpp"
#include "io/tree_sink.hpp"
#include "resources/model_files.hpp"

namespace tare::hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBin = ".bin", kBinIndex = ".bin.index.json";

bool is_foreign(std::string_view name) { return !foreign_weights(name).empty(); }
bool is_torch_index(std::string_view name) { return is_torch_weights(name) && name.ends_with(kBinIndex); }

std::vector<std::string> those(const std::vector<std::string>& files, bool (*wanted)(std::string_view)) {
  std::vector<std::string> chosen;
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

bool is_index(std::string_view name) { return safetensors::stem_of_index(name).has_value(); }
bool is_whole(std::string_view name) { return name.ends_with(safetensors::kSuffix) && !is_shard(name); }

template <typename Wanted>
std::vector<std::string> list(const std::string& directory, const Wanted& wanted) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const std::string& name : io::names_in(directory, failed)) {
    std::error_code gone;
    if (wanted(fs::directory_entry(io::path_in(directory, name), gone))) names.push_back(name);
  }
  if (failed) throw io::system_error("hf.directory", "cannot look into the directory", directory, failed.value());
  return names;
}

// The same for a directory on a server, which has only files and folders.
std::vector<std::string> list_remote(const std::string& directory, io::EntryKind wanted) {
  std::error_code failed;
  std::vector<std::string> names = io::names_in(directory, failed);
  std::erase_if(names, [&](const std::string& name) { return io::kind_at(io::path_in(directory, name)) != wanted; });
  return names;
}

// Returns NAME.safetensors for NAME.fp16.safetensors, of which that would be a variant; nothing for a name with fewer
// parts.
std::optional<std::string> without_variant(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::size_t dot = name.rfind('.', last - 1);
  if (dot == std::string_view::npos || dot + 1 == last) return std::nullopt;
  return fmt::format("{}{}", name.substr(0, dot), name.substr(last));
}

// Removes variants of other names in the list: loaders use the plain name unless a variant is asked for.
std::vector<std::string> without_variants(const std::vector<std::string>& names) {
  const NameViewSet known(names.begin(), names.end());
  std::vector<std::string> chosen;
  std::ranges::copy_if(names, std::back_inserter(chosen), [&](const std::string& name) {
    const auto plain = without_variant(name);
    return !plain || !known.contains(*plain);
  });
  return chosen;
}

// Returns whether the text has characters that must not reach a terminal in a file's name: C0, DEL, C1, and those that
// reorder or break lines.
bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned first = byte(i), second = byte(i + 1), third = byte(i + 2);
    if (first < 0x20 || first == 0x7F || (first == 0xC2 && second < 0xA0)) return true;
    const unsigned point = (first & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F);
    if (first == 0xE2 && ((point >= 0x200E && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
                          (point >= 0x2066 && point <= 0x2069)))
      return true;
  }
  return false;
}

// Returns whether the path is a directory with weights, or a set of files in another container.
bool holds_model(const std::string& path) {
  const bool set = std::ranges::any_of(formats(), [&](const Format& format) {
    return format.recognize_tree != nullptr && format.recognize_tree != recognize && format.recognize_tree(path);
  });
  if (set) return true;
  try {
    choose_weights(path, list_files(path));
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Returns the folder in which an interrupted conversion left a complete model; empty if there is none.
std::string leftover_in(const std::string& directory) {
  for (const std::string& leftover : io::find_leftovers(directory))
    if (holds_model(fmt::format("{}/{}", directory, leftover))) return leftover;
  return {};
}

}  // namespace

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::vector<std::string> list_files(const std::string& directory) {
  if (io::is_remote(directory)) return list_remote(directory, io::EntryKind::file);
  return list(directory, [](const fs::directory_entry& entry) {
    std::error_code broken;
    const std::string name = entry.path().filename().string();
    // For files that matter to a model it is important that they exist, even if they cannot be read.
    return entry.is_regular_file(broken) || is_vital_resource(name) || is_weights(name) || is_torch_weights(name) ||
           name == kPrivateFile || (is_resource(name) && !entry.is_directory(broken));
  });
}

std::vector<std::string> list_folders(const std::string& directory) {
  if (io::is_remote(directory)) return list_remote(directory, io::EntryKind::folder);
  return list(directory, [](const fs::directory_entry& entry) {
    std::error_code broken;
    return entry.is_directory(broken);
  });
}

std::vector<std::string> list_entries(const std::string& directory) {
  std::error_code failed;
  if (io::is_remote(directory)) return io::names_in(directory, failed);
  return list(directory, [](const fs::directory_entry&) { return true; });
}

std::vector<std::string> list_below(const std::string& directory, const std::string& folder) {
  constexpr std::size_t kMost = 10'000;
  constexpr unsigned kDeepest = 8;
  std::vector<std::string> found, folders = {folder};
  std::size_t entries = 0;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string prefix = folders[i].empty() ? "" : folders[i] + "/";
    for (const std::string& name : list_entries(fmt::format("{}/{}", directory, folders[i]))) {
      if (name.starts_with('.')) continue;
      const std::string relative = prefix + name, path = fmt::format("{}/{}", directory, relative);
      std::error_code broken;
      // Links are not followed
      const bool is_folder = io::is_remote(path) ? io::is_folder(path)
                                                 : fs::symlink_status(path, broken).type() == fs::file_type::directory;
      if (++entries > kMost || (is_folder && std::ranges::count(relative, '/') >= kDeepest))
        throw Error(ErrorKind::limit, "hf.folder.large",
                    fmt::format("more than {} files or {} levels of folders: this is not the directory of a model",
                                kMost, kDeepest))
            .in(path);
      if (is_folder)
        folders.push_back(relative);
      else if (io::is_file(path))
        found.push_back(relative);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string stem_of(const Weights& weights) {
  if (weights.parts) return std::string(safetensors::kUsualStem);
  if (weights.torch) {
    const std::string stem =
        weights.file.substr(0, weights.file.size() - (weights.index ? kBinIndex.size() : kBin.size()));
    return stem == "pytorch_model" ? std::string(safetensors::kUsualStem) : stem;
  }
  if (weights.index) return *safetensors::stem_of_index(weights.file);
  return weights.file.substr(0, weights.file.size() - safetensors::kSuffix.size());
}

std::optional<std::string> stem_in(const Map& metadata) {
  const Value* const value = metadata.find(kStemKey);
  const std::string* const stem = value == nullptr ? nullptr : value->text();
  if (stem == nullptr || *stem == safetensors::kUsualStem) return std::nullopt;
  const std::string file = *stem + std::string(safetensors::kSuffix);
  const bool plain = is_safe_path(file) && stem->find('/') == std::string::npos && !stem->starts_with('.') &&
                     std::ranges::none_of(*stem, [](unsigned char c) { return c < ' ' || c == 0x7f; });
  if (!plain || stem->empty() || is_shard(file)) return std::nullopt;
  return *stem;
}

std::optional<std::string> what_is_wrong(const std::string& path) {
  if (io::is_remote(path))
    return io::is_file(path) ? std::nullopt : std::optional<std::string>("is not a file of the repository");
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (fs::is_regular_file(status)) return std::nullopt;
  if (fs::is_directory(status)) return "expected a file, found a directory; move it away";
  if (fs::exists(status)) return "expected a file, found a pipe, socket or device; move it away";
  std::error_code no_link;
  if (const fs::path leads = fs::read_symlink(path, no_link); !no_link)
    return fmt::format(
        "is a link to {}, which cannot be reached ({}); download the file again, or remove the link",
        quote(leads.string()),
        failed ? failed.message() : std::make_error_code(std::errc::no_such_file_or_directory).message());
  return "does not exist; download it again";
}

bool is_resource(std::string_view name) {
  const resources::FileKind kind = resources::kind_of(name);
  return kind != resources::FileKind::other && kind != resources::FileKind::code && is_safe_path(name);
}

bool is_vital_resource(std::string_view name) {
  return is_resource(name) && resources::kind_of(name) != resources::FileKind::document;
}

bool is_shard(std::string_view name) {
  if (safetensors::parse_shard_name(name)) return true;
  // An older naming of variants: x-00001-of-00004.fp16.safetensors.
  if (!name.ends_with(safetensors::kSuffix)) return false;
  name.remove_suffix(safetensors::kSuffix.size());
  const std::size_t variant = name.rfind('.');
  return variant != std::string_view::npos &&
         safetensors::parse_shard_name(std::string(name.substr(0, variant)) + std::string(safetensors::kSuffix));
}

bool is_torch_shard(std::string_view name) {
  // For example pytorch_model-00001-of-00002.bin.
  if (!name.ends_with(kBin)) return false;
  return is_shard(std::string(name.substr(0, name.size() - kBin.size())) + std::string(safetensors::kSuffix));
}

bool is_torch_weights(std::string_view name) {
  std::string_view stem = name;
  if (stem.ends_with(kBinIndex))
    stem.remove_suffix(kBinIndex.size());
  else if (stem.ends_with(kBin) && !is_torch_shard(name))
    stem.remove_suffix(kBin.size());
  else
    return false;
  return stem.find("pytorch_model") != std::string_view::npos || stem == "adapter_model";
}

bool is_others_weights(std::string_view name) {
  if (is_torch_weights(name) || is_torch_shard(name)) return true;
  if (name.starts_with("consolidated.") && name.ends_with(".pth")) return true;
  return name == "tf_model.h5" || name == "flax_model.msgpack" || name.ends_with(".distcp");
}

bool is_weights(std::string_view name) { return name.ends_with(safetensors::kSuffix) || is_index(name); }

bool is_safe_path(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest || !is_valid_utf8(name) || has_control_characters(name)) return false;
  if (name.find_first_of(std::string_view("\\:\0", 3)) != std::string_view::npos) return false;
  return stays_below(name);
}

bool recognize(const std::string& path) {
  if (!io::is_folder(path)) return false;
  const std::vector<std::string> files = list_files(path);
  return std::any_of(files.begin(), files.end(),
                     [](const std::string& file) {
                       return is_vital_resource(file) || is_weights(file) || is_torch_weights(file) ||
                              is_torch_shard(file);
                     }) ||
         !io::find_leftovers(path).empty() || is_pipeline(path);
}

namespace {

// Returns the files, followed by those of the first folders in the directory: exporters put theirs into onnx/ and the
// like.
std::vector<std::string> with_folders(const std::string& directory, std::vector<std::string> files) {
  constexpr std::size_t kMostFolders = 32;
  std::vector<std::string> folders = list_folders(directory);
  folders.resize(std::min(folders.size(), kMostFolders));
  for (const std::string& folder : folders)
    for (const std::string& file : list_files(fmt::format("{}/{}", directory, folder)))
      files.push_back(fmt::format("{}/{}", folder, file));
  return files;
}

// Why a directory has no weights.
class NoWeights {
 public:
  NoWeights(const std::string& directory, const std::vector<std::string>& files, bool replaced)
      : directory_(directory), files_(files), replaced_(replaced), leftover_(leftover_in(directory)) {}

  Error error() const {
    if (const auto shards = those(files_, is_shard); !shards.empty()) return no_index(shards.front(), kIndex);
    if (const auto torch = those(files_, is_torch_shard); !torch.empty()) return no_index(torch.front(), kOldIndex);
    if (const auto foreign = those(with_folders(directory_, files_), is_foreign); !foreign.empty())
      return error(ErrorKind::unsupported, "hf.weights.foreign",
                   fmt::format("there are no weights that Tare can read; {} ({}) is there", quote(foreign.front()),
                               foreign_weights(foreign.front())),
                   fmt::format("download the model's {}", kFile));
    std::vector<std::string> others;
    for (const std::string& file : files_)
      if (format_of_suffix(file) != nullptr) others.push_back(quote(file));
    return error(ErrorKind::not_found, "hf.weights.missing",
                 fmt::format("there are no weights: neither {} nor {}", kFile, kIndex),
                 others.empty() ? "download them into the directory"
                                : fmt::format("to read one of these files, name it: {}", fmt::join(others, ", ")));
  }

 private:
  Error no_index(const std::string& shard, std::string_view index) const {
    return error(ErrorKind::not_found, "hf.weights.no_index",
                 fmt::format("{} is a shard, and there is no index", shard),
                 fmt::format("download {} into the directory", index));
  }
  // A leftover of an interrupted conversion is better advice than `advice`.
  Error error(ErrorKind kind, std::string_view rule, const std::string& what, const std::string& advice) const {
    if (!leftover_.empty())
      return Error(kind, rule,
                   fmt::format("{}; a conversion into the directory was interrupted, a whole model is in {}", what,
                               leftover_))
          .in(directory_)
          .remedy(Remedy::restore_leftover, fmt::format("{0}/{1} {0}/", directory_, leftover_));
    const std::string_view now = "another program is replacing them at this moment; try again";
    return Error(kind, rule, fmt::format("{}; {}", what, replaced_ ? now : advice)).in(directory_);
  }

  const std::string& directory_;
  const std::vector<std::string>& files_;
  bool replaced_;
  std::string leftover_;
};

}  // namespace

Weights choose_weights(const std::string& directory, const std::vector<std::string>& files) {
  const auto has = [&](std::string_view name) { return std::find(files.begin(), files.end(), name) != files.end(); };
  const auto ambiguous = [&](const std::vector<std::string>& names) {
    constexpr std::size_t kNamed = 8;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed));
    return Error(ErrorKind::corrupt, "hf.weights.ambiguous",
                 fmt::format("several files could be the weights: {}{}; name the one you mean, or move the others away",
                             fmt::join(names.begin(), end, ", "),
                             names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : ""))
        .in(directory);
  };
  if (has(kFile) && has(kIndex)) throw ambiguous({std::string(kFile), std::string(kIndex)});
  if (has(kFile)) return {std::string(kFile), false};
  if (has(kIndex)) return {std::string(kIndex), true};

  // During a replacement, a leftover weights file must not be taken for the model.
  const bool replaced = io::is_being_replaced(directory);
  const auto indexes = without_variants(those(files, is_index)), wholes = without_variants(those(files, is_whole));
  const auto shards = those(files, is_shard);
  if (indexes.size() + wholes.size() == 1 && !replaced)
    return indexes.empty() ? Weights{wholes.front(), false} : Weights{indexes.front(), true};
  if (indexes.size() + wholes.size() > 1 && !replaced) {
    auto candidates = indexes;
    candidates.insert(candidates.end(), wholes.begin(), wholes.end());
    throw ambiguous(candidates);
  }
  // PyTorch weights, if there are no others: under their usual names, or the only candidate.
  if (shards.empty() && !replaced) {
    if (has(kOldFile) && has(kOldIndex)) throw ambiguous({std::string(kOldFile), std::string(kOldIndex)});
    if (has(kOldFile)) return {std::string(kOldFile), false, true};
    if (has(kOldIndex)) return {std::string(kOldIndex), true, true};
    const auto torch = without_variants(those(files, is_torch_weights));
    if (torch.size() == 1) return {torch.front(), is_torch_index(torch.front()), true};
    if (torch.size() > 1) throw ambiguous(torch);
    if (torch::kFormat.recognize_tree(directory)) return {.file = {}, .index = false, .torch = true, .parts = true};
  }
  if (auto split = those(shards, is_split_shard); !split.empty() && !replaced)
    return {.file = {}, .index = false, .torch = false, .parts = true, .split = std::move(split)};
  throw NoWeights(directory, files, replaced).error();
}

}  // namespace tare::hf
