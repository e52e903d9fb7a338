// What a conversion changed, by how much it matters: what is harmless may be hidden, and nothing else.
#include "cli/change_report.hpp"

namespace tare::cli {
namespace {

// "warning: brief" for each, in the order in which they are told.
std::vector<std::string> told(const std::vector<std::string>& changes, const std::vector<LostKeys>& lost = {}) {
  constexpr std::string_view kWords[] = {"warning", "lost", "changed", "note", "detail"};
  std::vector<std::string> lines;
  for (const Change& change : weigh(changes, lost))
    lines.push_back(fmt::format("{}: {}", kWords[static_cast<std::size_t>(change.weight)], change.brief));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ChangeReport, WarnsFirstAndPutsDetailsLast) {
  const LostKeys config{"config.json", {"rope_scaling", "logit_scale"}, {"architectures"}};
  EXPECT_EQ(
      told({"config.json: the key x is not a number", "21 tensors widened from bf16 to f32: a, b",
            "metadata: format left out, it is about the source file",
            "vocabulary: its kind (bpe), 12 merges left out, alt has no place for them",
            "config.json: rope_scaling, logit_scale left out, which may change what the model computes",
            "config.json: architectures left out", "3 tensors with values beyond the largest f16 (7 clamped): a, b, c"},
           {config}),
      (Lines{"warning: config.json: rope_scaling, logit_scale left out, which may change what the model computes",
             "warning: 3 tensors with values beyond the largest f16 (7 clamped): a, b, c",
             "lost: vocabulary: its kind (bpe), 12 merges", "changed: 21 tensors widened from bf16 to f32: a, b",
             "note: config.json: the key x is not a number",
             "detail: metadata: format left out, it is about the source file",
             "detail: config.json: architectures left out"}));
}

TEST(ChangeReport, NamesTensorsWhereThereIsRoom) {
  const std::string name(70, 'x');
  EXPECT_EQ(told({"1 tensor decoded from sparse_csr to dense f32: router"}),
            Lines{"changed: 1 tensor decoded from sparse_csr to dense f32: router"});
  EXPECT_EQ(told({"1,234 tensors cast from f32 to f16 (lossy): " + name}),
            Lines{"changed: 1,234 tensors cast from f32 to f16 (lossy)"});
  // Where it matters which they are, there is always room.
  EXPECT_EQ(told({"1 tensor kept although a rule says k4, which takes matrices of floats: " + name}),
            Lines{"note: 1 tensor kept although a rule says k4, which takes matrices of floats: " + name});
  EXPECT_EQ(told({"1 tensor with values beyond the largest f16 (3 now infinite): " + name}),
            Lines{"warning: 1 tensor with values beyond the largest f16 (3 now infinite): " + name});
}

// What a file calls its things must not hide what became of them.
TEST(ChangeReport, WordsOfAFileHideNothing) {
  EXPECT_EQ(told({"metadata: x, it is about the source file left out, alt has no place for it"}),
            Lines{"lost: metadata: x, it is about the source file"});
  EXPECT_EQ(told({"a kept as config, not as files left out, alt has no place for it"}),
            Lines{"lost: a kept as config, not as files"});
  EXPECT_EQ(told({"1 tensor cast from f32 to f16 (lossy): empty, 0 or -1 in the file, "}),
            Lines{"changed: 1 tensor cast from f32 to f16 (lossy): empty, 0 or -1 in the file, "});
  // One key may begin like another, and the keys of one file are not those of another.
  const LostKeys keys{"config.json", {"a", "scale"}, {"architectures", "sc"}};
  const LostKeys turned{"config.json", {"architectures"}, {"a"}};
  EXPECT_EQ(told({"config.json: architectures, sc left out",
                  "config.json: a, scale left out, which may change what the model computes",
                  "tokenizer_config.json: architectures left out"},
                 {keys}),
            (Lines{"warning: config.json: a, scale left out, which may change what the model computes",
                   "lost: tokenizer_config.json: architectures", "detail: config.json: architectures, sc left out"}));
  EXPECT_EQ(
      told({"config.json: architectures left out, which may change what the model computes", "config.json: a left out"},
           {turned}),
      (Lines{"warning: config.json: architectures left out, which may change what the model computes",
             "detail: config.json: a left out"}));
  EXPECT_EQ(told({"something that nobody has weighed"}), Lines{"note: something that nobody has weighed"});
}

TEST(ChangeReport, KnowsWhatATableOfMethodsSays) {
  const auto changes = weigh({"2 tensors quantized from f32 to k4: a, b", "1 tensor left out: quantized from "}, {});
  EXPECT_TRUE(tells_of_tensors(changes[0], "quantized from "));
  EXPECT_FALSE(tells_of_tensors(changes[1], "quantized from "));
}

}  // namespace
}  // namespace tare::cli
