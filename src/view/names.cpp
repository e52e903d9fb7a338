#include "view/names.hpp"

#include <algorithm>

namespace tare::view {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view name_at(const OpenModel& model, std::size_t place) {
  return model.model().tensors[model.by_name()[place]].name;
}

// The next part of `name` from `skip` on, including its dot.
std::string_view part_after(std::string_view name, std::size_t skip) {
  const std::size_t dot = name.find('.', skip);
  return dot == std::string_view::npos || dot + 1 == name.size() ? name.substr(skip)
                                                                 : name.substr(skip, dot + 1 - skip);
}

}  // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t m = i, n = j;
      while (m < a.size() && is_digit(a[m])) ++m;
      while (n < b.size() && is_digit(b[n])) ++n;
      std::string_view x = a.substr(i, m - i), y = b.substr(j, n - j);
      while (x.size() > 1 && x.front() == '0') x.remove_prefix(1);
      while (y.size() > 1 && y.front() == '0') y.remove_prefix(1);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = m, j = n;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

std::pair<std::size_t, std::size_t> run_of(const OpenModel& model, std::string_view prefix) {
  const auto& order = model.by_name();
  const auto& all = model.model().tensors;
  const auto low = std::lower_bound(
      order.begin(), order.end(), prefix,
      [&](std::uint32_t tensor, std::string_view text) { return std::string_view(all[tensor].name) < text; });
  const auto high = std::partition_point(
      low, order.end(), [&](std::uint32_t tensor) { return std::string_view(all[tensor].name).starts_with(prefix); });
  return {static_cast<std::size_t>(low - order.begin()), static_cast<std::size_t>(high - order.begin())};
}

std::vector<Branch> branches(const OpenModel& model, std::string_view prefix, std::size_t begin, std::size_t end) {
  std::vector<Branch> found;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view name = name_at(model, i), part = part_after(name, prefix.size());
    const Item& item = model.items()[model.by_name()[i]];
    // "a" and "a.b" are separate branches: "a" is a tensor, and "a.b" is below "a.".
    if (found.empty() || found.back().label != part || !part.ends_with('.')) {
      Branch branch;
      branch.prefix = std::string(prefix) + std::string(part);
      branch.label = std::string(part);
      branch.begin = i;
      branch.leaf = branch.prefix.size() == name.size();
      branch.type = item.type;
      found.push_back(std::move(branch));
    }
    Branch& branch = found.back();
    branch.end = i + 1;
    branch.elements += item.elements;
    branch.bytes += item.stored;
    if (branch.type != static_cast<std::int64_t>(item.type)) branch.type = -1;
  }
  for (Branch& branch : found) {
    // Extend the prefix by whole parts that all names below share. Comparing the first and last name is enough, because
    // they are sorted.
    if (branch.leaf) continue;
    const std::string_view first = name_at(model, branch.begin), last = name_at(model, branch.end - 1);
    for (;;) {
      const std::string_view part = part_after(first, branch.prefix.size());
      if (part.empty() || part_after(last, branch.prefix.size()) != part) break;
      branch.prefix += part;
      branch.label += part;
      if (branch.prefix.size() == first.size()) break;
    }
    branch.leaf = branch.end - branch.begin == 1 && branch.prefix.size() == first.size();
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Branch& a, const Branch& b) { return naturally_less(a.label, b.label); });
  return found;
}

}  // namespace tare::view
