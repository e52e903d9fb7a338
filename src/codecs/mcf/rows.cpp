// Values and products of matrix rows, directly from a payload.
#include "tare/rows.hpp"

#include "codecs/mcf/decode.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/mcf.hpp"
#include "codecs/quantized_vector.hpp"

namespace tare::codec::mcf {
namespace {

class RowAccess final : public CodedRows {
 public:
  RowAccess(std::shared_ptr<const PayloadDecoder> payload, const Shape& shape)
      : CodedRows(payload, shape), payload_(std::move(payload)) {}

 protected:
  void do_decode(std::uint64_t first, std::uint64_t count, float* out) const override {
    for_rows(first, count, [&](const Run& run, std::uint64_t done) { payload_->decode(run, out + done * columns()); });
  }
  void do_dot(std::uint64_t first, std::uint64_t count, const float* vector, float* out) const override {
    for_rows(first, count, [&](const Run& run, std::uint64_t done) {
      dot_rows(payload_->rows(run), {vector, columns()}, out + done);
    });
  }
  void do_dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, float* out) const override {
    for_rows(first, count,
             [&](const Run& run, std::uint64_t done) { dot_rows(payload_->rows(run), vector.data(), out + done); });
  }

 private:
  std::shared_ptr<const PayloadDecoder> payload_;
};

}  // namespace

std::unique_ptr<const Rows> make_rows(const Tensor& tensor) {
  return std::make_unique<RowAccess>(
      std::make_shared<PayloadDecoder>(tensor.component("payload")->blob, geometry_of(tensor)), tensor.shape);
}

}  // namespace tare::codec::mcf
