// What convert reports about an ALT file that it writes: fields that the source leaves empty, and numbers that are
// lost.
#include <fmt/format.h>

#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

std::vector<std::string> absent_fields(const Config& config, std::span<const OwnField> fields) {
  if (config.empty()) return {"all parameters (no config)"};
  std::vector<std::string> absent;
  const Map stated = config.to_map();
  for (const OwnField& own : fields)
    if (stated.find(own.field) == nullptr) absent.emplace_back(own.field);
  return absent;
}

std::vector<std::string> absent_tokens(const Vocabulary& vocabulary) {
  if (vocabulary.empty()) return {"the tokenizer (no vocabulary)"};
  std::vector<std::string> absent;
  for (const SpecialId& special : kSpecialIds)
    if (vocabulary.*special.member < 0) absent.emplace_back(special.name);
  return absent;
}

// Reports a number that readers will take for an absent one.
template <typename Number>
void remark_on_zero(std::string_view name, const std::optional<Number>& value, std::vector<Change>& lines) {
  if constexpr (std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, double>) {
    if (!value) return;
    if (*value == 0)
      lines.push_back({.detail = fmt::format("{} is 0 in the source, which is read back as absent", name)});
    else if (static_cast<float>(*value) == 0)
      lines.push_back(
          {.detail = fmt::format("{} is {} in the source, which is 0 in a float of 32 bits", name, *value)});
  }
}

}  // namespace

std::vector<Change> remarks(const Model& model, const std::vector<std::string>& also_empty,
                            std::span<const OwnField> fields, std::string_view spelled) {
  std::vector<std::string> empty;
  for (const auto& absent : {absent_fields(model.config, fields), also_empty, absent_tokens(model.vocabulary)})
    empty.insert(empty.end(), absent.begin(), absent.end());
  std::vector<Change> lines;
  if (!empty.empty())
    lines.push_back({.kind = ChangeKind::unsaid,
                     .impact = Impact::detail,
                     .items = std::move(empty),
                     .detail = fmt::format("{}, 0 or -1", spelled)});
  for (const ConfigField& field : config_fields())
    std::visit([&](auto member) { remark_on_zero(field.name, model.config.*member, lines); }, field.member);
  return lines;
}

}  // namespace tare::alt
