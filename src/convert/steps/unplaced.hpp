// Parts of a model that a target cannot hold.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "tare/convert.hpp"

namespace tare {

// Parts of a model that the target cannot hold and that may be omitted only if the user asks for it. They are collected
// first, so that one error names all.
class Unplaced {
 public:
  explicit Unplaced(const Format& target) : target_(target) {}

  void add(std::string what, ModelPart part) {
    things_.push_back(std::move(what));
    parts_.push_back(part);
  }
  void refuse_any() const {
    if (things_.empty()) return;
    Error error(ErrorKind::lossy, "convert.room",
                fmt::format("{} cannot hold {}", target_.name, fmt::join(things_, ", ")));
    // For a container of bare weights, one option drops everything but the tensors.
    const bool bare = !target_.holds.vocabulary && !target_.holds.attachments;
    if (bare && std::ranges::find(parts_, ModelPart::metadata) == parts_.end()) error.remedy(Remedy::weights_only);
    for (const ModelPart part : parts_) error.remedy(Remedy::drop, name_of(part));
    throw error;
  }

 private:
  const Format& target_;
  std::vector<std::string> things_;
  std::vector<ModelPart> parts_;
};

}  // namespace tare
