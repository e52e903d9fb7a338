// The files of a model directory: reading, writing, and malformed ones.
#include "resources/resources.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/text.hpp"
#include "conformance/models.hpp"
#include "resources/byte_alphabet.hpp"
#include "resources/config_file.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"
#include "resources/tokenizer_rules.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using resources::parse_config;
using resources::parse_tokenizer_json;

// ---- config.json

TEST(ConfigJson, TheUsualKeys) {
  const Config config = parse_config(R"({"model_type": "mistral", "hidden_act": "silu", "tie_word_embeddings": false,
    "vocab_size": 96, "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 32768, "sliding_window": 4096,
    "rope_theta": 10000.0, "rms_norm_eps": 1e-05, "initializer_range": 0.02, "torch_dtype": "bfloat16"})");
  EXPECT_EQ(to_json(config.to_map()),
            R"({"model_type":"mistral","hidden_act":"silu","tie_word_embeddings":false,"vocab_size":96,)"
            R"("hidden_size":64,"intermediate_size":256,"num_hidden_layers":2,"num_attention_heads":4,)"
            R"("num_key_value_heads":2,"head_dim":16,"max_position_embeddings":32768,"sliding_window":4096,)"
            R"("rope_theta":10000.0,"rms_norm_eps":1e-05,"initializer_range":0.02})");
}

TEST(ConfigJson, OtherNamesAndNestedForms) {
  const Config gpt = parse_config(R"({"n_embd": 8, "n_layer": 3, "n_head": 2, "n_positions": 10, "n_inner": null})");
  EXPECT_EQ(gpt.hidden_size, 8);
  EXPECT_EQ(gpt.num_hidden_layers, 3);
  EXPECT_EQ(gpt.num_attention_heads, 2);
  EXPECT_EQ(gpt.max_position_embeddings, 10);
  EXPECT_FALSE(gpt.intermediate_size);
  // One key and value for all heads; a number that counts only with its flag.
  EXPECT_EQ(parse_config(R"({"multi_query": true, "num_kv_heads": 71})").num_key_value_heads, 1);
  EXPECT_EQ(
      parse_config(R"({"multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8})").num_key_value_heads,
      8);
  EXPECT_EQ(parse_config(R"({"multi_query_attention": true, "multi_query_group_num": 2})").num_key_value_heads, 2);
  EXPECT_FALSE(parse_config(R"({"multi_query_attention": false, "multi_query_group_num": 2})").num_key_value_heads);
  EXPECT_FALSE(parse_config(R"({"sliding_window": 32768, "use_sliding_window": false})").sliding_window);
  EXPECT_EQ(parse_config(R"({"sliding_window": 32768, "use_sliding_window": true})").sliding_window, 32768);
  EXPECT_EQ(parse_config(R"({"qk_nope_head_dim": 128, "qk_rope_head_dim": 64})").head_dim, 192);
  EXPECT_EQ(parse_config(R"({"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"})").hidden_act,
            "gelu_pytorch_tanh");
  EXPECT_EQ(parse_config(R"({"thinker_config": {"text_config": {"hidden_size": 5}}})").hidden_size, 5);
  EXPECT_EQ(parse_config(R"({"rope_parameters": {"rope_theta": 500000, "rope_type": "llama3"}})").rope_theta, 500000.0);
  EXPECT_EQ(parse_config(R"({"rope_parameters": {"full_attention": {"rope_theta": 1e6}}})").rope_theta, 1e6);
  EXPECT_EQ(parse_config(R"({"rope_theta": 1.5, "rope_parameters": {"rope_theta": 2.5}})").rope_theta, 2.5);
  const Config seeing = parse_config(R"({"model_type": "seer", "text_config": {"model_type": "t", "hidden_size": 5}})");
  EXPECT_EQ(seeing.model_type, "seer");
  EXPECT_EQ(seeing.hidden_size, 5);
}

// As the classes of the transformers library read them.
TEST(ConfigJson, OnlyTheLanguagePartDescribesTheLanguageModel) {
  const std::string outer = R"(,"rms_norm_eps":0.5,"sliding_window":4,"rope_theta":5.0,)"
                            R"("rope_scaling":{"rope_type":"linear","factor":9.0}})";
  const std::string part = R"("text_config":{"model_type":"gemma3_text","rms_norm_eps":1e-6,"hidden_size":8})";
  for (const char* const type : {"gemma3", "mistral3", "unheard_of"}) {
    const std::string text = R"({"model_type":")" + std::string(type) + "\"," + part + outer;
    const Config config = parse_config(text);
    EXPECT_EQ(config.model_type, type);
    EXPECT_EQ(config.rms_norm_eps, 1e-6);
    EXPECT_EQ(config.hidden_size, 8);
    EXPECT_FALSE(config.sliding_window) << type;
    EXPECT_EQ(resources::parse_rope_scaling(text).kind, "") << type;
  }
  // A class that is not known may read both; a difference is reported.
  std::vector<std::string> ignored;
  const Config unknown = parse_config(
      R"({"model_type":"a","text_config":{"model_type":"b","hidden_size":8},"hidden_size":4,"n_layer":2})", &ignored);
  EXPECT_EQ(unknown.hidden_size, 8);
  EXPECT_EQ(unknown.num_hidden_layers, 2);
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_EQ(ignored.front(), "hidden_size: expected 8, as the language part has it, found 4 at the top");
  // The outer class ties the head.
  EXPECT_EQ(parse_config(R"({"model_type":"gemma3","tie_word_embeddings":false,)"
                         R"("text_config":{"tie_word_embeddings":true}})")
                .tie_word_embeddings,
            false);
}

TEST(ConfigJson, ATextInPlaceOfANumberIsNoDefault) {
  for (const char* const text : {R"("300")", "[300]", "null"}) {
    Config config;
    const resources::ConfigFile file(
        resources::parse_small_json(fmt::format(R"({{"model_type":"mixtral","rope_theta":{}}})", text)));
    const Map filled = resources::assume_fields(config, file);
    ASSERT_NE(filled.find("rope_theta"), nullptr) << text;
    EXPECT_EQ(*filled.find("rope_theta"), Value(1000000.0)) << text;
    EXPECT_EQ(config.rope_theta, 1000000.0) << text;
  }
}

TEST(ConfigJson, APlainModelHasNoLanguagePart) {
  for (const char* const type : {"llama", "qwen2", "gemma3_text", "gpt2", "falcon"}) {
    const std::string text = R"({"model_type":")" + std::string(type) +
                             R"(","hidden_size":8,"text_config":{"hidden_size":4,"rms_norm_eps":0.5,)"
                             R"("model_type":"llama","rope_scaling":{"rope_type":"linear","factor":9.0}}})";
    const Config config = parse_config(text);
    EXPECT_EQ(config.hidden_size, 8) << type;
    EXPECT_FALSE(config.rms_norm_eps) << type;
    EXPECT_EQ(resources::parse_rope_scaling(text).kind, "") << type;
  }
}

TEST(ConfigJson, ScalingOfRotaryPositions) {
  const auto text_of = [](std::string_view config) {
    const auto [kind, factor, context] = resources::parse_rope_scaling(config);
    return fmt::format("{}/{}/{}", kind, factor.value_or(-1), context.value_or(-1));
  };
  EXPECT_EQ(text_of(R"({"rope_theta": 1e4})"), "/-1/-1");
  EXPECT_EQ(text_of(R"({"rope_scaling": null})"), "/-1/-1");
  EXPECT_EQ(text_of(R"({"rope_scaling": {"type": "linear", "factor": 4}})"), "linear/4/-1");
  EXPECT_EQ(text_of(R"({"rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 2.5,
                        "original_max_position_embeddings": 32768}})"),
            "yarn/2.5/32768");
  EXPECT_EQ(text_of(R"({"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}})"), "/-1/-1");
  EXPECT_EQ(text_of(R"({"rope_parameters": {"sliding_attention": {"rope_type": "default"},
                        "full_attention": {"rope_type": "linear", "factor": 8.0}}})"),
            "linear/8/-1");
  EXPECT_EQ(text_of(R"({"text_config": {"rope_scaling": {"type": "yarn", "factor": "x"}}})"), "yarn/-1/-1");
  EXPECT_EQ(text_of(R"({"original_max_position_embeddings": 4096, "rope_scaling": {"type": "longrope"}})"),
            "longrope/-1/4096");
}

TEST(ConfigJson, ValuesOfAnotherKindAreLeftOut) {
  const Config config = parse_config(
      R"({"hidden_size": "64", "num_hidden_layers": 2.0, "num_attention_heads": 2.5, "rope_theta": true,
          "vocab_size": 18446744073709551615, "head_dim": 1e300, "model_type": 7, "tie_word_embeddings": 1,
          "sliding_window": null, "intermediate_size": -3})");
  EXPECT_EQ(config.num_hidden_layers, 2);
  EXPECT_EQ(config.intermediate_size, -3);
  EXPECT_EQ(config.to_map().size(), 2U);
}

TEST(ConfigJson, IsWrittenSortedAndReadBack) {
  Config config;
  config.model_type = "a \"b\"\n";
  config.rms_norm_eps = 1e-5;
  config.hidden_size = 64;
  const std::string text = resources::config_json(config);
  EXPECT_EQ(text,
            "{\n  \"hidden_size\": 64,\n  \"model_type\": \"a \\\"b\\\"\\n\",\n  \"pad_token_id\": null,\n"
            "  \"rms_norm_eps\": 1e-05\n}\n");
  EXPECT_TRUE(parse_config(text) == config);
  EXPECT_EQ(resources::config_json({}), "{}\n");
}

// A family's default id may be outside of this vocabulary: a missing token must be stated as well.
TEST(ConfigJson, SaysTheIdsOfSpecialTokens) {
  Config config;
  config.hidden_size = 64;
  Vocabulary vocabulary;
  vocabulary.tokens = {{"a"}, {"b"}};
  vocabulary.eos = 1;
  EXPECT_EQ(resources::config_json(config, vocabulary),
            "{\n  \"bos_token_id\": null,\n  \"eos_token_id\": 1,\n  \"hidden_size\": 64,\n  "
            "\"pad_token_id\": null\n}\n");
  EXPECT_TRUE(parse_config(resources::config_json(config, vocabulary)) == config);
}

TEST(ConfigJson, SpeaksTheFamilysWords) {
  Config falcon;
  falcon.model_type = "falcon";
  falcon.num_key_value_heads = 1;
  falcon.head_dim = 64;
  const std::string text = resources::config_json(falcon);
  EXPECT_NE(text.find("\"num_kv_heads\": 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\"multi_query\": true"), std::string::npos) << text;
  EXPECT_EQ(text.find("head_dim"), std::string::npos) << text;
  EXPECT_EQ(parse_config(text).num_key_value_heads, 1);

  Config qwen;
  qwen.model_type = "qwen2";
  qwen.sliding_window = 32;
  EXPECT_NE(resources::config_json(qwen).find("\"use_sliding_window\": true"), std::string::npos);
  EXPECT_EQ(parse_config(resources::config_json(qwen)).sliding_window, 32);
}

TEST(ConfigJson, BadTextIsAnErrorOfOurs) {
  EXPECT_EQ(rule_of([] { parse_config(""); }), "json.syntax");
  EXPECT_EQ(rule_of([] { parse_config("{\"a\": "); }), "json.syntax");
  EXPECT_EQ(rule_of([] { parse_config("{\"a\": \"\xFF\"}"); }), "json.syntax");
  EXPECT_EQ(rule_of([] { parse_config("[1]"); }), "json.form");
  EXPECT_EQ(rule_of([] { parse_config(std::string(100000, '[')); }), "json.depth");
  EXPECT_EQ(rule_of([] { parse_config("{\"a\":" + std::string(64, '[')); }), "json.depth");
  EXPECT_EQ(rule_of([] { parse_config(std::string((std::size_t{16} << 20) + 1, ' ')); }), "json.size");
}

// ---- the byte-level alphabet

TEST(ByteAlphabet, EveryByteThereAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string text = resources::to_byte_alphabet(all);
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_EQ(resources::from_byte_alphabet(text), all);
  // As in GPT-2.
  EXPECT_EQ(resources::to_byte_alphabet(" hi\n"), "\xC4\xA0hi\xC4\x8A");
  EXPECT_EQ(resources::to_byte_alphabet("\xC3\xA9"), "\xC3\x83\xC2\xA9");
  EXPECT_EQ(resources::from_byte_alphabet("a b"), std::nullopt);
  EXPECT_EQ(resources::from_byte_alphabet("\xE2\x96\x81"), std::nullopt);
  EXPECT_EQ(resources::from_byte_alphabet("\xC5\x84"), std::nullopt);
  EXPECT_EQ(resources::from_byte_alphabet("\xC3"), std::nullopt);
}

// ---- tokenizer.json

std::string tokens_of(const Vocabulary& vocabulary) {
  std::string out;
  for (const Token& token : vocabulary.tokens)
    out += escape_name(token.text) + ":" + std::string(name_of(token.type)) + ":" + float_text(token.score) + " ";
  return out;
}

// As Python reads both files.
TEST(TokenizerJson, OfKeysThatAppearTwiceTheLastCounts) {
  EXPECT_EQ(
      to_json(parse_config(R"({"vocab_size": 1, "model_type": "a", "vocab_size": 2, "model_type": "b"})").to_map()),
      to_json(parse_config(R"({"vocab_size": 2, "model_type": "b"})").to_map()));
  const Vocabulary v = parse_tokenizer_json(R"({"model": 7, "model": {"type": "WordLevel", "type": "WordPiece",
      "vocab": {"x": 0}, "unk_token": "a", "vocab": {"a": 0, "b": 1}, "unk_token": "b"},
      "added_tokens": [{"id": 9, "id": 2, "content": "no", "content": "c"}]})");
  EXPECT_EQ(v.kind, "wordpiece");
  EXPECT_EQ(tokens_of(v), "a:normal:0.0 b:unknown:0.0 c:user_defined:0.0 ");
  EXPECT_EQ(v.unk, 1);
}

TEST(TokenizerJson, ByteLevelBpe) {
  const Vocabulary v = parse_tokenizer_json(R"({
    "added_tokens": [{"id": 4, "content": "<|end|>", "special": true}, {"id": 5, "content": "<tool>", "special": false}],
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split"}, {"type": "ByteLevel"}]},
    "model": {"type": "BPE", "unk_token": null, "vocab": {"h": 0, "i": 1, "Ġ": 2, "Ġhi": 3}, "merges": ["h i", ["Ġ", "hi"]]}})");
  EXPECT_EQ(v.kind, "bpe");
  EXPECT_EQ(tokens_of(v),
            "h:normal:0.0 i:normal:0.0  :normal:0.0  hi:normal:0.0 <|end|>:control:0.0 <tool>:user_defined:0.0 ");
  EXPECT_EQ(v.merges, (std::vector<std::string>{"h i", "\xC4\xA0 hi"}));
  EXPECT_EQ(v.unk, -1);
}

TEST(TokenizerJson, BpeWithBytesToFallBackTo) {
  const Vocabulary v = parse_tokenizer_json(R"({"added_tokens": [{"id": 0, "content": "<unk>", "special": true}],
    "pre_tokenizer": null, "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": true,
    "vocab": {"<unk>": 0, "<0x0A>": 1, "▁a": 2}, "merges": []}})");
  EXPECT_EQ(tokens_of(v),
            "<unk>:unknown:0.0 <0x0A>:byte:0.0 \xE2\x96\x81"
            "a:normal:0.0 ");
  EXPECT_EQ(v.unk, 0);
}

TEST(TokenizerJson, UnigramAndWordPiece) {
  const Vocabulary u = parse_tokenizer_json(
      R"({"model": {"type": "Unigram", "unk_id": 1, "vocab": [["a", -1.5], ["<unk>", 0], ["b", -2]]}})");
  EXPECT_EQ(u.kind, "unigram");
  EXPECT_EQ(tokens_of(u), "a:normal:-1.5 <unk>:unknown:0.0 b:normal:-2.0 ");
  const Vocabulary w = parse_tokenizer_json(
      R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 1, "##s": 0}}})");
  EXPECT_EQ(w.kind, "wordpiece");
  EXPECT_EQ(w.unk, 1);
  EXPECT_EQ(w.tokens[0].text, "##s");
}

TEST(TokenizerJson, GapsAreUnusedButNotWithoutEnd) {
  const Vocabulary v = parse_tokenizer_json(R"({"model": {"vocab": {"a": 0, "c": 2}}})");
  EXPECT_EQ(tokens_of(v), "a:normal:0.0 :unused:0.0 c:normal:0.0 ");
  const auto huge = [](const std::string& id) {
    return rule_of([&] { parse_tokenizer_json(R"({"model": {"vocab": {"a": )" + id + "}}}"); });
  };
  EXPECT_EQ(huge("4000000000"), "tokenizer.ids");
  EXPECT_EQ(huge("18446744073709551615"), "tokenizer.ids");
  EXPECT_EQ(huge("-1"), "tokenizer.vocab");
  EXPECT_EQ(huge("1.5"), "tokenizer.vocab");
  EXPECT_EQ(huge("\"0\""), "tokenizer.vocab");
}

TEST(TokenizerJson, BadFilesAreErrorsOfOurs) {
  const auto rule = [](const std::string& text) { return rule_of([&] { parse_tokenizer_json(text); }); };
  EXPECT_EQ(rule(""), "json.syntax");
  EXPECT_EQ(rule("{"), "json.syntax");
  EXPECT_EQ(rule("[]"), "json.form");
  EXPECT_EQ(rule(std::string(1 << 20, '[')), "json.depth");
  EXPECT_EQ(rule("{}"), "tokenizer.model");
  EXPECT_EQ(rule(R"({"model": {"type": "Magic", "vocab": {}}})"), "tokenizer.model");
  EXPECT_EQ(rule(R"({"model": {"type": "BPE"}})"), "tokenizer.vocab");
  EXPECT_EQ(rule(R"({"model": {"type": "BPE", "vocab": {}, "merges": [1]}})"), "tokenizer.merges");
  EXPECT_EQ(rule(R"({"model": {"type": "BPE", "vocab": {}, "merges": [["a"]]}})"), "tokenizer.merges");
  EXPECT_EQ(rule(R"({"model": {"type": "BPE", "vocab": {}, "merges": [["a", 2]]}})"), "tokenizer.merges");
  for (const char* const entry : {"1", "[]", "[1]", "[\"a\"]", "[\"a\", \"b\"]", "[1, 2]", "[\"a\", 1, 2]"})
    EXPECT_EQ(rule(R"({"model": {"type": "Unigram", "vocab": [)" + std::string(entry) + "]}}"), "tokenizer.vocab");
  EXPECT_EQ(rule(R"({"model": {"vocab": {}}, "added_tokens": [{"content": "x"}]})"), "tokenizer.added");
  EXPECT_EQ(rule(R"({"model": {"vocab": {}}, "added_tokens": [3]})"), "tokenizer.added");
}

// ---- vocab.json + merges.txt

TEST(VocabAndMerges, AreByteLevel) {
  const std::string vocab =
      "{\"a\": 0, \"\xC4\xA0\": 1, \"\xC4\xA0"
      "a\": 2}";
  const Vocabulary v = resources::parse_vocab_json(vocab, true);
  EXPECT_EQ(v.kind, "bpe");
  EXPECT_EQ(v.tokens[2].text, " a");
  EXPECT_EQ(resources::parse_merges("#version: 0.2\n\xC4\xA0 a\r\n\na a"),
            (std::vector<std::string>{"\xC4\xA0 a", "a a"}));
  EXPECT_TRUE(resources::parse_merges("").empty());
  EXPECT_EQ(rule_of([] { resources::parse_merges("ab\n"); }), "tokenizer.merges");
  // Alone, it is the form in which the tokenizers library saves a list of words.
  EXPECT_EQ(resources::parse_vocab_json(vocab, false).kind, "wordlevel");
  EXPECT_EQ(resources::parse_vocab_json(vocab, false).tokens[1].text, "\xC4\xA0");
}

// ---- vocab.txt

TEST(VocabTxt, IsWordPiece) {
  const Vocabulary v = resources::parse_vocab_txt("[PAD]\r\n[unused0]\n\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b");
  EXPECT_EQ(v.kind, "wordpiece");
  EXPECT_EQ(tokens_of(v),
            "[PAD]:pad:0.0 [unused0]:normal:0.0 :unused:0.0 [UNK]:unknown:0.0 [CLS]:control:0.0 [SEP]:control:0.0 "
            "[MASK]:control:0.0 a:normal:0.0 ##b:normal:0.0 ");
  EXPECT_EQ(v.unk, 3);
  EXPECT_EQ(v.pad, 0);
  EXPECT_EQ(v.bos, -1);
  const auto rule = [](std::string_view text) { return rule_of([&] { resources::parse_vocab_txt(text); }); };
  EXPECT_EQ(rule(""), "tokenizer.vocab");
  EXPECT_EQ(rule("<!DOCTYPE html>\n"), "tokenizer.vocab");
  EXPECT_EQ(rule("a\n\xFF\n"), "tokenizer.vocab");
  EXPECT_EQ(rule({"a\0\n", 3}), "tokenizer.vocab");
  EXPECT_EQ(rule("the 1234\nof 12\n"), "tokenizer.vocab") << "fairseq's";
  EXPECT_EQ(rule(std::string((1 << 24) + 1, '\n') + "a"), "tokenizer.vocab");
}

// ---- special tokens

Vocabulary five_tokens() {
  Vocabulary v;
  for (const char* const text : {"<unk>", "<s>", "</s>", "<pad>", "a"})
    v.tokens.push_back({text, 0, TokenType::normal});
  return v;
}

TEST(SpecialTokens, ByNameBeforeById) {
  Vocabulary v = five_tokens();
  resources::find_special_tokens(v, {R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false},
      "pad_token": null, "unk_token": "none such", "model_max_length": 1000000000000000019884624838656})",
                                     R"({"unk_token": "<unk>", "bos_token": "a"})",
                                     R"({"bos_token_id": 4, "eos_token_id": [4, 2], "pad_token_id": 3})"});
  EXPECT_EQ(v.bos, 1);
  EXPECT_EQ(v.eos, 2);
  EXPECT_EQ(v.pad, 3);
  EXPECT_EQ(v.unk, 0);
  EXPECT_EQ(tokens_of(v), "<unk>:unknown:0.0 <s>:bos:0.0 </s>:eos:0.0 <pad>:pad:0.0 a:normal:0.0 ");
}

TEST(SpecialTokens, IdsOutsideTheVocabularyAreNone) {
  Vocabulary v = five_tokens();
  resources::find_special_tokens(v, {"", "", R"({"bos_token_id": 5, "eos_token_id": -1, "pad_token_id": [2, 3]})"});
  EXPECT_EQ(v.bos, -1);
  EXPECT_EQ(v.eos, -1);
  EXPECT_EQ(v.pad, 2);
}

// ---- writing

void expect_tokenizer_round_trip(Vocabulary v) {
  Vocabulary back = parse_tokenizer_json(resources::tokenizer_json(v));
  resources::find_special_tokens(back, {resources::tokenizer_config_json(v)});
  EXPECT_EQ(tokens_of(back), tokens_of(v));
  EXPECT_TRUE(back == v) << resources::tokenizer_json(v);
}

TEST(TokenizerJson, WhatIsWrittenIsReadBack) {
  Vocabulary bpe = parse_tokenizer_json(R"({
    "added_tokens": [{"id": 4, "content": "<|end|>", "special": true}, {"id": 5, "content": "<tööl>", "special": false}],
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"h": 0, "i": 1, "Ġ": 2, "Ġhi": 3, "Ã©": 6}, "merges": ["h i", ["Ġ", "hi"]]}})");
  bpe.eos = 4;
  bpe.tokens[4].type = TokenType::eos;
  expect_tokenizer_round_trip(bpe);
  expect_tokenizer_round_trip(parse_tokenizer_json(
      R"({"model": {"type": "BPE", "unk_token": "u", "byte_fallback": true,
          "vocab": {"u": 0, "<0x0A>": 1, "▁": 2, "ä": 3, "▁ä": 5}, "merges": ["▁ ä"]}})"));
  expect_tokenizer_round_trip(parse_tokenizer_json(
      R"({"model": {"type": "Unigram", "unk_id": 1, "vocab": [["a", -1.5], ["<unk>", 0], ["ü\n\"", -2e-5]]}})"));
  expect_tokenizer_round_trip(parse_tokenizer_json(
      R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "##s": 1}}})"));
}

TEST(TokenizerJson, TokensThatAreNoTextAreWrittenAsText) {
  Vocabulary v = sample_vocabulary();
  v.tokens[1].score = std::numeric_limits<float>::infinity();
  v.merges.clear();
  const Vocabulary back = parse_tokenizer_json(resources::tokenizer_json(v));
  ASSERT_EQ(back.tokens.size(), 3U);
  EXPECT_EQ(back.tokens[1].text, v.tokens[1].text);
  EXPECT_EQ(back.tokens[2].score, 2);
}

// ---- attachments

class Warnings final : public Diagnostics {
 public:
  void warning(const Error& about) override { lines.push_back(about.item() + " " + about.rule()); }
  std::vector<std::string> lines;
};

TEST(Describe, FillsWhatIsEmptyFromTheBestFile) {
  Model model;
  model.attachments = {text_file("config.json", R"({"hidden_size": 8, "eos_token_id": 2})"),
                       text_file("tokenizer.json", R"({"model": {"vocab": {"only": 0}}, "added_tokens":
                          [{"id": 262, "content": "<new>", "special": true}]})"),
                       text_file("tokenizer.model", small_spm())};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(model.config.hidden_size, 8);
  EXPECT_EQ(model.vocabulary.kind, "spm");
  ASSERT_EQ(model.vocabulary.tokens.size(), 263U);
  EXPECT_EQ(model.vocabulary.tokens[262].text, "<new>");
  EXPECT_EQ(model.vocabulary.tokens[1].type, TokenType::bos);
  EXPECT_TRUE(warnings.lines.empty());

  Model known = model;
  known.config.hidden_size = 9;
  known.vocabulary.tokens.resize(1);
  const Vocabulary before = known.vocabulary;
  resources::describe(known, warnings);
  EXPECT_EQ(known.config.hidden_size, 9);
  EXPECT_TRUE(known.vocabulary == before);
}

TEST(Describe, BadFilesAreWarningsAndTheNextOneIsTried) {
  Model model;
  model.attachments = {text_file("config.json", "<html>"), text_file("tokenizer.model", "IQ== 0\n"),
                       text_file("tokenizer.json", "{}"), text_file("vocab.json", R"({"a": 0})"),
                       text_file("tokenizer_config.json", "[]")};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(model.vocabulary.tokens.size(), 1U);
  EXPECT_TRUE(model.config.empty());
  EXPECT_EQ(warnings.lines,
            (std::vector<std::string>{"config.json json.syntax", "tokenizer.model tokenizer.sentencepiece",
                                      "tokenizer.json tokenizer.model", "tokenizer_config.json json.form"}));
}

TEST(Describe, EveryFileIsToldOfItsOwnTrouble) {
  Model model;
  model.attachments = {text_file("vocab.json", R"({"a": 0})"), text_file("merges.txt", "ab\n")};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(warnings.lines, std::vector<std::string>{"merges.txt tokenizer.merges"});
  EXPECT_EQ(model.vocabulary.kind, "bpe");
  EXPECT_EQ(model.vocabulary.tokens.size(), 1U);
}

TEST(Describe, OtherNamesOfVocabularies) {
  const auto described = [](std::vector<Attachment> files, const std::vector<std::string>& expected_warnings = {}) {
    Model model;
    model.attachments = std::move(files);
    Warnings warnings;
    resources::describe(model, warnings);
    EXPECT_EQ(warnings.lines, expected_warnings);
    return model.vocabulary;
  };
  const Vocabulary pieces =
      described({text_file("spiece.model", small_spm()), text_file("added_tokens.json", R"({"<x>": 262})")});
  EXPECT_EQ(pieces.kind, "spm");
  EXPECT_EQ(pieces.tokens.size(), 263U);
  EXPECT_EQ(pieces.tokens[1].type, TokenType::bos) << "with no settings beside it";
  // If there are both, only tokenizer.json is certain to have the model's ids.
  const Attachment json = text_file("tokenizer.json", R"({"model": {"type": "Unigram", "vocab": [["a", -1]]}})");
  EXPECT_EQ(described({text_file("spiece.model", small_spm()), json}).kind, "unigram");
  EXPECT_TRUE(
      described({text_file("spiece.model", small_spm()), text_file("config.json", R"({"model_type": "pegasus"})")},
                {"spiece.model tokenizer.shifted"})
          .empty());
  const Vocabulary words =
      described({text_file("vocab.txt", "[UNK]\n[CLS]\na\n"),
                 text_file("tokenizer_config.json", R"({"cls_token": "[CLS]", "pad_token": "a"})")});
  EXPECT_EQ(words.kind, "wordpiece");
  EXPECT_EQ(words.pad, 2);
  EXPECT_EQ(described({text_file("vocab.txt", "[UNK]\n[CLS]\na\n"), json}).kind, "unigram");
  for (const char* const name : {"spiece.model", "vocab.txt"}) {
    EXPECT_TRUE(resources::holds_vocabulary(name));
    EXPECT_EQ(resources::role_of(name), resources::Role::described);
  }
}

// Fine-tunes do not update tokenizer.model.
TEST(Describe, SettingsNameSpecialTokensBeforeTheVocabularyDoes) {
  Model model;
  model.attachments = {text_file("tokenizer.model", small_spm()),
                       text_file("added_tokens.json", R"({"<|im_end|>": 262})"),
                       text_file("tokenizer_config.json", R"({"eos_token": "<|im_end|>", "bos_token": null})"),
                       text_file("special_tokens_map.json", R"({"eos_token": "</s>", "pad_token": "<|im_end|>"})"),
                       text_file("config.json", R"({"bos_token_id": 9, "eos_token_id": 2, "unk_token_id": 5})")};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(model.vocabulary.eos, 262);
  EXPECT_EQ(model.vocabulary.tokens[262].type, TokenType::eos);
  EXPECT_EQ(model.vocabulary.tokens[2].type, TokenType::control);
  EXPECT_EQ(model.vocabulary.pad, 262);
  EXPECT_EQ(model.vocabulary.bos, 1) << "of tokenizer.model";
  EXPECT_EQ(model.vocabulary.unk, 0);
}

TEST(Describe, NothingMayFollowAZeroByte) {
  const std::string text = std::string("{\"a\": 1}") + '\0' + "garbage";
  const auto error = error_of([&] { parse_config(text); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "json.syntax");
  EXPECT_EQ(error->offset(), text.find('\0'));
  EXPECT_EQ(rule_of([&] { parse_config({"{}\0", 3}); }), "json.syntax");
  EXPECT_EQ(rule_of([&] { parse_tokenizer_json(std::string("{\"model\":{\"vocab\":{}}}") + '\0' + "x"); }),
            "json.syntax");
  EXPECT_EQ(error_of([&] { parse_config("{\"a\": x}"); })->offset(), 6U);
}

TEST(Describe, TheWrongFileIsNamed) {
  const auto sentence = [](const auto& action) { return error_of(action).value().sentence(); };
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
  EXPECT_TRUE(sentence([&] { parse_config(pointer); }).starts_with("a git-lfs pointer"));
  EXPECT_TRUE(sentence([&] { parse_tokenizer_json(pointer); }).starts_with("a git-lfs pointer"));
  EXPECT_TRUE(sentence([&] { resources::parse_sentencepiece(to_bytes(pointer)); }).starts_with("a git-lfs pointer"));
  EXPECT_TRUE(sentence([&] { parse_tokenizer_json("<!DOCTYPE html><html>"); }).starts_with("an HTML page"));
  EXPECT_EQ(sentence([&] { parse_tokenizer_json(""); }), "the file is empty");
  EXPECT_EQ(sentence([&] { parse_config("{\n  bad"); }), "not JSON: expected a key, found \"bad\" (line 2, column 3)");
  EXPECT_EQ(sentence([&] { parse_config("{\"a\": 1e999}"); }),
            "not JSON: the number 1e999 is too large (line 1, column 7)");
}

TEST(Describe, NumbersThatJsonHasNoWordForAreSkipped) {
  const Config config = parse_config(
      R"({"limits": [0.0, Infinity, -Infinity, NaN], "hidden_act": "NaN \"Infinity", "rope_theta": Infinity, "hidden_size": 4})");
  EXPECT_EQ(config.hidden_size, 4);
  EXPECT_EQ(config.hidden_act, "NaN \"Infinity");
  EXPECT_FALSE(config.rope_theta);
  EXPECT_EQ(rule_of([] { parse_config("{\"a\": Infinitx}"); }), "json.syntax");
}

TEST(Describe, ValuesOfTheWrongKindAreWarnings) {
  Model model;
  model.attachments = {
      text_file("config.json", R"({"hidden_size": "64", "num_hidden_layers": 2.5, "sliding_window": null,
                                               "tie_word_embeddings": 1, "rope_theta": 5})")};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(warnings.lines, (std::vector<std::string>(3, "config.json config.type")));
  EXPECT_FALSE(model.config.hidden_size);
  EXPECT_EQ(model.config.rope_theta, 5.0);
}

TEST(Describe, TokensThatWereAddedLater) {
  Model model;
  model.attachments = {text_file("vocab.json", R"({"a": 0, "b": 1, "ab": 2})"), text_file("merges.txt", "a b\n"),
                       text_file("added_tokens.json", R"({"<im>": 4, "b": 1})"),
                       text_file("tokenizer_config.json", R"({"eos_token": "<end>", "added_tokens_decoder":
                            {"1": {"content": "b"}, "5": {"content": "<end>", "special": true}}})")};
  Warnings warnings;
  resources::describe(model, warnings);
  EXPECT_EQ(tokens_of(model.vocabulary),
            "a:normal:0.0 b:user_defined:0.0 ab:normal:0.0 :unused:0.0 <im>:user_defined:0.0 <end>:eos:0.0 ");
  EXPECT_EQ(model.vocabulary.eos, 5);
  EXPECT_TRUE(warnings.lines.empty());

  const auto rule = [](std::string_view text) {
    Vocabulary few;
    return rule_of([&] { resources::append_added(few, resources::parse_added_tokens(text)); });
  };
  EXPECT_EQ(rule(R"({"a": -1})"), "tokenizer.added");
  EXPECT_EQ(rule(R"({"a": 18446744073709551615})"), "tokenizer.ids");
  const auto decoder_rule = [](std::string_view text) {
    return rule_of([&] { resources::parse_added_tokens_decoder(text); });
  };
  EXPECT_EQ(decoder_rule(R"({"added_tokens_decoder": {"x": {"content": "a"}}})"), "tokenizer.added");
  EXPECT_EQ(decoder_rule(R"({"added_tokens_decoder": {"3": {"content": 1}}})"), "tokenizer.added");
}

TEST(Describe, TwoTokensOfOneId) {
  EXPECT_EQ(rule_of([] { parse_tokenizer_json(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}}})"); }),
            "tokenizer.ids");
}

TEST(TokenizerJson, ScoresThatAreRanksAreMerges) {
  Vocabulary v;
  v.kind = "spm";
  v.tokens = {{"<unk>", 0, TokenType::unknown}, {"<0x0A>", 0, TokenType::byte}};
  for (const char* const piece : {"ab", "▁ab", "abab", "a", "b", "▁"})
    v.tokens.push_back({piece, 2 - static_cast<float>(v.tokens.size()), TokenType::normal});
  EXPECT_TRUE(resources::is_ranked(v));
  EXPECT_EQ(resources::merges_of_ranked(v), (std::vector<std::string>{"a b", "▁ ab", "ab ab"}));
  const std::string text = resources::tokenizer_json(v);
  EXPECT_NE(text.find("\"BPE\""), std::string::npos);
  EXPECT_NE(text.find("\"ByteFallback\""), std::string::npos);
  EXPECT_EQ(parse_tokenizer_json(text).merges, resources::merges_of_ranked(v));

  v.tokens.back().score = -2.5F;  // a likelihood
  EXPECT_FALSE(resources::is_ranked(v));
  EXPECT_NE(resources::tokenizer_json(v).find("\"Unigram\""), std::string::npos);
}

// A byte-pair vocabulary of tokenizer.json, through a container that has scores and no merges: the same merges are
// restored.
TEST(TokenizerJson, RanksOfMergesSurviveAsScores) {
  const std::vector<std::string> merges = {"h e", "l l", "he ll", "Ġ w", "o r", "hell o", "Ġw or", "â ĸ"};
  Vocabulary v;
  v.kind = "bpe";
  for (int byte = 0; byte < 256; ++byte) v.tokens.push_back({std::string(1, static_cast<char>(byte))});
  // In arbitrary order: ids do not imply ranks.
  for (const char* const piece : {" wor", "hello", "hell", "or", " w", "ll", "he", "\xE2\x96"})
    v.tokens.push_back({piece});
  v.tokens.push_back({"<|end|>", 0, TokenType::control});
  v.merges = merges;
  Vocabulary scored = v;
  ASSERT_TRUE(resources::rank_by_merges(scored));
  EXPECT_TRUE(resources::is_ranked(scored));
  EXPECT_EQ(scored.tokens.back().score, 0);
  EXPECT_EQ(scored.tokens[262].score, 0);  // "he", the first merge
  scored.merges.clear();
  EXPECT_EQ(resources::byte_merges_of_ranked(scored), merges);
  const Vocabulary again = parse_tokenizer_json(resources::tokenizer_json(scored));
  EXPECT_EQ(again.merges, merges);
  EXPECT_EQ(again.kind, "bpe");

  // Existing scores are kept.
  v.tokens[3].score = -1;
  EXPECT_FALSE(resources::rank_by_merges(v));
  EXPECT_EQ(v.tokens[262].score, 0);
  Vocabulary none;
  none.tokens = {{"a"}, {"b"}};
  none.merges = {"x y"};
  EXPECT_FALSE(resources::rank_by_merges(none));
}

// A piece may contain blanks, so any blank of a merge may separate its halves. Trying them must not take quadratic
// time.
TEST(TokenizerJson, MergesOfManyBlanksTakeNoTime) {
  Vocabulary v;
  for (const char* const piece : {"a", "b ", "a b ", "   "}) v.tokens.push_back({piece});
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += "a ";
  v.merges = {many, std::string(1'000'000, ' '), "a  b ", "    "};
  ASSERT_TRUE(resources::rank_by_merges(v));
  EXPECT_EQ(v.tokens[2].score, 0);
  EXPECT_EQ(v.tokens[3].score, -1);
}

// The part after an added token is not the beginning of the text.
TEST(TokenizerJson, NoBlankBehindAddedTokens) {
  Vocabulary v;
  v.tokens = {{"<unk>", 0, TokenType::unknown}, {"▁a", -1.5F}, {"a", -2.5F}, {"<custom>", 0, TokenType::user_defined}};
  v.unk = 0;
  const std::string text = resources::tokenizer_json(v);
  EXPECT_EQ(text.find("Prepend"), std::string::npos);
  EXPECT_NE(text.find(R"("prepend_scheme": "first", "split": false)"), std::string::npos) << text;
  // Whatever the text begins with: a blank is put before blanks as well.
  EXPECT_NE(text.find(R"("replacement": " ", "prepend_scheme": "first")"), std::string::npos) << text;
  EXPECT_EQ(resources::parse_tokenizer_rules(text).adds_blank, true);
  EXPECT_TRUE(resources::parse_tokenizer_rules(text).first_blank_only);
  // Rules come from GGUF: llama.cpp puts a blank there, too.
  resources::TokenizerRules rules;
  rules.adds_blank = true;
  const std::string ruled = resources::tokenizer_json(v, &rules);
  EXPECT_NE(ruled.find(R"({"type": "Prepend", "prepend": "▁"})"), std::string::npos) << ruled;
  EXPECT_EQ(ruled.find("Metaspace"), std::string::npos) << ruled;
  EXPECT_FALSE(resources::parse_tokenizer_rules(ruled).first_blank_only);
  rules.adds_blank = false;
  EXPECT_EQ(resources::tokenizer_json(v, &rules).find("Prepend"), std::string::npos);
}

// A rule that changes the tokens of a text is read, or reported.
TEST(TokenizerJson, RulesThatNoKeySaysAreTold) {
  const auto rules = [](std::string_view text) { return resources::parse_tokenizer_rules(text); };
  const auto framed =
      rules(R"({"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}})");
  EXPECT_EQ(framed.before, std::vector<std::string>{"<s>"});
  EXPECT_EQ(framed.behind, std::vector<std::string>{"</s>"});
  EXPECT_EQ(rules(R"({"post_processor": {"type": "New"}})").others.size(), 1U);
  EXPECT_TRUE(rules(R"({"post_processor": {"type": "ByteLevel"}})").others.empty());
  EXPECT_EQ(rules(R"({"added_tokens": [{"id": 1, "content": "<m>", "rstrip": true}]})").others.size(), 1U);
  EXPECT_EQ(rules(R"({"added_tokens": [{"id": 1, "content": "<m>", "single_word": true}]})").others.size(), 1U);
  EXPECT_TRUE(rules(R"({"added_tokens": [{"id": 1, "content": "<m>", "rstrip": false}]})").others.empty());
  EXPECT_EQ(rules(R"({"model": {"type": "BPE", "end_of_word_suffix": "</w>"}})").others.size(), 1U);
  EXPECT_TRUE(rules(R"({"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
                        "model": {"type": "WordPiece", "continuing_subword_prefix": "##"}})")
                  .others.empty());
  const auto split = [&](std::string_view how) {
    return rules(fmt::format(R"({{"pre_tokenizer": {{"type": "Split", "pattern": {{"Regex": "a"}}, {}}}}})", how))
        .cuts.at(0);
  };
  EXPECT_EQ(split(R"("behavior": "Isolated", "invert": false)"), "split a");
  EXPECT_EQ(split(R"("behavior": "Removed", "invert": true)"), "split a");
  EXPECT_EQ(split(R"("behavior": "Removed", "invert": false)"), "split a (Removed)");
  EXPECT_EQ(split(R"("behavior": "MergedWithPrevious", "invert": false)"), "split a (MergedWithPrevious)");
}

TEST(TokenizerJson, AUnigramKnowsItsUnknownPiece) {
  Vocabulary v;
  v.tokens = {{"▁a", -1.5F}, {"<unk>", 0, TokenType::normal}};
  EXPECT_NE(resources::tokenizer_json(v).find("\"unk_id\": 1"), std::string::npos);
}

// SentencePiece makes no words, puts a space before any text and takes a run of unknown characters as one piece.
TEST(TokenizerJson, PiecesWithScoresAreSplitAsSentencePieceDoes) {
  const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  Vocabulary v;
  v.tokens = {{"<unk>", 0, TokenType::unknown}};
  for (const char* const piece : {"ab", "▁ab", "a", "b", "▁"})
    v.tokens.push_back({piece, 1 - static_cast<float>(v.tokens.size()), TokenType::normal});
  const std::string merged = resources::tokenizer_json(v);
  v.tokens.back().score = -2.5F;
  const std::string likely = resources::tokenizer_json(v);
  for (const std::string& text : {merged, likely}) {
    EXPECT_TRUE(has(text, R"({"type": "Prepend", "prepend": "▁"})")) << text;
    EXPECT_TRUE(has(text, R"("pre_tokenizer": null)")) << text;
    EXPECT_TRUE(has(text, R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})")) << text;
  }
  EXPECT_TRUE(has(merged, R"("fuse_unk": true)"));
  EXPECT_TRUE(has(merged, R"("byte_fallback": false)"));
}

TEST(TokenizerJson, WordsAreSplitAsTheirKindDoes) {
  const Vocabulary pieces = parse_tokenizer_json(
      R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}})");
  EXPECT_NE(resources::tokenizer_json(pieces).find("BertPreTokenizer"), std::string::npos);
  EXPECT_NE(resources::tokenizer_json(pieces).find("\"lowercase\": true"), std::string::npos);
  const Vocabulary words =
      parse_tokenizer_json(R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "A": 1}}})");
  EXPECT_EQ(words.kind, "wordlevel");
  EXPECT_TRUE(parse_tokenizer_json(resources::tokenizer_json(words)) == words);
}

// A placeholder or the file of another model next to a vocabulary that Tare has from elsewhere.
TEST(Complete, FilesThatDoNotHaveTheVocabulary) {
  const auto makes_json = [](const std::string& name, const std::string& text) {
    Model model;
    model.vocabulary.kind = "wordpiece";
    for (const char* const token : {"[UNK]", "a", "b", "c"}) model.vocabulary.tokens.push_back({.text = token});
    model.attachments = {text_file(name, text)};
    resources::complete(model);
    return model.attachment("tokenizer.json") != nullptr;
  };
  EXPECT_FALSE(makes_json("vocab.txt", "[UNK]\na\nb\nc\n"));
  EXPECT_TRUE(makes_json("vocab.txt", "a\n"));
  EXPECT_TRUE(makes_json("tokenizer.model", "version https://git-lfs.github.com/spec/v1\nsize 12345\n"));
}

TEST(Complete, AddsWhatNoFileSays) {
  Model model;
  resources::complete(model);
  EXPECT_TRUE(model.attachments.empty());
  model.config.hidden_size = 3;
  model.vocabulary = resources::parse_sentencepiece(to_bytes(small_spm()));
  resources::complete(model);
  ASSERT_EQ(model.attachments.size(), 3U);
  Model again;
  again.attachments = model.attachments;
  Warnings warnings;
  resources::describe(again, warnings);
  EXPECT_TRUE(again.config == model.config);
  EXPECT_EQ(again.vocabulary.bos, 1);
  EXPECT_EQ(again.vocabulary.tokens[3].score, -1.5F);
  EXPECT_TRUE(warnings.lines.empty());
  resources::complete(again);
  EXPECT_EQ(again.attachments.size(), 3U);
}

TEST(Complete, LeavesFilesThatAreThereAlone) {
  Model model;
  model.config.hidden_size = 3;
  model.vocabulary = five_tokens();
  model.attachments = {text_file("config.json", "{}"), text_file("vocab.json", R"({"a":0,"b":1,"c":2,"d":3,"e":4})")};
  resources::complete(model);
  EXPECT_EQ(model.attachments.size(), 2U);
  // A placeholder stays, but is not the vocabulary.
  model.attachments[1] = text_file("vocab.json", "{}");
  resources::complete(model);
  EXPECT_EQ(model.attachments.size(), 4U);
  EXPECT_NE(model.attachment("tokenizer.json"), nullptr);
}

}  // namespace
}  // namespace tare
