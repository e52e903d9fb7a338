// Which files of a directory are what.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "formats/hf.hpp"
#include "formats/safetensors.hpp"
#include "resources/resources.hpp"

namespace tare::hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "model.safetensors", kIndex = "model.safetensors.index.json";

// "-00001-of-00005.safetensors"
bool is_shard(std::string_view name) {
  constexpr std::string_view kPattern = "-00000-of-00000";
  if (!name.ends_with(safetensors::kSuffix)) return false;
  name.remove_suffix(safetensors::kSuffix.size());
  if (name.size() < kPattern.size()) return false;
  name.remove_prefix(name.size() - kPattern.size());
  return std::equal(name.begin(), name.end(), kPattern.begin(),
                    [](char c, char p) { return p == '0' ? c >= '0' && c <= '9' : c == p; });
}

bool is_torch(std::string_view name) {
  return (name.starts_with("pytorch_model") && (name.ends_with(".bin") || name.ends_with(".bin.index.json"))) ||
         name.ends_with(".pth") || name.ends_with(".pt");
}

std::vector<std::string> those(const std::vector<std::string>& files, bool (*wanted)(std::string_view)) {
  std::vector<std::string> chosen;
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

bool is_index(std::string_view name) { return name.ends_with(safetensors::kIndexSuffix); }
bool is_whole(std::string_view name) { return name.ends_with(safetensors::kSuffix) && !is_shard(name); }

}  // namespace

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::vector<std::string> list_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::directory_iterator entry(directory, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    std::error_code broken;  // a link that leads nowhere is no file
    if (entry->is_regular_file(broken)) files.push_back(entry->path().filename().string());
  }
  if (failed)
    throw Error(ErrorKind::io, "hf.directory", fmt::format("cannot look into the directory: {}", failed.message()))
        .in(directory);
  std::sort(files.begin(), files.end());
  return files;
}

bool is_resource(std::string_view name) {
  constexpr std::string_view kTemplates = "additional_chat_templates/";
  if (name.starts_with(kTemplates))
    return name.ends_with(".jinja") && is_safe_path(name) &&
           name.find('/', kTemplates.size()) == std::string_view::npos;
  return resources::role_of(name) != resources::Role::other;
}

bool is_safe_path(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest || !is_valid_utf8(name)) return false;
  if (name.find_first_of(std::string_view("\\:\0", 3)) != std::string_view::npos) return false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

bool recognize(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return false;
  try {
    const std::vector<std::string> files = list_files(path);
    return std::any_of(files.begin(), files.end(), [](const std::string& file) {
      return is_resource(file) || file.ends_with(safetensors::kSuffix) || is_index(file) || is_torch(file);
    });
  } catch (const Error&) {
    return false;
  }
}

Weights choose_weights(const std::string& directory, const std::vector<std::string>& files) {
  const auto refuse = [&](ErrorKind kind, std::string_view rule, const std::string& sentence) {
    return Error(kind, rule, sentence).in(directory);
  };
  const auto has = [&](std::string_view name) { return std::find(files.begin(), files.end(), name) != files.end(); };
  const auto ambiguous = [&](const std::vector<std::string>& names) {
    return refuse(ErrorKind::corrupt, "hf.weights.ambiguous",
                  fmt::format("several files could be the weights: {}; name the one you mean, or move the others away",
                              fmt::join(names, ", ")));
  };
  if (has(kFile) && has(kIndex)) throw ambiguous({std::string(kFile), std::string(kIndex)});
  if (has(kFile)) return {std::string(kFile), false};
  if (has(kIndex)) return {std::string(kIndex), true};

  const auto indexes = those(files, is_index), wholes = those(files, is_whole), shards = those(files, is_shard);
  if (indexes.size() + wholes.size() == 1)
    return indexes.empty() ? Weights{wholes.front(), false} : Weights{indexes.front(), true};
  if (indexes.size() + wholes.size() > 1) {
    auto candidates = indexes;
    candidates.insert(candidates.end(), wholes.begin(), wholes.end());
    throw ambiguous(candidates);
  }
  if (!shards.empty())
    throw refuse(
        ErrorKind::not_found, "hf.weights.no_index",
        fmt::format("{} is a shard, and there is no index; download {} into the directory", shards.front(), kIndex));
  if (const auto torch = those(files, is_torch); !torch.empty())
    throw refuse(ErrorKind::unsupported, "hf.weights.torch",
                 fmt::format("the weights are in PyTorch's format ({}), which Tare cannot read yet; download the "
                             "model's {} or convert it with PyTorch",
                             torch.front(), kFile));
  throw refuse(ErrorKind::not_found, "hf.weights.missing",
               fmt::format("there are no weights: neither {} nor {}; download them into the directory", kFile, kIndex));
}

}  // namespace tare::hf
