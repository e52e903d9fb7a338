// Changes a model so that a target can hold it, as a list of steps. The steps use only the target's row in the table of
// formats.
#include "codecs/packs/stored.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/fit_rest.hpp"
#include "convert/steps/token_table.hpp"

namespace tare {
namespace {

// The order defines what a conversion does. Each line gives the reason for its position.
constexpr void (*kSteps[])(Adaptation& it) = {
    // Costs nothing, so it comes before all work.
    steps::check_type,
    // No step may use a tensor that was not asked for, nor fail because of it.
    steps::select_tensors,
    // Uses the types that tensors have in the input, which later steps change.
    steps::guard_codes,
    // The conventions read metadata and config, including the keys that are set.
    steps::set_metadata,
    // Conventions rename weights and move their rows: they need weights, not codes.
    steps::decode_packed,
    // Uses Hugging Face's names, which the next step changes.
    steps::check_complete,
    // The rules of the next steps apply to the names that tensors get here, and to the files that are made here.
    steps::follow_conventions,
    // Conventions may add and remove tensors.
    steps::check_count,
    // Refuses what the target cannot hold before the work on tensors begins, which may take hours.
    steps::fit_parts,
    // Decisions about quantization estimate errors on the numbers as cast.
    steps::cast_types,
    // A budget of bits is spent on all tensors at once, so it is decided before any of them changes.
    steps::decide_types,
    steps::fit_tensors,
    // Now the tensors are final.
    steps::update_statements,
    // Checks config.json as restated.
    steps::check_configured,
    // All earlier steps see one tensor for what the container stores as several arrays.
    steps::separate_packed,
};

}  // namespace

Adaptation::Adaptation(Model input, const Format& format, const AdaptOptions& wanted, unsigned most_threads,
                       Completeness required)
    : model(std::move(input)),
      target(format),
      options(wanted),
      threads(most_threads),
      completeness(required),
      statements(model),
      stated(codec::packs::has_joined(model) ? resources::stated_packing(model) : codec::packs::Stated()),
      had_token_table(has_token_table(model)) {}

namespace {

// Whether values were rounded, or something is not in the output.
bool is_lossy(const Change& change) {
  switch (change.kind) {
    case ChangeKind::quantized:
    case ChangeKind::overflowed:
    case ChangeKind::skipped:
    case ChangeKind::dropped: return true;
    default: return change.lossy || change.impact == Impact::lost;
  }
}

}  // namespace

void steps::fit_parts(Adaptation& it) {
  AdaptOptions options = it.options;
  if (it.files_dropped) std::erase(options.drop, ModelPart::attachments);
  fit_rest(it.model, it.target, options, it.lines, it.lost);
}

Adapted adapt(Model model, const Format& target, const AdaptOptions& options, const Work& work) {
  // A part of a model, or a model that keeps its own names, need not be complete.
  const bool whole = !options.keep_names && options.match.empty() && options.skip.empty();
  return adapt_as(std::move(model), target, options, work, whole ? Completeness::required : Completeness::open);
}

Adapted adapt_as(Model model, const Format& target, const AdaptOptions& options, const Work& work,
                 Completeness completeness, const recipe::Objective* objective) {
  Adaptation it(std::move(model), target, options, work.threads, completeness);
  it.objective = objective;
  for (const auto step : kSteps) step(it);
  Adapted adapted{std::move(it.model), it.changes.take(), std::move(it.outcomes), std::move(it.lost)};
  adapted.changes.insert(adapted.changes.end(), it.lines.begin(), it.lines.end());
  for (Change& change : adapted.changes) change.lossy = is_lossy(change);
  return adapted;
}

}  // namespace tare
