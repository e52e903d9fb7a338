#include "resources/tokenizer_rules.hpp"

#include <fmt/format.h>

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

// Calls visit(step) for a part of the file, or for each item if it is a sequence.
template <typename Visit>
void for_each_step(const object& root, std::string_view part, std::string_view parts, const Visit& visit) {
  const auto step = get<object>(root, part);
  if (!step) return;
  const auto steps = get<array>(*step, parts);
  if (!steps) return visit(*step);
  for (const element& inner : *steps)
    if (const auto one = get<object>(inner)) visit(*one);
}

// Describes what happens to the matches of a regex; empty if each becomes a word of its own.
std::string way_of_split(const object& step) {
  const std::string_view behavior = get<std::string_view>(step, "behavior").value_or("Isolated");
  const bool inverted = get<bool>(step, "invert").value_or(false);
  if (behavior == "Isolated" && !inverted) return {};
  // This drops what the regex does not match. There is no such text: the regexes of models match everything.
  if (behavior == "Removed" && inverted) return {};
  return fmt::format(" ({}{})", behavior, inverted ? ", inverted" : "");
}

void add_cut(const object& step, TokenizerRules& rules) {
  const std::string_view type = get<std::string_view>(step, "type").value_or("");
  if (type == "ByteLevel") {
    rules.byte_level = true;
    rules.adds_byte_blank = get<bool>(step, "add_prefix_space").value_or(true);
    if (get<bool>(step, "use_regex").value_or(true)) rules.cuts.emplace_back("bytes");
  } else if (type == "Split") {
    const auto pattern = get<object>(step, "pattern");
    const auto regex = pattern ? get<std::string_view>(*pattern, "Regex") : std::nullopt;
    rules.cuts.push_back(regex ? fmt::format("split {}{}", *regex, way_of_split(step)) : "split by a text");
  } else if (type == "Digits") {
    rules.cuts.emplace_back(get<bool>(step, "individual_digits").value_or(false) ? "digits one by one" : "digits");
  } else if (type == "Metaspace") {
    const auto scheme = get<std::string_view>(step, "prepend_scheme");
    const bool adds = scheme ? *scheme != "never" : get<bool>(step, "add_prefix_space").value_or(true);
    rules.adds_blank = adds || rules.adds_blank.value_or(false);
  } else {
    rules.cuts.emplace_back(type);
  }
}

constexpr std::string_view kBlankPiece = "\xE2\x96\x81";

// Returns whether the step replaces blanks by U+2581: {"type": "Replace", "pattern": {"String": " "}, "content":
// U+2581}.
bool spells_blanks(const object& step) {
  const auto pattern = get<object>(step, "pattern");
  return pattern && get<std::string_view>(*pattern, "String") == " " &&
         get<std::string_view>(step, "content") == kBlankPiece;
}

void add_normalizer(const object& step, TokenizerRules& rules) {
  const std::string_view type = get<std::string_view>(step, "type").value_or("");
  if (type == "Prepend" && get<std::string_view>(step, "prepend") == kBlankPiece)
    rules.adds_blank = true;
  else if (type != "Replace" || !spells_blanks(step))
    rules.normalizers.emplace_back(type);
}

// {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}: the first goes before a text, the second after
// it.
void add_other_frame(const object& step, TokenizerRules& rules) {
  const std::string_view type = get<std::string_view>(step, "type").value_or("");
  if (type == "ByteLevel" || type == "TemplateProcessing") return;  // no "single": adds no tokens
  const auto text_at = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto pair = get<array>(step, key);
    if (!pair || pair->size() == 0) return std::nullopt;
    return get<std::string_view>(pair->at(0).value_unsafe());
  };
  const bool known = type == "RobertaProcessing" || type == "BertProcessing";
  if (const auto first = text_at("cls"); known && first) rules.before.emplace_back(*first);
  if (const auto last = text_at("sep"); known && last) rules.behind.emplace_back(*last);
  if (!known) rules.others.push_back(fmt::format("it has a post-processor of the type \"{}\"", type));
}

// Collects added tokens that are not simply matched in a text.
void add_added(const object& root, TokenizerRules& rules) {
  const auto added = get<array>(root, "added_tokens");
  if (!added) return;
  constexpr std::pair<std::string_view, std::string_view> kWays[] = {{"lstrip", "take the blanks before them"},
                                                                     {"rstrip", "take the blanks after them"},
                                                                     {"single_word", "are found only as whole words"}};
  for (const auto& [key, way] : kWays) {
    std::size_t count = 0;
    std::string_view first;
    for (const element& item : *added) {
      const auto token = get<object>(item);
      if (!token || !get<bool>(*token, key).value_or(false)) continue;
      if (count++ == 0) first = get<std::string_view>(*token, "content").value_or("");
    }
    if (count > 0)
      rules.others.push_back(
          fmt::format("{} of its added tokens {} ({}), the first is \"{}\"", count, way, key, first));
  }
}

void add_model(const object& model, TokenizerRules& rules) {
  rules.byte_fallback = get<bool>(model, "byte_fallback").value_or(false);
  rules.ignores_merges = get<bool>(model, "ignore_merges").value_or(false);
  if (get<std::string_view>(model, "type").value_or("BPE") != "BPE") return;
  for (const std::string_view key : {"end_of_word_suffix", "continuing_subword_prefix"})
    if (const auto text = get<std::string_view>(model, key); text && !text->empty())
      rules.others.push_back(fmt::format("it spells parts of words with \"{}\" ({})", *text, key));
  if (get<double>(model, "dropout").value_or(0) > 0)
    rules.others.emplace_back("it leaves merges out at random (dropout)");
}

// {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": text}}, {"Sequence": ...}, ...]}
void add_frame(const object& step, TokenizerRules& rules) {
  const auto single = get<array>(step, "single");
  if (!single) return add_other_frame(step, rules);
  bool text_seen = false;
  for (const element& item : *single) {
    const auto one = get<object>(item);
    if (!one) continue;
    if (get<object>(*one, "Sequence")) text_seen = true;
    const auto special = get<object>(*one, "SpecialToken");
    const auto id = special ? get<std::string_view>(*special, "id") : std::nullopt;
    if (id) (text_seen ? rules.behind : rules.before).emplace_back(*id);
  }
}

}  // namespace

TokenizerRules parse_tokenizer_rules(std::string_view tokenizer_json) {
  const BigJson json(tokenizer_json);
  const object& root = json.root();
  TokenizerRules rules;
  for_each_step(root, "normalizer", "normalizers", [&](const object& step) { add_normalizer(step, rules); });
  for_each_step(root, "pre_tokenizer", "pretokenizers", [&](const object& step) { add_cut(step, rules); });
  for_each_step(root, "post_processor", "processors", [&](const object& step) { add_frame(step, rules); });
  for_each_step(root, "decoder", "decoders", [&](const object& step) {
    if (get<std::string_view>(step, "type") == "ByteLevel") rules.byte_level = true;
  });
  add_added(root, rules);
  if (const auto model = get<object>(root, "model")) add_model(*model, rules);
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
    for (std::string& sentence : parse_tokenizer_rules(text).others)
      unsupported.push_back({"tokenizer.json", std::move(sentence)});
  });
  // tokenizer.json takes precedence over the files that it was made from.
  for (const char* const name : {"tokenizer.model", "spiece.model"})
    if (!json)
      read(name, [&](std::string_view text) {
        if (parse_piece_rules(text).blank_behind)
          unsupported.push_back({name, "its pieces end with the blank between words (treat_whitespace_as_suffix)"});
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
      if (field->is(3, Wire::varint)) rules.unigram = field->value == 1;
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
