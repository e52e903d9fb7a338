// What a conversion changed: as data for programs, in words for people.
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

// What a model has beside its tensors.
enum class ModelPart : std::uint8_t {
  metadata,
  config,
  vocabulary,
  attachments,
  attributes,  // of tensors
};
inline constexpr ModelPart kModelParts[] = {ModelPart::metadata, ModelPart::config, ModelPart::vocabulary,
                                            ModelPart::attachments, ModelPart::attributes};

[[nodiscard]] TARE_API std::string_view name_of(ModelPart part);
// The part of that name; nothing if there is none.
[[nodiscard]] TARE_API std::optional<ModelPart> parse_model_part(std::string_view name);

// What was done. Behind each: which fields of Change say more, beside `items`.
enum class ChangeKind : std::uint8_t {
  // To the tensors that `items` names.
  cast,        // from the type `before` to `after`; `lossy`: rounded
  widened,     // from the type `before`, which the target lacks, to `after`, without loss
  decoded,     // from the codec or layout `before` to a dense tensor of type `after`; `detail`: what was assumed
  quantized,   // from the type `before` by the method `after`
  overflowed,  // `count` values were beyond the largest of the type `after`; `detail`: what they became
  kept,        // they are of the method `after` already
  unfit,       // kept although a rule asked for the method `after`, which takes `detail` only
  unweighted,  // the method `after` has no use for the importance of columns that was given
  fell_back,   // from the method `before` to `after` (nothing: kept), because the former takes `detail` only
  skipped,     // omitted, as was asked for
  unpacked,    // compressed in the input and not in the output
  // To something else; `part` says of what: "config", "vocabulary", "config.json". Empty: `items` are files.
  dropped,      // omitted, as was asked for; without `items`, `count` entries
  left_out,     // `detail`: why
  kept_as,      // in the form of `after`
  filled_in,    // the items are `values` now; `detail`: where they come from
  defaulted,    // likewise, because the input does not say
  restated,     // was `before`, is `after`
  made,         // files that the input does not have, from what it says elsewhere
  renamed,      // `part` is called `after`, not `before`
  unsaid,       // fields of the target that the input says nothing for; `detail`: what is written there
  left_behind,  // files that lie with the model and are not part of it: `detail` lists them
  remark,       // anything else that is worth telling: the sentence is `detail`, about `part`
};

// How much it matters.
enum class Impact : std::uint8_t {
  results,  // what the model computes, or what a text becomes, may be different now
  lost,     // not in the output
  changed,  // there, but not as it was
  note,     // worth knowing
  detail,   // nothing was lost
};

[[nodiscard]] TARE_API std::string_view name_of(ChangeKind kind);
[[nodiscard]] TARE_API std::string_view name_of(Impact impact);

// One change to any number of items.
struct Change {
  ChangeKind kind = ChangeKind::remark;
  Impact impact = Impact::note;
  std::string part = {};
  std::vector<std::string> items = {};   // names of tensors, keys, files
  std::vector<std::string> values = {};  // of each item
  std::string before = {}, after = {};
  std::uint64_t count = 0;
  bool lossy = false;
  std::string detail = {};
  std::size_t named = 8;              // how many items a sentence names before it says "and 3 more"
  std::vector<Advice> remedies = {};  // what would avoid or undo it

  friend bool operator==(const Change&, const Change&) = default;
};

// Whether `items` are tensors.
[[nodiscard]] TARE_API bool is_about_tensors(ChangeKind kind);

// The whole sentence: "3 tensors widened from bf16 to f32: a, b, c". `advice`: the caller's words for the remedies, which
// go where they belong in it.
[[nodiscard]] TARE_API std::string to_text(const Change& change, std::string_view advice = {});
// Without the names of tensors, and of what was omitted without why: "3 tensors widened from bf16 to f32".
[[nodiscard]] TARE_API std::string to_brief_text(const Change& change, std::string_view advice = {});

}  // namespace tare
