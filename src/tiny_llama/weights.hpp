// Storage of the weights of a Tiny Llama: one block of memory, blobs of a container, or both.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "formats/tllm/tllm.hpp"
#include "tare/blob.hpp"
#include "tiny_llama/model.hpp"

namespace tiny_llama {

// Uninitialized floats, aligned to a huge page.
class FloatBlock {
 public:
  FloatBlock() = default;
  explicit FloatBlock(std::size_t count);

  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* block) const;
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

tare::tllm::Header header_of(const ModelConfig& config);
ModelConfig config_of(const tare::tllm::Header& header);

class Weights {
 public:
  struct Entry {
    tare::tllm::Place place;
    const float* values = nullptr;
    std::size_t count = 0;
    std::size_t in_memory = kElsewhere;  // offset in the block
  };
  static constexpr std::size_t kElsewhere = SIZE_MAX;

  // Creates entries without values. Throws `tllm.config.*`.
  explicit Weights(const ModelConfig& config);
  Weights(const Weights& other);
  Weights& operator=(const Weights&) = delete;

  const ModelConfig& config() const { return config_; }
  std::span<const Entry> entries() const { return entries_; }
  // The weight with this name. Throws `tllm.model.weight`.
  const Entry& find(std::string_view name) const;

  // Allocates memory for every weight that is not borrowed.
  void allocate();
  bool is_writable() const { return blobs_.empty(); }
  float* writable(const Entry& entry) { return memory_.data() + entry.in_memory; }
  // Uses these bytes as the values of an entry; returns false if they cannot be used in place.
  bool borrow(Entry& entry, const tare::Blob& blob);
  std::span<Entry> entries() { return entries_; }

  // Fills every weight with random numbers.
  void initialize(std::uint64_t seed);
  // Throws what `Source::check` throws if a file with borrowed weights has changed.
  void check_sources() const;

 private:
  ModelConfig config_;
  std::vector<Entry> entries_;
  FloatBlock memory_;
  std::vector<tare::Blob> blobs_;  // own the borrowed values
};

}  // namespace tiny_llama
