// Where links of a model's directory may lead. What is downloaded may hold any link, and what is converted is often
// published: chat_template.jinja -> ~/.ssh/id_rsa must not end up in a model. So links are followed inside the directory,
// and from a snapshot of the hub's cache into the blobs of the same repository:
//
//   models--ORG--NAME/snapshots/REVISION/config.json -> ../../blobs/DIGEST
#include <fmt/format.h>

#include <filesystem>

#include "formats/hf/hf.hpp"

namespace tare::hf {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& root) {
  const std::string inner = path.native(), outer = root.native();
  return !outer.empty() && inner.size() > outer.size() && inner.starts_with(outer) &&
         (outer.ends_with('/') || inner[outer.size()] == '/');
}

// Of a directory at or below models--ORG--NAME/snapshots/REVISION; empty for any other.
fs::path blobs_of(const fs::path& directory) {
  constexpr int kDeepest = 4;  // a part of a pipeline lies below the revision
  fs::path revision = directory;
  for (int depth = 0; depth < kDeepest && revision.has_relative_path(); ++depth, revision = revision.parent_path())
    if (revision.parent_path().filename() == "snapshots") return revision.parent_path().parent_path() / "blobs";
  return {};
}

}  // namespace

Links::Links(const std::string& directory) {
  std::error_code failed;
  const fs::path root = fs::canonical(directory, failed);
  if (failed) return;  // what is in it cannot be reached either
  inside_ = root.native();
  blobs_ = blobs_of(root).native();
}

std::optional<std::string> Links::outside(const std::string& path) const {
  std::error_code failed;
  const fs::path target = fs::canonical(path, failed);
  if (failed || is_below(target, inside_) || is_below(target, blobs_)) return std::nullopt;
  return fmt::format(
      "leads out of the model's directory, to {}, and such links are not followed; put a copy of the file in its place",
      escape_name(target.native()));
}

}  // namespace tare::hf
