// The files of fuzz/corpus/mcf that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/mcf_cases.hpp"
#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  std::vector<McfCase> cases = mcf_open_cases();
  for (McfCase& odd : mcf_verify_cases()) cases.push_back(std::move(odd));
  for (const McfCase& bad : cases) {
    const bool own_limits = bad.limits.metadata_bytes != Limits().metadata_bytes;
    const std::string name = (own_limits ? "mcf/limited." : "mcf/reject.") + bad.rule + "." + bad.name;
    EXPECT_TRUE(corpus.emplace(name, bad.file).second) << name << " is made twice";
  }
  corpus["mcf/valid.q8"] = bytes_of(mcf_good_q8());
  Model model = small_model(find_format("mcf")->holds);
  model.tensors.push_back(model.tensors[0]);
  model.tensors.back().name = "tied";
  corpus["mcf/valid.dedup"] = write_bytes(*find_format("mcf"), model, {.dedup = true});
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
