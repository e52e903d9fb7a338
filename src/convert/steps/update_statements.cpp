// Updates the statements of metadata and files about the tensors, once the tensors are final.
#include "convert/steps/adaptation.hpp"

namespace tare {

void steps::update_statements(Adaptation& it) {
  it.statements.update(it.model, it.lines);
  const std::string_view mix = recipe::is_mix(it.quant.method) ? std::string_view(it.quant.method) : std::string_view();
  if (it.renamed.empty() && !it.changes.any_type() && mix.empty()) return;
  // For every container: a model may carry the keys of the one that it comes from.
  for (const Format& format : formats())
    if (format.retyped != nullptr) format.retyped(it.model, &format == &it.target, mix);
}

void steps::check_configured(Adaptation& it) {
  if (it.completeness == Completeness::required && is_directory(it.target)) require_configured(it.model, it.lines);
}

void steps::check_complete(Adaptation& it) {
  // A directory is checked as it is written; a container without fields accepts a part of a model as well.
  if (it.completeness != Completeness::required || is_directory(it.target) || it.target.holds.own_fields.empty())
    return;
  if (find_format(it.model.format) == &it.target || it.model.attachment("config.json") == nullptr) return;
  // require_configured does not check a model whose names have another form; its remark is not needed here.
  std::vector<Change> remarks;
  require_configured(it.model, remarks);
}

}  // namespace tare
