// Layers as table rows, roles as columns, so that differences between layers are visible at once.
#include "view/role_grid.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostLayers = 400, kMostRoles = 40;

// All tensors of one layer and role: one, or one per expert.
struct Cell {
  std::uint32_t first = 0;  // number of its first tensor
  std::uint32_t type = 0;
  bool mixed = false;  // several types
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

double bits_of(const Cell& cell) {
  return cell.elements == 0 ? 0 : static_cast<double>(cell.bytes) * 8 / static_cast<double>(cell.elements);
}

void write_cell(JsonWriter& json, const OpenModel& model, const Cell& cell, bool odd) {
  json.open('{').key("tensor").number(std::uint64_t{cell.first}).key("type");
  json.text(cell.mixed ? std::string_view("mixed") : std::string_view(model.types()[cell.type]));
  json.key("shape").text(cell.tensors == 1 ? short_name(model.model().tensors[cell.first].shape.text(), 60) : "");
  json.key("tensors").number(cell.tensors).key("elements").number(cell.elements).key("bytes").number(cell.bytes);
  json.key("bits");
  write_number(json, bits_of(cell));
  json.key("odd").boolean(odd).close('}');
}

int order_of_role(std::string_view role) {
  static constexpr std::string_view kOrder[] = {"embedding",
                                                "positions",
                                                "attention norm",
                                                "q",
                                                "k",
                                                "v",
                                                "qkv",
                                                "q norm",
                                                "k norm",
                                                "o",
                                                "post-attention norm",
                                                "ffn norm",
                                                "router",
                                                "gate",
                                                "up",
                                                "gate+up",
                                                "down",
                                                "experts gate",
                                                "experts up",
                                                "experts gate+up",
                                                "experts down",
                                                "shared router",
                                                "shared gate",
                                                "shared up",
                                                "shared down",
                                                "post-ffn norm",
                                                "final norm",
                                                "head"};
  const bool bias = role.ends_with(" bias");
  if (bias) role.remove_suffix(5);
  const auto* const found = std::find(std::begin(kOrder), std::end(kOrder), role);
  return 2 * static_cast<int>(found - std::begin(kOrder)) + (bias ? 1 : 0);
}

}  // namespace

std::vector<std::uint32_t> roles_in_order(const OpenModel& model, const std::vector<bool>& in_layers) {
  std::vector<std::uint32_t> roles;
  for (std::uint32_t role = 0; role < in_layers.size(); ++role)
    if (in_layers[role]) roles.push_back(role);
  std::ranges::sort(roles, {}, [&](std::uint32_t role) {
    return std::pair(order_of_role(model.roles()[role]), std::string_view(model.roles()[role]));
  });
  return roles;
}

void layers(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  RoleGrid<Cell> cells;
  std::vector<bool> in_layers(model.roles().size());
  std::int32_t last = -1;
  for (std::size_t i = 0; i < model.items().size(); ++i) {
    const Item& item = model.items()[i];
    if (item.layer >= static_cast<std::int32_t>(kMostLayers)) continue;
    const auto [found, is_new] = cells.try_emplace({item.layer, item.role});
    Cell& cell = found->second;
    if (is_new) cell.first = static_cast<std::uint32_t>(i), cell.type = item.type;
    cell.mixed = cell.mixed || cell.type != item.type;
    cell.tensors += 1, cell.elements += item.elements, cell.bytes += item.stored;
    if (item.layer >= 0) in_layers[item.role] = true;
    last = std::max(last, item.layer);
  }
  // The most common type and size per role. A cell that differs from it is marked as odd.
  using Look = std::pair<std::string, std::uint64_t>;  // type, elements
  std::map<std::uint32_t, std::map<Look, std::uint64_t>> looks;
  const auto look_of = [&](const Cell& cell) {
    return Look(cell.mixed ? std::string("mixed") : model.types()[cell.type], cell.elements);
  };
  for (const auto& [key, cell] : cells)
    if (key.first >= 0) ++looks[key.second][look_of(cell)];
  std::map<std::uint32_t, Look> usual;
  for (const auto& [role, counts] : looks)
    usual[role] = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                  })->first;

  std::vector<std::uint32_t> roles = roles_in_order(model, in_layers);
  const bool cut = roles.size() > kMostRoles;
  if (cut) roles.resize(kMostRoles);
  json.open('{');
  const bool complete = write_role_grid(json, model, cells, roles, last, kMostRoles,
                                        [&](std::int32_t layer, std::uint32_t role, const Cell& cell) {
                                          write_cell(json, model, cell, layer >= 0 && look_of(cell) != usual[role]);
                                        });
  json.key("complete").boolean(complete && !cut && last + 1 < static_cast<std::int32_t>(kMostLayers)).close('}');
}

}  // namespace tare::view
