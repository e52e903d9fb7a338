#include "codecs/packs/find.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/forever.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/process_mutex.hpp"
#include "codecs/packs/stored.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::size_t kMostGuesses = 16;  // each is reported, and a hostile file has one per tensor

const Component* data_of(const Tensor& tensor) { return tensor.is_dense() ? tensor.component("data") : nullptr; }

bool is_plain_float(const Component* data) { return data != nullptr && data->type.empty() && is_float(data->dtype); }

// Whether an array can contain codes, whatever its name: integers, or floats with a logical type. `large`: only a
// matrix or a long vector, because short ones are positions and the like.
bool can_hold_codes(const Tensor& tensor, bool large) {
  constexpr std::uint64_t kLongVector = 4096;  // bytes
  if (tensor.components.size() != 1) return false;
  const Component& data = tensor.components.front();
  if (data.type.empty() && (is_float(data.dtype) || data.dtype == DType::boolean)) return false;
  if (!tensor.is_dense() || tensor.name.ends_with("position_ids")) return false;
  return large ? tensor.shape.rank() >= 2 || tensor.bytes() >= kLongVector : tensor.shape.elements().value_or(2) > 1;
}

// Schemes whose codes may be stored as floats.
const std::vector<const Scheme*>& disguised_schemes() {
  static Forever<std::vector<const Scheme*>> found([] {
    std::vector<const Scheme*> rows;
    for (const Scheme* const row : schemes())
      if (std::ranges::find(row->types, name_of(DType::f32)) != row->types.end()) rows.push_back(row);
    return rows;
  }());
  return *found;
}

const BeforeFork kDisguisedBeforeFork([] { static_cast<void>(disguised_schemes()); });

// Whether an array alone shows that weights are packed. A plain float weight does not, although it may contain codes
// stored as floats: then the array that accompanies it does.
bool states_packing(const Tensor& tensor) {
  constexpr std::string_view kUsual = ".weight";
  if (!tensor.is_dense() || tensor.components.size() != 1) return false;
  const Component& data = tensor.components.front();
  const auto is_codes = [&](const Scheme* row) { return row->is_named_as_codes(tensor.name, data.type_name()); };
  if (is_plain_float(&data))
    return std::ranges::any_of(disguised_schemes(),
                               [&](const Scheme* row) { return row->codes() != kUsual && is_codes(row); });
  return std::ranges::any_of(schemes(), is_codes) || std::ranges::any_of(disguised_schemes(), [&](const Scheme* row) {
           return tensor.name.ends_with(row->beside_ending());
         });
}

class Finder {
 public:
  Finder(const Model& model, Stated stated)
      : model_(model), tensors_(model), taken_(model.tensors.size()), refused_(model.tensors.size()) {
    found_.stated = std::move(stated);
    found_.parts.resize(model.tensors.size());
    // Keeps only schemes that can match. Otherwise each of a hundred thousand integer tensors named .weight would be
    // looked up once per scheme with that name.
    const std::vector<const Scheme*> whole = schemes_with_beside(model.tensors);
    for (const Scheme* const scheme : schemes()) {
      const bool has_beside = std::ranges::find(whole, scheme) != whole.end();
      if (scheme->by_statement ? found_.stated.method == scheme->method : has_beside || can_be_certain_alone(*scheme))
        rows_.push_back({scheme, has_beside});
      for (const Member& member : scheme->members)
        if (tells(*scheme, member)) telling_.push_back({scheme, member.ending});
    }
  }

  Found run() && {
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) look_for_set(i);
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) look_for_codes_of(i);
    if (stated()) look_for_unnamed();
    return std::move(found_);
  }

 private:
  struct Row {
    const Scheme* scheme;
    bool has_beside;  // the model has an array that is named like the companion array
  };
  struct Telling {
    const Scheme* scheme;
    std::string_view ending;
  };

  const Stated& stated() const { return found_.stated; }

  // Whether codes are recognised without their companion array, which is then reported as missing.
  bool is_certain_alone(const Scheme& scheme, const Shape& shape) const {
    return is_certain_alone(scheme, scheme.certain || (scheme.certain_shape != nullptr && scheme.certain_shape(shape)));
  }
  bool is_certain_alone(const Scheme& scheme, bool certain) const {
    return stated().method == scheme.method ? certain || scheme.certain_if_stated : certain && stated().method.empty();
  }
  // Whether that is so for some shape.
  bool can_be_certain_alone(const Scheme& scheme) const {
    return is_certain_alone(scheme, scheme.certain || scheme.certain_shape != nullptr);
  }
  // Whether an array with the name of this member shows that there should be codes.
  bool tells(const Scheme& scheme, const Member& member) const {
    const bool beside = &member == &scheme.members[scheme.beside];
    return scheme.is_decoded() &&
           (member.telling || (beside && scheme.certain_if_stated && stated().method == scheme.method));
  }

  // Looks for a set whose codes are this tensor.
  void look_for_set(std::size_t index) {
    const Tensor& tensor = model_.tensors[index];
    const Component* const data = data_of(tensor);
    if (data == nullptr) return;
    FoundSet found{.codes = index};
    bool lone = false;  // what was refused has no companion array; a scheme that has one takes precedence
    for (const auto& [scheme, has_beside] : rows_) {
      if (found.scheme != nullptr && found.joined) break;
      if (scheme->by_statement) {
        if (!is_stated(tensor)) continue;
      } else {
        if (!scheme->is_named_as_codes(tensor.name, data->type_name())) continue;
        if (!has_beside && !is_certain_alone(*scheme, tensor.shape)) continue;
      }
      const Set set(tensors_, *scheme, tensor, stated());
      const Tensor* const beside = set.find_beside();
      const bool fits = beside != nullptr && (scheme->fits == nullptr || scheme->fits(tensor.shape, beside->shape));
      if (fits && found.scheme == nullptr) {
        found.scheme = scheme;
        name_parts(set);
      }
      if (found.joined || !is_plain_array(tensor)) continue;
      const bool alone = beside == nullptr || !is_plain_array(*beside);
      try {
        if (!scheme->is_decoded() && fits && !alone) refuse_variant(std::string(scheme->why_not));
        if (scheme->is_decoded()) found.joined = join(set, alone);
      } catch (const Refusal& refusal) {
        if (found.refused && !lone) continue;
        found.refused = refusal.problem;
        lone = alone;
      }
    }
    if (found.joined) take_arrays(found);
    refused_[index] = found.refused.has_value();
    if (found.scheme != nullptr || found.joined || found.refused) found_.sets.push_back(std::move(found));
  }

  // Whether the config names these codes. The map of names is made once, because a model may have thousands of them.
  bool is_stated(const Tensor& codes) {
    if (!stated_codes_) {
      stated_codes_.emplace();
      const Value* const weights = stated().config.find("weights");
      if (weights != nullptr && weights->get<Map>() != nullptr)
        for (const auto& [name, facts] : *weights->get<Map>()) stated_codes_->insert(name);
    }
    return stated_codes_->contains(codes.name);
  }

  void name_parts(const Set& set) {
    if (set.scheme().by_statement) {
      for (const Member& member : set.scheme().members)
        if (const Tensor* const array = &member == &set.scheme().members[0] ? &set.codes() : set.find(member.role))
          found_.parts[tensors_.index_of(*array)] = member.part;
      return;
    }
    for (const Member& member : set.scheme().members)
      if (const Tensor* const array = tensors_.find(set.stem(), member.ending))
        found_.parts[tensors_.index_of(*array)] = member.part;
  }

  // Returns nothing if the arrays are not of this scheme. Throws Refusal.
  std::optional<Tensor> join(const Set& set, bool alone) {
    const Scheme& scheme = set.scheme();
    if (alone) {
      if (scheme.by_statement || is_certain_alone(scheme, set.codes().shape))
        static_cast<void>(set.require(scheme.members[scheme.beside].role));
      return std::nullopt;
    }
    if (is_plain_float(data_of(set.codes()))) refuse_variant(fmt::format("{} codes stored as floats", scheme.title));
    auto tensor = scheme.join(set);
    if (!tensor) return std::nullopt;
    tensor->name = std::string(set.stem()).append(scheme.weight);
    if (tensor->name != set.codes().name && tensors_.find(tensor->name, "") != nullptr)
      refuse("pack.name", fmt::format("there is a tensor {} next to the codes", quote(tensor->name)));
    const Codec* const codec = find_codec(tensor->layout);
    if (codec == nullptr) refuse_variant(fmt::format("{} is not decoded", tensor->layout));
    if (const auto problem = codec->check(*tensor)) throw Refusal{*problem};
    add_guesses(set);
    return tensor;
  }

  void add_guesses(const Set& set) {
    std::vector<std::string> assumed = set.assumed();
    if (stated().config.empty() && !set.scheme().guess.empty()) assumed.emplace_back(set.scheme().guess);
    for (const std::string& what : assumed)
      add_guess(stated().config.empty()
                    ? fmt::format("packed weights without a file that says how they were packed: assumed {}; put its "
                                  "config.json next to it",
                                  what)
                    : fmt::format("packed weights of which the config does not say everything: assumed {}", what));
    if (!stated().method.empty() && !is_method_name(stated().method))
      add_guess(
          fmt::format("the config states the method \"{}\", which is not one that Tare knows: the packed weights were "
                      "understood by names, types and shapes alone",
                      quote(stated().method)));
  }
  void add_guess(std::string guess) {
    std::vector<std::string>& all = found_.guesses;
    if (all.size() < kMostGuesses && std::ranges::find(all, guess) == all.end()) all.push_back(std::move(guess));
  }

  void take_arrays(FoundSet& found) {
    found.refused.reset();
    const auto placed = placed_arrays(*found.joined);
    if (placed && std::ranges::none_of(*placed, [&](const PlacedArray& array) { return taken_[array.at]; })) {
      for (const PlacedArray& array : *placed) found.arrays.push_back(array.at);
      for (const std::size_t index : found.arrays) taken_[index] = true;
      return;
    }
    found.joined.reset();
    found.refused = Problem{"pack.shared", "one of its arrays belongs to another set, too"};
  }

  static bool ends(const Tensor& tensor, std::string_view ending) {
    return tensor.name.size() > ending.size() && tensor.name.ends_with(ending);
  }
  static std::string stem_of(const Tensor& tensor, std::string_view ending) {
    return tensor.name.substr(0, tensor.name.size() - ending.size());
  }

  // Looks for the codes that belong to an array outside all sets, if its name implies them.
  void look_for_codes_of(std::size_t index) {
    const Tensor& tensor = model_.tensors[index];
    if (taken_[index] || refused_[index] || !is_plain_array(tensor)) return;
    const auto first = std::ranges::find_if(telling_, [&](const Telling& row) { return ends(tensor, row.ending); });
    if (first == telling_.end()) return;
    for (const Scheme* const scheme : schemes())
      for (const Member& member : scheme->members)
        if (ends(tensor, member.ending) && is_whole(*scheme, stem_of(tensor, member.ending))) return;
    const std::string stem = stem_of(tensor, first->ending);
    if (!stems_.insert(stem).second) return;
    if (auto problem = orphan_problem(*first->scheme, stem)) found_.orphans.push_back({index, std::move(*problem)});
  }

  // Whether the codes and their companion array exist, or the codes were refused: look_for_set finds all other problems.
  bool is_whole(const Scheme& scheme, const std::string& stem) const {
    const Tensor* const codes = tensors_.find(stem, scheme.codes());
    if (codes == nullptr || !is_plain_array(*codes)) return false;
    if (refused_[tensors_.index_of(*codes)]) return true;
    return is_codes(scheme, *codes) && tensors_.find(stem, scheme.beside_ending()) != nullptr;
  }

  static bool is_codes(const Scheme& scheme, const Tensor& array) {
    return scheme.is_named_as_codes(array.name, array.components.front().type_name());
  }

  std::optional<Problem> orphan_problem(const Scheme& scheme, const std::string& stem) const {
    const auto missing = [&](std::string_view ending) {
      return Problem{"pack.missing", fmt::format("{} is missing", quote(stem + std::string(ending)))};
    };
    const Tensor* const codes = tensors_.find(stem, scheme.codes());
    if (codes == nullptr) return missing(scheme.codes());
    if (!is_plain_array(*codes)) return std::nullopt;
    if (is_codes(scheme, *codes)) return missing(scheme.beside_ending());
    // Plain floats with such arrays have already been decoded by another program.
    if (is_plain_float(data_of(*codes)) && scheme.weight == scheme.codes()) return std::nullopt;
    return Problem{"pack.type", fmt::format("{} is {}; expected {}", quote(codes->name),
                                            codes->components.front().type_name(), fmt::join(scheme.types, " or "))};
  }

  // Looks for arrays that the config calls packed although no scheme has their names.
  void look_for_unnamed() {
    const StatedMethod method = stated_method(stated().method);
    const bool never_decoded = method.known && !method.decoded;
    const auto any = [&](auto is) { return std::ranges::any_of(found_.sets, is); };
    // If a tensor has another layout, the config may be about that layout.
    const bool all_dense = std::ranges::all_of(model_.tensors, &Tensor::is_dense);
    const bool named = any([](const FoundSet& set) { return set.scheme != nullptr; });
    const bool are_codes = !named && (never_decoded || all_dense);
    const bool told = !found_.orphans.empty() || any([](const FoundSet& set) { return set.refused.has_value(); });
    const bool joined = any([](const FoundSet& set) { return set.joined.has_value(); });
    const bool unexplained = !told && !stated().method.empty() && (never_decoded || !joined);
    if (!are_codes && !unexplained) return;
    // A method that is decoded has other names for its codes, so that only large arrays are suspicious.
    const bool large = method.decoded || stated().method.empty();
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      if (taken_[i] || !can_hold_codes(model_.tensors[i], large)) continue;
      if (are_codes) found_.parts[i] = "codes";
      if (unexplained) found_.unnamed.push_back(i);
    }
    found_.why_unnamed = method.why_not;
  }

  const Model& model_;
  const NamedTensors tensors_;
  std::vector<bool> taken_;    // the tensor is an array of a joined one
  std::vector<bool> refused_;  // the tensor is codes that were refused
  std::vector<Row> rows_;      // schemes that can match in this model
  std::vector<Telling> telling_;
  NameSet stems_;  // stems whose missing codes were looked for
  std::optional<NameSet> stated_codes_;
  Found found_;
};

}  // namespace

bool Found::any() const {
  return std::ranges::any_of(parts, [](std::string_view part) { return !part.empty(); });
}

std::string Found::why_not_decoded(std::optional<std::size_t> codes) const {
  for (const FoundSet& set : sets)
    if (set.codes == codes && set.refused) return set.refused->sentence;
  return stated.method.empty() ? std::string() : stated_method(stated.method).why_not;
}

Found find_sets(const Model& model, Stated stated) { return Finder(model, std::move(stated)).run(); }

bool may_be_packed(const Model& model) {
  return std::ranges::any_of(model.tensors, [](const Tensor& tensor) {
    return can_hold_codes(tensor, false) || (is_plain_array(tensor) && states_packing(tensor));
  });
}

bool may_have_codes(const Model& model) {
  return !std::ranges::all_of(
      model.tensors, [](const Tensor& tensor) { return is_plain_float(data_of(tensor)) && !states_packing(tensor); });
}

}  // namespace tare::codec::packs
