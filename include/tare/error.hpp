// The one exception of the library, and the findings that `verify` collects in its place.
//
// Both carry the same facts: what kind of trouble, the stable id of the rule that was broken, the file, the byte
// offset where known, the item (a tensor, a section) and one sentence with the numbers: expected, found. Besides the words
// they say what a program can act on: whose fault it is (Subject) and what would help (Remedy).
//
// Two exceptions leave the library: Error, and std::bad_alloc when there is no memory. Lack of memory is never reported
// as something else: a file that could not be read because of it may be perfectly good.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tare/export.hpp"

namespace tare {

enum class ErrorKind : std::uint8_t {
  not_found,    // the file, tensor or attachment asked for does not exist
  io,           // the operating system refused: unreadable, disk full, file shrank
  corrupt,      // the bytes break a rule of their format
  unsupported,  // well formed, but beyond what this version (or the target format) can do
  limit,        // well formed, but larger than a named limit allows
  lossy,        // would lose information, and no option allowed it
  usage,        // the caller asked for something that makes no sense
};

[[nodiscard]] TARE_API std::string_view name_of(ErrorKind kind);

// On which side of the work the cause is. A weight that a codec cannot hold is met while the output is written, and is
// the input's all the same.
enum class Subject : std::uint8_t {
  unsaid,
  input,    // what is read
  output,   // what is written, and where to: it exists already, is a directory, has such a tensor
  machine,  // no memory: says nothing about any file
};

[[nodiscard]] TARE_API std::string_view name_of(Subject subject);

// What the caller can do about it. An option, not how one interface spells it: what is `overwrite` here is --force for
// the command, which adds that to what it prints. After the name: the argument that goes with it (see Advice).
enum class Remedy : std::uint8_t {
  overwrite,         // allow that; what is there: nothing said for a file, else "directory", "device", "link"
  drop,              // omit a part of the model: its name (AdaptOptions::drop)
  weights_only,      // leave out everything but the tensors
  skip,              // leave out tensors: a glob, if one is known that does
  match,             // take only some of the tensors
  cast,              // cast the tensors: the type
  keep,              // do not quantize the tensor
  use_method,        // quantize by another method: its name
  clip,              // cut weights to what the method can hold
  no_range,          // quantize without a minimum
  decode_first,      // decode it, then encode it anew
  accept_owners,     // take files whoever owns them
  accept_overflow,   // say what becomes of values beyond the largest
  allow_expansion,   // raise Limits::expansion: to this number, if it is known
  name_format,       // say which format is meant
  keep_names,        // leave the names of tensors, and what goes with them, as they are
  set,               // give a metadata key a value: KEY=VALUE, if it is known which
  attach,            // take files along that are not part of the model
  compress,          // compress the tensors
  shard,             // split the tensors over several files; "smaller": over more of them
  write_dialect,     // write a dialect of the format: its name
  list_findings,     // verify the file
  restore_leftover,  // convert what an earlier conversion left behind: from where, a space, to where
};

[[nodiscard]] TARE_API std::string_view name_of(Remedy remedy);

struct Advice {
  Remedy remedy = Remedy::overwrite;
  std::string argument;  // printable
  friend bool operator==(const Advice&, const Advice&) = default;
};

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
  Error& blame(Subject subject);
  // Of several remedies each helps by itself, those of `drop` together; the best one comes first.
  Error& remedy(Remedy what, std::string_view argument = {});
  // The same facts with another sentence.
  Error reworded(std::string_view sentence) const;

  // Valid until this error is changed or destroyed.
  ErrorKind kind() const;
  const std::string& rule() const;
  const std::string& sentence() const;
  // The path as the system knows it, not made printable.
  const std::string& file() const;
  const std::string& item() const;
  std::optional<std::uint64_t> offset() const;
  Subject subject() const;
  const std::vector<Advice>& remedies() const;

  // "FILE: ITEM: SENTENCE (RULE, byte OFFSET)", with the parts that are known; printable. The sentence alone where
  // there is no memory to put it together.
  const char* what() const noexcept override;

 private:
  struct Facts;
  std::shared_ptr<const Facts> facts_;  // never null, never changed
};

enum class Severity : std::uint8_t {
  note,     // worth knowing, never a failure: an older version, a dialect
  warning,  // tolerated but not what a canonical writer emits; fails where strictness is asked for
  error,    // breaks a rule
};

[[nodiscard]] TARE_API std::string_view name_of(Severity severity);

struct Finding {
  Severity severity = Severity::error;
  ErrorKind kind = ErrorKind::corrupt;
  std::string rule, sentence, file, item;
  std::optional<std::uint64_t> offset;
  Subject subject = Subject::unsaid;
  std::vector<Advice> remedies = {};
  // Tensors that break the same rule one after the other, as all do from where a file was truncated, are one finding: it is
  // about the first of `count`, and `last` is the item of the last. Empty: it stands for itself.
  std::uint64_t count = 1;
  std::string last = {};
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
  // A warning about one value, which is ignored: the rest of the file was read.
  virtual void ignored_value(const Error& about) { warning(about); }
  // A note about files that lie with the model and are not part of it.
  virtual void left_behind(const Error& about) { note(about); }
  // Whether checks that cost extra reads and only yield warnings (padding bytes, key order) are worth making.
  virtual bool thorough() const { return false; }
};

}  // namespace tare
