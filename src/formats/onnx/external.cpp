// The files next to a model that have the data of its tensors. The location of one is text in the model, so it is trusted
// with nothing: it must be a plain path below the model's folder, and links in it may not lead out of that.
#include <fmt/format.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "formats/onnx/onnx.hpp"
#include "io/descriptor.hpp"
#include "io/listing.hpp"

namespace tare::onnx {
namespace {

constexpr std::size_t kMostFiles = 10000;
constexpr std::uint64_t kOpenPrice = 256;  // steps for a file that is looked for

// Whether it is names of files and folders with slashes between them, none of which leads up.
bool is_plain_path(std::string_view path) {
  if (path.empty() || path.size() > 4096) return false;
  if (path.find_first_of(std::string_view("\0\\", 2)) != std::string_view::npos) return false;
  if (path.size() > 1 && path[1] == ':') return false;  // a drive of Windows
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

SourcePtr ExternalFiles::open(const std::string& location) {
  // Programs write "./weights.bin", too.
  const std::string path = location.starts_with("./") ? location.substr(2) : location;
  if (!is_plain_path(path))
    throw Error(
        ErrorKind::corrupt, "onnx.external.path",
        fmt::format("its data is stated to be in {}, which is not a path below the model's folder", quote(location)));
  if (const auto known = files_.find(path); known != files_.end()) {
    if (known->second != nullptr) return known->second;
  } else {
    if (files_.size() >= kMostFiles)
      throw Error(ErrorKind::limit, "onnx.external.many",
                  fmt::format("expected at most {} files with data, found more", kMostFiles));
    charge_steps(kOpenPrice);
    SourcePtr& file = files_[path];
    if (model_->descriptor() >= 0) {
      const std::string folder = io::directory_of(model_->name());
      const std::string full = io::path_in(model_->name().find('/') == std::string::npos ? "" : folder, path);
      if (!links_) links_.emplace(folder);
      if (const auto outside = links_->outside(full)) {
        files_.erase(path);
        throw Error(ErrorKind::unsupported, "io.open.outside", *outside).in(full);
      }
      try {
        file = open_file(full, options_.access);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::not_found) throw;
      }
      if (file != nullptr && !links_->allow(*file)) {
        files_.erase(path);
        throw Error(ErrorKind::unsupported, "io.open.outside", "was exchanged for another file while it was opened")
            .in(full);
      }
    }
    if (file != nullptr) {
      opened_.push_back(file);
      return file;
    }
  }
  throw Error(ErrorKind::not_found, "onnx.external.missing",
              fmt::format("its data is in {}, which does not exist next to the model", quote(location)));
}

}  // namespace tare::onnx
