// No contents of a file may control a terminal, in whatever form they are shown: as a line, as JSON, as an error, as a
// long text.
#include "base/printable.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_stream.hpp"
#include "conformance/memory.hpp"
#include "tare/error.hpp"
#include "tare/value.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

using namespace std::string_literals;

// Unicode's own lists (categories Cc, Zl, Zp, the property Bidi_Control, the deprecated format characters),
// deliberately independent of the function under test.
bool must_not_be_shown(std::uint32_t c) {
  constexpr std::uint32_t kSingle[] = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E,
                                       0x2066, 0x2067, 0x2068, 0x2069, 0x206A, 0x206B, 0x206C, 0x206D, 0x206E, 0x206F};
  if (c <= 0x1F || (c >= 0x7F && c <= 0x9F)) return true;
  return std::find(std::begin(kSingle), std::end(kSingle), c) != std::end(kSingle);
}

// The UTF-8 bytes of a code point of the first plane; for a surrogate, bytes that are invalid UTF-8.
std::string utf8(std::uint32_t c) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

bool is_surrogate(std::uint32_t c) { return c >= 0xD800 && c < 0xE000; }

// Returns "" if the text is valid UTF-8 without characters that must not be shown, except those in `allowed`.
std::string trouble_of(std::string_view text, std::string_view allowed = "") {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || i + length > text.size()) return "not UTF-8";
    std::uint32_t c = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t j = 1; j < length; ++j) c = c << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3FU);
    if (is_surrogate(c)) return "a surrogate";
    const bool excepted = length == 1 && allowed.find(text[i]) != std::string_view::npos;
    if (must_not_be_shown(c) && !excepted) return fmt::format("U+{:04X}", c);
    i += length;
  }
  return {};
}

// Every code point of the first plane, alone and between letters.
template <typename Check>
void for_each_text(const Check& check) {
  // With sanitizers, tests fewer of the many code points after punctuation, which are all alike.
  const auto next = [](std::uint32_t c) { return c + (testing::kCountsMemory || c < 0x3100 || c > 0xD700 ? 1 : 64); };
  for (std::uint32_t c = 0; c < 0x10000 && !::testing::Test::HasFailure(); c = next(c))
    for (const std::string& text : {utf8(c), "a" + utf8(c) + "b"}) check(c, text);
}

TEST(Printable, EveryCodePointOnALine) {
  for_each_text([](std::uint32_t c, const std::string& text) {
    const std::string shown = printable(text);
    EXPECT_EQ(trouble_of(shown), "") << fmt::format("U+{:04X}", c);
    EXPECT_EQ(printable(shown), shown) << "what is printable stays as it is";
    EXPECT_EQ(shown == text, !must_not_be_shown(c) && !is_surrogate(c)) << fmt::format("U+{:04X}", c);
  });
}

TEST(Printable, EveryCodePointInAnError) {
  for_each_text([](std::uint32_t c, const std::string& text) {
    const Error error = Error(ErrorKind::corrupt, "a.rule", "it says " + text).in("file " + text).about("item " + text);
    EXPECT_EQ(trouble_of(error.what()), "") << fmt::format("U+{:04X}", c);
    EXPECT_EQ(trouble_of(error.sentence()), "") << fmt::format("U+{:04X}", c);
    EXPECT_EQ(trouble_of(error.item()), "") << fmt::format("U+{:04X}", c);
    EXPECT_EQ(error.file(), "file " + text) << "the path itself";
  });
}

// Escapes are another spelling of the same value.
TEST(Printable, EveryCodePointInJson) {
  for_each_text([](std::uint32_t c, const std::string& text) {
    std::string out;
    JsonWriter json(out);
    Map map;
    map.append(text, Value(text));
    json.open('[').text(text).open('{').key(text).number(std::uint64_t{1}).close('}').raw(to_json(map)).close(']');
    EXPECT_EQ(trouble_of(out), "") << fmt::format("U+{:04X}", c);
    wire::TreeBounds bounds;
    const Value parsed = wire::read_json(out, bounds);
    if (is_surrogate(c)) return;
    Map number;
    number.append(text, 1);
    EXPECT_EQ(parsed, Value(List{text, number, map})) << fmt::format("U+{:04X}", c);
  });
}

TEST(Printable, EveryCodePointInALongText) {
  for_each_text([](std::uint32_t c, const std::string& text) {
    TerminalFilter at_once;
    std::string whole = at_once.filter(text);
    whole += at_once.finish();
    EXPECT_EQ(trouble_of(whole, "\n\t"), "") << fmt::format("U+{:04X}", c);
    TerminalFilter by_bytes;
    std::string pieces;
    for (const char byte : text) pieces += by_bytes.filter({&byte, 1});
    EXPECT_EQ(pieces + by_bytes.finish(), whole) << fmt::format("U+{:04X}", c);
    EXPECT_EQ(whole == text, (!must_not_be_shown(c) || c == '\n' || c == '\t') && !is_surrogate(c))
        << fmt::format("U+{:04X}", c);
  });
}

TEST(Printable, Spellings) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), R"(a\nb\tc\x1B[31m\x7F)");
  EXPECT_EQ(printable("\xc2\x9b\xe2\x80\xae"), R"(\xC2\x9B\xE2\x80\xAE)");
  EXPECT_EQ(printable("caf\xe9 \xc0\x80 \xed\xa0\x80 \xf5"), R"(caf\xE9 \xC0\x80 \xED\xA0\x80 \xF5)");
  EXPECT_EQ(printable("重み 🙂 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac"),
            "重み 🙂 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac");
  EXPECT_EQ(printable_json("[\"\x7f\xc2\x9b\xe2\x80\xa8\",\n1]"), "[\"\\u007f\\u009b\\u2028\",\n1]");
}

TEST(Printable, LinesOfALongTextStay) {
  TerminalFilter filter;
  EXPECT_EQ(filter.filter("one\r\ntwo\tthree\n\x1b["), "one\r\ntwo\tthree\n\\x1B[");
  EXPECT_EQ(filter.filter("31m back\r"), "31m back") << "a CR alone would go back and write over it";
  EXPECT_EQ(filter.filter("x\r"), "\\x0Dx");
  EXPECT_EQ(filter.filter("\n\xe9\x87"), "\r\n");
  EXPECT_EQ(filter.filter("\x8d\xc2"), "重");
  EXPECT_EQ(filter.filter("\x9b"), "\\xC2\\x9B") << "cut between the two bytes of a control";
  EXPECT_EQ(filter.filter("\xf0\x9f"), "");
  EXPECT_EQ(filter.finish(), "\\xF0\\x9F");
}

// The syntax name of an opaque value comes from the file.
TEST(Printable, ASyntaxCannotLeaveItsString) {
  const Value value(Opaque{"x\":1,\"forged\":true,\"\x1b", Bytes(2)});
  wire::TreeBounds bounds;
  const Value parsed = wire::read_json(to_json(value), bounds);
  ASSERT_EQ(parsed.get<Map>()->size(), 1U);
  EXPECT_EQ(parsed.get<Map>()->begin()->first, "$x\":1,\"forged\":true,\"\x1b");
  EXPECT_EQ(to_json(Value(Opaque{"cbor", Bytes(2)})), R"({"$cbor":"0000"})");
}

TEST(Printable, ANameCannotSteerATerminal) {
  EXPECT_EQ(escape_name("\x1B[31mred\x07\x7F"), "\\x1B[31mred\\x07\\x7F");
  EXPECT_EQ(escape_name("\xC2\x9B"), "\\xC2\\x9B");
  EXPECT_EQ(escape_name(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escape_name("caf\xC3\xA9 \\ \n"), "caf\xC3\xA9 \\\\ \\n");
  // Digests of models depend on this form of names, so it must not change.
  EXPECT_EQ(one_line("\x1B\t\\"), "\x1B\\t\\\\");
}

// Ten thousand messages about one name of a megabyte must not take ten gigabytes, or the time to write them.
TEST(Printable, AMessageQuotesALittle) {
  const std::string name(1'000'000, 'x');
  EXPECT_EQ(quote(name), std::string(kQuotedBytes, 'x') + "..., 1,000,000 bytes in all");
  EXPECT_EQ(quote("short\n"), "short\\n");
  // Never cuts inside a character.
  EXPECT_TRUE(
      quote(std::string(kQuotedBytes - 1, 'x') + "\u20AC").starts_with(std::string(kQuotedBytes - 1, 'x') + "..."));
  Error error(ErrorKind::corrupt, "a.rule", name);
  error.about(name).remedy(Remedy::skip, name).remedy(Remedy::skip, "w");
  EXPECT_LT(std::string(error.what()).size(), 6000u);
  EXPECT_TRUE(error.remedies()[0].argument.empty()) << "one that is cut short would be another one";
  EXPECT_EQ(error.remedies()[1].argument, "w");
  EXPECT_LT(error.reworded(name).sentence().size(), 5000u);
}

}  // namespace
}  // namespace tare
