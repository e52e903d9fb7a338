// Texts into tokens and back. recorded.json has what the packages tokenizers and sentencepiece make of some texts
// (record.py); tests/real/tokenizing.py asks them, and llama.cpp, about thousands.
#include "tare/tokenizer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/resources.hpp"
#include "tokenize/pattern.hpp"
#include "tokenize/unicode.hpp"

namespace tare {
namespace {

using resources::get;
using Ids = std::vector<std::int32_t>;

Model model_with(const std::string& name, std::string_view content) {
  Model model;
  const auto bytes = std::as_bytes(std::span(content));
  model.attachments.push_back({name, Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  return model;
}

Map recorded() {
  std::ifstream file(TARE_TEST_DIR "/tokenize/recorded.json", std::ios::binary);
  return resources::parse_small_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

Model pieces_model(const std::string& bytes) {
  Model model = model_with("tokenizer.model", bytes);
  model.vocabulary = resources::parse_sentencepiece(std::as_bytes(std::span(bytes)));
  return model;
}

// Calls visit(name, tokenizer, ids of the texts) for each recorded tokenizer.
template <typename Visit>
void each_recorded(const Visit& visit) {
  const Map all = recorded();
  Map shared;
  for (const Value& item : *get<List>(all, "tokenizers")) {
    const Map& one = *item.get<Map>();
    const std::string name = *get<std::string>(one, "name");
    SCOPED_TRACE(name);
    Model model;
    if (const auto* const text = get<std::string>(one, "tokenizer")) {
      model = model_with("tokenizer.json", *text);
      if (name.starts_with("bytes")) shared = resources::parse_small_json(*text);
    } else if (const auto* const hex = get<std::string>(one, "model")) {
      model = pieces_model(from_hex(*hex));
    } else {
      shared.set("pre_tokenizer", *one.find("pre_tokenizer"));
      model = model_with("tokenizer.json", to_json(shared));
    }
    visit(name, Tokenizer(model), *get<List>(one, "ids"));
  }
}

Ids ids_of(const Value& value) {
  Ids ids;
  for (const Value& id : *value.get<List>()) ids.push_back(static_cast<std::int32_t>(*id.get<std::int64_t>()));
  return ids;
}

TEST(Tokenizer, Recorded) {
  const Map all = recorded();
  const List& texts = *get<List>(all, "texts");
  std::size_t kinds = 0;
  each_recorded([&](const std::string& name, const Tokenizer& tokenizer, const List& ids) {
    ++kinds;
    const bool pieces = name.starts_with("sentencepiece");
    ASSERT_EQ(ids.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(tokenizer.encode(*texts[i].text(), {.frame = !pieces, .special = !pieces}), ids_of(ids[i]))
          << *texts[i].text();
  });
  EXPECT_GE(kinds, 15u);
}

TEST(Tokenizer, BytesComeBack) {
  const Map all = recorded();
  std::size_t compared = 0;
  each_recorded([&](const std::string& name, const Tokenizer& tokenizer, const List&) {
    if (!name.starts_with("bytes")) return;
    for (const Value& text : *get<List>(all, "texts")) {
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(*text.text())), *text.text());
      ++compared;
    }
  });
  EXPECT_GE(compared, 400u);
}

const Tokenizer& byte_level() {
  static const Tokenizer made = [] {
    const Map all = recorded();
    for (const Value& item : *get<List>(all, "tokenizers"))
      if (const auto* const text = get<std::string>(*item.get<Map>(), "tokenizer"))
        return Tokenizer(model_with("tokenizer.json", *text));
    throw std::logic_error("nothing is recorded");
  }();
  return made;
}

RC_GTEST_PROP(Tokenizer, DecodeUndoesEncode, (const std::vector<std::uint32_t>& characters)) {
  std::string text;
  for (const std::uint32_t number : characters) {
    const std::uint32_t character = number % 0x110000;
    if (character < 0xD800 || character > 0xDFFF) tokenize::append_character(text, character);
  }
  RC_ASSERT(byte_level().decode(byte_level().encode(text)) == text);
}

RC_GTEST_PROP(Tokenizer, AnyBytesAreReadAsText, (const std::string& bytes)) {
  std::string room;
  const std::string text(tokenize::valid_text(bytes, room));
  RC_ASSERT(is_valid_utf8(text));
  RC_ASSERT(byte_level().encode(bytes) == byte_level().encode(text));
  RC_ASSERT(byte_level().decode(byte_level().encode(bytes)) == text);
}

TEST(Tokenizer, MalformedBytesAreReplacementCharacters) {
  EXPECT_EQ(byte_level().encode("a\xE2\x82z"), byte_level().encode("a\xEF\xBF\xBD\xEF\xBF\xBDz"));
}

// ---- a container's keys and vocabulary ----

Token token(std::string text, float score = 0, TokenType type = TokenType::normal) {
  return {std::move(text), score, type};
}

Model byte_model(std::string_view pre) {
  Model model;
  model.vocabulary.kind = "bpe";
  for (unsigned byte = 0; byte < 256; ++byte)
    model.vocabulary.tokens.push_back(token(std::string(1, static_cast<char>(byte))));
  for (const char* const text : {"12", "ab", "abc", " a"}) model.vocabulary.tokens.push_back(token(text));
  model.vocabulary.tokens.push_back(token("<s>", 0, TokenType::control));
  model.vocabulary.tokens.push_back(token("<tool>", 0, TokenType::user_defined));
  model.vocabulary.merges = {"1 2", "a b", "ab c", "\xC4\xA0 a"};
  model.vocabulary.bos = 260;
  model.metadata.set("tokenizer.ggml.pre", std::string(pre));
  return model;
}

TEST(Tokenizer, KeysOfAContainer) {
  const Tokenizer llama(byte_model("llama-bpe"));  // begins with bos
  EXPECT_EQ(llama.encode("abc 12"), (Ids{260, 258, ' ', 256}));
  EXPECT_EQ(llama.encode("abc", {.frame = false}), (Ids{258}));
  const Tokenizer digits(byte_model("smollm"));
  EXPECT_EQ(digits.encode("abc 12"), (Ids{258, ' ', '1', '2'}));
  EXPECT_EQ(digits.encode("<s>a", {.special = true}), (Ids{260, 'a'}));
  EXPECT_EQ(digits.encode("<s>a"), (Ids{'<', 's', '>', 'a'}));
  EXPECT_EQ(digits.encode("a<tool>"), (Ids{'a', 261})) << "user-defined tokens always count";
  EXPECT_EQ(digits.decode(Ids{260, 258, 259}), "<s>abc a");
  EXPECT_EQ(digits.decode(Ids{260, 258, 259}, false), "abc a");
  EXPECT_EQ(digits.piece(259), " a");
  EXPECT_EQ(digits.size(), 262u);
}

TEST(Tokenizer, PiecesWithScores) {
  Model model;
  model.vocabulary.kind = "spm";
  model.vocabulary.tokens = {token("<unk>", 0, TokenType::unknown),
                             token("<s>", 0, TokenType::control),
                             token("\xE2\x96\x81", -9),
                             token("a", -8),
                             token("b", -7),
                             token("ab", -1),
                             token("\xE2\x96\x81"
                                   "ab",
                                   -2)};
  for (unsigned byte = 0; byte < 256; ++byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    model.vocabulary.tokens.push_back(
        token(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">", 0, TokenType::byte));
  }
  model.vocabulary.bos = 1;
  model.vocabulary.unk = 0;
  const Tokenizer tokenizer(model);
  EXPECT_EQ(tokenizer.encode("ab aab"), (Ids{1, 6, 2, 3, 5}));
  EXPECT_EQ(tokenizer.encode("\xC3\xA9", {.frame = false}), (Ids{2, 7 + 0xC3, 7 + 0xA9}));
  EXPECT_EQ(tokenizer.decode(Ids{6, 2, 3, 5, 7 + 0xC3, 7 + 0xA9}), "ab aab\xC3\xA9");
  EXPECT_EQ(tokenizer.piece(6), " ab");
}

// As llama.cpp reads a file of its converter, and one of an older Tare, which kept the spelling of pieces.
TEST(Tokenizer, UserDefinedPiecesOfBlanks) {
  Model model;
  model.vocabulary = resources::parse_sentencepiece(
      std::as_bytes(std::span(std::string_view(testing::small_spm() + testing::proto_piece("\u2581\u2581", 0, 4)))));
  model.metadata.set("tokenizer.ggml.add_space_prefix", false);
  for (const char* const spelled : {"  ", "\u2581\u2581"}) {
    model.vocabulary.tokens[262].text = spelled;
    const Tokenizer tokenizer(model);
    const auto ids = [&](std::string_view text) { return tokenizer.encode(text, {.frame = false}); };
    EXPECT_EQ(ids("a  a"), (Ids{103, 262, 103}));
    EXPECT_EQ(ids("  a"), (Ids{262, 103}));
    EXPECT_EQ(ids("a   a"), (Ids{103, 262, 3}));
    EXPECT_EQ(ids("a    a<me>"), (Ids{103, 262, 262, 103, 4}));
    EXPECT_EQ(tokenizer.decode(Ids{103, 262, 262, 103, 4}), "a    a<me>");
    EXPECT_EQ(tokenizer.piece(262), "  ");
  }
  model.vocabulary.tokens[262].text = "  ";
  EXPECT_EQ(Tokenizer(model).encode("\u2581\u2581 a", {.frame = false}), (Ids{232, 156, 135, 232, 156, 135, 3}));
}

// A fine-tune gives a spare token a new text in tokenizer_config.json, and leaves tokenizer.model unchanged.
TEST(Tokenizer, RenamedPieces) {
  Model model = model_with("tokenizer.model", testing::small_spm() + testing::proto_piece("<unused0>", 0, 4));
  model.attachments.push_back(
      model_with("tokenizer_config.json",
                 R"({"added_tokens_decoder":{"262":{"content":"<|im_start|>","special":true}}})")
          .attachments.front());
  Diagnostics quiet;
  resources::describe(model, quiet);
  const Tokenizer tokenizer(model);
  EXPECT_EQ(tokenizer.encode("<|im_start|>", {.frame = false, .special = true}), (Ids{262}));
  EXPECT_EQ(std::ranges::count(tokenizer.encode("<unused0>", {.special = true}), 262), 0);
  EXPECT_EQ(tokenizer.decode(Ids{262}), "<|im_start|>");
  EXPECT_EQ(tokenizer.decode(Ids{262}, false), "");
}

// ---- what is refused ----

std::string rule_of(const Model& model) {
  try {
    Tokenizer tokenizer(model);
    static_cast<void>(tokenizer.encode("some text 1"));
  } catch (const Error& error) {
    return error.rule();
  }
  return "none";
}

std::string rule_of_json(const std::string& text) { return rule_of(model_with("tokenizer.json", text)); }

TEST(Tokenizer, Refused) {
  EXPECT_EQ(rule_of(Model()), "tokenizer.none");
  EXPECT_EQ(rule_of(byte_model("something-new")), "tokenizer.step");
  Model model = byte_model("gpt-2");
  model.vocabulary.kind = "rwkv";
  EXPECT_EQ(rule_of(model), "tokenizer.kind");
  model = byte_model("gpt-2");
  model.metadata = {};
  EXPECT_EQ(rule_of(model), "tokenizer.step") << "how texts are split is not stated";
  const std::string bpe = R"("model": {"type": "BPE", "vocab": {"a": 0}, "merges": []})";
  EXPECT_EQ(rule_of_json("{" + bpe + "}"), "none");
  EXPECT_EQ(rule_of_json(R"({"normalizer": {"type": "New"}, )" + bpe + "}"), "tokenizer.step");
  EXPECT_EQ(rule_of_json(R"({"pre_tokenizer": {"type": "UnicodeScripts"}, )" + bpe + "}"), "tokenizer.step");
  EXPECT_EQ(rule_of_json(R"({"decoder": {"type": "CTC"}, )" + bpe + "}"), "tokenizer.step");
  EXPECT_EQ(rule_of_json(R"({"post_processor": {"type": "New"}, )" + bpe + "}"), "tokenizer.step");
  EXPECT_EQ(
      rule_of_json(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a)\\1"}, "behavior": "Isolated"}, )" +
                   bpe + "}"),
      "tokenizer.pattern");
  EXPECT_EQ(rule_of_json(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})"), "tokenizer.merges");
  EXPECT_EQ(rule_of_json(R"({"model": {"type": "BPE", "vocab": {"a": 99999999}, "merges": []}})"), "tokenizer.ids");
  EXPECT_EQ(rule_of_json(R"({"model": {"type": "WordLevel", "vocab": {"a": 0}}})"), "tokenizer.unknown");
  EXPECT_EQ(rule_of_json(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "////"}, )" + bpe + "}"),
            "tokenizer.charsmap");
  EXPECT_EQ(rule_of_json(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, ")" + std::string(5000, 'a') +
                         R"(": 1}, "unk_token": "[UNK]"}})"),
            "tokenizer.piece.long");
  EXPECT_THROW(static_cast<void>(byte_level().decode(Ids{-1})), Error);
  EXPECT_THROW(static_cast<void>(byte_level().decode(Ids{1 << 20})), Error);
}

// ---- what the tokenizers library gives ----

Ids ids_by(const std::string& json, std::string_view text) {
  return Tokenizer(model_with("tokenizer.json", json)).encode(text);
}

TEST(Tokenizer, SplitsWhereNothingMatches) {
  const auto ids = [](std::string_view regex, std::string_view behavior, bool inverted) {
    return ids_by(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": ")" + std::string(regex) +
                      R"("}, "behavior": ")" + std::string(behavior) + R"(", "invert": )" +
                      (inverted ? "true" : "false") +
                      R"(}, "model": {"type": "WordLevel", "unk_token": "<unk>",
                              "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "aa": 4}}})",
                  regex == "a*" ? "baab" : "abab");
  };
  EXPECT_EQ(ids("a*", "Isolated", false), (Ids{2, 4, 2}));
  EXPECT_EQ(ids("a*", "MergedWithPrevious", false), (Ids{0, 2}));
  EXPECT_EQ(ids("(?=a)", "Isolated", false), (Ids{3, 3}));
  EXPECT_EQ(ids("(?=a)", "Removed", false), (Ids{3, 3}));
  EXPECT_EQ(ids("(?=a)", "Removed", true), Ids());
  EXPECT_EQ(ids("(?<=a)", "MergedWithNext", false), (Ids{1, 0, 2}));
  EXPECT_EQ(ids("|b", "Contiguous", false), (Ids{1, 2, 1, 2}));
  EXPECT_EQ(ids_by(R"({"normalizer": {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "b"},
                       "pre_tokenizer": {"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated"},
                       "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 1, "b": 2}}})",
                   "aa"),
            (Ids{2, 1, 2, 1, 2}));
}

constexpr std::string_view kByteLevel =
    R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
       "decoder": {"type": "ByteLevel"}, )";

TEST(Tokenizer, LikeliestPiecesOfBytes) {
  const std::string json = "{" + std::string(kByteLevel) +
                           R"("model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1],
                              ["ab", -1.5], ["\u0120", -2], ["\u0120a", -2], ["\u00e9", -1], ["\u00c3", -3],
                              ["\u00a9", -3]]}})";
  EXPECT_EQ(ids_by(json,
                   "a \xC3\xA9"
                   "b"),
            (Ids{1, 4, 7, 8, 2}));
  EXPECT_EQ(ids_by(json, "x ab y"), (Ids{0, 5, 2, 4, 0}));
  EXPECT_EQ(ids_by(json,
                   "\xE4\xB8\x80"
                   "ab\xE4\xB8\x80"),
            (Ids{0, 3, 0}));
}

TEST(Tokenizer, UnknownBytesAreFused) {
  const auto ids = [](bool fuses, std::string_view text) {
    return ids_by("{" + std::string(kByteLevel) + R"("model": {"type": "BPE", "unk_token": "<s>", "fuse_unk": )" +
                      (fuses ? "true" : "false") +
                      R"(, "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3}, "merges": ["a b"]}})",
                  text);
  };
  EXPECT_EQ(ids(true, "abxyzab"), (Ids{2, 3, 2}));
  EXPECT_EQ(ids(false, "abxyzab"), (Ids{2, 3, 3, 3, 2}));
  EXPECT_EQ(ids(true, "\xC3\xA9 a"), (Ids{3, 3, 0}));
}

TEST(Tokenizer, OfEqualTokensTheLastCounts) {
  EXPECT_EQ(
      ids_by(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "a": 2, "ab": 3}, "merges": ["a b"]}})", "aab"),
      (Ids{2, 3}));
  EXPECT_EQ(
      ids_by(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -5], ["a", -1], ["b", -1],
                       ["ab", -4], ["a", -9]]}})",
             "a"),
      (Ids{5}));
}

TEST(Tokenizer, AddedTokensThatTheNormalizersChange) {
  const auto rule = [](std::string_view one, std::string_view other, std::string_view normalizer) {
    const auto added = [](int id, std::string_view text) {
      return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + std::string(text) + R"(", "normalized": true})";
    };
    return rule_of_json(R"({"added_tokens": [)" + added(1, one) + ", " + added(2, other) +
                        R"(], "normalizer": {"type": ")" + std::string(normalizer) +
                        R"("}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}})");
  };
  EXPECT_EQ(rule("ab", "AB", "NFC"), "none");
  EXPECT_EQ(rule("ab", "ab", "Lowercase"), "none");
  EXPECT_EQ(rule("ab", "AB", "Lowercase"), "tokenizer.step") << "the library finds either";
  EXPECT_EQ(rule(" ", "b", "Strip"), "tokenizer.step") << "nothing is left of it";
}

// A blank is put before the first character of a text only if the normalizers have kept it.
TEST(Tokenizer, BlanksBeforeTheBeginning) {
  const auto ids = [](const std::string& normalizer, std::string_view text) {
    return ids_by(
        R"({"normalizer": )" + normalizer +
            R"(, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": false},
                         "model": {"type": "WordLevel", "unk_token": "<unk>",
                                   "vocab": {"<unk>": 0, "a": 1, "_a": 2, "ba": 3, "_ba": 4}}})",
        text);
  };
  const std::string strip = R"({"type": "Strip", "strip_left": true, "strip_right": true})";
  EXPECT_EQ(ids(strip, "a "), (Ids{2}));
  EXPECT_EQ(ids(strip, " a"), (Ids{1}));
  EXPECT_EQ(ids(R"({"type": "StripAccents"})",
                "\xCC\x81"
                "a"),
            (Ids{1}));
  const auto replace = [](std::string_view with) {
    return R"({"type": "Replace", "pattern": {"Regex": "x(y)?"}, "content": ")" + std::string(with) + R"("})";
  };
  EXPECT_EQ(ids(replace(""), "xa"), (Ids{1}));
  EXPECT_EQ(ids(replace("b"), "xa"), (Ids{4}));
  EXPECT_EQ(ids(replace("b"), "xya"), (Ids{3}));
}

TEST(Tokenizer, NoDecodersPutNothingBetweenTokens) {
  const std::string bpe = R"("model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})";
  const auto text = [&](const std::string& decoder) {
    return Tokenizer(model_with("tokenizer.json", R"({"decoder": )" + decoder + ", " + bpe)).decode(Ids{0, 1});
  };
  EXPECT_EQ(text("null"), "a b");
  EXPECT_EQ(text(R"({"type": "Sequence", "decoders": []})"), "ab");
}

TEST(Tokenizer, RefusesWhatTheLibraryDoesInItsOwnWay) {
  const std::string words = R"("model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "b": 1}}})";
  const std::string frame = R"({"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]})";
  const auto rule = [&](const std::string& parts) { return rule_of_json("{" + parts + ", " + words); };
  EXPECT_EQ(rule(R"("post_processor": )" + frame), "none");
  EXPECT_EQ(rule(R"("post_processor": {"type": "Sequence", "processors": [)" + frame + ", " + frame + "]}"),
            "tokenizer.step");
  EXPECT_EQ(
      rule(R"("post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B", "type_id": 0}}]})"),
      "tokenizer.step");
  EXPECT_EQ(rule_of_json(R"({"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "b": 0}}})"),
            "tokenizer.step");
  EXPECT_EQ(rule_of_json("{" + std::string(kByteLevel) +
                         R"("normalizer": {"type": "Replace", "pattern": {"Regex": "b*"}, "content": "x"},
                            "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})"),
            "tokenizer.step");
  EXPECT_EQ(rule_of_json("{" + std::string(kByteLevel) +
                         R"("model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0}}})"),
            "tokenizer.step");
}

TEST(Tokenizer, NormalizersThatMultiplyTextsAreBounded) {
  std::string steps;
  for (int i = 0; i < 40; ++i)
    steps +=
        std::string(i == 0 ? "" : ", ") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"})";
  const Model model =
      model_with("tokenizer.json", R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                                       R"(]}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  try {
    static_cast<void>(Tokenizer(model).encode("aaaa"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "tokenizer.steps");
  }
}

// What encoding and decoding a text ends in: the rule, or "none".
std::string rule_of_text(const std::string& json, std::string_view text) {
  try {
    const Tokenizer tokenizer(model_with("tokenizer.json", json));
    const Ids ids = tokenizer.encode(text);
    static_cast<void>(tokenizer.decode(ids));
    static_cast<void>(tokenizer.pieces(ids));
  } catch (const Error& error) {
    return error.rule();
  }
  return "none";
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

TEST(Tokenizer, RulesThatAskForMuchAreBounded) {
  const std::string text(3000, 'a');
  const std::string bpe = R"("model": {"type": "BPE", "vocab": {"a": 0}, "merges": []})";
  // Pieces that begin alike: each place of the text is compared with all of them.
  std::string pieces = R"(["a", -1.0])";
  for (int i = 2; i < 2000; ++i) pieces += ", [" + in_quotes(std::string(static_cast<std::size_t>(i), 'a')) + ", -1.5]";
  EXPECT_EQ(rule_of_text(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [)" + pieces + "]}}", text),
            "tokenizer.steps");
  // Added tokens that the normalizers make long.
  std::string added;
  for (int i = 0; i < 300; ++i)
    added += std::string(i == 0 ? "" : ", ") + R"({"id": )" + std::to_string(i + 1) + R"(, "content": ")" +
             std::string(100, 'a') + std::to_string(i) + R"(", "normalized": true})";
  const std::string longer = std::string(500, 'b');
  EXPECT_EQ(rule_of_text(R"({"normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": )" +
                             in_quotes(longer) + R"(}, "added_tokens": [)" + added + "], " + bpe + "}",
                         "a"),
            "tokenizer.steps");
  EXPECT_EQ(rule_of_text(R"({"normalizer": {"type": "Prepend", "prepend": )" + in_quotes(std::string(100'000, 'b')) +
                             R"(}, "added_tokens": [)" + added + "], " + bpe + "}",
                         "a"),
            "tokenizer.steps");
  EXPECT_EQ(
      rule_of_text(
          R"({"added_tokens": [{"id": 1, "content": )" + in_quotes(std::string(5000, 'x')) + "}], " + bpe + "}", "a"),
      "tokenizer.piece.long");
  // A spelling that is added to each character.
  EXPECT_EQ(rule_of_text(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "continuing_subword_prefix": )" +
                             in_quotes(std::string(100'000, 'x')) + R"(, "end_of_word_suffix": "y"}})",
                         text),
            "tokenizer.steps");
  // Replacements when tokens become text.
  EXPECT_EQ(rule_of_text(R"({"decoder": {"type": "Replace", "pattern": {"String": "a"}, "content": )" +
                             in_quotes(std::string(100'000, 'x')) + "}, " + bpe + "}",
                         text),
            "tokenizer.text");
  // One long token again and again.
  EXPECT_EQ(rule_of_text(R"({"model": {"type": "WordLevel", "unk_token": ")" + std::string(100'000, 'u') +
                             R"(", "vocab": {")" + std::string(100'000, 'u') +
                             R"(": 0}}, "pre_tokenizer": {"type": "Digits", "individual_digits": true}})",
                         std::string(3000, '1')),
            "tokenizer.text");
}

// The file decides how long a token is, and how often it is rewritten.
TEST(Tokenizer, TokensThatAreRewrittenAgainAndAgainAreBounded) {
  const std::string token(1 << 20, 'a');
  std::string steps;
  for (int i = 0; i < 60; ++i)
    steps += std::string(i == 0 ? "" : ", ") + R"({"type": "Replace", "pattern": {"String": ")" +
             (i % 2 == 0 ? "a" : "b") + R"("}, "content": ")" + (i % 2 == 0 ? "b" : "a") + R"("})";
  const std::string json = R"({"decoder": {"type": "Sequence", "decoders": [)" + steps +
                           R"(]}, "model": {"type": "WordLevel", "unk_token": ")" + token + R"(", "vocab": {")" +
                           token + R"(": 0}}})";
  EXPECT_EQ(rule_of_text(json, "x"), "tokenizer.steps");
}

// Cleaning a text takes more than copying it.
TEST(Tokenizer, NormalizersThatFollowEachOtherAreBounded) {
  std::string steps;
  for (int i = 0; i < 60; ++i) steps += std::string(i == 0 ? "" : ", ") + R"({"type": "BertNormalizer"})";
  const std::string bpe = R"("model": {"type": "BPE", "vocab": {"a": 0}, "merges": []})";
  const std::string json = R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}, " + bpe + "}";
  EXPECT_EQ(rule_of_text(json, std::string(10'000, 'a')), "tokenizer.steps");
  EXPECT_EQ(rule_of_text(json, "a"), "none");
}

// Marks without a letter are put in order one by one, so a long row of them would take quadratic time.
TEST(Tokenizer, RowsOfMarksAreBounded) {
  std::string marks;
  for (int i = 0; i < 50'000; ++i) marks += i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3";
  const std::string json =
      R"({"normalizer": {"type": "NFD"}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})";
  EXPECT_EQ(rule_of_text(json, marks), "tokenizer.steps");
  EXPECT_EQ(rule_of_text(json, std::string_view(marks).substr(0, 2000)), "none")
      << "no writing has so many, but some texts do";
}

TEST(Tokenizer, DamagedSettingsAreErrors) {
  const auto rule_with = [](std::string_view settings) {
    Model model = model_with("vocab.txt", "[UNK]\n[CLS]\n[SEP]\nsome\ntext\n1\n");
    model.vocabulary = resources::parse_vocab_txt("[UNK]\n[CLS]\n[SEP]\nsome\ntext\n1\n");
    const auto bytes = std::as_bytes(std::span(settings));
    model.attachments.push_back({"tokenizer_config.json", Blob::memory(Bytes(bytes.begin(), bytes.end()))});
    return rule_of(model);
  };
  EXPECT_EQ(rule_with(R"({"do_lower_case": false})"), "none");
  EXPECT_EQ(rule_with(R"({"do_lower_case": null})"), "none");
  EXPECT_EQ(rule_with(R"({"do_lower_case": "no"})"), "tokenizer.step");
  EXPECT_EQ(rule_with(R"({"do_lower_case": fal)"), "json.syntax");
}

}  // namespace
}  // namespace tare
