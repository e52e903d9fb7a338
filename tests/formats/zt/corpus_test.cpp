// The files of fuzz/corpus/zt that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/zt_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  std::vector<ZtCase> cases = zt_open_cases();
  for (ZtCase& bad : zt_data_cases()) cases.push_back(std::move(bad));
  std::map<std::string, int> names;
  for (const ZtCase& bad : cases) {
    if (bad.file.size() >= (std::size_t{64} << 10)) continue;  // deep and endless values are made anew for each run
    if (bad.rule == "zt.magic") continue;  // only the suffix identifies the format, and files of the corpus have none
    const bool own_limits =
        bad.limits.metadata_bytes != Limits().metadata_bytes || bad.limits.component_bytes != Limits().component_bytes;
    std::string name = (own_limits ? "zt/limited." : "zt/reject.") + bad.rule + "." + bad.name;
    if (const int again = names[name]++; again > 0) name += "_" + std::to_string(again);
    corpus[name] = bad.file;
    const std::string manifest = to_text(bad.file);
    if (bad.rule.starts_with("cbor.") && manifest.size() > 24)
      corpus["cbor/" + bad.rule + "." + bad.name] = to_bytes(manifest.substr(8, manifest.size() - 24));
  }
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
