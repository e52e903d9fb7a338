#include "tiny_llama/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/usual_names.hpp"
#include "base/endian.hpp"
#include "base/huge_pages.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/splitmix64.hpp"

namespace tiny_llama {
namespace {

constexpr std::align_val_t kHugePage{std::size_t{2} << 20};
constexpr std::size_t kLine = 16;  // floats per cache line; each weight begins at a multiple

// Nearly normal: the centred sum of four uniform 16-bit numbers. Integers and one product, so every machine gets the
// same bits.
float random_weight(std::uint64_t key, std::uint64_t index) {
  constexpr float kDeviation = 0.02f;
  constexpr float kScale = kDeviation / 37837.227f;  // divides by the deviation of the sum: 65536 / sqrt(3)
  const std::uint64_t bits = tare::SplitMix64::mixed(key + (index + 1) * tare::SplitMix64::kStep);
  const auto part = [&](int i) { return static_cast<std::int32_t>(bits >> (16 * i) & 0xFFFF); };
  return static_cast<float>(part(0) + part(1) + part(2) + part(3) - 2 * 0xFFFF) * kScale;
}

bool is_norm_weight(std::string_view name) { return tare::arch::is_norm(name) && name.ends_with(".weight"); }

}  // namespace

FloatBlock::FloatBlock(std::size_t count)
    : data_(static_cast<float*>(::operator new(count * sizeof(float), kHugePage))), size_(count) {
  tare::prefer_huge_pages(data_.get(), count * sizeof(float));
}

void FloatBlock::Free::operator()(float* block) const { ::operator delete(block, kHugePage); }

tare::tllm::Header header_of(const ModelConfig& config) {
  return {.dim = config.model_dim,
          .layers = config.num_layers,
          .heads = config.num_heads,
          .ffn = config.ffn_hidden_dim,
          .positions = config.max_seq_length,
          .vocab = config.vocab_size,
          .dropout = config.dropout_rate};
}

ModelConfig config_of(const tare::tllm::Header& header) {
  return {.model_dim = header.dim,
          .num_layers = header.layers,
          .num_heads = header.heads,
          .ffn_hidden_dim = header.ffn,
          .max_seq_length = header.positions,
          .vocab_size = header.vocab,
          .dropout_rate = header.dropout};
}

Weights::Weights(const ModelConfig& config) : config_(config) {
  const tare::tllm::Header header = header_of(config);
  for (const auto& problem : tare::tllm::check_header(header))
    throw tare::Error(tare::ErrorKind::usage, problem.rule, problem.sentence).about(problem.item);
  if (!tare::tllm::file_bytes(header))
    throw tare::Error(tare::ErrorKind::usage, "tllm.config.range", "weights of more than 2^64 bytes");
  tare::tllm::for_each_place(header, [&](const tare::tllm::Place& place) {
    entries_.push_back({place, nullptr, place.data_bytes() / sizeof(float)});
    return true;
  });
}

Weights::Weights(const Weights& other)
    : config_(other.config_), entries_(other.entries_), memory_(other.memory_.size()), blobs_(other.blobs_) {
  for (Entry& entry : entries_) {
    if (entry.in_memory == kElsewhere) continue;
    std::copy_n(entry.values, entry.count, writable(entry));
    entry.values = writable(entry);
  }
}

const Weights::Entry& Weights::find(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.place.name == name; });
  if (found == entries_.end())
    throw tare::Error(tare::ErrorKind::not_found, "tllm.model.weight", "the model has no weight of this name")
        .about(tare::quote(name));
  return *found;
}

void Weights::allocate() {
  std::size_t size = 0;
  for (Entry& entry : entries_) {
    if (entry.values != nullptr) continue;
    entry.in_memory = size;
    size += (entry.count + kLine - 1) / kLine * kLine;
  }
  memory_ = FloatBlock(size);
  for (Entry& entry : entries_)
    if (entry.in_memory != kElsewhere) entry.values = writable(entry);
}

bool Weights::borrow(Entry& entry, const tare::Blob& blob) {
  const auto view = blob.view();
  if (!tare::kLittleEndianHost || !view || view->size() != entry.count * sizeof(float) ||
      reinterpret_cast<std::uintptr_t>(view->data()) % alignof(float) != 0)
    return false;
  entry.values = reinterpret_cast<const float*>(view->data());
  blobs_.push_back(blob);
  return true;
}

void Weights::initialize(std::uint64_t seed) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  struct Piece {
    const Entry* entry;
    std::size_t number, begin;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    for (std::size_t begin = 0; begin < entries_[i].count; begin += kPiece) pieces.push_back({&entries_[i], i, begin});
  tare::parallel_for(pieces.size(), 0, [&](std::size_t p) {
    const auto& [entry, number, begin] = pieces[p];
    float* const values = writable(*entry);
    const std::size_t end = std::min(entry->count, begin + kPiece);
    if (entry->place.rank == 1)
      return std::fill(values + begin, values + end, is_norm_weight(entry->place.name) ? 1.0f : 0.0f);
    const std::uint64_t key = tare::SplitMix64::mixed(tare::SplitMix64::mixed(seed) + number);
    for (std::size_t i = begin; i < end; ++i) values[i] = random_weight(key, i);
  });
}

void Weights::check_sources() const {
  const tare::Source* last = nullptr;
  for (const tare::Blob& blob : blobs_) {
    if (blob.source().get() != last) blob.source()->check();
    last = blob.source().get();
  }
}

}  // namespace tiny_llama
