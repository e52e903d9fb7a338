// A dense component's elements as doubles, in blocks whose results are merged in order: so the sums do not depend on
// the number of threads or on how the bytes are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "inspect/pull.hpp"
#include "tare/model.hpp"

namespace tare::inspect {

// Elements per partial result.
inline constexpr std::uint64_t kBlockElements = std::uint64_t{1} << 20;
// The most elements that are read: a sparse tensor of a few bytes can represent more than could ever be processed.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
// Elements decoded at a time; their doubles stay in the cache.
inline constexpr std::size_t kRunElements = 4096;

// Storage elements of a component: for complex numbers twice the elements.
std::uint64_t storage_elements(const Component& component);

// Reads storage elements in order, a run at a time. For one thread; the component must outlive it.
class ElementPuller {
 public:
  // `first` must be a multiple of kBlockElements.
  ElementPuller(const Component& component, std::uint64_t first);
  // The next run: kRunElements, or what is left. Valid until the next call.
  std::span<const double> next();
  // The bytes from which the last run was decoded.
  std::span<const std::byte> raw() const { return raw_; }

 private:
  const Component& component_;
  Puller puller_;
  std::size_t width_;
  std::uint64_t left_;                // elements not yet in a chunk
  std::span<const std::byte> chunk_;  // read, not yet decoded
  std::span<const std::byte> raw_;
  std::unique_ptr<double[]> values_;
};

// How many blocks of this component make a piece of work; see units_per_piece.
std::uint64_t blocks_per_piece(const Component& component);

}  // namespace tare::inspect
