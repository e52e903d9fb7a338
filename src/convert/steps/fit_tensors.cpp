// Changes every tensor to one that the target can hold, quantized as decided.
#include <fmt/format.h>

#include "base/glob.hpp"
#include "base/text.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/fit_rest.hpp"
#include "convert/steps/one_tensor.hpp"
#include "convert/wording.hpp"

namespace tare {
namespace {

void refuse_extras(const Tensor& tensor, const Format& target, bool quantized) {
  if (!has_extras(tensor) || (!quantized && lists(target.holds.layouts, "*"))) return;
  std::vector<std::string> extras;
  for (const Component& component : tensor.components)
    if (component.role != "data") extras.push_back(component.role);
  Error error = refused(
      ErrorKind::lossy, "convert.components", tensor,
      fmt::format("a dense tensor with {} in addition to its data; {}", listed_names(extras),
                  quantized ? "quantized, it would lose that" : fmt::format("{} cannot hold that", target.name)));
  if (quantized) error.remedy(Remedy::keep);
  throw error.remedy(Remedy::skip, escape_glob(tensor.name));
}

void refuse_excess(const Tensor& tensor, const Format& target) {
  const auto& [rank, name] = std::pair(tensor.shape.rank(), tensor.name.size());
  if (rank <= target.holds.max_rank && name <= target.holds.max_name) return;
  throw refused(ErrorKind::unsupported, "convert.limit", tensor,
                rank > target.holds.max_rank
                    ? fmt::format("{} dimensions, {} takes {}", rank, target.name, target.holds.max_rank)
                    : fmt::format("a name of {} bytes, {} takes {}", name, target.name, target.holds.max_name))
      .remedy(Remedy::skip, escape_glob(tensor.name));
}

// Attributes that are parameters of a codec belong to the layout; other attributes need a target that stores
// attributes.
void fit_attributes(Tensor& tensor, const Format& target, const AdaptOptions& options) {
  const Codec* const codec = find_codec(tensor.layout);
  const auto own = [&](const std::string& key) { return codec != nullptr && lists(codec->parameters, key); };
  const bool keep =
      target.holds.tensor_attributes && (!asked_to_drop(options, ModelPart::attributes) || !tensor.is_dense());
  if (keep || tensor.attributes.empty()) return;
  Map kept;
  for (auto& [key, value] : tensor.attributes)
    if (own(key)) kept.append(key, std::move(value));
  if (kept.size() < tensor.attributes.size() && !asked_to_drop(options, ModelPart::attributes))
    throw refused(ErrorKind::lossy, "convert.room", tensor,
                  fmt::format("{} cannot hold a tensor's attributes", target.name))
        .remedy(Remedy::drop, name_of(ModelPart::attributes));
  tensor.attributes = std::move(kept);
}

// The report about a tensor if quantization was asked for.
TensorOutcome outcome_of(const Tensor& tensor, TensorOutcome outcome) {
  outcome.name = tensor.name;
  outcome.type = dtype_name(tensor);
  outcome.elements = tensor.shape.elements().value_or(0);
  outcome.bytes = tensor.bytes();
  return outcome;
}

}  // namespace

void steps::check_count(Adaptation& it) {
  if (it.target.holds.many_tensors || it.model.tensors.size() == 1) return;
  throw Error(ErrorKind::unsupported, "convert.one_tensor",
              fmt::format("{} holds exactly one tensor, there are {}", it.target.name, it.model.tensors.size()))
      .remedy(Remedy::match);
}

void steps::fit_tensors(Adaptation& it) {
  UnfitTypes unfit(it.target, it.options);
  for (std::size_t i = 0; i < it.model.tensors.size(); ++i) {
    Tensor& tensor = it.model.tensors[i];
    const recipe::Decision& decision = it.decisions[i];
    TensorOutcome outcome;
    refuse_excess(tensor, it.target);
    refuse_extras(tensor, it.target, !decision.method.empty());
    if (decision.type)
      cast_to(*decision.type, tensor, it.target, it.options, it.threads, it.changes);
    else if (decision.method.empty())
      decode_if_asked(tensor, it.target, it.options, it.threads, it.changes);
    else
      quantize(tensor, decision.method, it.target, it.quant, it.threads, it.changes, outcome);
    // Nothing replaced the method for a tensor that is encoded already.
    if (decision.remark && (outcome.encoded || decision.method.empty())) it.changes.add(*decision.remark, tensor.name);
    fit_layout(tensor, it.target, it.options, it.changes);
    fit_types(tensor, it.target, it.options, it.threads, unfit, it.changes,
              [&] { it.packed->refuse_widening(i, tensor, it.target); });
    fit_attributes(tensor, it.target, it.options);
    if (!it.options.quant.empty()) it.outcomes.push_back(outcome_of(tensor, std::move(outcome)));
  }
  unfit.refuse_any();
}

}  // namespace tare
