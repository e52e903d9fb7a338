#include "io/listing.hpp"

#include <cerrno>

#include "io/directory.hpp"

namespace tare::io {

std::vector<std::string> names_in(const std::string& path, std::error_code& failed) {
  failed.clear();
  const Directory directory = Directory::open(path.c_str());
  if (!directory) {
    failed = std::error_code(errno, std::generic_category());
    return {};
  }
  try {
    return directory.names();
  } catch (const std::system_error& error) {
    failed = error.code();
    return {};
  }
}

}  // namespace tare::io
