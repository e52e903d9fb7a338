// License and base model of a model, from README.md's front matter and config.json's `_name_or_path`.
#pragma once

#include <string>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

struct Card {
  std::string license;     // "apache-2.0"; the license_name if license is "other"
  std::string base_model;  // "mistralai/Mistral-7B-v0.1"; several are joined by ", "
};

// Parses the front matter at the beginning of a README.md: the lines between two "---", in a subset of YAML (a text,
// plain or quoted; for base_model also a list). Anything else is ignored.
Card parse_card(std::string_view readme);
// Returns whether a name is a repository on the hub, OWNER/NAME, rather than a path.
bool is_hub_name(std::string_view name);

// Reads the attachments README.md and config.json; README.md takes precedence. Files that cannot be parsed are ignored.
Card card_of(const Model& model);

}  // namespace tare::resources
