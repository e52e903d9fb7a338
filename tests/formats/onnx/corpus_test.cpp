// The files of fuzz/corpus/onnx: no writer of ours makes any.
#include "corpus.hpp"

#include "conformance/models.hpp"
#include "conformance/onnx_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  for (const auto& [name, file] : ox::good()) corpus["onnx/valid." + name] = file;
  for (const ox::Case& bad : ox::bad()) {
    const std::string name = "onnx/reject." + bad.rule + "." + bad.name;
    EXPECT_TRUE(corpus.emplace(name, bad.file).second) << name << " is made twice";
  }
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
