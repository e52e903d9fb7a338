// Arithmetic on the rows of a quantized matrix, straight from its stored bytes: the hot path of a runtime. Products
// never decode a row to floats.
//
// The bytes of a mapped file are used in place. From other sources only the bytes of the requested rows are read. A
// Rows object is immutable and may be used from many threads. If each thread has rows of its own, the result does not
// depend on the number of threads: one call sums each row, in one order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

// A vector quantized to 8 bits, with a scale for every 32 values. Made once per vector and used for all rows. d =
// absmax / 127, q = rint(x / d). A block with a NaN or infinity makes every product NaN.
class TARE_API QuantizedVector {
 public:
  explicit QuantizedVector(std::span<const float> values);
  ~QuantizedVector();
  QuantizedVector(QuantizedVector&&) noexcept;
  QuantizedVector& operator=(QuantizedVector&&) noexcept;

  std::uint64_t size() const;
  struct Data;  // for the kernels
  const Data& data() const { return *data_; }

 private:
  std::unique_ptr<Data> data_;
};

class TARE_API Rows {
 public:
  virtual ~Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // The tensor as a matrix: the product of all dimensions but the last, and the last.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }

  // Rows [first, first + count) in order. `out` has count * columns() floats. The same values as `to_dense`.
  void decode(std::uint64_t first, std::uint64_t count, std::span<float> out) const;
  // out[i] = row (first + i) times `vector`, which has columns() values; `out` has `count`. Sums in f32, in an order
  // that depends on the processor: the error is at most (columns() / 4 + 16) * 2^-24 times the sum of |w * x|.
  void dot(std::uint64_t first, std::uint64_t count, std::span<const float> vector, std::span<float> out) const;
  // The same with the vector's 8-bit codes: products are summed exactly within each 32, then in f32 as above.
  void dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, std::span<float> out) const;

 protected:
  Rows(std::uint64_t rows, std::uint64_t columns) : rows_(rows), columns_(columns) {}
  // The arguments have been checked.
  virtual void do_decode(std::uint64_t first, std::uint64_t count, float* out) const = 0;
  virtual void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const = 0;
  virtual void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const = 0;

 private:
  std::uint64_t rows_, columns_;
};

// The rows of a quantized tensor; keeps its bytes alive. Throws `codec.no_rows` for a layout without such arithmetic,
// and the rule of the layout's `check` for a tensor that fails it.
[[nodiscard]] TARE_API std::unique_ptr<const Rows> open_rows(const Tensor& tensor);

}  // namespace tare
