#include "io/remote/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tare::io::remote {
namespace {

bool allows(std::string_view word) {
  const std::string words = variable("TARE_REMOTE_ALLOW");
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find_first_of(", ", at), words.size());
    if (std::string_view(words).substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read only
  return value == nullptr ? std::string() : value;
}

std::string home() { return variable("HOME"); }

bool allows_private() { return allows("private"); }
bool allows_plain() { return allows("http"); }

long patience() {
  constexpr long kUsual = 20, kMost = 3600;
  const std::string text = variable("TARE_REMOTE_TIMEOUT");
  long seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && seconds >= 1 && seconds <= kMost ? seconds
                                                                                                             : kUsual;
}

}  // namespace tare::io::remote
