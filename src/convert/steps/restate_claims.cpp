// What metadata and files state about the tensors, once the tensors are final.
#include "convert/steps/adaptation.hpp"

namespace tare {

void steps::restate_claims(Adaptation& it) {
  it.claims.settle(it.model, it.lines);
  const std::string_view mix = recipe::is_mix(it.quant.method) ? std::string_view(it.quant.method) : std::string_view();
  if (it.renamed.empty() && !it.changes.any_type() && mix.empty()) return;
  // Every container: a model may carry the keys of the one that it comes from.
  for (const Format& format : formats())
    if (format.retyped != nullptr) format.retyped(it.model, &format == &it.target, mix);
}

void steps::check_configured(Adaptation& it) {
  if (it.completeness == Completeness::required && is_directory(it.target)) require_configured(it.model, it.lines);
}

void steps::check_complete(Adaptation& it) {
  // A directory is checked as it is written; a container that takes any tensors takes some of a model's, too.
  if (it.completeness != Completeness::required || is_directory(it.target) || it.target.holds.own_fields.empty())
    return;
  if (find_format(it.model.format) == &it.target || it.model.attachment("config.json") == nullptr) return;
  // Names of another form are not looked at: the check would not know them.
  std::vector<Change> remarks;
  require_configured(it.model, remarks);
}

}  // namespace tare
