// What a model has and npz cannot hold, in one private member.
//
//   __tare__.json   a tree (formats/private_tree.hpp); its types are those that the arrays' descriptors lose
//   __tare__/N      an attachment with a name that cannot be a member's; "attachments" has the name
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

// Returns whether the attachment's name can be a member's name: it does not look like an array and does not lead out of
// the folder.
bool is_safe_name(std::string_view name);
// The same, but the name may look like an array.
bool is_safe_path(std::string_view name);

// Returns the member's text; empty if there is nothing to store. `renamed`: pairs of member name and attachment name.
std::string write_private(const Model& model, const std::vector<std::pair<std::string, std::string>>& renamed);

// Reads the text into the model, which already has its tensors and attachments. `typed` receives the names of the
// tensors that get their type from the text. Throws `npz.private.*` and `json.*`; notes and warnings go to
// `diagnostics`.
void read_private(std::string_view text, const wire::TreeBounds& bounds, Model& model, std::vector<std::string>& typed,
                  Diagnostics& diagnostics);

}  // namespace tare::npz
