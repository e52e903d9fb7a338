// What the bytes of the first block are, for people. A payload keeps scales and codes in regions of their own.
#include <algorithm>

#include "codecs/first_block.hpp"
#include "codecs/mcf/layout.hpp"

namespace tare::codec::mcf {

std::optional<FirstBlock> first_block(const Tensor& tensor) {
  const Method* const method = find_method(tensor.layout);
  const auto attributes = attributes_of(tensor.attributes);
  if (method == nullptr || !attributes) return std::nullopt;
  const auto geometry = geometry_of(*method, attributes->domain, tensor.shape);
  if (!geometry || geometry->elements() == 0) return std::nullopt;
  FirstBlock block;
  const auto field = [&](std::string_view name, std::string_view what, FieldKind kind, const Region& region,
                         std::uint64_t bytes, unsigned bits = 0) {
    if (region.size > 0) block.fields.push_back({name, what, kind, region.offset, std::min(bytes, region.size), bits});
  };
  switch (method->family) {
    case Family::raw:
      block.weights = std::min<std::uint64_t>(32, geometry->elements());
      block.formula = attributes->domain == Domain::weights ? "w = S q" : "x = S (q - Z)";
      field("S", "scale of the whole tensor", FieldKind::f32, geometry->scales, 4);
      field("Z", "zero point of the whole tensor", FieldKind::f32, geometry->zero, 4);
      field("codes", "two's complement, the first of them", FieldKind::bits, geometry->codes, 32 * method->bits / 8,
            method->bits);
      break;
    case Family::block:
      block.weights = std::min<std::uint64_t>(kBlock, geometry->columns);
      block.formula = "w = s q";
      field("s", "scale of the block of 32 columns", FieldKind::f16, geometry->scales, 2);
      field("codes", "two's complement", FieldKind::bits, geometry->codes, method->block_bytes(), method->bits);
      break;
    case Family::super:
      block.weights = std::min<std::uint64_t>(kSuper, geometry->columns);
      block.formula = "w = S (u / 32) q";
      field("S", "scale of the super-block of 256 columns", FieldKind::f16, geometry->scales, 2);
      field("u", "sub-scales of 32 columns each", FieldKind::u8, geometry->sub_scales,
            std::min<std::uint64_t>(kBlocksInSuper, geometry->blocks));
      field("codes", "two's complement", FieldKind::bits, geometry->codes,
            method->block_bytes() * std::min<std::uint64_t>(kBlocksInSuper, geometry->blocks), method->bits);
      break;
  }
  return block;
}

}  // namespace tare::codec::mcf
