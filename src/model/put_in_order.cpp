#include "model/put_in_order.hpp"

#include <algorithm>
#include <cstddef>

namespace tare {

// Follows each cycle of the permutation: a second array would cost more in page faults than the moves. Lists are sorted
// by name and blobs rarely are, so the next tensor is far away: prefetch it.
void put_in_order(std::vector<Tensor>& tensors, std::vector<std::uint32_t> order) {
  if (std::ranges::is_sorted(order)) return;
  constexpr std::size_t kPrefetched = 6, kLine = 64;
  const auto prefetch = [&](std::uint32_t i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&tensors[i]);
    for (std::size_t line = 0; line < sizeof(Tensor); line += kLine) __builtin_prefetch(bytes + line, 1);
  };
  for (std::uint32_t start = 0; start < order.size(); ++start) {
    if (order[start] == start) continue;
    std::uint32_t ahead = start;
    for (std::size_t i = 0; i < kPrefetched; ++i) prefetch(ahead = order[ahead]);
    Tensor first = std::move(tensors[start]);
    std::uint32_t to = start;
    for (std::uint32_t from = order[to]; from != start; from = order[to]) {
      tensors[to] = std::move(tensors[from]);
      order[to] = to;
      to = from;
      prefetch(ahead = order[ahead]);
    }
    tensors[to] = std::move(first);
    order[to] = to;
  }
}

}  // namespace tare
