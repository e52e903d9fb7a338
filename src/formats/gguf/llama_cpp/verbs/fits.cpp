// Which tensors can have another type without loss.
#include <algorithm>
#include <cmath>

#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {

bool fits(const Tensor& tensor, DType type) {
  const Component& data = tensor.components.front();
  if (cast_is_lossless(data.dtype, data.type, type)) return true;
  const Blob before = cast(tensor, DType::f64).components.front().blob;
  const Blob after = cast(cast(tensor, type, Overflow::infinity), DType::f64).components.front().blob;
  constexpr std::size_t kRun = 4096;
  Bytes bytes(kRun * sizeof(double));
  std::vector<double> numbers(kRun), others(kRun);
  const auto left = before.open(), right = after.open();
  const auto next = [&](BlobReader& reader, std::span<double> out) {
    const std::span some = std::span(bytes).first(out.size() * sizeof(double));
    reader.read(some);
    decode_elements(DType::f64, "", some, out);
  };
  for (std::uint64_t rest = before.size() / sizeof(double); rest > 0;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(rest, kRun));
    next(*left, std::span(numbers).first(count));
    next(*right, std::span(others).first(count));
    for (std::size_t i = 0; i < count; ++i)
      if (numbers[i] != others[i] && !(std::isnan(numbers[i]) && std::isnan(others[i]))) return false;
    rest -= count;
  }
  return true;
}

}  // namespace tare::gguf::llama_cpp
