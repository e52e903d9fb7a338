// The pickle machine: for any bytes, it terminates, its memory is bounded by their number, and the objects it built can
// be walked.
#include "mutators.hpp"
#include "wire/pickle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  using wire::Pickle;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto length = Pickle::length_of(bytes);
  const Spending spending({.values = size + 64, .steps = 64 * (size + 64)});
  Pickle pickle(bytes, 0);
  try {
    pickle.run();
    if (length != pickle.length()) __builtin_trap();
  } catch (const Error&) {
    pickle.scan_rest();
  }
  std::uint64_t seen = 0;
  for (Pickle::Ref ref = 0; ref < pickle.nodes(); ++ref) {
    pickle.each_item(ref, [&](Pickle::Ref item) { seen += item < pickle.nodes(); });
    pickle.each_pair(
        ref, [&](Pickle::Ref key, Pickle::Ref value) { seen += key < pickle.nodes() && value < pickle.nodes(); });
    pickle.each_state(ref, [&](Pickle::Ref state) { seen += state < pickle.nodes(); });
    if (pickle.kind(ref) == wire::PickleKind::tuple)
      for (const Pickle::Ref item : pickle.tuple(ref)) seen += item < pickle.nodes();
    if (pickle.kind(ref) == wire::PickleKind::global) seen += pickle.name_of(ref).size();
  }
  return seen == UINT64_MAX ? 1 : 0;
}

TARE_FUZZ_MUTATES_FILES
