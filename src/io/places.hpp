// Files and directories by their paths, wherever they are: on this machine, or on a server. The files of a model's directory
// are found and opened by these functions, `open_file` and `names_in` (io/listing.hpp), and by nothing else, so that a reader
// does not know where its directory is.
#pragma once

#include <cstdint>
#include <string>

namespace tare::io {

enum class EntryKind : std::uint8_t {
  none,  // does not exist, or cannot be reached
  file,
  folder,
  other,  // a pipe, socket or device
};

// What is at a path; links are followed. For an address on a server, this can take a request: errors of the server
// (`remote.*`) are thrown. A web address is a file.
EntryKind kind_at(const std::string& path);
inline bool is_file(const std::string& path) { return kind_at(path) == EntryKind::file; }
inline bool is_folder(const std::string& path) { return kind_at(path) == EntryKind::folder; }
// Whether the neighbours of a file can be found: not those of a web address, which would have to be asked for one by one.
bool has_neighbours(const std::string& path);

}  // namespace tare::io
