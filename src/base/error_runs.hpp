// Tensors that break one rule one after the other, as all do from where a file was truncated: one line says it, with the
// first, the last and how many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"

namespace tare {

// So many in a row are listed one by one.
inline constexpr std::uint64_t kListedErrors = 3;

// Whether both are about the same rule of the same file.
inline bool is_same_rule(const Error& a, const Error& b) {
  return a.kind() == b.kind() && a.rule() == b.rule() && a.file() == b.file();
}

// The sentence of the first of `count`.
std::string sentence_of_run(std::string_view sentence, std::uint64_t count, std::string_view last_item);

// In their order; a run of more than kListedErrors is its first error, reworded.
std::vector<Error> runs_summed_up(const std::vector<Error>& errors);

}  // namespace tare
