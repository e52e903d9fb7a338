// NumPy's slice syntax, applied to a small tensor.
#include <cstdlib>

#include "tare/error.hpp"
#include "tare/slice.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  Bytes numbers(3 * 4 * 5);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::byte>(i);
  const Tensor whole = dense("it", {3, 4, 5}, DType::u8, Blob::memory(numbers));
  try {
    const Tensor part = slice(whole, parse_slice({reinterpret_cast<const char*>(data), size}));
    const Bytes bytes = part.components[0].blob.bytes();
    if (part.shape.elements() != bytes.size()) std::abort();
    for (const std::byte b : bytes)
      if (std::to_integer<std::size_t>(b) >= numbers.size()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
