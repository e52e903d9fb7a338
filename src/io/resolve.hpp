// Resolves the links of a path, for a price.
//
// A link of two bytes may lead through forty others of 4 KB, each with a thousand folders in its text, and thousands of
// files in a model's directory can be such links. So every name in the text of a link is charged to the budget
// (base/budget.hpp), except the first few of a path: the links that programs make have no more.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/directory.hpp"

namespace tare::io {

// Returns the path without links, "." and "..", as realpath does. Sets `failed` and returns an empty path if there is no such
// file. Throws Error limit `open.steps`.
std::string resolved(const std::string& path, std::error_code& failed);
// The same for a path below a directory that is resolved already.
std::string resolved_below(const std::string& resolved_directory, std::string_view path, std::error_code& failed);

// Charges the cost of following the links of a directory, before one of them is followed. Without a budget of the caller,
// there is one for this call.
void charge_links(const Directory& directory, const std::string& path, const std::vector<std::string>& names);

}  // namespace tare::io
