// The loss of a model against its original, as a claim in its metadata that can be checked.
//
//   const tare::Model original = tare::open("model/"), made = tare::open("model-q4.gguf");
//   const tare::run::Quality found = tare::run::measure_quality(original, made, tare::run::sample_text());
//   (void)tare::edit_metadata("model-q4.gguf", quality_edits(found));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/metadata.hpp"
#include "tare/model.hpp"
#include "tare/run.hpp"
#include "tare/save.hpp"

namespace tare::run {

// The keys begin with this: tare.quality.kl and so on. A conversion that changes tensors omits them.
inline constexpr std::string_view kQualityPrefix = "tare.quality.";

struct Quality {
  std::string source;                     // content_digest() of the original
  std::string text;                       // digest of the text
  std::string tokenizer;                  // digest of the tokens that the tokenizer made of it
  std::uint64_t tokens = 0, context = 0;  // compared; of a piece
  Estimate kl = {}, kl_99 = {};           // see Comparison
  Estimate ratio = {}, top_1 = {};

  friend bool operator==(const Quality& a, const Quality& b);
};

// Runs both models on the text. Throws what compare() and content_digest() throw.
[[nodiscard]] TARE_API Quality measure_quality(const Model& original, const Model& made, std::string_view text,
                                               const Options& options = {});

// The quality of the file that save() would make of the original. It is written next to `path`, without a name, and
// removed. Throws what save() throws, too; `convert.format` for a format that is a directory.
[[nodiscard]] TARE_API Quality draft_quality(const Model& original, const std::string& path, SaveOptions how,
                                             std::string_view text, const Options& options = {});

// The keys of a claim, to be set in a file.
[[nodiscard]] TARE_API std::vector<MetadataEdit> quality_edits(const Quality& quality);
// The claim in a model's metadata; nothing if there is none. Throws corrupt `quality.value` for one that is not complete, or
// whose numbers cannot be.
[[nodiscard]] TARE_API std::optional<Quality> stated_quality(const Map& metadata);
// "KL 0.0132 ± 0.0005, 99% 0.15, perplexity x1.012, same best token 94.1% (1,024 tokens)".
[[nodiscard]] TARE_API std::string to_text(const Quality& quality);

// Measures again, and returns why the claim of `made` is wrong; empty if it is right. Rules: `quality.none` (there is no
// claim), `quality.value`, `quality.source`, `quality.text`, `quality.tokenizer` (it is about another original, text or
// tokenizer), `quality.claim` (a number is not what was measured: by more than a hundredth of the loss and a quarter of its
// standard error, which covers what processors round differently). Throws what measure_quality() throws.
[[nodiscard]] TARE_API std::vector<Finding> refuted_quality(const Model& original, const Model& made,
                                                            std::string_view text, const Options& options = {});

}  // namespace tare::run
