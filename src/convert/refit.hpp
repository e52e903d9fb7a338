// A conversion of which a part has been done already.
#pragma once

#include <functional>
#include <string>

#include "tare/convert.hpp"

namespace tare {

// Called with the model that is about to be written.
using Refit = std::function<void(Model& model)>;

// `convert`, with `refit`, which may replace tensors by others of the same name, shape and layout.
Conversion convert_refitted(const std::string& input, const std::string& output, const ConvertOptions& options,
                            const Refit& refit);

// The model that would be written, and the one it is made of.
struct Planned {
  Model source;
  Model model;
};
Planned plan_conversion(const std::string& input, const std::string& output, const ConvertOptions& options);

}  // namespace tare
