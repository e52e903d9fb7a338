// Reads tokenizer.json. A step or a setting that Tare does not follow exactly is refused: a tokenizer that is nearly right
// gives a model another text.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "resources/big_json.hpp"
#include "resources/byte_alphabet.hpp"
#include "tokenize/read.hpp"

namespace tare::tokenize {
namespace {

using resources::get;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Steps of one kind; real files have at most five. Tokens around a text; real templates have at most four.
constexpr std::size_t kMostSteps = 64, kMostAround = 64;
constexpr std::size_t kMostIds = std::size_t{1} << 24;

Error malformed(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

std::string_view type_in(const object& step) { return get<std::string_view>(step, "type").value_or(""); }
bool flag(const object& step, std::string_view key, bool otherwise) { return get<bool>(step, key).value_or(otherwise); }
std::string text_in(const object& step, std::string_view key, std::string_view otherwise = {}) {
  return std::string(get<std::string_view>(step, key).value_or(otherwise));
}

Error unknown_in(std::string_view part, const object& step) {
  return unknown_step(fmt::format("its {} of the type \"{}\" is not known", part, quote(type_in(step))));
}

// Calls visit(step) for a part of the file, or for each item if it is a sequence, also of sequences.
template <typename Visit>
void each_step(const object& step, std::string_view parts, std::size_t& count, const Visit& visit) {
  if (type_in(step) == "Sequence") {
    if (const auto steps = get<array>(step, parts))
      for (const element& inner : *steps)
        if (const auto one = get<object>(inner)) each_step(*one, parts, count, visit);
    return;
  }
  if (++count > kMostSteps) throw unknown_step(fmt::format("it has more than {} {}", kMostSteps, parts));
  visit(step);
}
template <typename Visit>
void each_step(const object& root, std::string_view part, std::string_view parts, const Visit& visit) {
  std::size_t count = 0;
  if (const auto step = get<object>(root, part)) each_step(*step, parts, count, visit);
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (c == '=') break;
    if (value < 0) throw malformed("tokenizer.charsmap", "the table that rewrites characters is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++count % 4 != 1) bytes += static_cast<char>(bits >> (6 - 2 * ((count - 1) % 4)) & 0xFF);
  }
  return bytes;
}

Pattern pattern_in(const object& step) {
  const auto pattern = get<object>(step, "pattern");
  if (const auto regex = pattern ? get<std::string_view>(*pattern, "Regex") : std::nullopt) return Pattern(*regex);
  const auto text = pattern ? get<std::string_view>(*pattern, "String") : get<std::string_view>(step, "pattern");
  if (!text) throw malformed("tokenizer.step", "a step of tokenizer.json without its pattern");
  if (text->size() > kLongestPiece) throw unknown_step("it looks for a text that is too long");
  return Pattern::literal(*text);
}

char32_t single_character(std::string_view text) {
  return !text.empty() && first_character(text).length == text.size() ? first_character(text).value : 0;
}

class Reader {
 public:
  explicit Reader(const object& root) : root_(root) {}

  Rules run() {
    // The key "version" is not read: all versions so far have the same form.
    const auto model = get<object>(root_, "model");
    if (!model) throw malformed("tokenizer.model", "no object \"model\": not a tokenizer.json");
    each_step(root_, "normalizer", "normalizers", [&](const object& step) { add_normalizer(step); });
    each_step(root_, "pre_tokenizer", "pretokenizers", [&](const object& step) { add_splitter(step); });
    // If something is inserted before the first character, the library loses track of it, and splits bytes in another way.
    for (const Normalizer& step : rules_.normalizers)
      if (const auto* const replace = std::get_if<Replace>(&step);
          replace != nullptr && bytes_ && replace->pattern.may_be_empty())
        throw unknown_step("it inserts something where a pattern matches nothing, and splits texts into bytes");
    each_step(root_, "decoder", "decoders", [&](const object& step) { add_decoder(step); });
    const bool joins_bytes = std::ranges::any_of(
        rules_.decoders, [](const Decoder& step) { return std::holds_alternative<JoinBytes>(step); });
    if (joins_bytes && !bytes_)
      throw unknown_step("it reads tokens in the byte-level alphabet, and does not spell texts in it");
    // Without a decoder, words are joined by blanks. (An empty list of decoders joins them without.)
    if (!get<object>(root_, "decoder")) rules_.decoders.emplace_back(JoinBlanks{});
    add_model(*model);
    add_added();
    each_step(root_, "post_processor", "processors", [&](const object& step) { add_frame(step); });
    return std::move(rules_);
  }

 private:
  // ---- normalizers ----

  void add_normalizer(const object& step) {
    const std::string_view type = type_in(step);
    auto& to = rules_.normalizers;
    if (type == "NFC")
      to.emplace_back(Form::nfc);
    else if (type == "NFD")
      to.emplace_back(Form::nfd);
    else if (type == "NFKC")
      to.emplace_back(Form::nfkc);
    else if (type == "NFKD")
      to.emplace_back(Form::nfkd);
    else if (type == "Lowercase")
      to.emplace_back(LowerCase{});
    else if (type == "StripAccents")
      to.emplace_back(StripAccents{});
    else if (type == "Strip")
      to.emplace_back(StripEnds{flag(step, "strip_left", true), flag(step, "strip_right", true)});
    else if (type == "Prepend")
      to.emplace_back(Prepend{text_in(step, "prepend")});
    else if (type == "Replace")
      to.emplace_back(Replace{pattern_in(step), text_in(step, "content")});
    else if (type == "Precompiled")
      to.emplace_back(
          RewriteCharacters{from_base64(get<std::string_view>(step, "precompiled_charsmap").value_or("")), true});
    else if (type == "BertNormalizer") {
      const bool lower = flag(step, "lowercase", true);
      to.emplace_back(BertClean{flag(step, "clean_text", true), flag(step, "handle_chinese_chars", true),
                                flag(step, "strip_accents", lower), lower});
    } else
      throw unknown_in("normalizer", step);
  }

  // ---- splits ----

  static Behavior behavior_in(const object& step, Behavior otherwise) {
    const auto name = get<std::string_view>(step, "behavior");
    if (!name) return otherwise;
    constexpr std::pair<std::string_view, Behavior> kBehaviors[] = {{"Removed", Behavior::removed},
                                                                    {"Isolated", Behavior::isolated},
                                                                    {"MergedWithPrevious", Behavior::with_previous},
                                                                    {"MergedWithNext", Behavior::with_next},
                                                                    {"Contiguous", Behavior::contiguous}};
    for (const auto& [known, behavior] : kBehaviors)
      if (known == *name) return behavior;
    throw unknown_step(fmt::format("it splits texts in the way \"{}\", which is not known", quote(*name)));
  }

  void add_splitter(const object& step) {
    const std::string_view type = type_in(step);
    auto& to = rules_.splitters;
    if (bytes_ && type != "ByteLevel")
      throw unknown_step("it splits texts once more after they were spelled in the byte-level alphabet");
    if (type == "ByteLevel") {
      if (flag(step, "add_prefix_space", true)) to.emplace_back(AddByteBlank{});
      if (flag(step, "use_regex", true)) to.emplace_back(byte_level_words());
      bytes_ = true;
    } else if (type == "Split") {
      to.emplace_back(SplitBy{pattern_in(step), behavior_in(step, Behavior::isolated), flag(step, "invert", false)});
    } else if (type == "Digits") {
      to.emplace_back(
          SplitByClass{is_number, flag(step, "individual_digits", false) ? Behavior::isolated : Behavior::contiguous});
    } else if (type == "Punctuation") {
      to.emplace_back(SplitByClass{is_punctuation, behavior_in(step, Behavior::isolated)});
    } else if (type == "WhitespaceSplit") {
      to.emplace_back(SplitByClass{is_white_space, Behavior::removed});
    } else if (type == "BertPreTokenizer") {
      to.emplace_back(SplitByClass{is_white_space, Behavior::removed});
      to.emplace_back(SplitByClass{is_punctuation, Behavior::isolated});
    } else if (type == "Whitespace") {
      // \w here is not that of other patterns: is_unicode_word_character.
      constexpr std::string_view kWord = R"(\x{200C}\x{200D}[\w&&[^\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]])";
      to.emplace_back(SplitBy{Pattern(fmt::format("[{}]+|[^{}\\s]+", kWord, kWord)), Behavior::removed, true});
    } else if (type == "CharDelimiterSplit") {
      const std::string delimiter = text_in(step, "delimiter");
      if (single_character(delimiter) == 0) throw unknown_in("pre-tokenizer", step);
      to.emplace_back(SplitBy{Pattern::literal(delimiter), Behavior::removed, false});
    } else if (type == "Metaspace") {
      const auto [replacement, adds] = blanks_in(step);
      to.emplace_back(SpellBlanks{replacement, adds, flag(step, "split", true)});
    } else {
      throw unknown_in("pre-tokenizer", step);
    }
  }

  static std::pair<std::string, SpellBlanks::Adds> blanks_in(const object& step) {
    using enum SpellBlanks::Adds;
    std::string replacement = text_in(step, "replacement", text_in(step, "str_rep", kBlank));
    if (single_character(replacement) == 0) throw unknown_step("it spells a blank with more than one character");
    const auto scheme = get<std::string_view>(step, "prepend_scheme");
    if (!scheme) return {std::move(replacement), flag(step, "add_prefix_space", true) ? always : never};
    if (*scheme != "always" && *scheme != "first" && *scheme != "never")
      throw unknown_step(
          fmt::format("it puts a blank before texts in the way \"{}\", which is not known", quote(*scheme)));
    return {std::move(replacement), *scheme == "always" ? always : *scheme == "first" ? at_first : never};
  }

  // ---- decoders ----

  void add_decoder(const object& step) {
    const std::string_view type = type_in(step);
    auto& to = rules_.decoders;
    if (type == "ByteLevel")
      to.emplace_back(JoinBytes{});
    else if (type == "Replace") {
      const auto pattern = get<object>(step, "pattern");
      const auto text = pattern ? get<std::string_view>(*pattern, "String") : std::nullopt;
      if (!text) throw unknown_step("its decoder replaces what a pattern matches");
      to.emplace_back(ReplaceText{std::string(*text), text_in(step, "content")});
    } else if (type == "ByteFallback")
      to.emplace_back(ByteTokens{});
    else if (type == "Fuse")
      to.emplace_back(Fuse{});
    else if (type == "Strip")
      to.emplace_back(StripText{text_in(step, "content", " "), get<std::uint64_t>(step, "start").value_or(0),
                                get<std::uint64_t>(step, "stop").value_or(0)});
    else if (type == "Metaspace") {
      const auto [replacement, adds] = blanks_in(step);
      to.emplace_back(UnspellBlanks{replacement, adds != SpellBlanks::Adds::never});
    } else if (type == "WordPiece")
      to.emplace_back(JoinWordPieces{text_in(step, "prefix", "##"), flag(step, "cleanup", true)});
    else if (type == "BPEDecoder")
      to.emplace_back(JoinSuffixes{text_in(step, "suffix", "</w>")});
    else
      throw unknown_in("decoder", step);
  }

  // ---- the model ----

  static std::string_view model_type(const object& model) {
    if (const std::string_view type = type_in(model); !type.empty()) return type;
    if (get<array>(model, "merges")) return "BPE";  // older files do not state it
    return get<array>(model, "vocab") ? "Unigram" : "WordPiece";
  }

  std::size_t place_of(std::uint64_t id, std::size_t count) {
    if (id >= kMostIds || id > 2 * count + 4096)
      throw malformed("tokenizer.ids",
                      fmt::format("{} tokens, one of them with the id {}: that leaves too many gaps", count, id));
    const auto place = static_cast<std::size_t>(id);
    if (place >= rules_.texts.size()) {
      rules_.texts.resize(place + 1);
      rules_.in_model.resize(place + 1);
    }
    return place;
  }

  // What the model's own tokens are spelled with, as bytes.
  std::optional<std::string> spelled(std::string_view text) const {
    return bytes_ ? resources::from_byte_alphabet(text) : std::optional(std::string(text));
  }

  void add_vocab(const object& vocab) {
    const std::size_t count = vocab.size();
    std::vector<bool> taken;
    for (const auto& [text, value] : vocab) {
      const auto id = get<std::uint64_t>(value);
      if (!id)
        throw malformed("tokenizer.vocab", fmt::format("the id of the token \"{}\" is not a number", quote(text)));
      const std::size_t place = place_of(*id, count);
      taken.resize(rules_.texts.size());
      if (taken[place]) throw unknown_step(fmt::format("two of its tokens have the id {}", place));
      taken[place] = true;
      auto bytes = spelled(text);
      rules_.in_model[place] = bytes.has_value();
      rules_.texts[place] = bytes ? std::move(*bytes) : std::string(text);
      if (text.empty()) rules_.in_model[place] = false;
    }
    rules_.scores.assign(rules_.texts.size(), 0);
  }

  void add_scored(const array& vocab) {
    for (const element& entry : vocab) {
      const auto pair = get<array>(entry);
      std::optional<std::string_view> text;
      std::optional<double> score;
      std::size_t i = 0;
      if (pair)
        for (const element& item : *pair) {
          if (i == 0) text = get<std::string_view>(item);
          if (i == 1) score = get<double>(item);
          ++i;
        }
      if (!text || !score)
        throw malformed("tokenizer.vocab", fmt::format("entry {} is not a token and its score", rules_.texts.size()));
      rules_.texts.push_back(spelled(*text).value_or(std::string(*text)));
      rules_.in_model.push_back(spelled(*text).has_value());
      rules_.scores.push_back(*score);
    }
  }

  std::optional<Id> id_of(std::string_view text) {
    if (ids_.empty())
      for (std::size_t id = 0; id < rules_.texts.size(); ++id)
        if (rules_.in_model[id]) ids_.insert_or_assign(rules_.texts[id], static_cast<Id>(id));
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_merges(const object& model, BytePairs& pairs) {
    const auto list = get<array>(model, "merges");
    if (!list) return;
    for (const element& entry : *list) {
      std::string_view left, right;
      if (const auto text = get<std::string_view>(entry)) {
        const std::size_t blank = text->find(' ');
        if (blank == text->npos)
          throw malformed("tokenizer.merges", fmt::format("merge {} is not a pair", pairs.merges.size()));
        left = text->substr(0, blank);
        right = text->substr(blank + 1);
      } else {
        const auto pair = get<array>(entry);
        std::size_t i = 0;
        if (pair)
          for (const element& item : *pair) (i++ == 0 ? left : right) = get<std::string_view>(item).value_or("");
        if (i != 2) throw malformed("tokenizer.merges", fmt::format("merge {} is not a pair", pairs.merges.size()));
      }
      add_merge(pairs, left, right);
    }
  }

  void add_merge(BytePairs& pairs, std::string_view left, std::string_view right) {
    const auto a = spelled(left), b = spelled(right);
    if (!a || !b) return;  // no text has such characters
    std::string_view rest = *b;
    if (!pairs.continues_word.empty() && rest.starts_with(pairs.continues_word))
      rest.remove_prefix(pairs.continues_word.size());
    const auto one = id_of(*a), other = id_of(*b), both = id_of(*a + std::string(rest));
    if (!one || !other || !both)
      throw malformed("tokenizer.merges",
                      fmt::format("merge {} is of \"{}\" and \"{}\", which are not all tokens, or does not make one",
                                  pairs.merges.size(), quote(left), quote(right)));
    pairs.merges.emplace_back(*one, *other);
    pairs.merged.push_back(*both);
  }

  void find_unknown(const object& model) {
    const auto text = get<std::string_view>(model, "unk_token");
    if (text) rules_.unknown = id_of(spelled(*text).value_or(std::string(*text)));
  }

  void add_model(const object& model) {
    const std::string_view type = model_type(model);
    const auto vocab = get<object>(model, "vocab");
    const auto scored = get<array>(model, "vocab");
    if (!vocab && !scored) throw malformed("tokenizer.vocab", "the model has no \"vocab\"");
    if (type == "Unigram" ? !scored : !vocab)
      throw malformed("tokenizer.vocab",
                      fmt::format("the vocabulary of a model of the type {} is of another kind", quote(type)));
    if (vocab)
      add_vocab(*vocab);
    else
      add_scored(*scored);
    if (type == "BPE") {
      if (get<double>(model, "dropout").value_or(0) > 0) throw unknown_step("it leaves merges out at random (dropout)");
      BytePairs pairs{.bytes = bytes_,
                      .ignores_merges = flag(model, "ignore_merges", false),
                      .byte_fallback = flag(model, "byte_fallback", false),
                      .fuses_unknown = flag(model, "fuse_unk", false),
                      .end_of_word = text_in(model, "end_of_word_suffix"),
                      .continues_word = text_in(model, "continuing_subword_prefix")};
      if (bytes_ && (pairs.byte_fallback || !pairs.continues_word.empty()))
        throw unknown_step("it has tokens of bytes in two spellings, or marks the inside of words in bytes");
      add_merges(model, pairs);
      find_unknown(model);
      rules_.model = std::move(pairs);
    } else if (type == "Unigram") {
      add_likeliest(model);
    } else if (type == "WordPiece") {
      if (bytes_) throw unknown_step("it makes word pieces of words in the byte-level alphabet");
      rules_.model =
          WordPieces{text_in(model, "continuing_subword_prefix", "##"),
                     static_cast<std::size_t>(get<std::uint64_t>(model, "max_input_chars_per_word").value_or(100))};
      find_unknown(model);
    } else if (type == "WordLevel") {
      rules_.model = WholeWords{};
      find_unknown(model);
    } else {
      throw unknown_kind(fmt::format("a tokenizer of the type \"{}\"", quote(type)));
    }
  }

  void add_likeliest(const object& model) {
    Likeliest kind{.bytes = bytes_, .byte_fallback = flag(model, "byte_fallback", false)};
    if (kind.bytes && kind.byte_fallback) throw unknown_step("it has tokens of bytes in two spellings");
    kind.left_out.assign(rules_.texts.size(), false);
    if (!rules_.scores.empty()) {
      kind.lowest = *std::ranges::min_element(rules_.scores);
      kind.highest = *std::ranges::max_element(rules_.scores);
    }
    const auto unknown = get<std::uint64_t>(model, "unk_id");
    if (unknown && *unknown >= rules_.texts.size())
      throw malformed("tokenizer.ids",
                      fmt::format("the unknown token is {}, there are {} tokens", *unknown, rules_.texts.size()));
    if (unknown) rules_.unknown = static_cast<Id>(*unknown);
    rules_.model = std::move(kind);
  }

  // ---- added tokens, and those around a text ----

  void add_added() {
    const auto list = get<array>(root_, "added_tokens");
    const std::size_t count = rules_.texts.size() + (list ? list->size() : 0);
    if (list)
      for (const element& entry : *list) {
        const auto token = get<object>(entry);
        const auto id = token ? get<std::uint64_t>(*token, "id") : std::nullopt;
        const auto content = token ? get<std::string_view>(*token, "content") : std::nullopt;
        if (!id || !content) throw malformed("tokenizer.added", "an added token without its id or content");
        const std::size_t place = place_of(*id, count);
        if (!rules_.in_model[place]) rules_.texts[place] = *content;
        const bool special = flag(*token, "special", false);
        rules_.added.push_back({static_cast<Id>(place), std::string(*content), special,
                                flag(*token, "single_word", false), flag(*token, "lstrip", false),
                                flag(*token, "rstrip", false), flag(*token, "normalized", !special)});
      }
    rules_.scores.resize(rules_.texts.size());
    rules_.special.resize(rules_.texts.size());
    for (const Added& added : rules_.added)
      if (added.special) rules_.special[static_cast<std::size_t>(added.id)] = true;
    if (auto* const kind = std::get_if<Likeliest>(&rules_.model)) kind->left_out.resize(rules_.texts.size());
  }

  void put_around(std::uint64_t id, std::vector<Id>& into) {
    if (id >= rules_.texts.size())
      throw malformed("tokenizer.ids",
                      fmt::format("it puts the token {} around texts, and there are {}", id, rules_.texts.size()));
    if (into.size() >= kMostAround)
      throw unknown_step(fmt::format("it puts more than {} tokens around a text", kMostAround));
    into.push_back(static_cast<Id>(id));
  }

  void put_pair(const object& step, std::string_view key, std::vector<Id>& into) {
    const auto pair = get<array>(step, key);
    const auto id = pair && pair->size() == 2 ? get<std::uint64_t>(pair->at(1).value_unsafe()) : std::nullopt;
    if (!id)
      throw malformed("tokenizer.step",
                      fmt::format("the {} of the tokens around a text is not a token and its id", key));
    put_around(*id, into);
  }

  void add_frame(const object& step) {
    const std::string_view type = type_in(step);
    if (type == "ByteLevel") return;  // trims offsets
    if (std::exchange(framed_, true)) throw unknown_step("it puts tokens around a text twice");
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      put_pair(step, "cls", rules_.before);
      put_pair(step, "sep", rules_.behind);
      return;
    }
    if (type != "TemplateProcessing") throw unknown_in("post-processor", step);
    const auto single = get<array>(step, "single");
    const auto named = get<object>(step, "special_tokens");
    if (!single || single->size() > kMostAround) throw unknown_in("post-processor", step);
    std::size_t texts = 0;
    for (const element& item : *single) {
      const auto one = get<object>(item);
      const auto text = one ? get<object>(*one, "Sequence") : std::nullopt;
      if (text) {
        if (get<std::string_view>(*text, "id") != "A") throw unknown_step("its template names another text");
        if (++texts > 1) throw unknown_step("it repeats a text");
        continue;
      }
      const auto special = one ? get<object>(*one, "SpecialToken") : std::nullopt;
      const auto name = special ? get<std::string_view>(*special, "id") : std::nullopt;
      const auto meant = name && named ? get<object>(*named, *name) : std::nullopt;
      const auto ids = meant ? get<array>(*meant, "ids") : std::nullopt;
      if (!ids) throw malformed("tokenizer.step", "a token around a text that is not named");
      for (const element& id : *ids)
        put_around(get<std::uint64_t>(id).value_or(UINT64_MAX), texts == 0 ? rules_.before : rules_.behind);
    }
    if (texts == 0) throw unknown_step("the tokens of a text have no place in its template");
  }

  const object& root_;
  Rules rules_;
  bool bytes_ = false;  // texts are spelled in the byte-level alphabet
  bool framed_ = false;
  NameViewMap<Id> ids_;
};

}  // namespace

Rules read_tokenizer_json(std::string_view text) {
  const resources::BigJson json(text);
  return Reader(json.root()).run();
}

}  // namespace tare::tokenize
