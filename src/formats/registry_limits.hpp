// Bounds on what reading a model may cost, and on the size that it decodes to.
#pragma once

#include <cstdint>
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

// The size of a model's files and what they decode to, in bytes.
struct Expansion {
  std::uint64_t stored = 0, decoded = 0;
};
// Returns what the tensors and attachments decode to, computed from sizes only.
std::uint64_t decoded_size(const Model& model);

// Throws limit `open.expansion` if the tensors and attachments decode to more than `limits` allows for the bytes of the
// model's file. Looks at sizes only.
void check_expansion(const Model& model, const Limits& limits, const std::string& file);

// Whether check_expansion will accept the model, whose files have `file_bytes`. For readers that look at data.
bool may_decode(const Model& model, std::uint64_t file_bytes, const Limits& limits);

// While it exists, the models that this thread opens count as one: they share a budget, each file raises it once, and the
// bytes that they decode to are added up. For the parts of a pipeline, which may be links to each other's files.
class CountedAsOne {
 public:
  explicit CountedAsOne(const Limits& limits);
  ~CountedAsOne();
  CountedAsOne(const CountedAsOne&) = delete;
  CountedAsOne& operator=(const CountedAsOne&) = delete;

 private:
  Spending spending_;
};

// The default limits without the bound on expansion, for reading back what was just written.
Limits limits_of_own_output();
// Adds a change if `open` refuses the written model by default. `written` is the model as it was read back, with its
// `file_bytes`.
void report_expansion(const Model& written, std::vector<Change>& changes);
// The same for an output that cannot be read back.
void report_expansion(const Expansion& sizes, std::vector<Change>& changes);
// Does the same for a file or directory that was written.
void report_expansion(const std::string& path, std::vector<Change>& changes);

}  // namespace tare
