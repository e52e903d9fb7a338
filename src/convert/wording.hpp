// Sentences about a conversion.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare {

// Some names, for a sentence.
inline std::string listed(std::vector<std::string> names, std::size_t most = 8) {
  const std::size_t more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  for (std::string& name : names) name = escape_name(name);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : std::string());
}

// "a left out, X has no place for it".
inline std::string left_out(std::vector<std::string> names, std::string_view target) {
  const std::string_view them = names.size() == 1 ? "it" : "them";
  return fmt::format("{} left out, {} has no place for {}", listed(std::move(names)), target, them);
}

// The file or thing that a warning is about, without the directories.
inline std::string_view subject_of(const Error& about) {
  if (!about.item().empty()) return about.item();
  const std::string_view file = about.file();
  return file.substr(file.rfind('/') + 1);
}
inline std::string line_about(const Error& about) { return fmt::format("{}: {}", subject_of(about), about.sentence()); }

}  // namespace tare
