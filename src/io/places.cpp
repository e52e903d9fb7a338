#include "io/places.hpp"

#include <filesystem>

#include "io/remote/hub.hpp"
#include "io/remote/url.hpp"

namespace tare::io {

EntryKind kind_at(const std::string& path) {
  if (!is_remote(path)) {
    std::error_code none;
    const std::filesystem::file_status status = std::filesystem::status(path, none);
    if (std::filesystem::is_regular_file(status)) return EntryKind::file;
    if (std::filesystem::is_directory(status)) return EntryKind::folder;
    return std::filesystem::exists(status) ? EntryKind::other : EntryKind::none;
  }
  if (!remote::is_hub(path)) return EntryKind::file;
  const remote::HubPath place = remote::parse_hub(path);
  const auto repository = remote::open_repository(place);
  if (repository->file(place.path) != nullptr) return EntryKind::file;
  return repository->has_folder(place.path) ? EntryKind::folder : EntryKind::none;
}

bool has_neighbours(const std::string& path) { return !is_remote(path) || remote::is_hub(path); }

}  // namespace tare::io
