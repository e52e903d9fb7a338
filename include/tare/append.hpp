// Adds tensors to a file in place, without rewriting the tensors it already holds.
#pragma once

#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/write_options.hpp"

namespace tare {

// Appends the tensors of `extra` (names must be new) and sets its metadata keys. Refuses containers that
// cannot grow in place with `append.format`. The work is proportional to what is added. The file is readable at every moment,
// even after a kill or a power cut: either without the new tensors or with all of them. Returns a remark if `open` with
// default limits would now refuse the file because of what it decodes to.
TARE_API std::vector<Change> append(const std::string& path, const Model& extra, const WriteOptions& options = {});

}  // namespace tare
