// What is in a directory. std::filesystem::directory_iterator ends the program when memory runs out.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace tare::io {

// The names but "." and "..", sorted; none if it cannot be listed, and `failed` says why.
std::vector<std::string> names_in(const std::string& path, std::error_code& failed);

}  // namespace tare::io
