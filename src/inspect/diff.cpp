// diff: pairs tensors by name, compares their descriptions, then their values.
#include "inspect/diff.hpp"

#include <algorithm>
#include <string_view>

#include "base/stopping.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

using inspect::Pair;

std::vector<const Tensor*> by_name(const Model& model) {
  std::vector<const Tensor*> tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  std::stable_sort(tensors.begin(), tensors.end(), [](auto* x, auto* y) { return x->name < y->name; });
  return tensors;
}

TensorDifference only_in(const Tensor& tensor, Side where) {
  TensorDifference difference;
  difference.name = tensor.name;
  difference.only_in = where;
  return difference;
}

void note_if_different(std::string a, std::string b, std::string& out_a, std::string& out_b) {
  if (a == b) return;
  out_a = std::move(a);
  out_b = std::move(b);
}

Pair paired(const Tensor& a, const Tensor& b) {
  Pair pair{&a, &b, {}};
  TensorDifference& found = pair.found;
  found.name = a.name;
  note_if_different(a.shape.text(), b.shape.text(), found.shape_a, found.shape_b);
  note_if_different(dtype_name(a), dtype_name(b), found.type_a, found.type_b);
  note_if_different(a.layout, b.layout, found.layout_a, found.layout_b);
  return pair;
}

bool differs(const Pair& pair) {
  const TensorDifference& found = pair.found;
  return !found.shape_a.empty() || !found.type_a.empty() || !found.layout_a.empty() || found.values_differ ||
         pair.other_bits;
}

using Compare = void (*)(std::span<Pair> pairs, unsigned threads, Progress* progress);

Difference compared(const Model& a, const Model& b, const Work& work, Compare compare) {
  const StopScope stop(work);
  a.refuse_broken();
  b.refuse_broken();
  Difference result;
  std::vector<Pair> pairs;
  const auto in_a = by_name(a), in_b = by_name(b);
  for (auto x = in_a.begin(), y = in_b.begin(); x != in_a.end() || y != in_b.end();) {
    const int order = x == in_a.end() ? 1 : y == in_b.end() ? -1 : (*x)->name.compare((*y)->name);
    if (order < 0) {
      result.tensors.push_back(only_in(**x, Side::a));
      if (work.progress != nullptr) work.progress->advance((*x)->bytes());
    } else if (order > 0) {
      result.tensors.push_back(only_in(**y, Side::b));
    } else {
      pairs.push_back(paired(**x, **y));
    }
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  compare(pairs, work.threads, work.progress);
  a.check_sources();
  b.check_sources();
  result.compared = pairs.size();
  result.metadata = inspect::metadata_differences(a, b, pairs);
  for (Pair& pair : pairs)
    if (differs(pair)) result.tensors.push_back(std::move(pair.found));
  std::stable_sort(result.tensors.begin(), result.tensors.end(),
                   [](const TensorDifference& x, const TensorDifference& y) { return x.name < y.name; });
  return result;
}

}  // namespace

Difference diff(const Model& a, const Model& b, const Work& work) {
  return compared(a, b, work, inspect::compare_values);
}

Difference diff_bytes(const Model& a, const Model& b, const Work& work) {
  return compared(a, b, work, inspect::compare_bytes);
}

}  // namespace tare
