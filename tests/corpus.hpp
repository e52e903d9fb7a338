// The parts of fuzz/corpus (corpus_test.cpp). A container adds its own files in formats/NAME/corpus_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tare/value.hpp"

namespace tare::testing {

using Corpus = std::map<std::string, Bytes>;  // name in fuzz/corpus -> content

inline std::vector<void (*)(Corpus&)>& corpus_parts() {
  static std::vector<void (*)(Corpus&)> parts;
  return parts;
}

// Define one at namespace scope: its function is called when the corpus is made.
struct CorpusPart {
  explicit CorpusPart(void (*add)(Corpus&)) { corpus_parts().push_back(add); }
};

}  // namespace tare::testing
