// Lists a directory and names what is in it. If memory runs out, std::filesystem::directory_iterator and the operator /
// of std::filesystem::path end the program.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tare::io {

// The names except "." and "..", sorted; empty if it cannot be listed, with the reason in `failed`. Throws Error limit
// `open.steps` if following the links among them would take long (io/resolve.hpp), and `remote.*` for what a server has.
std::vector<std::string> names_in(const std::string& path, std::error_code& failed);

// The path of a file in a directory; an empty directory is the current one.
std::string path_in(std::string_view directory, std::string_view name);

}  // namespace tare::io
