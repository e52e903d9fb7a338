#include "resources/tokenizer_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "resources/big_json.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/error.hpp"
#include "wire/protobuf.hpp"

namespace tare::resources {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Calls visit(step) for a part of the file, or for each item if it is a sequence, also of sequences.
template <typename Visit>
void for_each_step(const object& step, std::string_view parts, const Visit& visit) {
  const auto steps = get<array>(step, parts);
  if (!steps) return visit(step);
  for (const element& inner : *steps)
    if (const auto one = get<object>(inner)) for_each_step(*one, parts, visit);
}
template <typename Visit>
void for_each_step(const object& root, std::string_view part, std::string_view parts, const Visit& visit) {
  if (const auto step = get<object>(root, part)) for_each_step(*step, parts, visit);
}

std::string_view type_in(const object& step) { return get<std::string_view>(step, "type").value_or(""); }

std::string json_text(const element& value) { return simdjson::minify(value); }

constexpr std::string_view kBlankPiece = "\xE2\x96\x81";

// ---- settings that are understood ----

// A setting of a step. A value, a setting or a type that is not listed is reported, because GGUF has no key for it.
struct KnownSetting {
  std::string_view part, type, key;
  std::array<std::string_view, 3> values = {};  // as JSON; none: any, because code below reads it or it has no effect
};
constexpr std::string_view kBlankPieceJson = "\"\xE2\x96\x81\"";
constexpr KnownSetting kKnownSettings[] = {
    {"pre-tokenizer", "ByteLevel", "add_prefix_space"},
    {"pre-tokenizer", "ByteLevel", "trim_offsets"},
    {"pre-tokenizer", "ByteLevel", "use_regex"},
    {"pre-tokenizer", "Split", "pattern"},
    {"pre-tokenizer", "Split", "behavior"},
    {"pre-tokenizer", "Split", "invert"},
    {"pre-tokenizer", "Digits", "individual_digits"},
    // A blank for a blank: the step only puts one before a text.
    {"pre-tokenizer", "Metaspace", "replacement", {kBlankPieceJson, "\" \""}},
    {"pre-tokenizer", "Metaspace", "str_rep", {kBlankPieceJson}},
    {"pre-tokenizer", "Metaspace", "prepend_scheme", {"\"always\"", "\"first\"", "\"never\""}},
    {"pre-tokenizer", "Metaspace", "add_prefix_space"},
    {"pre-tokenizer", "Metaspace", "split"},
    {"post-processor", "ByteLevel", "add_prefix_space"},
    {"post-processor", "ByteLevel", "trim_offsets"},
    {"post-processor", "ByteLevel", "use_regex"},
    {"post-processor", "TemplateProcessing", "single"},
    {"post-processor", "TemplateProcessing", "pair"},  // llama.cpp tokenizes one text at a time
    {"post-processor", "TemplateProcessing", "special_tokens"},
    {"post-processor", "RobertaProcessing", "cls"},
    {"post-processor", "RobertaProcessing", "sep"},
    {"post-processor", "RobertaProcessing", "trim_offsets"},
    {"post-processor", "RobertaProcessing", "add_prefix_space"},
    {"post-processor", "BertProcessing", "cls"},
    {"post-processor", "BertProcessing", "sep"},
    {"decoder", "ByteLevel", "add_prefix_space"},
    {"decoder", "ByteLevel", "trim_offsets"},
    {"decoder", "ByteLevel", "use_regex"},
    {"decoder", "Replace", "pattern", {"{\"String\":\"\xE2\x96\x81\"}"}},
    {"decoder", "Replace", "content", {"\" \""}},
    {"decoder", "ByteFallback", ""},
    {"decoder", "Fuse", ""},
    {"decoder", "Strip", "content", {"\" \""}},
    {"decoder", "Strip", "start", {"1", "0"}},
    {"decoder", "Strip", "stop", {"0"}},
    {"decoder", "Metaspace", "replacement", {kBlankPieceJson}},
    {"decoder", "Metaspace", "str_rep", {kBlankPieceJson}},
    {"decoder", "Metaspace", "prepend_scheme", {"\"always\"", "\"first\"", "\"never\""}},
    {"decoder", "Metaspace", "add_prefix_space"},
    {"decoder", "Metaspace", "split"},
    {"decoder", "WordPiece", "prefix", {"\"##\""}},
    {"decoder", "WordPiece", "cleanup"},
    {"model", "BPE", "vocab"},
    {"model", "BPE", "merges"},
    {"model", "BPE", "unk_token"},
    {"model", "BPE", "fuse_unk"},
    {"model", "BPE", "byte_fallback"},
    {"model", "BPE", "ignore_merges"},
    {"model", "BPE", "dropout"},
    {"model", "BPE", "end_of_word_suffix"},
    {"model", "BPE", "continuing_subword_prefix"},
    {"model", "Unigram", "vocab"},
    {"model", "Unigram", "unk_id"},
    {"model", "Unigram", "byte_fallback"},
    {"model", "WordPiece", "vocab"},
    {"model", "WordPiece", "unk_token"},
    {"model", "WordPiece", "continuing_subword_prefix", {"\"##\""}},
    {"model", "WordPiece", "max_input_chars_per_word", {"100"}},  // llama.cpp has no limit; no word is that long
    {"model", "WordLevel", "vocab"},
    {"model", "WordLevel", "unk_token"},
    // What llama.cpp does to every text of such a tokenizer.
    {"normalizer", "BertNormalizer", "clean_text", {"true"}},
    {"normalizer", "BertNormalizer", "handle_chinese_chars", {"true"}},
    {"normalizer", "BertNormalizer", "strip_accents", {"null", "true"}},
    {"normalizer", "BertNormalizer", "lowercase", {"true"}},
};

// Adds a sentence, but not twice, and not more than people read: a file may have any number of steps.
void add_sentence(std::vector<std::string>& sentences, std::string sentence) {
  constexpr std::size_t kMost = 16;
  if (sentences.size() < kMost && std::ranges::find(sentences, sentence) == sentences.end())
    sentences.push_back(std::move(sentence));
}

// Adds a sentence for each setting of a step that is not understood.
void check_step(std::string_view part, std::string_view type, const object& step, std::vector<std::string>& sentences) {
  const auto is_row = [&](const KnownSetting& row) { return row.part == part && row.type == type; };
  if (std::ranges::none_of(kKnownSettings, is_row)) {
    add_sentence(sentences, fmt::format("it has a {} of the type \"{}\"", part, type));
    return;
  }
  for (const auto& [key, value] : step) {
    if (key == "type") continue;
    const auto row = std::ranges::find_if(
        kKnownSettings, [&, &name = key](const KnownSetting& one) { return is_row(one) && one.key == name; });
    if (row != std::end(kKnownSettings) &&
        (row->values.front().empty() || std::ranges::find(row->values, json_text(value)) != row->values.end()))
      continue;
    add_sentence(sentences, fmt::format("its {} {} has the {} {}", part, type, key, json_text(value)));
  }
}

// ---- how a text is split ----

// Describes what happens to the matches of a regex; empty if each becomes a word of its own.
std::string way_of_split(const object& step) {
  const std::string_view behavior = get<std::string_view>(step, "behavior").value_or("Isolated");
  const bool inverted = get<bool>(step, "invert").value_or(false);
  if (behavior == "Isolated" && !inverted) return {};
  // This drops what the regex does not match. There is no such text: the regexes of models match everything.
  if (behavior == "Removed" && inverted) return {};
  return fmt::format(" ({}{})", behavior, inverted ? ", inverted" : "");
}

std::string split_text(const object& step) {
  const auto pattern = get<object>(step, "pattern");
  if (const auto regex = pattern ? get<std::string_view>(*pattern, "Regex") : std::nullopt)
    return fmt::format("split {}{}", *regex, way_of_split(step));
  const auto text = pattern ? get<std::string_view>(*pattern, "String") : std::nullopt;
  return text == " " ? std::string(kSplitByBlank)
                     : fmt::format("split by \"{}\"{}", text.value_or(""), way_of_split(step));
}

// Returns whether a Metaspace puts a blank before a text.
bool metaspace_adds(const object& step) {
  const auto scheme = get<std::string_view>(step, "prepend_scheme");
  return scheme ? *scheme != "never" : get<bool>(step, "add_prefix_space").value_or(true);
}

void add_cut(const object& step, TokenizerRules& rules) {
  const std::string_view type = type_in(step);
  if (type == "ByteLevel") {
    rules.byte_level = true;
    rules.adds_byte_blank = get<bool>(step, "add_prefix_space").value_or(true);
    if (get<bool>(step, "use_regex").value_or(true)) rules.cuts.emplace_back("bytes");
  } else if (type == "Split") {
    // After ByteLevel, a text is spelled in the byte-level alphabet, in which a regex matches something else.
    rules.cuts.push_back(split_text(step) + (rules.byte_level ? " of bytes" : ""));
  } else if (type == "Digits") {
    rules.cuts.emplace_back(get<bool>(step, "individual_digits").value_or(false) ? "digits one by one" : "digits");
  } else if (type == "Metaspace") {
    rules.adds_blank = metaspace_adds(step) || rules.adds_blank.value_or(false);
    if (!rules.prepends_by_normalizer && get<std::string_view>(step, "prepend_scheme").value_or("") == "first")
      rules.first_blank_only = true;
    const std::string_view former = get<std::string_view>(step, "str_rep").value_or(kBlankPiece);
    if (get<std::string_view>(step, "replacement").value_or(former) == kBlankPiece) {
      rules.spells_blanks = true;
      // The normalizer may have put one there, so that every text begins with one.
      if (metaspace_adds(step) && !rules.prepends_by_normalizer) rules.skips_blank = true;
    }
    if (get<bool>(step, "split").value_or(true)) rules.splits_words = true;
  } else {
    rules.cuts.emplace_back(type);
    if (type == "WhitespaceSplit") rules.splits_words = true;
    return;  // reported as a cut
  }
  check_step("pre-tokenizer", type, step, rules.others);
}

// ---- normalizers ----

// Returns whether the step replaces blanks by U+2581: {"type": "Replace", "pattern": {"String": " "}, "content":
// U+2581}.
bool spells_blanks(const object& step) {
  const auto pattern = get<object>(step, "pattern");
  return pattern && get<std::string_view>(*pattern, "String") == " " &&
         get<std::string_view>(step, "content") == kBlankPiece;
}

void add_normalizer(const object& step, TokenizerRules& rules) {
  const std::string_view type = type_in(step);
  if (type == "Prepend" && get<std::string_view>(step, "prepend") == kBlankPiece) {
    rules.adds_blank = true;
  } else if (type == "Replace" && spells_blanks(step)) {
    rules.spells_blanks = true;
  } else {
    rules.normalizers.emplace_back(type);
  }
}

// llama.cpp normalizes and splits a text for a WordPiece tokenizer as BERT's does.
void check_words(const object& root, TokenizerRules& rules) {
  std::size_t normalizers = 0, cuts = 0;
  for_each_step(root, "normalizer", "normalizers", [&](const object& step) {
    ++normalizers;
    check_step("normalizer", type_in(step), step, rules.others);
  });
  for_each_step(root, "pre_tokenizer", "pretokenizers", [&](const object& step) {
    ++cuts;
    if (type_in(step) != "BertPreTokenizer")
      add_sentence(rules.others, fmt::format("it has a pre-tokenizer of the type \"{}\"", type_in(step)));
  });
  if (normalizers == 0) rules.others.emplace_back("it does not make letters small, as it has no normalizer");
  if (cuts == 0) rules.others.emplace_back("it does not split a text into words, as it has no pre-tokenizer");
}

// ---- tokens around a text ----

// The texts of tokens by their ids.
class TokenTexts {
 public:
  explicit TokenTexts(const object& root) : root_(root) {}

  // `otherwise`: for an id without a token.
  std::string at(std::uint64_t id, std::string_view otherwise) {
    if (const auto added = get<array>(root_, "added_tokens"))
      for (const element& item : *added)
        if (const auto token = get<object>(item); token && get<std::uint64_t>(*token, "id") == id)
          return std::string(get<std::string_view>(*token, "content").value_or(""));
    const auto model = get<object>(root_, "model");
    if (const auto vocab = model ? get<object>(*model, "vocab") : std::nullopt)
      for (const auto& [text, number] : *vocab)
        if (get<std::uint64_t>(number) == id) return std::string(text);
    const auto list = model ? get<array>(*model, "vocab") : std::nullopt;
    if (list && id < list->size())
      if (const auto pair = get<array>(list->at(id).value_unsafe()); pair && pair->size() > 0)
        return std::string(get<std::string_view>(pair->at(0).value_unsafe()).value_or(""));
    return std::string(otherwise);
  }

 private:
  const object& root_;
};

// A text has few special tokens around it; a file with more is not worth a scan of the vocabulary for each.
constexpr std::size_t kMostFrame = 16;

// {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}: the first goes before a text, the second after
// it. The id counts, not the text.
void add_pair(const object& step, std::string_view key, TokenTexts& texts, std::vector<std::string>& into) {
  const auto pair = get<array>(step, key);
  if (!pair || pair->size() == 0 || into.size() >= kMostFrame) return;
  const auto text = get<std::string_view>(pair->at(0).value_unsafe());
  const auto id = pair->size() > 1 ? get<std::uint64_t>(pair->at(1).value_unsafe()) : std::nullopt;
  if (id)
    into.push_back(texts.at(*id, text.value_or("")));
  else if (text)
    into.emplace_back(*text);
}

// {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": name}}, {"Sequence": ...}, ...], "special_tokens":
// {name: {"ids": [1], ...}}}: the ids count, not the name.
void add_template(const object& step, TokenTexts& texts, TokenizerRules& rules) {
  const auto single = get<array>(step, "single");
  if (!single) return;
  const auto named = get<object>(step, "special_tokens");
  std::size_t sequences = 0, named_before = 0, named_behind = 0;  // items that name a token may add none
  for (const element& item : *single) {
    const auto one = get<object>(item);
    if (!one) continue;
    if (get<object>(*one, "Sequence")) ++sequences;
    const auto special = get<object>(*one, "SpecialToken");
    const auto name = special ? get<std::string_view>(*special, "id") : std::nullopt;
    std::vector<std::string>& into = sequences > 0 ? rules.behind : rules.before;
    std::size_t& looked_up = sequences > 0 ? named_behind : named_before;
    if (!name || into.size() >= kMostFrame || ++looked_up > kMostFrame) continue;
    const auto meant = named ? get<object>(*named, *name) : std::nullopt;
    const auto ids = meant ? get<array>(*meant, "ids") : std::nullopt;
    if (!ids) {
      into.emplace_back(*name);
      continue;
    }
    for (const element& id : *ids)
      if (const auto number = get<std::uint64_t>(id); number && into.size() < kMostFrame)
        into.push_back(texts.at(*number, *name));
  }
  if (sequences != 1) add_sentence(rules.others, fmt::format("its template has the text {} times", sequences));
}

void add_frame(const object& step, TokenTexts& texts, TokenizerRules& rules) {
  const std::string_view type = type_in(step);
  check_step("post-processor", type, step, rules.others);
  if (type == "TemplateProcessing") return add_template(step, texts, rules);
  if (type != "RobertaProcessing" && type != "BertProcessing") return;
  add_pair(step, "cls", texts, rules.before);
  add_pair(step, "sep", texts, rules.behind);
}

// ---- tokens ----

// Collects added tokens that are not simply matched in a text.
void add_added(const object& root, TokenizerRules& rules) {
  const auto added = get<array>(root, "added_tokens");
  if (!added) return;
  const bool prepends = rules.adds_blank.value_or(false) && rules.prepends_by_normalizer;
  struct Way {
    std::string_view key, words;
  };
  constexpr Way kWays[] = {{"lstrip", "take the blanks before them"},
                           {"rstrip", "take the blanks after them"},
                           {"single_word", "are found only as whole words"},
                           {"normalized", "are found only after a blank, as normalizers change them"}};
  for (const auto& [key, way] : kWays) {
    std::size_t count = 0;
    std::string_view first;
    for (const element& item : *added) {
      const auto token = get<object>(item);
      if (!token || !get<bool>(*token, key).value_or(false)) continue;
      // Special tokens are found before the normalizers run in most files, whatever this setting is.
      if (key == "normalized" && (!prepends || get<bool>(*token, "special").value_or(false))) continue;
      if (count++ == 0) first = get<std::string_view>(*token, "content").value_or("");
    }
    if (count > 0)
      rules.others.push_back(
          fmt::format("{} of its added tokens {} ({}), the first is \"{}\"", count, way, key, first));
  }
}

bool is_added(const object& root, std::uint64_t id) {
  const auto added = get<array>(root, "added_tokens");
  return added && std::any_of(added->begin(), added->end(), [&](const element& item) {
           const auto token = get<object>(item);
           return token && get<std::uint64_t>(*token, "id") == id;
         });
}

// Returns whether a token has a blank other than at its beginning: it is found only if words are not split.
bool joins_words(const object& model) {
  const auto crosses = [](std::string_view text) {
    return text.rfind(kBlankPiece) != text.npos && text.rfind(kBlankPiece) > 0;
  };
  if (const auto vocab = get<object>(model, "vocab"))
    return std::any_of(vocab->begin(), vocab->end(), [&](const auto& entry) { return crosses(entry.key); });
  const auto list = get<array>(model, "vocab");
  return list && std::any_of(list->begin(), list->end(), [&](const element& item) {
           const auto pair = get<array>(item);
           const auto text =
               pair && pair->size() > 0 ? get<std::string_view>(pair->at(0).value_unsafe()) : std::nullopt;
           return text && crosses(*text);
         });
}

// Older files do not state the type.
std::string kind_of_model(const object& model) {
  if (const std::string_view type = type_in(model); !type.empty()) return std::string(type);
  if (get<array>(model, "merges")) return "BPE";
  return get<array>(model, "vocab") ? "Unigram" : "WordPiece";
}

void add_model(const object& root, const object& model, TokenizerRules& rules) {
  rules.byte_fallback = get<bool>(model, "byte_fallback").value_or(false);
  rules.ignores_merges = get<bool>(model, "ignore_merges").value_or(false);
  const std::string type = kind_of_model(model);
  check_step("model", type, model, rules.others);
  if (rules.splits_words && !rules.byte_level && joins_words(model))
    rules.others.emplace_back("it splits a text into words, although some of its pieces are longer (split)");
  if (type == "WordPiece") return check_words(root, rules);
  if (type == "Unigram") {
    if (const auto unknown = get<std::uint64_t>(model, "unk_id"); unknown && !is_added(root, *unknown))
      rules.others.push_back(fmt::format("its unknown token, {}, is an ordinary piece: \"{}\" (unk_id)", *unknown,
                                         TokenTexts(root).at(*unknown, "")));
    return;
  }
  if (type != "BPE") return;
  for (const std::string_view key : {"end_of_word_suffix", "continuing_subword_prefix"})
    if (const auto text = get<std::string_view>(model, key); text && !text->empty())
      rules.others.push_back(fmt::format("it spells parts of words with \"{}\" ({})", *text, key));
  if (get<double>(model, "dropout").value_or(0) > 0)
    rules.others.emplace_back("it leaves merges out at random (dropout)");
}

void add_decoder(const object& step, TokenizerRules& rules) {
  const std::string_view type = type_in(step);
  rules.decoders.emplace_back(type);
  if (type == "ByteLevel") rules.byte_level = true;
  if (type == "Strip" && get<std::uint64_t>(step, "start").value_or(0) > 0) rules.strips_blank = true;
  if (type == "Metaspace" && metaspace_adds(step)) rules.strips_blank = true;
  check_step("decoder", type, step, rules.decoding);
}

}  // namespace

TokenizerRules parse_tokenizer_rules(std::string_view tokenizer_json) {
  const BigJson json(tokenizer_json);
  const object& root = json.root();
  TokenizerRules rules;
  for_each_step(root, "normalizer", "normalizers", [&](const object& step) { add_normalizer(step, rules); });
  rules.prepends_by_normalizer = rules.adds_blank.value_or(false);
  for_each_step(root, "pre_tokenizer", "pretokenizers", [&](const object& step) { add_cut(step, rules); });
  TokenTexts texts(root);
  for_each_step(root, "post_processor", "processors", [&](const object& step) { add_frame(step, texts, rules); });
  for_each_step(root, "decoder", "decoders", [&](const object& step) { add_decoder(step, rules); });
  add_added(root, rules);
  if (const auto model = get<object>(root, "model")) add_model(root, *model, rules);
  return rules;
}

std::vector<UnsupportedRule> unsupported_tokenizer_rules(const Model& model) {
  std::vector<UnsupportedRule> unsupported;
  const auto read = [&](std::string_view name, const auto& use) {
    const Attachment* const file = model.attachment(name);
    if (file == nullptr || file->blob.size() > kMaxFileBytes) return false;
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    try {
      use(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
    }
    return true;
  };
  const bool json = read("tokenizer.json", [&](std::string_view text) {
    TokenizerRules rules = parse_tokenizer_rules(text);
    for (std::string& sentence : rules.others) unsupported.push_back({"tokenizer.json", std::move(sentence)});
    for (std::string& sentence : rules.decoding)
      unsupported.push_back({"tokenizer.json", std::move(sentence), UnsupportedRule::Matters::decoding});
  });
  // tokenizer.json takes precedence over the files that it was made from.
  for (const char* const name : {"tokenizer.model", "spiece.model"})
    if (!json)
      read(name, [&](std::string_view text) {
        const PieceRules rules = parse_piece_rules(text);
        if (rules.blank_behind)
          unsupported.push_back({name, "its pieces end with the blank between words (treat_whitespace_as_suffix)"});
        if (!rules.spells_blanks) unsupported.push_back({name, "it keeps blanks as they are (escape_whitespaces)"});
        if (rules.model_type != 1 && rules.model_type != 2)
          unsupported.push_back(
              {name, fmt::format("it is neither a unigram nor a BPE model (model_type {})", rules.model_type)});
      });
  return unsupported;
}

// ModelProto: 2 trainer_spec, 3 normalizer_spec; see sentencepiece_model.cpp.
PieceRules parse_piece_rules(std::string_view tokenizer_model) {
  using wire::ProtobufReader;
  using Wire = ProtobufReader::Type;
  PieceRules rules;
  const auto read_trainer = [&](std::span<const std::byte> message) {
    ProtobufReader trainer(message);
    while (const auto field = trainer.next()) {
      if (field->is(3, Wire::varint)) {
        rules.model_type = field->value;
        rules.unigram = field->value == 1;
      }
      if (field->is(24, Wire::varint)) rules.blank_behind = field->value != 0;
      if (field->is(35, Wire::varint)) rules.byte_fallback = field->value != 0;
    }
  };
  const auto read_normalizer = [&](std::span<const std::byte> message) {
    ProtobufReader normalizer(message);
    while (const auto field = normalizer.next()) {
      if (field->is(2, Wire::bytes))
        rules.characters.assign(reinterpret_cast<const char*>(field->bytes.data()), field->bytes.size());
      if (field->is(3, Wire::varint)) rules.adds_blank = field->value != 0;
      if (field->is(4, Wire::varint)) rules.joins_blanks = field->value != 0;
      if (field->is(5, Wire::varint)) rules.spells_blanks = field->value != 0;
    }
  };
  ProtobufReader model(std::as_bytes(std::span(tokenizer_model.data(), tokenizer_model.size())));
  while (const auto field = model.next()) {
    if (field->is(2, Wire::bytes)) read_trainer(field->bytes);
    if (field->is(3, Wire::bytes)) read_normalizer(field->bytes);
  }
  return rules;
}

}  // namespace tare::resources
