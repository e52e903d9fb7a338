// The CBOR that zTensor 2 allows: RFC 8949's core deterministic encoding and nothing else. A value has one encoding, so
// two readers cannot read different things from the same bytes.
//
// The reader refuses long heads, indefinite lengths, tags, keys that are not in ascending order, floats that are wider
// than necessary, and any NaN but one. Errors are `zt2.cbor.*` for bytes that are not such CBOR, and `zt2.schema` for
// values of another kind than expected.
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

  // The position in a map or array.
  class Walk {
   public:
    // The stated number of entries, checked against the bytes that are left.
    std::uint64_t count() const { return left_; }

   private:
    friend class Cbor;
    std::uint64_t left_ = 0;
    std::size_t key_ = 0, key_end_ = 0;  // begin and end of the last key
  };

  // `offset`: of the bytes in the file, for errors. `depth`: of the first value.
  Cbor(std::span<const std::byte> bytes, std::uint64_t offset, unsigned depth = 0)
      : bytes_(bytes), base_(offset), depth_(depth) {}

  std::uint64_t offset() const { return base_ + at_; }
  std::size_t position() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  std::span<const std::byte> between(std::size_t begin, std::size_t end) const {
    return bytes_.subspan(begin, end - begin);
  }

  // Returns the bytes that were not read yet. `advance` skips bytes that were checked and read elsewhere, whole values.
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }
  void advance(std::size_t bytes) { at_ += bytes; }

  // These read the next value. `what` is its name in errors.
  std::uint64_t uint(std::string_view what);
  std::string_view text(std::string_view what);
  Walk map(std::string_view what) { return enter(CborMajor::map, what); }
  Walk array(std::string_view what) { return enter(CborMajor::array, what); }
  // Returns whether another item follows; leaves the array if not.
  bool next_item(Walk& walk) {
    if (walk.left_ == 0) {
      --depth_;
      return false;
    }
    --walk.left_;
    return true;
  }
  // Returns whether another entry follows, and reads its key: `key` is null if it is not a text. Leaves the map if
  // there is none.
  bool next_entry(Walk& walk, std::string_view& key);
  // Skips any value, and checks it.
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

// Returns whether these bytes are one value in this encoding, with at most `depth` levels.
bool is_deterministic(std::span<const std::byte> bytes, unsigned depth);

// Writes a value in this encoding: sorted keys, one NaN. Throws `zt2.write.value` for what it cannot encode (a tag),
// and `zt2.write.depth` for values that are deeper than readers accept; `depth`: of the value.
void put_value(wire::CborWriter& out, const Value& value, unsigned depth);
void put_map(wire::CborWriter& out, const Map& map, unsigned depth);

// The order of text keys in a map: that of their encoded bytes, so shorter keys come first.
inline bool key_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace tare::zt2
