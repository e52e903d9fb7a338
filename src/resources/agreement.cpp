#include "resources/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/families.hpp"
#include "base/printable.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

bool is_same_number(double a, double b) {
  return a == b || static_cast<float>(a) == static_cast<float>(b) || (std::isnan(a) && std::isnan(b));
}

// Several model types are one family (a multimodal model and its language part). For some, GGUF has a second family with
// attention in both directions.
bool is_same_type(const std::string& a, const std::string& b) {
  const arch::Family *const x = arch::find_family_by_any_name(a), *const y = arch::find_family_by_any_name(b);
  if (x == nullptr || y == nullptr) return a == b;
  return x == y || arch::are_twins(*x, *y);
}

bool is_same_value(std::string_view field, const Value& a, const Value& b) {
  if (a == b) return true;
  if (field == "model_type" && a.text() != nullptr && b.text() != nullptr) return is_same_type(*a.text(), *b.text());
  const auto x = number_of(a), y = number_of(b);
  return x && y && is_same_number(*x, *y);
}

// A token without a text, or one that fills an unused id, has whatever name its container gave it.
bool is_filler(const Token& token) { return token.text.empty() || token.type == TokenType::unused; }

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", quote(text)); }

bool has_scores(const Vocabulary& vocabulary) {
  return std::ranges::any_of(vocabulary.tokens, [](const Token& token) { return token.score != 0; });
}

std::optional<Disagreement> different_token(const Vocabulary& stated, const Vocabulary& in_files) {
  const std::size_t both = std::min(stated.tokens.size(), in_files.tokens.size());
  const bool scored = stated.kind == in_files.kind && has_scores(stated) && has_scores(in_files);
  for (std::size_t id = 0; id < both; ++id) {
    const Token &a = stated.tokens[id], &b = in_files.tokens[id];
    if (is_filler(a) || is_filler(b)) continue;
    if (!have_same_text(a, b)) return Disagreement{fmt::format("token {}", id), in_quotes(b.text), in_quotes(a.text)};
    if (scored && !is_same_number(a.score, b.score))
      return Disagreement{fmt::format("score of token {}", id), fmt::to_string(b.score), fmt::to_string(a.score)};
  }
  for (std::size_t id = both; id < in_files.tokens.size(); ++id)
    if (!is_filler(in_files.tokens[id]))
      return Disagreement{fmt::format("token {}", id), in_quotes(in_files.tokens[id].text), "missing"};
  return std::nullopt;
}

std::optional<Disagreement> different_merge(const Vocabulary& stated, const Vocabulary& in_files) {
  const std::vector<std::string>&a = stated.merges, &b = in_files.merges;
  if (a.empty() || b.empty() || a == b) return std::nullopt;
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end())
    return Disagreement{"number of merges", fmt::to_string(b.size()), fmt::to_string(a.size())};
  return Disagreement{fmt::format("merge {}", x - a.begin()), in_quotes(*y), in_quotes(*x)};
}

// The file that a vocabulary is read from first.
const Attachment* vocabulary_file(const Model& model) {
  for (const std::string_view name : {"tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt"})
    if (const Attachment* const file = model.attachment(name)) return file;
  return nullptr;
}

Error about_file(const Attachment& file, std::string_view rule, std::string_view part, const Disagreement& found) {
  Error error(ErrorKind::corrupt, rule,
              fmt::format("its {} is {}, but that of the model's {} is {}; programs that read the file differ from "
                          "those that read the {}",
                          found.what, found.in_files, part, found.stated, part));
  return error.about("attachment " + quote(file.name));
}

}  // namespace

std::optional<Disagreement> difference(const Config& stated, const Config& in_file) {
  const Map a = stated.to_map(), b = in_file.to_map();
  for (const auto& [field, value] : a)
    if (const Value* const other = b.find(field); other != nullptr && !is_same_value(field, value, *other))
      return Disagreement{field, quote(to_json(*other)), quote(to_json(value))};
  return std::nullopt;
}

std::optional<Disagreement> difference(const Vocabulary& stated, const Vocabulary& in_files) {
  if (stated.tokens.empty() || in_files.tokens.empty()) return std::nullopt;
  if (auto found = different_token(stated, in_files)) return found;
  if (auto found = different_merge(stated, in_files)) return found;
  constexpr std::pair<std::string_view, std::int64_t Vocabulary::*> kIds[] = {
      {"bos", &Vocabulary::bos}, {"eos", &Vocabulary::eos}, {"pad", &Vocabulary::pad}, {"unk", &Vocabulary::unk}};
  for (const auto& [name, id] : kIds)
    if (stated.*id >= 0 && in_files.*id >= 0 && stated.*id != in_files.*id)
      return Disagreement{fmt::format("id of the {} token", name), fmt::to_string(in_files.*id),
                          fmt::to_string(stated.*id)};
  return std::nullopt;
}

std::vector<Error> disagreements(const Model& model) {
  std::vector<Error> found;
  Model files;
  files.attachments = model.attachments;
  std::erase_if(files.attachments, [](const Attachment& file) { return file.made; });
  if (files.attachments.empty() || (model.config.empty() && model.vocabulary.empty())) return found;
  Diagnostics silent;
  describe(files, silent);
  if (const Attachment* const file = files.attachment("config.json"))
    if (const auto differs = difference(model.config, files.config))
      found.push_back(about_file(*file, "config.differs", "config", *differs));
  if (const Attachment* const file = vocabulary_file(files))
    if (const auto differs = difference(model.vocabulary, files.vocabulary))
      found.push_back(about_file(*file, "tokenizer.differs", "vocabulary", *differs));
  return found;
}

}  // namespace tare::resources
