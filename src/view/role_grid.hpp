// A grid of cells, one for each layer and role.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "view/endpoints.hpp"

namespace tare::view {

// The roles that have a flag, in the order of their tensors in a layer.
std::vector<std::uint32_t> roles_in_order(const OpenModel& model, const std::vector<bool>& in_layers);

// By layer (negative: of no layer) and role.
template <typename Cell>
using RoleGrid = std::map<std::pair<std::int32_t, std::uint32_t>, Cell>;

// Writes the members "roles", "layers" (a list for each up to `last`) and "others", which has at most `most` cells.
// `write` is called with a layer, a role and their cell. Returns whether these are all of the others.
template <typename Cell, typename Write>
bool write_role_grid(JsonWriter& json, const OpenModel& model, const RoleGrid<Cell>& cells,
                     const std::vector<std::uint32_t>& roles, std::int32_t last, std::size_t most, const Write& write) {
  json.key("roles").open('[');
  for (const std::uint32_t role : roles) json.text(model.roles()[role]);
  json.close(']').key("layers").open('[');
  for (std::int32_t layer = 0; layer <= last; ++layer) {
    json.open('[');
    for (const std::uint32_t role : roles)
      if (const auto found = cells.find({layer, role}); found == cells.end())
        json.null();
      else
        write(layer, role, found->second);
    json.close(']');
  }
  json.close(']').key("others").open('[');
  std::size_t others = 0;
  for (const auto& [key, cell] : cells) {
    if (key.first >= 0 || others++ >= most) continue;
    json.open('{').key("role").text(model.roles()[key.second]).key("cell");
    write(key.first, key.second, cell);
    json.close('}');
  }
  json.close(']');
  return others <= most;
}

}  // namespace tare::view
