#include "view/pairing.hpp"

#include <unordered_map>

namespace tare::view {
namespace {

// A model by the names of one convention, and which tensor each was.
struct Released {
  Model model;
  std::vector<std::int64_t> origin;
};

Released as_it_is(const Exhibit& shown) {
  Released released;
  released.model.tensors = shown.model().tensors;
  for (std::size_t i = 0; i < released.model.tensors.size(); ++i)
    released.origin.push_back(static_cast<std::int64_t>(i));
  return released;
}

Released released_from(const Exhibit& shown) {
  const Format* const format = find_format(shown.model().format);
  if (format == nullptr || format->release == nullptr) return as_it_is(shown);
  Released released;
  released.model = shown.model();
  std::vector<Change> changes;
  std::vector<Renamed> renamed;
  try {
    format->release(released.model, changes, renamed);
  } catch (const Error&) {
    return as_it_is(shown);  // of an unknown kind: names as they are
  }
  std::unordered_map<std::string_view, std::int64_t> before, after;
  for (std::size_t i = 0; i < shown.model().tensors.size(); ++i)
    before.emplace(shown.model().tensors[i].name, static_cast<std::int64_t>(i));
  for (const Renamed& entry : renamed)
    if (const auto found = before.find(entry.before); found != before.end()) after.emplace(entry.after, found->second);
  for (const Tensor& tensor : released.model.tensors) {
    const auto found = after.find(tensor.name), same = before.find(tensor.name);
    released.origin.push_back(found != after.end() ? found->second : same != before.end() ? same->second : -1);
  }
  return released;
}

Pairing join(const Released& a, const Released& b, std::size_t count_a, std::size_t count_b) {
  Pairing pairing;
  pairing.of_a.assign(count_a, -1);
  pairing.of_b.assign(count_b, -1);
  std::unordered_map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < b.model.tensors.size(); ++i) names.emplace(b.model.tensors[i].name, i);
  std::vector<bool> used(b.model.tensors.size());
  for (std::size_t i = 0; i < a.model.tensors.size(); ++i) {
    Pair pair;
    pair.a = a.origin[i];
    pair.tensor_a = a.model.tensors[i];
    pair.in_a = true;
    if (const auto found = names.find(a.model.tensors[i].name); found != names.end() && !used[found->second]) {
      pair.b = b.origin[found->second];
      pair.tensor_b = b.model.tensors[found->second];
      pair.in_b = true;
      used[found->second] = true;
    }
    const auto place = static_cast<std::int64_t>(pairing.pairs.size());
    if (pair.a >= 0) pairing.of_a[static_cast<std::size_t>(pair.a)] = place;
    if (pair.b >= 0) pairing.of_b[static_cast<std::size_t>(pair.b)] = place;
    pairing.pairs.push_back(std::move(pair));
  }
  for (std::size_t i = 0; i < b.model.tensors.size(); ++i)
    if (!used[i]) pairing.pairs.push_back({-1, b.origin[i], {}, b.model.tensors[i], false, true});
  return pairing;
}

std::size_t matched(const Pairing& pairing) {
  std::size_t count = 0;
  for (const Pair& pair : pairing.pairs) count += pair.in_a && pair.in_b;
  return count;
}

}  // namespace

Pairing pair_up(const Exhibit& a, const Exhibit& b) {
  Pairing plain = join(as_it_is(a), as_it_is(b), a.items().size(), b.items().size());
  if (2 * matched(plain) >= std::min(a.items().size(), b.items().size())) return plain;
  Pairing renamed = join(released_from(a), released_from(b), a.items().size(), b.items().size());
  if (matched(renamed) <= matched(plain)) return plain;
  renamed.renamed = true;
  return renamed;
}

}  // namespace tare::view
