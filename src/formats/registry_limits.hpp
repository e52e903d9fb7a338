// The bounds on what reading a model may cost, and on what it decodes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "tare/change.hpp"
#include "tare/format.hpp"

namespace tare {

// What reading with these limits may spend (base/budget.hpp).
Allowance allowance_of(const Limits& limits);
// Grants the bytes of a source, which may have been opened before there was a budget. There must be one now.
void grant_source(const Source& source);

// What a model decodes to, if that is more than `limits` allows for the bytes of its file, and what would allow it. Looks at
// sizes only. This is the one place that knows the rule.
struct Expansion {
  std::uint64_t stored = 0, decoded = 0;  // bytes
  Advice remedy = {};
};
std::optional<Expansion> expansion_beyond(const Model& model, const Limits& limits);

// Throws limit `open.expansion` when the tensors and attachments come to more than `limits` allows for the bytes of the
// model's file. Looks at sizes only.
void check_expansion(const Model& model, const Limits& limits, const std::string& file);

// The default limits without this bound: for reading back what was just written.
Limits limits_of_own_output();
// Adds a change if the model, read back from what was written (with its `file_bytes`), is one that `open` refuses by default.
void tell_expansion(const Model& written, std::vector<Change>& changes);
// The same of a file or directory that was written.
void tell_expansion(const std::string& path, std::vector<Change>& changes);

}  // namespace tare
