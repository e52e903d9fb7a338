// The views of one or two models as one static page.
#pragma once

#include <string>

#include "view/service.hpp"

namespace tare::view {

inline constexpr std::size_t kMostReport = std::size_t{4} << 20;  // bytes

// At most kMostReport bytes: of large models, the numbers and pictures of the largest tensors.
std::string report(const Service& service);

}  // namespace tare::view
