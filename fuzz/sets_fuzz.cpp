// Runs every verb of the library on directories and sets of files (set.hpp).
#include "every_verb.hpp"
#include "mutators.hpp"
#include "set.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  static const Place kPlace;
  kPlace.clear();
  const Set set = parse_set(std::as_bytes(std::span(data, size)));
  const std::string path = unpack_set(set, kPlace / "model");
  std::filesystem::create_directory(kPlace / "work");
  every_verb({path, kPlace / "work"}, size, set.choice);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  using namespace tare::fuzz;
  Random random(seed);
  if (random.one_in(4)) return LLVMFuzzerMutate(data, size, most);
  Set set = parse_set(std::as_bytes(std::span(data, size)));
  mutate_set(random, set, most);
  const tare::Bytes packed = pack_set(set);
  if (packed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}
