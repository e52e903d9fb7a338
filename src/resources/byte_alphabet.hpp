// The byte-level alphabet of GPT-2: each byte written as one printable character, so that any bytes are text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tare::resources {

// The bytes that such a text stands for; nothing when it has a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view utf8);
std::string to_byte_alphabet(std::string_view bytes);

}  // namespace tare::resources
