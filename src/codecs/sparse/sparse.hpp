// Shared by the sparse layouts: converts entries in order of their place to a dense run of bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::sparse {

// Walks over a sparse tensor's entries in ascending order of their place in the dense tensor.
class Cursor {
 public:
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

  virtual ~Cursor() = default;
  // The place of the current entry, in elements, row-major; kEnd after the last.
  std::uint64_t place() const { return place_; }
  // The bytes of its value, valid until `advance`.
  const std::byte* value() const { return value_; }
  virtual void advance() = 0;

 protected:
  std::uint64_t place_ = kEnd;
  const std::byte* value_ = nullptr;
};

// The dense bytes from element `first` on.
class DenseReader final : public BlockReader {
 public:
  DenseReader(std::unique_ptr<Cursor> cursor, std::uint64_t first, std::uint64_t elements, std::size_t width);

 protected:
  std::span<const std::byte> make_block() override;

 private:
  std::unique_ptr<Cursor> cursor_;
  std::uint64_t next_, end_;
  std::size_t width_;
  std::vector<std::byte> block_;
};

// The dense form of `tensor`, whose bytes `producer` makes. `bytes` is its size.
Tensor as_dense(const Tensor& tensor, const Component& values, std::uint64_t bytes,
                std::shared_ptr<const BlobProducer> producer);

// The size of the dense tensor. Throws limit `codec.too_large` above kMaxDecodedBytes, because nothing but the shape
// confirms that size.
std::uint64_t dense_bytes(const Tensor& tensor, const Component& values);

// Throws the error for a data rule that is found broken during decoding.
[[noreturn]] void throw_corrupt(const Tensor& tensor, const Component& component, const Problem& problem);

// Checks for a missing role or a wrong index type, for all sparse layouts. `prefix` is "csr" or "coo".
std::optional<Problem> check_index(const Tensor& tensor, std::string_view prefix, std::string_view role);

}  // namespace tare::codec::sparse
