// CBOR (RFC 8949): a pull reader over bytes in memory, and a writer of canonical heads.
//
// Every length is checked against the available bytes before it is used, nesting is bounded, text is UTF-8. Forms that a
// canonical writer does not use (indefinite lengths, long heads, tags before values) are accepted and noted, or refused:
// see CborRules. Errors have the absolute offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "tare/error.hpp"
#include "tare/value.hpp"

namespace tare::wire {

enum class CborMajor : std::uint8_t { uint, negative, bytes, text, array, map, tag, simple };

// What a reader accepts, and the rules that its errors have.
struct CborRules {
  // Accepts nothing but RFC 8949's core deterministic encoding, with the simple values false, true and null and with
  // one NaN: a value has one encoding, so two readers cannot read different things from the same bytes.
  bool deterministic = false;
  std::string_view truncated = "cbor.truncated", reserved = "cbor.reserved", utf8 = "cbor.utf8", count = "cbor.count";
  std::string_view string = "cbor.string", depth = "cbor.depth", duplicate = "cbor.duplicate", type = "cbor.type";
  std::string_view form = {};  // for what only the deterministic encoding excludes
};
inline constexpr CborRules kAnyCbor;

class CborReader {
 public:
  // An array or map that is being read.
  class Container {
   public:
    // The number of entries stated; 0 for indefinite ones. Already checked against the remaining bytes.
    std::uint64_t count() const { return left_; }

   private:
    friend class CborReader;
    std::uint64_t left_ = 0;
    std::size_t key_ = 0, key_end_ = 0;  // begin and end of the last key, if the encoding is deterministic
    bool indefinite_ = false;
  };

  // `offset` is the position of `bytes` in `file`; both are used only for errors. `rules` must outlive the reader.
  // Values that `read_value` creates are charged to the budget of this thread (base/budget.hpp).
  CborReader(std::span<const std::byte> bytes, std::string file, std::uint64_t offset, unsigned max_depth,
             const CborRules& rules = kAnyCbor);

  // The type of the next item after any tags.
  CborMajor peek();
  bool next_is_null();
  // `what`, here and below: the name of the value in errors.
  std::uint64_t read_uint(std::string_view what = {}) {
    // Fast path for the heads that are frequent in manifests; all others, including long forms, take the slow path.
    if (remaining() >= 5) {
      const std::uint8_t head = byte_at(position_);
      if (head < 24) return byte_at(position_++);
      if (head == 0x1A) {
        const auto value = load_be<std::uint32_t>(bytes_.data() + position_ + 1);
        if (value > 0xFFFF) {
          position_ += 5;
          return value;
        }
      }
    }
    return read_uint_slowly(what);
  }
  // Valid until the reader is destroyed.
  std::string_view read_text(std::string_view what = {}) {
    if (const auto text = read_short_text(); text.data() != nullptr) return text;
    return read_text_slowly(what);
  }
  std::span<const std::byte> read_bytes();

  // Enters an array or map.
  Container enter(CborMajor kind, std::string_view what = {}) {
    // Fast path: a definite container with fewer than 24 entries, for which enough bytes certainly remain.
    if (remaining() > 48 && depth_ < max_depth_) {
      const auto count = static_cast<std::uint8_t>(byte_at(position_) - (static_cast<unsigned>(kind) << 5));
      if (count < 24) {
        ++position_;
        ++depth_;
        Container container;
        container.left_ = count;
        container.key_ = container.key_end_ = position_;
        return container;
      }
    }
    return enter_slowly(kind, what);
  }
  // Whether another item (array) or key (map) follows; leaves the container if not.
  bool next(Container& container) {
    if (container.indefinite_) return next_indefinite();
    if (container.left_-- > 0) return true;
    --depth_;
    return false;
  }
  // Like `next` for a map, and reads the key: a null view if it is not a text.
  bool next_entry(Container& entries, std::string_view& key);

  void skip();
  // Skips bytes that were checked and read elsewhere, whole values.
  void advance(std::size_t bytes) { position_ += bytes; }

  // A position to return to: the start of an item that turned out to be unusable and is to be skipped as a whole.
  struct Mark {
    std::size_t position;
    unsigned depth;
  };
  Mark mark() const { return {position_, depth_}; }
  void back_to(const Mark& mark) {
    position_ = mark.position;
    depth_ = mark.depth;
  }

  // Any value, as a tree; what the tree cannot represent is kept as Opaque.
  Value read_value();
  // A map with unique text keys.
  Map read_map();

  std::uint64_t offset() const { return base_ + position_; }
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(position_); }
  std::span<const std::byte> between(std::size_t begin, std::size_t end) const {
    return bytes_.subspan(begin, end - begin);
  }

  // Forms found so far that a canonical writer does not use.
  bool saw_indefinite() const { return saw_indefinite_; }
  bool saw_long_head() const { return saw_long_head_; }
  bool saw_tag() const { return saw_tag_; }

  [[noreturn]] void fail(std::string_view rule, std::string_view sentence) const;
  [[noreturn]] void fail_at(std::uint64_t offset, std::string_view rule, std::string_view sentence) const;

 private:
  struct Head {
    CborMajor major;
    std::uint8_t info;  // the low five bits
    std::uint64_t value;
    bool indefinite() const { return info == 31; }
  };

  std::uint8_t byte_at(std::size_t position) const { return std::to_integer<std::uint8_t>(bytes_[position]); }
  void need(std::uint64_t count) const;
  [[noreturn]] void fail_type(std::uint64_t start, std::string_view what, CborMajor wanted, const Head& found) const;
  Head read_raw_head();
  // Skips tags; `last_tag_` keeps the innermost.
  Head read_head();
  std::string_view take_string(const Head& head, CborMajor kind);
  void skip_string(const Head& head, CborMajor kind);
  std::string_view read_short_text();
  std::string_view read_text_slowly(std::string_view what);
  std::uint64_t read_uint_slowly(std::string_view what);
  bool next_indefinite();
  Container enter_slowly(CborMajor kind, std::string_view what);
  Container open_container(const Head& head, std::uint64_t start);
  bool read_into(Value& out);
  bool read_simple(const Head& head, Value& out);
  bool read_entries(Container entries, Map& out);
  void check_key(Container& entries, std::size_t begin) const;
  void check_simple(const Head& head, std::uint64_t start) const;
  bool is_break() const { return position_ < bytes_.size() && byte_at(position_) == 0xFF; }
  void charge(std::uint64_t values) const;

  std::span<const std::byte> bytes_;
  const CborRules* rules_;
  std::string file_;
  std::uint64_t base_;
  std::size_t position_ = 0;
  unsigned depth_ = 0, max_depth_;
  std::uint64_t last_tag_ = 0;
  bool tagged_ = false;
  bool saw_indefinite_ = false, saw_long_head_ = false, saw_tag_ = false;
  std::deque<std::string> joined_;  // indefinite strings, joined
};

// Fast path, which does nearly all of the work for a manifest with many tensors: a definite text of up to 255 ASCII
// bytes with its shortest head. Returns a null view, and consumes nothing, for anything else.
inline std::string_view CborReader::read_short_text() {
  // The loop may load eight bytes from any byte of the text.
  if (remaining() < 2 + 255 + 8) return {};
  const std::uint8_t head = byte_at(position_), next = byte_at(position_ + 1);
  const bool tiny = head >= 0x60 && head < 0x78;
  if (!tiny && (head != 0x78 || next < 24)) return {};
  const std::size_t length = tiny ? head & 31 : next, start = position_ + (tiny ? 1 : 2);
  const std::byte* const text = bytes_.data() + start;
  std::uint64_t high = 0;
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) high |= load_le<std::uint64_t>(text + i);
  const std::uint64_t rest = (std::uint64_t{1} << (8 * (length - i))) - 1;
  high |= load_le<std::uint64_t>(text + i) & rest;
  if ((high & 0x8080808080808080u) != 0) return {};
  position_ = start + length;
  return {reinterpret_cast<const char*>(text), length};
}

// Finds repeated keys in O(n log n), even if they are unsorted.
class KeyCheck {
 public:
  void add(std::string_view key) {
    if (!keys_.empty() && !(keys_.back() < key)) breaks_.push_back(keys_.size());
    keys_.push_back(key);
  }
  // A key that appears twice; a null view if there is none. Call once, last.
  std::string_view find_duplicate();

 private:
  std::vector<std::string_view> keys_;
  std::vector<std::size_t> breaks_;  // where the order restarts
};

// Whether the bytes are exactly one item, nested no deeper than `depth`.
bool is_one_item(std::span<const std::byte> bytes, unsigned depth = 1000, const CborRules& rules = kAnyCbor);

class CborWriter {
 public:
  void head(CborMajor major, std::uint64_t value);
  void uint(std::uint64_t value) { head(CborMajor::uint, value); }
  void text(std::string_view text);
  void bytes(std::span<const std::byte> bytes);
  void array(std::uint64_t count) { head(CborMajor::array, count); }
  void map(std::uint64_t count) { head(CborMajor::map, count); }
  // Writes floats in the shortest form that keeps every bit, and maps in their own order. The caller checks the depth
  // of nesting.
  void value(const Value& value);
  void raw(std::span<const std::byte> bytes);

  const Bytes& result() const { return out_; }
  Bytes take() { return std::move(out_); }

 private:
  void byte(std::uint8_t b) { out_.push_back(static_cast<std::byte>(b)); }
  void floating(double value);

  Bytes out_;
};

}  // namespace tare::wire
