// The wire syntax of Protocol Buffers, read field by field. Knows no message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/endian.hpp"
#include "tare/error.hpp"

namespace tare::wire {

// Checks every read; throws Error corrupt `protobuf.truncated` or `protobuf.syntax`.
class ProtobufReader {
 public:
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    std::uint32_t number = 0;
    Type type = Type::varint;
    std::uint64_t value = 0;           // varint, or the bits of a fixed32 or fixed64
    std::span<const std::byte> bytes;  // content of a string, bytes or message

    // A field whose type differs from its message's definition is unknown and must be skipped.
    bool is(std::uint32_t wanted_number, Type wanted_type) const {
      return number == wanted_number && type == wanted_type;
    }
  };

  explicit ProtobufReader(std::span<const std::byte> message) : left_(message) {}

  // The next field; nothing at the end of the message.
  std::optional<Field> next() {
    if (left_.empty()) return std::nullopt;
    const std::uint64_t tag = varint();
    Field field;
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) throw bad("protobuf.syntax", "a field has a number out of range");
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.type = static_cast<Type>(tag & 7);
    switch (field.type) {
      case Type::varint: field.value = varint(); break;
      case Type::fixed64: field.value = load_le<std::uint64_t>(take(8).data()); break;
      case Type::bytes: field.bytes = take(varint()); break;
      case Type::fixed32: field.value = load_le<std::uint32_t>(take(4).data()); break;
      default: throw bad("protobuf.syntax", "a field has a type that is no longer in use");
    }
    return field;
  }

 private:
  static Error bad(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) throw bad("protobuf.truncated", "a field extends beyond the end of its message");
    const auto part = left_.first(count);
    left_ = left_.subspan(part.size());
    return part;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw bad("protobuf.syntax", "a number has more than 64 bits");
  }

  std::span<const std::byte> left_;
};

}  // namespace tare::wire
