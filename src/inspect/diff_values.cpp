// Compares the values of two tensors: first their bytes, on all cores, which decides nearly every tensor of two nearly
// equal models; then, for those that differ, their elements.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "inspect/blocks.hpp"
#include "inspect/compare.hpp"
#include "inspect/diff.hpp"
#include "model/element_size.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare::inspect {
namespace {

// Pieces of bytes to compare begin at multiples of this.
constexpr std::uint64_t kStep = 64;

struct ByteJob {
  std::size_t pair;
  const Blob* a;
  const Blob* b;
  std::uint64_t begin, end;
};

// A piece size, in units, that both blobs can be read in.
std::uint64_t common_stride(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t larger = std::max(a, b), smaller = std::min(a, b);
  return larger / std::gcd(a, b) <= 64 ? larger / std::gcd(a, b) * smaller : larger;
}

bool same_place(const Blob& a, const Blob& b) {
  return a.is_plain() && b.is_plain() && a.source() == b.source() && a.offset() == b.offset();
}

// Whether the two have the same components, so that their bytes can be compared one to one.
bool same_structure(const Tensor& a, const Tensor& b) {
  if (a.layout != b.layout || !(a.shape == b.shape) || a.components.size() != b.components.size()) return false;
  return std::all_of(a.components.begin(), a.components.end(), [&](const Component& x) {
    const Component* const y = b.component(x.role);
    return y != nullptr && x.dtype == y->dtype && x.type == y->type && x.blob.size() == y->blob.size();
  });
}

void add_byte_jobs(std::size_t number, const Pair& pair, std::vector<ByteJob>& jobs) {
  for (const Component& x : pair.a->components) {
    const Blob& a = x.blob;
    const Blob& b = pair.b->component(x.role)->blob;
    const std::uint64_t units = common_stride(units_per_piece(a, kStep), units_per_piece(b, kStep));
    const std::uint64_t stride = std::min(units, ceil_div(a.size(), kStep)) * kStep;
    for (std::uint64_t begin = 0; begin < a.size(); begin += std::min(stride, a.size() - begin))
      jobs.push_back({number, &a, &b, begin, begin + std::min(stride, a.size() - begin)});
  }
}

bool equal_bytes(const ByteJob& job) {
  if (same_place(*job.a, *job.b)) return true;
  Puller a(*job.a, job.begin), b(*job.b, job.begin);
  for (std::uint64_t at = job.begin; at < job.end;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, job.end - at));
    if (std::memcmp(a.next(count).data(), b.next(count).data(), count) != 0) return false;
    at += count;
  }
  return true;
}

// For each pair, whether its bytes differ; pairs with different structure count as different.
std::vector<std::atomic<bool>> which_bytes_differ(std::span<const Pair> pairs, unsigned threads, Progress* progress) {
  std::vector<std::atomic<bool>> differ(pairs.size());
  std::vector<ByteJob> jobs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (same_structure(*pairs[i].a, *pairs[i].b))
      add_byte_jobs(i, pairs[i], jobs);
    else
      differ[i] = true;
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const ByteJob& x, const ByteJob& y) { return x.end - x.begin > y.end - y.begin; });
  parallel_for(jobs.size(), threads, [&](std::size_t i) {
    const ByteJob& job = jobs[i];
    if (!differ[job.pair].load(std::memory_order_relaxed) && !equal_bytes(job))
      differ[job.pair].store(true, std::memory_order_relaxed);
    if (progress != nullptr) progress->advance(job.end - job.begin);
  });
  return differ;
}

// A pair of tensors decoded to elements, and the results of its blocks.
struct ElementPair {
  Pair* pair = nullptr;
  Tensor a, b;  // dense
  std::vector<Comparison> blocks;

  const Component& data_a() const { return *a.component("data"); }
  const Component& data_b() const { return *b.component("data"); }
  unsigned per_element() const { return storage_per_element(data_a().dtype, data_a().type); }
};

struct ElementJob {
  ElementPair* pair;
  std::uint64_t begin, end;  // storage elements
};

// The dense tensor; nothing if this layout or type has no numbers to compare, or too many.
std::optional<Tensor> decoded(const Tensor& tensor) {
  try {
    Tensor dense = to_dense(tensor);
    const Component* const data = dense.component("data");
    if (data == nullptr || !is_numeric(data->dtype, data->type)) return std::nullopt;
    return dense;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::limit) throw;
    return std::nullopt;
  }
}

// Nothing if the elements of the two cannot be compared.
std::optional<ElementPair> element_pair(Pair& pair) {
  if (!(pair.a->shape == pair.b->shape)) return std::nullopt;
  auto a = decoded(*pair.a), b = decoded(*pair.b);
  if (!a || !b) return std::nullopt;
  ElementPair out{&pair, std::move(*a), std::move(*b), {}};
  const std::uint64_t count = storage_elements(out.data_a());
  if (count != storage_elements(out.data_b())) return std::nullopt;  // complex and real
  if (count > kMostElements) return std::nullopt;
  out.blocks.resize(ceil_div(count, kBlockElements));
  return out;
}

void add_element_jobs(ElementPair& pair, std::vector<ElementJob>& jobs) {
  const std::uint64_t count = storage_elements(pair.data_a());
  const std::uint64_t blocks = common_stride(blocks_per_piece(pair.data_a()), blocks_per_piece(pair.data_b()));
  const std::uint64_t stride = std::min<std::uint64_t>(blocks, pair.blocks.size()) * kBlockElements;
  for (std::uint64_t begin = 0; begin < count; begin += std::min(stride, count - begin))
    jobs.push_back({&pair, begin, begin + std::min(stride, count - begin)});
}

void compare_elements(const ElementJob& job) {
  ElementPair& pair = *job.pair;
  const Component &x = pair.data_a(), &y = pair.data_b();
  const unsigned per_element = pair.per_element();
  const bool integers = x.dtype == y.dtype && x.type.empty() && y.type.empty();
  const bool exact = integers && (x.dtype == DType::i64 || x.dtype == DType::u64);
  ElementPuller a(x, job.begin), b(y, job.begin);
  RunComparer comparer(per_element);
  for (std::uint64_t at = job.begin; at < job.end;) {
    const auto run_a = a.next(), run_b = b.next();
    Comparison& block = pair.blocks[at / kBlockElements];
    if (exact)
      block.merge(comparer.compare_integers(run_a, run_b, a.raw(), b.raw(), x.dtype == DType::i64, at));
    else
      block.merge(comparer.compare(run_a, run_b, at));
    at += run_a.size();
  }
}

void settle(const ElementPair& pair) {
  Comparison all;
  for (const Comparison& block : pair.blocks) all.merge(block);
  const std::uint64_t values = storage_elements(pair.data_a());
  TensorDifference& found = pair.pair->found;
  found.compared = true;
  found.count = values / pair.per_element();
  found.different = all.different;
  found.values_differ = all.different > 0;
  found.first_difference = all.first;
  found.max_abs = all.max_abs;
  found.rms = all.rms(values);
  found.relative_rms = all.relative_rms();
  found.cosine = all.cosine();
  pair.pair->other_bits = !found.values_differ;
}

}  // namespace

std::optional<std::uint64_t> first_different_byte(const Blob& a, const Blob& b) {
  if (same_place(a, b)) return std::nullopt;
  Puller x(a, 0), y(b, 0);
  for (std::uint64_t at = 0; at < a.size();) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, a.size() - at));
    const auto part_x = x.next(count), part_y = y.next(count);
    const auto [here, there] = std::mismatch(part_x.begin(), part_x.end(), part_y.begin());
    if (here != part_x.end()) return at + static_cast<std::uint64_t>(here - part_x.begin());
    at += count;
  }
  return std::nullopt;
}

void compare_values(std::span<Pair> pairs, unsigned threads, Progress* progress) {
  const auto differ = which_bytes_differ(pairs, threads, progress);
  std::vector<ElementPair> undecided;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Pair& pair = pairs[i];
    const bool alike = same_structure(*pair.a, *pair.b);
    if (!alike && progress != nullptr) progress->advance(pair.a->bytes());
    // The attributes of a dense tensor do not change the meaning of its bytes.
    const bool same_meaning = pair.a->is_dense() || pair.a->attributes == pair.b->attributes;
    if (!differ[i] && same_meaning) {
      pair.found.compared = true;
      pair.found.count = pair.a->shape.elements().value_or(0);
    } else if (auto elements = element_pair(pair)) {
      undecided.push_back(std::move(*elements));
    } else {
      // Only the bytes are left to compare; without a common layout and shape they prove nothing.
      pair.found.values_differ =
          differ[i] && pair.a->layout == pair.b->layout && pair.a->shape == pair.b->shape && pair.found.type_a.empty();
    }
  }
  std::vector<ElementJob> jobs;
  for (ElementPair& pair : undecided) add_element_jobs(pair, jobs);
  parallel_for(jobs.size(), threads, [&](std::size_t i) {
    try {
      compare_elements(jobs[i]);
    } catch (Error& error) {
      error.about("tensor " + quote(jobs[i].pair->pair->a->name));
      throw;
    }
  });
  for (const ElementPair& pair : undecided) settle(pair);
}

void compare_bytes(std::span<Pair> pairs, unsigned threads, Progress* progress) {
  const auto differ = which_bytes_differ(pairs, threads, progress);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Pair& pair = pairs[i];
    const bool alike = same_structure(*pair.a, *pair.b);
    if (!alike && progress != nullptr) progress->advance(pair.a->bytes());
    pair.other_bits = !alike;
    if (!alike || !differ[i]) continue;
    pair.found.values_differ = true;
    for (const Component& component : pair.a->components) {
      pair.found.first_difference = first_different_byte(component.blob, pair.b->component(component.role)->blob);
      if (!pair.found.first_difference) continue;
      pair.found.component = component.role;
      break;
    }
  }
}

}  // namespace tare::inspect
