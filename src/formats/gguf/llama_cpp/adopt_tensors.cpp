// Converts tensors from Hugging Face's conventions (or those of Meta's own files) to llama.cpp's. What happens to a tensor
// is in the row for its name (arch/patterns.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/adopt_numbers.hpp"
#include "formats/gguf/llama_cpp/aside.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/plain_float.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {

Error unmapped(const std::string& sentence) {
  return Error(ErrorKind::unsupported, "convert.names", sentence).remedy(Remedy::keep_names);
}

namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;
using arch::Verb;

class TensorAdopter {
 public:
  TensorAdopter(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                std::vector<Renamed>& renamed)
      : model_(model),
        family_(family),
        config_(config),
        changes_(changes),
        renamed_(renamed),
        head_rows_(family, model.config),
        state_heads_(state_heads_of(config)) {}

  void run() {
    name_next_layers();
    set_others_aside();
    spell_norms();
    parse_names();
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      if (!names_[i].layer && names_[i].suffix == arch::Suffix::weight)
        ends_.insert_or_assign(names_[i].role, model_.tensors[i]);
      add(std::move(model_.tensors[i]), names_[i], dialect_);
    }
    stacks_.finish([&](Tensor all, const TensorName& name, const std::vector<std::string>& experts) {
      ++stacked_;
      add(std::move(all), name, Dialect::gguf);
      for (std::size_t i = 1; i < experts.size(); ++i) renamed_.push_back({experts[i], out_.back().name});
    });
    numbers_.finish(model_, layer_count());
    omit_copies();
    add_missing();
    keep_root();
    if (family_.runtime.next_layers_apart)
      for (Renamed& one : renamed_) one.before = name_apart(one.before, layer_count());
    report();
    model_.tensors = std::move(out_);
  }

 private:
  std::uint32_t layer_count() const {
    constexpr std::int64_t kMost = 1 << 20;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(model_.config.num_hidden_layers.value_or(0), 0, kMost));
  }

  void name_next_layers() {
    for (Tensor& tensor : model_.tensors)
      if (is_apart(family_, tensor.name)) tensor.name = name_among_layers(tensor.name, layer_count());
  }

  // Tensors that llama.cpp does not load travel as attached files.
  void set_others_aside() {
    if (family_.runtime.aside.empty()) return;
    std::erase_if(model_.tensors, [&](const Tensor& tensor) {
      if (!is_for_aside(family_, tensor.name)) return false;
      (set_aside(model_, tensor) ? aside_ : lost_).push_back(tensor.name);
      return true;
    });
  }

  // Early files of encoders call the weight of a norm "gamma" and its bias "beta".
  void spell_norms() {
    if (!family_.runtime.reads_gamma) return;
    for (Tensor& tensor : model_.tensors)
      for (const auto& [own, usual] : kNormEnds) {
        if (!tensor.name.ends_with(own)) continue;
        tensor.name.replace(tensor.name.size() - own.size(), own.size(), usual);
        tensor.attributes.set(kSpelled, own);
      }
  }

  void parse_names() {
    // Chooses the dialect that knows more of the names: some ("norm.weight") are in both.
    const auto known = [&](Dialect dialect) {
      return std::ranges::count_if(
          model_.tensors, [&](const Tensor& tensor) { return arch::parse(family_, dialect, tensor.name).has_value(); });
    };
    dialect_ = known(Dialect::hugging_face) >= known(Dialect::meta) ? Dialect::hugging_face : Dialect::meta;
    std::vector<std::string> strangers;
    for (const Tensor& tensor : model_.tensors) {
      const auto name = arch::parse(family_, dialect_, tensor.name);
      if (!name || !is_loaded(*name)) strangers.push_back(tensor.name);
      names_.push_back(name.value_or(TensorName()));
      if (family_.runtime.shared_alone) name_alone(names_.back());
    }
    if (!strangers.empty())
      throw unmapped(fmt::format("{} of {} tensors are not part of a {} model as llama.cpp knows it: {}",
                                 strangers.size(), model_.tensors.size(), family_.name, listed_names(strangers)));
  }

  // The role that a name has in a model without experts, if it has another one there.
  void name_alone(TensorName& name) const {
    if (config_.number("num_local_experts").value_or(0) != 0) return;
    const arch::Pattern* const first = arch::find_row(family_, Dialect::hugging_face, name);
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        if (first != nullptr && row.alone && row.hugging_face == first->hugging_face) name.role = row.role;
  }

  bool is_loaded(const TensorName& name) const {
    return name.suffix == arch::Suffix::weight || std::ranges::find(family_.biases, name.role) != family_.biases.end();
  }

  // Applies the steps of the row that has the name in the dialect. Tensors that steps make have names in GGUF only.
  void add(Tensor tensor, const TensorName& name, Dialect dialect) {
    const arch::Pattern* const row = arch::find_row(family_, dialect, name);
    for (const arch::Step& step : row == nullptr ? arch::Steps() : row->steps) switch (step.verb) {
        case Verb::pair_rows:
          tensor = pair_rows(std::move(tensor), name.role, model_.config, head_rows_);
          ++reordered_;
          break;
        case Verb::transpose:
          tensor = transposed_last(tensor);
          require_outputs_first(tensor, name.role);
          break;
        case Verb::negate_exp: tensor = negate_exp(std::move(tensor)); break;
        case Verb::tile_rows: tensor = tile_rows(std::move(tensor), state_heads_, step.number == 1); break;
        case Verb::tile_columns: tensor = tile_columns(tensor, state_heads_); break;
        case Verb::squeeze:
          if (name.suffix == arch::Suffix::weight) tensor = squeezed(std::move(tensor));
          break;
        case Verb::reshape: tensor = reshaped(std::move(tensor), groups_of(step)); break;
        case Verb::pad_rows: tensor = pad_rows(std::move(tensor), config_.number(step.key)); break;
        case Verb::trim_rows: tensor = trim_rows(std::move(tensor), rows_before_positions(config_, step)); break;
        case Verb::sort_heads:
          tensor = sort_heads(tensor, model_.config);
          ++sorted_;
          break;
        case Verb::add:
          if (name.suffix != arch::Suffix::weight) break;
          require_floats(tensor);
          tensor = add_number(std::move(tensor), step.number);
          shift_ = step.number;
          ++shifted_;
          break;
        case Verb::stack: return stacks_.add(std::move(tensor), name, step.role);
        case Verb::halve_rows: return add_both(halve_rows(tensor), step, name);
        case Verb::deal_rows: return add_both(deal_rows(tensor), step, name);
        case Verb::split_heads:
          return add_both(split_heads(tensor, model_.config, config_.number(step.key)), step, name);
        case Verb::part_heads: return add_both(part_heads(tensor, state_heads_), step, name);
        case Verb::part_thirds: return add_thirds(part_thirds(tensor), step, name);
        case Verb::part_frames:
          // A bias belongs to both frames together.
          if (name.suffix == arch::Suffix::weight) return add_both(part_frames(tensor), step, name);
          break;
        case Verb::omit: return omitted_.push_back(tensor.name);
        case Verb::to_key: return numbers_.add(tensor, name, step);
        case Verb::omit_copy: copies_.emplace_back(std::move(tensor), step.role); return;
        case Verb::copy:
        case Verb::llama3_divisors:
        case Verb::listed_divisors:
        case Verb::part_divisors: break;  // for tensors that the model lacks: add_missing
      }
    finish(std::move(tensor), name);
  }

  // The number of rows of Verb::reshape.
  std::uint64_t groups_of(const arch::Step& step) const {
    if (step.key.empty()) return 0;
    const double count = config_.number(step.key).value_or(1);
    constexpr double kMost = 1 << 20;
    if (count < 1 || count > kMost || std::trunc(count) != count)
      throw refused_setting(step.key, "a whole number from 1 on", Value(count));
    return static_cast<std::uint64_t>(count);
  }

  void add_both(std::pair<Tensor, Tensor> parts, const arch::Step& step, const TensorName& whole) {
    add(std::move(parts.first), {.role = step.role, .layer = whole.layer}, Dialect::gguf);
    add(std::move(parts.second), {.role = step.other_half, .layer = whole.layer}, Dialect::gguf);
  }

  void add_thirds(std::vector<Tensor> parts, const arch::Step& step, const TensorName& whole) {
    std::size_t next = 0;
    for (const Role role : {step.role, step.other_half, step.third})
      add(std::move(parts[next++]), {.role = role, .layer = whole.layer, .suffix = whole.suffix}, Dialect::gguf);
  }

  // Some versions of the libraries write stacks of experts the other way around, under the same names.
  void require_outputs_first(const Tensor& tensor, Role role) const {
    const auto hidden = static_cast<std::uint64_t>(std::max<std::int64_t>(model_.config.hidden_size.value_or(0), 0));
    if (tensor.shape.rank() != 3 || hidden == 0) return;
    const bool fits = role == Role::stacked_down ? tensor.shape[1] == hidden : tensor.shape[2] == hidden;
    if (!fits)
      throw unmapped(
          fmt::format("{}: expected [experts][inputs][outputs] with {} inputs or outputs, found the last two "
                      "dimensions {} and {}",
                      quote(tensor.name), hidden, tensor.shape[2], tensor.shape[1]));
  }

  static void require_floats(const Tensor& tensor) {
    if (tensor.is_dense() && tensor.components.front().type.empty() && !is_float(tensor.components.front().dtype))
      throw Error(ErrorKind::unsupported, "gguf.weights",
                  fmt::format("expected floats, found {}, with which llama.cpp cannot compute",
                              name_of(tensor.components.front().dtype)))
          .about("tensor " + quote(tensor.name))
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
  }

  // Sets the name and the type that the runtime expects.
  void finish(Tensor tensor, const TensorName& name) {
    const std::string before = tensor.name;
    require_floats(tensor);
    const auto spelled = arch::spell(family_, Dialect::gguf, name);
    if (!spelled) throw unmapped(fmt::format("llama.cpp has no name for {}", quote(before)));
    tensor.name = *spelled;
    renamed_.push_back({before, *spelled});
    const bool small = tensor.shape.rank() <= 1 || arch::is_f32(name.role);
    // Numbers of f64 that f32 does not have are rounded when the types are cast (wants_f32), which reports it and knows
    // what is to become of numbers beyond f32.
    if (small && is_plain_float(tensor) && tensor.components.front().dtype != DType::f32 && fits(tensor, DType::f32)) {
      const std::string was(name_of(tensor.components.front().dtype));
      Map attributes = std::move(tensor.attributes);
      tensor = cast(tensor, DType::f32);
      tensor.attributes = std::move(attributes);
      tensor.attributes.set(kWasType, was);
    }
    if (const Value* const was = tensor.attributes.find(kWasType))
      (*was == Value(name_of(DType::f64)) ? narrowed_ : widened_).push_back(tensor.name);
    out_.push_back(std::move(tensor));
  }

  const Tensor* end_with(Role role) const {
    const auto found = ends_.find(role);
    return found == ends_.end() ? nullptr : &found->second;
  }

  void omit_copies() {
    for (auto& [copy, role] : copies_) {
      require_copy(copy, end_with(role), family_);
      omitted_.push_back(std::move(copy.name));
    }
  }

  // Adds the tensors that GGUF has although the model does not.
  void add_missing() {
    for (const arch::Patterns patterns : family_.names)
      for (const arch::Pattern& row : patterns)
        for (const arch::Step& step : row.steps) {
          const auto name = arch::spell(family_, Dialect::gguf, {.role = row.role});
          if (!name) continue;
          if (step.verb == Verb::copy) {
            const Tensor* const original = end_with(step.role);
            if (original != nullptr && std::ranges::find(out_, *name, &Tensor::name) == out_.end())
              out_.push_back(copy_of(*original, *name));
          } else if (step.verb == Verb::llama3_divisors || step.verb == Verb::listed_divisors ||
                     step.verb == Verb::part_divisors) {
            const std::vector<float> divisors = divisors_of(step, config_, model_.config);
            if (!divisors.empty()) out_.push_back(dense<float>(*name, {std::uint64_t{divisors.size()}}, divisors));
          }
        }
  }

  // Records the prefix of the tensor names if it is not the usual one: GGUF's names do not have it.
  void keep_root() {
    if (dialect_ != Dialect::hugging_face) return;
    const auto found = std::ranges::find_if(names_, [](const TensorName& name) {
      return name.role != Role::output_head && !arch::is_of_classifier(name.role);
    });
    if (found != names_.end() && found->root != family_.root) model_.metadata.set(kRootKey, arch::name_of(found->root));
  }

  void report() {
    std::string detail = fmt::format("{} tensors have llama.cpp's names", out_.size());
    if (reordered_ > 0) detail += fmt::format(", {} of them (q and k) its order of rows", reordered_);
    if (sorted_ > 0) detail += fmt::format(", in {} of them q, k and v are apart", sorted_);
    if (stacked_ > 0) detail += fmt::format(", {} are stacks of experts", stacked_);
    if (shifted_ > 0) detail += fmt::format(", to {} norms {} was added", shifted_, shift_);
    changes_.push_back({.impact = Impact::detail, .detail = std::move(detail)});
    if (!widened_.empty())
      changes_.push_back({.kind = ChangeKind::widened,
                          .impact = Impact::detail,
                          .items = widened_,
                          .before = "16 bits",
                          .after = std::string(name_of(DType::f32))});
    if (!narrowed_.empty())
      changes_.push_back({.kind = ChangeKind::cast,
                          .impact = Impact::detail,
                          .items = narrowed_,
                          .before = std::string(name_of(DType::f64)),
                          .after = std::string(name_of(DType::f32))});
    if (!omitted_.empty())
      changes_.push_back({.kind = ChangeKind::skipped, .impact = Impact::detail, .items = omitted_});
    if (!aside_.empty())
      changes_.push_back({.kind = ChangeKind::kept_as,
                          .impact = Impact::detail,
                          .items = aside_,
                          .after = "attached files, because llama.cpp has no use for them"});
    if (!lost_.empty())
      changes_.push_back({.kind = ChangeKind::left_out,
                          .impact = Impact::lost,
                          .items = lost_,
                          .detail = "llama.cpp has no use for them, and they are not plain arrays of at most 64 MiB, "
                                    "which an attached file could keep"});
  }

  Model& model_;
  const arch::Family& family_;
  const ConfigFile& config_;
  std::vector<Change>& changes_;
  std::vector<Renamed>& renamed_;
  arch::HeadRows head_rows_;
  StateHeads state_heads_;
  Dialect dialect_ = Dialect::hugging_face;
  std::vector<TensorName> names_;
  std::map<Role, Tensor> ends_;  // the tensors outside all layers, as the model has them
  std::vector<Tensor> out_;
  std::vector<std::pair<Tensor, Role>> copies_;  // tensors that llama.cpp does not load, and what they must equal
  Stacks stacks_;
  LayerNumbers numbers_;
  std::vector<std::string> aside_, lost_;  // tensors that llama.cpp does not load: kept, and too large for that
  std::vector<std::string> omitted_, widened_, narrowed_;  // narrowed: from f64, without loss
  std::size_t sorted_ = 0, reordered_ = 0, shifted_ = 0, stacked_ = 0;
  float shift_ = 0;
};

}  // namespace

void adopt_tensors(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                   std::vector<Renamed>& renamed) {
  TensorAdopter(model, family, config, changes, renamed).run();
}

}  // namespace tare::gguf::llama_cpp
