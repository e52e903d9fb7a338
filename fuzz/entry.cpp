// What libFuzzer and driver.cpp call: the target (TARE_FUZZ_TARGET), with what it costs measured.
#include "cost.hpp"

extern "C" int TARE_FUZZ_TARGET(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int result = 0;
  tare::fuzz::metered(TARE_FUZZ_NAME, size, [&] { result = TARE_FUZZ_TARGET(data, size); });
  return result;
}
