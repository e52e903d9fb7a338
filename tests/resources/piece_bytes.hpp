// SentencePiece's message, made byte by byte.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tare::testing {

inline std::string proto_varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
// A text, bytes or a message.
inline std::string proto_field(std::uint64_t number, std::string_view bytes) {
  return proto_varint(number << 3 | 2) + proto_varint(bytes.size()) + std::string(bytes);
}
inline std::string proto_number(std::uint64_t number, std::uint64_t value) {
  return proto_varint(number << 3) + proto_varint(value);
}
inline std::string proto_fixed32(std::uint64_t number, std::uint32_t bits) {
  std::string bytes = proto_varint(number << 3 | 5);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}
// 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
inline std::string proto_piece(std::string_view text, float score, std::uint64_t type) {
  return proto_field(
      1, proto_field(1, text) + proto_fixed32(2, std::bit_cast<std::uint32_t>(score)) + proto_number(3, type));
}

// One piece of each kind, and all 256 byte pieces, because the trainer's settings have byte_fallback.
inline std::string small_spm() {
  std::string model = proto_piece("<unk>", 0, 2) + proto_piece("<s>", 0, 3) + proto_piece("</s>", 0, 3) +
                      proto_piece("\u2581a", -1.5F, 1) + proto_piece("<me>", 0, 4) + proto_piece("x", -3, 5) +
                      proto_field(2, proto_number(35, 1));
  for (int byte = 0; byte < 256; ++byte) model += proto_piece(fmt::format("<0x{:02X}>", byte), 0, 6);
  return model;
}

}  // namespace tare::testing
