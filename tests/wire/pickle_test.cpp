// The pickle machine: what opcodes build, and a check that it neither executes nor expands anything.
#include "wire/pickle.hpp"

#include "conformance/models.hpp"
#include "conformance/torch_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using wire::Pickle;
using wire::PickleKind;

struct Held {
  explicit Held(std::string_view text) : bytes(to_bytes(text)), pickle(bytes, 0) {}
  Bytes bytes;
  Pickle pickle;
};

std::vector<Pickle::Ref> items(const Pickle& pickle, Pickle::Ref ref) {
  std::vector<Pickle::Ref> found;
  pickle.each_item(ref, [&](Pickle::Ref item) { found.push_back(item); });
  return found;
}

TEST(Pickle, Numbers) {
  Held held("](K\x07M\xE8\x03J\xFF\xFF\xFF\xFF\x8A\x01\x80\x8A" + std::string(1, '\0') + "I-5\nL99L\nF-0.25\n" +
            pk::real(1e300) + "e.");
  Pickle& p = held.pickle;
  p.run();
  const auto list = items(p, p.root());
  ASSERT_EQ(list.size(), 9U);
  const std::int64_t expected[] = {7, 1000, -1, -128, 0, -5, 99};
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(p.integer(list[i]), expected[i]) << i;
  EXPECT_EQ(p.real(list[7]), -0.25);
  EXPECT_EQ(p.real(list[8]), 1e300);
  EXPECT_EQ(p.length(), held.bytes.size());
}

TEST(Pickle, LargeNumbersStayDigits) {
  Held held("]L" + std::string(100000, '9') + "L\na.");
  held.pickle.run();
  const auto list = items(held.pickle, held.pickle.root());
  EXPECT_EQ(held.pickle.kind(list[0]), PickleKind::large);
  EXPECT_EQ(held.pickle.text(list[0]).size(), 100000U);
}

TEST(Pickle, TextsOfProtocol0) {
  Held held("](S'a\\'\\x41\\101\\n'\nV\\u00e9\\U0001F600\xE9\nS\"q\"\ne.");
  held.pickle.run();
  const auto list = items(held.pickle, held.pickle.root());
  EXPECT_EQ(held.pickle.text(list[0]), "a'AA\n");
  EXPECT_EQ(held.pickle.text(list[1]), "\xC3\xA9\xF0\x9F\x98\x80\xC3\xA9");
  EXPECT_EQ(held.pickle.text(list[2]), "q");
}

TEST(Pickle, WhatIsSharedIsOneValue) {
  Held held("](]q" + pk::u8(0) + "h" + pk::u8(0) + "2e.");
  held.pickle.run();
  const auto list = items(held.pickle, held.pickle.root());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0], list[1]);
  EXPECT_EQ(list[1], list[2]);
}

TEST(Pickle, CallsAreDataAndGlobalsAreNames) {
  Held held(pk::call(pk::global("os", "system"), {pk::text("x")}) + "}b" + ".");
  Pickle& p = held.pickle;
  p.run();
  EXPECT_EQ(p.kind(p.root()), PickleKind::call);
  EXPECT_EQ(p.module_of(p.callable(p.root())), "os");
  EXPECT_EQ(p.name_of(p.callable(p.root())), "system");
  EXPECT_EQ(p.text(p.tuple(p.arguments(p.root()))[0]), "x");
  int states = 0;
  p.each_state(p.root(), [&](Pickle::Ref) { ++states; });
  EXPECT_EQ(states, 1);
  ASSERT_EQ(p.globals().size(), 1U);
  EXPECT_EQ(p.globals()[0].at, 0U);
}

TEST(Pickle, GlobalsBehindAFailureAreFound) {
  Held held("}Na" + pk::text("os") + "q" + pk::u8(0) + pk::text("popen") + "\x93" + pk::global("a.b", "c") + ".");
  EXPECT_EQ(rule_of([&] { held.pickle.run(); }), "pickle.type");
  EXPECT_TRUE(held.pickle.globals().empty());
  held.pickle.scan_rest();
  ASSERT_EQ(held.pickle.globals().size(), 2U);
  EXPECT_EQ(held.pickle.globals()[0].module, "os");
  EXPECT_EQ(held.pickle.globals()[0].name, "popen");
  EXPECT_TRUE(held.pickle.globals()[1].scanned);
}

TEST(Pickle, ValuesAreCounted) {
  const auto rule_with = [](const Allowance& allowance, const std::string& text) {
    return rule_of([&] {
      const Spending spending(allowance);
      Held(text).pickle.run();
    });
  };
  const std::string lists(1000, ']');  // two lists cost as much as one value of metadata; the tuple counts, too
  EXPECT_EQ(rule_with({.values = 500}, "(" + lists + "t."), "open.values");
  EXPECT_EQ(rule_with({.values = 501}, "(" + lists + "t."), "");
  // Constants and small numbers are not new values.
  EXPECT_EQ(rule_with({.values = 1}, "(" + std::string(1000, 'N') + "t."), "");
  // Every opcode is a step.
  EXPECT_EQ(rule_with({.steps = 1001}, "(" + lists + "t."), "open.steps");
  EXPECT_EQ(rule_with({.steps = 1002}, "(" + lists + "t."), "");
}

// A dict with a thousand states that are not dicts costs a thousand steps per lookup, whatever the key.
TEST(Pickle, SegmentsOfOtherKindsAreSteps) {
  std::string states = pk::global("collections", "OrderedDict") + ")R";
  for (int i = 0; i < 1000; ++i) states += "Nb";
  const Spending spending({.steps = 10'000});
  Held held(states + ".");
  held.pickle.run();
  const auto look = [&] { held.pickle.each_pair(held.pickle.root(), [](Pickle::Ref, Pickle::Ref) {}); };
  for (int i = 0; i < 7; ++i) look();
  EXPECT_EQ(rule_of(look), "open.steps");
}

TEST(Pickle, LengthIsThatUpToStop) {
  EXPECT_EQ(Pickle::length_of(to_bytes("\x80\x02}.rest")), 4U);
  EXPECT_EQ(Pickle::length_of(to_bytes("\x80\x02}")), std::nullopt);
  EXPECT_EQ(Pickle::length_of(to_bytes("\x80\x02X\x05")), std::nullopt);
  EXPECT_EQ(Pickle::length_of(to_bytes("\xFF.")), std::nullopt);
}

}  // namespace
}  // namespace tare
