// Decides the type of each tensor: casts that were asked for, and which method quantizes what.
#include <fmt/format.h>

#include <algorithm>

#include "convert/steps/adaptation.hpp"
#include "convert/steps/one_tensor.hpp"
#include "convert/wording.hpp"
#include "model/plain_float.hpp"

namespace tare {
namespace {

// The bytes of a tensor that is not quantized. A tensor that the target cannot hold at all is refused later.
std::uint64_t kept_bytes(Tensor tensor, const Format& target, const AdaptOptions& options, unsigned threads) {
  TensorChanges ignored;
  UnfitTypes unfit(target, options);
  decode_if_asked(tensor, target, options, threads, ignored);
  fit_layout(tensor, target, options, ignored);
  fit_types(tensor, target, options, threads, unfit, ignored, [] {});
  return tensor.bytes();  // decompressed: bits per weight do not depend on how well a tensor compresses
}

// Names the tensors that are quantized without importance values, if others have some.
void note_importance(Adaptation& it) {
  if (it.quant.importance.empty()) return;
  std::vector<std::string> without;
  std::size_t encoded = 0;
  for (std::size_t i = 0; i < it.decisions.size(); ++i) {
    if (it.decisions[i].method.empty()) continue;
    ++encoded;
    if (!it.quant.importance.contains(it.model.tensors[i].name)) without.push_back(it.model.tensors[i].name);
  }
  if (without.empty()) return;
  const std::size_t count = without.size();
  it.lines.push_back({.impact = Impact::note,
                      .detail = fmt::format("{} of {} quantized tensors have no importance values: {}", count, encoded,
                                            listed_names(without))});
}

// An option that the target cannot honour is an error even if no tensor would be encoded.
void require_methods(const Adaptation& it) {
  require_method(it.options.quant.method, it.target);
  for (const auto& [glob, method] : it.options.quant.rules) {
    require_method(method, it.target);
    AdaptOptions typed = it.options;
    if ((typed.dtype = recipe::type_called(method))) require_type(typed, it.target);
  }
}

void note_nothing_quantized(Adaptation& it) {
  if (std::ranges::any_of(it.decisions, [](const auto& decision) { return !decision.method.empty(); })) return;
  it.lines.push_back({.detail = it.quant.bits ? "nothing was quantized: the budget has room for the tensors as they are"
                                : it.quant.rules.empty()
                                    ? "nothing was quantized: no tensor is of a kind that the method takes"
                                    : "nothing was quantized: every tensor is kept as asked, or of a kind that the "
                                      "method does not take"});
}

// Whether the tensor has more than 32 bits for each number, which the conventions of no target ask for.
bool is_wide_float(const Tensor& tensor) {
  return is_plain_float(tensor) && tensor.components.front().dtype == DType::f64;
}

}  // namespace

void steps::check_type(Adaptation& it) {
  // An option without effect misleads. A method of quantization may be a float type, and a target may want f32.
  const bool narrows = it.target.wants_f32 != nullptr && std::ranges::any_of(it.model.tensors, is_wide_float);
  if (it.options.overflow != Overflow::refuse && !it.options.dtype && it.options.quant.empty() && !narrows)
    throw Error(ErrorKind::usage, "convert.option",
                "values can only exceed a type in a cast, and no type to cast to is given");
  require_type(it.options, it.target);
  require_methods(it);
}

void steps::cast_types(Adaptation& it) {
  AdaptOptions as_f32 = it.options;
  as_f32.dtype = DType::f32;
  // Readers of some targets require certain tensors as f32, whatever the others are.
  const auto is_f32_only = [&](const Tensor& tensor) {
    return !it.options.keep_names && it.target.wants_f32 != nullptr && it.target.wants_f32(it.model, tensor);
  };
  for (Tensor& tensor : it.model.tensors) {
    if (!is_f32_only(tensor))
      cast_if_asked(tensor, it.target, it.options, it.threads, it.changes);
    else if (it.options.dtype || (!it.renamed.empty() && is_wide_float(tensor)))
      cast_if_asked(tensor, it.target, as_f32, it.threads, it.changes);
  }
}

void steps::decide_types(Adaptation& it) {
  const bool asked = !it.options.quant.empty();
  it.decisions.resize(it.model.tensors.size());
  if (asked) {
    const auto bytes = [&](const Tensor& tensor) { return kept_bytes(tensor, it.target, it.options, it.threads); };
    it.decisions = recipe::decide(it.model, it.quant, it.renamed, {it.target, bytes, it.objective}, it.threads);
  }
  note_importance(it);
  if (asked) note_nothing_quantized(it);
}

}  // namespace tare
