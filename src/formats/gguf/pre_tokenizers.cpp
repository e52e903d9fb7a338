// How byte-level tokenizers cut a text, by the names that llama.cpp has for it.
#include <algorithm>

#include "formats/gguf/conventions.hpp"

namespace tare::gguf {
namespace {

struct PreTokenizer {
  std::string_view name;
  std::array<std::string_view, 3> cuts;  // as in TokenizerRules
};

// The first of equal ones is written.
constexpr PreTokenizer kPreTokenizers[] = {
    {"llama-bpe",
     {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"qwen2",
     {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"qwen35",
     {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"gpt-2", {"bytes"}},
    {"starcoder", {"digits one by one", "bytes"}},
    {"tekken",
     {R"(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"gpt-4o",
     {R"(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
    {"deepseek-v3",
     {R"(split \p{N}{1,3})", "split [\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
      "split [!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
      "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
};

// Names for the same way to cut, of programs that the vocabulary comes from.
struct Alias {
  std::string_view name, same_as;
};
constexpr Alias kAliases[] = {
    {"llama3", "llama-bpe"}, {"llama-v3", "llama-bpe"},  {"dbrx", "llama-bpe"},   {"smaug-bpe", "llama-bpe"},
    {"glm4", "llama-bpe"},   {"stablelm2", "qwen2"},     {"hunyuan", "qwen2"},    {"deepseek-r1-qwen", "qwen2"},
    {"megrez", "qwen2"},     {"mpt", "gpt-2"},           {"olmo", "gpt-2"},       {"jais", "gpt-2"},
    {"phi-2", "gpt-2"},      {"roberta-bpe", "gpt-2"},   {"refact", "starcoder"}, {"command-r", "starcoder"},
    {"smollm", "starcoder"}, {"codeshell", "starcoder"}, {"exaone", "starcoder"}, {"llama4", "gpt-4o"}};

std::vector<std::string> cuts_in(const PreTokenizer& row) {
  std::vector<std::string> cuts;
  for (const std::string_view cut : row.cuts)
    if (!cut.empty()) cuts.emplace_back(cut);
  return cuts;
}

}  // namespace

std::string_view pre_tokenizer_of(const std::vector<std::string>& cuts) {
  const auto found =
      std::ranges::find_if(kPreTokenizers, [&](const PreTokenizer& row) { return cuts_in(row) == cuts; });
  return found == std::end(kPreTokenizers) ? std::string_view() : found->name;
}

std::optional<std::vector<std::string>> cuts_of(std::string_view name) {
  if (const auto alias = std::ranges::find(kAliases, name, &Alias::name); alias != std::end(kAliases))
    name = alias->same_as;
  const auto found = std::ranges::find(kPreTokenizers, name, &PreTokenizer::name);
  if (found == std::end(kPreTokenizers)) return std::nullopt;
  return cuts_in(*found);
}

}  // namespace tare::gguf
