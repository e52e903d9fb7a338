// How byte-level tokenizers split a text, by llama.cpp's names.
#include <algorithm>

#include "formats/gguf/llama_cpp/conventions.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf::llama_cpp {
namespace {

struct Cuts {
  std::string_view group;
  // As in TokenizerRules, with \r and \n for the characters themselves.
  std::array<std::string_view, 6> steps;
};

constexpr Cuts
    kPreCuts[] =
        {
            {"llama",
             {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
            {"qwen2",
             {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
            {"qwen35",
             {R"(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
            {"gpt-2", {"bytes"}},
            {"digits", {"digits one by one", "bytes"}},
            {"tekken",
             {R"(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
            {"gpt-4o",
             {R"(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
            {"deepseek-v3",
             {R"(split \p{N}{1,3})", "split [\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
              "split "
              "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
              "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
            {"deepseek-llm",
             {R"cut(split [\r\n])cut",
              R"cut(split \s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)cut",
              R"cut(split \s?[!-/:-~！-／：-～‘-‟　-。]+)cut", R"cut(split \s+$)cut",
              R"cut(split [一-龥ࠀ-一가-퟿]+)cut", "digits one by one"}},
            {"deepseek-coder",
             {R"cut(split [\r\n])cut", R"cut(split \s?\p{L}+)cut", R"cut(split \s?\p{P}+)cut",
              R"cut(split [一-龥ࠀ-一가-퟿]+)cut", "digits one by one"}},
            {"bloom", {R"cut(split  ?[^(\s|[.,!?…。，、।۔،])]+)cut"}},
            {"viking", {"digits one by one", R"cut(split  ?[^(\s|[.,!?…。，、।۔،])]+)cut"}},
            {"bailingmoe",
             {R"cut(split '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)cut"}},
            {"seed-coder",
             {R"cut(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)cut"}},
            {"minicpm5",
             {R"cut(split \p{N}{1,3})cut",
              R"cut(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)cut"}},
            {"exaone-moe",
             {R"cut(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)cut"}},
            {"jais-2",
             {R"cut(split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})cut"}},
            {"tiny_aya",
             {R"cut(split \d{1,3}(?=(?:\d{3})*\b))cut",
              R"cut(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)cut"}},
            {"youtu",
             {R"cut(split [가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)cut", R"cut(split [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)cut"}},
};

// A name implies more than how text is split: two names with the same cuts are not the same tokenizer. Facts from
// llama.cpp b21e4de745.
struct PreTokenizer {
  std::string_view name, group;
  PreFlags flags = {};
  // The model_type of the models that the name was made for; llama.cpp's converter gives them no other.
  std::array<std::string_view, 3> models = {};
};

// If several names have the same cuts and flags, the first is written for models without a name of their own. It is
// also used if a tokenizer does not define how blanks are handled.
constexpr PreFlags kPrePlain = {}, kPreWhole = {.ignores_merges = true, .begins = true},
                   kPreBlanks = {.keeps_blanks = true};
constexpr PreTokenizer kPreTokenizers[] = {
    {"llama-bpe", "llama", kPreWhole},
    {"llama3", "llama", kPreWhole},
    {"llama-v3", "llama", kPreWhole},
    {"falcon3", "llama", kPreWhole},
    {"falcon-h1", "llama", kPreWhole, {"falcon_h1"}},
    {"pixtral", "llama", kPreWhole, {"pixtral"}},
    {"midm-2.0", "llama", kPreWhole},
    {"lfm2", "llama", kPreWhole, {"lfm2", "lfm2_moe", "lfm2_vl"}},
    {"jina-v5-nano", "llama", kPreWhole},
    {"dbrx", "llama", kPrePlain, {"dbrx", "olmo2", "olmo3"}},
    {"smaug-bpe", "llama"},
    {"glm4", "llama", kPrePlain, {"glm4", "glm4_moe"}},
    {"chatglm-bpe", "llama", kPrePlain, {"chatglm"}},
    {"qwen2", "qwen2", kPreBlanks},
    {"deepseek-r1-qwen", "qwen2", kPreBlanks},
    {"kormo", "qwen2", kPreBlanks},
    {"f2llmv2", "qwen2", kPreBlanks},
    {"hunyuan", "qwen2", kPreBlanks, {"hunyuan_v1_moe"}},
    {"solar-open", "qwen2", kPreBlanks, {"solar_open"}},
    {"grok-2", "qwen2", kPreBlanks},
    {"stablelm2", "qwen2", kPrePlain, {"stablelm"}},
    {"megrez", "qwen2"},
    {"qwen35", "qwen35", kPreBlanks},
    {"gpt-2", "gpt-2", kPrePlain, {"gpt2"}},
    {"phi-2", "gpt-2", kPrePlain, {"phi"}},
    {"mpt", "gpt-2", kPrePlain, {"mpt"}},
    {"olmo", "gpt-2", kPrePlain, {"olmo"}},
    {"jais", "gpt-2", kPrePlain, {"jais"}},
    {"exaone4", "gpt-2", kPrePlain, {"exaone4"}},
    {"modern-bert", "gpt-2", kPrePlain, {"modernbert"}},
    {"gigachat", "gpt-2"},
    {"mellum", "gpt-2"},
    {"a.x-4.0", "gpt-2"},
    {"jina-es", "gpt-2"},
    {"jina-de", "gpt-2"},
    {"jina-v2-es", "gpt-2"},
    {"jina-v2-de", "gpt-2"},
    {"jina-v1-en", "gpt-2"},
    {"jina-v2-code", "gpt-2"},
    {"roberta-bpe", "gpt-2", kPrePlain, {"roberta"}},
    {"trillion", "gpt-2", kPreBlanks},
    {"granite-docling", "gpt-2", kPreBlanks},
    {"smollm", "digits", kPreBlanks},
    {"command-r", "digits", kPreBlanks, {"cohere", "cohere2"}},
    {"starcoder", "digits", kPrePlain, {"starcoder2", "gpt_bigcode"}},
    {"refact", "digits", kPrePlain, {"refact", "gpt_refact"}},
    {"codeshell", "digits", kPrePlain, {"codeshell", "kclgpt"}},
    {"exaone", "digits", kPrePlain, {"exaone"}},
    {"minerva-7b", "digits"},
    {"mellum2", "digits", kPrePlain, {"mellum2"}},
    {"tekken", "tekken", {.ignores_merges = true, .begins = true, .keeps_blanks = true}},
    {"gpt-4o", "gpt-4o", kPreBlanks},
    {"llama4", "gpt-4o", kPreBlanks, {"llama4", "llama4_text"}},
    {"kanana2", "gpt-4o", kPreBlanks},
    {"talkie", "gpt-4o", kPreBlanks},
    {"minimax-m2", "gpt-4o", kPreBlanks, {"minimax_m2"}},
    {"deepseek-v3", "deepseek-v3", kPreBlanks},
    {"hunyuan-dense", "deepseek-v3", kPreBlanks, {"hunyuan_v1_dense"}},
    {"joyai-llm", "deepseek-v3", kPreBlanks},
    {"deepseek-llm", "deepseek-llm", kPreBlanks, {"deepseek_v2"}},
    {"deepseek-coder", "deepseek-coder", kPreBlanks},
    {"bloom", "bloom", kPrePlain, {"bloom"}},
    {"gpt3-finnish", "bloom"},
    {"poro-chat", "bloom", kPreBlanks},
    {"viking", "viking", kPreBlanks},
    {"bailingmoe", "bailingmoe", kPreBlanks},
    {"bailingmoe2", "bailingmoe", kPreBlanks},
    {"llada-moe", "bailingmoe", kPreBlanks},
    {"seed-coder", "seed-coder", kPreBlanks},
    {"minicpm5", "minicpm5", {.ignores_merges = true}},
    {"exaone-moe", "exaone-moe", kPrePlain, {"exaone_moe"}},
    {"jais-2", "jais-2", kPrePlain, {"jais2"}},
    {"tiny_aya", "tiny_aya", kPreBlanks},
    {"cohere2moe", "tiny_aya", kPreBlanks},
    {"youtu", "youtu", {.ignores_merges = true, .keeps_blanks = true}},
};

std::vector<std::string> steps_of(const Cuts& row) {
  std::vector<std::string> steps;
  for (const std::string_view step : row.steps)
    if (!step.empty()) steps.emplace_back(step);
  return steps;
}

// Files spell the ends of lines in a regular expression as escapes or as the characters themselves (DeepSeek, Seed).
std::vector<std::string> with_escapes(const std::vector<std::string>& cuts) {
  std::vector<std::string> escaped;
  for (const std::string& cut : cuts) {
    std::string text;
    for (const char c : cut) text += c == '\r' ? "\\r" : c == '\n' ? "\\n" : std::string(1, c);
    escaped.push_back(std::move(text));
  }
  return escaped;
}

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto found = std::ranges::find(kPreTokenizers, name, &PreTokenizer::name);
  return found == std::end(kPreTokenizers) ? nullptr : found;
}

}  // namespace

std::string_view pre_tokenizer_of(const TokenizerTraits& traits) {
  const std::vector<std::string> cuts = with_escapes(traits.cuts);
  const auto group = std::ranges::find_if(kPreCuts, [&](const Cuts& row) { return steps_of(row) == cuts; });
  if (group == std::end(kPreCuts)) return {};
  // The tokens that a text becomes matter more than how they become text again.
  const auto fit = [&](const PreTokenizer& row) {
    const bool own = !traits.model_type.empty() && std::ranges::find(row.models, traits.model_type) != row.models.end();
    return (row.flags.ignores_merges == traits.ignores_merges ? 4 : 0) + (own ? 2 : 0) +
           (traits.keeps_blanks == row.flags.keeps_blanks ? 1 : 0);
  };
  const PreTokenizer* best = nullptr;
  for (const PreTokenizer& row : kPreTokenizers)
    if (row.group == group->group && (best == nullptr || fit(row) > fit(*best))) best = &row;
  return best->name;
}

std::optional<std::vector<std::string>> cuts_of(std::string_view name) {
  const PreTokenizer* const row = find_pre_tokenizer(name);
  if (row == nullptr) return std::nullopt;
  return steps_of(*std::ranges::find(kPreCuts, row->group, &Cuts::group));
}

std::optional<PreFlags> flags_of(std::string_view name) {
  const PreTokenizer* const row = find_pre_tokenizer(name);
  return row == nullptr ? std::nullopt : std::optional(row->flags);
}

TokenizerTraits traits_of(const resources::TokenizerRules* rules, const Map* settings, const Config& config) {
  TokenizerTraits traits{.cuts = rules != nullptr ? rules->cuts : std::vector<std::string>{"bytes"},
                         .ignores_merges = rules != nullptr && rules->ignores_merges,
                         .model_type = config.model_type.value_or("")};
  if (const bool* const cleans =
          settings != nullptr ? resources::get<bool>(*settings, "clean_up_tokenization_spaces") : nullptr)
    traits.keeps_blanks = !*cleans;
  return traits;
}

std::vector<std::string_view> pre_tokenizers() {
  std::vector<std::string_view> names;
  for (const PreTokenizer& row : kPreTokenizers) names.push_back(row.name);
  return names;
}

}  // namespace tare::gguf::llama_cpp
