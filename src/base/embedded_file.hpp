// A file of the source tree that the build puts into the binary (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace tare {

struct EmbeddedFile {
  std::string_view name, text;
};

}  // namespace tare
