// Lists a directory. std::filesystem::directory_iterator terminates the program if memory runs out.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace tare::io {

// The names except "." and "..", sorted; empty if it cannot be listed, with the reason in `failed`.
std::vector<std::string> names_in(const std::string& path, std::error_code& failed);

}  // namespace tare::io
