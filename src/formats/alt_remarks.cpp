// What convert tells about an ALT file it writes: what the source left open, and numbers that did not survive.
#include <fmt/format.h>

#include "formats/alt.hpp"

namespace tare::alt {
namespace {

std::vector<std::string> absent_fields(const Config& config, resources::Column column) {
  if (config.empty()) return {"all parameters (no config)"};
  std::vector<std::string> absent;
  const Map stated = config.to_map();
  for (const resources::ConfigRow& row : resources::kConfigTable)
    if (!(row.*column).name.empty() && stated.find(row.field) == nullptr) absent.emplace_back(row.field);
  return absent;
}

std::vector<std::string> absent_tokens(const Vocabulary& vocabulary) {
  if (vocabulary.empty()) return {"the tokenizer (no vocabulary)"};
  std::vector<std::string> absent;
  for (const SpecialId& special : kSpecialIds)
    if (vocabulary.*special.member < 0) absent.emplace_back(special.name);
  return absent;
}

}  // namespace

std::vector<std::string> remarks(const Model& model, const std::vector<std::string>& empty_texts,
                                 resources::Column column) {
  std::vector<std::string> empty;
  for (const auto& absent : {absent_fields(model.config, column), empty_texts, absent_tokens(model.vocabulary)})
    empty.insert(empty.end(), absent.begin(), absent.end());
  std::vector<std::string> lines;
  if (!empty.empty())
    lines.push_back(fmt::format("empty, 0 or -1 in the file, the source does not say: {}", fmt::join(empty, ", ")));
  for (const ConfigField& field : config_fields())
    if (const auto* const member = std::get_if<std::optional<double> Config::*>(&field.member)) {
      const double value = (model.config.**member).value_or(0);
      if (value != 0 && static_cast<float>(value) == 0)
        lines.push_back(fmt::format("{} is {} in the source, which is 0 in a float of 32 bits", field.name, value));
    }
  return lines;
}

}  // namespace tare::alt
