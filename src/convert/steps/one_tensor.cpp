#include "convert/steps/one_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/glob.hpp"
#include "base/printable.hpp"
#include "codecs/packs/pack.hpp"
#include "codecs/packs/stored.hpp"
#include "codecs/whole_numbers.hpp"
#include "convert/recipe.hpp"
#include "convert/wording.hpp"
#include "formats/format.hpp"
#include "model/element_types.hpp"
#include "model/plain_float.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

// The formats that hold a layout, for a message.
std::string holders_of(std::string_view layout) {
  std::vector<std::string_view> names;
  for (const Format& format : formats())
    if (format.write != nullptr && lists(format.holds.layouts, layout)) names.push_back(format.name);
  return names.empty() ? "no format can" : fmt::format("{} can", fmt::join(names, ", "));
}

// The methods that the target has codecs for, for a message.
std::string methods_for(const Format& target) {
  std::vector<std::string_view> names;
  for (const Codec& codec : codecs())
    if (lists(target.holds.layouts, codec.layout))
      names.insert(names.end(), codec.methods.begin(), codec.methods.end());
  return names.empty() ? fmt::format("there is no method to quantize for {}", target.name)
                       : fmt::format("its methods are {}", fmt::join(names, ", "));
}

// Casts the numbers and keeps the attributes.
void cast_as_is(Tensor& tensor, DType to, Overflow overflow) {
  Map attributes = std::move(tensor.attributes);
  tensor = cast(tensor, to, overflow);
  tensor.attributes = std::move(attributes);
}

// Returns a method that stores weights in 8 bits, of those that the target can hold; empty if there is none.
std::string_view method_of_8_bits(const Format& target) {
  constexpr std::uint64_t kSide = 256, kBytes = kSide * kSide;
  std::string_view best;
  std::uint64_t most = kBytes;
  for (const Codec& codec : codecs()) {
    if (codec.methods.empty() || codec.budget == nullptr || !lists(target.holds.layouts, codec.layout)) continue;
    // 8 bits and scales: the more of these, the smaller the error.
    if (const std::uint64_t bytes = codec.budget({kSide, kSide}); bytes > most && bytes < kBytes * 9 / 8) {
      best = codec.methods.front();
      most = bytes;
    }
  }
  return best;
}

// The formats that can hold weights quantized to 8 bits, for a message.
std::string holders_of_8_bits() {
  std::vector<std::string_view> names;
  for (const Format& format : formats())
    if (format.write != nullptr && !method_of_8_bits(format).empty()) names.push_back(format.name);
  return fmt::format("{} can", fmt::join(names, ", "));
}

// Throws unless the integer type `to` has every number of a tensor of floats. The cast itself would refuse it, but only
// while the output is written, and without naming a method: quantization is usually meant. NaN and numbers out of range
// pass here: the errors of the cast have more detail. Reads the tensor up to the first fraction.
void require_whole(const Tensor& tensor, DType to, const Format& target) {
  std::uint64_t element = 0;
  for_each_element_run(tensor, [&](std::span<const double> values) {
    for (const double value : values) {
      if (!is_whole_for(to, value)) {
        const bool wants_8_bits = to == DType::i8 || to == DType::u8;
        const std::string_view method = wants_8_bits ? method_of_8_bits(target) : std::string_view();
        std::string sentence = fraction_sentence(element, value, to);
        if (wants_8_bits && method.empty())
          sentence +=
              fmt::format("; {} cannot hold weights quantized to 8 bits ({})", target.name, holders_of_8_bits());
        Error error = refused(ErrorKind::lossy, "cast.fraction", tensor, sentence);
        if (!method.empty()) error.remedy(Remedy::use_method, method);
        throw error.remedy(Remedy::accept_overflow, "clamp");
      }
      ++element;
    }
  });
}

// Performs a cast that was asked for. Reports how many numbers overflow, if that is accepted.
void cast_as_decided(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads,
                     TensorChanges& changes) {
  const Component& data = *tensor.component("data");
  const DType to = *options.dtype;
  const std::string from(data.type_name());
  const bool lossless = cast_is_lossless(data.dtype, data.type, to);
  // Counting takes a pass over the data, so it is done only if overflow is accepted; otherwise the cast throws.
  if (!lossless && options.overflow != Overflow::refuse)
    if (const std::uint64_t count = count_overflow(tensor, to, threads); count > 0)
      changes.add({.kind = ChangeKind::overflowed,
                   .impact = Impact::results,
                   .after = std::string(name_of(to)),
                   .count = count,
                   .detail = options.overflow == Overflow::clamp ? "clamped" : "now infinite"},
                  tensor.name);
  // Only a cast of floats to integers loses fractions; without consent, every number must survive, or this throws.
  const bool truncates = !is_float(to) && (!data.type.empty() || is_float(data.dtype));
  const bool survives = truncates && options.overflow != Overflow::clamp;
  if (survives) require_whole(tensor, to, target);
  cast_as_is(tensor, to, options.overflow);
  changes.add({.kind = ChangeKind::cast,
               .impact = truncates && !survives ? Impact::results : Impact::changed,
               .before = from,
               .after = std::string(name_of(to)),
               .lossy = !lossless && !survives},
              tensor.name);
}

bool holds_type(const Format& target, const Component& component) {
  const auto& types = target.holds.dtypes;
  if (std::find(types.begin(), types.end(), component.dtype) == types.end()) return false;
  return component.type.empty() || lists(target.holds.logical_types, component.type);
}

// Returns whether the target can hold the separate arrays of packed weights. A target whose tensors have names and
// shapes of its own cannot.
bool holds_arrays(const Format& target, const Tensor& tensor) {
  if (target.adopt != nullptr || !target.holds.many_tensors || !target.holds.architecture.empty()) return false;
  const std::vector<Tensor> arrays = codec::packs::arrays_of(tensor);
  return !arrays.empty() && std::ranges::all_of(arrays, [&](const Tensor& array) {
    return array.shape.rank() <= target.holds.max_rank && array.name.size() <= target.holds.max_name &&
           holds_type(target, array.components.front());
  });
}

// The first type that the target can hold and that the numbers fit without loss.
std::optional<DType> wider(const Component& data, const Format& target) {
  if (!data.type.empty() && !target.holds.widens_logical_types) return std::nullopt;
  for (const DType candidate : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i16, DType::i32, DType::i64})
    if (std::find(target.holds.dtypes.begin(), target.holds.dtypes.end(), candidate) != target.holds.dtypes.end() &&
        is_float(candidate) == (is_float(data.dtype) || !data.type.empty()) &&
        cast_is_lossless(data.dtype, data.type, candidate))
      return candidate;
  return std::nullopt;
}

// Casts to the type that was asked for, if there is one and the target can hold it.
bool cast_as_asked(Tensor& tensor, const Component& data, const Format& target, const AdaptOptions& options,
                   unsigned threads, TensorChanges& changes) {
  const auto& types = target.holds.dtypes;
  if (!options.dtype || std::find(types.begin(), types.end(), *options.dtype) == types.end()) return false;
  const LogicalType* const logical = find_logical_type(data.type);
  if (!data.type.empty() && (logical == nullptr || logical->per_element != 1)) return false;
  cast_as_decided(tensor, target, options, threads, changes);
  return true;
}

// Whether each element is one number, which can be cast: not complex, and not of an unknown type.
bool is_real(const Tensor& tensor) {
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr || tensor.components.size() != 1) return false;
  const LogicalType* const logical = find_logical_type(data->type);
  return data->type.empty() || (logical != nullptr && logical->per_element == 1);
}

}  // namespace

Error refused(ErrorKind kind, std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(kind, rule, sentence).about("tensor " + quote(tensor.name));
}

bool has_extras(const Tensor& tensor) { return tensor.is_dense() && tensor.components.size() > 1; }

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

void require_method(std::string_view method, const Format& target) {
  const auto find = [](std::string_view name) { return name.empty() ? nullptr : find_codec_by_method(name); };
  const Codec* const own = find(method);
  const Codec* const codec = own != nullptr ? own : find(recipe::base_of_mix(method));
  if (codec != nullptr && !lists(target.holds.layouts, codec->layout))
    throw Error(ErrorKind::unsupported, "convert.quant",
                fmt::format("{} cannot hold {} ({}); {}", target.name, own != nullptr ? own->name : method,
                            holders_of(codec->layout), methods_for(target)));
}

void quantize(Tensor& tensor, const std::string& method, const Format& target, const Quantization& how,
              unsigned threads, TensorChanges& changes, TensorOutcome& outcome) {
  const Codec& codec = *find_codec_by_method(method);
  require_method(method, target);
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

void cast_if_asked(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads,
                   TensorChanges& changes) {
  const Component* data = tensor.is_dense() && !has_extras(tensor) ? tensor.component("data") : nullptr;
  if (!options.dtype || data == nullptr) return;
  const ElementType* logical = logical_type(data->type);
  const bool fp8 = logical != nullptr && logical->is_real();
  if (!(is_plain_float(tensor) || fp8) || (data->dtype == *options.dtype && !fp8)) return;
  cast_as_decided(tensor, target, options, threads, changes);
}

void decode(Tensor& tensor, const Codec& codec, const AdaptOptions& options, TensorChanges& changes) {
  const std::string from(codec.name.empty() ? tensor.layout : codec.name);
  // If numbers that are not finite are accepted, scales that make them are reported; otherwise decoding throws.
  const bool accepts = options.overflow != Overflow::refuse;
  const std::string problem = accepts ? codec::packs::scale_problem(tensor) : std::string();
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

void decode_if_asked(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads,
                     TensorChanges& changes) {
  const Codec* const codec = find_codec(tensor.layout);
  if (!options.dtype || codec == nullptr || codec->name.empty() || codec->decode == nullptr) return;
  decode(tensor, *codec, options, changes);
  cast_if_asked(tensor, target, options, threads, changes);
}

void cast_to(DType type, Tensor& tensor, const Format& target, AdaptOptions options, unsigned threads,
             TensorChanges& changes) {
  options.dtype = type;
  decode_if_asked(tensor, target, options, threads, changes);
  cast_if_asked(tensor, target, options, threads, changes);
}

void fit_layout(Tensor& tensor, const Format& target, const AdaptOptions& options, TensorChanges& changes) {
  if (lists(target.holds.layouts, tensor.layout) || holds_arrays(target, tensor)) return;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->decode == nullptr)
    throw refused(
        ErrorKind::unsupported, "convert.layout", tensor,
        fmt::format("{} cannot hold the layout \"{}\" and Tare cannot decode it", target.name, quote(tensor.layout)))
        .remedy(Remedy::skip, escape_glob(tensor.name));
  decode(tensor, *codec, options, changes);
}

void UnfitTypes::add(const Tensor& tensor) {
  if (order_.empty()) first_ = tensor.name;
  castable_ = castable_ && is_real(tensor);
  std::vector<std::string>& names = types_[dtype_name(tensor)];
  if (names.empty()) order_.push_back(dtype_name(tensor));
  names.push_back(tensor.name);
  ++count_;
}
void UnfitTypes::refuse_any() const {
  if (count_ == 0) return;
  std::vector<std::string> all;
  for (const std::string& type : order_)
    all.push_back(count_ == 1 ? type : fmt::format("{} ({})", type, listed_names(types_.at(type))));
  Error error(
      ErrorKind::lossy, "convert.type",
      fmt::format("{} cannot hold the type{} {}", target_.name, all.size() == 1 ? "" : "s", fmt::join(all, ", ")));
  if (castable_ && !asked_) error.remedy(Remedy::cast, name_of(DType::f32));
  throw error.about("tensor " + quote(first_)).remedy(Remedy::skip, count_ == 1 ? escape_glob(first_) : "");
}

void fit_types(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads, UnfitTypes& unfit,
               TensorChanges& changes, const std::function<void()>& refuse_widening) {
  // A quantization codec fixes the types of its components: a target that holds the layout holds them.
  const Codec* const codec = find_codec(tensor.layout);
  if (codec != nullptr && !codec->name.empty()) return;
  const auto holds = [&](const Component& component) { return holds_type(target, component); };
  if (std::all_of(tensor.components.begin(), tensor.components.end(), holds)) return;
  const Component* data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data != nullptr) {
    const std::string from(data->type_name());
    if (cast_as_asked(tensor, *data, target, options, threads, changes)) return;
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

}  // namespace tare
