// What the sparse layouts share: entries in order of their place become a dense run of bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::sparse {

// Walks a sparse tensor's entries by rising place in the dense tensor.
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

// The dense tensor that `tensor` stands for, over `producer`. `bytes` is its size.
Tensor as_dense(const Tensor& tensor, const Component& values, std::uint64_t bytes,
                std::shared_ptr<const BlobProducer> producer);

// Bytes of that dense tensor. Throws limit `codec.too_large` above kMaxDecodedBytes: only the shape vouches
// for them.
std::uint64_t dense_bytes(const Tensor& tensor, const Component& values);

// A broken data rule met while decoding.
[[noreturn]] void throw_corrupt(const Tensor& tensor, const Component& component, const Problem& problem);

// A missing role or a wrong index type, which all sparse layouts refuse alike. `prefix` is "csr" or "coo".
std::optional<Problem> check_index(const Tensor& tensor, std::string_view prefix, std::string_view role);

}  // namespace tare::codec::sparse
