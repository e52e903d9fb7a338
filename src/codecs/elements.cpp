#include "tare/elements.hpp"

#include <algorithm>
#include <vector>

#include "codecs/element_kinds.hpp"

namespace tare {
namespace {

template <Kind From>
void decode_run(const std::byte* from, double* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(load<From>(from, i));
}

}  // namespace

bool is_numeric(DType dtype, std::string_view type) { return element_type(dtype, type) != nullptr; }

void decode_elements(DType dtype, std::string_view type, std::span<const std::byte> bytes, std::span<double> out) {
  const std::size_t count = std::min(out.size(), bytes.size() / size_of(dtype));
  with_kind(kind_of(dtype, type), [&]<Kind K>() { decode_run<K>(bytes.data(), out.data(), count); });
}

void for_each_element_run(const Tensor& dense_tensor, const std::function<void(std::span<const double>)>& visit) {
  constexpr std::uint64_t kRun = 16 << 10;  // elements; both buffers stay in the cache
  const Component& data = require_dense(dense_tensor);
  const std::size_t width = size_of(data.dtype);
  std::uint64_t left = data.blob.size() / width;
  std::vector<std::byte> raw(static_cast<std::size_t>(std::min(left, kRun)) * width);
  std::vector<double> values(raw.size() / width);
  const auto reader = data.blob.open();
  while (left > 0) {
    const auto count = static_cast<std::size_t>(std::min(left, kRun));
    const auto bytes = std::span(raw).first(count * width);
    reader->read(bytes);
    decode_elements(data.dtype, data.type, bytes, std::span(values).first(count));
    visit(std::span(values).first(count));
    left -= count;
  }
}

}  // namespace tare
