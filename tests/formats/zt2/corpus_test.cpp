// The files of fuzz/corpus/zt2 that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/zt2_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const Zt2Case& bad : zt2_cases())  // as a file, a root in memory has missing shards
    corpus["zt2/reject." + (bad.rule == "zt2.shard.memory" ? "zt2.shard.missing" : bad.rule) + "." + bad.name] =
        bad.file;
  for (const auto& [name, file] : zt2_good()) corpus["zt2/valid." + name] = file;
  for (const Zt2Tree& tree : zt2_trees()) {
    const std::string folder = tree.rule.empty() ? "zt2/valid." : "zt2/reject." + tree.rule + ".";
    for (const auto& [file, bytes] : tree.files) corpus[folder + tree.name + "/" + file] = bytes;
  }
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
