// Single pictures as SVG: the views of the page, drawn without a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/service.hpp"

namespace tare::view {

// `name`: treemap, layers, map, errors, or histogram or heat with a tensor, such as "heat:model.embed_tokens.weight".
// Throws usage `view.picture` for any other name, and what the endpoints throw.
std::string picture(Service& service, std::string_view name);
std::vector<std::string> picture_names();

}  // namespace tare::view
