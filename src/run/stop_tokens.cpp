// The tokens that end a text.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "resources/config_file.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "run/texts.hpp"

namespace tare::run {
namespace {

// Names that end a turn or a message in well-known vocabularies; files often state only one of several.
constexpr std::string_view kEnds[] = {"<|eot_id|>",
                                      "<|eom_id|>",
                                      "<|im_end|>",
                                      "<|end|>",
                                      "<end_of_turn>",
                                      "<|endoftext|>",
                                      "<|end_of_text|>",
                                      "<|return|>",
                                      "<|call|>",
                                      "<turn|>",
                                      "<\xEF\xBD\x9C"
                                      "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"};

class Stops {
 public:
  explicit Stops(std::uint64_t vocabulary) : vocabulary_(vocabulary) {}

  void add(std::int64_t id) {
    if (id >= 0 && static_cast<std::uint64_t>(id) < vocabulary_) ids_.insert(static_cast<std::int32_t>(id));
  }
  // A number or a list of them.
  void add(const Value& value) {
    if (const List* const list = value.get<List>()) {
      for (const Value& one : *list)
        if (one.get<List>() == nullptr) add(one);
    } else if (const auto id = resources::number_of(value); id && *id >= 0 && *id < 1e9) {
      add(static_cast<std::int64_t>(*id));
    }
  }
  std::vector<std::int32_t> list() const { return {ids_.begin(), ids_.end()}; }

 private:
  std::uint64_t vocabulary_;
  std::set<std::int32_t> ids_;
};

void add_from_file(const Model& model, std::string_view name, Stops& stops) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return;
  try {
    const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
    const Map keys = resources::parse_small_json(as_text(bytes));
    if (const Value* const ids = keys.find("eos_token_id")) stops.add(*ids);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
}

}  // namespace

std::vector<std::int32_t> Scorer::stop_tokens() const {
  const Model& model = inner_->words;
  Stops stops(inner_->plan.vocabulary);
  if (!model.vocabulary.empty()) stops.add(model.vocabulary.eos);
  for (const char* const name : {"generation_config.json", "config.json"}) add_from_file(model, name, stops);
  for (const auto& [key, value] : model.metadata)
    for (const std::string_view suffix : {"eot_token_id", "eom_token_id"})
      if (key.ends_with(suffix)) stops.add(value);
  for (std::size_t id = 0; id < model.vocabulary.tokens.size(); ++id) {
    const Token& token = model.vocabulary.tokens[id];
    const bool special = token.type != TokenType::normal && token.type != TokenType::byte;
    if (special && std::ranges::find(kEnds, std::string_view(token.text)) != std::end(kEnds))
      stops.add(static_cast<std::int64_t>(id));
  }
  return stops.list();
}

}  // namespace tare::run
