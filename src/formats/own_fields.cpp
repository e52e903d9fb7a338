#include "formats/own_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tare {
namespace {

const OwnField* find(std::span<const OwnField> fields, std::string_view field) {
  const auto found = std::ranges::find(fields, field, &OwnField::field);
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

bool Capabilities::has_field(std::string_view field) const {
  return other_fields || find(own_fields, field) != nullptr;
}

bool Capabilities::expects_field(std::string_view field) const {
  const OwnField* const own = find(own_fields, field);
  return own != nullptr && own->expected;
}

const ConfigField& field_called(std::span<const OwnField> fields, std::string_view name) {
  const auto own = std::ranges::find(fields, name, &OwnField::name);
  if (own != fields.end())
    for (const ConfigField& field : config_fields())
      if (field.name == own->field) return field;
  throw Error(ErrorKind::usage, "config.field", fmt::format("no field is called {}", name));
}

}  // namespace tare
