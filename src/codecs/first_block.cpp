#include "codecs/first_block.hpp"

#include "tare/codec.hpp"

namespace tare::codec {

std::optional<FirstBlock> first_block(const Tensor& tensor) {
  const Codec* const row = find_codec(tensor.layout);
  if (row == nullptr || tensor.components.size() == 0 || (row->check != nullptr && row->check(tensor)))
    return std::nullopt;
  if (auto found = ggml::first_block(tensor)) return found;
  return mcf::first_block(tensor);
}

}  // namespace tare::codec
