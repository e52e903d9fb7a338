// The files of fuzz/corpus/gguf that no writer makes: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/gguf_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const GgufCase& bad : gguf_cases()) {
    if (bad.file.size() >= (std::size_t{64} << 10)) continue;
    corpus["gguf/reject." + bad.rule + "." + bad.name] = bad.file;
  }
  for (const std::uint32_t version : {1U, 2U, 3U})
    for (const bool big : {false, true})
      corpus["gguf/valid.golden_" + std::to_string(version) + (big ? "_big" : "")] = gguf_golden(big, version).bytes();
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
