// Files of ggml before GGUF: which program's, values, tokens, refusals.
#include "conformance/ggmlbin_cases.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model opened(const Bytes& file, const ReadOptions& options = {}) { return open(memory_source(file, "it"), options); }
Bytes good(std::string_view name) {
  for (auto& [called, file] : gb::good())
    if (called == name) return file;
  ADD_FAILURE() << "no file " << name;
  return {};
}

TEST(GgmlBin, Whisper) {
  const Model model = opened(good("whisper"));
  EXPECT_EQ(model.format, "ggmlbin");
  EXPECT_EQ(model.version, "ggml");
  ASSERT_EQ(model.tensors.size(), 3U);
  EXPECT_EQ(model.at("mel_filters").shape, (Shape{2, 201}));
  EXPECT_EQ(model.at("encoder.w").shape, (Shape{2, 3}));
  EXPECT_EQ(model.at("encoder.w").values<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(model.at("b").values<float>(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(model.at("b").components[0].blob.is_plain());
  ASSERT_EQ(model.vocabulary.tokens.size(), 2U);
  EXPECT_EQ(model.vocabulary.tokens[1].text, "\xC3");
  EXPECT_EQ(*model.metadata.get<std::int64_t>("whisper.n_mels"), 2);
  EXPECT_EQ(*model.metadata.get<std::int64_t>("whisper.n_text_layer"), 1);
  EXPECT_TRUE(opened(good("whisper"), {.vocabulary = false}).vocabulary.tokens.empty());
}

TEST(GgmlBin, QuantizedBlocks) {
  EXPECT_EQ(opened(good("whisper_q8_0")).at("w").values<float>(), std::vector<float>(32, 2));
  const Model model = opened(good("ggjt"));
  EXPECT_EQ(model.version, "ggjt 3");
  EXPECT_EQ(model.at("w").values<float>(), std::vector<float>(32, 2));
  EXPECT_EQ(model.at("v").values<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(model.vocabulary.tokens[0].text, "<s>");
  EXPECT_EQ(model.vocabulary.tokens[0].score, -1.5F);
}

TEST(GgmlBin, TheProgramIsFoundByItsNumbers) {
  for (const auto& [name, key] : {std::pair{"ggml", "llama.n_mult"},
                                  {"ggmf", "llama.n_rot"},
                                  {"ggjt1", "llama.n_mult"},
                                  {"gpt2", "gpt2.n_ctx"},
                                  {"whisper", "whisper.n_vocab"}})
    EXPECT_NE(opened(good(name)).metadata.find(key), nullptr) << name;
}

TEST(GgmlBin, EachRuleIsBroken) {
  for (const gb::Case& bad : gb::bad()) EXPECT_EQ(rule_of([&] { opened(bad.file); }), bad.rule) << bad.name;
}

// The filters before the tokens are a tensor, too.
TEST(GgmlBin, FiltersAreNotATensorOfTheSameName) {
  const std::string file = gb::whisper(gb::tensor("mel_filters", {1}, 0, std::string(4, '\0')));
  EXPECT_EQ(rule_of([&] { opened(to_bytes(file)); }), "ggmlbin.name");
}

}  // namespace
}  // namespace tare
