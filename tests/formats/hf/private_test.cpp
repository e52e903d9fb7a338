// tare.json in a directory: what does not fit is reported and ignored, what is missing is reported.
#include <algorithm>

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/steps.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

class HfPrivate : public ::testing::Test {
 protected:
  // A good directory with this tare.json.
  std::string with_private(std::string_view text) {
    Files files = hf_good();
    files["tare.json"] = to_bytes(text);
    put_files(scratch_ / "d", files);
    return scratch_ / "d";
  }
  Scratch scratch_{Scratch::fast_place()};
};

// "severity: sentence" of the findings about tare.json.
std::vector<std::string> findings_of(const std::string& path) {
  std::vector<std::string> lines;
  for (const Finding& finding : verify(path).findings)
    if (finding.rule.starts_with("hf.private."))
      lines.push_back(std::string(name_of(finding.severity)) + ": " + finding.sentence);
  return lines;
}

TEST_F(HfPrivate, AFieldThatDoesNotFitLeavesTheFilesOwn) {
  const std::string path = with_private(R"({"tare":1,"config":{"hidden_size":"y","nope":3,"head_dim":64}})");
  EXPECT_EQ(open(path).config.hidden_size, 2);
  EXPECT_EQ(open(path).config.head_dim, 64);
  EXPECT_EQ(findings_of(path), (std::vector<std::string>{
                                   "warning: \"hidden_size\" of \"config\" is not of the field's kind; it is ignored",
                                   "warning: \"nope\" is not a field of \"config\"; it is ignored"}));
}

TEST_F(HfPrivate, EntriesOfAnotherKindAreSaid) {
  EXPECT_EQ(findings_of(with_private(R"({"tare":1,"made":[5],"added":"format"})")),
            (std::vector<std::string>{"warning: \"made\" has an entry that is not a string",
                                      "warning: \"added\" is not a list"}));
}

TEST_F(HfPrivate, BrokenJsonIsToldInOurWords) {
  EXPECT_EQ(findings_of(with_private("{\"tare\":1,\n")),
            std::vector<std::string>{"warning: not JSON: it ends too early, where a key was expected, at byte 11"});
  EXPECT_EQ(findings_of(with_private("{\"tare\":x}")),
            std::vector<std::string>{"warning: not JSON: expected a value, found \"x\", at byte 8"});
}

// Then only the fields that were kept are known.
TEST_F(HfPrivate, AConfigThatIsGoneIsNoted) {
  Model model = open(with_private("{\"tare\":1}"));
  model.config.hidden_size = 3;
  model.config.model_type.reset();
  const std::string path = scratch_ / "e";
  find_format("hf")->write_tree(model, path, {}, false);
  EXPECT_TRUE(findings_of(path).empty());
  fs::remove(path + "/config.json");
  Config kept;
  kept.hidden_size = 3;
  EXPECT_TRUE(open(path).config == kept);
  EXPECT_EQ(findings_of(path),
            std::vector<std::string>{
                "note: removed since tare.json was written: config.json; the copy in tare.json is used"});
}

TEST_F(HfPrivate, AVocabularyThatIsGoneIsNoted) {
  Model model = open(with_private("{\"tare\":1}"));
  model.vocabulary.tokens.pop_back();
  const std::string path = scratch_ / "e";
  find_format("hf")->write_tree(model, path, {}, false);
  EXPECT_TRUE(open(path).vocabulary == model.vocabulary);
  fs::remove(path + "/tokenizer.json");
  EXPECT_TRUE(open(path).vocabulary.empty());
  EXPECT_EQ(
      findings_of(path),
      std::vector<std::string>{
          "note: removed since tare.json was written: tokenizer.json; the vocabulary is what the other files say"});
}

// Two copies of a vocabulary would take more than the files of the tokenizer: only the differences are kept.
TEST_F(HfPrivate, OfAVocabularyOnlyWhatTheFilesDoNotSayIsKept) {
  Model model = open(with_private("{\"tare\":1}"));
  model.attachments.clear();
  model.vocabulary = {};
  model.vocabulary.kind = "bpe";
  for (int i = 0; i < 256; ++i) model.vocabulary.tokens.push_back({std::string(1, static_cast<char>(i))});
  for (int i = 0; i < 10'000; ++i) {
    model.vocabulary.tokens.push_back({fmt::format("a{}", i)});
    model.vocabulary.merges.push_back(fmt::format("a {}", i));
  }
  model.vocabulary.tokens[7].type = TokenType::unused;
  model.vocabulary.tokens[300].score = 2.5F;
  model.vocabulary.tokens.push_back({"<s>", 0, TokenType::bos});
  model.vocabulary.bos = static_cast<std::int64_t>(model.vocabulary.tokens.size()) - 1;
  const std::string path = scratch_ / "small";
  find_format("hf")->write_tree(model, path, {}, false);
  EXPECT_TRUE(open(path).vocabulary == model.vocabulary);
  EXPECT_LT(fs::file_size(path + "/tare.json"), 2000U) << to_text(get_file(path + "/tare.json")).substr(0, 2000);
  // As earlier versions wrote it.
  put_file(path + "/tare.json",
           to_bytes(R"({"tare":1,"vocabulary":{"kind":"spm","bos":-1,"eos":-1,"pad":-1,"unk":-1,"tokens":[],)"
                    R"("scores":[],"types":[],"merges":[]}})"));
  EXPECT_EQ(open(path).vocabulary.kind, "spm");
  for (const char* const wrong : {R"({"tokens":{"99999999":{"$bytes":"61"}}})", R"({"types":{"x":1}})",
                                  R"({"bos":"a"})", R"({"types":{"0":99}})", R"({"tokens":[]})"}) {
    put_file(path + "/tare.json", to_bytes(fmt::format(R"({{"tare":1,"vocabulary_changes":{}}})", wrong)));
    EXPECT_EQ(open(path).vocabulary.tokens.size(), 10'257U) << wrong;
    EXPECT_EQ(findings_of(path).size(), 1U) << wrong;
  }
}

}  // namespace
}  // namespace tare
