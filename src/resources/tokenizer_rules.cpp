#include "resources/tokenizer_rules.hpp"

#include <fmt/format.h>

#include "resources/big_json.hpp"
#include "resources/json_file.hpp"
#include "tare/error.hpp"
#include "wire/protobuf.hpp"

namespace tare::resources {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Calls visit(step) for a part of the file, or for each of a sequence of them.
template <typename Visit>
void for_each_step(const object& root, std::string_view part, std::string_view parts, const Visit& visit) {
  const auto step = get<object>(root, part);
  if (!step) return;
  const auto steps = get<array>(*step, parts);
  if (!steps) return visit(*step);
  for (const element& inner : *steps)
    if (const auto one = get<object>(inner)) visit(*one);
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
    rules.cuts.push_back(regex ? fmt::format("split {}", *regex) : "split by a text");
  } else if (type == "Digits") {
    rules.cuts.emplace_back(get<bool>(step, "individual_digits").value_or(false) ? "digits one by one" : "digits");
  } else if (type == "Metaspace") {
    const auto scheme = get<std::string_view>(step, "prepend_scheme");
    rules.adds_blank = scheme ? *scheme != "never" : get<bool>(step, "add_prefix_space").value_or(true);
  } else {
    rules.cuts.emplace_back(type);
  }
}

constexpr std::string_view kBlankPiece = "\xE2\x96\x81";

// Blanks as pieces have them: {"type": "Replace", "pattern": {"String": " "}, "content": U+2581}.
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

// {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": text}}, {"Sequence": ...}, ...]}
void add_frame(const object& step, TokenizerRules& rules) {
  const auto single = get<array>(step, "single");
  if (!single) return;
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
  if (const auto model = get<object>(root, "model")) {
    rules.byte_fallback = get<bool>(*model, "byte_fallback").value_or(false);
    rules.ignores_merges = get<bool>(*model, "ignore_merges").value_or(false);
  }
  return rules;
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
