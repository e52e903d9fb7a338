// Words for reports about a conversion.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/change.hpp"
#include "tare/error.hpp"

namespace tare {

// A change about parts that a target cannot hold. `part`: empty for files.
inline Change no_place(std::string_view part, std::vector<std::string> names, std::string_view target) {
  const std::string_view them = names.size() == 1 ? "it" : "them";
  return {.kind = ChangeKind::left_out,
          .impact = Impact::lost,
          .part = std::string(part),
          .items = std::move(names),
          .detail = fmt::format("{} cannot hold {}", target, them)};
}

// A change about something that is not in the output, without any loss.
inline Change needless(std::string_view part, std::string_view name, std::string why) {
  return {.kind = ChangeKind::left_out,
          .impact = Impact::detail,
          .part = std::string(part),
          .items = {std::string(name)},
          .detail = std::move(why)};
}

// A change about a key that was given a value.
inline Change filled_in(std::string_view part, std::string_view key, std::string value, std::string why,
                        Impact impact = Impact::detail) {
  return {.kind = ChangeKind::filled_in,
          .impact = impact,
          .part = std::string(part),
          .items = {std::string(key)},
          .values = {std::move(value)},
          .detail = std::move(why)};
}

// The file or item that a warning is about, without the directories.
inline std::string_view subject_of(const Error& about) {
  if (!about.item().empty()) return about.item();
  const std::string_view file = about.file();
  return file.substr(file.rfind('/') + 1);
}
inline Change remark_about(const Error& about) {
  return {.part = std::string(subject_of(about)), .detail = about.sentence(), .remedies = about.remedies()};
}

}  // namespace tare
