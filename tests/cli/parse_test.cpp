// The parser of the command line: for each list of words the result, or the sentence that refuses it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/options.hpp"

namespace tare::cli {
namespace {

Words sizes() { return {"small", "large"}; }

constexpr Operand kOperands[] = {{.name = "IN"}, {.name = "OUT"}, {.name = "REST", .required = false, .many = true}};
constexpr Option kOptions[] = {
    {.letter = 'f', .name = "force"},
    {.letter = 'o', .name = "output", .value = "PATH"},
    {.name = "match", .value = "GLOB", .repeatable = true},
    {.name = "size", .value = "SIZE", .words = sizes},
    {.letter = 'z', .name = "zstd", .value = "LEVEL", .optional_value = true},
    {.name = "threads", .value = "N"},
};
constexpr Verb kCopy{.name = "copy", .operands = kOperands, .options = kOptions};
constexpr Operand kOne[] = {{.name = "FILE", .required = false}};
constexpr Verb kLook{.name = "look", .operands = kOne};

// "force output=a,b | IN OUT": the options in alphabetical order with their values, and the operands.
std::string understood(const Verb& verb, const Words& words) {
  try {
    const Arguments arguments = parse(verb, words);
    std::string text;
    std::vector<Option> options = options_of(verb);
    std::ranges::sort(options, {}, &Option::name);
    for (const Option& option : options) {
      if (!arguments.has(option.name)) continue;
      const auto& values = arguments.all(option.name);
      text += fmt::format("{}{}{} ", option.name, values.empty() ? "" : "=", fmt::join(values, ","));
    }
    return text + fmt::format("| {}", fmt::join(arguments.operands(), " "));
  } catch (const UsageError& error) {
    return error.what();
  }
}

struct Row {
  Words words;
  std::string_view result;
};

TEST(Parse, Understands) {
  const Row rows[] = {
      {{"a", "b"}, "| a b"},
      {{"a", "b", "c", "d"}, "| a b c d"},
      // Options before, between and after operands.
      {{"--force", "a", "b"}, "force | a b"},
      {{"a", "--force", "b", "-q"}, "force quiet | a b"},
      // Values: in the next word or after "=", with any contents.
      {{"a", "b", "--output", "x"}, "output=x | a b"},
      {{"a", "b", "--output=x=y"}, "output=x=y | a b"},
      {{"a", "b", "--output="}, "output= | a b"},
      {{"a", "b", "--output", ""}, "output= | a b"},
      {{"a", "b", "--output", "-"}, "output=- | a b"},
      {{"a", "b", "--threads", "-1"}, "threads=-1 | a b"},
      {{"a", "b", "--match", "[a,b]"}, "match=[a,b] | a b"},
      {{"a", "b", "--match", "--x"}, "match=--x | a b"},
      {{"a", "b", "--match=--force"}, "match=--force | a b"},
      // Letters.
      {{"a", "b", "-f"}, "force | a b"},
      {{"a", "b", "-o", "x"}, "output=x | a b"},
      {{"a", "b", "-ox"}, "output=x | a b"},
      {{"a", "b", "-o=x"}, "output=x | a b"},
      {{"a", "b", "-fq"}, "force quiet | a b"},
      {{"a", "b", "-fqox"}, "force output=x quiet | a b"},
      {{"a", "b", "-fo", "x"}, "force output=x | a b"},
      {{"a", "b", "-zf"}, "force zstd | a b"},
      {{"a", "b", "-z=3"}, "zstd=3 | a b"},
      // A value that may be omitted is never the next word.
      {{"a", "--zstd", "b"}, "zstd | a b"},
      {{"a", "b", "--zstd=3"}, "zstd=3 | a b"},
      // Repeated: all values are kept, and one without a value resets the others.
      {{"a", "b", "--match", "x", "--match=y"}, "match=x,y | a b"},
      {{"a", "b", "--force", "-f"}, "force | a b"},
      {{"a", "b", "--zstd=3", "--zstd"}, "zstd | a b"},
      // After "--" everything is an operand; "-" always is.
      {{"--", "--force", "-x"}, "| --force -x"},
      {{"-f", "a", "--", "b", "--", "c"}, "force | a b -- c"},
      {{"-", "-"}, "| - -"},
      // Help needs nothing else.
      {{"--help"}, "help | "},
      {{"a", "-h"}, "help | a"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(understood(kCopy, row.words), row.result) << fmt::format("{}", fmt::join(row.words, " "));
}

TEST(Parse, Refuses) {
  const Row rows[] = {
      {{}, "IN is missing"},
      {{"a"}, "OUT is missing"},
      {{"a", ""}, "operand 2 is an empty string"},
      // Options that do not exist.
      {{"--frobnicate"}, "unknown option '--frobnicate'"},
      {{"--forse"}, "unknown option '--forse'; did you mean --force?"},
      {{"--sizes=small"}, "unknown option '--sizes'; did you mean --size?"},
      {{"--out", "x"}, "unknown option '--out'; did you mean --output?"},
      {{"--="}, "unknown option '--'"},
      {{"-x"}, "unknown option '-x'"},
      {{"-fx"}, "unknown option '-x' in '-fx'"},
      {{"-force"}, "unknown option '-force'; did you mean --force?"},
      {{"-output=x"}, "unknown option '-output'; did you mean --output?"},
      {{"--forc\x1b[31m"}, "unknown option '--forc\\x1B[31m'"},
      // Values that are missing, too many or not allowed.
      {{"a", "b", "--output"}, "--output needs a value"},
      {{"a", "b", "-o"}, "--output needs a value"},
      {{"a", "b", "-fo"}, "--output needs a value"},
      {{"a", "--output", "--", "b"}, "--output needs a value"},
      {{"a", "b", "-o", "--force"}, "--output needs a value; if --force is meant as one, write --output=--force"},
      {{"a", "b", "--match", "-f"}, "--match needs a value; if -f is meant as one, write --match=-f"},
      {{"a", "b", "--match", "--size=large"},
       "--match needs a value; if --size=large is meant as one, write --match=--size=large"},
      {{"a", "b", "--force=yes"}, "--force takes no value"},
      {{"a", "b", "--force="}, "--force takes no value"},
      {{"a", "b", "-f=yes"}, "--force takes no value"},
      {{"a", "b", "--size", "huge"}, "--size takes one of small, large, not 'huge'"},
      {{"a", "b", "--size=huge", "--size=small"}, "--size takes one of small, large, not 'huge'"},
      {{"a", "b", "--color=pink"}, "--color takes one of auto, always, never, not 'pink'"},
      // Errors are reported before help is printed.
      {{"--help", "--frobnicate"}, "unknown option '--frobnicate'"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(understood(kCopy, row.words), row.result) << fmt::format("{}", fmt::join(row.words, " "));
}

TEST(Parse, KnowsHowManyOperandsAVerbTakes) {
  EXPECT_EQ(understood(kLook, {}), "| ");
  EXPECT_EQ(understood(kLook, {"a"}), "| a");
  EXPECT_EQ(understood(kLook, {"a", "b"}), "unexpected operand 'b'");
  // It does not accept options of other verbs.
  EXPECT_EQ(understood(kLook, {"-f"}), "unknown option '-f'");
}

TEST(Arguments, Numbers) {
  const auto threads = [](const Words& more) -> std::string {
    Words words{"a", "b"};
    words.insert(words.end(), more.begin(), more.end());
    try {
      return fmt::to_string(parse(kCopy, words).threads());
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(threads({}), "0");
  EXPECT_EQ(threads({"--threads", "7"}), "7");
  EXPECT_EQ(threads({"--threads=7", "--threads=9"}), "9");
  for (const std::string bad : {"", "-1", "4097", "many", "7x", "99999999999999999999"})
    EXPECT_EQ(threads({"--threads", bad}), fmt::format("--threads takes a whole number from 0 to 4096, not '{}'", bad));
}

}  // namespace
}  // namespace tare::cli
