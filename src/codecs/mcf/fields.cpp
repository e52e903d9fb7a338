// Describes the first block for the viewer. A payload stores scales and codes in separate regions.
#include <algorithm>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/first_block.hpp"
#include "codecs/mcf/mcf.hpp"
#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {
namespace {

double half_in(const Bytes& bytes) { return f16_to_f32(load_le<std::uint16_t>(bytes.data())); }

}  // namespace

std::optional<FirstBlock> explain(const Tensor& tensor) {
  const Method* const method = find_method(tensor.layout);
  const auto attributes = attributes_of(tensor.attributes);
  if (method == nullptr || !attributes) return std::nullopt;
  const auto geometry = geometry_of(*method, attributes->domain, tensor.shape);
  if (!geometry || geometry->elements() == 0) return std::nullopt;
  const bool raw = method->family == Family::raw, weights = attributes->domain == Domain::weights;
  const std::uint64_t own =
      raw ? std::min<std::uint64_t>(32, geometry->elements())
          : std::min<std::uint64_t>(method->family == Family::block ? kBlock : kSuper, geometry->columns);
  Explainer block(tensor, own,
                  !raw      ? method->family == Family::block ? "w = s q" : "w = S q u / 32"
                  : weights ? "w = S q; of the whole tensor"
                            : "x = S (q - Z); of the whole tensor");
  const auto field = [&](std::string_view name, std::string_view what, FieldKind kind, const Region& region,
                         std::uint64_t bytes, unsigned bits = 0) {
    if (region.size == 0) return Bytes();
    return block.field("payload", {name, what, kind, region.offset, std::min(bytes, region.size), bits});
  };
  const auto codes = [&](std::uint64_t bytes) {
    const Bytes read = field("codes", raw ? "two's complement, the first of them" : "two's complement", FieldKind::bits,
                             geometry->codes, bytes, method->bits);
    std::vector<double> values(static_cast<std::size_t>(own));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = code_at(method->bits, read.data(), i);
    block.term("q", std::move(values));
  };
  switch (method->family) {
    case Family::raw:
      block.term("S",
                 load_le<float>(field("S", "scale of the whole tensor", FieldKind::f32, geometry->scales, 4).data()));
      if (geometry->zero.size > 0)
        block.term("Z", load_le<float>(
                            field("Z", "zero point of the whole tensor", FieldKind::f32, geometry->zero, 4).data()));
      codes((own * method->bits + 7) / 8);
      break;
    case Family::block:
      block.term("s", half_in(field("s", "scale of the block of 32 columns", FieldKind::f16, geometry->scales, 2)));
      codes(method->block_bytes());
      break;
    case Family::super: {
      const std::uint64_t blocks = std::min<std::uint64_t>(kBlocksInSuper, geometry->blocks);
      block.term("S",
                 half_in(field("S", "scale of the super-block of 256 columns", FieldKind::f16, geometry->scales, 2)));
      const Bytes scales = field("u", "sub-scales of 32 columns each", FieldKind::u8, geometry->sub_scales, blocks);
      std::vector<double> values(static_cast<std::size_t>(own));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::to_integer<unsigned>(scales[i / kBlock]);
      block.term("u", std::move(values));
      codes(method->block_bytes() * blocks);
      break;
    }
  }
  return block.take();
}

}  // namespace tare::codec::mcf
