#include "options/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "model/dtype_option.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

constexpr std::pair<std::string_view, Overflow> kOverflows[] = {
    {"error", Overflow::refuse}, {"clamp", Overflow::clamp}, {"infinity", Overflow::infinity}};

}  // namespace

std::string keyword_of(const Option& option) {
  std::string keyword(option.python.empty() ? option.name : option.python);
  std::ranges::replace(keyword, '-', '_');
  return keyword;
}

Words writable_format_words() {
  Words words;
  for (const Format& format : formats())
    if (is_writable(format)) words.emplace_back(format.name);
  return words;
}

Words dtype_words() {
  Words words;
  for (const DType type : kAllDTypes) words.emplace_back(name_of(type));
  return words;
}

Words dialect_words() {
  Words words;
  for (const Format& format : formats())
    for (const std::string_view dialect : format.holds.dialects)
      if (std::find(words.begin(), words.end(), dialect) == words.end()) words.emplace_back(dialect);
  return words;
}

Words quant_words() {
  Words words;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      const std::string full = fmt::format("{}{}", codec.name.substr(0, codec.name.find('.') + 1), method);
      if (find_codec_by_method(method) == &codec) words.emplace_back(method);
      if (find_codec_by_method(full) == &codec && full != method) words.push_back(full);
    }
  for (const Mix& mix : mixes())
    if (std::find(words.begin(), words.end(), mix.name) == words.end()) words.emplace_back(mix.name);
  return words;
}

Words method_words() {
  Words words = quant_words();
  for (const DType type : kAllDTypes)
    if (is_float(type)) words.emplace_back(name_of(type));
  words.emplace_back(kKeep);
  return words;
}

std::string why_not_written(std::string_view method) {
  const std::string lower = lower_case(std::string(method));
  for (const Codec& codec : codecs()) {
    const std::size_t dot = codec.name.find('.');
    if (dot == codec.name.npos || codec.name.substr(dot + 1) != lower || codec.encode != nullptr) continue;
    const bool of_ggml = codec.name.starts_with("ggml.");
    return fmt::format("Tare reads {} but does not write it{}", lower,
                       of_ggml ? ": ggml has it for activations, not for weights" : "");
  }
  return {};
}

Words names_words() { return {"keep"}; }

Words drop_words() {
  Words words;
  for (const ModelPart part : kModelParts) words.emplace_back(name_of(part));
  return words;
}

Words digest_words() {
  Words words{std::string(name_of(DigestAlgorithm::none))};
  for (const auto algorithm :
       {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128})
    words.emplace_back(name_of(algorithm));
  return words;
}

Words overflow_words() {
  Words words;
  for (const auto& [word, overflow] : kOverflows) words.emplace_back(word);
  return words;
}

std::optional<Overflow> parse_overflow(std::string_view word) {
  for (const auto& [known, overflow] : kOverflows)
    if (known == word) return overflow;
  return std::nullopt;
}

std::string dtype_spelling(const std::string& value) {
  const auto type = parse_dtype_option(value);
  if (type) return std::string(name_of(*type));
  const auto near = nearest(value, dtype_spellings(), 1);
  return near.empty() ? value : near.front();
}

}  // namespace tare
