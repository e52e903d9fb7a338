// Changes as sentences: one formatter for all kinds.
#include "tare/change.hpp"

#include <gtest/gtest.h>

namespace tare {
namespace {

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::string(1, static_cast<char>('a' + i)));
  return all;
}

TEST(Change, OfTensors) {
  EXPECT_EQ(to_text({.kind = ChangeKind::cast, .items = {"a"}, .before = "f32", .after = "f16", .lossy = true}),
            "1 tensor cast from f32 to f16 (lossy): a");
  EXPECT_EQ(to_text({.kind = ChangeKind::widened, .items = names(6), .before = "bf16", .after = "f32"}),
            "6 tensors widened from bf16 to f32: a, b, c, d, and 2 more");
  EXPECT_EQ(to_text({.kind = ChangeKind::decoded, .items = {"a"}, .before = "k4", .after = "f32", .detail = "a guess"}),
            "1 tensor decoded from k4 to dense f32 (a guess): a");
  EXPECT_EQ(to_text({.kind = ChangeKind::quantized, .items = names(2), .before = "f32", .after = "k4"}),
            "2 tensors quantized from f32 to k4: a, b");
  EXPECT_EQ(
      to_text(
          {.kind = ChangeKind::overflowed, .items = {"a"}, .after = "f16", .count = 1234, .detail = "now infinite"}),
      "1 tensor with values beyond the largest f16 (1,234 now infinite): a");
  EXPECT_EQ(to_text({.kind = ChangeKind::skipped, .items = {"a\nb"}}), "1 tensor omitted: a\\nb");
  EXPECT_EQ(to_text({.kind = ChangeKind::unpacked, .items = names(9)}),
            "9 tensors compressed no longer: a, b, c, d, e, f, g, h and 1 more");
}

TEST(Change, OfTheRest) {
  EXPECT_EQ(to_text({.kind = ChangeKind::dropped, .part = "metadata", .items = names(2)}), "metadata dropped: a, b");
  EXPECT_EQ(to_text({.kind = ChangeKind::dropped, .part = "config", .count = 3}), "config dropped (3 entries)");
  EXPECT_EQ(to_text({.kind = ChangeKind::left_out, .items = {"a"}, .detail = "alt has no place for it"}),
            "a omitted, alt has no place for it");
  EXPECT_EQ(to_text({.kind = ChangeKind::left_out, .part = "config.json", .items = names(10), .named = 10}),
            "config.json: a, b, c, d, e, f, g, h, i, j omitted");
  EXPECT_EQ(to_text({.kind = ChangeKind::left_out, .part = "config.json", .items = names(10)}),
            "config.json: a, b, c, d, e, f, g, h and 2 more omitted");
  EXPECT_EQ(to_text({.kind = ChangeKind::kept_as, .items = {"config.json"}, .after = "config"}),
            "config.json kept as config, not as a file");
  EXPECT_EQ(to_text({.kind = ChangeKind::kept_as, .part = "vocabulary", .items = {"the order"}, .after = "scores"}),
            "vocabulary: the order kept as scores");
  EXPECT_EQ(to_text({.kind = ChangeKind::defaulted, .part = "config", .items = names(2), .values = {"1", "2"}}),
            "config: a = 1, b = 2 by default");
  EXPECT_EQ(
      to_text(
          {.kind = ChangeKind::filled_in, .part = "index", .items = {"a"}, .values = {"1"}, .detail = "counted again"}),
      "index: a = 1, counted again");
  EXPECT_EQ(to_text({.kind = ChangeKind::made, .items = names(2)}), "a, b made, not copied");
  EXPECT_EQ(to_text({.part = "a file", .detail = "looks odd"}), "a file: looks odd");
  EXPECT_EQ(to_text({.detail = "looks odd"}, "help it"), "looks odd; help it");
}

TEST(Change, InBrief) {
  EXPECT_EQ(to_brief_text({.kind = ChangeKind::widened, .items = names(6), .before = "bf16", .after = "f32"}),
            "6 tensors widened from bf16 to f32");
  EXPECT_EQ(to_brief_text({.kind = ChangeKind::left_out, .part = "config", .items = names(2), .detail = "no place"}),
            "config: a, b");
  EXPECT_EQ(to_brief_text({.kind = ChangeKind::made, .items = {"a"}}), "a made, not copied");
}

TEST(Change, NamesOfKinds) {
  EXPECT_EQ(name_of(ChangeKind::cast), "cast");
  EXPECT_EQ(name_of(ChangeKind::unpacked), "unpacked");
  EXPECT_EQ(name_of(ChangeKind::remark), "remark");
  EXPECT_EQ(name_of(Impact::results), "results");
  EXPECT_EQ(name_of(Impact::detail), "detail");
  for (const ModelPart part : kModelParts) EXPECT_EQ(parse_model_part(name_of(part)), part);
  EXPECT_EQ(parse_model_part("tensors"), std::nullopt);
}

}  // namespace
}  // namespace tare
