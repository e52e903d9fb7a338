// The views of one or two models as one static page.
#pragma once

#include <string>

#include "view/service.hpp"

namespace tare::view {

inline constexpr std::size_t kMostReport = std::size_t{4} << 20;  // bytes

// At most kMostReport bytes: for large models, only the largest tensors have numbers and pictures.
std::string report(Service& service);

}  // namespace tare::view
