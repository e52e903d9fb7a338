// Finds tensors with the same stored bytes: compares sizes first, then digests, then the bytes themselves.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/parallel.hpp"
#include "formats/mcf/mcf.hpp"

namespace tare::mcf {
namespace {

constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;

const Blob& payload(const Tensor& tensor) { return tensor.components.front().blob; }

bool same_place(const Blob& a, const Blob& b) {
  return a.is_plain() && b.is_plain() && a.source() != nullptr && a.source() == b.source() && a.offset() == b.offset();
}

Digest digest_of_blob(const Blob& blob) {
  Hasher hasher(DigestAlgorithm::xxh3_128);
  Bytes buffer(static_cast<std::size_t>(std::min(kChunk, blob.size())));
  const auto reader = blob.open();
  for (std::uint64_t left = blob.size(); left > 0;) {
    const auto part = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left)));
    reader->read(part);
    hasher.update(part);
    left -= part.size();
  }
  return hasher.finish();
}

bool same_bytes(const Blob& a, const Blob& b) {
  Bytes mine(static_cast<std::size_t>(std::min(kChunk, a.size()))), other(mine.size());
  const auto left = a.open(), right = b.open();
  for (std::uint64_t rest = a.size(); rest > 0;) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(mine.size(), rest));
    left->read(std::span(mine).first(length));
    right->read(std::span(other).first(length));
    if (!std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(length), other.begin())) return false;
    rest -= length;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> find_equal_payloads(std::span<const Tensor> tensors, unsigned threads) {
  std::vector<std::size_t> first(tensors.size());
  std::iota(first.begin(), first.end(), std::size_t{0});

  // Only payloads of equal size need to be read.
  std::map<std::uint64_t, std::vector<std::size_t>> by_size;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (payload(tensors[i]).size() > 0) by_size[payload(tensors[i]).size()].push_back(i);
  std::vector<std::size_t> candidates;
  for (const auto& [size, members] : by_size)
    if (members.size() > 1) candidates.insert(candidates.end(), members.begin(), members.end());
  std::vector<Digest> digests(candidates.size());
  parallel_for(candidates.size(), threads,
               [&](std::size_t c) { digests[c] = digest_of_blob(payload(tensors[candidates[c]])); });

  std::map<std::pair<std::uint64_t, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    groups[{payload(tensors[candidates[c]]).size(), digests[c].hex()}].push_back(candidates[c]);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // the first of a group, and another member
  for (const auto& [key, members] : groups)
    for (std::size_t i = 1; i < members.size(); ++i) pairs.emplace_back(members[0], members[i]);
  parallel_for(pairs.size(), threads, [&](std::size_t p) {
    const auto [a, b] = pairs[p];
    const Blob &left = payload(tensors[a]), &right = payload(tensors[b]);
    if (same_place(left, right) || same_bytes(left, right)) first[b] = a;
  });
  return first;
}

}  // namespace tare::mcf
