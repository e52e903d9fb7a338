#include "view/pairing.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/forever.hpp"
#include "base/name_map.hpp"
#include "convert/directory_form.hpp"

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

Released released_from(const std::shared_ptr<const OpenModel>& open_model, const Model& other) {
  const Model& shown = open_model->model();
  const auto model = std::make_shared<Model>(shown);
  const std::vector<Renamed> renamed = use_usual_names(*model, other);
  if (renamed.empty()) return as_it_is(open_model);
  NameViewMap<std::int64_t> before, after;
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
  NameViewMap<std::size_t> names;
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

std::size_t pairs_of_two(const Pairing& pairing) {
  return static_cast<std::size_t>(
      std::ranges::count_if(pairing.pairs, [](const Pair& pair) { return pair.in_a() && pair.in_b(); }));
}

}  // namespace

const Tensor& Pair::nothing() {
  static Forever<Tensor> none;
  return *none;
}

Pairing pair_up(const std::shared_ptr<const OpenModel>& a, const std::shared_ptr<const OpenModel>& b) {
  const std::size_t count_a = a->items().size(), count_b = b->items().size();
  if (names_differ(a->model(), b->model())) {
    const Released released_a = released_from(a, b->model()), released_b = released_from(b, a->model());
    Pairing renamed = join(released_a, released_b, count_a, count_b);
    if (pairs_of_two(renamed) > common_names(a->model(), b->model())) {
      renamed.renamed = true;
      return renamed;
    }
  }
  const Released plain_a = as_it_is(a), plain_b = as_it_is(b);
  return join(plain_a, plain_b, count_a, count_b);
}

}  // namespace tare::view
