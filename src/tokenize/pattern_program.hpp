// What a pattern is compiled to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenize/character_set.hpp"
#include "tokenize/pattern.hpp"

namespace tare::tokenize {

// Not in an unnamed namespace: Pattern::Program, which a header declares, consists of them.
namespace matching {

enum class Op : std::uint8_t {
  character,   // the character `a`
  set,         // one character of the set `a`
  run,         // `a`: set; `low` to `high` characters of it, as many as possible
  run_only,    // the same, and never fewer
  split,       // goes on at `a`; if that fails, at `b`
  jump,        // to `a`
  ahead,       // what begins at the next instruction matches here; goes on at `a`
  not_ahead,   // it does not
  behind,      // the character before is in the set `a`
  not_behind,  // it is not, or there is none
  atomic,      // what begins at the next instruction matches in one way only; goes on at `a`
  line_begin,
  line_end,
  text_begin,
  text_end,
  boundary,
  no_boundary,
  done,
};

inline constexpr std::size_t kNone = SIZE_MAX;
inline constexpr std::uint16_t kNoLimit = UINT16_MAX;  // for `high`

struct Instruction {
  Op op;
  std::uint32_t a = 0, b = 0;
  std::uint16_t low = 0, high = 0;
};

}  // namespace matching

struct Pattern::Program {
  std::vector<CharacterSet> sets;
  std::vector<matching::Instruction> code;
  bool may_be_empty = false;
};

// Throws unsupported `tokenizer.pattern`.
void compile(std::string_view regex, Pattern::Program& program);

}  // namespace tare::tokenize
