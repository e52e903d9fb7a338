// Private metadata as JSON: a parsed value that is written parses as the same, and the maps that a reader makes of it
// (hyper-parameters, a vocabulary) are refused or survive the same round trip.
#include <cstdlib>

#include "tare/config.hpp"
#include "tare/error.hpp"
#include "tare/vocabulary.hpp"
#include "wire/value_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  Value value;
  try {
    value = wire::parse_value_json({reinterpret_cast<const char*>(data), size}, {.depth = 32});
  } catch (const Error&) {
    return 0;
  }
  const std::string text = wire::write_value_json(value);
  // A greater depth, because a map that looks like one of the escapes is wrapped.
  if (wire::write_value_json(wire::parse_value_json(text, {.depth = 128, .values = UINT64_MAX})) != text) std::abort();
  (void)to_json(value);
  const Map* const map = value.get<Map>();
  if (map == nullptr) return 0;
  const Config config = Config::from_map(*map);
  if (to_json(Config::from_map(config.to_map()).to_map()) != to_json(config.to_map())) std::abort();
  try {
    const Vocabulary vocabulary = Vocabulary::from_map(*map);
    if (to_json(Vocabulary::from_map(vocabulary.to_map()).to_map()) != to_json(vocabulary.to_map())) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
