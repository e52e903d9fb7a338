// Where the links inside a model's directory may lead. A download may contain any link, and a converted model is often
// published: chat_template.jinja -> ~/.ssh/id_rsa must not end up in a model. So links are followed only inside the
// directory, and from a snapshot of the hub's cache into the blobs of the same repository:
//
//   models--ORG--NAME/snapshots/REVISION/config.json -> ../../blobs/DIGEST
#include "io/links.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/printable.hpp"
#include "io/descriptor.hpp"
#include "io/listing.hpp"
#include "io/places.hpp"
#include "io/remote/hub.hpp"
#include "io/remote/url.hpp"
#include "io/resolve.hpp"

namespace tare {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& root) {
  const std::string inner = path.native(), outer = root.native();
  return !outer.empty() && inner.size() > outer.size() && inner.starts_with(outer) &&
         (outer.ends_with('/') || inner[outer.size()] == '/');
}

// Throws if this process has run out of descriptors or memory, which is not the file's fault.
void require_descriptors(const io::Directory& opened, const std::string& path) {
  const int why = errno;
  if (!opened && (why == EMFILE || why == ENFILE || why == ENOMEM))
    throw io::system_error("io.open.refused", "cannot open", path, why);
}

// Returns the blobs folder for a directory at or below models--ORG--NAME/snapshots/REVISION; empty for any other
// directory.
fs::path blobs_of(const fs::path& directory) {
  constexpr int kDeepest = 4;  // a part of a pipeline is a folder below the revision
  fs::path revision = directory;
  for (int depth = 0; depth < kDeepest && revision.has_relative_path(); ++depth, revision = revision.parent_path())
    if (revision.parent_path().filename() == "snapshots")
      return io::path_in(revision.parent_path().parent_path().native(), "blobs");
  return {};
}

}  // namespace

Links::Links(const std::string& directory) {
  if (io::is_remote(directory)) return;  // servers have no links
  std::error_code failed;
  const fs::path root = io::resolved(directory, failed);
  if (failed) return;  // files in it cannot be reached either
  inside_ = root.native();
  spelled_ = directory.ends_with('/') ? directory : directory + '/';
  blobs_ = blobs_of(root).native();
  inside_folder_ = io::Directory::open(inside_.c_str());
  require_descriptors(inside_folder_, inside_);
  if (blobs_.empty()) return;
  blobs_folder_ = io::Directory::open(blobs_.c_str());
  require_descriptors(blobs_folder_, blobs_);
}

std::string Links::target_of(const std::string& path, std::error_code& failed) const {
  if (!spelled_.empty() && path.starts_with(spelled_))
    return io::resolved_below(inside_, std::string_view(path).substr(spelled_.size()), failed);
  return io::resolved(path, failed);
}

std::optional<std::string> Links::outside(const std::string& path) const {
  if (io::is_remote(path)) return std::nullopt;
  std::error_code failed;
  const fs::path target = target_of(path, failed);
  if (failed || is_below(target, inside_) || is_below(target, blobs_)) return std::nullopt;
  return fmt::format(
      "leads out of the model's directory, to {}, and such links are not followed; put a copy of the file in its place",
      quote(target.native()));
}

bool Links::allow(const Source& source) const {
  struct stat opened {};
  if (source.descriptor() < 0) return true;  // bytes in memory, or of a server
  if (::fstat(source.descriptor(), &opened) != 0) return false;
  std::error_code failed;
  const fs::path target = target_of(source.name(), failed);
  if (failed) return false;
  // Opens the target again by its path without links, and checks that it is the same file.
  const auto reached = [&](const std::string& root, const io::Directory& folder) {
    if (!folder || !is_below(target, root)) return false;
    const std::string below = target.lexically_relative(root).native();
    const io::Directory above = folder.walk(io::folders_of(below));
    require_descriptors(above, source.name());
    struct stat found {};
    return above && above.look(io::base_of(below), found) && found.st_dev == opened.st_dev &&
           found.st_ino == opened.st_ino;
  };
  return reached(inside_, inside_folder_) || reached(blobs_, blobs_folder_);
}

SourcePtr io::open_beside(const Source& source, std::string_view name, Access access) {
  if (remote::is_hub(source.name())) {
    const std::string path = path_in(directory_of(source.name()), name);
    return is_file(path) ? open_file(path, access) : nullptr;
  }
  if (source.descriptor() < 0) return nullptr;
  const std::string directory = directory_of(source.name());
  const std::string path = path_in(source.name().find('/') == std::string::npos ? "" : directory, name);
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return nullptr;
  SourcePtr beside = open_file(path, access);
  if (const Links links(directory); !links.allow(*beside))
    throw Error(ErrorKind::unsupported, "io.open.outside",
                links.outside(path).value_or("was exchanged for another file while it was opened"))
        .in(path);
  return beside;
}

}  // namespace tare
