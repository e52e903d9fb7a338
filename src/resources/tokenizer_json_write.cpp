// Writes tokenizer.json and tokenizer_config.json for a vocabulary that came without them.
//
// A Vocabulary does not define how a text is split into words, so the common ways are inferred from the tokens: the
// byte-level alphabet if tokens are not text or the merges are spelled in it, U+2581 for blanks if tokens have it,
// BERT's way for word pieces. Pieces with scores and U+2581 are SentencePiece's, which does not split a text into
// words: it puts one blank before the text, whatever the text begins with, replaces every blank by U+2581, and takes a
// run of unknown characters as one piece.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <string>

#include "base/name_map.hpp"
#include "base/text.hpp"
#include "resources/byte_alphabet.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"
#include "resources/tokenizer_rules.hpp"
#include "resources/vocabulary_builder.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81";

bool is_added(const Token& token) {
  switch (token.type) {
    case TokenType::unknown:
    case TokenType::control:
    case TokenType::user_defined:
    case TokenType::bos:
    case TokenType::eos:
    case TokenType::pad: return is_valid_utf8(token.text);
    default: return false;
  }
}

// Returns whether no token has this id.
bool is_gap(const Token& token) { return token.type == TokenType::unused && token.text.empty(); }

// Returns whether there is a piece for each byte, in SentencePiece's spelling.
bool spells_all_bytes(const Vocabulary& vocabulary) {
  std::bitset<256> spelled;
  for (const Token& token : vocabulary.tokens)
    if (is_byte_token(token.text)) spelled.set(std::stoul(token.text.substr(3, 2), nullptr, 16));
  return spelled.all();
}

class Tokenizer {
 public:
  Tokenizer(const Vocabulary& vocabulary, const TokenizerRules* rules) : vocabulary_(vocabulary), rules_(rules) {
    NameViewSet texts;
    for (const Token& token : vocabulary.tokens) {
      if (is_gap(token)) continue;
      if (!texts.insert(token.text).second) unique_ = false;
      if (!is_valid_utf8(token.text)) byte_level_ = true;
      if (token.text.find(kBlank) != std::string::npos) blanks_ = true;
      if (token.type == TokenType::byte && is_valid_utf8(token.text)) byte_tokens_ = true;
    }
    // A merge joins two tokens to a third. If the result is not a token as spelled, the merges are in the byte-level
    // alphabet.
    for (const std::string& merge : vocabulary.merges) {
      std::string joined = merge;
      std::erase(joined, ' ');
      if (!texts.contains(joined)) byte_level_ = true;
      if (byte_level_) break;
    }
    if (rules_ != nullptr && rules_->byte_level) byte_level_ = true;
    model_ = choose_model();
  }

  bool is_byte_level() const { return byte_level_; }

  // In words, what splitter() does without rules.
  std::string_view splitting() const {
    if (model_ == ModelType::word_piece) return "split as BERT does";
    if (model_ == ModelType::word_level) return "split at blanks and punctuation";
    if (byte_level_) return "split as GPT-2 does";
    return blanks_ ? "split as SentencePiece does, with a blank before it" : "not split";
  }

  std::string text() {
    out_.reserve(expected_size());  // as many tokens as there are, a text that grows would be held twice
    out_ = "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": [";
    put_added();
    out_ += "],\n  \"normalizer\": " + normalizer() + ",\n  \"pre_tokenizer\": " + splitter();
    out_ += ",\n  \"post_processor\": " + frame() + ",\n  \"decoder\": " + decoder();
    out_ += ",\n  \"model\": {\n    ";
    switch (model_) {
      case ModelType::word_piece: put_word_piece(); break;
      case ModelType::word_level: put_word_level(); break;
      case ModelType::bpe: put_bpe(vocabulary_.merges); break;
      case ModelType::ranked_bpe:
        put_bpe(byte_level_ ? byte_merges_of_ranked(vocabulary_) : merges_of_ranked(vocabulary_));
        break;
      case ModelType::unigram: put_unigram(); break;
    }
    return std::move(out_) + "\n  }\n}\n";
  }

 private:
  enum class ModelType : std::uint8_t { word_piece, word_level, bpe, ranked_bpe, unigram };

  // The length of the text, if few characters need an escape.
  std::size_t expected_size() const {
    constexpr std::size_t kRest = 4096, kPerAdded = 150, kPerToken = 32, kPerMerge = 12;
    std::size_t size = kRest;
    for (const Token& token : vocabulary_.tokens)
      size += kPerToken + token.text.size() + (is_added(token) ? kPerAdded + token.text.size() : 0);
    for (const std::string& merge : vocabulary_.merges) size += kPerMerge + merge.size();
    return size;
  }

  ModelType choose_model() const {
    if (!unique_) return ModelType::unigram;  // the others identify a token by its text
    if (vocabulary_.kind == "wordpiece") return ModelType::word_piece;
    if (vocabulary_.kind == "wordlevel") return ModelType::word_level;
    if (!vocabulary_.merges.empty()) return ModelType::bpe;
    return (blanks_ || byte_level_) && is_ranked(vocabulary_) ? ModelType::ranked_bpe : ModelType::unigram;
  }

  bool is_sentence_piece() const {
    return (model_ == ModelType::ranked_bpe || model_ == ModelType::unigram) && blanks_ && !byte_level_;
  }

  // Returns whether tokens other than those at its ends are matched in a text before it is normalized. A normalizer
  // treats each part between them as a text and would put a space before each; the pre-tokenizer knows which part is
  // the first. With rules, which are those of llama.cpp, there is a space before each part.
  bool cuts_texts() const {
    if (rules_ != nullptr) return false;
    const std::int64_t at_ends[] = {vocabulary_.bos, vocabulary_.eos, vocabulary_.pad, vocabulary_.unk};
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      const Token& token = vocabulary_.tokens[id];
      const bool inside = token.type == TokenType::user_defined || token.type == TokenType::control;
      if (inside && is_added(token) && std::ranges::find(at_ends, static_cast<std::int64_t>(id)) == std::end(at_ends))
        return true;
    }
    return false;
  }

  std::string spelled(const Token& token) const {
    return byte_level_ && !is_added(token) ? to_byte_alphabet(token.text) : token.text;
  }

  // BERT's uncased models have capitals only in the names of special tokens.
  bool has_capitals() const {
    return std::any_of(vocabulary_.tokens.begin(), vocabulary_.tokens.end(), [](const Token& token) {
      return token.type == TokenType::normal &&
             std::any_of(token.text.begin(), token.text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    });
  }

  std::string normalizer() const {
    if (model_ == ModelType::word_piece)
      return fmt::format(
          R"({{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": {}}})",
          !has_capitals());
    if (is_sentence_piece() && (!puts_blank() || cuts_texts()))
      return fmt::format(R"({{"type": "Replace", "pattern": {{"String": " "}}, "content": "{}"}})", kBlank);
    if (is_sentence_piece())
      return fmt::format(
          R"({{"type": "Sequence", "normalizers": [{{"type": "Prepend", "prepend": "{0}"}}, {{"type": "Replace", "pattern": {{"String": " "}}, "content": "{0}"}}]}})",
          kBlank);
    return "null";
  }

  std::string splitter() const {
    if (model_ == ModelType::word_piece) return R"({"type": "BertPreTokenizer"})";
    if (model_ == ModelType::word_level) return R"({"type": "Whitespace"})";
    if (is_sentence_piece() && (!cuts_texts() || !puts_blank())) return "null";
    // Metaspace puts nothing before a text that begins with its own replacement character. The first Metaspace uses the
    // blank, which no text begins with any more: the normalizer has replaced all blanks. The second replaces the blank
    // that the first has put in front.
    if (is_sentence_piece())
      return fmt::format(
          R"({{"type": "Sequence", "pretokenizers": [{{"type": "Metaspace", "replacement": " ", "prepend_scheme": "first", "split": false}}, {{"type": "Metaspace", "replacement": "{}", "prepend_scheme": "never", "split": false}}]}})",
          kBlank);
    return byte_level_ && rules_ != nullptr ? cuts() : blanks_or_bytes();
  }

  bool puts_blank() const { return rules_ == nullptr || rules_->adds_blank.value_or(true); }

  // The known ways to split a text, then bytes as characters.
  std::string cuts() const {
    std::string steps;
    bool regex = false;
    for (const std::string& cut : rules_->cuts) {
      constexpr std::string_view kSplit = "split ";
      if (cut == "bytes") {
        regex = true;
      } else if (cut.starts_with(kSplit)) {
        steps += R"({"type": "Split", "pattern": {"Regex": )";
        append_json_string(steps, std::string_view(cut).substr(kSplit.size()));
        steps += R"(}, "behavior": "Isolated", "invert": false}, )";
      } else if (cut.starts_with("digits")) {
        steps += fmt::format(R"({{"type": "Digits", "individual_digits": {}}}, )", cut != "digits");
      }
    }
    return fmt::format(
        R"({{"type": "Sequence", "pretokenizers": [{}{{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": {}}}]}})",
        steps, regex);
  }

  // Special tokens around a text, and between two.
  std::string frame() const {
    if (rules_ == nullptr || (rules_->before.empty() && rules_->behind.empty())) return "null";
    std::string ids;
    NameViewMap<std::size_t> places;
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) places.emplace(vocabulary_.tokens[id].text, id);
    const auto special = [&](const std::string& text, int type) {
      std::string quoted;
      append_json_string(quoted, text);
      return fmt::format(R"({{"SpecialToken": {{"id": {}, "type_id": {}}}}})", quoted, type);
    };
    const auto around = [&](char sequence, int type) {
      std::string items;
      for (const std::string& text : rules_->before) items += special(text, type) + ", ";
      items += fmt::format(R"({{"Sequence": {{"id": "{}", "type_id": {}}}}})", sequence, type);
      for (const std::string& text : rules_->behind) items += ", " + special(text, type);
      return items;
    };
    for (const std::vector<std::string>* const texts : {&rules_->before, &rules_->behind})
      for (const std::string& text : *texts) {
        std::string quoted;
        append_json_string(quoted, text);
        if (ids.find(quoted) != std::string::npos) continue;
        ids += fmt::format(R"({}{}: {{"id": {}, "ids": [{}], "tokens": [{}]}})", ids.empty() ? "" : ", ", quoted,
                           quoted, places.at(text), quoted);
      }
    return fmt::format(
        R"({{"type": "TemplateProcessing", "single": [{}], "pair": [{}, {}], "special_tokens": {{{}}}}})",
        around('A', 0), around('A', 0), around('B', 1), ids);
  }

  std::string decoder() const {
    if (model_ == ModelType::word_piece) return R"({"type": "WordPiece", "prefix": "##", "cleanup": true})";
    if (model_ == ModelType::word_level) return "null";
    if (!byte_tokens_ && !is_sentence_piece()) return blanks_or_bytes();
    if (!puts_blank())
      return fmt::format(
          R"({{"type": "Sequence", "decoders": [{{"type": "Replace", "pattern": {{"String": "{}"}}, "content": " "}}, {{"type": "ByteFallback"}}, {{"type": "Fuse"}}]}})",
          kBlank);
    // Restores blanks, then byte tokens, then strips the blank that was put in front.
    return fmt::format(
        R"({{"type": "Sequence", "decoders": [{{"type": "Replace", "pattern": {{"String": "{}"}}, "content": " "}}, {{"type": "ByteFallback"}}, {{"type": "Fuse"}}, {{"type": "Strip", "content": " ", "start": 1, "stop": 0}}]}})",
        kBlank);
  }

  std::string blanks_or_bytes() const {
    if (byte_level_)
      return R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
    if (blanks_)
      return fmt::format(R"({{"type": "Metaspace", "replacement": "{}", "add_prefix_space": true}})", kBlank);
    return "null";
  }

  void put_added() {
    bool first = true;
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      const Token& token = vocabulary_.tokens[id];
      if (!is_added(token)) continue;
      out_ += fmt::format("{}\n    {{\"id\": {}, \"content\": ", first ? "" : ",", id);
      append_json_string(out_, token.text);
      out_ += fmt::format(
          ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": {}}}",
          token.type != TokenType::user_defined);
      first = false;
    }
    if (!first) out_ += "\n  ";
  }

  void put_vocab_map() {
    out_ += "\"vocab\": {";
    bool first = true;
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      if (is_gap(vocabulary_.tokens[id])) continue;
      out_ += first ? "\n      " : ",\n      ";
      append_json_string(out_, spelled(vocabulary_.tokens[id]));
      out_ += fmt::format(": {}", id);
      first = false;
    }
    out_ += "\n    }";
  }

  void put_unk_token() {
    out_ += "\"unk_token\": ";
    const auto unk = static_cast<std::size_t>(vocabulary_.unk);
    if (vocabulary_.unk >= 0 && unk < vocabulary_.tokens.size())
      append_json_string(out_, spelled(vocabulary_.tokens[unk]));
    else
      out_ += "null";
  }

  void put_bpe(const std::vector<std::string>& merges) {
    out_ += "\"type\": \"BPE\",\n    \"dropout\": null,\n    ";
    put_unk_token();
    out_ += fmt::format(
        ",\n    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": {},\n    "
        "\"byte_fallback\": {},\n    ",
        byte_tokens_ || is_sentence_piece(), byte_tokens_);
    if (rules_ != nullptr && rules_->ignores_merges) out_ += "\"ignore_merges\": true,\n    ";
    put_vocab_map();
    out_ += ",\n    \"merges\": [";
    for (std::size_t i = 0; i < merges.size(); ++i) {
      out_ += i == 0 ? "\n      " : ",\n      ";
      append_json_string(out_, merges[i]);
    }
    out_ += "\n    ]";
  }

  void put_word_piece() {
    out_ += "\"type\": \"WordPiece\",\n    ";
    put_unk_token();
    out_ += ",\n    \"continuing_subword_prefix\": \"##\",\n    \"max_input_chars_per_word\": 100,\n    ";
    put_vocab_map();
  }

  void put_word_level() {
    out_ += "\"type\": \"WordLevel\",\n    ";
    put_unk_token();
    out_ += ",\n    ";
    put_vocab_map();
  }

  // Without one, the tokenizers library fails at the first character that no piece has.
  std::int64_t unknown_id() const {
    if (vocabulary_.unk >= 0) return vocabulary_.unk;
    const auto is_unknown = [](const Token& token) {
      return token.type == TokenType::unknown || token.text == "<unk>" || token.text == "[UNK]";
    };
    const auto found = std::ranges::find_if(vocabulary_.tokens, is_unknown);
    return found == vocabulary_.tokens.end() ? -1 : found - vocabulary_.tokens.begin();
  }

  void put_unigram() {
    const std::int64_t unknown = unknown_id();
    out_ += fmt::format("\"type\": \"Unigram\",\n    \"unk_id\": {},\n    \"byte_fallback\": {},\n    \"vocab\": [",
                        unknown < 0 ? "null" : fmt::to_string(unknown), byte_tokens_);
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      out_ += id == 0 ? "\n      [" : ",\n      [";
      append_json_string(out_, spelled(vocabulary_.tokens[id]));
      const float score = vocabulary_.tokens[id].score;
      out_ += fmt::format(", {}]", float_text(std::isfinite(score) ? decimal_double(score) : 0.0));
    }
    out_ += "\n    ]";
  }

  const Vocabulary& vocabulary_;
  const TokenizerRules* rules_;
  ModelType model_ = ModelType::unigram;
  bool unique_ = true, byte_level_ = false, blanks_ = false, byte_tokens_ = false;
  std::string out_;
};

}  // namespace

// Some containers have no token types, such as ALT's first version.
void infer_types(Vocabulary& vocabulary) {
  std::vector<Token>& tokens = vocabulary.tokens;
  if (std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.type != TokenType::normal; }))
    return;
  if (spells_all_bytes(vocabulary))
    for (Token& token : tokens)
      if (is_byte_token(token.text)) token.type = TokenType::byte;
  find_special_tokens(vocabulary, {});
}

std::string tokenizer_json(const Vocabulary& vocabulary, const TokenizerRules* rules) {
  Vocabulary typed = vocabulary;
  infer_types(typed);
  return Tokenizer(typed, rules).text();
}

bool has_blanks(const Vocabulary& vocabulary) {
  return std::ranges::any_of(vocabulary.tokens,
                             [](const Token& token) { return token.text.find(kBlank) != std::string::npos; });
}

std::string_view inferred_splitting(const Vocabulary& vocabulary) {
  Vocabulary typed = vocabulary;
  infer_types(typed);
  return Tokenizer(typed, nullptr).splitting();
}

bool is_byte_level(const Vocabulary& vocabulary) { return Tokenizer(vocabulary, nullptr).is_byte_level(); }

std::string tokenizer_config_json(const Vocabulary& vocabulary) {
  const std::pair<std::string_view, std::int64_t> special[] = {{"bos_token", vocabulary.bos},
                                                               {"eos_token", vocabulary.eos},
                                                               {"pad_token", vocabulary.pad},
                                                               {"unk_token", vocabulary.unk}};
  std::string out = "{";
  for (const auto& [name, id] : special) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary.tokens.size()) continue;
    const std::string& text = vocabulary.tokens[static_cast<std::size_t>(id)].text;
    if (!is_valid_utf8(text)) continue;
    out += fmt::format("\n  \"{}\": ", name);
    append_json_string(out, text);
    out += ',';
  }
  return out + "\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\"\n}\n";
}

}  // namespace tare::resources
