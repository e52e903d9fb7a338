// What must change so that a target can hold a model. Looks only at the target's row in the table of formats.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

bool lists(std::span<const std::string_view> names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return n == "*" || n == name; });
}

// Collects names under a description: "3 tensors decoded from zt.group to f32: a, b, c".
class Changes {
 public:
  void add(const std::string& what, const std::string& name) {
    auto& names = kinds_[what];
    if (names.empty()) order_.push_back(what);
    names.push_back(escape_name(name));
  }
  std::vector<std::string> lines() const {
    constexpr std::size_t kShown = 4;
    std::vector<std::string> lines;
    for (const std::string& what : order_) {
      const auto& names = kinds_.at(what);
      const auto shown = std::span(names).first(std::min(names.size(), kShown));
      lines.push_back(fmt::format("{} tensor{} {}: {}{}", names.size(), names.size() == 1 ? "" : "s", what,
                                  fmt::join(shown, ", "),
                                  names.size() > kShown ? fmt::format(", and {} more", names.size() - kShown) : ""));
    }
    return lines;
  }

 private:
  std::map<std::string, std::vector<std::string>> kinds_;
  std::vector<std::string> order_;
};

Error refused(ErrorKind kind, std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(kind, rule, sentence).about("tensor " + escape_name(tensor.name));
}

void select(Model& model, const AdaptOptions& options, Changes& changes) {
  const auto matches = [](const std::vector<std::string>& globs, const std::string& name) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
  };
  for (const std::string& glob : options.match)
    if (std::none_of(model.tensors.begin(), model.tensors.end(),
                     [&](const Tensor& t) { return glob_match(glob, t.name); }))
      throw Error(ErrorKind::usage, "convert.match", fmt::format("--match {} fits no tensor", glob));
  std::erase_if(model.tensors, [&](const Tensor& tensor) {
    const bool keep =
        (options.match.empty() || matches(options.match, tensor.name)) && !matches(options.skip, tensor.name);
    if (!keep) changes.add("left out", tensor.name);
    return !keep;
  });
}

bool is_plain_float(const Tensor& tensor) {
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  return data != nullptr && data->type.empty() && is_float(data->dtype);
}

void quantize(Tensor& tensor, const AdaptOptions& options, Changes& changes) {
  if (options.quant.empty() || !is_plain_float(tensor) || tensor.shape.rank() != 2) return;
  const Codec* const codec = find_codec_by_method(options.quant);
  if (codec == nullptr)
    throw Error(ErrorKind::usage, "convert.quant",
                fmt::format("there is no quantization method \"{}\"", options.quant));
  Map attributes = std::move(tensor.attributes);
  tensor = codec->encode(tensor, {.method = options.quant, .threads = 1});
  for (auto& [key, value] : attributes)
    if (tensor.attributes.find(key) == nullptr) tensor.attributes.append(key, std::move(value));
  changes.add(fmt::format("quantized to {}", options.quant), tensor.name);
}

void cast_if_asked(Tensor& tensor, const AdaptOptions& options, Changes& changes) {
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (!options.dtype || data == nullptr) return;
  // Asked for a float type: every real-valued tensor. Integers stay what they are.
  const LogicalType* logical = find_logical_type(data->type);
  const bool fp8 = logical != nullptr && logical->per_element == 1;
  if (!(is_plain_float(tensor) || fp8) || (data->dtype == *options.dtype && !fp8)) return;
  const std::string from(data->type_name());
  const bool lossless = cast_is_lossless(data->dtype, data->type, *options.dtype);
  Map attributes = std::move(tensor.attributes);
  tensor = cast(tensor, *options.dtype);
  tensor.attributes = std::move(attributes);
  changes.add(fmt::format("cast from {} to {}{}", from, name_of(*options.dtype), lossless ? "" : " (lossy)"),
              tensor.name);
}

// A layout the target lacks is decoded to dense.
void fit_layout(Tensor& tensor, const Format& target, Changes& changes) {
  if (lists(target.holds.layouts, tensor.layout)) return;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->decode == nullptr)
    throw refused(ErrorKind::unsupported, "convert.layout", tensor,
                  fmt::format("{} cannot hold the layout \"{}\" and Tare cannot decode it; leave it out with --skip",
                              target.name, escape_name(tensor.layout)));
  const std::string from = codec->name.empty() ? tensor.layout : std::string(codec->name);
  tensor = codec->decode(tensor);
  changes.add(fmt::format("decoded from {} to dense {}", from, dtype_name(tensor)), tensor.name);
}

// The lossless step up for a type the target lacks; nothing when there is none.
std::optional<DType> wider(const Component& data, const Format& target) {
  for (const DType candidate : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i16, DType::i32, DType::i64})
    if (std::find(target.holds.dtypes.begin(), target.holds.dtypes.end(), candidate) != target.holds.dtypes.end() &&
        is_float(candidate) == (is_float(data.dtype) || !data.type.empty()) &&
        cast_is_lossless(data.dtype, data.type, candidate))
      return candidate;
  return std::nullopt;
}

void fit_types(Tensor& tensor, const Format& target, Changes& changes) {
  const auto holds = [&](const Component& component) {
    const auto& types = target.holds.dtypes;
    if (std::find(types.begin(), types.end(), component.dtype) == types.end()) return false;
    return component.type.empty() || lists(target.holds.logical_types, component.type);
  };
  if (std::all_of(tensor.components.begin(), tensor.components.end(), holds)) return;
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data != nullptr) {
    const std::string from(data->type_name());
    if (const auto to = wider(*data, target)) {
      Map attributes = std::move(tensor.attributes);
      tensor = cast(tensor, *to);
      tensor.attributes = std::move(attributes);
      changes.add(fmt::format("widened from {} to {}", from, name_of(*to)), tensor.name);
      return;
    }
  }
  throw refused(ErrorKind::lossy, "convert.type", tensor,
                fmt::format("{} cannot hold the type {}; --dtype f32 would cast it, --skip leave it out", target.name,
                            dtype_name(tensor)));
}

Value parse_setting(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return text;  // anything else, structured JSON included, is a string: containers differ in what they nest
}

// Everything beside the tensors that has no room is refused: dropping it needs a flag, and none exists yet.
void fit_rest(const Model& model, const Format& target) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::lossy, "convert.room",
                fmt::format("{} has no place for {}; --drop {} leaves it out", target.name, what, what));
  };
  if (!model.metadata.empty() && target.holds.metadata == Room::none) refuse("metadata");
  if (!model.config.empty() && !target.holds.config) refuse("config");
  if (!model.vocabulary.empty() && !target.holds.vocabulary) refuse("vocabulary");
  if (!model.attachments.empty() && !target.holds.attachments) refuse("attachments");
}

void drop(Model& model, const AdaptOptions& options, std::vector<std::string>& lines) {
  const auto asked = [&](std::string_view what) {
    return std::find(options.drop.begin(), options.drop.end(), what) != options.drop.end();
  };
  const auto note = [&](std::string_view what, std::size_t count) {
    if (count > 0) lines.push_back(fmt::format("{} dropped ({} entries)", what, count));
  };
  if (asked("metadata")) {
    note("metadata", model.metadata.size());
    model.metadata = {};
  }
  if (asked("config")) {
    note("config", model.config.to_map().size());
    model.config = {};
  }
  if (asked("vocabulary")) {
    note("vocabulary", model.vocabulary.tokens.size());
    model.vocabulary = {};
  }
  if (asked("attachments")) {
    note("attachments", model.attachments.size());
    model.attachments.clear();
  }
  if (asked("attributes"))
    for (Tensor& tensor : model.tensors)
      if (tensor.is_dense()) tensor.attributes = {};
}

}  // namespace

Adapted adapt(Model model, const Format& target, const AdaptOptions& options) {
  Changes changes;
  std::vector<std::string> dropped;
  for (const std::string& what : options.drop)
    if (!lists(kDroppable, what))
      throw Error(ErrorKind::usage, "convert.drop",
                  fmt::format("--drop takes {}; \"{}\" is none of them", fmt::join(kDroppable, ", "), what));
  select(model, options, changes);
  for (const auto& [key, text] : options.set) model.metadata.set(key, parse_setting(text));
  drop(model, options, dropped);
  if (!target.holds.many_tensors && model.tensors.size() != 1)
    throw Error(ErrorKind::unsupported, "convert.one_tensor",
                fmt::format("{} holds exactly one tensor, there are {}; choose one with --match", target.name,
                            model.tensors.size()));
  fit_rest(model, target);
  for (Tensor& tensor : model.tensors) {
    cast_if_asked(tensor, options, changes);
    quantize(tensor, options, changes);
    fit_layout(tensor, target, changes);
    fit_types(tensor, target, changes);
    if (!tensor.attributes.empty() && !target.holds.tensor_attributes)
      throw refused(
          ErrorKind::lossy, "convert.room", tensor,
          fmt::format("{} has no place for a tensor's attributes; --drop attributes leaves them out", target.name));
  }
  Adapted adapted{std::move(model), changes.lines()};
  adapted.changes.insert(adapted.changes.end(), dropped.begin(), dropped.end());
  return adapted;
}

}  // namespace tare
