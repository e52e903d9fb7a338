#include "tare/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tare {
namespace {

using namespace std::string_literals;

// Names from files stand in items and sentences: none of them may cut the text short or begin a line of its own.
TEST(ErrorText, ControlCharactersAreSpelledOut) {
  const Error error = Error(ErrorKind::corrupt, "a.rule", "the name \"x\0y\" has\n\x1b\x7f"s).in("f\n").about("a\0b"s);
  EXPECT_STREQ(error.what(), R"(f\n: a\x00b: the name "x\x00y" has\n\x1B\x7F (a.rule))");
  EXPECT_EQ(error.sentence(), R"(the name "x\x00y" has\n\x1B\x7F)");
  EXPECT_EQ(error.item(), R"(a\x00b)");
  EXPECT_EQ(error.file(), "f\n") << "still the name of the file";
}

}  // namespace
}  // namespace tare
