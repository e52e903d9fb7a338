// The files of fuzz/corpus/npy that our writer does not make: those that break a rule, and those of other programs.
#include "corpus.hpp"

#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

void add_to_corpus(Corpus& corpus) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; ++i) header += "1,";
  header += "), }\n";
  corpus["npy/reject.npy.shape.rank.sixty_five"] = to_bytes(
      "\x93NUMPY\x01" + std::string(1, '\0') + static_cast<char>(header.size()) + std::string(1, '\0') + header + "!");
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
