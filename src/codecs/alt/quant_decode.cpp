// Decodes ALT codes with a table of at most 256 floats.
#include "codecs/alt/quant.hpp"
#include "codecs/block_codec.hpp"
#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare::codec::alt {
namespace {

// The codes continue across the ends of rows, so they are one row of all elements.
Planes planes_of(const Blob& payload, const Plan& plan) {
  Planes planes;
  if (plan.elements == 0) return planes;
  planes.rows = 1;
  planes.columns = plan.elements;
  planes.step = plan.packed ? 2 : 1;
  planes.all = {{payload, 0, planes.step, 1}};
  return planes;
}

class Decoder final : public codec::Decoder {
 public:
  Decoder(const Blob& payload, const Plan& plan)
      : codec::Decoder(planes_of(payload, plan)), packed_(plan.packed), table_(table_of(plan)) {}

  void decode(const Run& run, float* out) const override {
    const std::byte* const bytes = run.at[0];
    const auto count = run.weights();
    if (!packed_) {
      for (std::size_t i = 0; i < count; ++i) out[i] = table_[std::to_integer<unsigned>(bytes[i])];
      return;
    }
    for (std::size_t i = 0; i + 1 < count; i += 2) {
      const auto byte = std::to_integer<unsigned>(bytes[i / 2]);
      out[i] = table_[byte >> 4];
      out[i + 1] = table_[byte & 15];
    }
    if (count % 2 != 0) out[count - 1] = table_[std::to_integer<unsigned>(bytes[count / 2]) >> 4];
  }

 private:
  bool packed_;
  Table table_;
};

std::shared_ptr<const Decoder> decoder_of(const Tensor& tensor) {
  Plan plan;
  if (const auto problem = read_plan(tensor, plan))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  return std::make_shared<Decoder>(tensor.component("payload")->blob, plan);
}

}  // namespace

Table table_of(const Plan& plan) {
  Table table{};
  const unsigned codes = plan.packed ? 16 : 256;
  for (unsigned bits = 0; bits < codes; ++bits) table[bits] = value_of(plan, bits);
  return table;
}

float value_of(const Plan& plan, unsigned bits) {
  // `volatile` keeps compilers from fusing the multiplication and the addition, which would round only once.
  volatile float product = plan.delta * static_cast<float>(plan.code_of(bits));
  return plan.ranged ? plan.min + product : product;
}

Tensor decode(const Tensor& tensor) { return decoded(tensor, decoder_of(tensor), kQint8.parameters); }

std::unique_ptr<const Rows> make_rows(const Tensor& tensor) {
  return std::make_unique<CodedRows>(decoder_of(tensor), tensor.shape);
}

}  // namespace tare::codec::alt
