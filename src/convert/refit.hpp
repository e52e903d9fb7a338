// A conversion of which a part has been done already.
#pragma once

#include <functional>
#include <string>

#include "tare/convert.hpp"

namespace tare {

// Called with what is about to be written.
using Refit = std::function<void(Model& model)>;

// `convert`, but for `refit`, which may replace tensors by others that are alike.
Conversion convert_refitted(const std::string& input, const std::string& output, const ConvertOptions& options,
                            const Refit& refit);

// What would be written, and the model it is made of.
struct Planned {
  Model source;
  Model model;
};
Planned plan_conversion(const std::string& input, const std::string& output, const ConvertOptions& options);

}  // namespace tare
