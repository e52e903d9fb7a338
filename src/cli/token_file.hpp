// What a verb runs a model on: the tokens of --tokens, the text of --text, or the text that comes with Tare.
#pragma once

#include <cstdint>
#include <optional>
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
inline constexpr Option kText{
    .name = "text",
    .value = "PATH",
    .help =
        "the file with the text, which the model's own tokenizer turns into tokens; by default, one of 6 KB that "
        "comes with Tare",
    .completes = Completes::files};
inline constexpr Option kContext{
    .name = "context",
    .value = "N",
    .help = "cut the tokens into independent pieces of N; by default 512, or as many as the model has positions"};
inline constexpr Option kBegin{
    .name = "begin",
    .value = "ID",
    .help =
        "put this token in place of the first one of each piece, as llama.cpp does if the model's texts begin with it"};

struct RunInput {
  std::optional<std::vector<std::int32_t>> tokens = {};
  std::string text = {};  // if there are no tokens
};
// Throws usage `run.ids` for a file that is not a list of numbers.
RunInput run_input(const Arguments& arguments);
// The bytes of a file.
std::string text_in(const std::string& path, Access access);
// --context, --begin and --threads.
run::Options run_options(const Arguments& arguments);
// Warns of what the model's files state and Tare does not compute.
void warn_of_doubts(const run::Scorer& scorer, const std::string& file, Session& session);

}  // namespace tare::cli
