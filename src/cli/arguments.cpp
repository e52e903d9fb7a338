// Access to the arguments of the command line by name.
#include <fmt/format.h>

#include <charconv>

#include "cli/command.hpp"
#include "cli/text.hpp"

namespace tare::cli {

bool Arguments::has(std::string_view option) const { return options_.contains(option); }

const std::vector<std::string>& Arguments::all(std::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = options_.find(option);
  return found == options_.end() ? none : found->second;
}

std::string Arguments::get(std::string_view option, std::string_view fallback) const {
  const auto& values = all(option);
  return values.empty() ? std::string(fallback) : values.back();
}

Access Arguments::access() const { return has("no-mmap") ? Access::pread : Access::mapped; }

unsigned Arguments::threads() const { return static_cast<unsigned>(number("threads", 0, 0, 4096)); }

long Arguments::number(std::string_view option, long fallback, long least, long most) const {
  if (all(option).empty()) return fallback;
  const std::string text = get(option);
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(
        fmt::format("--{} takes a whole number from {} to {}, not '{}'", option, least, most, printable(text)));
  return value;
}

}  // namespace tare::cli
