// Byte-pair vocabularies without their merges. SentencePiece's list their pieces with the rank of the merge that made each
// as its score, 0, -1, -2, ..., and the merges not at all; a container with scores and no merges can keep the order of any
// byte-pair vocabulary in the same way.
#pragma once

#include <string>
#include <vector>

#include "tare/vocabulary.hpp"

namespace tare::resources {

// Whether the scores of the normal pieces are ranks, each of 0, -1, -2, ... once: then the pieces were made by merging, not
// chosen by likelihood.
bool is_ranked(const Vocabulary& vocabulary);
// Sets the scores of a vocabulary that has merges and no scores to ranks: the pieces that merges make in the order of
// their first merge, then the others by id. False, and nothing is changed, where there are scores or no merge makes a piece.
bool rank_by_merges(Vocabulary& vocabulary);

// "left right" for every way to make a ranked piece of two others, by rank; of several ways, the longest left part first.
// So SentencePiece merges.
std::vector<std::string> merges_of_ranked(const Vocabulary& vocabulary);
// "left right" in the byte-level alphabet for the one way to make each ranked piece that merging in order takes, by rank:
// the merges that the ranks came from.
std::vector<std::string> byte_merges_of_ranked(const Vocabulary& vocabulary);

}  // namespace tare::resources
