// Byte-pair vocabularies without their merges. SentencePiece stores the rank of the merge that made a piece as its
// score, 0, -1, -2, ..., and no merges; a container with scores and no merges can keep the order of any byte-pair
// vocabulary in the same way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tare/vocabulary.hpp"

namespace tare::resources {

// Returns whether the scores of the normal pieces are ranks, each of 0, -1, -2, ... once: then the pieces were made by
// merging, not chosen by likelihood.
bool is_ranked(const Vocabulary& vocabulary);
// Sets the scores of a vocabulary that has merges and no scores to ranks: first the pieces that merges make, in the
// order of their first merge, then the others by id. Returns false and changes nothing if there are scores or if no
// merge makes a piece.
bool rank_by_merges(Vocabulary& vocabulary);

// Returns "left right" for every way to make a ranked piece of two others, by rank; of several ways, the longest left
// part first. This is SentencePiece's order.
std::vector<std::string> merges_of_ranked(const Vocabulary& vocabulary);
// Returns "left right" in the byte-level alphabet for each ranked piece, by rank: the one way in which merging in order
// makes it. These are the merges that the ranks came from.
std::vector<std::string> byte_merges_of_ranked(const Vocabulary& vocabulary);

// Returns a piece with blanks as blanks, which SentencePiece spells as U+2581. GGUF has user-defined pieces so: llama.cpp
// looks for them in a text as it is, and prints them as they are.
std::string with_plain_blanks(std::string_view piece);
// Returns whether two tokens have the same text, or are a user-defined piece in both spellings.
bool have_same_text(const Token& a, const Token& b);

}  // namespace tare::resources
