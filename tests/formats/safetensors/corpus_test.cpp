// The files of fuzz/corpus/safetensors that our writer does not make: those that break a rule, and those of other
// programs.
#include "corpus.hpp"

#include "conformance/safetensors_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const StCase& bad : st_reject_cases()) corpus["safetensors/reject." + bad.rule + "." + bad.name] = bad.file;
  for (const StCase& odd : st_tolerated_cases()) corpus["safetensors/reject." + odd.rule + "." + odd.name] = odd.file;
  for (const StCase& good : st_good_cases()) corpus["safetensors/valid." + good.name + "_by_hand"] = good.file;
  // The only valid file that fails a strict verification.
  corpus.erase("safetensors/valid.space_around_by_hand");
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
