// What has no place in a target.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tare/format.hpp"

namespace tare {

// What has no place in the target and may only be left out when that is asked for. Everything is looked at before it is
// refused, so that one error names all.
class Homeless {
 public:
  explicit Homeless(const Format& target) : target_(target) {}

  void add(std::string what, std::string_view flag) {
    things_.push_back(std::move(what));
    flags_.push_back(flag);
  }
  void refuse_any() const {
    if (things_.empty()) return;
    std::string flags;
    for (const std::string_view flag : flags_) flags += fmt::format("{}--drop {}", flags.empty() ? "" : " ", flag);
    // Into a container of bare weights, everything that is not about the tensors goes by one flag.
    const bool bare = !target_.holds.vocabulary && !target_.holds.attachments;
    if (bare && std::ranges::none_of(flags_, [](std::string_view flag) { return flag == "metadata"; }))
      flags = fmt::format("--weights-only (or {})", flags);
    throw Error(ErrorKind::lossy, "convert.room",
                fmt::format("{} has no place for {}; {} leaves {} out", target_.name, fmt::join(things_, " and "),
                            flags, things_.size() == 1 ? "it" : "them"));
  }

 private:
  const Format& target_;
  std::vector<std::string> things_;
  std::vector<std::string_view> flags_;
};

}  // namespace tare
