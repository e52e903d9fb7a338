// CBOR: known encodings, what is tolerated, what is refused, and round trips of trees.
#include "wire/cbor.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/budget.hpp"
#include "base/text.hpp"
#include "conformance/cbor_text.hpp"
#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "conformance/values.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using wire::CborMajor;
using wire::CborReader;
using wire::CborWriter;

std::string written(const Value& value) {
  CborWriter writer;
  writer.value(value);
  return to_hex(writer.result());
}

Value parse(const std::string& item, unsigned depth = 64) {
  const Bytes bytes = to_bytes(item);
  CborReader reader(bytes, "f", 100, depth);
  Value value = reader.read_value();
  EXPECT_TRUE(reader.at_end());
  return value;
}

std::string rule_for(const std::string& item, unsigned depth = 64) {
  const auto error = error_of([&] { parse(item, depth); });
  if (!error) return "";
  EXPECT_EQ(error->file(), "f");
  EXPECT_TRUE(error->offset() && *error->offset() >= 100 && *error->offset() <= 100 + item.size()) << error->what();
  return error->rule();
}

// RFC 8949, appendix A, as far as the tree can represent it.
TEST(Cbor, WritesTheExamplesOfTheStandard) {
  EXPECT_EQ(written(0), "00");
  EXPECT_EQ(written(23), "17");
  EXPECT_EQ(written(24), "1818");
  EXPECT_EQ(written(255), "18ff");
  EXPECT_EQ(written(256), "190100");
  EXPECT_EQ(written(1000000), "1a000f4240");
  EXPECT_EQ(written(std::int64_t{1000000000000}), "1b000000e8d4a51000");
  EXPECT_EQ(written(UINT64_MAX), "1bffffffffffffffff");
  EXPECT_EQ(written(-1), "20");
  EXPECT_EQ(written(-1000), "3903e7");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "3b7fffffffffffffff");
  EXPECT_EQ(written(0.0), "f90000");
  EXPECT_EQ(written(-0.0), "f98000");
  EXPECT_EQ(written(1.5), "f93e00");
  EXPECT_EQ(written(65504.0), "f97bff");
  EXPECT_EQ(written(100000.0), "fa47c35000");
  EXPECT_EQ(written(3.4028234663852886e+38), "fa7f7fffff");
  EXPECT_EQ(written(1.1), "fb3ff199999999999a");
  EXPECT_EQ(written(1.0e+300), "fb7e37e43c8800759c");
  EXPECT_EQ(written(5.960464477539063e-8), "f90001");
  EXPECT_EQ(written(0.00006103515625), "f90400");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "f97c00");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "f9fc00");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "f97e00");
  EXPECT_EQ(written(false), "f4");
  EXPECT_EQ(written(true), "f5");
  EXPECT_EQ(written(nullptr), "f6");
  EXPECT_EQ(written(to_bytes("\x01\x02\x03\x04")), "4401020304");
  EXPECT_EQ(written("\xC3\xBC"), "62c3bc");
  EXPECT_EQ(written(List{1, List{2, 3}, List{4, 5}}), "8301820203820405");
  Map map;
  map.set("a", 1);
  map.set("b", List{2, 3});
  EXPECT_EQ(written(map), "a26161016162820203");
}

TEST(Cbor, ReadsTheExamplesOfTheStandard) {
  EXPECT_EQ(parse("\xF9\x3E" + std::string(1, '\0')), Value(1.5));
  EXPECT_EQ(parse("\xFA\x47\xC3\x50" + std::string(1, '\0')), Value(100000.0));
  EXPECT_EQ(parse("\x3B\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(parse("\x1B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), Value(UINT64_MAX));
  EXPECT_EQ(parse(cbor::indefinite_text({"strea", "ming"})), Value("streaming"));
  EXPECT_EQ(parse("\x5F\x42\x01\x02\x43\x03\x04\x05\xFF"), Value(to_bytes("\x01\x02\x03\x04\x05")));
  EXPECT_EQ(parse(cbor::indefinite_array({cbor::number(1), cbor::array({cbor::number(2)})})),
            (Value(List{1, List{2}})));
  Map map;
  map.set("Fun", true);
  EXPECT_EQ(parse(cbor::indefinite_map({{"Fun", "\xF5"}})), Value(map));
}

// What a tree of values cannot represent is kept whole and written back unchanged.
TEST(Cbor, NanKeepsItsBits) {
  for (const char* const hex : {"f97e00", "f97e01", "f97d00", "f97c01", "f9fe00", "fa7fc00001", "fa7f800001",
                                "faffbfffff", "fb7ff8000000000001", "fb7ff0000000000001"}) {
    std::string item;
    for (std::size_t i = 0; hex[i] != 0; i += 2)
      item += static_cast<char>(std::stoi(std::string(hex + i, 2), nullptr, 16));
    EXPECT_EQ(written(parse(item)), hex);
  }
}

TEST(Cbor, KeepsWhatItCannotSay) {
  for (const std::string& item :
       {cbor::tag(1, cbor::number(1363896240)), std::string("\xF7"), std::string("\xF8\xFF"), std::string("\xE0"),
        cbor::head(5, 1) + cbor::number(1) + cbor::number(2), std::string("\x3B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
        cbor::array({cbor::tag(2, cbor::bytes("\x01")), cbor::text("a")})}) {
    const Value value = parse(item);
    const Opaque* opaque = value.get<Opaque>();
    ASSERT_NE(opaque, nullptr);
    EXPECT_EQ(opaque->syntax, "cbor");
    CborWriter writer;
    writer.value(value);
    EXPECT_EQ(to_text(writer.result()), item);
  }
}

// A value of another syntax, or bytes that claim to be CBOR but are not exactly one item, must not become structure.
TEST(Cbor, BytesThatAreNotOneItemAreWrittenAsBytes) {
  for (const std::string& bytes : {std::string(), std::string("\x00\x00", 2), std::string("\x82\x01"),
                                   std::string("\xFF"), std::string("\x61\xFF"), std::string(1001, '\x81') + "\x01"}) {
    CborWriter writer;
    writer.value(Opaque{"cbor", to_bytes(bytes)});
    EXPECT_EQ(to_text(writer.result()), cbor::bytes(bytes));
  }
}

TEST(Cbor, RefusesByRule) {
  EXPECT_EQ(rule_for(""), "cbor.truncated");
  EXPECT_EQ(rule_for("\x18"), "cbor.truncated");
  EXPECT_EQ(rule_for("\x1B\x01\x02\x03"), "cbor.truncated");
  EXPECT_EQ(rule_for("\x63"
                     "ab"),
            "cbor.truncated");
  EXPECT_EQ(rule_for(cbor::head(3, UINT64_MAX) + "ab"), "cbor.truncated");
  EXPECT_EQ(rule_for(cbor::head(2, UINT64_MAX - 2) + "ab"), "cbor.truncated");
  EXPECT_EQ(rule_for("\x9F\x01"), "cbor.truncated");
  EXPECT_EQ(rule_for("\xBF\x61\x61"), "cbor.truncated");
  EXPECT_EQ(rule_for("\x7F\x61\x61"), "cbor.truncated");
  EXPECT_EQ(rule_for("\xC1"), "cbor.truncated");
  EXPECT_EQ(rule_for("\x1C"), "cbor.reserved");
  EXPECT_EQ(rule_for("\xFE"), "cbor.reserved");
  EXPECT_EQ(rule_for("\xFF"), "cbor.reserved");
  EXPECT_EQ(rule_for("\x1F"), "cbor.reserved");
  EXPECT_EQ(rule_for("\xDF" + cbor::number(0)), "cbor.reserved");
  EXPECT_EQ(rule_for("\xBF\x61\x61\xFF"), "cbor.reserved");
  EXPECT_EQ(rule_for("\x62\xC3\x28"), "cbor.utf8");
  EXPECT_EQ(rule_for("\x63\xED\xA0\x80"), "cbor.utf8");
  EXPECT_EQ(rule_for("\x7F\x61\xC3\x61\xBC\xFF"), "cbor.utf8");
  EXPECT_EQ(rule_for("\x7F\x41\x61\xFF"), "cbor.string");
  EXPECT_EQ(rule_for("\x5F\x5F\x41\x61\xFF\xFF"), "cbor.string");
  EXPECT_EQ(rule_for(cbor::head(4, 3) + "\x01\x02"), "cbor.count");
  EXPECT_EQ(rule_for(cbor::head(5, 2) + "\x61\x61\x01"), "cbor.count");
  for (const unsigned major : {4U, 5U})
    for (const std::uint64_t count :
         {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX})
      EXPECT_EQ(rule_for(cbor::head(major, count) + std::string(40, '\0')), "cbor.count");
  EXPECT_EQ(rule_for(cbor::map({{"a", cbor::number(1)}, {"b", cbor::number(2)}, {"a", cbor::number(1)}})),
            "cbor.duplicate");
  EXPECT_EQ(rule_for(cbor::map({{"", cbor::number(1)}, {"", cbor::number(2)}})), "cbor.duplicate");
}

TEST(Cbor, DepthIsBounded) {
  for (const char open : {'\x81', '\x9F'}) {
    EXPECT_EQ(rule_for(std::string(65, open) + "\x01" + std::string(65, '\xFF')), "cbor.depth");
    EXPECT_EQ(rule_for(std::string(1'000'000, open)), "cbor.depth");
  }
  EXPECT_EQ(rule_for(std::string(64, '\x81') + "\x01"), "");
  EXPECT_EQ(rule_for(std::string(4, '\x81') + "\x01", 3), "cbor.depth");
  std::string maps;
  for (int i = 0; i < 100; ++i) maps += "\xA1\x61\x61";
  EXPECT_EQ(rule_for(maps + "\x01"), "cbor.depth");
  // Skipped items count as well.
  const Bytes deep = to_bytes(std::string(100'000, '\x81'));
  CborReader reader(deep, "f", 0, 64);
  EXPECT_EQ(rule_of([&] { reader.skip(); }), "cbor.depth");
}

TEST(Cbor, TypesAreExpected) {
  const auto reading = [](const std::string& item, const auto& read) {
    const Bytes bytes = to_bytes(item);
    CborReader reader(bytes, "f", 0, 64);
    return rule_of([&] { read(reader); });
  };
  EXPECT_EQ(reading("\x20", [](CborReader& r) { r.read_uint(); }), "cbor.type");
  EXPECT_EQ(reading("\xF9\x3C" + std::string(1, '\0'), [](CborReader& r) { r.read_uint(); }), "cbor.type");
  EXPECT_EQ(reading(cbor::bytes("a"), [](CborReader& r) { r.read_text(); }), "cbor.type");
  EXPECT_EQ(reading(cbor::text("a"), [](CborReader& r) { r.read_bytes(); }), "cbor.type");
  EXPECT_EQ(reading("\x80", [](CborReader& r) { r.enter(CborMajor::map); }), "cbor.type");
  EXPECT_EQ(reading("\xA0", [](CborReader& r) { r.enter(CborMajor::array); }), "cbor.type");
  EXPECT_EQ(reading("\xA1\x01\x02", [](CborReader& r) { r.read_map(); }), "cbor.type");
  // A big number that does not fit, and one that does.
  EXPECT_EQ(
      reading(cbor::tag(2, cbor::bytes(std::string("\x01\0\0\0\0\0\0\0\0", 9))), [](CborReader& r) { r.read_uint(); }),
      "cbor.type");
  EXPECT_EQ(reading(cbor::tag(3, cbor::bytes("\x01")), [](CborReader& r) { r.read_uint(); }), "cbor.type");
  EXPECT_EQ(reading(cbor::tag(2, cbor::bytes(std::string("\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10))),
                    [](CborReader& r) { EXPECT_EQ(r.read_uint(), UINT64_MAX); }),
            "");
}

TEST(Cbor, DeviationsAreNoted) {
  const auto seen = [](const std::string& item) {
    const Bytes bytes = to_bytes(item);
    CborReader reader(bytes, "f", 0, 64);
    reader.skip();
    return std::string(reader.saw_indefinite() ? "i" : "") + (reader.saw_long_head() ? "l" : "") +
           (reader.saw_tag() ? "t" : "");
  };
  EXPECT_EQ(seen(cbor::array({cbor::number(23), cbor::number(24), cbor::number(65536)})), "");
  EXPECT_EQ(seen(cbor::number(23, 1)), "l");
  EXPECT_EQ(seen(cbor::number(255, 2)), "l");
  EXPECT_EQ(seen(cbor::number(65535, 4)), "l");
  EXPECT_EQ(seen(cbor::number(UINT32_MAX, 8)), "l");
  EXPECT_EQ(seen("\x9F\xFF"), "i");
  EXPECT_EQ(seen(cbor::tag(5, cbor::number(1))), "t");
  EXPECT_EQ(seen("\xFB" + std::string(8, '\0')), "");  // floats may have any width
}

TEST(Cbor, TooManyValuesAreRefusedBeforeTheyFillTheMemory) {
  const std::size_t count = (std::size_t{1} << 22) + 8;
  const Spending spending({.values = count - 1});
  EXPECT_EQ(rule_for(cbor::head(4, count) + std::string(count, '\xF6')), "open.values");
}

// Skipping allocates nothing, however many short strings there are.
TEST(Cbor, SkippingAllocatesNothing) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  std::string item = cbor::head(4, 50000);
  for (int i = 0; i < 50000; ++i) item += "\x7F\xFF";
  const Bytes bytes = to_bytes(item);
  CborReader reader(bytes, "f", 0, 64);
  EXPECT_LT(peak_during([&] { reader.skip(); }), 1024U);
  EXPECT_TRUE(reader.at_end());
}

RC_GTEST_PROP(CborProperty, TreesComeBack, ()) {
  const Value value = *gen_value(4);
  CborWriter writer;
  writer.value(value);
  CborReader reader(writer.result(), "f", 0, 64);
  const Value back = reader.read_value();
  RC_ASSERT(reader.at_end());
  RC_ASSERT(back == value);
  RC_ASSERT(!reader.saw_indefinite() && !reader.saw_long_head() && !reader.saw_tag());
  CborReader skipping(writer.result(), "f", 0, 64);
  skipping.skip();
  RC_ASSERT(skipping.at_end());
}

RC_GTEST_PROP(CborProperty, SoupEndsInAValueOrAnError, (const std::vector<std::uint8_t>& soup)) {
  const auto bytes = std::as_bytes(std::span(soup));
  for (const bool skip : {false, true}) {
    CborReader reader(bytes, "f", 0, 16);
    error_of([&] {
      if (skip)
        reader.skip();
      else
        reader.read_value();
    });
  }
}

}  // namespace
}  // namespace tare
