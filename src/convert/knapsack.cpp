// Tries two ways and takes the better result.
//
// Steps: on the lower convex hull of a list, every step up costs bytes and saves error at a falling rate. The steps of
// all lists are taken in order of their rates as long as they fit. This is optimal except for the bytes left over at
// the end.
//
// Frontier: the set of sums of the first n lists that no other sum beats in both bytes and error, extended by one list
// after another. Exact as long as all sums are kept; if there are too many, the best of each of many equal ranges of
// bytes is kept.
//
// Neither suffices: mean (and worst) error above that of the other way, in budgets for random lists like those of
// models (seven choices per matrix, three shapes and one large table, variances over two orders of magnitude). The
// tests FewListsGetTheBestChoice and ManyListsAreNearTheBound fail without the frontier and without the steps.
//
//   lists     8               40              200             800       4000
//   steps     6.4 % (76 %)    0.7 % (4.4 %)   0.2 % (1.7 %)   best      best
//   frontier  best            best            0.0 % (0.1 %)   5 % (7 %) 13 times
#include "convert/knapsack.hpp"

#include <algorithm>

namespace tare::recipe {
namespace {

using Lists = std::span<const std::vector<Price>>;
using Choice = std::vector<std::size_t>;

// ---- steps

double rate(const Price& from, const Price& to) {
  return (from.error - to.error) / static_cast<double>(to.bytes - from.bytes);
}

// Indices of the prices on the lower convex hull.
Choice hull_of(const std::vector<Price>& prices) {
  Choice hull;
  for (std::size_t next = 0; next < prices.size(); ++next) {
    while (hull.size() >= 2 &&
           rate(prices[hull.back()], prices[next]) >= rate(prices[hull[hull.size() - 2]], prices[hull.back()]))
      hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

struct Step {
  std::size_t list, from, to;
  double rate;
};

// `spent`: bytes of the first price of each list.
Choice by_steps(Lists lists, std::uint64_t spent, std::uint64_t budget) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Choice hull = hull_of(lists[i]);
    for (std::size_t h = 1; h < hull.size(); ++h)
      steps.push_back({i, hull[h - 1], hull[h], rate(lists[i][hull[h - 1]], lists[i][hull[h]])});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.rate > b.rate; });
  Choice reached(lists.size(), 0);
  for (const Step& step : steps) {
    if (reached[step.list] != step.from) continue;  // an earlier step of this list did not fit
    const std::uint64_t more = lists[step.list][step.to].bytes - lists[step.list][step.from].bytes;
    if (more > budget - spent) continue;
    spent += more;
    reached[step.list] = step.to;
  }
  return reached;
}

// ---- frontier

struct Sum {
  Price price;
  std::uint32_t before;  // index of the sum it extends, in the frontier before this list
  std::uint32_t choice;
};

// Sorts, and removes sums that cost more without less error.
void prune(std::vector<Sum>& sums) {
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    if (a.price.bytes != b.price.bytes) return a.price.bytes < b.price.bytes;
    if (a.price.error != b.price.error) return a.price.error < b.price.error;
    return a.before != b.before ? a.before < b.before : a.choice < b.choice;
  });
  std::size_t kept = 0;
  for (const Sum& sum : sums)
    if (kept == 0 || sum.price.error < sums[kept - 1].price.error) sums[kept++] = sum;
  sums.resize(kept);
}

// Keeps the first sum and at most `most` others: the last of every range of bytes, which has the least error.
void thin(std::vector<Sum>& sums, std::size_t most) {
  if (sums.size() <= most) return;
  const std::uint64_t first = sums.front().price.bytes, width = (sums.back().price.bytes - first) / most + 1;
  const auto range_of = [&](std::size_t i) { return (sums[i].price.bytes - first) / width; };
  std::size_t kept = 1;
  for (std::size_t i = 1; i < sums.size(); ++i)
    if (i + 1 == sums.size() || range_of(i) != range_of(i + 1)) sums[kept++] = sums[i];
  sums.resize(kept);
}

// `rest`: bytes of the first price of each list, the least that the lists still to come need.
Choice by_frontier(Lists lists, std::uint64_t rest, std::uint64_t budget) {
  // Every frontier is kept to trace the choices back: 16 MiB of indices for all lists together, and at least two sums
  // of each. With many lists, steps are nearly optimal, and the frontier need not be wide.
  const std::size_t most = std::clamp<std::size_t>((std::size_t{1} << 21) / lists.size(), 2, std::size_t{1} << 15);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> ways;
  std::vector<Sum> frontier = {{}}, next;
  for (const std::vector<Price>& list : lists) {
    rest -= list.front().bytes;
    next.clear();
    for (std::uint32_t before = 0; before < frontier.size(); ++before)
      for (std::uint32_t choice = 0; choice < list.size(); ++choice) {
        const Price& so_far = frontier[before].price;
        if (list[choice].bytes > budget - rest - so_far.bytes) break;
        next.push_back({{so_far.bytes + list[choice].bytes, so_far.error + list[choice].error}, before, choice});
      }
    prune(next);
    thin(next, most);
    std::swap(frontier, next);
    auto& way = ways.emplace_back();
    way.reserve(frontier.size());
    for (const Sum& sum : frontier) way.emplace_back(sum.before, sum.choice);
  }
  Choice chosen(lists.size());
  std::size_t at = frontier.size() - 1;
  for (std::size_t i = lists.size(); i-- > 0;) {
    chosen[i] = ways[i][at].second;
    at = ways[i][at].first;
  }
  return chosen;
}

double error_of(Lists lists, const Choice& choice) {
  double sum = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) sum += lists[i][choice[i]].error;
  return sum;
}

}  // namespace

Choice worth_paying(std::span<const Price> prices) {
  Choice kept;
  for (std::size_t i = 0; i < prices.size(); ++i)
    if (kept.empty() || prices[i].error < prices[kept.back()].error) kept.push_back(i);
  return kept;
}

std::optional<Choice> least_error(Lists lists, std::uint64_t budget) {
  std::uint64_t least = 0;
  for (const std::vector<Price>& list : lists) least += list.front().bytes;
  if (least > budget) return std::nullopt;
  if (lists.empty()) return Choice();
  Choice steps = by_steps(lists, least, budget), frontier = by_frontier(lists, least, budget);
  return error_of(lists, frontier) < error_of(lists, steps) ? frontier : steps;
}

}  // namespace tare::recipe
