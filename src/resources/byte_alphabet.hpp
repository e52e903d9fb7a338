// The byte-level alphabet of GPT-2 writes each byte as one printable character, so that any bytes are text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tare::resources {

// Returns the bytes that a text spells; nothing if it has a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view utf8);
std::string to_byte_alphabet(std::string_view bytes);

}  // namespace tare::resources
