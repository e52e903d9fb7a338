// What must change so that a target can hold a model. Looks only at the target's row in the table of formats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "arch/names.hpp"
#include "base/glob.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/packs/join.hpp"
#include "convert/claims.hpp"
#include "convert/directory_form.hpp"
#include "convert/fit_rest.hpp"
#include "convert/metadata_edit.hpp"
#include "convert/packed_guard.hpp"
#include "convert/recipe.hpp"
#include "convert/rounded.hpp"
#include "convert/wording.hpp"
#include "model/element_types.hpp"
#include "resources/packed_config.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

// Collects the tensors to which the same was done.
class Changes {
 public:
  // `change` without items.
  void add(Change change, const std::string& name) {
    const Key key(change.kind, change.before, change.after, change.count, change.detail);
    const auto [found, is_new] = places_.emplace(key, all_.size());
    if (is_new) all_.push_back(std::move(change));
    all_[found->second].items.push_back(name);
  }
  // Whether a tensor is of another type now.
  bool any_type() const {
    return std::ranges::any_of(all_, [](const Change& change) {
      return change.kind == ChangeKind::quantized || change.kind == ChangeKind::cast ||
             change.kind == ChangeKind::decoded || change.kind == ChangeKind::widened;
    });
  }
  std::vector<Change> take() { return std::move(all_); }

 private:
  using Key = std::tuple<ChangeKind, std::string, std::string, std::uint64_t, std::string>;

  std::map<Key, std::size_t> places_;
  std::vector<Change> all_;
};

Error refused(ErrorKind kind, std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(kind, rule, sentence).about("tensor " + quote(tensor.name));
}

bool has_token_table(const Model& model) {
  return std::ranges::any_of(
      model.tensors, [](const Tensor& tensor) { return arch::role_of(tensor.name) == arch::Role::token_embedding; });
}

void select(Model& model, const AdaptOptions& options, Changes& changes) {
  const auto matches = [](const std::vector<std::string>& globs, const std::string& name) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
  };
  const auto expect_some = [&](std::string_view what, const std::vector<std::string>& globs) {
    for (const std::string& glob : globs)
      if (std::none_of(model.tensors.begin(), model.tensors.end(),
                       [&](const Tensor& t) { return glob_match(glob, t.name); }) &&
          std::none_of(model.broken.begin(), model.broken.end(),
                       [&](const BrokenTensor& b) { return glob_match(glob, b.tensor.name); }))
        throw Error(ErrorKind::usage, "convert.match", fmt::format("{} matches {}", what, glob));
  };
  expect_some("no tensor", options.match);
  expect_some("no tensor to skip", options.skip);
  const auto leave_out = [&](const Tensor& tensor) {
    const bool keep =
        (options.match.empty() || matches(options.match, tensor.name)) && !matches(options.skip, tensor.name);
    if (!keep) changes.add({.kind = ChangeKind::skipped, .impact = Impact::changed}, tensor.name);
    return !keep;
  };
  std::erase_if(model.tensors, leave_out);
  std::erase_if(model.broken, [&](const BrokenTensor& broken) { return leave_out(broken.tensor); });
  model.refuse_broken();
}

// Some tensors of a model, without its token table: the tokens are the rows of nothing then, and may take a thousand times as
// much as what was asked for. Those of files that are carried along stay.
void leave_out_vocabulary(Model& model, const AdaptOptions& options, bool had_table, std::vector<Change>& lines) {
  if (options.match.empty() || model.vocabulary.empty() || !had_table || has_token_table(model)) return;
  if (std::ranges::any_of(model.attachments,
                          [](const Attachment& file) { return resources::holds_vocabulary(file.name); }))
    return;
  lines.push_back({.kind = ChangeKind::left_out,
                   .impact = Impact::changed,
                   .items = {"vocabulary"},
                   .detail = "the token table is not among the tensors that were asked for"});
  model.vocabulary = {};
}

// A dense tensor may bring more components than its data, whose meaning only their writer knows.
bool has_extras(const Tensor& tensor) { return tensor.is_dense() && tensor.components.size() > 1; }

void refuse_extras(const Tensor& tensor, const Format& target, bool quantized) {
  if (!has_extras(tensor) || (!quantized && lists(target.holds.layouts, "*"))) return;
  std::vector<std::string> extras;
  for (const Component& component : tensor.components)
    if (component.role != "data") extras.push_back(component.role);
  Error error = refused(
      ErrorKind::lossy, "convert.components", tensor,
      fmt::format("a dense tensor with {} in addition to its data; {}", listed(std::move(extras)),
                  quantized ? "quantized, it would lose that" : fmt::format("{} cannot hold that", target.name)));
  if (quantized) error.remedy(Remedy::keep);
  throw error.remedy(Remedy::skip, escape_glob(tensor.name));
}

// Which formats hold a layout, for a sentence.
std::string holders_of(std::string_view layout) {
  std::vector<std::string_view> names;
  for (const Format& format : formats())
    if (format.write != nullptr && lists(format.holds.layouts, layout)) names.push_back(format.name);
  return names.empty() ? "no format can" : fmt::format("{} can", fmt::join(names, ", "));
}

bool is_plain_float(const Tensor& tensor) {
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  return data != nullptr && data->type.empty() && is_float(data->dtype);
}

// Rounded to a type that the target lacks, a number would have to be widened again.
void require_type(const AdaptOptions& options, const Format& target) {
  const auto& types = target.holds.dtypes;
  if (!options.dtype || std::find(types.begin(), types.end(), *options.dtype) != types.end()) return;
  std::vector<std::string_view> floats;
  for (const DType type : types)
    if (is_float(type)) floats.push_back(name_of(type));
  throw Error(
      ErrorKind::unsupported, "convert.type",
      fmt::format("{} cannot hold {}; it holds {}", target.name, name_of(*options.dtype), fmt::join(floats, ", ")));
}

// Which methods the target has codecs for, for a sentence.
std::string methods_for(const Format& target) {
  std::vector<std::string_view> names;
  for (const Codec& codec : codecs())
    if (lists(target.holds.layouts, codec.layout))
      names.insert(names.end(), codec.methods.begin(), codec.methods.end());
  return names.empty() ? fmt::format("there is no method to quantize for {}", target.name)
                       : fmt::format("its methods are {}", fmt::join(names, ", "));
}

// Also where no tensor would be encoded: an option that the target cannot honour is an error.
void require_room(std::string_view method, const Format& target) {
  const Codec* const codec = method.empty() ? nullptr : find_codec_by_method(method);
  if (codec != nullptr && !lists(target.holds.layouts, codec->layout))
    throw Error(ErrorKind::unsupported, "convert.quant",
                fmt::format("{} cannot hold {} ({}); {}", target.name, codec->name, holders_of(codec->layout),
                            methods_for(target)));
}

// Encodes a tensor by `method`, unless it is coded so already.
void quantize(Tensor& tensor, const std::string& method, const Format& target, const Quantization& how,
              unsigned threads, Changes& changes, TensorOutcome& outcome) {
  const Codec& codec = *find_codec_by_method(method);
  require_room(method, target);
  if (tensor.layout == codec.layout && codec.methods.size() == 1) {
    if (how.range)
      changes.add(
          {.kind = ChangeKind::kept, .after = std::string(codec.name), .remedies = {{Remedy::decode_first, "f32"}}},
          tensor.name);
    return;
  }
  const std::string from = dtype_name(tensor);
  Map attributes = tensor.is_dense() ? std::move(tensor.attributes) : Map();
  const EncodeOptions encode = recipe::encode_options(how, tensor.name, method, threads);
  tensor = codec.encode(recipe::as_plain_floats(tensor), encode);
  for (auto& [key, value] : attributes)
    if (tensor.attributes.find(key) == nullptr) tensor.attributes.append(key, std::move(value));
  outcome.encoded = true;
  outcome.report = encode.report;
  changes.add({.kind = ChangeKind::quantized, .impact = Impact::changed, .before = from, .after = method}, tensor.name);
}

// Casts the tensor's numbers and nothing else of it.
void cast_as_is(Tensor& tensor, DType to, Overflow overflow) {
  Map attributes = std::move(tensor.attributes);
  tensor = cast(tensor, to, overflow);
  tensor.attributes = std::move(attributes);
}

// A cast that was asked for, with a word on what it cost.
void cast_as_told(Tensor& tensor, const AdaptOptions& options, Changes& changes) {
  const Component& data = *tensor.component("data");
  const DType to = *options.dtype;
  const std::string from(data.type_name());
  const bool lossless = cast_is_lossless(data.dtype, data.type, to);
  // Only who accepts the damage waits for it to be counted; everybody else is told when it is met.
  if (!lossless && options.overflow != Overflow::refuse)
    if (const std::uint64_t count = count_overflow(tensor, to, options.threads); count > 0)
      changes.add({.kind = ChangeKind::overflowed,
                   .impact = Impact::results,
                   .after = std::string(name_of(to)),
                   .count = count,
                   .detail = options.overflow == Overflow::clamp ? "clamped" : "now infinite"},
                  tensor.name);
  // What follows the point is gone then; all other types are floats.
  const bool truncates = !is_float(to) && (!data.type.empty() || is_float(data.dtype));
  cast_as_is(tensor, to, options.overflow);
  changes.add({.kind = ChangeKind::cast,
               .impact = truncates ? Impact::results : Impact::changed,
               .before = from,
               .after = std::string(name_of(to)),
               .lossy = !lossless},
              tensor.name);
}

void cast_if_asked(Tensor& tensor, const AdaptOptions& options, Changes& changes) {
  const Component* data = tensor.is_dense() && !has_extras(tensor) ? tensor.component("data") : nullptr;
  if (!options.dtype || data == nullptr) return;
  // Asked for a float type: every real-valued tensor. Integers stay what they are.
  const ElementType* logical = logical_type(data->type);
  const bool fp8 = logical != nullptr && logical->is_real();
  if (!(is_plain_float(tensor) || fp8) || (data->dtype == *options.dtype && !fp8)) return;
  cast_as_told(tensor, options, changes);
}

void decode(Tensor& tensor, const Codec& codec, const AdaptOptions& options, Changes& changes) {
  const std::string from(codec.name.empty() ? tensor.layout : codec.name);
  // Who accepts numbers that are not finite is told of scales that make them; everybody else meets them as an error.
  const bool accepts = options.overflow != Overflow::refuse;
  const std::string problem = accepts ? codec::packs::scale_problem(tensor) : std::string();
  // Or why not: nobody else looked at its components.
  using codec::packs::Scales;
  const Scales scales = options.dtype ? Scales::finite_unless_accepted : Scales::finite;
  Tensor dense = accepts ? to_dense(tensor) : codec::packs::decode_strictly(tensor, scales);
  const auto doubt = codec.doubt == nullptr ? std::nullopt : codec.doubt(tensor);
  tensor = std::move(dense);
  changes.add({.kind = ChangeKind::decoded,
               .impact = problem.empty() ? Impact::changed : Impact::results,
               .before = from,
               .after = dtype_name(tensor),
               .detail = doubt ? doubt->sentence : problem},
              tensor.name);
}

// Asked for a float type, codes become floats, also where the target could hold the codes.
void decode_if_asked(Tensor& tensor, const AdaptOptions& options, Changes& changes) {
  const Codec* const codec = find_codec(tensor.layout);
  if (!options.dtype || codec == nullptr || codec->name.empty() || codec->decode == nullptr) return;
  decode(tensor, *codec, options, changes);
  cast_if_asked(tensor, options, changes);
}

// By a rule: whatever it is, to this type.
void cast_to(DType type, Tensor& tensor, AdaptOptions options, Changes& changes) {
  options.dtype = type;
  decode_if_asked(tensor, options, changes);
  cast_if_asked(tensor, options, changes);
}

bool holds_type(const Format& target, const Component& component) {
  const auto& types = target.holds.dtypes;
  if (std::find(types.begin(), types.end(), component.dtype) == types.end()) return false;
  return component.type.empty() || lists(target.holds.logical_types, component.type);
}

// Whether the arrays that a joined tensor is made of go into the target as they are. Not where tensors have names and
// shapes of the target's own.
bool holds_arrays(const Format& target, const Tensor& tensor) {
  if (target.adopt != nullptr || !target.holds.many_tensors || !target.holds.architecture.empty()) return false;
  const std::vector<Tensor> arrays = codec::packs::arrays_of(tensor);
  return !arrays.empty() && std::ranges::all_of(arrays, [&](const Tensor& array) {
    return array.shape.rank() <= target.holds.max_rank && array.name.size() <= target.holds.max_name &&
           holds_type(target, array.components.front());
  });
}

// A layout the target lacks is decoded to dense.
void fit_layout(Tensor& tensor, const Format& target, const AdaptOptions& options, Changes& changes) {
  if (lists(target.holds.layouts, tensor.layout) || holds_arrays(target, tensor)) return;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->decode == nullptr)
    throw refused(
        ErrorKind::unsupported, "convert.layout", tensor,
        fmt::format("{} cannot hold the layout \"{}\" and Tare cannot decode it", target.name, quote(tensor.layout)))
        .remedy(Remedy::skip, escape_glob(tensor.name));
  decode(tensor, *codec, options, changes);
}

// The lossless step up for a type the target lacks; nothing when there is none.
std::optional<DType> wider(const Component& data, const Format& target) {
  if (!data.type.empty() && !target.holds.widens_logical_types) return std::nullopt;
  for (const DType candidate : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i16, DType::i32, DType::i64})
    if (std::find(target.holds.dtypes.begin(), target.holds.dtypes.end(), candidate) != target.holds.dtypes.end() &&
        is_float(candidate) == (is_float(data.dtype) || !data.type.empty()) &&
        cast_is_lossless(data.dtype, data.type, candidate))
      return candidate;
  return std::nullopt;
}

// Casts what the target cannot hold to the type that was asked for, if that helps.
bool cast_as_asked(Tensor& tensor, const Component& data, const Format& target, const AdaptOptions& options,
                   Changes& changes) {
  const auto& types = target.holds.dtypes;
  if (!options.dtype || std::find(types.begin(), types.end(), *options.dtype) == types.end()) return false;
  const LogicalType* const logical = find_logical_type(data.type);
  if (!data.type.empty() && (logical == nullptr || logical->per_element != 1)) return false;
  cast_as_told(tensor, options, changes);
  return true;
}

// Tensors of types that the target cannot hold: looked for in all before any is refused, so that one error names them.
class Unfit {
 public:
  Unfit(const Format& target, const AdaptOptions& options) : target_(target), asked_(options.dtype.has_value()) {}

  void add(const Tensor& tensor) {
    if (order_.empty()) first_ = tensor.name;
    castable_ = castable_ && is_real(tensor);
    std::vector<std::string>& names = types_[dtype_name(tensor)];
    if (names.empty()) order_.push_back(dtype_name(tensor));
    names.push_back(tensor.name);
    ++count_;
  }
  void refuse_any() const {
    if (count_ == 0) return;
    std::vector<std::string> all;
    for (const std::string& type : order_)
      all.push_back(count_ == 1 ? type : fmt::format("{} ({})", type, listed(types_.at(type))));
    Error error(
        ErrorKind::lossy, "convert.type",
        fmt::format("{} cannot hold the type{} {}", target_.name, all.size() == 1 ? "" : "s", fmt::join(all, ", ")));
    // Advice that would not help is worse than none.
    if (castable_ && !asked_) error.remedy(Remedy::cast, name_of(DType::f32));
    throw error.about("tensor " + quote(first_)).remedy(Remedy::skip, count_ == 1 ? escape_glob(first_) : "");
  }

 private:
  // One number an element, which can be cast: not complex, not of an unknown type.
  static bool is_real(const Tensor& tensor) {
    const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
    if (data == nullptr || tensor.components.size() != 1) return false;
    const LogicalType* const logical = find_logical_type(data->type);
    return data->type.empty() || (logical != nullptr && logical->per_element == 1);
  }

  const Format& target_;
  bool asked_, castable_ = true;
  std::string first_;
  std::map<std::string, std::vector<std::string>> types_;
  std::vector<std::string> order_;
  std::size_t count_ = 0;
};

// `refuse_widening` throws for a tensor whose numbers are not what they seem.
template <typename RefuseWidening>
void fit_types(Tensor& tensor, const Format& target, const AdaptOptions& options, Unfit& unfit, Changes& changes,
               const RefuseWidening& refuse_widening) {
  // A quantization codec fixes the types of its components: who holds the layout holds them.
  const Codec* const codec = find_codec(tensor.layout);
  if (codec != nullptr && !codec->name.empty()) return;
  const auto holds = [&](const Component& component) { return holds_type(target, component); };
  if (std::all_of(tensor.components.begin(), tensor.components.end(), holds)) return;
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data != nullptr) {
    const std::string from(data->type_name());
    if (cast_as_asked(tensor, *data, target, options, changes)) return;
    if (const auto to = wider(*data, target)) {
      refuse_widening();
      cast_as_is(tensor, *to, Overflow::refuse);
      changes.add(
          {.kind = ChangeKind::widened, .impact = Impact::changed, .before = from, .after = std::string(name_of(*to))},
          tensor.name);
      return;
    }
  }
  unfit.add(tensor);
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

// The parameters of a codec travel with its layout; other attributes need a place of their own.
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

Value parse_setting(const std::string& key, const std::string& text, const Format& target) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  // Structured JSON is a string, too: containers differ in what they nest.
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != text.npos && (text[first] == '{' || text[first] == '['))
    return text;
  Value value;
  try {
    wire::TreeBounds bounds{.depth = 0, .values = 1};
    value = wire::read_json(text, bounds);
  } catch (const Error&) {
    return text;  // not JSON at all
  }
  if (value.is_null()) refuse("null is not a value; for the text, write '\"null\"'");
  if (const std::string wrong = rounded_whole(value, text); !wrong.empty()) refuse(wrong);
  if (target.holds.metadata == Room::strings && value.text() == nullptr)
    refuse(fmt::format("{} stores only strings; for a string, write '\"{}\"'", target.name, text));
  return value;
}

// Where the target has no conventions, a model keeps those of the container that it comes from.
void tell_kept_names(const Model& model, const Format& target, std::vector<Change>& lines) {
  const Format* const from = find_format(model.format);
  if (from == nullptr || from->release == nullptr || from == &target) return;
  Model probe;
  probe.config = model.config;
  probe.metadata = model.metadata;
  probe.tensors = model.tensors;
  std::vector<Change> ignored;
  std::vector<Renamed> renamed;
  try {
    from->release(probe, ignored, renamed);
  } catch (const Error&) {
    return;  // there are no other names
  }
  if (!renamed.empty())
    lines.push_back({.impact = Impact::note,
                     .detail = fmt::format("{} {} and row order as in {}; a conversion into a directory gives the "
                                           "usual ones",
                                           renamed.size(),
                                           renamed.size() == 1 ? "tensor keeps its name" : "tensors keep their names",
                                           from->title)});
}

// Names, the order of rows and the like are those of weights, not of codes.
void decode_packed(Model& model, const Format& target, const AdaptOptions& options, Changes& changes) {
  for (Tensor& tensor : model.tensors)
    if (codec::packs::is_joined(tensor) && (options.dtype || target.adopt != nullptr))
      decode(tensor, *find_codec(tensor.layout), options, changes);
}

// Those of the target's readers. Where files say what a model is, they are Hugging Face's.
std::vector<Renamed> follow_conventions(Model& model, const Format& target, const AdaptOptions& options,
                                        std::vector<Change>& lines) {
  std::vector<Renamed> renamed;
  if (find_format(model.format) == &target) return renamed;
  if (target.adopt != nullptr) {
    // A vocabulary that is not going to be there need not be one that the readers know.
    Vocabulary unwanted;
    const bool drop = asked_to_drop(options, ModelPart::vocabulary);
    if (drop) std::swap(unwanted, model.vocabulary);
    target.adopt(model, lines, renamed);
    if (drop) std::swap(unwanted, model.vocabulary);
    return renamed;
  }
  if (target.holds.wants_files || is_directory(target)) return release_conventions(model, lines);
  tell_kept_names(model, target, lines);
  return renamed;
}

// Conventions that move rows decode what is not in rows: that is reported like any other decoding.
class Layouts {
 public:
  explicit Layouts(const Model& model) {
    for (const Tensor& tensor : model.tensors)
      if (!tensor.is_dense()) {
        const Codec* const codec = find_codec(tensor.layout);
        names_[tensor.name] = codec == nullptr || codec->name.empty() ? tensor.layout : std::string(codec->name);
      }
  }

  void tell_decoded(const Model& model, const std::vector<Renamed>& renamed, Changes& changes) const {
    if (names_.empty()) return;
    std::map<std::string_view, std::string_view> origins;
    for (const Renamed& one : renamed) origins.emplace(one.after, one.before);
    for (const Tensor& tensor : model.tensors) {
      if (!tensor.is_dense()) continue;
      const auto origin = origins.find(tensor.name);
      const auto found = names_.find(origin == origins.end() ? std::string_view(tensor.name) : origin->second);
      if (found == names_.end()) continue;
      changes.add({.kind = ChangeKind::decoded,
                   .impact = Impact::changed,
                   .before = found->second,
                   .after = dtype_name(tensor)},
                  tensor.name);
    }
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;  // of the layouts that are not dense
};

// A key that was set counts for more than what the files say of the same, which are left out then.
void prefer_set(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines) {
  if (target.metadata == nullptr || options.set.empty() || model.attachments.empty()) return;
  std::vector<MetadataEdit> edits;
  for (const auto& [key, text] : options.set) {
    model.metadata.erase(key);
    edits.push_back({.kind = MetadataEditKind::read, .key = key, .value = Value(text)});
  }
  std::vector<std::string> before;
  for (const Attachment& file : model.attachments) before.push_back(file.name);
  edit_as(model, target, edits);
  std::erase_if(before, [&](const std::string& name) { return model.attachment(name) != nullptr; });
  if (!before.empty())
    lines.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::note,
                     .items = std::move(before),
                     .detail = "they contradict what was set"});
}

// How much of the model the weights of importance are about.
void tell_importance(const Model& model, const Quantization& quant, const std::vector<recipe::Decision>& decisions,
                     std::vector<Change>& lines) {
  if (quant.importance.empty()) return;
  std::vector<std::string> without;
  std::size_t encoded = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (decisions[i].method.empty()) continue;
    ++encoded;
    if (!quant.importance.contains(model.tensors[i].name)) without.push_back(model.tensors[i].name);
  }
  if (without.empty()) return;
  const std::size_t count = without.size();
  lines.push_back({.impact = Impact::note,
                   .detail = fmt::format("{} of {} quantized tensors have no importance values: {}", count, encoded,
                                         listed(std::move(without)))});
}

// What a config that does not come along says of the packing goes into the metadata, where the arrays do not tell it by
// themselves: GPTQ's two ways to store zero points, MLX's bits.
void keep_statement(Model& model, const std::optional<resources::StatedQuantization>& stated, const Format& target) {
  if (!stated || target.holds.metadata == Room::none || resources::stated_in_files(model)) return;
  const bool all_tell = std::ranges::all_of(model.tensors, [](const Tensor& tensor) {
    return !codec::packs::is_joined(tensor) || codec::packs::tells_itself(tensor);
  });
  if (!all_tell) model.metadata.set(resources::kPackingKey, resources::packing_text(*stated));
}

// By what the output itself says: not by files that lie beside the input.
void expect_packed_again(const Model& model) {
  if (!codec::packs::has_joined(model)) return;
  Model shown;
  shown.metadata = model.metadata;
  shown.attachments = model.attachments;
  const StatedPacking stated = resources::stated_packing(shown);
  codec::packs::expect_joined_again(model, stated);
}

// What a tensor takes that is not quantized. One that has no place at all is refused later.
std::uint64_t kept_bytes(Tensor tensor, const Format& target, const AdaptOptions& options) {
  Changes ignored;
  Unfit unfit(target, options);
  decode_if_asked(tensor, options, ignored);
  fit_layout(tensor, target, options, ignored);
  fit_types(tensor, target, options, unfit, ignored, [] {});
  return tensor.stored_bytes();
}

}  // namespace

Adapted adapt(Model model, const Format& target, const AdaptOptions& options) {
  // Part of a model, or one under the names that it happens to have, was asked for as it is.
  const bool whole = is_directory(target) && !options.keep_names && options.match.empty() && options.skip.empty();
  return adapt_as(std::move(model), target, options, whole ? Completeness::required : Completeness::open);
}

Adapted adapt_as(Model model, const Format& target, const AdaptOptions& options, Completeness completeness) {
  Changes changes;
  std::vector<TensorOutcome> outcomes;
  std::vector<Change> lines;
  require_type(options, target);
  const Claims claims(model);
  const auto stated = codec::packs::has_joined(model) ? resources::stated_quantization(model)
                                                      : std::optional<resources::StatedQuantization>();
  const bool had_table = has_token_table(model);
  select(model, options, changes);
  leave_out_vocabulary(model, options, had_table, lines);
  const PackedGuard packed(model, options);
  for (const auto& [key, text] : options.set) {
    Value value = parse_setting(key, text, target);
    if (const std::string* const said = value.text(); said != nullptr && target.set_problem != nullptr)
      if (const std::string problem = target.set_problem(key, *said); !problem.empty())
        throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, problem));
    model.metadata.set(key, std::move(value));
  }
  decode_packed(model, target, options, changes);
  std::vector<Renamed> renamed;
  const Layouts layouts(model);
  if (!options.keep_names) renamed = follow_conventions(model, target, options, lines);
  layouts.tell_decoded(model, renamed, changes);
  if (!renamed.empty()) prefer_set(model, target, options, lines);
  const Quantization quant = recipe::in_new_names(options.quant, model.tensors, renamed);
  if (!target.holds.many_tensors && model.tensors.size() != 1)
    throw Error(ErrorKind::unsupported, "convert.one_tensor",
                fmt::format("{} holds exactly one tensor, there are {}", target.name, model.tensors.size()))
        .remedy(Remedy::match);
  std::vector<LostKeys> lost;
  fit_rest(model, target, options, lines, lost);
  AdaptOptions as_f32 = options;
  as_f32.dtype = DType::f32;
  const auto keeps_f32 = [&](const Tensor& tensor) {
    return options.dtype && !options.keep_names && target.wants_f32 != nullptr && target.wants_f32(model, tensor);
  };
  for (Tensor& tensor : model.tensors) cast_if_asked(tensor, keeps_f32(tensor) ? as_f32 : options, changes);
  const bool asked = !options.quant.empty();
  std::vector<recipe::Decision> decisions(model.tensors.size());
  if (asked) {
    const auto bytes = [&](const Tensor& tensor) { return kept_bytes(tensor, target, options); };
    decisions = recipe::decide(model, quant, {target, bytes}, options.threads);
  }
  tell_importance(model, quant, decisions, lines);
  Unfit unfit(target, options);
  require_room(options.quant.method, target);
  for (const auto& [glob, method] : options.quant.rules) {
    require_room(method, target);
    AdaptOptions typed = options;
    if ((typed.dtype = recipe::type_called(method))) require_type(typed, target);
  }
  if (asked && std::all_of(decisions.begin(), decisions.end(), [](const auto& d) { return d.method.empty(); }))
    lines.push_back({.detail = quant.bits ? "nothing was quantized: the budget has room for the tensors as they are"
                               : quant.rules.empty()
                                   ? "nothing was quantized: no tensor is of a kind that the method takes"
                                   : "nothing was quantized: every tensor is kept as asked, or of a kind that the "
                                     "method does not take"});
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    Tensor& tensor = model.tensors[i];
    TensorOutcome outcome;
    refuse_excess(tensor, target);
    refuse_extras(tensor, target, !decisions[i].method.empty());
    if (decisions[i].type)
      cast_to(*decisions[i].type, tensor, options, changes);
    else if (decisions[i].method.empty())
      decode_if_asked(tensor, options, changes);
    else
      quantize(tensor, decisions[i].method, target, quant, options.threads, changes, outcome);
    if (decisions[i].remark) changes.add(*decisions[i].remark, tensor.name);
    fit_layout(tensor, target, options, changes);
    fit_types(tensor, target, options, unfit, changes, [&] { packed.refuse_widening(i, tensor, target); });
    fit_attributes(tensor, target, options);
    if (!asked) continue;
    outcome.name = tensor.name;
    outcome.type = dtype_name(tensor);
    outcome.elements = tensor.shape.elements().value_or(0);
    outcome.bytes = tensor.bytes();
    outcomes.push_back(std::move(outcome));
  }
  unfit.refuse_any();
  claims.settle(model, lines);
  const std::string_view mix = recipe::is_mix(quant.method) ? std::string_view(quant.method) : std::string_view();
  if (!renamed.empty() || changes.any_type() || !mix.empty())
    for (const Format& format : formats())
      if (format.retyped != nullptr) format.retyped(model, &format == &target, mix);
  if (completeness == Completeness::required) require_configured(model, lines);
  keep_statement(model, stated, target);
  expect_packed_again(model);
  codec::packs::separate(model);
  Adapted adapted{std::move(model), changes.take(), std::move(outcomes), std::move(lost)};
  adapted.changes.insert(adapted.changes.end(), lines.begin(), lines.end());
  return adapted;
}

}  // namespace tare
