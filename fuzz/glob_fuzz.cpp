// Shell patterns: the first line is the pattern, the rest the name.
#include <algorithm>
#include <string_view>

#include "tare/convert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Short inputs, because matching can take time proportional to the product of the two lengths.
  const std::string_view text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 40));
  const std::size_t line = std::min(text.find('\n'), text.size());
  static_cast<void>(tare::glob_match(text.substr(0, line), text.substr(std::min(line + 1, text.size()))));
  return 0;
}
