// Sums up consecutive tensors that break the same rule, as all do after a truncation: one error with the first, the
// last and their number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"

namespace tare {

// Runs up to this length are listed in full.
inline constexpr std::uint64_t kListedErrors = 3;

// Whether both are about the same rule of the same file.
inline bool is_same_rule(const Error& a, const Error& b) {
  return a.kind() == b.kind() && a.rule() == b.rule() && a.file() == b.file();
}

// The sentence for a run that begins with `sentence`.
std::string sentence_of_run(std::string_view sentence, std::uint64_t count, std::string_view last_item);

// The errors in order; a run of more than kListedErrors becomes its first error, reworded.
std::vector<Error> runs_summed_up(const std::vector<Error>& errors);

}  // namespace tare
