// Parses the type in an option.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/dtype.hpp"

namespace tare {

// Accepts Tare's names and other common ones: "fp16", "float16", "half", "BF16", "numpy.float16". For options only:
// files are read with parse_dtype, which is strict.
std::optional<DType> parse_dtype_option(std::string_view name);
// The other common names, without Tare's own.
std::vector<std::string> dtype_spellings();
// Returns the sentence about a name that is not a type: "there is no type bf61; did you mean bf16?".
std::string no_such_type(std::string_view name);

}  // namespace tare
