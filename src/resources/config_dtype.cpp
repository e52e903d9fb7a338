#include "resources/config_dtype.hpp"

#include <algorithm>
#include <vector>

#include "resources/json_file.hpp"

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

// Finds the values to replace: begin and end of each, without the quotes. Requires well-formed JSON.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {}

  std::vector<std::pair<std::size_t, std::size_t>> run() {
    for (at_ = 0; at_ < text_.size(); ++at_) step();
    return std::move(found_);
  }

 private:
  struct Level {
    bool object, wanted;     // wanted: an object whose dtype is replaced
    std::string_view key{};  // the last key, as spelled in the text
  };

  void step() {
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      const bool outermost = levels_.empty();
      const bool wanted = c == '{' && (outermost || (levels_.back().wanted && is_inner_config(levels_.back().key)));
      levels_.push_back({c == '{', wanted});
      expects_key_ = c == '{';
    } else if (c == '}' || c == ']') {
      if (!levels_.empty()) levels_.pop_back();
    } else if (c == ',') {
      expects_key_ = !levels_.empty() && levels_.back().object;
    } else if (c == ':') {
      expects_key_ = false;
    } else if (c == '"') {
      take_string();
    }
  }

  void take_string() {
    const std::size_t begin = at_ + 1;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    const std::size_t end = std::min(at_, text_.size());
    const std::string_view string = text_.substr(begin, end - begin);
    if (levels_.empty()) return;
    if (expects_key_)
      levels_.back().key = string;
    else if (levels_.back().wanted && (levels_.back().key == "dtype" || levels_.back().key == "torch_dtype") &&
             is_word(string))
      found_.emplace_back(begin, end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool expects_key_ = false;
  std::vector<Level> levels_;
  std::vector<std::pair<std::size_t, std::size_t>> found_;
};

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
  std::size_t copied = 0;
  for (auto [begin, end] : Places(config_json).run()) {
    if (config_json.substr(begin, end - begin).starts_with(kPrefix)) begin += kPrefix.size();
    const std::string_view before = config_json.substr(begin, end - begin);
    if (before == word) continue;
    if (restated.before.empty()) restated.before = before;
    restated.text.append(config_json.substr(copied, begin - copied)).append(word);
    copied = end;
  }
  if (restated.before.empty()) return std::nullopt;
  restated.text.append(config_json.substr(copied));
  return restated;
}

}  // namespace tare::resources
