#include "resources/byte_alphabet.hpp"

#include <array>

namespace tare::resources {
namespace {

// Printable bytes of Latin-1 are spelled as themselves, the others as U+0100 and up.
constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr unsigned kCharacters = 0x144;  // the highest is U+0143

struct Tables {
  std::array<unsigned, 256> to_character{};
  std::array<int, kCharacters> to_byte{};
};

constexpr Tables make_tables() {
  Tables tables;
  for (int& byte : tables.to_byte) byte = -1;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned character = stands_for_itself(byte) ? byte : next++;
    tables.to_character[byte] = character;
    tables.to_byte[character] = static_cast<int>(byte);
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::optional<std::string> from_byte_alphabet(std::string_view utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    unsigned character = static_cast<unsigned char>(utf8[i]);
    if (character >= 0x80) {
      // Every character of the alphabet has at most two bytes in UTF-8.
      if (character < 0xC2 || character > 0xC5 || i + 1 == utf8.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3Fu);
    }
    if (character >= kCharacters || kTables.to_byte[character] < 0) return std::nullopt;
    bytes += static_cast<char>(kTables.to_byte[character]);
  }
  return bytes;
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string utf8;
  for (const char byte : bytes) {
    const unsigned character = kTables.to_character[static_cast<unsigned char>(byte)];
    if (character < 0x80) {
      utf8 += static_cast<char>(character);
    } else {
      utf8 += static_cast<char>(0xC0 | character >> 6);
      utf8 += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
  return utf8;
}

}  // namespace tare::resources
