// Map compared with a simple model, and its hash function.
#include "tare/value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_hash.hpp"

namespace tare {
namespace {

// Expected: Python's hash of bytes with PYTHONHASHSEED=0.
TEST(KeyedHash, IsSipHash13) {
  EXPECT_EQ(siphash("a", 0, 0), 0x407448d2b89b1813u);
  EXPECT_EQ(siphash("12345678", 0, 0), 0x3489982430560a87u);
  EXPECT_EQ(siphash("the key of an entry", 0, 0), 0xb1f2d99816ead641u);
  EXPECT_NE(siphash("a", 1, 0), siphash("a", 0, 0));
  EXPECT_NE(siphash("a", 0, 1), siphash("a", 0, 0));
}

TEST(Value, IsMadeOfEveryKindOfNumber) {
  EXPECT_EQ(Value(5u), Value(5));
  EXPECT_EQ(Value(5ll), Value(std::int64_t{5}));
  EXPECT_EQ(Value(5ull), Value(std::uint64_t{5}));
  EXPECT_EQ(Value(short{-5}), Value(-5));
  EXPECT_EQ(Value(std::uint8_t{255}), Value(255));
  EXPECT_EQ(Value(~0ull), Value(~std::uint64_t{0}));
  EXPECT_NE(Value(~0ull), Value(-1));
  EXPECT_NE(Value(true), Value(1));
  EXPECT_EQ(Value(0.5f), Value(0.5));
}

// They would convert to true.
static_assert(!std::is_constructible_v<Value, const int*> && !std::is_constructible_v<Value, const char8_t*>);

std::string key_of(std::size_t i) { return "key " + std::to_string(i); }

Map counted(std::size_t count) {
  Map map;
  for (std::size_t i = 0; i < count; ++i) map.append(key_of(i), static_cast<std::int64_t>(i));
  return map;
}

class MapOf : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, MapOf, ::testing::Values(0, 1, 15, 16, 17, 18, 31, 32, 33, 64, 65, 5000));

TEST_P(MapOf, FindsEveryKeyAndNoOther) {
  const Map map = counted(GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    const Value* const value = map.find(key_of(i));
    ASSERT_NE(value, nullptr) << i;
    EXPECT_EQ(*value, Value(static_cast<std::int64_t>(i)));
  }
  EXPECT_EQ(map.find(key_of(GetParam())), nullptr);
  EXPECT_EQ(map.find(""), nullptr);
}

TEST_P(MapOf, SetReplacesInPlaceOrAppends) {
  Map map = counted(GetParam());
  for (std::size_t i = 0; i < GetParam(); i += 2) map.set(key_of(i), "new");
  map.set("last", "new");
  ASSERT_EQ(map.size(), GetParam() + 1);
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(map.begin()[i].first, key_of(i));
    EXPECT_EQ(map.begin()[i].second, i % 2 == 0 ? Value("new") : Value(static_cast<std::int64_t>(i)));
  }
  EXPECT_EQ(map.find("last"), &map.begin()[GetParam()].second);
}

TEST_P(MapOf, CopiesAndMovedMapsAreWhole) {
  Map map = counted(GetParam());
  const Map copy = map;
  const Map moved = std::move(map);
  EXPECT_EQ(copy, moved);
  map = Map();
  map.append("again", 1);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_NE(map.find("again"), nullptr);
  EXPECT_EQ(map.find(key_of(0)), nullptr);
}

TEST_P(MapOf, ErasedKeysAreGoneAndTheOthersFound) {
  Map map = counted(GetParam());
  const auto odd = [](const Map::Entry& entry) { return *entry.second.get<std::int64_t>() % 2 == 1; };
  EXPECT_EQ(map.erase_if(odd), GetParam() / 2);
  EXPECT_EQ(map.erase_if(odd), 0u);
  EXPECT_EQ(map.erase(key_of(0)), GetParam() > 0);
  EXPECT_FALSE(map.erase(key_of(0)));
  for (std::size_t i = 0; i < GetParam(); ++i) EXPECT_EQ(map.find(key_of(i)) != nullptr, i != 0 && i % 2 == 0) << i;
}

TEST_P(MapOf, EqualityIgnoresTheOrder) {
  const Map map = counted(GetParam());
  Map turned;
  for (std::size_t i = GetParam(); i-- > 0;) turned.append(key_of(i), static_cast<std::int64_t>(i));
  EXPECT_EQ(map, turned);
  if (GetParam() == 0) return;
  *turned.find(key_of(0)) = "other";
  EXPECT_FALSE(map == turned);
}

TEST(Map, OfEqualKeysTheFirstIsFound) {
  Map map = counted(40);
  for (int i = 0; i < 1000; ++i) map.append("twice", i);
  EXPECT_EQ(*map.find("twice"), Value(0));
  map.erase_if([](const Map::Entry& entry) { return entry.second == Value(0); });
  EXPECT_EQ(*map.find("twice"), Value(1));
  EXPECT_EQ(*map.find(key_of(39)), Value(39));
}

TEST(Value, AMapReturnsAValueOfOneKind) {
  Map map;
  map.set("count", 3);
  map.set("name", "a");
  map.set("none", nullptr);
  ASSERT_NE(map.get<std::int64_t>("count"), nullptr);
  EXPECT_EQ(*map.get<std::int64_t>("count"), 3);
  ASSERT_NE(map.get<std::string>("name"), nullptr);
  EXPECT_EQ(*map.get<std::string>("name"), "a");
  EXPECT_EQ(map.get<std::string>("count"), nullptr);
  EXPECT_EQ(map.get<std::string>("none"), nullptr);
  EXPECT_EQ(map.get<std::string>("missing"), nullptr);
}

}  // namespace
}  // namespace tare
