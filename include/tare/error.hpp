// The one exception of the library, and the findings that `verify` collects in its place.
//
// Both carry the same facts: what kind of trouble, the stable id of the rule that was broken, the file, the byte
// offset where known, the item (a tensor, a section) and one sentence with the numbers: expected, found.
//
// Two exceptions leave the library: Error, and std::bad_alloc when there is no memory. Lack of memory is never told as
// something else: a file that could not be read for want of it may be perfectly good.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tare/export.hpp"

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

TARE_API std::string_view name_of(ErrorKind kind);

// Copies share their facts, so copying cannot fail: an exception whose copy throws on the way out ends the process.
class TARE_API Error : public std::runtime_error {
 public:
  // `rule` is a stable id such as "zt.component.misaligned"; `sentence` says what was expected and what was there.
  // Sentences and items may quote a file: what could steer a terminal or begin a line of its own is spelled out (\xNN).
  Error(ErrorKind kind, std::string_view rule, std::string_view sentence);
  Error(const Error&) noexcept = default;
  Error& operator=(const Error&) noexcept = default;
  ~Error() override;

  // Fill in context; each returns *this so that a throw reads as one expression. The first caller wins: the
  // code closest to the fault knows best.
  Error& in(std::string_view file);
  Error& at(std::uint64_t offset);
  Error& about(std::string_view item);

  // Valid until this error is changed or destroyed.
  ErrorKind kind() const;
  const std::string& rule() const;
  const std::string& sentence() const;
  // The path as the system knows it, not made printable.
  const std::string& file() const;
  const std::string& item() const;
  std::optional<std::uint64_t> offset() const;

  // "FILE: ITEM: SENTENCE (RULE, byte OFFSET)", with the parts that are known; printable. The sentence alone where
  // there is no memory to put it together.
  const char* what() const noexcept override;

 private:
  struct Facts;
  std::shared_ptr<const Facts> facts_;  // never null, never changed
};

enum class Severity : std::uint8_t {
  note,     // worth knowing, never a failure: an older version, a dialect
  warning,  // tolerated but not what a canonical writer emits; fails under --strict
  error,    // breaks a rule
};

TARE_API std::string_view name_of(Severity severity);

struct Finding {
  Severity severity = Severity::error;
  ErrorKind kind = ErrorKind::corrupt;
  std::string rule, sentence, file, item;
  std::optional<std::uint64_t> offset;
};

// Where a reader reports what it meets. Readers call `error` for a broken rule and carry on if it returns, skipping
// the item; so one reader serves both `open` (the default: the first error is thrown, the rest is ignored) and
// `verify` (a collecting subclass).
class TARE_API Diagnostics {
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
