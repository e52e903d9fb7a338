// A tokenizer from the text of its two files.
#pragma once

#include "conformance/scratch.hpp"
#include "tiny_llama/tokenizer.hpp"

namespace tiny_llama::testing {

inline BytePairTokenizer tokenizer_of(const std::string& vocab, const std::string& merges,
                                      Rules rules = Rules::strict) {
  using namespace tare::testing;
  const Scratch scratch(Scratch::fast_place());
  put_file(scratch / "vocab.txt", to_bytes(vocab));
  put_file(scratch / "merges.txt", to_bytes(merges));
  return BytePairTokenizer::from_files(scratch / "vocab.txt", scratch / "merges.txt", rules);
}

}  // namespace tiny_llama::testing
