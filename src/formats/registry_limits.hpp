// Bounds on what reading a model may cost, and on the size that it decodes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "formats/format.hpp"
#include "tare/change.hpp"

namespace tare {

// Returns what reading with these limits may spend (base/budget.hpp).
Allowance allowance_of(const Limits& limits);
// Adds the bytes of a source to the current budget, which must exist. The source may have been opened before the budget
// was made.
void grant_source(const Source& source);

// The decoded size of a model that is more than `limits` allows for the bytes of its file, and the option that would
// allow it. Computed from sizes only. No other code knows this rule.
struct Expansion {
  std::uint64_t stored = 0, decoded = 0;  // bytes
  Advice remedy = {};
};
std::optional<Expansion> expansion_beyond(const Model& model, const Limits& limits);

// Throws limit `open.expansion` if the tensors and attachments decode to more than `limits` allows for the bytes of the
// model's file. Looks at sizes only.
void check_expansion(const Model& model, const Limits& limits, const std::string& file);

// The default limits without the bound on expansion, for reading back what was just written.
Limits limits_of_own_output();
// Adds a change if `open` refuses the written model by default. `written` is the model as it was read back, with its
// `file_bytes`.
void report_expansion(const Model& written, std::vector<Change>& changes);
// Does the same for a file or directory that was written.
void report_expansion(const std::string& path, std::vector<Change>& changes);

}  // namespace tare
