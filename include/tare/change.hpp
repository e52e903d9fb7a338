// What a conversion changed: data for programs, sentences for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "tare/export.hpp"

namespace tare {

// The parts of a model other than its tensors.
enum class ModelPart : std::uint8_t {
  metadata,
  config,
  vocabulary,
  attachments,
  attributes,  // attributes of tensors
};
inline constexpr ModelPart kModelParts[] = {ModelPart::metadata, ModelPart::config, ModelPart::vocabulary,
                                            ModelPart::attachments, ModelPart::attributes};

[[nodiscard]] TARE_API std::string_view name_of(ModelPart part);
// The part with this name; nothing if there is none.
[[nodiscard]] TARE_API std::optional<ModelPart> parse_model_part(std::string_view name);

// What was done. The comments name the fields of Change that are used in addition to `items`.
enum class ChangeKind : std::uint8_t {
  // Changes to tensors; `items` are their names.
  cast,        // from the type `before` to `after`; `lossy`: values were rounded
  widened,     // without loss from the type `before`, which the target lacks, to `after`
  decoded,     // from the codec or layout `before` to a dense tensor of type `after`; `detail`: what was assumed
  quantized,   // from the type `before` by the method `after`
  overflowed,  // `count` values exceed the largest of the type `after`; `detail`: what they became
  kept,        // already encoded by the method `after`
  unfit,       // kept although a rule asked for the method `after`, which accepts only `detail`
  unweighted,  // the method `after` ignores the importance of columns that was given
  fell_back,   // from the method `before`, which accepts only `detail`, to `after` (empty: kept)
  skipped,     // omitted on request
  unpacked,    // compressed in the input but not in the output
  // Changes to something else. `part` names it: "config", "vocabulary", "config.json". Empty: `items` are files.
  dropped,      // omitted on request; if there are no `items`, `count` entries
  left_out,     // omitted; `detail`: why
  kept_as,      // stored in the form `after`
  filled_in,    // the items now have `values`; `detail`: where those come from
  defaulted,    // likewise, because the input does not state them
  restated,     // changed from `before` to `after`
  made,         // files that the input does not have, generated from its other data
  renamed,      // `part` is called `after` instead of `before`
  unsaid,       // fields of the target that the input has no value for; `detail`: what is written instead
  left_behind,  // files next to the model that are not part of it; `detail` lists them
  remark,       // anything else worth reporting: the sentence is `detail`, about `part`
};

// How much a change matters.
enum class Impact : std::uint8_t {
  // The model may compute something else, or a text may become other tokens. The command shows it as a "warning".
  results,
  lost,     // not in the output
  changed,  // in the output, but different
  note,     // worth knowing
  detail,   // nothing was lost
};

[[nodiscard]] TARE_API std::string_view name_of(ChangeKind kind);
[[nodiscard]] TARE_API std::string_view name_of(Impact impact);

// One change, to any number of items.
struct Change {
  ChangeKind kind = ChangeKind::remark;
  Impact impact = Impact::note;
  std::string part = {};
  std::vector<std::string> items = {};   // names of tensors, keys, files
  std::vector<std::string> values = {};  // one for each item
  std::string before = {}, after = {};
  std::uint64_t count = 0;
  bool lossy = false;  // values were rounded, or something is not in the output
  std::string detail = {};
  std::size_t named = 8;              // how many items a sentence names before "and 3 more"
  std::vector<Advice> remedies = {};  // what would avoid or undo the change

  friend bool operator==(const Change&, const Change&) = default;
};

// Whether `items` are tensors.
[[nodiscard]] TARE_API bool is_about_tensors(ChangeKind kind);

// The whole sentence: "3 tensors widened from bf16 to f32: a, b, c". `advice`: the caller's words for the remedies;
// they are inserted where they fit the sentence.
[[nodiscard]] TARE_API std::string to_text(const Change& change, std::string_view advice = {});
// Without tensor names, and for `left_out` without the reason: "3 tensors widened from bf16 to f32".
[[nodiscard]] TARE_API std::string to_brief_text(const Change& change, std::string_view advice = {});

}  // namespace tare
