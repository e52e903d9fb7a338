#include "io/listing.hpp"

#include <cerrno>

#include "io/directory.hpp"
#include "io/remote/hub.hpp"
#include "io/remote/url.hpp"
#include "io/resolve.hpp"

namespace tare::io {

std::vector<std::string> names_in(const std::string& path, std::error_code& failed) {
  failed.clear();
  if (remote::is_hub(path)) {
    const remote::HubPath place = remote::parse_hub(path);
    return remote::open_repository(place)->names(place.path);
  }
  if (is_remote(path)) {
    failed = std::make_error_code(std::errc::not_supported);
    return {};
  }
  const Directory directory = Directory::open(path.c_str());
  if (!directory) {
    failed = std::error_code(errno, std::generic_category());
    return {};
  }
  try {
    std::vector<std::string> names = directory.names();
    charge_links(directory, path, names);
    return names;
  } catch (const std::system_error& error) {
    failed = error.code();
    return {};
  }
}

std::string path_in(std::string_view directory, std::string_view name) {
  std::string path;
  // What a file names next to it is no address, although it may be spelled like one (hf:ORGANIZATION/NAME/FILE).
  if (directory.empty() && is_remote(name)) path = "./";
  path.reserve(directory.size() + 1 + name.size());
  path += directory;
  if (!directory.empty() && !directory.ends_with('/')) path += '/';
  path += name;
  return path;
}

}  // namespace tare::io
