// The entry point for libFuzzer and driver.cpp: calls the target (TARE_FUZZ_TARGET) and measures its cost.
#include "cost.hpp"

extern "C" int TARE_FUZZ_TARGET(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int result = 0;
  tare::fuzz::metered(TARE_FUZZ_NAME, size, [&] { result = TARE_FUZZ_TARGET(data, size); });
  return result;
}
