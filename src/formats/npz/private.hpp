// What a model has and npz has no place for, in one private member.
//
//   __tare__.json   a tree as formats/private_tree.hpp says; types are those that the arrays' descriptors lose
//   __tare__/N      an attachment whose own name cannot be a member's; "attachments" gives the name
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/error.hpp"
#include "tare/model.hpp"
#include "wire/value_json.hpp"

namespace tare::npz {

inline constexpr std::string_view kPrivateMember = "__tare__.json";
inline constexpr std::string_view kPrivatePrefix = "__tare__";

// Whether an attachment of this name can be a member as it is: not taken for an array, not leading out of a
// folder.
bool is_safe_name(std::string_view name);
// Likewise, be it taken for an array or not.
bool is_safe_path(std::string_view name);

// The member's text; empty when there is nothing to say. `renamed`: member name, attachment name.
std::string write_private(const Model& model, const std::vector<std::pair<std::string, std::string>>& renamed);

// Puts what the text says into the model, whose tensors and attachments are there already. `typed` receives
// the names of the tensors whose type it gave. Broken rules `npz.private.*` and `json.*` are thrown, things
// to know go to `diagnostics`.
void read_private(std::string_view text, const wire::TreeBounds& bounds, Model& model, std::vector<std::string>& typed,
                  Diagnostics& diagnostics);

}  // namespace tare::npz
