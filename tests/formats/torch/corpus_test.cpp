// The files of fuzz/corpus/torch that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/models.hpp"
#include "conformance/torch_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const auto& [name, file] : pk::good()) corpus["torch/valid." + name] = file;
  for (const pk::Case& bad : pk::bad()) {
    const std::string name = "torch/reject." + bad.rule + "." + bad.name;
    if (bad.file.size() >= (std::size_t{64} << 10)) continue;
    EXPECT_TRUE(corpus.emplace(name, bad.file).second) << name << " is made twice";
  }
  corpus["pickle/tensor"] = to_bytes(pk::whole(pk::dict({{"a", pk::floats("0", 6)}})));
  corpus["pickle/lines"] = to_bytes("(dp0\nVa\\u00e9\np1\n(lp2\nI1\naL3L\naF1.5\naI01\naS'x\\x41'\np3\nasP7\n.");
  corpus["pickle/calls"] = to_bytes(pk::whole("(ios\nsystem\n(" + pk::global("a", "b") + "K\x01o)\x81}b\x85"));
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
