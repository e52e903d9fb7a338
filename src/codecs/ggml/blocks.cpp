#include "codecs/ggml/blocks.hpp"

#include <algorithm>

namespace tare::codec::ggml {
namespace {

const BlockRules& rules_of(Type type) {
  for (const auto rows : {small_blocks(), super_blocks(), grid_blocks()})
    if (const auto found = std::ranges::find(rows, type, &BlockRules::type); found != rows.end()) return *found;
  __builtin_unreachable();  // a test goes over all types
}

}  // namespace

void reference_decode(Type type, const std::byte* blocks, std::size_t count, float* out) {
  const TypeFacts& facts = facts_of(type);
  const auto decode = rules_of(type).decode;
  for (; count > 0; --count, blocks += facts.bytes, out += facts.weights) decode(blocks, out);
}

std::optional<FirstBlock> explain(const Tensor& tensor) {
  const TypeFacts* const facts = find_facts(tensor.layout);
  if (facts == nullptr) return std::nullopt;
  const BlockRules& rules = rules_of(facts->type);
  FirstBlock block{facts->weights, rules.formula, rules.fields};
  const Bytes bytes = bytes_of(tensor.components[0], {.bytes = facts->bytes});
  block.terms = rules.terms(bytes.data());
  return block;
}

}  // namespace tare::codec::ggml
