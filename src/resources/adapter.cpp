#include "resources/adapter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/budget.hpp"
#include "base/glob.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/companion_files.hpp"
#include "resources/json_file.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kAdapterFile = "adapter_config.json";

struct PartName {
  std::string_view spelled;
  AdapterPart part;
};
constexpr PartName kPartNames[] = {{"lora_A", AdapterPart::a},
                                   {"lora_B", AdapterPart::b},
                                   {"lora_embedding_A", AdapterPart::embedding_a},
                                   {"lora_embedding_B", AdapterPart::embedding_b},
                                   {"lora_magnitude_vector", AdapterPart::magnitude}};
// Parts of other methods, and of variants of LoRA.
constexpr std::string_view kOtherParts[] = {
    "lora_E",    "ranknum", "hada_w1_a",       "hada_w1_b",     "hada_w2_a",     "hada_w2_b",
    "lokr_w1",   "lokr_w2", "ia3_l",           "oft_r",         "vera_A",        "prompt_embeddings",
    "lora_down", "lora_up", "original_module", "token_adapter", "vera_lambda_b", "vera_lambda_d"};

std::vector<std::string_view> split_at_dots(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t dot = name.find('.', at);
    parts.push_back(name.substr(at, dot - at));
    if (dot == std::string_view::npos) return parts;
    at = dot + 1;
  }
}

std::string joined(const std::vector<std::string_view>& parts, std::size_t count) {
  return fmt::format("{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count), "."));
}

[[noreturn]] void refuse_config(const std::string& sentence) {
  throw Error(ErrorKind::corrupt, "lora.config", sentence).in(kAdapterFile);
}

bool is_set(const Map& config, std::string_view key) {
  const Value* const value = config.find(key);
  if (value == nullptr || value->is_null()) return false;
  if (const bool* const said = value->get<bool>()) return *said;
  if (const List* const list = value->get<List>()) return !list->empty();
  if (const Map* const map = value->get<Map>()) return !map->empty();
  return true;
}

std::optional<double> positive_number(const Map& config, std::string_view key) {
  const Value* const value = config.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto number = number_of(*value);
  if (!number || !std::isfinite(*number) || *number < 0)
    refuse_config(fmt::format("\"{}\" is {}; expected a number that is not negative", key, to_json(*value)));
  return number;
}

// Null is not a number, nor is NaN, which Python's JSON allows.
double stated_number(const Map& config, std::string_view key) {
  const auto number = positive_number(config, key);
  if (!number) refuse_config(fmt::format("\"{}\" is null or NaN; expected a number that is not negative", key));
  return *number;
}

// Converts a regular expression over names to a glob; returns nothing if a glob cannot express it.
std::optional<std::string> glob_of(std::string_view pattern) {
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-')
      glob += c;
    else if (c == '\\' && next == '.')
      glob += pattern[++i];
    else if (c == '.' && (next == '*' || next == '+'))
      glob += pattern[++i] == '*' ? "*" : "?*";
    else if (c == '.')
      glob += '?';
    else
      return std::nullopt;
  }
  return glob;
}

// For a pattern without stars, which has the length of what it matches. Compares from the end: most names differ in the
// last letter. Adds the number of letters compared.
bool fits_end(std::string_view glob, std::string_view name, std::uint64_t& letters) {
  if (glob.size() > name.size()) return false;
  const std::string_view end = name.substr(name.size() - glob.size());
  for (std::size_t i = glob.size(); i-- > 0; ++letters)
    if (glob[i] != '?' && glob[i] != end[i]) return false;
  return true;
}

bool fits(const NamePattern& pattern, std::string_view name, std::uint64_t& letters) {
  const std::string& glob = *pattern.glob;
  if (pattern.starred) return glob_match(glob, name) || (!pattern.from_start && glob_match(pattern.glob_of_end, name));
  if (!fits_end(glob, name, letters)) return false;
  return glob.size() == name.size() || (!pattern.from_start && name[name.size() - glob.size() - 1] == '.');
}

constexpr std::uint64_t kLettersPerStep = 16;

NamePatterns patterns_at(const Map& config, std::string_view key) {
  std::vector<NamePattern> patterns;
  const Map* const map = get<Map>(config, key);
  if (map == nullptr && is_set(config, key)) refuse_config(fmt::format("\"{}\" is not an object", key));
  if (map == nullptr) return {};
  constexpr std::size_t kMostStarred = 256;  // each is compared with each layer, letter by letter
  std::size_t starred = 0;
  for (const auto& [pattern, value] : *map) {
    patterns.push_back(name_pattern(pattern, stated_number(*map, pattern)));
    if (patterns.back().starred && ++starred > kMostStarred)
      refuse_config(fmt::format("\"{}\" has more than {} patterns with .*", key, kMostStarred));
  }
  return NamePatterns(std::move(patterns));
}

// Returns why an adapter with this config does not just add a product of two matrices to the weights; empty if it does.
std::string reason_against(const Adapter& adapter, const Map& config) {
  if (adapter.method != "LORA") return fmt::format("its method is {}, and only LORA is merged", quote(adapter.method));
  constexpr std::pair<std::string_view, std::string_view> kVariants[] = {
      {"alora_invocation_tokens", "it is active after certain tokens only"},
      {"layer_replication", "it repeats layers of the model"},
      {"target_parameters", "it is for parameters that are not layers"},
      {"trainable_token_indices", "it replaces rows of the embeddings"},
      {"use_qalora", "its inputs are pooled (QA-LoRA)"},
      {"use_bdlora", "its matrices are block-diagonal"},
      {"arrow_config", "it chooses among other adapters for every token"},
      {"megatron_config", "its layers are split over processes"}};
  for (const auto& [key, why] : kVariants)
    if (is_set(config, key)) return std::string(why);
  // These initializations change the weights of the base model, and the adapter alone does not record how.
  if (const std::string* const begun = get<std::string>(config, "init_lora_weights"))
    for (const std::string_view name : {"pissa", "olora", "corda"})
      if (begun->starts_with(name))
        return fmt::format(
            "it was initialized with {}, which changes the weights of the model as well; have PEFT convert it",
            quote(*begun));
  return {};
}

void read_config(const Blob& file, Adapter& adapter) {
  Map config;
  try {
    const Bytes bytes = file.bytes(kMaxSmallBytes);
    config = parse_small_json(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    refuse_config(error.sentence());
  }
  adapter.configured = get<std::string>(config, "peft_type") != nullptr;
  if (adapter.configured) adapter.method = *get<std::string>(config, "peft_type");
  if (const std::string* const base = get<std::string>(config, "base_model_name_or_path")) adapter.base = *base;
  if (const auto rank = positive_number(config, "r")) {
    const bool fits = *rank >= 1 && *rank < 0x1p32 && *rank == std::floor(*rank);
    if (fits) adapter.rank = static_cast<std::uint64_t>(*rank);
    if (!fits && adapter.method == "LORA")
      refuse_config(fmt::format("\"r\" is {}; a rank is a whole number of at least 1", to_json(*config.find("r"))));
  }
  adapter.rank_stated = adapter.rank.has_value();
  if (config.find("lora_alpha") != nullptr) adapter.alpha = stated_number(config, "lora_alpha");
  adapter.rank_stabilised = is_set(config, "use_rslora");
  adapter.weight_decomposed = is_set(config, "use_dora");
  adapter.fan_in_fan_out = is_set(config, "fan_in_fan_out");
  adapter.rank_pattern = patterns_at(config, "rank_pattern");
  adapter.alpha_pattern = patterns_at(config, "alpha_pattern");
  if (const List* const targets = get<List>(config, "target_modules"))
    for (const Value& target : *targets)
      if (target.text() != nullptr) adapter.targets.push_back(*target.text());
  std::ranges::sort(adapter.targets);
  adapter.unmergeable = reason_against(adapter, config);
}

}  // namespace

NamePattern name_pattern(const std::string& text, double number) {
  NamePattern pattern;
  pattern.text = text;
  pattern.number = number;
  std::string_view body = text;
  pattern.from_start = body.starts_with('^');
  if (pattern.from_start) body.remove_prefix(1);
  if (body.ends_with('$')) body.remove_suffix(1);
  pattern.glob = glob_of(body);
  pattern.starred = pattern.glob && pattern.glob->find('*') != std::string::npos;
  if (pattern.starred) pattern.glob_of_end = "*." + *pattern.glob;
  return pattern;
}

AdapterName parse_adapter_name(std::string_view name) {
  constexpr std::string_view kWrapped = "base_model.model.";
  if (name.starts_with(kWrapped)) name.remove_prefix(kWrapped.size());
  for (const auto& [end, part] :
       {std::pair(".weight.lora_a", AdapterPart::a), std::pair(".weight.lora_b", AdapterPart::b)})
    if (name.ends_with(end)) return {std::string(name.substr(0, name.size() - std::string_view(end).size())), part};
  std::vector<std::string_view> parts = split_at_dots(name);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (std::ranges::find(kOtherParts, parts[i]) != std::end(kOtherParts))
      return {std::string(name), AdapterPart::unknown};
    const auto found = std::ranges::find(kPartNames, parts[i], &PartName::spelled);
    if (found == std::end(kPartNames)) continue;
    // .lora_A[.ADAPTER][.weight]
    const std::size_t behind = parts.size() - i - 1;
    const bool bias = behind > 0 && parts.back() == "bias";
    if (i == 0 || behind > 2 || (behind == 2 && !bias && parts.back() != "weight") ||
        (bias && found->part != AdapterPart::b))
      return {std::string(name), AdapterPart::unknown};
    return {joined(parts, i), bias ? AdapterPart::b_bias : found->part};
  }
  // X.modules_to_save[.ADAPTER].weight, X.base_layer.weight
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool saved = parts[i] == "modules_to_save";
    if (!saved && parts[i] != "base_layer") continue;
    const std::size_t gone = saved && i + 2 < parts.size() && parts[i + 1] == "default" ? 2 : 1;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i), parts.begin() + static_cast<std::ptrdiff_t>(i + gone));
    break;
  }
  return {joined(parts, parts.size()), AdapterPart::whole};
}

NamePatterns::NamePatterns(std::vector<NamePattern> patterns) : patterns_(std::move(patterns)) {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    const NamePattern& pattern = patterns_[i];
    if (pattern.glob && pattern.glob->find_first_of("*?") == std::string::npos)
      (pattern.from_start ? wholes_ : ends_).emplace(*pattern.glob, i);
    else
      others_.push_back(i);
  }
}

// Returns the index of the first pattern without wildcards that matches, or the number of patterns if there is none.
std::size_t NamePatterns::find_name(std::string_view layer) const {
  std::size_t first = patterns_.size();
  const auto look = [&](const NameMap<std::size_t>& names, std::string_view name) {
    if (names.empty()) return;
    charge_steps(1 + name.size() / kLettersPerStep);  // a name of many parts is hashed once for each
    if (const auto found = names.find(name); found != names.end()) first = std::min(first, found->second);
  };
  look(wholes_, layer);
  look(ends_, layer);
  for (std::size_t dot = layer.find('.'); dot != std::string_view::npos; dot = layer.find('.', dot + 1))
    look(ends_, layer.substr(dot + 1));
  return first;
}

std::optional<double> NamePatterns::number_for(std::string_view layer) const {
  const std::size_t named = find_name(layer);
  std::uint64_t letters = 0;
  for (const std::size_t i : others_) {
    if (i > named) break;
    const NamePattern& pattern = patterns_[i];
    if (!pattern.glob)
      throw Error(ErrorKind::unsupported, "lora.pattern",
                  fmt::format("the pattern \"{}\" is a regular expression of more than names and .*, which is not "
                              "evaluated",
                              quote(pattern.text)))
          .in(kAdapterFile);
    constexpr std::uint64_t kVisit = 4;  // to look at a pattern takes as long as to compare four letters
    letters += kVisit;
    const bool found = fits(pattern, layer, letters);
    if (letters >= kLettersPerStep) charge_steps(letters / kLettersPerStep);
    letters %= kLettersPerStep;
    if (found) return pattern.number;
  }
  return named < patterns_.size() ? std::optional(patterns_[named].number) : std::nullopt;
}

std::optional<Adapter> find_adapter(const Model& model) {
  const auto is_part = [](const Tensor& tensor) { return tensor.name.find("lora_") != std::string::npos; };
  const bool parts = std::ranges::any_of(model.tensors, is_part);
  // An adapter_config.json next to other weights does not describe them.
  if (!parts && model.attachment(kAdapterFile) == nullptr) return std::nullopt;
  const std::optional<Blob> file = file_of(model, kAdapterFile);
  Adapter adapter;
  NameSet layers;
  std::uint64_t first_rank = 0;
  for (const Tensor& tensor : model.tensors) {
    const AdapterName name = parse_adapter_name(tensor.name);
    if (name.part == AdapterPart::whole || name.part == AdapterPart::unknown) {
      adapter.whole += name.part == AdapterPart::whole ? 1 : 0;
      continue;
    }
    layers.insert(name.module);
    if ((name.part == AdapterPart::a || name.part == AdapterPart::embedding_a) && first_rank == 0 &&
        !tensor.shape.empty())
      first_rank = tensor.shape[0];
  }
  adapter.layers = layers.size();
  if (file) read_config(*file, adapter);
  if (!adapter.configured && adapter.layers == 0) return std::nullopt;
  if (!adapter.rank && first_rank != 0) adapter.rank = first_rank;
  return adapter;
}

std::optional<Blob> adapter_config(const Model& model) { return file_of(model, kAdapterFile); }

std::optional<TextModel> text_model(const Model& model) {
  const std::optional<Blob> file = file_of(model, "config.json");
  if (!file || file->size() > kMaxSmallBytes) return std::nullopt;
  try {
    const Bytes bytes = file->bytes(kMaxSmallBytes);
    const Map config = parse_small_json(as_text(bytes));
    TextModel found;
    const Map* const text = get<Map>(config, "text_config");
    for (const Map* const place : {&config, text})
      if (const bool* const said = place == nullptr ? nullptr : get<bool>(*place, "tie_word_embeddings"))
        found.tied = found.tied.value_or(*said);
    const List* const names = get<List>(config, "architectures");
    found.generates = names != nullptr && std::ranges::any_of(*names, [](const Value& name) {
                        const std::string* const said = name.text();
                        return said != nullptr && (said->ends_with("ForCausalLM") || said->ends_with("LMHeadModel") ||
                                                   said->ends_with("ForConditionalGeneration"));
                      });
    return found;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;  // the reader of the file reports that it does not parse
  }
}

double Adapter::alpha_for(std::string_view layer) const { return alpha_pattern.number_for(layer).value_or(alpha); }

std::string Adapter::text() const {
  std::string words = method == "LORA" ? "LoRA adapter" : fmt::format("{} adapter", quote(method));
  if (!base.empty()) words += fmt::format(" for {}", quote(base));
  std::vector<std::string> facts;
  if (rank) facts.push_back(fmt::format("rank {}", *rank));
  if (configured && method == "LORA") facts.push_back(fmt::format("alpha {}", alpha));
  if (rank_stabilised) facts.push_back("rank-stabilised");
  if (weight_decomposed) facts.push_back("DoRA");
  if (layers > 0) {
    constexpr std::size_t kShown = 8;
    std::vector<std::string> named;
    for (std::size_t i = 0; i < std::min(kShown, targets.size()); ++i) named.push_back(quote(targets[i]));
    if (targets.size() > kShown) named.push_back("...");
    facts.push_back(fmt::format("{} layer{}{}", layers, layers == 1 ? "" : "s",
                                named.empty() ? "" : fmt::format(" ({})", fmt::join(named, ", "))));
  }
  if (whole > 0) facts.push_back(fmt::format("{} whole tensor{}", whole, whole == 1 ? "" : "s"));
  return facts.empty() ? words : fmt::format("{}: {}", words, fmt::join(facts, ", "));
}

}  // namespace tare::resources
