// The files of fuzz/corpus/tllm that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/tllm_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const TllmCase& bad : tllm_cases()) corpus["tllm/reject." + bad.rule + "." + bad.name] = bad.file;
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
