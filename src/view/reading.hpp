// The elements of a tensor as numbers, a run at a time, with a bound on what a look at it may cost.
//
// A Reading is for one thread and one request. Bytes are counted as they are pulled, those that had to be passed over in a
// compressed tensor included; when the budget is spent, `read` says no, and the caller shows what it has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/wide_integers.hpp"
#include "tare/model.hpp"

namespace tare::view {

// What one request may pull, in bytes of elements. Twenty times what a picture needs: compressed tensors are entered only
// at the beginning of a frame.
inline constexpr std::uint64_t kReadBudget = std::uint64_t{64} << 20;

class Reading {
 public:
  // Decodes `tensor` lazily. Throws `view.type` for what has no numbers, and what to_dense throws.
  explicit Reading(const Tensor& tensor, std::uint64_t budget = kReadBudget);

  // As a matrix: all dimensions but the last, and the last. Numbers of a complex type count twice.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }
  std::uint64_t elements() const { return rows_ * columns_; }
  std::uint64_t bytes_read() const { return read_; }
  // Whether all of them are numbers of f32; and of which type they are stored.
  bool is_single() const;
  DType dtype() const { return component_->dtype; }
  // Whether they are integers that doubles cannot all tell apart; and those of what was read last.
  bool is_wide_integer() const;
  WideInteger wide_integer(std::size_t i) const {
    return WideInteger::load(bytes_.data() + i * 8, component_->dtype == DType::i64);
  }
  // The bytes of what was read last.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Fills `out` with the elements from `first` on. False when that would exceed the budget. Runs are cheapest in rising order.
  // Throws what stopping throws, between two runs.
  bool read(std::uint64_t first, std::span<double> out);

 private:
  void pull(std::uint64_t offset, std::span<std::byte> out);

  Tensor dense_;
  const Component* component_ = nullptr;
  std::size_t width_ = 1;
  std::uint64_t rows_ = 0, columns_ = 0, budget_, read_ = 0;
  std::uint64_t step_ = 1;              // decoded bytes at whose multiples reading can begin; 0: only at the beginning
  std::unique_ptr<BlobReader> reader_;  // of a blob that is entered at few places
  std::uint64_t position_ = 0;          // of the reader
  std::vector<std::byte> bytes_, waste_;
};

}  // namespace tare::view
