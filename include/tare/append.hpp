// Adding tensors to a zTensor file in place, without rewriting what it holds.
#pragma once

#include <string>

#include "tare/format.hpp"

namespace tare {

// Appends the tensors of `extra` (names must be new) and sets its metadata keys. Work is proportional to what is
// added. At every moment, a kill or a power cut included, the file is readable by any reader that, like upstream's,
// takes the first CBOR item of the manifest: either without the new tensors or with all of them.
void append_zt(const std::string& path, const Model& extra, const WriteOptions& options = {});

}  // namespace tare
