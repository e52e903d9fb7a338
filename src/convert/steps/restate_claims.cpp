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
  if (it.completeness == Completeness::required) require_configured(it.model, it.lines);
}

}  // namespace tare
