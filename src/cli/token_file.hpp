// The tokens that a verb works on, from the file of --tokens. A text that is to be encoded will be read here, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "tare/run.hpp"

namespace tare::cli {

inline constexpr Option kTokens{
    .name = "tokens",
    .value = "IDS",
    .help =
        "the file with the token ids: a text of numbers, an array file, or 32-bit integers, "
        "little-endian (.bin)",
    .completes = Completes::files};
inline constexpr Option kContext{
    .name = "context",
    .value = "N",
    .help = "cut the tokens into pieces of N, which know nothing of each other; 512 by default"};
inline constexpr Option kBegin{
    .name = "begin",
    .value = "ID",
    .help = "replace the first token of each piece, as llama.cpp does if the model's texts begin with one"};

// The tokens of a run. Throws a UsageError without --tokens; usage `run.ids` for a file that is not a list of numbers.
std::vector<std::int32_t> tokens_of(const Arguments& arguments);
// --context, --begin and --threads.
run::Options run_options(const Arguments& arguments);

}  // namespace tare::cli
