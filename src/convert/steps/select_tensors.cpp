// Selects the tensors to convert: those that match, without those to skip.
#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "convert/no_match.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/token_table.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

bool matches_any(const std::vector<std::string>& globs, const std::string& name) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, name); });
}

// Throws `convert.match` for a glob that matches no tensor.
void require_matches(const Model& model, const std::vector<std::string>& globs, std::string_view what) {
  for (const std::string& glob : globs) {
    const auto matches = [&](const Tensor& tensor) { return glob_match(glob, tensor.name); };
    const auto matches_broken = [&](const BrokenTensor& broken) { return matches(broken.tensor); };
    if (std::ranges::none_of(model.tensors, matches) && std::ranges::none_of(model.broken, matches_broken))
      throw Error(ErrorKind::usage, "convert.match", no_match(glob, model, what));
  }
}

// Throws if the patterns omit every tensor, each of which matched: a file without weights is hardly what was wanted. A
// dialect may be for the rest of a model alone; the writer of such a container decides.
void require_rest(const Adaptation& it, std::size_t before) {
  if (before == 0 || !it.model.tensors.empty() || !it.target.holds.dialects.empty()) return;
  const std::string_view who = it.options.match.empty()  ? "the patterns to skip omit"
                               : it.options.skip.empty() ? "the patterns to match omit"
                                                         : "the patterns to match and to skip omit";
  throw Error(ErrorKind::usage, "convert.match", fmt::format("no tensor is left: {} all {}", who, before));
}

// If the token table was not asked for, the tokens are of no use, and may take a thousand times the bytes of the
// tensors that were asked for. A vocabulary in attached files is kept.
void omit_vocabulary(Adaptation& it) {
  Model& model = it.model;
  if (it.options.match.empty() || model.vocabulary.empty() || !it.had_token_table || has_token_table(model)) return;
  if (std::ranges::any_of(model.attachments,
                          [](const Attachment& file) { return resources::holds_vocabulary(file.name); }))
    return;
  it.lines.push_back({.kind = ChangeKind::left_out,
                      .impact = Impact::changed,
                      .items = {"vocabulary"},
                      .detail = "the token table is not among the tensors that were asked for"});
  model.vocabulary = {};
}

}  // namespace

void steps::select_tensors(Adaptation& it) {
  const AdaptOptions& options = it.options;
  require_matches(it.model, options.match, "no tensor");
  require_matches(it.model, options.skip, "no tensor to skip");
  const std::size_t before = it.model.tensors.size();
  const auto is_omitted = [&](const Tensor& tensor) {
    const bool keep =
        (options.match.empty() || matches_any(options.match, tensor.name)) && !matches_any(options.skip, tensor.name);
    if (!keep) it.changes.add({.kind = ChangeKind::skipped, .impact = Impact::changed}, tensor.name);
    return !keep;
  };
  std::erase_if(it.model.tensors, is_omitted);
  std::erase_if(it.model.broken, [&](const BrokenTensor& broken) { return is_omitted(broken.tensor); });
  it.model.refuse_broken();
  require_rest(it, before);
  omit_vocabulary(it);
}

}  // namespace tare
