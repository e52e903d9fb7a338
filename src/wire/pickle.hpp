// Python's pickles as a syntax: what a pickle would build, as data. Knows nothing of tensors.
//
// A pickle is a program for a machine with a stack and a memo. This machine knows every opcode of protocols 0 to 5 and
// executes nothing: a global is two names, never looked up; a call is a callable and its arguments, never called. The
// code that reads the tree decides which names it accepts. Nothing is expanded: a list with a thousand references is
// one list, and may contain itself. Opcodes, values and every visit to the items of a value are charged to the budget
// of the thread that created the Pickle (base/budget.hpp), so walking a shared object again is charged again.
//
// Errors have rules `pickle.*` and the offset of the opcode (docs/formats/torch.md has the table).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "tare/error.hpp"

namespace tare::wire {

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,  // 64 bits, signed
  large,    // an integer beyond 64 bits
  real,
  text,   // also a byte string of Python 2
  bytes,  // bytes and bytearray
  list,
  tuple,
  dict,
  set,     // and frozenset
  global,  // module and name
  // REDUCE, NEWOBJ, INST, OBJ: a callable, its arguments, and what was put into the result afterwards.
  call,
  persistent,  // an id that only the file around the pickle can resolve
};

class Pickle {
 public:
  using Ref = std::uint32_t;

  // `bytes` and the budget must outlive the pickle. `base`: the offset of `bytes` in the file, for errors.
  Pickle(std::span<const std::byte> bytes, std::uint64_t base);

  // The number of bytes up to and including STOP; nothing if they end first or contain an invalid opcode. Reads no
  // values.
  static std::optional<std::uint64_t> length_of(std::span<const std::byte> bytes);

  // Runs to STOP. Throws if the pickle is invalid; `globals` then has what was found before.
  void run();
  // After a failure: scans the remaining opcodes for the globals that the pickle would import.
  void scan_rest();

  // Whether `run` reached STOP.
  bool is_whole() const { return whole_; }
  Ref root() const { return root_; }
  // Bytes up to and including STOP.
  std::uint64_t length() const { return at_; }
  unsigned protocol() const { return protocol_; }

  PickleKind kind(Ref ref) const { return nodes_[ref].kind; }
  // The file offset of the opcode that created the value; 0 for small numbers and constants, which are shared.
  std::uint64_t at(Ref ref) const { return nodes_[ref].at == 0 ? 0 : base_ + nodes_[ref].at; }
  bool boolean(Ref ref) const { return nodes_[ref].payload.integer != 0; }
  std::int64_t integer(Ref ref) const { return nodes_[ref].payload.integer; }
  double real(Ref ref) const { return nodes_[ref].payload.real; }
  // For text, bytes and large integers (little-endian or decimal digits, as in the pickle).
  std::string_view text(Ref ref) const { return {nodes_[ref].payload.text, nodes_[ref].count}; }
  // For a large integer: whether its text is decimal digits.
  bool is_decimal(Ref ref) const {
    const std::byte opcode = bytes_[nodes_[ref].at];
    return opcode == std::byte{'L'} || opcode == std::byte{'I'};
  }
  std::span<const Ref> tuple(Ref ref) const { return std::span(items_).subspan(nodes_[ref].first, nodes_[ref].count); }
  Ref callable(Ref ref) const { return nodes_[ref].payload.pair[0]; }
  Ref arguments(Ref ref) const { return nodes_[ref].payload.pair[1]; }
  Ref persistent(Ref ref) const { return nodes_[ref].payload.pair[0]; }
  std::string_view module_of(Ref global) const { return globals_[nodes_[global].first].module; }
  std::string_view name_of(Ref global) const { return globals_[nodes_[global].first].name; }
  // Its index in `globals`.
  std::uint32_t number_of(Ref global) const { return nodes_[global].first; }

  // Visits what was put into a value by APPEND or ADDITEMS (list, set, call), SETITEM (dict, call) or BUILD (call).
  template <typename Visit>
  void each_item(Ref ref, const Visit& visit) const {
    each_segment(ref, Put::items, [&](std::span<const Ref> items) {
      for (const Ref item : items) visit(item);
    });
  }
  template <typename Visit>
  void each_pair(Ref ref, const Visit& visit) const {
    each_segment(ref, Put::pairs, [&](std::span<const Ref> items) {
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) visit(items[i], items[i + 1]);
    });
  }
  template <typename Visit>
  void each_state(Ref ref, const Visit& visit) const {
    each_segment(ref, Put::state, [&](std::span<const Ref> items) { visit(items[0]); });
  }

  // The globals that the pickle imports, each once, in the order of their first mention.
  struct Global {
    std::string_view module, name;
    std::uint64_t at = 0;  // file offset of the first mention
    std::uint64_t mentions = 1;
    bool scanned = false;  // found by scan_rest: the names are a guess
  };
  const std::vector<Global>& globals() const { return globals_; }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  static constexpr std::uint32_t kNothing = 0xffffffff;

  enum class Put : std::uint8_t { items, pairs, state };
  struct Node {
    PickleKind kind = PickleKind::none;
    std::uint32_t at = 0;
    // A tuple's items; for other kinds the first and last segment of what was put in.
    std::uint32_t first = kNothing, count = 0;
    union {
      std::int64_t integer;
      double real;
      const char* text;
      Ref pair[2];
    } payload = {};
  };
  struct Segment {
    std::uint32_t next, first, count;
    Put put;
  };

  template <typename Visit>
  void each_segment(Ref ref, Put put, const Visit& visit) const {
    if (!is_growing(nodes_[ref].kind)) return;
    for (std::uint32_t s = nodes_[ref].first; s != kNothing; s = segments_[s].next) {
      // Segments of other kinds also cost a step: an object can have a million of them and as many references.
      const bool is_meant = segments_[s].put == put;
      charge_steps(is_meant ? 1 + std::uint64_t{segments_[s].count} : 1);
      if (is_meant) visit(std::span(items_).subspan(segments_[s].first, segments_[s].count));
    }
  }
  void charge_steps(std::uint64_t count) const {
    if (budget_ != nullptr) budget_->spend_steps(count);
  }
  static bool is_growing(PickleKind kind) {
    return kind == PickleKind::list || kind == PickleKind::dict || kind == PickleKind::set || kind == PickleKind::call;
  }

  friend class PickleMachine;

  std::span<const std::byte> bytes_;
  std::uint64_t base_;
  Budget* const budget_ = current_budget();
  std::uint64_t at_ = 0;  // offset of the next opcode
  unsigned protocol_ = 0;
  Ref root_ = 0;
  bool whole_ = false;
  std::vector<Node> nodes_;
  std::vector<Segment> segments_;
  std::vector<Ref> items_;
  std::deque<std::string> decoded_;  // texts that differ from the bytes
  std::vector<Global> globals_;
  NameMap<std::uint32_t> numbers_;  // indices into globals_, by "module\nname"
  std::vector<Ref> memo_;
};

}  // namespace tare::wire
