// Names a model and states its size as llama.cpp's converter does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kNameOfModel = "general.name", kSizeLabel = "general.size_label";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// Words such as "v2", "v0.3" and "7b", which keep their case.
bool is_number_or_version(std::string_view word) {
  if (is_digit(word.front())) return true;
  if (word.front() != 'v' || word.size() < 2) return false;
  bool digit = false;
  for (const char c : word.substr(1)) {
    if (!is_digit(c) && (c != '.' || !digit)) return false;
    digit = is_digit(c);
  }
  return digit;
}

std::string titled(std::string word) {
  const bool small = std::ranges::any_of(word, is_small) && std::ranges::none_of(word, is_capital);
  if (!small || is_number_or_version(word)) return word;
  bool begins = true;
  for (char& c : word) {
    const bool letter = is_small(c);
    if (letter && begins) c = static_cast<char>(c - 'a' + 'A');
    begins = !letter && static_cast<unsigned char>(c) < 0x80;
  }
  return word;
}

// "1.2B": at least two digits.
std::string rounded(double count) {
  constexpr std::pair<double, char> kScales[] = {{1e12, 'T'}, {1e9, 'B'}, {1e6, 'M'}};
  double scale = 1e3;
  char letter = 'K';
  for (const auto& [size, name] : kScales)
    if (count > size) {
      scale = size;
      letter = name;
      break;
    }
  const double scaled = count / scale, whole = std::nearbyint(scaled);
  const int digits = whole == 0 ? 0 : static_cast<int>(fmt::format("{:.0f}", whole).size());
  return fmt::format("{:.{}f}{}", scaled, std::max(2 - digits, 0), letter);
}

// For a mixture: the number of experts, and the parameters of one expert plus everything else.
std::string size_label(const std::vector<Tensor>& tensors) {
  double total = 0, one = 0;
  std::uint64_t experts = 0, stacks = 0;
  for (const Tensor& tensor : tensors) {
    const auto count = static_cast<double>(tensor.shape.elements().value_or(0));
    if (tensor.name.find("_exps.") != std::string::npos && tensor.shape.rank() == 3 && tensor.shape[0] > 0) {
      one += std::floor(count / static_cast<double>(tensor.shape[0]));
      experts += tensor.shape[0];
      ++stacks;
    } else {
      total += count;
    }
  }
  return stacks > 0 ? fmt::format("{}x{}", experts / stacks, rounded(total + one)) : rounded(total);
}

}  // namespace

std::string general_name(const ConfigFile& config) {
  const Value* const said = config.find("_name_or_path");
  if (said == nullptr || said->text() == nullptr) return {};
  std::string_view id = *said->text();
  // A path in a file system does not name a model.
  if (std::ranges::count(id, '/') > 1 || id.starts_with('/') || id.starts_with('.')) return {};
  if (id.find(' ') == std::string_view::npos) id.remove_prefix(id.find('/') + 1);
  std::string name, word;
  const auto end_word = [&] {
    if (word.empty()) return;
    name += (name.empty() ? "" : " ") + titled(std::move(word));
    word.clear();
  };
  for (const char c : id)
    if (c == '-' || c == ' ' || (c >= '\t' && c <= '\r'))
      end_word();
    else
      word += c;
  end_word();
  return name;
}

void adopt_general(Model& model, const ConfigFile& config) {
  const auto set = [&](std::string_view key, std::string value) {
    if (!value.empty() && model.metadata.find(key) == nullptr)
      model.metadata.append(std::string(key), std::move(value));
  };
  set(kNameOfModel, general_name(config));
  set(kSizeLabel, size_label(model.tensors));
}

}  // namespace tare::gguf::llama_cpp
