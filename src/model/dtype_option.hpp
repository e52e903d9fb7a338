// Parses the type in an option.
#pragma once

#include <optional>
#include <string_view>

#include "tare/dtype.hpp"

namespace tare {

// Accepts Tare's names and other common ones: "fp16", "float16", "half", "BF16", "numpy.float16". For options only:
// files are read with parse_dtype, which is strict.
std::optional<DType> parse_dtype_option(std::string_view name);

}  // namespace tare
