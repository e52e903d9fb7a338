// SentencePiece's byte-pair models list their pieces in the order of the merges that made them, and the merges not at all.
#pragma once

#include <string>
#include <vector>

#include "tare/vocabulary.hpp"

namespace tare::resources {

// Whether the scores are ranks, 0, -1, -2, ...: then the pieces were made by merging, not chosen by likelihood.
bool is_ranked(const Vocabulary& vocabulary);
// "left right" for every way to make a ranked piece of two others, by rank; of several ways, the longest left part first.
std::vector<std::string> merges_of_ranked(const Vocabulary& vocabulary);

}  // namespace tare::resources
