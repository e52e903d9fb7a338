// The one exception of the library, and the findings that `verify` collects in its place.
//
// Both carry the same facts: what kind of trouble, the stable id of the rule that was broken, the file, the byte
// offset where known, the item (a tensor, a section) and one sentence with the numbers: expected, found.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tare {

enum class ErrorKind : std::uint8_t {
  not_found,    // the file, tensor or attachment asked for does not exist
  io,           // the operating system refused: unreadable, disk full, file shrank
  corrupt,      // the bytes break a rule of their format
  unsupported,  // well formed, but beyond what this version (or the target format) can do
  limit,        // well formed, but larger than a named limit allows
  lossy,        // would lose information, and no flag allowed it
  usage,        // the caller asked for something that makes no sense
};

std::string_view name_of(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  // `rule` is a stable id such as "zt.component.misaligned"; `sentence` says what was expected and what was there.
  Error(ErrorKind kind, std::string_view rule, std::string_view sentence);

  // Fill in context; each returns *this so that a throw reads as one expression. The first caller wins: the
  // code closest to the fault knows best.
  Error& in(std::string_view file);
  Error& at(std::uint64_t offset);
  Error& about(std::string_view item);

  ErrorKind kind() const { return kind_; }
  const std::string& rule() const { return rule_; }
  const std::string& sentence() const { return sentence_; }
  const std::string& file() const { return file_; }
  const std::string& item() const { return item_; }
  std::optional<std::uint64_t> offset() const { return offset_; }

  // "FILE: ITEM: SENTENCE (RULE, byte OFFSET)", with the parts that are known.
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();

  ErrorKind kind_;
  std::string rule_, sentence_, file_, item_, text_;
  std::optional<std::uint64_t> offset_;
};

enum class Severity : std::uint8_t {
  note,     // worth knowing, never a failure: an older version, a dialect
  warning,  // tolerated but not what a canonical writer emits; fails under --strict
  error,    // breaks a rule
};

std::string_view name_of(Severity severity);

struct Finding {
  Severity severity = Severity::error;
  ErrorKind kind = ErrorKind::corrupt;
  std::string rule, sentence, file, item;
  std::optional<std::uint64_t> offset;
};

// Where a reader reports what it meets. Readers call `error` for a broken rule and carry on if it returns, skipping
// the item; so one reader serves both `open` (the default: the first error is thrown, the rest is ignored) and
// `verify` (a collecting subclass).
class Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  virtual void error(const Error& error) { throw error; }
  // A tensor breaks a rule of its own; the others are none the worse for it. If this returns, the reader goes on without
  // it and lists it in Model::broken. See ReadOptions::keep_broken.
  virtual void tensor_error(const Error& about) { error(about); }
  virtual void warning(const Error& /*about*/) {}
  virtual void note(const Error& /*about*/) {}
  // Whether checks that cost extra reads and only yield warnings (padding bytes, key order) are worth making.
  virtual bool thorough() const { return false; }
};

}  // namespace tare
