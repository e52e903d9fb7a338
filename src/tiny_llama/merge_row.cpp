#include "tiny_llama/merge_row.hpp"

#include <queue>

namespace tiny_llama {
namespace {

struct Candidate {
  std::size_t rank, at;      // `at`: the position of the left symbol
  std::int32_t left, right;  // ids when it was queued; if they differ now, the candidate is stale
  // Lowest rank first; among equal ranks the leftmost.
  bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
};

class Merger {
 public:
  Merger(std::vector<Symbol>& row, const PairRanks& ranks) : row_(row), ranks_(ranks) {
    for (std::size_t i = 0; i < row_.size(); ++i) {
      row_[i].before = i == 0 ? SIZE_MAX : i - 1;
      row_[i].after = i + 1 == row_.size() ? SIZE_MAX : i + 1;
    }
    for (std::size_t i = 0; i < row_.size(); ++i) consider(i);
  }

  void run(MergeOrder order) {
    while (!queue_.empty()) {
      const std::size_t rank = queue_.top().rank;
      do {
        const Candidate best = queue_.top();
        queue_.pop();
        merge(best);
      } while (order == MergeOrder::by_round && !queue_.empty() && queue_.top().rank == rank);
      for (const std::size_t at : changed_) consider(at);
      changed_.clear();
    }
  }

 private:
  void consider(std::size_t left) {
    if (left == SIZE_MAX || row_[left].after == SIZE_MAX) return;
    const std::int32_t a = row_[left].id, b = row_[row_[left].after].id;
    if (const PairRanks::Merge* const found = ranks_.find(a, b)) queue_.push({found->rank, left, a, b});
  }

  void merge(const Candidate& best) {
    Symbol& left = row_[best.at];
    if (left.id != best.left || left.after == SIZE_MAX || row_[left.after].id != best.right) return;
    Symbol& right = row_[left.after];
    left.id = ranks_.find(best.left, best.right)->merged;
    left.after = right.after;
    right = {};
    if (left.after != SIZE_MAX) row_[left.after].before = best.at;
    changed_.push_back(left.before);
    changed_.push_back(best.at);
  }

  std::vector<Symbol>& row_;
  const PairRanks& ranks_;
  std::priority_queue<Candidate> queue_;
  std::vector<std::size_t> changed_;  // positions where new pairs may exist
};

}  // namespace

void merge_row(std::vector<Symbol>& row, const PairRanks& ranks, MergeOrder order) { Merger(row, ranks).run(order); }

}  // namespace tiny_llama
