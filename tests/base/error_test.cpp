#include "tare/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tare {
namespace {

using namespace std::string_literals;

// Items and sentences contain names from files; none may truncate the text or begin a new line.
TEST(ErrorText, ControlCharactersAreSpelledOut) {
  const Error error = Error(ErrorKind::corrupt, "a.rule", "the name \"x\0y\" has\n\x1b\x7f"s).in("f\n").about("a\0b"s);
  EXPECT_STREQ(error.what(), R"(f\n: a\x00b: the name "x\x00y" has\n\x1B\x7F (a.rule))");
  EXPECT_EQ(error.sentence(), R"(the name "x\x00y" has\n\x1B\x7F)");
  EXPECT_EQ(error.item(), R"(a\x00b)");
  EXPECT_EQ(error.file(), "f\n") << "still the name of the file";
}

TEST(ErrorFacts, RemediesAreKeptInOrderAndNotInTheText) {
  Error error(ErrorKind::lossy, "a.rule", "no room");
  EXPECT_TRUE(error.remedies().empty());
  const Error before = error;
  error.remedy(Remedy::weights_only).remedy(Remedy::drop, "config").remedy(Remedy::skip, "a\nb");
  ASSERT_EQ(error.remedies().size(), 3U);
  EXPECT_EQ(error.remedies()[0], (Advice{Remedy::weights_only, ""}));
  EXPECT_EQ(error.remedies()[1], (Advice{Remedy::drop, "config"}));
  EXPECT_EQ(error.remedies()[2], (Advice{Remedy::skip, ""})) << "nobody could copy this name from a terminal";
  EXPECT_STREQ(error.what(), "no room (a.rule)");
  EXPECT_TRUE(before.remedies().empty()) << "a copy is not changed";
}

TEST(ErrorFacts, TheFirstWhoBlamesWins) {
  Error error(ErrorKind::unsupported, "a.rule", "too large");
  EXPECT_EQ(error.subject(), Subject::unsaid);
  error.blame(Subject::input).blame(Subject::output);
  EXPECT_EQ(error.subject(), Subject::input);
}

TEST(ErrorFacts, RewordedIsTheSameButForTheSentence) {
  const Error error = Error(ErrorKind::limit, "a.rule", "too much")
                          .in("f")
                          .at(7)
                          .about("x")
                          .blame(Subject::machine)
                          .remedy(Remedy::allow_expansion, "9");
  EXPECT_STREQ(error.what(), "f: x: too much (a.rule, byte 7)");
  const Error other = error.reworded("far too much\n");
  EXPECT_STREQ(other.what(), "f: x: far too much\\n (a.rule, byte 7)");
  EXPECT_EQ(other.kind(), ErrorKind::limit);
  EXPECT_EQ(other.subject(), Subject::machine);
  EXPECT_EQ(other.remedies(), error.remedies());
  EXPECT_STREQ(error.what(), "f: x: too much (a.rule, byte 7)");
}

TEST(ErrorFacts, EveryRemedyHasAName) {
  EXPECT_EQ(name_of(Remedy::overwrite), "overwrite");
  EXPECT_EQ(name_of(Remedy::restore_leftover), "restore_leftover");
  EXPECT_EQ(name_of(Subject::output), "output");
}

// By default, the finer functions report warnings and notes.
TEST(Diagnostics, TheFinerCallsFallBack) {
  class Counter final : public Diagnostics {
   public:
    void warning(const Error& /*about*/) override { ++warnings; }
    void note(const Error& /*about*/) override { ++notes; }
    int warnings = 0, notes = 0;
  };
  Counter counter;
  Diagnostics& diagnostics = counter;
  const Error error(ErrorKind::corrupt, "a.rule", "is bad");
  diagnostics.ignored_value(error);
  diagnostics.left_behind(error);
  EXPECT_EQ(counter.warnings, 1);
  EXPECT_EQ(counter.notes, 1);
}

}  // namespace
}  // namespace tare
