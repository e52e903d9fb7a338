// The files of fuzz/corpus/alt that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/alt_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const AltCase& bad : alt_cases()) {
    if (bad.severity == Severity::note) continue;
    const std::string name = bad.format + "/reject." + bad.rule + "." + bad.name;
    EXPECT_TRUE(corpus.emplace(name, bad.file).second) << name << " is made twice";
  }
  corpus["alt/valid.golden"] = alt_golden_v2();
  corpus["alt/valid.altc"] = alt_golden_altc();
  corpus["alt1/valid.golden"] = alt_golden_v1();
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
