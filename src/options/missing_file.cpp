#include "options/missing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "formats/format.hpp"
#include "io/listing.hpp"
#include "io/remote/url.hpp"

namespace tare {
namespace {

namespace fs = std::filesystem;

bool is_url(std::string_view path) {
  const std::size_t colon = path.find("://");
  return colon != path.npos && colon > 1 &&
         std::ranges::all_of(path.substr(0, colon), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Whether a path looks like "owner/name" on Hugging Face: neither a file with a suffix, nor below a directory.
bool names_repository(std::string_view path) {
  const std::size_t slash = path.find('/');
  const auto is_usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '/';
  };
  std::error_code ignored;
  return slash != path.npos && slash > 0 && slash + 1 < path.size() && path.find('/', slash + 1) == path.npos &&
         path[0] != '.' && path[0] != '-' && std::ranges::all_of(path, is_usual) && format_of_suffix(path) == nullptr &&
         !fs::exists(path.substr(0, slash), ignored);
}

// The name in the same directory that is most similar.
std::string similar_name(const fs::path& path) {
  constexpr std::size_t kMostEntries = 2000;  // a hint is not worth listing more
  const fs::path directory = path.parent_path();
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator i(directory.empty() ? "." : directory, failed), end; !failed && i != end;
       i.increment(failed)) {
    if (names.size() == kMostEntries) return {};
    names.push_back(i->path().filename().string());
  }
  std::ranges::sort(names);  // so that the hint does not depend on the order of the directory
  const auto near = nearest(path.filename().string(), names, 1);
  return near.empty() ? std::string() : io::path_in(directory.native(), near.front());
}

}  // namespace

std::string not_a_file(std::string_view path) {
  if (path == "-") return "Tare reads parts of a file in any order and needs a file, not standard input";
  return is_url(path) && !io::is_remote(path)
             ? "Tare reads https://, http://, hf:// and s3:// addresses: fetch the file first"
             : "";
}

std::string missing_file_hint(const std::string& path) {
  std::error_code ignored;
  if (io::is_remote(path) || fs::exists(path, ignored)) return {};
  const std::string similar = similar_name(path);
  if (names_repository(path) && (similar.empty() || similar == path))
    return fmt::format("; if it is a model of Hugging Face, its address is hf:{}", printable(path));
  if (similar.empty() || similar == path) return {};
  return fmt::format("; did you mean {}{}?", similar.starts_with('-') ? "./" : "", printable(similar));
}

std::string missing_file_sentence(std::string_view sentence, const std::string& path) {
  const std::string instead = not_a_file(path);
  return instead.empty() ? fmt::format("{}{}", sentence, missing_file_hint(path)) : instead;
}

}  // namespace tare
