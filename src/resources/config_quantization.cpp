#include "resources/config_quantization.hpp"

#include <algorithm>

#include "resources/json_file.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kStatingKeys[] = {"quantization_config", "compression_config", "quantization"};
constexpr std::string_view kStatingFiles[] = {"quantize_config.json", "quant_config.json", "hf_quant_config.json"};

// Copies the text without the unwanted members. Requires well-formed JSON.
class Remover {
 public:
  explicit Remover(std::string_view text) : text_(text) {}

  std::optional<UnquantizedConfig> run() {
    skip_space();
    object(true);
    if (removed_.empty()) return std::nullopt;
    UnquantizedConfig made;
    made.keys = std::move(removed_);
    std::size_t copied = 0;
    for (const auto& [begin, end] : spans_) {
      made.text.append(text_.substr(copied, begin - copied));
      copied = end;
    }
    made.text.append(text_.substr(copied));
    return made;
  }

 private:
  struct Member {
    std::size_t begin, end;  // from the quote of the key to the end of the value
    bool unwanted;
  };

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      ++at_;
  }
  std::string_view string() {
    const std::size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    const std::size_t end = std::min(at_, text_.size());
    ++at_;
    return text_.substr(begin, end - begin);
  }
  // Moves past a value of any type.
  void value() {
    std::size_t depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        string();
      } else {
        depth += static_cast<std::size_t>(c == '{' || c == '[');
        depth -= static_cast<std::size_t>(c == '}' || c == ']');
        ++at_;
        // A number or a word ends before the next delimiter.
        if (depth == 0 && c != '}' && c != ']')
          while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
      }
      if (depth > 0) skip_space();
    } while (depth > 0 && at_ < text_.size());
  }

  void object(bool outermost) {
    std::vector<Member> members;
    ++at_;
    for (skip_space(); at_ < text_.size() && text_[at_] != '}'; skip_space()) {
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      Member member{at_, 0, false};
      const std::string_view key = string();
      skip_space();
      ++at_;  // the colon
      skip_space();
      member.unwanted = std::ranges::find(kStatingKeys, key) != std::end(kStatingKeys);
      if (member.unwanted) removed_.emplace_back(key);
      if (outermost && key == "text_config" && text_[at_] == '{')
        object(false);
      else
        value();
      member.end = at_;
      members.push_back(member);
    }
    ++at_;
    remove(members);
  }

  // Removes members, each with the comma and the space after it; a last member with those before it.
  void remove(const std::vector<Member>& members) {
    std::vector<std::pair<std::size_t, std::size_t>> own;
    std::size_t kept = 0;  // the end of the last member that is kept
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].unwanted) {
        kept = members[i].end;
        continue;
      }
      if (i + 1 < members.size())
        own.emplace_back(members[i].begin, members[i + 1].begin);
      else
        own.emplace_back(kept == 0 ? members[i].begin : kept, members[i].end);
    }
    // The span of the last member may reach back over members that were removed as well.
    for (std::size_t i = 1; i < own.size();)
      if (own[i].first <= own[i - 1].first) {
        own[i - 1] = {own[i].first, own[i].second};
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(i));
        i = std::max<std::size_t>(i - 1, 1);
      } else {
        ++i;
      }
    spans_.insert(spans_.end(), own.begin(), own.end());
    std::ranges::sort(spans_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> removed_;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;
};

}  // namespace

std::optional<UnquantizedConfig> without_quantization(std::string_view config_json) {
  parse_small_json(config_json);
  return Remover(config_json).run();
}

bool is_quantization_file(std::string_view name) {
  return std::ranges::find(kStatingFiles, name) != std::end(kStatingFiles);
}

}  // namespace tare::resources
