// Chooses the source of the rules: the original files come first, because keys have less.
#include "tokenize/read.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/stated_tokenizer.hpp"
#include "resources/byte_alphabet.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"
#include "resources/tokenizer_rules.hpp"

namespace tare::tokenize {

Error unknown_kind(std::string_view sentence) {
  return {ErrorKind::unsupported, "tokenizer.kind",
          fmt::format("{}: Tare does not know how it makes tokens of a text", sentence)};
}
Error unknown_step(std::string_view sentence) {
  return {ErrorKind::unsupported, "tokenizer.step",
          fmt::format("{}: its tokens would not be those of other programs", sentence)};
}

SplitBy byte_level_words() {
  return {Pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)")};
}

Splitter splitter_of(std::string_view cut) {
  constexpr std::string_view kSplit = "split ";
  if (cut == "bytes") return byte_level_words();
  if (cut == "digits one by one") return SplitByClass{is_number, Behavior::isolated};
  if (cut.starts_with(kSplit)) return SplitBy{Pattern(cut.substr(kSplit.size()))};
  throw unknown_step(fmt::format("it splits a text by \"{}\"", quote(cut)));
}

void take_tokens(Rules& rules, const Vocabulary& vocabulary) {
  const std::size_t count = vocabulary.tokens.size();
  rules.in_model.assign(count, false);
  rules.special.assign(count, false);
  for (std::size_t id = 0; id < count; ++id) {
    const Token& token = vocabulary.tokens[id];
    rules.texts.push_back(token.text);
    rules.scores.push_back(static_cast<double>(token.score));
    rules.in_model[id] = !token.text.empty();
    rules.special[id] = token.type == TokenType::control || token.type >= TokenType::bos;
  }
  if (vocabulary.unk >= 0 && static_cast<std::size_t>(vocabulary.unk) < count)
    rules.unknown = static_cast<Id>(vocabulary.unk);
}

void take_merges(const Rules& rules, BytePairs& pairs, const std::vector<std::string>& merges) {
  NameViewMap<Id> ids;
  for (std::size_t id = 0; id < rules.texts.size(); ++id)
    if (rules.in_model[id]) ids.insert_or_assign(rules.texts[id], static_cast<Id>(id));
  const auto find = [&](std::string_view text) {
    const auto found = ids.find(text);
    return found == ids.end() ? Id{-1} : found->second;
  };
  for (const std::string& merge : merges) {
    // The alphabet of bytes has no blank.
    const std::size_t blank = merge.find(' ', 1);
    if (blank == merge.npos) continue;
    const auto left = resources::from_byte_alphabet(std::string_view(merge).substr(0, blank));
    const auto right = resources::from_byte_alphabet(std::string_view(merge).substr(blank + 1));
    if (!left || !right) continue;
    const Id one = find(*left), other = find(*right), both = find(*left + *right);
    if (one < 0 || other < 0 || both < 0) continue;  // never made
    pairs.merges.emplace_back(one, other);
    pairs.merged.push_back(both);
  }
}

namespace {

// Whether a token is looked for in texts before anything else.
bool is_looked_for(const Token& token) {
  return token.type != TokenType::normal && token.type != TokenType::byte && token.type != TokenType::unused &&
         !token.text.empty();
}

void add_looked_for(Rules& rules, const Vocabulary& vocabulary, std::size_t from, std::size_t end) {
  for (std::size_t id = from; id < end; ++id) {
    const Token& token = vocabulary.tokens[id];
    if (is_looked_for(token))
      rules.added.push_back(
          {.id = static_cast<Id>(id), .text = token.text, .special = token.type != TokenType::user_defined});
  }
}

std::vector<bool> of_type(const Vocabulary& vocabulary, TokenType type, std::size_t count) {
  std::vector<bool> are(count);
  for (std::size_t id = 0; id < vocabulary.tokens.size() && id < count; ++id)
    are[id] = vocabulary.tokens[id].type == type;
  return are;
}

std::vector<Decoder> piece_decoders(bool adds_blank) {
  std::vector<Decoder> steps = {ReplaceText{std::string(kBlank), " "}, ByteTokens{}, Fuse{}};
  if (adds_blank) steps.emplace_back(StripText{" ", 1, 0});
  return steps;
}

void find_scores(Likeliest& kind, const Vocabulary& vocabulary) {
  bool any = false;
  for (const Token& token : vocabulary.tokens) {
    if (token.type != TokenType::normal) continue;
    const auto score = static_cast<double>(token.score);
    kind.lowest = any ? std::min(kind.lowest, score) : score;
    kind.highest = any ? std::max(kind.highest, score) : score;
    any = true;
  }
}

// ---- without files of the tokenizer's own program ----

class VocabularyReader {
 public:
  VocabularyReader(const Vocabulary& vocabulary, const StatedTokenizer& stated)
      : vocabulary_(vocabulary), stated_(stated) {}

  Rules run() {
    take_tokens(rules_, vocabulary_);
    if (stated_.kind == "bpe")
      read_byte_pairs();
    else if (stated_.kind == "spm")
      read_scored();
    else if (stated_.kind == "unigram")
      read_likeliest();
    else if (stated_.kind == "wordpiece")
      read_words();
    else
      throw unknown_kind(stated_.kind.empty() ? std::string("the model does not say of which kind its tokenizer is")
                                              : fmt::format("a tokenizer of the kind \"{}\"", quote(stated_.kind)));
    add_looked_for(rules_, vocabulary_, 0, vocabulary_.tokens.size());
    for (const std::int64_t id : stated_.before) rules_.before.push_back(static_cast<Id>(id));
    for (const std::int64_t id : stated_.behind) rules_.behind.push_back(static_cast<Id>(id));
    return std::move(rules_);
  }

 private:
  void read_byte_pairs() {
    if (!stated_.cuts)
      throw unknown_step(
          stated_.cuts_name.empty()
              ? std::string("the model does not say how its tokenizer splits texts into words")
              : fmt::format("its tokenizer splits texts into words as \"{}\" does, which Tare does not know",
                            quote(stated_.cuts_name)));
    for (const std::string& cut : *stated_.cuts) rules_.splitters.push_back(splitter_of(cut));
    // Tokens that are not spelled as bytes are no merge's result, unless both spellings are the same.
    const auto differs = [](char c) { return c < '!' || c > '~'; };
    for (std::size_t id = 0; id < rules_.texts.size(); ++id)
      if (is_looked_for(vocabulary_.tokens[id]) && std::ranges::any_of(rules_.texts[id], differs))
        rules_.in_model[id] = false;
    for (const std::int64_t id : stated_.plain) rules_.in_model[static_cast<std::size_t>(id)] = false;
    BytePairs pairs{.bytes = true, .ignores_merges = stated_.ignores_merges};
    take_merges(rules_, pairs, vocabulary_.merges);
    if (pairs.merges.empty() && !vocabulary_.merges.empty())
      throw unknown_step("the merges of its tokenizer are not spelled as bytes");
    rules_.unknown.reset();  // bytes without a token are omitted
    rules_.model = std::move(pairs);
    rules_.decoders = {JoinBytes{}};
  }

  void read_scored() {
    if (!stated_.characters.empty() || stated_.joins_blanks)
      throw unknown_step("it rewrites a text and merges pieces by their scores");
    const std::size_t count = rules_.texts.size();
    rules_.model = ScoredPairs{.byte_fallback = true,
                               .unused = std::vector<bool>(count),
                               .frozen = std::vector<bool>(count),
                               .as_llama_cpp = true};
    rules_.normalizers = {EscapeBlanks{stated_.adds_blank}};
    rules_.keeps_bytes = true;
    rules_.decoders = piece_decoders(stated_.adds_blank);
  }

  void read_likeliest() {
    Likeliest kind;
    kind.left_out.assign(rules_.texts.size(), true);
    for (std::size_t id = 0; id < rules_.texts.size(); ++id) {
      const TokenType type = vocabulary_.tokens[id].type;
      kind.left_out[id] = type != TokenType::normal && type != TokenType::user_defined && type != TokenType::unused;
    }
    kind.user_defined = of_type(vocabulary_, TokenType::user_defined, rules_.texts.size());
    find_scores(kind, vocabulary_);
    rules_.model = std::move(kind);
    PieceText text{stated_.characters, stated_.adds_blank, stated_.joins_blanks, true, true, {}};
    for (const Token& token : vocabulary_.tokens)
      if (token.type == TokenType::user_defined && !token.text.empty()) text.kept.push_back(token.text);
    rules_.normalizers = {std::move(text)};
    rules_.keeps_bytes = true;
    rules_.decoders = piece_decoders(stated_.adds_blank);
  }

  // Pieces at the beginning of a word may have the sign for a blank, instead of "##" for those inside.
  void read_words() {
    const bool by_blanks =
        std::ranges::any_of(rules_.texts, [](const std::string& text) { return text.starts_with(kBlank); });
    for (std::size_t id = 0; id < rules_.texts.size() && by_blanks; ++id) {
      if (is_looked_for(vocabulary_.tokens[id])) continue;
      std::string& text = rules_.texts[id];
      if (text.starts_with(kBlank))
        text.erase(0, kBlank.size());
      else if (!text.empty())
        text.insert(0, "##");
    }
    rules_.normalizers = {BertClean{true, true, stated_.lower_case, stated_.lower_case}};
    rules_.splitters = {SplitByClass{is_white_space, Behavior::removed},
                        SplitByClass{is_punctuation, Behavior::isolated}};
    rules_.model = WordPieces{"##", by_blanks ? SIZE_MAX : stated_.longest_word};
    rules_.decoders = {JoinWordPieces{"##", true}};
  }

  const Vocabulary& vocabulary_;
  const StatedTokenizer& stated_;
  Rules rules_;
};

// ---- files ----

std::optional<std::string> text_of(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return std::nullopt;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  return std::string(as_text(bytes));
}

// tokenizer_config.json, empty if there is none. Its settings change the tokens, so a damaged file is an error.
Map settings_of(const Model& model) {
  const auto text = text_of(model, "tokenizer_config.json");
  if (!text) return {};
  try {
    return resources::parse_small_json(*text);
  } catch (const Error& error) {
    throw Error(error).about("tokenizer_config.json").blame(Subject::input);
  }
}

bool said(const Map& settings, std::string_view key, bool otherwise) {
  const Value* const value = settings.find(key);
  if (value == nullptr || value->is_null()) return otherwise;
  if (const bool* const known = value->get<bool>()) return *known;
  throw unknown_step(fmt::format("\"{}\" in tokenizer_config.json is neither true nor false", key));
}

void add_frame(Rules& rules, const Vocabulary& vocabulary, bool begins, bool ends) {
  const auto put = [&](std::int64_t id, bool wanted, std::vector<Id>& into) {
    if (wanted && id >= 0 && static_cast<std::size_t>(id) < rules.texts.size()) into.push_back(static_cast<Id>(id));
  };
  put(vocabulary.bos, begins, rules.before);
  put(vocabulary.eos, ends, rules.behind);
}

// Whether the ids of the file are those of the model, which may have more, and added tokens in place of spare ones.
bool begins_with(const Vocabulary& all, const Vocabulary& own) {
  const auto is_expected = [](const Token& piece, const Token& token) {
    return resources::have_same_text(piece, token) || is_looked_for(token);
  };
  return all.tokens.size() >= own.tokens.size() &&
         std::equal(own.tokens.begin(), own.tokens.end(), all.tokens.begin(), is_expected);
}

// vocab.json and merges.txt, or vocab.txt: how texts are split is in the program's code alone.
std::optional<StatedTokenizer> stated_by_files(const Model& model) {
  const bool words = model.attachment("vocab.txt") != nullptr && model.vocabulary.kind == "wordpiece";
  const bool pairs = model.attachment("vocab.json") != nullptr && model.attachment("merges.txt") != nullptr &&
                     model.vocabulary.kind == "bpe";
  if (!words && !pairs) return std::nullopt;
  const Map settings = settings_of(model);
  const auto* const name = settings.get<std::string>("tokenizer_class");
  const auto is_called = [&](std::initializer_list<std::string_view> names) {
    return name == nullptr || std::ranges::find(names, std::string_view(*name)) != names.end();
  };
  StatedTokenizer stated{.kind = model.vocabulary.kind};
  if (pairs) {
    if (!is_called({"GPT2Tokenizer", "GPT2TokenizerFast"}))
      throw unknown_step(fmt::format("without a tokenizer.json, how a \"{}\" splits texts is not known", quote(*name)));
    stated.cuts = std::vector<std::string>{"bytes"};
    const auto is_long = [](const Token& token) { return token.type == TokenType::normal && token.text.size() > 4; };
    if (model.vocabulary.merges.empty() && std::ranges::any_of(model.vocabulary.tokens, is_long))
      throw Error(ErrorKind::corrupt, "tokenizer.merges", "there are no merges, and tokens that only merges can make")
          .about("merges.txt")
          .blame(Subject::input);
    return stated;
  }
  if (!is_called({"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast"}))
    throw unknown_step(fmt::format("without a tokenizer.json, how a \"{}\" splits texts is not known", quote(*name)));
  stated.lower_case = said(settings, "do_lower_case", true);
  const auto put = [&](std::string_view text, std::vector<std::int64_t>& into) {
    for (std::size_t id = 0; id < model.vocabulary.tokens.size(); ++id)
      if (model.vocabulary.tokens[id].text == text) return into.push_back(static_cast<std::int64_t>(id));
  };
  put("[CLS]", stated.before);
  put("[SEP]", stated.behind);
  return stated;
}

// A vocabulary alone. Pieces with scores are always read alike; how words are found must be stated.
StatedTokenizer stated_by_vocabulary(const Vocabulary& vocabulary) {
  StatedTokenizer stated{.kind = vocabulary.kind};
  if (vocabulary.kind == "spm" && vocabulary.bos >= 0) stated.before.push_back(vocabulary.bos);
  if (vocabulary.kind == "unigram" && vocabulary.eos >= 0) stated.behind.push_back(vocabulary.eos);
  std::erase_if(stated.before,
                [&](std::int64_t id) { return static_cast<std::size_t>(id) >= vocabulary.tokens.size(); });
  std::erase_if(stated.behind,
                [&](std::int64_t id) { return static_cast<std::size_t>(id) >= vocabulary.tokens.size(); });
  return stated;
}

}  // namespace

Rules read_pieces(std::string_view tokenizer_model, const Vocabulary& vocabulary) {
  const Vocabulary own = resources::parse_sentencepiece(std::as_bytes(std::span(tokenizer_model)));
  const resources::PieceRules said = resources::parse_piece_rules(tokenizer_model);
  if (said.blank_behind) throw unknown_step("its pieces end with the blank between words (treat_whitespace_as_suffix)");
  if (said.model_type != 1 && said.model_type != 2)
    throw unknown_kind(
        fmt::format("a SentencePiece model that is neither unigram nor BPE (model_type {})", said.model_type));
  Rules rules;
  take_tokens(rules, vocabulary);
  const std::size_t count = rules.texts.size();
  std::vector<bool> unused = of_type(own, TokenType::unused, count),
                    defined = of_type(own, TokenType::user_defined, count);
  for (std::size_t id = 0; id < count; ++id) {
    const TokenType type = id < own.tokens.size() ? own.tokens[id].type : TokenType::control;
    rules.in_model[id] = type == TokenType::normal || type == TokenType::user_defined || type == TokenType::unused;
  }
  std::vector<bool> renamed(count);
  for (std::size_t id = 0; id < own.tokens.size(); ++id) {
    renamed[id] = !resources::have_same_text(own.tokens[id], vocabulary.tokens[id]);
    if (renamed[id])
      rules.in_model[id] = unused[id] = defined[id] = false;
    else
      rules.texts[id] = own.tokens[id].text;
  }
  if (said.unigram) {
    Likeliest kind{.byte_fallback = said.byte_fallback,
                   .single = true,
                   .left_out = unused,
                   .user_defined = defined,
                   .user_defined_by_length = true};
    find_scores(kind, own);
    rules.model = std::move(kind);
  } else {
    rules.model = ScoredPairs{.byte_fallback = said.byte_fallback, .unused = unused, .frozen = defined};
  }
  PieceText text{said.characters, said.adds_blank, said.joins_blanks, said.spells_blanks, false, {}};
  for (std::size_t id = 0; id < count; ++id)
    if (defined[id]) text.kept.push_back(rules.texts[id]);
  rules.normalizers = {std::move(text)};
  rules.keeps_bytes = true;
  for (std::size_t id = 0; id < own.tokens.size(); ++id) {
    if (renamed[id])
      add_looked_for(rules, vocabulary, id, id + 1);
    else if (own.tokens[id].type == TokenType::control)
      rules.added.push_back({.id = static_cast<Id>(id), .text = own.tokens[id].text, .special = true});
  }
  add_looked_for(rules, vocabulary, own.tokens.size(), vocabulary.tokens.size());
  if (own.unk >= 0) rules.unknown = static_cast<Id>(own.unk);
  rules.decoders = piece_decoders(said.adds_blank);
  return rules;
}

Rules read_rules(const Model& model) {
  const Vocabulary& vocabulary = model.vocabulary;
  if (const auto text = text_of(model, "tokenizer.json")) return read_tokenizer_json(*text);
  if (vocabulary.tokens.empty())
    throw Error(ErrorKind::not_found, "tokenizer.none", "the model has no vocabulary, so a text has no tokens");
  for (const char* const name : {"tokenizer.model", "spiece.model"})
    if (const auto text = text_of(model, name)) {
      const Vocabulary own = resources::parse_sentencepiece(std::as_bytes(std::span(std::string_view(*text))));
      if (!begins_with(vocabulary, own)) continue;
      Rules rules = read_pieces(*text, vocabulary);
      const Map settings = settings_of(model);
      const bool unigram = std::holds_alternative<Likeliest>(rules.model);
      add_frame(rules, vocabulary, said(settings, "add_bos_token", !unigram), said(settings, "add_eos_token", unigram));
      return rules;
    }
  std::optional<StatedTokenizer> stated = stated_tokenizer(model);
  if (!stated) stated = stated_by_files(model);
  if (!stated) stated = stated_by_vocabulary(vocabulary);
  return VocabularyReader(vocabulary, *stated).run();
}

}  // namespace tare::tokenize
