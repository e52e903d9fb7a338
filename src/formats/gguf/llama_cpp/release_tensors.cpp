// Converts tensors from llama.cpp's conventions back to Hugging Face's: undoes the steps of the row for a name
// (arch/patterns.hpp), in reverse order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/aside.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {

Error no_way_back(const std::string& sentence) {
  return Error(ErrorKind::unsupported, "convert.names", sentence).remedy(Remedy::keep_names);
}

namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;
using arch::Verb;

arch::Steps steps_in(const arch::Family& family, Dialect dialect, const TensorName& name) {
  const arch::Pattern* const row = arch::find_row(family, dialect, name);
  return row == nullptr ? arch::Steps() : row->steps;
}

// Returns whether the tensor was added for llama.cpp as a copy, and still equals the original. Another program may have
// changed either.
bool is_still_copy(const Model& model, const Tensor& tensor, const TensorName& name, const arch::Family& family) {
  return is_copy(tensor) && std::ranges::any_of(steps_in(family, Dialect::gguf, name), [&](const arch::Step& step) {
           if (step.verb != Verb::copy) return false;
           const auto original = arch::spell(family, Dialect::gguf, {.role = step.role});
           const Tensor* const found = original ? model.tensor(*original) : nullptr;
           return found != nullptr && has_same_bytes(tensor, *found);
         });
}

// Returns whether Hugging Face's models do not have the tensor: divisors that config.json states, and copies
// (`is_known_copy`).
bool is_omitted(const TensorName& name, const arch::Family& family, bool is_known_copy) {
  return std::ranges::any_of(steps_in(family, Dialect::gguf, name), [&](const arch::Step& step) {
    return step.verb == Verb::llama3_divisors || step.verb == Verb::listed_divisors ||
           step.verb == Verb::part_divisors || (step.verb == Verb::copy && is_known_copy);
  });
}

// Several rows may have one name in GGUF: other tensors of the model decide which role it has.
class SharedNames {
 public:
  SharedNames(const Model& model, const arch::Family& family) : family_(family) {
    for (const Tensor& tensor : model.tensors)
      if (const auto name = arch::parse(family, Dialect::gguf, tensor.name)) present_.insert(name->role);
  }
  Role role_of(Role first) const {
    const arch::Pattern* const row = row_of(first);
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& other : patterns)
        if (row != nullptr && other.gguf == row->gguf && other.beside != Role::other && present_.contains(other.beside))
          return other.role;
    return first;
  }

 private:
  const arch::Pattern* row_of(Role role) const {
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        if (row.role == role && !row.gguf.empty()) return &row;
    return nullptr;
  }

  const arch::Family& family_;
  std::set<Role> present_;
};

// The names of the two stacks that a tensor of the file holds together; nothing if it is no such tensor.
std::optional<std::pair<std::string, std::string>> parts_of_fused(const arch::Family& family, std::string_view name) {
  constexpr std::string_view kFused = ".ffn_gate_up_exps.";
  const std::size_t at = name.find(kFused);
  if (at == name.npos || arch::parse(family, Dialect::gguf, name)) return std::nullopt;
  const auto part = [&](std::string_view stack) {
    return fmt::format("{}.{}.{}", name.substr(0, at), stack, name.substr(at + kFused.size()));
  };
  std::pair names(part("ffn_gate_exps"), part("ffn_up_exps"));
  if (!arch::parse(family, Dialect::gguf, names.first) || !arch::parse(family, Dialect::gguf, names.second))
    return std::nullopt;
  return names;
}

std::uint32_t usual_layers_of(const Model& model, const arch::Family& family) {
  constexpr double kMost = 1 << 20;
  const auto all = static_cast<double>(model.config.num_hidden_layers.value_or(0));
  const double further = ArchKeys(model, family).number("nextn_predict_layers").value_or(0);
  return static_cast<std::uint32_t>(std::clamp(all - further, 0.0, kMost));
}

class TensorReleaser {
 public:
  TensorReleaser(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                 std::vector<Renamed>& renamed)
      : model_(model),
        family_(family),
        way_(way),
        changes_(changes),
        renamed_(renamed),
        head_rows_(family, model.config),
        state_heads_(state_heads_of(model, family)),
        usual_layers_(usual_layers_of(model, family)) {}

  void run() {
    part_fused();
    leave_out_classifier();
    std::vector<std::string> strangers;
    for (const Tensor& tensor : model_.tensors)
      if (!arch::parse(family_, Dialect::gguf, tensor.name)) strangers.push_back(quote(tensor.name));
    if (!strangers.empty())
      throw no_way_back(fmt::format("what the tensors {} of a {} model are called elsewhere is not known",
                                    fmt::join(strangers, ", "), family_.name));
    // Copies are compared before any tensor is moved.
    const SharedNames shared(model_, family_);
    std::vector<bool> omitted;
    for (const Tensor& tensor : model_.tensors) {
      const TensorName name = *arch::parse(family_, Dialect::gguf, tensor.name);
      const bool copied = way_.has_config && is_still_copy(model_, tensor, name, family_);
      omitted.push_back(is_omitted(name, family_, copied));
      if (way_.has_config && !copied && name.role == Role::output_head && is_copy(tensor)) untie(tensor);
    }
    if (way_.has_config) report_other_divisors();
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      if (omitted[i]) continue;
      TensorName name = *arch::parse(family_, Dialect::gguf, model_.tensors[i].name);
      name.role = shared.role_of(name.role);
      name.root = way_.root;
      add(std::move(model_.tensors[i]), name);
    }
    require_both_halves();
    add_numbers();
    report_changed();
    if (way_.has_config) restore_copies();
    restore_aside();
    model_.tensors = std::move(out_);
    if (!way_.has_config) complete_biases(model_, family_, changes_, renamed_);
    changes_.push_back(
        {.impact = Impact::detail,
         .detail = fmt::format("{} tensors have Hugging Face's names and order of rows", model_.tensors.size())});
  }

 private:
  // Newer files may have gate and up of all experts as one tensor: the rows of gate come first.
  void part_fused() {
    std::vector<Tensor> all;
    for (Tensor& tensor : model_.tensors) {
      const auto names = parts_of_fused(family_, tensor.name);
      if (!names) {
        all.push_back(std::move(tensor));
        continue;
      }
      auto [gate, up] = halve_rows(to_dense(tensor));
      renamed_.push_back({tensor.name, names->first});
      gate.name = names->first;
      up.name = names->second;
      all.push_back(std::move(gate));
      all.push_back(std::move(up));
    }
    model_.tensors = std::move(all);
  }

  // A config.json that is made of the keys names the class without a head.
  void leave_out_classifier() {
    if (way_.has_config || !family_.runtime.names_classes) return;
    std::vector<std::string> names;
    std::erase_if(model_.tensors, [&](const Tensor& tensor) {
      const auto name = arch::parse(family_, Dialect::gguf, tensor.name);
      if (!name || !arch::is_of_classifier(name->role)) return false;
      names.push_back(tensor.name);
      return true;
    });
    if (!names.empty())
      changes_.push_back({.kind = ChangeKind::left_out,
                          .impact = Impact::lost,
                          .items = std::move(names),
                          .detail = "the file does not say which of the classes with such a head it was made of"});
  }

  void add(Tensor tensor, TensorName name) {
    const arch::Pattern* const maker = arch::find_maker(family_, name.role);
    const std::string before = tensor.name;
    if (maker == nullptr) {
      tensor = restored(std::move(tensor), name, steps_in(family_, Dialect::hugging_face, name));
      return finish(std::move(tensor), before, name);
    }
    tensor = restored(std::move(tensor), name, steps_in(family_, Dialect::gguf, name));
    if (name.suffix == arch::Suffix::bias && maker->steps.back().verb == Verb::part_frames) {
      name.role = maker->role;  // the bias of both frames together
      return finish(std::move(tensor), before, name);
    }
    if (maker->steps.back().verb != Verb::stack) return add_half(std::move(tensor), name, *maker);
    name.role = maker->role;
    std::uint32_t expert = 0;
    for (Tensor& one : unstack(tensor)) {
      name.expert = expert++;
      finish(restored(std::move(one), name, maker->steps), before, name);
    }
  }

  // Joins the tensor with the other half, which may come earlier or later.
  void add_half(Tensor tensor, TensorName name, const arch::Pattern& maker) {
    const Role half = name.role, whole = maker.role;
    const auto place = std::tuple(name.layer.value_or(0), whole, name.suffix);
    auto& halves = halves_[place];
    halves.emplace(half, std::move(tensor));
    const arch::Step& step = maker.steps.back();
    if (halves.size() < step.parts()) return;
    const Tensor& first = halves.at(step.role);
    name.role = whole;
    const std::string whole_name = arch::spell(family_, Dialect::hugging_face, name).value_or("");
    for (const auto& [role, other] : halves)
      if (role != step.role)
        renamed_.push_back(
            {other.name, family_.runtime.next_layers_apart ? name_apart(whole_name, usual_layers_) : whole_name});
    Tensor joined = step.verb == Verb::part_thirds
                        ? join_thirds(first, halves.at(step.other_half), halves.at(step.third))
                        : joined_by(step.verb, first, halves.at(step.other_half));
    finish(restored(std::move(joined), name, maker.steps), first.name, name);
    halves_.erase(place);
  }

  Tensor joined_by(Verb verb, const Tensor& first, const Tensor& second) const {
    if (verb == Verb::split_heads) return join_heads(first, second);
    if (verb == Verb::part_heads) return rejoin_heads(first, second, state_heads_);
    if (verb == Verb::part_frames) return join_frames(first, second);
    return verb == Verb::deal_rows ? merge_rows(first, second) : join_rows(first, second);
  }

  void require_both_halves() const {
    for (const auto& [key, halves] : halves_)
      throw no_way_back(fmt::format("{} is one part of a tensor, and another one does not exist",
                                    quote(halves.begin()->second.name)));
  }

  // Undoes the steps that change the bytes of one tensor.
  Tensor restored(Tensor tensor, const TensorName& name, arch::Steps steps) {
    for (std::size_t i = steps.size(); i-- > 0;) switch (steps[i].verb) {
        case Verb::pair_rows: tensor = unpair_rows(std::move(tensor), name.role, model_.config, head_rows_); break;
        case Verb::transpose:
          tensor = way_.packs && has_packed_rows(tensor) ? packed_columns(tensor) : transposed_last(tensor);
          break;
        case Verb::negate_exp: tensor = undo_negate_exp(std::move(tensor)); break;
        case Verb::tile_rows: tensor = untile_rows(std::move(tensor), state_heads_, steps[i].number == 1); break;
        case Verb::tile_columns: tensor = untile_columns(tensor, state_heads_); break;
        case Verb::squeeze:
          if (name.suffix == arch::Suffix::weight) tensor = unsqueezed(std::move(tensor));
          break;
        case Verb::reshape: tensor = flattened(std::move(tensor)); break;
        case Verb::pad_rows: tensor = without_padding(std::move(tensor)); break;
        case Verb::sort_heads: tensor = unsort_heads(tensor, model_.config); break;
        case Verb::add:
          if (name.suffix == arch::Suffix::weight) tensor = subtract_number(std::move(tensor), steps[i].number);
          break;
        case Verb::stack:
        case Verb::halve_rows:
        case Verb::deal_rows:
        case Verb::split_heads:
        case Verb::part_heads:
        case Verb::part_thirds:
        case Verb::part_frames:
        case Verb::trim_rows:  // below, because the rows that were cut have the former type
        case Verb::omit:
        case Verb::omit_copy:
        case Verb::to_key:
        case Verb::copy:
        case Verb::llama3_divisors:
        case Verb::listed_divisors:
        case Verb::part_divisors: break;
      }
    tensor = with_former_type(std::move(tensor));
    for (const arch::Step& step : steps)
      if (step.verb == Verb::trim_rows) tensor = restore_rows(std::move(tensor), rows_before(step));
    return tensor;
  }

  // How many rows of the table config.json asks for in addition. One that is made of the keys asks for none.
  std::uint64_t rows_before(const arch::Step& step) const {
    return way_.has_config ? rows_before_positions(ConfigFile(model_), step) : 0;
  }

  // Returns a tensor that was widened to f32 to the type that it had, unless another program has changed its values to
  // ones that this type does not have.
  Tensor with_former_type(Tensor tensor) {
    const Value* const was = tensor.attributes.find(kWasType);
    const auto type = was == nullptr || was->text() == nullptr ? std::nullopt : parse_dtype(*was->text());
    if (!type || !is_float(*type) || !tensor.is_dense()) return tensor;
    Map attributes = std::move(tensor.attributes);
    attributes.erase(kWasType);
    if (fits(tensor, *type))
      tensor = cast(tensor, *type);
    else
      changed_.push_back(tensor.name);
    tensor.attributes = std::move(attributes);
    return tensor;
  }

  // Makes the tensors whose numbers are keys.
  void add_numbers() {
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        for (const arch::Step& step : row.steps) {
          if (step.verb != Verb::to_key || row.hugging_face.empty()) continue;
          std::uint32_t layer = 0;
          for (Tensor& tensor : tensors_of_key(model_, step)) {
            const TensorName name{.role = row.role, .layer = layer++, .root = way_.root};
            tensor.name = arch::spell(family_, Dialect::hugging_face, name).value_or("");
            out_.push_back(std::move(tensor));
          }
        }
  }

  // The head was a copy of the token table, but another program has changed one of the two.
  void untie(const Tensor& head) {
    state_untied(model_);
    changes_.push_back({.impact = Impact::changed,
                        .detail = fmt::format("{} was a copy of the token table and differs from it now: the output "
                                              "has both, and tie_word_embeddings of config.json is false",
                                              quote(head.name))});
  }

  // Without the original config.json, the class of the directory has no place for these tensors.
  void restore_aside() {
    std::vector<Tensor> tensors = take_aside(model_, changes_);
    if (way_.has_config) {
      std::ranges::move(tensors, std::back_inserter(out_));
    } else if (!tensors.empty()) {
      std::vector<std::string> names;
      for (const Tensor& tensor : tensors) names.push_back(tensor.name);
      changes_.push_back({.kind = ChangeKind::left_out,
                          .impact = Impact::lost,
                          .items = std::move(names),
                          .detail = "they belong to the config.json that the file no longer has"});
    }
  }

  void report_changed() {
    if (changed_.empty()) return;
    changes_.push_back({.impact = Impact::changed,
                        .detail = fmt::format("tensors that were widened to f32 have been changed since, to values "
                                              "that their former type does not have; they stay f32: {}",
                                              listed_names(changed_))});
  }

  // The attached config.json states the divisors as numbers, and counts from here on. Another program may have changed
  // either.
  void report_other_divisors() {
    const ConfigFile file(model_);
    if (file.empty()) return;
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        for (const arch::Step& step : row.steps) {
          if (step.verb != Verb::llama3_divisors && step.verb != Verb::listed_divisors &&
              step.verb != Verb::part_divisors)
            continue;
          const auto name = arch::spell(family_, Dialect::gguf, {.role = row.role});
          const Tensor* const table = name ? model_.tensor(*name) : nullptr;
          if (!name || has_divisors(table, divisors_of(step, file, model_.config))) continue;
          changes_.push_back(
              {.kind = ChangeKind::remark,
               .impact = Impact::results,
               .part = "config.json",
               .items = {"rope_scaling"},
               .detail = fmt::format("rope_scaling: config.json, which counts in the output, states other "
                                     "divisors of the rotary frequencies than {}",
                                     table == nullptr ? "the file, which has none" : quote(*name))});
        }
  }

  // No table, and an empty list, are divisors of 1.
  static bool has_divisors(const Tensor* table, const std::vector<float>& stated) {
    constexpr std::uint64_t kMost = 1 << 16;
    std::vector<float> found;
    if (table != nullptr) {
      const auto count = table->shape.elements();
      if (!count || *count > kMost || (!stated.empty() && *count != stated.size())) return false;
      found = table->values<float>();
    }
    const auto all_ones = [](const std::vector<float>& all) {
      return std::ranges::all_of(all, [](float one) { return one == 1; });
    };
    if (found.empty() || stated.empty()) return all_ones(found) && all_ones(stated);
    return std::ranges::equal(found, stated, [](float a, float b) { return std::fabs(a - b) <= 1e-4F * std::fabs(b); });
  }

  void finish(Tensor tensor, const std::string& before, const TensorName& name) {
    auto spelled = arch::spell(family_, Dialect::hugging_face, name);
    if (!spelled) throw no_way_back(fmt::format("Hugging Face's name for {} is not known", quote(before)));
    if (family_.runtime.next_layers_apart) spelled = name_apart(*spelled, usual_layers_);
    if (const Value* const end = tensor.attributes.find(kSpelled)) {
      if (way_.has_config) spelled = spelled_as(*spelled, *end);
      tensor.attributes.erase(kSpelled);
    }
    renamed_.push_back({before, *spelled});
    tensor.name = std::move(*spelled);
    if (has_packed_columns(tensor)) name_arrays(tensor);
    out_.push_back(std::move(tensor));
  }

  // Restores the tensors that were omitted because they equal another one, if config.json does not tie the two.
  void restore_copies() {
    const ConfigFile config(model_);
    const Value* const tied = config.find("tie_word_embeddings");
    if (tied == nullptr || *tied != false) return;
    const auto spelled = [&](Role role) {
      return arch::spell(family_, Dialect::hugging_face, {.role = role, .root = way_.root}).value_or("");
    };
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        for (const arch::Step& step : row.steps) {
          if (step.verb != Verb::omit_copy) continue;
          const auto original = std::ranges::find(out_, spelled(step.role), &Tensor::name);
          if (original != out_.end()) out_.push_back(restored_copy(*original, spelled(row.role)));
        }
  }

  Model& model_;
  const arch::Family& family_;
  const Way& way_;
  std::vector<Change>& changes_;
  std::vector<Renamed>& renamed_;
  arch::HeadRows head_rows_;
  StateHeads state_heads_;
  std::uint32_t usual_layers_;  // without those that predict further tokens
  std::vector<Tensor> out_;
  // By layer, role and suffix of the whole: the parts that exist.
  std::map<std::tuple<std::uint32_t, Role, arch::Suffix>, std::map<Role, Tensor>> halves_;
  std::vector<std::string> changed_;  // widened tensors whose values no longer fit the former type
};

}  // namespace

std::size_t count_released_tensors(const Model& model, const arch::Family& family, bool has_config) {
  std::size_t count = 0;
  for (const Tensor& tensor : model.tensors) {
    const auto fused = parts_of_fused(family, tensor.name);
    const auto name = arch::parse(family, Dialect::gguf, fused ? fused->first : tensor.name);
    if (!name) return 0;
    if (!has_config && arch::is_of_classifier(name->role)) continue;
    const bool paired = arch::find_step(family, name->role, Verb::pair_rows) != nullptr;
    if (paired && !arch::rotated_heads(name->role, model.config)) return 0;
    if (is_omitted(*name, family, has_config && is_copy(tensor))) continue;
    const arch::Pattern* const maker = arch::find_maker(family, name->role);
    if (maker != nullptr && maker->steps.back().verb != Verb::stack) {
      count += name->role == maker->steps.back().role ? 1 : 0;
      continue;
    }
    const std::size_t made = maker != nullptr ? count_unstacked(tensor) : 1;
    if (made == 0) return 0;
    count += fused ? 2 * made : made;
  }
  for (const arch::Patterns patterns : family.names)
    for (const arch::Pattern& row : patterns)
      for (const arch::Step& step : row.steps)
        if (step.verb == Verb::to_key) count += count_of_key(model, step);
  return count + (has_config ? count_aside(model) : 0);
}

bool can_pack(const Model& model, const arch::Family& family) {
  if (family.runtime.unpacked_modules.empty()) return false;
  bool any = false;
  for (const Tensor& tensor : model.tensors) {
    const auto name = arch::parse(family, Dialect::gguf, tensor.name);
    if (!name || tensor.shape.rank() != 3) continue;
    if (!has_packed_rows(tensor)) return false;
    any = true;
  }
  return any;
}

void release_tensors(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed) {
  TensorReleaser(model, family, way, changes, renamed).run();
}

}  // namespace tare::gguf::llama_cpp
