#include "codecs/packs/join.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

struct Quiet final : Diagnostics {
  void error(const Error&) override {}
};

bool is_plain_array(const Tensor& tensor) {
  return tensor.is_dense() && tensor.components.size() == 1 && tensor.components.front().role == "data" &&
         tensor.attributes.empty();
}

bool is_plain_float(const Tensor& tensor) {
  return tensor.is_dense() && tensor.components.size() == 1 && tensor.components.front().type.empty() &&
         is_float(tensor.components.front().dtype);
}

bool is_codes(const PackedSet& row, const Tensor& tensor) {
  return row.is_named_as_codes(tensor.name, tensor.components.front().type_name());
}

bool is_codes(const Tensor& tensor) {
  return is_plain_array(tensor) &&
         std::ranges::any_of(packed_sets(), [&](const PackedSet* row) { return is_codes(*row, tensor); });
}

class ArraySet final : public Set {
 public:
  ArraySet(const Model& model, const NameViewMap<std::size_t>& at, const Stated& stated, std::size_t codes,
           const PackedSet& row)
      : model_(model), at_(at), stated_(stated), codes_(model.tensors[codes]), row_(row) {
    stem_ = codes_.name.substr(0, codes_.name.size() - row.codes().size());
  }
  const Tensor& codes() const override { return codes_; }
  std::string_view stem() const override { return stem_; }
  const PackedSet& row() const override { return row_; }
  const Tensor* find_ending(std::string_view ending) const override {
    const auto found = at_.find(std::string(stem_).append(ending));
    if (found == at_.end() || !is_plain_array(model_.tensors[found->second])) return nullptr;
    return &model_.tensors[found->second];
  }
  std::uint64_t place_of(const Tensor& array) const override {
    return static_cast<std::uint64_t>(&array - model_.tensors.data());
  }
  const Stated& stated() const override { return stated_; }
  void assume(std::string what) const override { assumed_.push_back(std::move(what)); }
  const std::vector<std::string>& assumed() const { return assumed_; }

 private:
  const Model& model_;
  const NameViewMap<std::size_t>& at_;
  const Stated& stated_;
  const Tensor& codes_;
  const PackedSet& row_;
  std::string stem_;
  mutable std::vector<std::string> assumed_;
};

// An array of a joined tensor, and its index among the tensors of the file.
struct Placed {
  Tensor array;
  std::uint64_t at;
};

std::optional<Placed> placed_array(const Component& component, const Map& arrays) {
  const Value* const entry = arrays.find(component.role);
  const Map* const facts = entry == nullptr ? nullptr : entry->get<Map>();
  if (facts == nullptr) return std::nullopt;
  const Value* const name = facts->find("name");
  const Value* const dimensions = facts->find("shape");
  const auto at = stated_count(*facts, "at");
  if (name == nullptr || name->text() == nullptr || name->text()->empty() || dimensions == nullptr ||
      dimensions->get<List>() == nullptr || !at)
    return std::nullopt;
  Shape shape;
  for (const Value& value : *dimensions->get<List>()) {
    const auto* const dimension = value.get<std::int64_t>();
    if (dimension == nullptr || *dimension < 0 || shape.size() == 64) return std::nullopt;
    shape.push_back(static_cast<std::uint64_t>(*dimension));
  }
  const auto elements = shape.elements();
  const auto bytes = elements ? checked_mul(*elements, size_of(component.dtype)) : std::nullopt;
  if (!bytes || *bytes != component.blob.size()) return std::nullopt;
  return Placed{dense(*name->text(), std::move(shape), component.dtype, component.blob, component.type), *at};
}

// Nothing if the tensor is not a joined one.
std::optional<std::vector<Placed>> placed_arrays(const Tensor& tensor) {
  const Value* const value = tensor.is_dense() ? nullptr : tensor.attributes.find(kArrays);
  const Map* const arrays = value == nullptr ? nullptr : value->get<Map>();
  if (arrays == nullptr || arrays->size() != tensor.components.size()) return std::nullopt;
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || std::ranges::find(codec->parameters, kArrays) == codec->parameters.end()) return std::nullopt;
  std::vector<Placed> placed;
  for (const Component& component : tensor.components) {
    auto array = placed_array(component, *arrays);
    if (!array) return std::nullopt;
    placed.push_back(std::move(*array));
  }
  std::ranges::stable_sort(placed, {}, &Placed::at);
  return placed;
}

// The index of the codes, which are the first component. The joined tensor took their place.
std::uint64_t place_of_codes(const Tensor& tensor) {
  const Map& arrays = *tensor.attributes.find(kArrays)->get<Map>();
  return *stated_count(*arrays.find(tensor.components.front().role)->get<Map>(), "at");
}

constexpr std::size_t kMostGuesses = 16;  // each is reported, and a hostile file has one per tensor

class Joiner {
 public:
  Joiner(const Model& model, const Stated& stated) : model_(model), stated_(stated) {
    at_.reserve(model.tensors.size());
    for (std::size_t i = 0; i < model.tensors.size(); ++i) at_.emplace(model.tensors[i].name, i);
    // Keeps only table rows that can match. Otherwise each of a hundred thousand integer tensors named .weight would be
    // looked up once per table row with that name.
    const std::vector<const PackedSet*> whole = sets_with_beside(model.tensors);
    for (const PackedSet* const row : packed_sets()) {
      const bool has_beside = std::ranges::find(whole, row) != whole.end();
      const Scheme* const scheme = find_scheme(*row);
      if (has_beside || can_be_certain_alone(scheme)) rows_.push_back({row, scheme, has_beside});
    }
  }

  // Joins the codes and the arrays that belong to them. Returns nothing if they are not packed weights. `guesses` gets
  // what was assumed, as sentences. Throws Refusal.
  std::optional<Tensor> join(std::size_t codes, std::vector<std::string>* guesses = nullptr) const {
    std::optional<Refusal> refused;
    bool lone = false;  // what was refused has no companion array; a table row that has one takes precedence
    const Tensor& array = model_.tensors[codes];
    for (const auto& [row, scheme, has_beside] : rows_) {
      if (!is_codes(*row, array) || (!has_beside && !is_certain_alone(*scheme, array.shape))) continue;
      try {
        std::vector<std::string> assumed;
        auto tensor = scheme == nullptr ? refuse_row(codes, *row) : join(codes, *scheme, assumed);
        if (!tensor) continue;
        if (guesses != nullptr) *guesses = sentences(std::move(assumed));
        return tensor;
      } catch (const Refusal& refusal) {
        if (refused && !lone) continue;
        refused = refusal;
        lone = ArraySet(model_, at_, stated_, codes, *row).find_ending(row->beside_ending()) == nullptr;
      }
    }
    if (refused) throw *refused;
    return std::nullopt;
  }

 private:
  struct Row {
    const PackedSet* set;
    const Scheme* scheme;  // null: not decoded
    bool has_beside;       // the model has the companion array that the PackedSet names
  };

  // Whether codes are recognised without their companion array, which is then reported as missing.
  bool is_certain_alone(const Scheme& scheme, const Shape& shape) const {
    const bool certain = scheme.certain || (scheme.certain_shape != nullptr && scheme.certain_shape(shape));
    return is_certain_alone(scheme, certain);
  }
  bool is_certain_alone(const Scheme& scheme, bool certain) const {
    return stated_.method == scheme.set->method ? certain || scheme.certain_if_stated
                                                : certain && stated_.method.empty();
  }
  // Whether that is so for some shape.
  bool can_be_certain_alone(const Scheme* scheme) const {
    return scheme != nullptr && is_certain_alone(*scheme, scheme->certain || scheme->certain_shape != nullptr);
  }

  // For a table row that is not decoded: refuses its arrays, or returns nothing if they are not of this row.
  std::optional<Tensor> refuse_row(std::size_t codes, const PackedSet& row) const {
    const ArraySet set(model_, at_, stated_, codes, row);
    const Tensor* const beside = set.find_ending(row.beside_ending());
    if (beside != nullptr && (row.fits == nullptr || row.fits(set.codes().shape, beside->shape)))
      refuse_variant(std::string(row.why_not));
    return std::nullopt;
  }

  std::vector<std::string> sentences(std::vector<std::string> assumed) const {
    std::vector<std::string> guesses;
    for (const std::string& what : assumed)
      guesses.push_back(
          stated_.config.empty()
              ? fmt::format("packed weights without a file that says how they were packed: assumed {}; put its "
                            "config.json next to it",
                            what)
              : fmt::format("packed weights of which the config does not say everything: assumed {}", what));
    if (!stated_.method.empty() && !is_method_name(stated_.method))
      guesses.push_back(
          fmt::format("the config states the method \"{}\", which is not one that Tare knows: the packed weights were "
                      "understood by names, types and shapes alone",
                      quote(stated_.method)));
    return guesses;
  }

  std::optional<Tensor> join(std::size_t codes, const Scheme& scheme, std::vector<std::string>& assumed) const {
    const ArraySet set(model_, at_, stated_, codes, *scheme.set);
    if (set.find_ending(scheme.set->beside_ending()) == nullptr) {
      if (is_certain_alone(scheme, set.codes().shape))
        require_beside(set, scheme.set->members[scheme.set->beside].role);
      return std::nullopt;
    }
    if (is_plain_float(set.codes())) refuse_variant(fmt::format("{} codes stored as floats", scheme.set->title));
    auto tensor = scheme.join(set);
    if (!tensor) return std::nullopt;
    tensor->name = std::string(set.stem()).append(scheme.weight);
    if (tensor->name != set.codes().name && at_.contains(tensor->name))
      refuse("pack.name", fmt::format("there is a tensor {} next to the codes", quote(tensor->name)));
    const Codec* const codec = find_codec(tensor->layout);
    if (codec == nullptr) refuse_variant(fmt::format("{} is not decoded", tensor->layout));
    if (const auto problem = codec->check(*tensor)) throw Refusal{*problem};
    assumed = set.assumed();
    if (stated_.config.empty() && !scheme.guess.empty()) assumed.emplace_back(scheme.guess);
    return tensor;
  }

  const Model& model_;
  const Stated& stated_;
  NameViewMap<std::size_t> at_;
  std::vector<Row> rows_;  // those that can match in this model
};

void report(const Problem& problem, const Tensor& codes, const std::string& file, Diagnostics& diagnostics) {
  const Error about =
      Error(ErrorKind::corrupt, problem.rule, fmt::format("{}; the set is left as plain arrays", problem.sentence))
          .in(file)
          .about("tensor " + quote(codes.name));
  if (diagnostics.thorough())
    diagnostics.error(about);
  else
    diagnostics.warning(about);
}

// Finds arrays whose names imply codes that do not exist, have another type, or lack their companion array.
class Orphans {
 public:
  Orphans(const Model& model, const Stated& stated) : model_(model), stated_(stated) {
    for (const PackedSet* const row : packed_sets())
      for (const PackedMember& member : row->members)
        if (tells(*row, member)) telling_.push_back({row, member.ending});
  }

  // What is missing for an array that is in no set; nothing if no codes are expected. The last argument marks the
  // tensors whose problem was already reported.
  std::optional<Problem> problem(const Tensor& tensor, const std::vector<bool>& told) {
    if (!is_plain_array(tensor)) return std::nullopt;
    const auto first = std::ranges::find_if(telling_, [&](const Telling& row) { return ends(tensor, row.ending); });
    if (first == telling_.end()) return std::nullopt;
    if (at_.empty())  // most models have no such array
      for (std::size_t i = 0; i < model_.tensors.size(); ++i) at_.emplace(model_.tensors[i].name, i);
    for (const PackedSet* const row : packed_sets())
      for (const PackedMember& member : row->members)
        if (ends(tensor, member.ending) && is_whole(*row, stem_of(tensor, member.ending), told)) return std::nullopt;
    std::string stem = stem_of(tensor, first->ending);
    if (!stems_.insert(stem).second) return std::nullopt;
    return problem_of(*first->row, stem);
  }

 private:
  struct Telling {
    const PackedSet* row;
    std::string_view ending;
  };

  static bool ends(const Tensor& tensor, std::string_view ending) {
    return tensor.name.size() > ending.size() && tensor.name.ends_with(ending);
  }
  static std::string stem_of(const Tensor& tensor, std::string_view ending) {
    return tensor.name.substr(0, tensor.name.size() - ending.size());
  }

  const Tensor* find(const std::string& stem, std::string_view ending) const {
    const auto found = at_.find(std::string(stem).append(ending));
    return found == at_.end() ? nullptr : &model_.tensors[found->second];
  }

  // Whether the codes and their companion array exist, or the codes were reported: Joiner reports all other problems.
  bool is_whole(const PackedSet& row, const std::string& stem, const std::vector<bool>& told) const {
    const Tensor* const codes = find(stem, row.codes());
    if (codes == nullptr || !is_plain_array(*codes)) return false;
    if (told[static_cast<std::size_t>(codes - model_.tensors.data())]) return true;
    return is_codes(row, *codes) && find(stem, row.beside_ending()) != nullptr;
  }

  bool tells(const PackedSet& row, const PackedMember& member) const {
    const Scheme* const scheme = find_scheme(row);
    const bool beside = &member == &row.members[row.beside];
    return scheme != nullptr &&
           (member.telling || (beside && scheme->certain_if_stated && stated_.method == row.method));
  }

  std::optional<Problem> problem_of(const PackedSet& row, const std::string& stem) const {
    const auto missing = [&](std::string_view ending) {
      return Problem{"pack.missing", fmt::format("{} is missing", quote(stem + std::string(ending)))};
    };
    const Tensor* const codes = find(stem, row.codes());
    if (codes == nullptr) return missing(row.codes());
    if (!is_plain_array(*codes)) return std::nullopt;
    if (is_codes(row, *codes)) return missing(row.beside_ending());
    // Plain floats with such arrays have already been decoded by another program.
    if (is_plain_float(*codes) && find_scheme(row)->weight == row.codes()) return std::nullopt;
    return Problem{"pack.type", fmt::format("{} is {}; expected {}", quote(codes->name),
                                            codes->components.front().type_name(), fmt::join(row.types, " or "))};
  }

  const Model& model_;
  const Stated& stated_;
  NameViewMap<std::size_t> at_;
  std::vector<Telling> telling_;
  NameSet stems_;
};

// Collects variants that are not decoded. Reports each reason once, because models have hundreds of layers.
class Variants {
 public:
  Variants(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void add(const Problem& problem, const std::string& codes) {
    const auto [place, is_new] = places_.emplace(problem.sentence, all_.size());
    if (is_new) all_.push_back({problem.sentence, codes, 0});
    ++all_[place->second].count;
  }

  // Adds arrays that the config calls packed, by a method or under names that the table does not have. `joined`: other
  // arrays were joined; then these are what the config means, unless its method is known and not decoded.
  void add_stated(const Model& model, const Stated& stated, bool joined) {
    if (stated.method.empty()) return;
    const StatedMethod method = stated_method(stated.method);
    if (joined && (method.decoded || !method.known)) return;
    for (const Tensor& tensor : model.tensors)
      if (can_hold_codes(tensor, method.decoded)) add({"pack.variant", method.why_not}, tensor.name);
  }

  void tell() const {
    for (const Variant& variant : all_) {
      const std::string more = variant.count == 1 ? "" : fmt::format(" ({} such in all)", variant.count);
      diagnostics_.note(Error(ErrorKind::unsupported, "pack.variant",
                              fmt::format("{}; not decoded, left as plain arrays{}", variant.sentence, more))
                            .in(file_)
                            .about("tensor " + quote(variant.codes)));
    }
  }

 private:
  struct Variant {
    std::string sentence, codes;
    std::size_t count;
  };

  const std::string& file_;
  Diagnostics& diagnostics_;
  std::vector<Variant> all_;
  NameMap<std::size_t> places_;  // by sentence; a map, because a file can have a different reason per tensor
};

}  // namespace

const Tensor* Set::find(std::string_view role) const {
  const PackedMember* const member = row().member(role);
  return member == nullptr ? nullptr : find_ending(member->ending);
}

Joining::Joining(const Set& set, std::string layout, Shape shape) : set_(set) {
  tensor_.layout = std::move(layout);
  tensor_.shape = std::move(shape);
}

void Joining::put(std::string_view role, const Tensor& array) {
  List dimensions;
  for (const std::uint64_t dimension : array.shape) dimensions.emplace_back(dimension);
  Map facts;
  facts.append("name", array.name);
  facts.append("shape", std::move(dimensions));
  facts.append("at", set_.place_of(array));
  Value* arrays = tensor_.attributes.find(kArrays);
  if (arrays == nullptr) {
    tensor_.attributes.append(std::string(kArrays), Map());
    arrays = tensor_.attributes.find(kArrays);
  }
  arrays->get<Map>()->append(std::string(role), std::move(facts));
  const Component& data = array.components.front();
  tensor_.components.push_back({std::string(role), data.dtype, data.type, data.blob});
}

Joining& Joining::add(std::string_view role, const Tensor& array, Types types, const Shape& shape) {
  const std::string_view type = array.components.front().type_name();
  if (std::ranges::find(types, type) == types.end())
    refuse("pack.type", fmt::format("{} is {}; expected {}", quote(array.name), type, fmt::join(types, " or ")));
  if (array.shape != shape)
    refuse("pack.shape", fmt::format("{} has the shape {}; expected {} for weights of {}", quote(array.name),
                                     array.shape.text(), shape.text(), tensor_.shape.text()));
  put(role, array);
  return *this;
}

Joining& Joining::carry(std::string_view role) {
  if (const Tensor* const array = set_.find(role)) put(role, *array);
  return *this;
}

Joining& Joining::set(std::string_view attribute, Value value) {
  tensor_.attributes.set(attribute, std::move(value));
  return *this;
}

const Tensor& require_beside(const Set& set, std::string_view role) {
  const Tensor* const found = set.find(role);
  if (found != nullptr) return *found;
  const std::string name = std::string(set.stem()).append(set.row().member(role)->ending);
  refuse("pack.missing", fmt::format("{} is missing", quote(name)));
}

const std::string* stated_text(const Stated& stated, std::string_view key) {
  const Value* const value = stated.config.find(key);
  return value == nullptr ? nullptr : value->text();
}

std::optional<std::uint64_t> stated_count(const Map& config, std::string_view key) {
  const Value* const value = config.find(key);
  const auto* const number = value == nullptr ? nullptr : value->get<std::int64_t>();
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::int64_t> stated_whole(const Map& config, std::string_view key, std::string_view rule) {
  const Value* const value = config.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto* const number = value->get<std::int64_t>();
  if (number == nullptr) refuse(rule, fmt::format("the config states a {} that is not a whole number", key));
  return *number;
}

bool has_exceptions(const Stated& stated) {
  // Keys of GPTQModel and auto-round.
  return stated.config.find("dynamic") != nullptr || stated.config.find("extra_config") != nullptr;
}

const Map* stated_weights(const Stated& stated) {
  const Value* const value = stated.config.find("config_groups");
  const Map* const groups = value == nullptr ? nullptr : value->get<Map>();
  const Map* found = nullptr;
  if (groups == nullptr) return nullptr;
  for (const auto& [name, group] : *groups) {
    const Map* const map = group.get<Map>();
    const Value* const weights = map == nullptr ? nullptr : map->find("weights");
    const Map* const own = weights == nullptr ? nullptr : weights->get<Map>();
    if (own == nullptr || (found != nullptr && !(*found == *own))) return nullptr;
    found = own;
  }
  return found;
}

bool may_be_packed(const Model& model) {
  return std::ranges::any_of(model.tensors,
                             [](const Tensor& tensor) { return is_plain_array(tensor) && tells_packing(tensor); });
}

namespace {

// Returns what was assumed.
std::vector<std::string> join_all(Model& model, const Stated& stated, const std::string& file,
                                  Diagnostics& diagnostics) {
  std::vector<std::optional<Tensor>> joined(model.tensors.size());
  std::vector<bool> taken(model.tensors.size());
  std::vector<bool> refused(model.tensors.size());
  bool any = false, told = false;
  Variants variants(file, diagnostics);
  std::vector<std::string> guesses;
  if (may_be_packed(model)) {
    const Joiner joiner(model, stated);
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      if (!is_plain_array(model.tensors[i])) continue;
      try {
        std::vector<std::string> own;
        auto tensor = joiner.join(i, &own);
        if (!tensor) continue;
        for (std::string& guess : own)
          if (guesses.size() < kMostGuesses && std::ranges::find(guesses, guess) == guesses.end())
            guesses.push_back(std::move(guess));
        const auto placed = placed_arrays(*tensor);
        const auto is_taken = [&](const Placed& array) { return taken[static_cast<std::size_t>(array.at)]; };
        if (!placed || std::ranges::any_of(*placed, is_taken))
          refuse("pack.shared", "one of its arrays belongs to another set, too");
        for (const Placed& array : *placed) taken[static_cast<std::size_t>(array.at)] = true;
        joined[i] = std::move(tensor);
        any = true;
      } catch (const Refusal& refusal) {
        told = true;
        refused[i] = true;
        if (refusal.problem.severity == Severity::note)
          variants.add(refusal.problem, model.tensors[i].name);
        else
          report(refusal.problem, model.tensors[i], file, diagnostics);
      }
    }
  }
  Orphans orphans(model, stated);
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    if (taken[i] || refused[i]) continue;
    if (const auto problem = orphans.problem(model.tensors[i], refused)) {
      told = true;
      report(*problem, model.tensors[i], file, diagnostics);
    }
  }
  for (const std::string& guess : guesses)
    diagnostics.warning(Error(ErrorKind::unsupported, "pack.guess", guess).in(file));
  if (any) {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      if (joined[i]) tensors.push_back(std::move(*joined[i]));
      if (!taken[i]) tensors.push_back(std::move(model.tensors[i]));
    }
    model.tensors = std::move(tensors);
  }
  if (!told) variants.add_stated(model, stated, any);
  variants.tell();
  return guesses;
}

}  // namespace

void join_packs(Model& model, const Stated& stated, const std::string& file, Diagnostics& diagnostics) {
  (void)join_all(model, stated, file, diagnostics);
}

std::vector<std::string> guesses(const Model& model, const Stated& stated) {
  Quiet quiet;
  Model arrays;
  arrays.tensors = model.tensors;
  separate(arrays);
  return join_all(arrays, stated, {}, quiet);
}

std::string why_not_joined(const Model& model, const Stated& stated, std::string_view codes) {
  if (codes.empty()) return stated.method.empty() ? std::string() : stated_method(stated.method).why_not;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    if (model.tensors[i].name != codes || !is_codes(model.tensors[i])) continue;
    try {
      if (Joiner(model, stated).join(i)) return {};
    } catch (const Refusal& refusal) {
      return refusal.problem.sentence;
    }
  }
  return {};
}

bool tells_itself(const Tensor& tensor) {
  Quiet quiet;
  Model alone;
  alone.tensors = arrays_of(tensor);
  join_packs(alone, {}, {}, quiet);
  if (alone.tensors.size() != 1) return false;
  Tensor &again = alone.tensors.front(), before = tensor;
  again.attributes.erase(kArrays);
  before.attributes.erase(kArrays);
  return again.layout == before.layout && again.shape == before.shape && again.attributes == before.attributes;
}

void expect_joined_again(const Model& model, const Stated& stated) {
  Quiet quiet;
  Model again;
  for (const Tensor& tensor : model.tensors)
    for (Tensor& array : arrays_of(tensor)) again.tensors.push_back(std::move(array));
  join_packs(again, stated, {}, quiet);
  const TensorIndex found(again);
  for (const Tensor& tensor : model.tensors) {
    const auto arrays = placed_arrays(tensor);
    if (!arrays) continue;
    const auto refused = [&](const std::string& sentence) {
      return Error(ErrorKind::usage, "pack.changed", sentence).about("tensor " + quote(tensor.name));
    };
    const Tensor* const joined = found.tensor(tensor.name);
    if (joined == nullptr || !is_joined(*joined))
      throw refused(
          fmt::format("packed weights are stored as their arrays ({}, ...), which make no tensor of this name; "
                      "decode it to rename it",
                      quote(arrays->front().array.name)));
    const auto told = [](const Tensor& which) {
      Map attributes = which.attributes;
      attributes.erase(kArrays);
      return attributes;
    };
    if (joined->layout == tensor.layout && joined->shape == tensor.shape && told(*joined) == told(tensor)) continue;
    throw refused(
        fmt::format("packed weights are stored as their arrays, which would be read as {} of {}, not as {} of {}, "
                    "or with other attributes: keep what says how they were packed (quantization_config), and "
                    "decode them to change them",
                    joined->layout, joined->shape.text(), tensor.layout, tensor.shape.text()));
  }
}

bool is_joined(const Tensor& tensor) { return placed_arrays(tensor).has_value(); }

bool has_joined(const Model& model) { return std::ranges::any_of(model.tensors, is_joined); }

std::vector<Tensor> arrays_of(const Tensor& tensor) {
  std::vector<Tensor> arrays;
  if (auto placed = placed_arrays(tensor))
    for (Placed& array : *placed) arrays.push_back(std::move(array.array));
  return arrays;
}

void separate(Model& model) {
  if (!has_joined(model)) return;
  // Arrays have their original index; the other tensors keep their order.
  std::vector<Placed> placed;
  std::vector<Tensor> others, in_place;
  // The index of each tensor's codes, and the number of other tensors before it.
  std::vector<std::pair<std::uint64_t, std::size_t>> codes;
  for (Tensor& tensor : model.tensors) {
    if (auto arrays = placed_arrays(tensor)) {
      codes.emplace_back(place_of_codes(tensor), others.size());
      for (Placed& array : *arrays) {
        in_place.push_back(array.array);
        placed.push_back(std::move(array));
      }
    } else {
      in_place.push_back(tensor);
      others.push_back(std::move(tensor));
    }
  }
  std::ranges::stable_sort(placed, {}, &Placed::at);
  const std::size_t count = placed.size() + others.size();
  bool fits = placed.back().at < count;
  for (std::size_t i = 1; i < placed.size(); ++i) fits = fits && placed[i - 1].at < placed[i].at;
  for (const auto& [place, before] : codes) {
    const auto own = std::ranges::lower_bound(placed, place, {}, &Placed::at);
    fits = fits && place - static_cast<std::uint64_t>(own - placed.begin()) == before;
  }
  // If tensors were omitted or added, the indices no longer fit: the arrays go where their tensor was.
  if (!fits) {
    model.tensors = std::move(in_place);
    return;
  }
  model.tensors.clear();
  model.tensors.reserve(count);
  auto other = others.begin();
  for (auto array = placed.begin(); model.tensors.size() < count;)
    if (array != placed.end() && array->at == model.tensors.size())
      model.tensors.push_back(std::move((array++)->array));
    else
      model.tensors.push_back(std::move(*other++));
}

}  // namespace tare::codec::packs
