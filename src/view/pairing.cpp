#include "view/pairing.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "base/forever.hpp"

namespace tare::view {
namespace {

// A model with names in one convention, and the original index of each tensor. If nothing was renamed, the tensors are
// not copied: with very many tensors, copies would take most of the memory.
struct Released {
  std::shared_ptr<const void> own;  // keeps the tensors alive
  const std::vector<Tensor>* tensors = nullptr;
  std::vector<std::int64_t> origin;
};

Released as_it_is(const std::shared_ptr<const OpenModel>& shown) {
  Released released;
  released.own = shown;
  released.tensors = &shown->model().tensors;
  released.origin.resize(released.tensors->size());
  std::iota(released.origin.begin(), released.origin.end(), std::int64_t{0});
  return released;
}

Released released_from(const std::shared_ptr<const OpenModel>& open_model) {
  const Model& shown = open_model->model();
  const Format* const format = find_format(shown.format);
  if (format == nullptr || format->release == nullptr) return as_it_is(open_model);
  const auto model = std::make_shared<Model>(shown);
  std::vector<Change> changes;
  std::vector<Renamed> renamed;
  try {
    format->release(*model, changes, renamed);
  } catch (const Error&) {
    return as_it_is(open_model);  // unknown kind of model: keep the names
  }
  std::unordered_map<std::string_view, std::int64_t> before, after;
  for (std::size_t i = 0; i < shown.tensors.size(); ++i)
    before.emplace(shown.tensors[i].name, static_cast<std::int64_t>(i));
  for (const Renamed& entry : renamed)
    if (const auto found = before.find(entry.before); found != before.end()) after.emplace(entry.after, found->second);
  Released released{model, &model->tensors, {}};
  for (const Tensor& tensor : model->tensors) {
    const auto found = after.find(tensor.name), same = before.find(tensor.name);
    released.origin.push_back(found != after.end() ? found->second : same != before.end() ? same->second : -1);
  }
  return released;
}

Pairing join(const Released& a, const Released& b, std::size_t count_a, std::size_t count_b) {
  Pairing pairing;
  pairing.of_a.assign(count_a, -1);
  pairing.of_b.assign(count_b, -1);
  pairing.owners = {a.own, b.own};
  const std::vector<Tensor>&left = *a.tensors, &right = *b.tensors;
  std::unordered_map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < right.size(); ++i) names.emplace(right[i].name, i);
  std::vector<bool> used(right.size());
  pairing.pairs.reserve(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < left.size(); ++i) {
    Pair pair;
    pair.a = a.origin[i];
    pair.of_first = &left[i];
    if (const auto found = names.find(left[i].name); found != names.end() && !used[found->second]) {
      pair.b = b.origin[found->second];
      pair.of_second = &right[found->second];
      used[found->second] = true;
    }
    const auto place = static_cast<std::int64_t>(pairing.pairs.size());
    if (pair.a >= 0) pairing.of_a[static_cast<std::size_t>(pair.a)] = place;
    if (pair.b >= 0) pairing.of_b[static_cast<std::size_t>(pair.b)] = place;
    pairing.pairs.push_back(std::move(pair));
  }
  for (std::size_t i = 0; i < right.size(); ++i)
    if (!used[i]) pairing.pairs.push_back({.b = b.origin[i], .of_second = &right[i]});
  return pairing;
}

// How many names both have.
std::size_t matched(const Released& a, const Released& b) {
  std::unordered_set<std::string_view> names;
  for (const Tensor& tensor : *b.tensors) names.insert(tensor.name);
  std::size_t count = 0;
  for (const Tensor& tensor : *a.tensors) count += names.erase(tensor.name);
  return count;
}

}  // namespace

const Tensor& Pair::nothing() {
  static Forever<Tensor> none;
  return *none;
}

Pairing pair_up(const std::shared_ptr<const OpenModel>& a, const std::shared_ptr<const OpenModel>& b) {
  const std::size_t count_a = a->items().size(), count_b = b->items().size();
  const Released plain_a = as_it_is(a), plain_b = as_it_is(b);
  const std::size_t plain = matched(plain_a, plain_b);
  if (2 * plain < std::min(count_a, count_b)) {
    const Released released_a = released_from(a), released_b = released_from(b);
    if (matched(released_a, released_b) > plain) {
      Pairing renamed = join(released_a, released_b, count_a, count_b);
      renamed.renamed = true;
      return renamed;
    }
  }
  return join(plain_a, plain_b, count_a, count_b);
}

}  // namespace tare::view
