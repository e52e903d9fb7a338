// CBOR as zTensor 2 allows it: RFC 8949's core deterministic encoding and nothing else. One value has one spelling, so two
// readers cannot read two things out of the same bytes.
//
// The reader refuses long heads, indefinite lengths, tags, keys that do not rise, floats that are wider than their value,
// and any NaN but one. Errors are `zt2.cbor.*` for bytes that are not such CBOR, and `zt2.schema` for values of another kind
// than asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "tare/value.hpp"
#include "wire/cbor.hpp"

namespace tare::zt2 {

using wire::CborMajor;

class Cbor {
 public:
  // The root is at depth 0.
  static constexpr unsigned kMaxDepth = 32;

  // A map or array being walked.
  class Walk {
   public:
    // Entries promised; checked against the bytes that are left.
    std::uint64_t count() const { return left_; }

   private:
    friend class Cbor;
    std::uint64_t left_ = 0;
    std::size_t key_ = 0, key_end_ = 0;  // of the last key: where its bytes are
  };

  // `offset` is where the bytes are in the file, for errors. `depth`: of the first value.
  Cbor(std::span<const std::byte> bytes, std::uint64_t offset, unsigned depth = 0)
      : bytes_(bytes), base_(offset), depth_(depth) {}

  std::uint64_t offset() const { return base_ + at_; }
  std::size_t position() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  std::span<const std::byte> between(std::size_t begin, std::size_t end) const {
    return bytes_.subspan(begin, end - begin);
  }

  // What has not been read yet; and that so many bytes of it, whole values, have been checked and read elsewhere.
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }
  void advance(std::size_t bytes) { at_ += bytes; }

  // The next value. `what` is its name in errors.
  std::uint64_t uint(std::string_view what);
  std::string_view text(std::string_view what);
  Walk map(std::string_view what) { return enter(CborMajor::map, what); }
  Walk array(std::string_view what) { return enter(CborMajor::array, what); }
  // Whether another item follows; leaves the array when not.
  bool next_item(Walk& walk) {
    if (walk.left_ == 0) {
      --depth_;
      return false;
    }
    --walk.left_;
    return true;
  }
  // Whether another entry follows, whose key is then read: `key` is null if it is not a text. Leaves the map when not.
  bool next_entry(Walk& walk, std::string_view& key);
  // Any value, checked.
  void skip();
  // Throws unless everything has been read.
  void expect_end() const;

  struct Mark {
    std::size_t at;
    unsigned depth;
  };
  Mark mark() const { return {at_, depth_}; }
  void back_to(const Mark& mark) {
    at_ = mark.at;
    depth_ = mark.depth;
  }
  unsigned depth() const { return depth_; }

  [[noreturn]] void fail_schema(std::string_view sentence) const;

 private:
  struct Head {
    CborMajor major;
    std::uint8_t info;
    std::uint64_t value;
  };
  Head head();
  Head head_of(CborMajor wanted, std::string_view what);
  Walk enter(CborMajor kind, std::string_view what);
  Walk open(const Head& head);
  std::string_view take_text(std::uint64_t length);
  void check_key(Walk& walk, std::size_t begin);
  void check_float(const Head& head) const;
  [[noreturn]] void fail(std::string_view rule, std::size_t at, std::string_view sentence) const;
  std::uint8_t byte_at(std::size_t at) const { return std::to_integer<std::uint8_t>(bytes_[at]); }

  std::span<const std::byte> bytes_;
  std::uint64_t base_;
  std::size_t at_ = 0;
  unsigned depth_;
};

// Whether these bytes are one value of that CBOR, no deeper than `depth` levels.
bool is_deterministic(std::span<const std::byte> bytes, unsigned depth);

// Writes a value in that encoding: keys in order, one NaN. Throws `zt2.write.value` for what it cannot say (a tag),
// `zt2.write.depth` for values that would be deeper than readers take; `depth`: of the value.
void put_value(wire::CborWriter& out, const Value& value, unsigned depth);
void put_map(wire::CborWriter& out, const Map& map, unsigned depth);

// The order of text keys in a map: that of their encoded bytes, so the shorter one first.
inline bool key_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace tare::zt2
