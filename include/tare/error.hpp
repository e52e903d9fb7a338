// The one exception of the library, and the findings that `verify` collects instead.
//
// Both carry the same facts: the kind of problem, the stable id of the broken rule, the file, the byte offset if known,
// the item (a tensor, a section) and one sentence with the numbers: expected, found. For programs they also carry the
// side that caused it (Subject) and what would help (Remedy).
//
// Two exceptions leave the library: Error, and std::bad_alloc if memory runs out. Lack of memory is never reported as
// anything else: a file that could not be read because of it may be perfectly valid.
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
  not_found,    // the requested file, tensor or attachment does not exist
  io,           // the operating system refused: unreadable, disk full, file shrank
  corrupt,      // the bytes break a rule of their format
  unsupported,  // valid, but beyond what this version (or the target format) can do
  limit,        // valid, but larger than a named limit allows
  lossy,        // would lose information, and no option allows that
  usage,        // the caller's request makes no sense
};

[[nodiscard]] TARE_API std::string_view name_of(ErrorKind kind);

// The side that caused the error. A weight that a codec cannot hold is found while the output is written, but its
// subject is the input.
enum class Subject : std::uint8_t {
  unsaid,
  input,    // the file that is read
  output,   // the file that is written, or its path: it exists already, is a directory, has such a tensor
  machine,  // no memory; unrelated to any file
};

[[nodiscard]] TARE_API std::string_view name_of(Subject subject);

// What the caller can do about an error. It is an option of the library: `overwrite` here is --force for the command,
// which adds that to its message. The comments describe the argument (see Advice).
enum class Remedy : std::uint8_t {
  overwrite,         // replace what exists: empty for a file, else "directory", "device", "link"
  drop,              // omit a part of the model: its name (AdaptOptions::drop)
  weights_only,      // omit everything but the tensors
  skip,              // omit tensors: a glob, if one is known
  match,             // keep only some of the tensors
  cast,              // cast the tensors: the type
  keep,              // do not quantize the tensor
  use_method,        // quantize by another method: its name
  clip,              // clamp weights to what the method can hold
  no_range,          // quantize without a minimum
  decode_first,      // decode it, then encode it again
  accept_owners,     // accept files of any owner
  accept_overflow,   // choose what becomes of values beyond the largest
  allow_expansion,   // raise Limits::expansion: to this number, if known
  name_format,       // name the format
  keep_names,        // keep the names of tensors, and everything that depends on them
  set,               // set a metadata key: KEY=VALUE, if known
  attach,            // carry files that are not part of the model
  compress,          // compress the tensors
  shard,             // split the tensors over several files; "smaller": over more files
  write_dialect,     // write a dialect of the format: its name
  list_findings,     // verify the file
  restore_leftover,  // convert what an earlier conversion left on disk: from where, a space, to where
};

[[nodiscard]] TARE_API std::string_view name_of(Remedy remedy);

struct Advice {
  Remedy remedy = Remedy::overwrite;
  std::string argument;  // printable
  friend bool operator==(const Advice&, const Advice&) = default;
};

// Copies share their facts, so that copying cannot fail: an exception whose copy throws terminates the process.
class TARE_API Error : public std::runtime_error {
 public:
  // `rule` is a stable id such as "zt.component.misaligned"; `sentence` gives expected and found. Sentences and items
  // may quote a file: characters that could control a terminal or begin a new line are escaped (\xNN).
  Error(ErrorKind kind, std::string_view rule, std::string_view sentence);
  Error(const Error&) noexcept = default;
  Error& operator=(const Error&) noexcept = default;
  ~Error() override;

  // These add context and return *this, so that a throw is one expression. The first call wins: the code closest to the
  // fault knows best.
  Error& in(std::string_view file);
  Error& at(std::uint64_t offset);
  Error& about(std::string_view item);
  Error& blame(Subject subject);
  // Each of several remedies helps by itself, except that those of `drop` are needed together; the best comes first.
  Error& remedy(Remedy what, std::string_view argument = {});
  // The same facts with another sentence.
  Error reworded(std::string_view sentence) const;

  // References stay valid until this error is changed or destroyed.
  ErrorKind kind() const;
  const std::string& rule() const;
  const std::string& sentence() const;
  // The path as the system knows it, not made printable.
  const std::string& file() const;
  const std::string& item() const;
  std::optional<std::uint64_t> offset() const;
  Subject subject() const;
  const std::vector<Advice>& remedies() const;

  // "FILE: ITEM: SENTENCE (RULE, byte OFFSET)", with the parts that are known; printable. Only the sentence if there is
  // no memory to compose it.
  const char* what() const noexcept override;

 private:
  struct Facts;
  std::shared_ptr<const Facts> facts_;  // never null, never changed
};

enum class Severity : std::uint8_t {
  note,     // worth knowing, never a failure: an older version, a dialect
  warning,  // tolerated, but not what a canonical writer emits; a failure in strict mode
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
  // Consecutive tensors that break the same rule, as all do after a truncation, are one finding: it describes the first
  // of `count`, and `last` is the item of the last. Empty: a single item.
  std::uint64_t count = 1;
  std::string last = {};
};

// A reader reports problems here. It calls `error` for a broken rule and, if that returns, skips the item and
// continues. So one reader serves both `open` (the default: the first error is thrown, the rest is ignored) and
// `verify` (a collecting subclass).
class TARE_API Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  virtual void error(const Error& error) { throw error; }
  // A tensor breaks a rule of its own; the other tensors are not affected. If this returns, the reader continues
  // without the tensor and lists it in Model::broken. See ReadOptions::keep_broken.
  virtual void tensor_error(const Error& about) { error(about); }
  virtual void warning(const Error& /*about*/) {}
  virtual void note(const Error& /*about*/) {}
  // A warning about one value, which is ignored: the rest of the file is read.
  virtual void ignored_value(const Error& about) { warning(about); }
  // A note about files next to the model that are not part of it.
  virtual void left_behind(const Error& about) { note(about); }
  // Whether to make checks that cost extra reads and yield only warnings (padding bytes, key order).
  virtual bool thorough() const { return false; }
};

}  // namespace tare
