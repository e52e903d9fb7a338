// What a model's directory says about whose it is: README.md's front matter, config.json's `_name_or_path`.
#pragma once

#include <string>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

struct Card {
  std::string license;     // "apache-2.0"; the license_name where license is "other"
  std::string base_model;  // "mistralai/Mistral-7B-v0.1"; several with a comma and a space between
};

// From the front matter at the beginning of a README.md: the lines between two "---", a small part of YAML (a text, plain or
// quoted; for base_model also a list). What is more than that is not taken.
Card parse_card(std::string_view readme);
// Whether a name is one of a repository on the hub, OWNER/NAME, rather than a path.
bool is_hub_name(std::string_view name);

// Of the attachments README.md and config.json, the former counting for more. Files that cannot be read say nothing.
Card card_of(const Model& model);

}  // namespace tare::resources
