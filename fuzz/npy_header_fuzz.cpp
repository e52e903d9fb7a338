// The header of an array: a parsed header that is written parses as the same.
#include <cstdlib>

#include "formats/npy/header.hpp"
#include "tare/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  const auto bytes = std::as_bytes(std::span(data, size));
  npy::Header header;
  try {
    if (size >= npy::kPrefix) npy::header_length(bytes.first(npy::kPrefix), size);
    header = npy::parse_header(bytes);
  } catch (const Error&) {
    return 0;
  }
  const std::string_view descr = npy::descr_of(header.element.dtype, header.element.type);
  if (descr.empty()) return 0;
  const npy::Header back = npy::parse_header(npy::write_header(descr, header.shape));
  if (!(back.shape == header.shape) || back.data_bytes != header.data_bytes) std::abort();
  return 0;
}
