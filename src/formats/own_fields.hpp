// Finds config fields by the names that a container uses for them (Capabilities::own_fields).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/format.hpp"
#include "tare/config.hpp"

namespace tare {

// Returns the field that the container calls `name`, which must be one of `fields`.
const ConfigField& field_called(std::span<const OwnField> fields, std::string_view name);
inline std::optional<std::int64_t> Config::*count_called(std::span<const OwnField> fields, std::string_view name) {
  return std::get<std::optional<std::int64_t> Config::*>(field_called(fields, name).member);
}

}  // namespace tare
