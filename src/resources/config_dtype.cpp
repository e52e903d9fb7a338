#include "resources/config_dtype.hpp"

#include <algorithm>
#include <vector>

#include "resources/json_file.hpp"
#include "wire/json_edit.hpp"

namespace tare::resources {
namespace {

constexpr std::pair<DType, std::string_view> kWords[] = {
    {DType::f64, "float64"}, {DType::f32, "float32"}, {DType::f16, "float16"}, {DType::bf16, "bfloat16"}};
constexpr std::string_view kPrefix = "torch.";  // some versions write it

bool is_word(std::string_view text) {
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const auto& word) { return word.second == text; });
}

// The types in quantization_config are those of the codes, not of the tensors.
bool is_inner_config(std::string_view key) { return key.ends_with("_config") && key != "quantization_config"; }

// Adds the edits that state `word` in an object and the configs inside it. `before` becomes the first word that is
// replaced.
void restate(std::string_view text, std::size_t object, std::string_view word, std::vector<wire::JsonEdit>& edits,
             std::string& before) {
  for (const wire::JsonMember& member : wire::json_members(text, object)) {
    if (is_inner_config(member.key)) restate(text, member.value, word, edits, before);
    if ((member.key != "dtype" && member.key != "torch_dtype") || text[member.value] != '"') continue;
    const std::string_view stated = text.substr(member.value + 1, member.end - member.value - 2);
    if (!is_word(stated)) continue;
    const std::size_t begin = member.value + 1 + (stated.starts_with(kPrefix) ? kPrefix.size() : 0);
    const std::string_view bare = text.substr(begin, member.end - 1 - begin);
    if (bare == word) continue;
    if (before.empty()) before = bare;
    edits.push_back({begin, member.end - 1, word});
  }
}

}  // namespace

std::string_view name_in_config(DType type) {
  for (const auto& [known, word] : kWords)
    if (known == type) return word;
  return {};
}

std::optional<RestatedDtype> restate_dtype(std::string_view config_json, DType type) {
  const std::string_view word = name_in_config(type);
  if (word.empty()) return std::nullopt;
  parse_small_json(config_json);
  RestatedDtype restated;
  std::vector<wire::JsonEdit> edits;
  restate(config_json, config_json.find('{'), word, edits, restated.before);
  if (edits.empty()) return std::nullopt;
  restated.text = wire::edited_json(config_json, std::move(edits));
  return restated;
}

}  // namespace tare::resources
