// Reads the elements of a tensor as numbers, a run at a time, within a budget of bytes.
//
// A Reading is used by one thread for one request. It counts every byte that it reads, including those that it must
// decompress only to skip. When the budget is spent, `read` returns false and the caller shows what it has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/wide_integers.hpp"
#include "tare/model.hpp"

namespace tare::view {

// The most that one request may read, in bytes of elements. It is twenty times what a picture needs, because a
// compressed tensor can be entered only at the start of a frame.
inline constexpr std::uint64_t kReadBudget = std::uint64_t{64} << 20;

class Reading {
 public:
  // Decodes `tensor` lazily. Throws `view.type` if its elements are not numbers, and what to_dense throws.
  explicit Reading(const Tensor& tensor, std::uint64_t budget = kReadBudget);

  // The tensor as a matrix: all dimensions but the last, and the last. A complex number counts as two elements.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }
  std::uint64_t elements() const { return rows_ * columns_; }
  std::uint64_t bytes_read() const { return read_; }
  // `is_single`: every element is exactly an f32. `dtype`: the stored type.
  bool is_single() const;
  DType dtype() const { return component_->dtype; }
  // `is_wide_integer`: the elements are integers that doubles cannot all represent. `wide_integer`: element `i` of the
  // last read.
  bool is_wide_integer() const;
  WideInteger wide_integer(std::size_t i) const {
    return WideInteger::load(bytes_.data() + i * 8, component_->dtype == DType::i64);
  }
  // The bytes of the last read.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Fills `out` with the elements from `first` on. Returns false if that would exceed the budget. Cheapest in rising
  // order. Throws between two runs if the request is stopped.
  bool read(std::uint64_t first, std::span<double> out);
  // Compares the stored digests; call it after all elements of a tensor were read. Throws `digest.mismatch`.
  void check_digests() const { component_->blob.verify(); }

 private:
  void pull(std::uint64_t offset, std::span<std::byte> out);

  Tensor dense_;
  const Component* component_ = nullptr;
  std::size_t width_ = 1;
  std::uint64_t rows_ = 0, columns_ = 0, budget_, read_ = 0;
  std::uint64_t step_ = 1;              // decoded bytes; reading can begin at its multiples. 0: only at the start
  std::unique_ptr<BlobReader> reader_;  // for a blob that can be entered at few places only
  std::uint64_t position_ = 0;          // of `reader_`
  std::vector<std::byte> bytes_, waste_;
};

}  // namespace tare::view
