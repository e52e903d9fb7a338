// The wire syntax of Protocol Buffers in a file: fields as ranges of it, without a copy of their bytes. For messages that
// are too large to hold, because they have the weights of a model inside. Knows no message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/budget.hpp"
#include "base/endian.hpp"
#include "io/metadata.hpp"
#include "tare/error.hpp"

namespace tare::wire {

// Bytes of a file.
struct FileRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
};

// Checks every read, and charges each field as a step. Throws Error corrupt `protobuf.truncated` or `protobuf.syntax`,
// with the offset.
class ProtobufFileReader {
 public:
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    std::uint32_t number = 0;
    Type type = Type::varint;
    std::uint64_t value = 0;  // varint, or the bits of a fixed32 or fixed64
    FileRange range;          // the content of a string, bytes or message; of other types, the value's own bytes

    // A field whose type differs from its message's definition is unknown and must be skipped.
    bool is(std::uint32_t wanted_number, Type wanted_type) const {
      return number == wanted_number && type == wanted_type;
    }
  };

  // The message is the range, which must be inside the window's source.
  ProtobufFileReader(io::Window& window, FileRange message) : window_(window), left_(message) {}

  // The next field; nothing at the end of the message.
  std::optional<Field> next() {
    if (left_.begin >= left_.end) return std::nullopt;
    charge_steps();
    const std::uint64_t tag = varint();
    Field field;
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) throw bad("protobuf.syntax", "a field has a number out of range");
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.type = static_cast<Type>(tag & 7);
    switch (field.type) {
      case Type::varint:
        field.range.begin = left_.begin;
        field.value = varint();
        field.range.end = left_.begin;
        break;
      case Type::fixed64: field.value = fixed<std::uint64_t>(field.range); break;
      case Type::bytes: field.range = take(varint()); break;
      case Type::fixed32: field.value = fixed<std::uint32_t>(field.range); break;
      default: throw bad("protobuf.syntax", "a field has a type that is no longer in use");
    }
    return field;
  }

  // The next number of a packed list.
  std::uint64_t packed_varint() { return varint(); }
  bool at_end() const { return left_.begin >= left_.end; }

 private:
  Error bad(std::string_view rule, std::string_view sentence) const {
    return Error(ErrorKind::corrupt, rule, sentence).at(left_.begin);
  }

  FileRange take(std::uint64_t count) {
    if (count > left_.size()) throw bad("protobuf.truncated", "a field extends beyond the end of its message");
    const FileRange part = {left_.begin, left_.begin + count};
    left_.begin = part.end;
    return part;
  }

  template <typename T>
  T fixed(FileRange& range) {
    range = take(sizeof(T));
    const auto bytes = window_.get(range.begin, sizeof(T));
    if (bytes.size() < sizeof(T)) throw bad("protobuf.truncated", "a field extends beyond the end of the file");
    return load_le<T>(bytes.data());
  }

  std::uint64_t varint() {
    constexpr std::uint64_t kLongest = 10;
    const auto bytes = window_.get(left_.begin, std::min(kLongest, left_.size()));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
      if (i == kLongest - 1 && byte > 1) break;
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        left_.begin += i + 1;
        return value;
      }
    }
    if (bytes.size() < kLongest) throw bad("protobuf.truncated", "a field extends beyond the end of its message");
    throw bad("protobuf.syntax", "a number has more than 64 bits");
  }

  io::Window& window_;
  FileRange left_;
};

}  // namespace tare::wire
