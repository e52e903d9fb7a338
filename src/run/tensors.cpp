#include "run/tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "codecs/outputs_first.hpp"
#include "model/sliced_blob.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare::run {
namespace {

using arch::Dialect;
using arch::Role;
using arch::Suffix;

constexpr std::size_t kMostMissing = 200;

std::optional<std::uint32_t> layer_of(Role role) {
  return arch::is_in_layer(role) ? std::optional<std::uint32_t>(0) : std::nullopt;
}

// Some elements of a weight as a matrix: row r and column c are element first + r * row_step + c * column_step. Or there
// are groups of such rows, `group_step` apart.
struct View {
  std::uint64_t first, rows, row_step, columns, column_step, groups = 1, group_step = 0;
};

Weight view_of(const Weight& whole, const View& view) {
  if (!whole) return {};
  charge_values(2 * kTensorPrice);
  Weight made = whole;
  const std::uint64_t rows = view.groups * view.rows;
  made.first_row = 0, made.rows = rows, made.columns = view.columns;
  made.part = fmt::format(" {}+{}", view.first, view.row_step);
  if (view.groups != 1) made.part += fmt::format(" {}x{}", view.rows, view.group_step);
  SlicePlan plan;
  plan.elements = rows * view.columns;
  plan.first = view.first;
  const SliceAxis axes[] = {{view.groups, static_cast<std::int64_t>(view.group_step)},
                            {view.rows, static_cast<std::int64_t>(view.row_step)},
                            {view.columns, static_cast<std::int64_t>(view.column_step)}};
  arrange(plan, axes);
  Component& data = made.numbers.components.front();
  data.blob = sliced_blob(data.blob, std::move(plan), sizeof(float));
  made.numbers.shape = {rows, view.columns};
  return made;
}

}  // namespace

Weight part_of(const Weight& whole, std::uint64_t first, std::uint64_t rows) {
  if (!whole) return {};
  Weight part = whole;
  part.first_row += first;
  part.rows = rows;
  return part;
}

Projection rows_of(const Projection& whole, const RowGroups& rows) {
  Projection made;
  const std::uint64_t columns = whole.weight.columns;
  if (rows.groups == 1)
    made.weight = part_of(whole.weight, rows.first, rows.count);
  else
    made.weight = view_of(whole.weight, {.first = rows.first * columns,
                                         .rows = rows.count,
                                         .row_step = columns,
                                         .columns = columns,
                                         .column_step = 1,
                                         .groups = rows.groups,
                                         .group_step = rows.step * columns});
  if (!whole.bias) return made;
  made.bias = view_of(whole.bias, {.first = rows.first,
                                   .rows = rows.count,
                                   .row_step = 1,
                                   .columns = 1,
                                   .column_step = 1,
                                   .groups = rows.groups,
                                   .group_step = rows.step});
  made.bias.columns = made.bias.rows, made.bias.rows = made.bias ? 1 : 0;
  return made;
}

Tensors::Tensors(const Model& model, const std::vector<Tensor>& stored, const arch::Family& family) : family_(family) {
  for (const Tensor& tensor : model.tensors) tensors_.emplace(tensor.name, &tensor);
  for (const Tensor& tensor : stored) stored_.emplace(tensor.name, &tensor);
  for (const Tensor& tensor : model.tensors)
    if (const auto name = arch::parse(family, Dialect::hugging_face, tensor.name);
        name && (name->role == Role::token_embedding || name->layer)) {
      root_ = name->root;
      return;
    }
}

bool Tensors::knows(Role role) const { return spelled({.role = role, .layer = layer_of(role)}).has_value(); }

bool Tensors::exists(arch::TensorName name) const {
  const auto text = spelled(name);
  return text && tensors_.contains(*text);
}

std::optional<std::string> Tensors::spelled(arch::TensorName name) const {
  name.root = root_.value_or(arch::Root::model);
  return arch::spell(family_, Dialect::hugging_face, name);
}

Weight Tensors::take(arch::TensorName name, std::vector<std::uint64_t> shape) {
  const std::string called = spelled(name).value_or("?");
  const auto found = tensors_.find(called);
  if (found != tensors_.end()) return weight_of(*found->second, called, shape);
  missing_.push_back(fmt::format("{} ({})", called, fmt::join(shape, "x")));
  // Sizes that a file states can ask for millions of tensors that it does not have.
  if (missing_.size() >= kMostMissing) require_complete();
  return {};
}

Weight Tensors::weight_of(const Tensor& tensor, const std::string& called, const std::vector<std::uint64_t>& shape) {
  charge_values(2 * kTensorPrice);  // the plan has it twice: as it is, and as numbers
  if (!std::ranges::equal(tensor.shape, shape)) {
    misshapen_.push_back(fmt::format("{}: expected {}, found {}", called, fmt::join(shape, "x"), tensor.shape.text()));
    return {};
  }
  Weight weight{.tensor = tensor, .numbers = cast(to_dense(tensor), DType::f32, Overflow::infinity)};
  weight.columns = shape.back();
  weight.rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) weight.rows *= shape[i];
  return weight;
}

Weight Tensors::take_vector(arch::TensorName name, std::uint64_t size) {
  const auto text = spelled(name);
  const auto found = text ? tensors_.find(*text) : tensors_.end();
  if (found == tensors_.end() || found->second->shape.elements() != size) return take(name, {size});
  Weight weight = weight_of(*found->second, *text, {found->second->shape.begin(), found->second->shape.end()});
  weight.columns = size, weight.rows = 1;
  return weight;
}

Weight Tensors::take_norm(Role role, std::optional<std::uint32_t> layer, std::uint64_t size) {
  if (!knows(role)) return {};
  Weight weight = take({.role = role, .layer = layer}, {size});
  if (const arch::Step* const step = arch::find_step(family_, role, arch::Verb::add))
    weight.added = static_cast<float>(step->number);
  return weight;
}

Weight Tensors::take_bias(Role role, std::optional<std::uint32_t> layer, std::uint64_t size) {
  return take({.role = role, .layer = layer, .suffix = Suffix::bias}, {size});
}

Projection Tensors::take_projection(arch::TensorName name, std::uint64_t rows, std::uint64_t columns, bool biased) {
  Projection made;
  if (is_turned(name.role))
    made.weight = view_of(take(name, {columns, rows}), {0, rows, 1, columns, rows});
  else
    made.weight = take(name, {rows, columns});
  name.suffix = Suffix::bias;
  if (biased) made.bias = take(name, {rows});
  return made;
}

void Tensors::require_complete() const {
  if (missing_.empty() && misshapen_.empty()) return;
  const auto list = [](std::string_view what, const std::vector<std::string>& names) {
    return names.empty() ? std::string() : fmt::format("{}: {}", what, listed_names(names, 24));
  };
  throw Error(ErrorKind::corrupt, "run.tensors",
              fmt::format("{}{}{}", list("missing", missing_), missing_.empty() || misshapen_.empty() ? "" : "; ",
                          list("of another shape", misshapen_)))
      .blame(Subject::input);
}

// ---- experts ----

std::vector<FeedForward> Tensors::take_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                               std::uint64_t hidden) {
  if (is_turned(Role::stacked_down) && stored(Role::stacked_gate, layer) != nullptr)
    return take_stored_experts(layer, count, rows, hidden);
  if (is_turned(Role::stacked_down) || exists({.role = Role::stacked_gate_up, .layer = layer}))
    return take_joined_experts(layer, count, rows, hidden);
  std::vector<FeedForward> experts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto take = [&](Role role, std::uint64_t out, std::uint64_t in) {
      return take_projection({.role = role, .layer = layer, .expert = i}, out, in, false);
    };
    experts.push_back({.gate = take(Role::expert_gate, rows, hidden),
                       .up = take(Role::expert_up, rows, hidden),
                       .down = take(Role::expert_down, hidden, rows)});
  }
  return experts;
}

bool Tensors::has_step(Role role, arch::Verb verb) const {
  const arch::Pattern* const row = arch::find_row(family_, Dialect::hugging_face, {.role = role, .layer = 0});
  return row != nullptr && std::ranges::find(row->steps, verb, &arch::Step::verb) != row->steps.end();
}

// A directory has the matrices as [inputs][outputs].
bool Tensors::is_turned(Role role) const { return has_step(role, arch::Verb::transpose); }

const Tensor* Tensors::stored(Role role, std::uint32_t layer) const {
  for (const Dialect dialect : arch::kDialects)
    if (const auto name = arch::spell(family_, dialect, {.role = role, .layer = layer}))
      if (const auto found = stored_.find(*name); found != stored_.end()) return found->second;
  return nullptr;
}

Weight Tensors::take_stored(Role role, Role whole, std::uint32_t layer, std::vector<std::uint64_t> shape) {
  const std::string called = spelled({.role = whole, .layer = layer}).value_or("?");
  const Tensor* const tensor = stored(role, layer);
  if (tensor == nullptr) {
    missing_.push_back(fmt::format("{} ({})", called, fmt::join(shape, "x")));
    return {};
  }
  Weight weight = weight_of(*tensor, called, shape);
  weight.stored_name = tensor->name;
  weight.tensor.name = called;
  return weight;
}

std::vector<FeedForward> Tensors::take_stored_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                                      std::uint64_t hidden) {
  const auto take = [&](Role role, Role whole, Role bias, Role whole_bias, std::uint64_t out, std::uint64_t in) {
    Projection all{.weight = take_stored(role, whole, layer, {count, out, in}), .bias = {}};
    if (knows(whole_bias)) all.bias = take_stored(bias, whole_bias, layer, {count, out});
    return all;
  };
  const Projection gate = take(Role::stacked_gate, Role::stacked_gate_up, Role::stacked_gate_bias,
                               Role::stacked_gate_up_bias, rows, hidden),
                   up = take(Role::stacked_up, Role::stacked_gate_up, Role::stacked_up_bias, Role::stacked_gate_up_bias,
                             rows, hidden),
                   down = take(Role::stacked_down, Role::stacked_down, Role::stacked_down_bias, Role::stacked_down_bias,
                               hidden, rows);
  std::vector<FeedForward> experts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto one = [&](const Projection& all, std::uint64_t out) {
      return Projection{part_of(all.weight, i * out, out), part_of(all.bias, i, 1)};
    };
    experts.push_back({one(gate, rows), one(up, rows), one(down, hidden)});
  }
  return experts;
}

std::vector<FeedForward> Tensors::take_joined_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                                      std::uint64_t hidden) {
  const arch::Step* const deals = arch::find_step(family_, Role::stacked_gate_up, arch::Verb::deal_rows);
  const Pair pair{.rows = rows, .dealt = deals != nullptr};
  bool turned = false;
  const auto take = [&](Role role, std::uint64_t out, std::uint64_t in) {
    turned = is_turned(role);
    const std::string called = spelled({.role = role, .layer = layer}).value_or("?");
    if (const auto found = tensors_.find(called); turned && found != tensors_.end())
      if (const auto tensor = codec::outputs_first(*found->second)) {
        turned = false;
        return weight_of(*tensor, called, {count, out, in});
      }
    return turned ? this->take({.role = role, .layer = layer}, {count, in, out})
                  : this->take({.role = role, .layer = layer}, {count, out, in});
  };
  const auto take_bias = [&](Role role, std::uint64_t out) {
    return knows(role) ? this->take({.role = role, .layer = layer}, {count, out}) : Weight();
  };
  const Weight both = take(Role::stacked_gate_up, 2 * rows, hidden);
  const bool both_turned = turned;
  const Weight down = take(Role::stacked_down, hidden, rows);
  const bool down_turned = turned;
  const Weight both_bias = take_bias(Role::stacked_gate_up_bias, 2 * rows),
               down_bias = take_bias(Role::stacked_down_bias, hidden);
  std::vector<FeedForward> experts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto half = [&](std::uint64_t which) {
      const std::uint64_t first = pair.row(which, 0), whole = 2 * rows;
      Projection made;
      if (both_turned)
        made.weight = view_of(both, {i * whole * hidden + first, rows, pair.step(), hidden, whole});
      else if (pair.dealt)
        made.weight = view_of(both, {(i * whole + first) * hidden, rows, 2 * hidden, hidden, 1});
      else
        made.weight = part_of(both, i * whole + first, rows);
      made.bias = view_of(both_bias, {i * whole + first, 1, whole, rows, pair.step()});
      return made;
    };
    Projection out;
    out.weight =
        down_turned ? view_of(down, {i * hidden * rows, hidden, 1, rows, hidden}) : part_of(down, i * hidden, hidden);
    out.bias = part_of(down_bias, i, 1);
    experts.push_back({half(0), half(1), std::move(out)});
  }
  return experts;
}

}  // namespace tare::run
