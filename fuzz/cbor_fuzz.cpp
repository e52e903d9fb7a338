// CBOR: reading and skipping a value end at the same place, and a value that is written reads back as the same.
#include <cstdlib>

#include "mutators.hpp"
#include "wire/cbor.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    wire::CborReader reader(bytes, "it", 0, 32);
    const Value value = reader.read_value();
    wire::CborReader skipping(bytes, "it", 0, 32);
    skipping.skip();
    if (skipping.offset() != reader.offset()) std::abort();
    wire::CborWriter writer;
    writer.value(value);
    wire::CborReader again(writer.result(), "again", 0, 64);
    const Value back = again.read_value();
    // NaN is not equal to itself, but its text is.
    if (!again.at_end() || to_json(back) != to_json(value)) std::abort();
  } catch (const Error& error) {
    if (error.file() == "again") std::abort();
  }
  return 0;
}

TARE_FUZZ_MUTATES_FILES
