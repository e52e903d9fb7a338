// Runs every verb of the library on one file. The first byte chooses the verb, or all of them if it is 0; the rest is
// the file.
#include "every_verb.hpp"
#include "mutators.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  static const Place kPlace;
  if (size == 0) return 0;
  kPlace.clear();
  put_file(kPlace / "it", std::as_bytes(std::span(data + 1, size - 1)));
  std::filesystem::create_directory(kPlace / "work");
  every_verb({kPlace / "it", kPlace / "work"}, size, data[0]);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  tare::fuzz::Random random(seed);
  if (size == 0 || most < 2) return LLVMFuzzerMutate(data, size, most);
  if (random.one_in(4)) data[0] = static_cast<std::uint8_t>(random.below(256));
  return 1 + tare::fuzz::mutate_file(random, data + 1, size - 1, most - 1);
}
