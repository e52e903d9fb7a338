// Adding tensors to a file in place, without rewriting what it holds.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/format.hpp"

namespace tare {

// Appends the tensors of `extra` (names must be new) and sets its metadata keys, for containers that can (Format::append);
// others are refused with `append.format`. Work is proportional to what is added. At every moment, a kill or a power cut
// included, the file is readable: either without the new tensors or with all of them. Returns what whoever appended should know
// about the file as it is now: that `open` refuses it by default, because of what it decodes to.
TARE_API std::vector<Change> append(const std::string& path, const Model& extra, const WriteOptions& options = {});

}  // namespace tare
