// Tokenizer files that are not what they seem, or that are complete only together.
#include <fmt/format.h>

#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// "file rule: sentence" of each warning.
class WarningLines final : public Diagnostics {
 public:
  void warning(const Error& about) override {
    lines.push_back(fmt::format("{} {}: {}", about.item(), about.rule(), about.sentence()));
  }
  std::vector<std::string> lines;
};

struct Described {
  Vocabulary vocabulary;
  std::vector<std::string> warnings;
};
Described described(std::vector<Attachment> files) {
  Model model;
  model.attachments = std::move(files);
  WarningLines warnings;
  resources::describe(model, warnings);
  return {std::move(model.vocabulary), std::move(warnings.lines)};
}

const std::string kTokenizer = R"({"model": {"type": "BPE", "vocab": {"a": 0, "<s>": 1}, "merges": []}})";

// ---- forms that are not read

TEST(TokenizerFiles, AFormThatIsNotReadIsSaidWhereThereIsNoOther) {
  EXPECT_EQ(described({text_file("tekken.json", "{}")}).warnings,
            std::vector<std::string>{"tekken.json tokenizer.unread: a vocabulary in a form that is not read (Mistral's "
                                     "own form); a tokenizer.json would have it"});
  EXPECT_EQ(
      described({text_file("sentencepiece.bpe.model", "x")}).warnings,
      std::vector<std::string>{"sentencepiece.bpe.model tokenizer.unread: a vocabulary in a form that is not read "
                               "(fairseq shifts its ids); a tokenizer.json would have it"});
  EXPECT_TRUE(described({text_file("tekken.json", "{}"), text_file("tokenizer.json", kTokenizer)}).warnings.empty());
  EXPECT_EQ(described({text_file("tekken.json", "{}"), text_file("tokenizer.json", "{}")}).warnings.size(), 2U);
}

TEST(TokenizerFiles, AFormThatIsNotReadIsNotLostInAConversion) {
  for (const char* const name : {"sentencepiece.bpe.model", "tekken.json"}) {
    EXPECT_TRUE(resources::holds_vocabulary(name));
    EXPECT_EQ(resources::role_of(name), resources::Role::carried);
    Model model;
    model.attachments = {text_file(name, "{}")};
    const auto error = error_of([&] { adapt(model, *find_format("alt")); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->rule(), "convert.resource");
    EXPECT_TRUE(error->sentence().starts_with(name)) << error->sentence();
    // A vocabulary from another source still gets its own file.
    model.vocabulary.tokens = {{"a", 0, TokenType::normal}};
    resources::complete(model);
    EXPECT_NE(model.attachment("tokenizer.json"), nullptr);
  }
}

TEST(TokenizerFiles, WhatIsNoSentencePieceModelIsSaid) {
  const auto trouble = [](std::string_view bytes) {
    return error_of([&] { resources::parse_sentencepiece(to_bytes(bytes)); }).value();
  };
  const std::string ours = "tokenizer.sentencepiece", begins = "not a SentencePiece model: ";
  for (const char* const text : {"IQ== 0\nIg== 1\n", "IQ== 0\r\nIg== 1\r\n"}) {
    EXPECT_EQ(trouble(text).rule(), ours);
    EXPECT_TRUE(trouble(text).sentence().starts_with(begins + "it looks like tiktoken's text"))
        << trouble(text).sentence();
  }
  for (const char* const text : {"IQ== x\n", " 0\n", "IQ== \n", "just a text", "\x12\x01x", "\x0A\x7Fx"}) {
    EXPECT_EQ(trouble(text).rule(), ours) << text;
    EXPECT_TRUE(trouble(text).sentence().starts_with(begins)) << trouble(text).sentence();
    EXPECT_EQ(trouble(text).sentence().find("tiktoken"), std::string::npos) << text;
  }
}

// ---- facts from several files together

std::string texts_and_types(const Vocabulary& vocabulary) {
  std::string line;
  for (const Token& token : vocabulary.tokens) line += fmt::format("{}:{} ", token.text, name_of(token.type));
  return line;
}

TEST(TokenizerFiles, AddedTokensOfBothFilesAreOneList) {
  const auto both =
      described({text_file("vocab.json", R"({"a": 0, "b": 1})"), text_file("added_tokens.json", R"({"<|x|>": 4})"),
                 text_file("tokenizer_config.json", R"({"added_tokens_decoder":
                                    {"2": {"content": "<two>", "special": true}, "3": {"content": "<three>"}}})")});
  EXPECT_EQ(texts_and_types(both.vocabulary),
            "a:normal b:normal <two>:control <three>:user_defined <|x|>:user_defined ");
  EXPECT_TRUE(both.warnings.empty());
  // In both: tokenizer_config.json has more details.
  const auto twice = described(
      {text_file("vocab.json", R"({"a": 0})"), text_file("added_tokens.json", R"({"<x>": 1})"),
       text_file("tokenizer_config.json", R"({"added_tokens_decoder": {"1": {"content": "<x>", "special": true}}})")});
  EXPECT_EQ(texts_and_types(twice.vocabulary), "a:normal <x>:control ");
}

TEST(TokenizerFiles, KnownTokensAreWhatTheLaterFilesSay) {
  const auto renamed = described(
      {text_file("vocab.json", R"({"<unused>": 0, "<|end|>": 1, "c": 2, "d": 3})"),
       text_file("added_tokens.json", R"({"<old>": 0, "c": 2, "<|end|>": 1})"),
       text_file("tokenizer_config.json",
                 R"({"added_tokens_decoder": {"0": {"content": "<new>"}, "1": {"content": "<|end|>", "special": true},
                     "3": {"content": ""}}})")});
  EXPECT_EQ(texts_and_types(renamed.vocabulary), "<new>:user_defined <|end|>:control c:user_defined d:normal ");
  EXPECT_TRUE(renamed.warnings.empty());
  // added_tokens.json does not state which tokens are special.
  const auto special =
      described({text_file("tokenizer.model", small_spm()),
                 text_file("added_tokens.json", R"({"<unk>": 0, "<s>": 1, "<me too>": 4, "<0x00>": 6})")});
  EXPECT_TRUE(
      texts_and_types(special.vocabulary)
          .starts_with("<unk>:unknown <s>:bos </s>:eos \u2581a:normal <me too>:user_defined x:unused <0x00>:byte "));
}

TEST(TokenizerFiles, TheFileThatReachesFarthestAnswersForGaps) {
  const auto far =
      described({text_file("vocab.json", R"({"a": 0})"), text_file("added_tokens.json", R"({"<far>": 99999999})"),
                 text_file("tokenizer_config.json", R"({"added_tokens_decoder": {"1": {"content": "<x>"}}})")});
  ASSERT_EQ(far.warnings.size(), 1U);
  EXPECT_TRUE(far.warnings[0].starts_with("added_tokens.json tokenizer.ids: ")) << far.warnings[0];
  EXPECT_EQ(texts_and_types(far.vocabulary), "a:normal <x>:user_defined ") << "of the other file";
}

TEST(TokenizerFiles, ASpecialTokenThatIsNoneIsSaid) {
  const auto odd = described({text_file("tokenizer.json", kTokenizer),
                              text_file("tokenizer_config.json", R"({"bos_token": 5, "eos_token": "<nope>",
                                   "pad_token": null, "unk_token": ""})"),
                              text_file("special_tokens_map.json", R"({"eos_token": {"content": "<s>"},
                                   "bos_token": {"content": "<no>"}, "pad_token": {}})")});
  EXPECT_EQ(odd.warnings, (std::vector<std::string>{
                              "tokenizer_config.json tokenizer.special: \"bos_token\" is not text; it is ignored",
                              "tokenizer_config.json tokenizer.special: \"eos_token\" is \"<nope>\", no token of the "
                              "vocabulary; it is ignored",
                              "special_tokens_map.json tokenizer.special: \"bos_token\" is \"<no>\", no token of the "
                              "vocabulary; it is ignored",
                              "special_tokens_map.json tokenizer.special: \"pad_token\" is not text; it is ignored"}));
  EXPECT_EQ(odd.vocabulary.eos, 1);
  EXPECT_EQ(odd.vocabulary.bos, -1);
}

// Only `verify` names ids of config.json that no program can use as they are.
TEST(TokenizerFiles, IdsThatAreNoneAreFound) {
  class Thorough final : public Diagnostics {
   public:
    explicit Thorough(bool thorough) : thorough_(thorough) {}
    void warning(const Error& about) override { lines.push_back(std::string(about.rule()) + " " + about.sentence()); }
    bool thorough() const override { return thorough_; }
    std::vector<std::string> lines;

   private:
    bool thorough_;
  };
  const auto found = [](const std::string& config, const std::string& settings, bool thorough = true) {
    Model model;
    model.attachments = {text_file("tokenizer.json", kTokenizer), text_file("tokenizer_config.json", settings),
                         text_file("config.json", config)};
    Thorough reports(thorough);
    resources::describe(model, reports);
    return reports.lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(found(R"({"bos_token_id": 2})", "{}"),
            Lines{"tokenizer.id \"bos_token_id\" is 2, there are 2 tokens; it is ignored"});
  EXPECT_EQ(found(R"({"eos_token_id": [1, 7]})", "{}"),
            Lines{"tokenizer.id \"eos_token_id\" is 7, there are 2 tokens; it is ignored"});
  EXPECT_EQ(found(R"({"pad_token_id": 0})", R"({"pad_token": "<s>"})"),
            Lines{"tokenizer.id \"pad_token_id\" is 0, and the files of the tokenizer say 1; it is ignored"});
  EXPECT_EQ(found(R"({"pad_token_id": 0})", R"({"pad_token": "<s>"})", false), Lines());
  // Absent ids, one of several, and those that agree.
  EXPECT_EQ(found(R"({"bos_token_id": null, "pad_token_id": -1, "eos_token_id": [0, 1]})", R"({"eos_token": "<s>"})"),
            Lines());
}

// ---- vocabularies without types

TEST(TokenizerFiles, BytesAndSpecialTokensAreKnownWithoutTypes) {
  const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  Vocabulary v;
  for (const char* const text : {"<unk>", "<s>", "</s>"}) v.tokens.push_back({text, 0, TokenType::normal});
  for (int byte = 0; byte < 256; ++byte) v.tokens.push_back({fmt::format("<0x{:02X}>", byte), 0, TokenType::normal});
  v.tokens.push_back({"\xE2\x96\x81", 0, TokenType::normal});
  v.unk = 0;
  v.bos = 1;
  v.eos = 2;
  v.pad = 1000;  // no token has this id
  const std::string text = resources::tokenizer_json(v);
  EXPECT_TRUE(has(text, "\"byte_fallback\": true"));
  EXPECT_TRUE(has(text, "{\"id\": 1, \"content\": \"<s>\""));
  EXPECT_FALSE(has(text, "{\"id\": 3, "));

  Vocabulary few = v;
  few.tokens.erase(few.tokens.begin() + 100);
  EXPECT_TRUE(has(resources::tokenizer_json(few), "\"byte_fallback\": false")) << "a byte is missing";
  v.tokens[258].type = TokenType::unused;
  EXPECT_TRUE(has(resources::tokenizer_json(v), "\"byte_fallback\": false")) << "types are known";
}

// A made tokenizer.json puts a blank before a text and keeps the rest of it unchanged.
TEST(SentencePiece, WhatIsDoneToATextAndNotKeptIsNamed) {
  const auto unkept = [](const std::string& file) { return resources::unkept_normalization(to_bytes(file)); };
  // Field 3 of the model: 2 charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces.
  EXPECT_EQ(unkept(std::string("\x1A\x02\x20\x00", 4)), std::vector<std::string>{}) << "as Llama 2 has it";
  EXPECT_EQ(unkept("").size(), 1U) << "the defaults take blanks away";
  EXPECT_EQ(unkept(std::string("\x1A\x04\x18\x00\x20\x00", 6)),
            std::vector<std::string>{"no blank is put before a text"})
      << "as Gemma has it";
  EXPECT_EQ(unkept(std::string("\x1A\x05\x12\x01x\x20\x00", 7)).size(), 1U);
  // Field 2: 24 treat_whitespace_as_suffix, 3 model_type.
  EXPECT_EQ(unkept(std::string("\x12\x05\xC0\x01\x01\x18\x03\x1A\x02\x20\x00", 11)).size(), 2U);
  EXPECT_TRUE(unkept("\x1A").empty());
}

}  // namespace
}  // namespace tare
