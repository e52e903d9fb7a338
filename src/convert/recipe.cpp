#include "convert/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/names.hpp"
#include "base/glob.hpp"
#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "codecs/packs/pack.hpp"
#include "model/element_types.hpp"
#include "resources/config_file.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace recipe {
namespace {

bool is_coded(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  return codec != nullptr && !codec->name.empty() && codec->decode != nullptr;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Codec& codec : codecs()) names.insert(names.end(), codec.methods.begin(), codec.methods.end());
  for (const Mix& mix : mixes()) names.emplace_back(mix.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Returns whether the elements are real numbers, at least one.
bool is_real(const Tensor& tensor) {
  if (tensor.shape.elements().value_or(0) == 0) return false;
  if (is_coded(tensor)) return true;
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr) return false;
  if (data->type.empty()) return is_float(data->dtype);
  const ElementType* const logical = logical_type(data->type);
  return logical != nullptr && logical->is_real();
}

// Whether a budget of bits may choose a method for the tensor. Like a mix, it keeps routers: if a token gets other
// experts, little of what they compute remains.
bool is_chosen_for(const Tensor& tensor) {
  const arch::Role role = arch::role_of(tensor.name);
  return tensor.shape.rank() >= 2 && role != arch::Role::router && role != arch::Role::shared_router;
}

// A rule may ask for ranks that a method for all tensors does not apply to.
bool takes(const Codec& codec, const Tensor& tensor, bool ruled) {
  const bool usual = tensor.shape.rank() >= codec.min_rank && tensor.shape.rank() <= codec.max_rank;
  return is_real(tensor) && (usual || (ruled && codec.any_rank));
}

std::string domain_of(const Codec& codec) {
  if (codec.any_rank) return "floats";
  return codec.max_rank == 2 ? "matrices of floats" : fmt::format("floats of rank {} and more", codec.min_rank);
}

// Reports what a method chosen for a tensor cannot do, if anything.
std::optional<Change> remark_on(const Codec& codec, const std::string& method, const Tensor& tensor, bool ruled,
                                const Quantization& how) {
  if (!takes(codec, tensor, ruled))
    return ruled && tensor.shape.elements() != 0
               ? std::optional<Change>({.kind = ChangeKind::unfit, .after = method, .detail = domain_of(codec)})
               : std::nullopt;
  return !codec.weighted && how.importance.contains(tensor.name)
             ? std::optional<Change>({.kind = ChangeKind::unweighted, .after = method})
             : std::nullopt;
}

// A remark on a tensor that gets a method of very few bits without importance values; null for others.
std::optional<Change> remark_on_guidance(const Decision& decision, const Tensor& tensor, const Quantization& how) {
  std::string_view method = decision.method;
  method = method.substr(method.find('.') + 1);
  if (!wants_importance(method) || how.importance.contains(tensor.name)) return std::nullopt;
  return Change{.kind = ChangeKind::remark,
                .impact = Impact::results,
                .part = std::string(method),
                .after = std::string(method),
                .detail = "so few bits lose much less with importance values, without which llama.cpp refuses them"};
}

// Returns null for no method and for kKeep.
const Codec* codec_of(const std::string& method, const Quantization& how) {
  if (method.empty() || method == kKeep || type_called(method)) return nullptr;
  const Codec* const codec = find_codec_by_method(method);
  if (codec == nullptr) {
    const std::vector<std::string> names = method_names();
    const std::string choices = fmt::format("; the choices are {}", fmt::join(names, ", "));
    throw Error(ErrorKind::usage, "convert.quant", there_is_no("method", method, names, choices, 1));
  }
  if (how.range && !codec->ranged)
    throw Error(ErrorKind::usage, "convert.quant", fmt::format("{} has no form with a range", method))
        .remedy(Remedy::no_range);
  return codec;
}

// Matches rules with the names of tensors: those that they have, and those that they had before a renaming.
class RuleMatch {
 public:
  RuleMatch(const Quantization& how, const std::vector<Renamed>& renamed) {
    if (how.rules.empty()) return;
    for (const Renamed& one : renamed) before_[one.after].push_back(one.before);
  }
  bool operator()(std::string_view glob, const Tensor& tensor) const {
    if (glob_match(glob, tensor.name)) return true;
    const auto found = before_.find(tensor.name);
    return found != before_.end() &&
           std::ranges::any_of(found->second, [&](std::string_view name) { return glob_match(glob, name); });
  }

 private:
  NameViewMap<std::vector<std::string_view>> before_;
};

// Chooses another method for rows that are not whole blocks.
void fall_back(Decision& decision, const Tensor& tensor, const Quantization& how) {
  const std::string asked = decision.method;
  const std::uint64_t row = tensor.shape[tensor.shape.rank() - 1];
  const std::uint64_t block = find_codec_by_method(asked)->row_multiple;
  if (row % block == 0) return;
  if (how.no_fallback)
    throw Error(ErrorKind::unsupported, "quantize.rows",
                fmt::format("{} needs rows that are a multiple of {}; these have {}", asked, block, row))
        .about("tensor " + quote(tensor.name))
        .remedy(Remedy::keep)
        .remedy(Remedy::use_method);
  while (!decision.method.empty()) {
    const Codec& codec = *find_codec_by_method(decision.method);
    if (row % codec.row_multiple == 0) break;
    decision.method = codec.fallback;
  }
  decision.remark = Change{.kind = ChangeKind::fell_back,
                           .impact = Impact::changed,
                           .before = asked,
                           .after = decision.method,
                           .detail = fmt::format("rows that are a multiple of {}", block)};
}

}  // namespace

std::optional<DType> type_called(std::string_view method) {
  const auto type = parse_dtype(method);
  return type && is_float(*type) ? type : std::nullopt;
}

Tensor as_plain_floats(const Tensor& tensor) {
  if (!tensor.is_dense()) return codec::packs::decode_strictly(tensor);
  return tensor.component("data")->type.empty() ? tensor : cast(tensor, DType::f32);
}

EncodeOptions encode_options(const Quantization& how, const std::string& tensor, const std::string& method,
                             unsigned threads) {
  EncodeOptions options;
  options.method = method;
  options.threads = threads;
  options.fast = how.fast;
  options.range = how.range;
  options.clip = how.clip;
  if (const auto found = how.importance.find(tensor); found != how.importance.end()) options.importance = found->second;
  options.report = std::make_shared<EncodeReport>();
  return options;
}

Importance in_new_names(Importance importance, const std::vector<Renamed>& renamed) {
  if (importance.empty()) return importance;
  // Values of tensors that were joined are added up: only their ratios matter.
  Importance moved;
  for (const Renamed& one : renamed) {
    const auto found = importance.find(one.before);
    if (found == importance.end() || importance.contains(one.after)) continue;
    std::vector<float>& sum = moved[one.after];
    if (sum.size() != found->second.size()) sum.assign(found->second.size(), 0);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += found->second[i];
  }
  importance.merge(moved);
  return importance;
}

const arch::Family* family_of(const Model& model) {
  return arch::find_family(model.config.model_type ? *model.config.model_type
                                                   : resources::ConfigFile(model).model_type());
}

Importance in_names_of(const Model& model, Importance importance) {
  const arch::Family* const family = importance.empty() ? nullptr : family_of(model);
  if (family == nullptr) return importance;
  const auto stack_of = [](arch::TensorName name) {
    if (name.role == arch::Role::expert_gate) name.role = arch::Role::stacked_gate;
    if (name.role == arch::Role::expert_up) name.role = arch::Role::stacked_up;
    if (name.role == arch::Role::expert_down) name.role = arch::Role::stacked_down;
    name.expert.reset(), name.root = arch::Root::model;
    return name;
  };
  Importance added;
  for (const Tensor& tensor : model.tensors) {
    if (importance.contains(tensor.name)) continue;
    for (const arch::Dialect from : arch::kDialects) {
      const auto name = arch::parse(*family, from, tensor.name);
      if (!name) continue;
      for (const arch::Dialect to : arch::kDialects)
        for (const arch::TensorName& one : {*name, stack_of(*name)})
          if (const auto other = arch::spell(*family, to, one))
            if (const auto found = importance.find(*other); found != importance.end())
              added.emplace(tensor.name, found->second);
    }
  }
  importance.merge(added);
  return importance;
}

std::vector<Decision> decide(const Model& model, const Quantization& how, const std::vector<Renamed>& renamed,
                             const Target& target, unsigned threads) {
  const std::vector<Tensor>& tensors = model.tensors;
  if (how.fast && !how.importance.empty())
    throw Error(ErrorKind::usage, "quantize.importance",
                "importance has no effect with the fast method, which does not search");
  if (how.bits && !(std::isfinite(*how.bits) && *how.bits > 0))
    throw Error(ErrorKind::usage, "quantize.bits",
                fmt::format("{} is not a valid number of bits per weight", *how.bits));
  if (how.bits && !how.method.empty())
    throw Error(ErrorKind::usage, "convert.quant",
                "a budget of bits chooses the methods itself; besides it only rules for single tensors may name one");
  if (how.bits && how.range)
    throw Error(ErrorKind::usage, "convert.quant",
                "the methods that a budget of bits chooses from have no form with a range")
        .remedy(Remedy::no_range);
  if (!how.importance.empty() &&
      std::ranges::none_of(tensors, [&](const Tensor& tensor) { return how.importance.contains(tensor.name); }))
    throw Error(ErrorKind::usage, "quantize.importance",
                fmt::format("none of the {} tensors that have importance values ({}, ...) is one of the model",
                            how.importance.size(), quote(how.importance.begin()->first)));
  const bool mixed = is_mix(how.method);
  if (how.pure && !mixed)
    throw Error(ErrorKind::usage, "convert.quant",
                how.method.empty() ? "pure is about a mix, and none was asked for"
                                   : fmt::format("{} is one method, not a mix: it is pure already", how.method));
  const std::vector<std::string> mix =
      mixed ? methods_of_mix(how.method, tensors, model.config, {.pure = how.pure, .weighted = !how.importance.empty()})
            : std::vector<std::string>(tensors.size(), how.method);
  if (!mixed) codec_of(how.method, how);
  const RuleMatch matches(how, renamed);
  for (const auto& [glob, method] : how.rules) {
    codec_of(method, how);
    if (std::ranges::none_of(tensors, [&, &pattern = glob](const Tensor& t) { return matches(pattern, t); }))
      throw Error(ErrorKind::usage, "quantize.rule", "no tensor matches it").about("pattern " + quote(glob));
  }
  std::vector<Decision> decisions(tensors.size());
  std::vector<bool> open(tensors.size(), false);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto rule = std::ranges::find_if(how.rules, [&](const auto& r) { return matches(r.first, tensors[i]); });
    const bool ruled = rule != how.rules.end();
    const std::string& method = ruled ? rule->second : mix[i];
    if (is_real(tensors[i])) decisions[i].type = type_called(method);
    if (const Codec* const codec = codec_of(method, how)) {
      if (takes(*codec, tensors[i], ruled)) decisions[i].method = method;
      decisions[i].remark = remark_on(*codec, method, tensors[i], ruled, how);
      if (!decisions[i].method.empty()) fall_back(decisions[i], tensors[i], how);
    }
    open[i] = !ruled && how.bits && is_real(tensors[i]) && is_chosen_for(tensors[i]);
  }
  if (how.bits) fit_budget(tensors, open, how, target, threads, decisions);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!decisions[i].remark) decisions[i].remark = remark_on_guidance(decisions[i], tensors[i], how);
  return decisions;
}

}  // namespace recipe

double TensorOutcome::bits_per_weight() const {
  return elements == 0 ? 0 : static_cast<double>(bytes) * 8 / static_cast<double>(elements);
}

}  // namespace tare
