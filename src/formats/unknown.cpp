#include "formats/unknown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/lookalike.hpp"
#include "base/printable.hpp"
#include "formats/foreign_weights.hpp"
#include "formats/format.hpp"
#include "io/listing.hpp"
#include "io/places.hpp"
#include "wire/zip.hpp"

namespace tare {
namespace {

namespace fs = std::filesystem;

class Head {
 public:
  explicit Head(const Source& source) {
    length_ = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_.size(), source.size()));
    source.read(0, std::as_writable_bytes(std::span(bytes_).first(length_)));
  }
  std::string_view text() const { return {bytes_.data(), length_}; }

 private:
  std::array<char, 512> bytes_{};
  std::size_t length_ = 0;
};

std::vector<std::string> members_of(const Source& source) {
  constexpr std::uint64_t kDirectory = std::uint64_t{16} << 20;
  Diagnostics strict;
  std::vector<std::string> names;
  for (const wire::ZipMember& member : wire::read_zip(source, kDirectory, strict)) names.push_back(member.name);
  return names;
}

// Describes an archive by its members. A broken directory makes it just a zip archive.
std::string words_for_archive(const Source& source) {
  try {
    const std::vector<std::string> names = members_of(source);
    if (const std::string_view words = archive_lookalike(names); !words.empty()) return std::string(words);
    return fmt::format("a zip archive with {} members, none of them an array", names.size());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return "a zip archive, truncated or damaged; download it again";
  }
}

std::string first_bytes(std::string_view text) {
  const std::string_view first = text.substr(0, 8);
  return fmt::format("{:02x}", fmt::join(reinterpret_cast<const unsigned char*>(first.data()),
                                         reinterpret_cast<const unsigned char*>(first.data()) + first.size(), " "));
}

// Returns the sorted names in a directory, at most 1000; none if it cannot be listed.
std::vector<std::string> names_in(const std::string& path, bool folders) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> names;
  std::error_code failed;
  for (const std::string& name : io::names_in(path, failed)) {
    if (names.size() == kMost) break;
    if (!name.starts_with('.') &&
        io::kind_at(io::path_in(path, name)) == (folders ? io::EntryKind::folder : io::EntryKind::file))
      names.push_back(name);
  }
  return names;
}

// Returns whether the file has the suffix of a format.
bool is_named_as_ours(const std::string& path, const std::string& file) {
  return format_of_suffix(fmt::format("{}/{}", path, file)) != nullptr;
}

// Returns whether a format recognises the directory, and it contains a file with the suffix of a format.
bool is_model(const std::string& path) {
  const auto named = [&](const std::string& file) { return is_named_as_ours(path, file); };
  const auto known = [&](const Format& format) {
    return format.recognize_tree != nullptr && format.recognize_tree(path);
  };
  return std::ranges::any_of(names_in(path, false), named) && std::ranges::any_of(formats(), known);
}

// Returns the models one level down: parts of a diffusers pipeline, modules of an older sentence-transformers
// directory, and snapshots of the hub's cache.
std::vector<std::string> models_below(const std::string& path) {
  constexpr std::string_view kSnapshots = "snapshots";
  std::vector<std::string> found;
  const auto look_into = [&](const std::string& folder) {
    if (is_model(fmt::format("{}/{}", path, folder))) found.push_back(quote(folder) + "/");
  };
  for (const std::string& folder : names_in(path, true)) {
    look_into(folder);
    if (folder != kSnapshots) continue;
    for (const std::string& revision : names_in(fmt::format("{}/{}", path, folder), true))
      look_into(fmt::format("{}/{}", folder, revision));
  }
  return found;
}

}  // namespace

bool is_foreign_archive(const Source& source) {
  try {
    return !archive_lookalike(members_of(source)).empty();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return false;
  }
}

std::string certain_words(const Source& source) {
  const Head head(source);
  if (const std::string_view words = lookalike(head.text()); !words.empty()) return std::string(words);
  if (head.text().starts_with("PK\3\4")) return words_for_archive(source);
  return {};
}

std::string words_for(const Source& source) {
  if (std::string words = certain_words(source); !words.empty()) return words;
  const Head head(source);
  if (const std::string_view words = foreign_lookalike(head.text(), source.name()); !words.empty())
    return std::string(words);
  if (fs::path(source.name()).filename() == "config.json")
    return "a model's config; give the directory, not its config.json";
  return fmt::format("not a format Tare knows (first bytes {})", first_bytes(head.text()));
}

std::string words_for_directory(const std::string& path) {
  const std::vector<std::string> below = models_below(path), files = names_in(path, false);
  std::vector<std::string> foreign, ours;
  for (const std::string& file : files) {
    if (is_named_as_ours(path, file))
      ours.push_back(quote(file));
    else if (const std::string_view words = foreign_weights(file); !words.empty())
      foreign.push_back(fmt::format("{} ({})", quote(file), words));
  }
  if (!below.empty())
    return fmt::format("this directory holds no model; there {} in {}: use {}",
                       below.size() == 1 ? "is one" : "are models", listed(below),
                       below.size() == 1 ? "that path" : "one of these paths");
  if (!ours.empty())
    return fmt::format("not a directory in Hugging Face's layout; give one of its files: {}", listed(ours));
  if (!foreign.empty())
    return fmt::format("a directory without weights that Tare reads; there {} {}", foreign.size() == 1 ? "is" : "are",
                       listed(foreign));
  return "a directory without a model: it has no config.json, no tokenizer and no weights that Tare reads";
}

}  // namespace tare
