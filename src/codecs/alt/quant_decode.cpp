// Decoding ALT codes: a look-up in a table of at most 256 floats.
#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "codecs/alt/quant.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::alt {
namespace {

constexpr std::size_t kBlock = 8192;  // codes at a time, a whole number of bytes

class Reader final : public BlockReader {
 public:
  Reader(const Blob& payload, const Plan& plan, const Table& table, std::uint64_t first_element)
      : plan_(plan),
        table_(table),
        element_(first_element),
        codes_(payload, plan.packed ? first_element / 2 : first_element) {}

 protected:
  std::span<const std::byte> make_block() override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, plan_.elements - element_));
    if (count == 0) return {};
    const auto put = [&](std::size_t i, unsigned bits) { store_le<float>(block_.data() + 4 * i, table_[bits]); };
    if (plan_.packed) {
      const std::byte* const bytes = codes_.take((count + 1) / 2);
      for (std::size_t i = 0; i + 1 < count; i += 2) {
        const auto byte = std::to_integer<unsigned>(bytes[i / 2]);
        put(i, byte >> 4);
        put(i + 1, byte & 15);
      }
      if (count % 2 != 0) put(count - 1, std::to_integer<unsigned>(bytes[count / 2]) >> 4);
    } else {
      const std::byte* const bytes = codes_.take(count);
      for (std::size_t i = 0; i < count; ++i) put(i, std::to_integer<unsigned>(bytes[i]));
    }
    element_ += count;
    return std::span(block_).first(count * 4);
  }

 private:
  Plan plan_;
  const Table& table_;
  std::uint64_t element_;
  ByteStream codes_;
  std::array<std::byte, kBlock * 4> block_;
};

class Decoder final : public BlobProducer {
 public:
  Decoder(Blob payload, const Plan& plan) : payload_(std::move(payload)), plan_(plan), table_(table_of(plan)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t element = offset / 4, start = plan_.packed ? element / 2 * 2 : element;
    auto reader = std::make_unique<Reader>(payload_, plan_, table_, start);
    reader->skip((element - start) * 4 + offset % 4);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_seekable(payload_) ? 4 : 0; }
  void verify() const override { payload_.verify(); }

 private:
  Blob payload_;
  Plan plan_;
  Table table_;
};

}  // namespace

Table table_of(const Plan& plan) {
  Table table{};
  const unsigned codes = plan.packed ? 16 : 256;
  for (unsigned bits = 0; bits < codes; ++bits) {
    // Through memory, so that no compiler makes one operation with one rounding of the two.
    volatile float product = plan.delta * static_cast<float>(plan.code_of(bits));
    table[bits] = plan.ranged ? plan.min + product : product;
  }
  return table;
}

Tensor decode(const Tensor& tensor) {
  Plan plan;
  if (const auto problem = read_plan(tensor, plan))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  const auto bytes = checked_mul(plan.elements, 4);
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the decoded tensor does not fit 64 bits of length")
        .about(tensor.name);
  Blob blob = *bytes == 0 ? Blob::memory({})
                          : Blob::produced(*bytes, std::make_shared<Decoder>(tensor.component("payload")->blob, plan));
  Tensor result = dense(tensor.name, tensor.shape, DType::f32, std::move(blob));
  // The parameters describe bytes that are no longer there.
  for (const auto& [key, value] : tensor.attributes)
    if (std::find(kQint8.parameters.begin(), kQint8.parameters.end(), key) == kQint8.parameters.end())
      result.attributes.append(key, value);
  return result;
}

}  // namespace tare::codec::alt
