// What a format must have so that a model can be saved in it.
#pragma once

#include "tare/format.hpp"

namespace tare {

// Throws `convert.read_only` for a format that cannot be written, `convert.option` for an option it does not have.
void require_writable(const Format& format, const WriteOptions& options);

}  // namespace tare
