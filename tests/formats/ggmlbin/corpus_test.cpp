// The files of fuzz/corpus/ggmlbin: no writer of ours makes any.
#include "corpus.hpp"

#include "conformance/ggmlbin_cases.hpp"
#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const auto& [name, file] : gb::good()) corpus["ggmlbin/valid." + name] = file;
  for (const gb::Case& bad : gb::bad()) {
    const std::string name = "ggmlbin/reject." + bad.rule + "." + bad.name;
    EXPECT_TRUE(corpus.emplace(name, bad.file).second) << name << " is made twice";
  }
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
