// Sorts lists that consist of a few ascending runs, such as names sorted by length first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tare {

// Merges neighbouring runs until one is left: n log(runs) comparisons, n if the list is already sorted. Stable.
template <typename T, typename Before>
void merge_runs(std::span<T> items, const Before& before) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < items.size(); ++i)
    if (before(items[i], items[i - 1])) ends.push_back(i);
  if (ends.empty()) return;
  ends.push_back(items.size());
  std::vector<T> room(items.size());
  std::span<T> from = items, to = room;
  while (ends.size() > 1) {
    std::size_t begin = 0, kept = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t middle = ends[i], end = ends[std::min(i + 1, ends.size() - 1)];
      std::ranges::merge(from.subspan(begin, middle - begin), from.subspan(middle, end - middle),
                         to.subspan(begin).begin(), before);
      ends[kept++] = begin = end;
    }
    ends.resize(kept);
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::ranges::copy(from, items.begin());
}

}  // namespace tare
