#include "convert/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/half.hpp"
#include "model/element_types.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace recipe {
namespace {

bool is_coded(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  return codec != nullptr && !codec->name.empty() && codec->decode != nullptr;
}

std::string method_names() {
  std::vector<std::string_view> names;
  for (const Codec& codec : codecs()) names.insert(names.end(), codec.methods.begin(), codec.methods.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

// Real numbers, and some of them.
bool is_real(const Tensor& tensor) {
  if (tensor.shape.elements().value_or(0) == 0) return false;
  if (is_coded(tensor)) return true;
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr) return false;
  if (data->type.empty()) return is_float(data->dtype);
  const ElementType* const logical = logical_type(data->type);
  return logical != nullptr && logical->is_real();
}

// A rule may ask for ranks that a method for all tensors leaves alone.
bool takes(const Codec& codec, const Tensor& tensor, bool ruled) {
  const bool usual = tensor.shape.rank() >= codec.min_rank && tensor.shape.rank() <= codec.max_rank;
  return is_real(tensor) && (usual || (ruled && codec.any_rank));
}

std::string domain_of(const Codec& codec) {
  if (codec.any_rank) return "floats";
  return codec.max_rank == 2 ? "matrices of floats" : fmt::format("floats of rank {} and more", codec.min_rank);
}

// What a method chosen for a tensor leaves undone, if anything.
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

// Null for none and for kKeep.
const Codec* codec_of(const std::string& method, const Quantization& how) {
  if (method.empty() || method == kKeep) return nullptr;
  const Codec* const codec = find_codec_by_method(method);
  if (codec == nullptr)
    throw Error(ErrorKind::usage, "convert.quant",
                fmt::format("there is no quantization method \"{}\"; there are {}", method, method_names()));
  if (how.range && !codec->ranged)
    throw Error(ErrorKind::usage, "convert.quant", fmt::format("{} has no form with a range", method))
        .remedy(Remedy::no_range);
  return codec;
}

}  // namespace

Tensor as_plain_floats(const Tensor& tensor) {
  if (!tensor.is_dense()) return to_dense(tensor);
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

std::vector<Decision> decide(const std::vector<Tensor>& tensors, const Quantization& how, const Target& target,
                             unsigned threads) {
  if (how.fast && !how.importance.empty())
    throw Error(ErrorKind::usage, "quantize.importance",
                "importance weighs the search, and the fast way does without one");
  if (how.bits && !(std::isfinite(*how.bits) && *how.bits > 0))
    throw Error(ErrorKind::usage, "quantize.bits", fmt::format("{} bits a weight are no budget", *how.bits));
  if (how.bits && how.range)
    throw Error(ErrorKind::usage, "convert.quant",
                "the methods that a budget of bits chooses from have no form with a range")
        .remedy(Remedy::no_range);
  const Codec* const usual = codec_of(how.method, how);
  for (const auto& rule : how.rules) {
    const auto& [glob, method] = rule;
    codec_of(method, how);
    if (std::none_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return glob_match(rule.first, t.name); }))
      throw Error(ErrorKind::usage, "quantize.rule", fmt::format("the rule {}={} fits no tensor", glob, method));
  }
  std::vector<Decision> decisions(tensors.size());
  std::vector<bool> open(tensors.size(), false);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto rule = std::find_if(how.rules.begin(), how.rules.end(),
                                   [&](const auto& r) { return glob_match(r.first, tensors[i].name); });
    const bool ruled = rule != how.rules.end();
    const std::string& method = ruled ? rule->second : how.method;
    const Codec* const codec = ruled ? codec_of(method, how) : usual;
    if (codec != nullptr) {
      if (takes(*codec, tensors[i], ruled)) decisions[i].method = method;
      decisions[i].remark = remark_on(*codec, method, tensors[i], ruled, how);
    }
    open[i] = !ruled && how.bits && is_real(tensors[i]) && tensors[i].shape.rank() == 2;
  }
  if (how.bits) fit_budget(tensors, open, how, target, threads, decisions);
  return decisions;
}

}  // namespace recipe

double TensorOutcome::bits_per_weight() const {
  return elements == 0 ? 0 : static_cast<double>(bytes) * 8 / static_cast<double>(elements);
}

Importance read_importance(const std::string& path, const ReadOptions& options) {
  Importance all;
  const Model model = open(path, options);
  model.refuse_broken();
  for (const Tensor& stored : model.tensors) {
    const auto bad = [&](std::string_view rule, std::string_view sentence) {
      return Error(ErrorKind::corrupt, rule, sentence).in(path).about("tensor " + escape_name(stored.name));
    };
    const Tensor tensor = to_dense(stored);
    const Component* const data = tensor.component("data");
    const bool row = tensor.shape.rank() == 1 || (tensor.shape.rank() == 2 && tensor.shape[0] == 1);
    if (!row || data == nullptr || !is_numeric(data->dtype, data->type))
      throw bad("importance.shape", fmt::format("weights of columns are a vector of numbers; this is {} of shape {}",
                                                dtype_name(stored), stored.shape.text()));
    constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
    if (tensor.shape.elements().value_or(kMost + 1) > kMost)
      throw bad("importance.shape", fmt::format("more than {} columns", kMost));
    std::vector<float>& weights = all[tensor.name];
    for_each_element_run(tensor, [&](std::span<const double> run) {
      for (const double value : run) {
        if (!std::isfinite(value) || value < 0)
          throw bad("importance.value",
                    fmt::format("weight {} of column {} is not a finite number of at least 0", value, weights.size()));
        weights.push_back(f64_to_f32(value));
      }
    });
  }
  return all;
}

}  // namespace tare
