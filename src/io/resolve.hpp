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

// The path without links, "." and "..", like realpath; `failed` is set if there is no such path. Throws Error limit
// `open.steps`.
std::string resolved(const std::string& path, std::error_code& failed);
// The same for a path below a directory that is resolved already.
std::string resolved_below(const std::string& resolved_directory, std::string_view path, std::error_code& failed);

// Charges the cost of following the links of a directory, before one is followed; without a budget, a usual one.
void charge_links(const Directory& directory, const std::string& path, const std::vector<std::string>& names);

}  // namespace tare::io
