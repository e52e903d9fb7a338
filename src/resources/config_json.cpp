// Converts between config.json and Config. Most families use the names of Config; arch/config_names.hpp lists the other
// names in use, and where newer files nest what older ones had at the top.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/config_names.hpp"
#include "arch/defaults.hpp"
#include "arch/model_types.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/config_file.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

template <typename T>
std::optional<T> read(const Value& value, const std::optional<T>& /*kind*/) {
  const T* const found = value.get<T>();
  return found == nullptr ? std::nullopt : std::optional(*found);
}
std::optional<double> read(const Value& value, const std::optional<double>& /*kind*/) { return number_of(value); }
std::optional<std::int64_t> read(const Value& value, const std::optional<std::int64_t>& /*kind*/) {
  if (const auto* const number = value.get<std::int64_t>()) return *number;
  // A whole number beyond int64 is not a plausible count.
  const auto* const number = value.get<double>();
  if (number == nullptr || std::fabs(*number) >= 0x1p53 || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool says(const Map& object, std::string_view key, bool word) {
  const bool* const found = get<bool>(object, key);
  return found != nullptr && *found == word;
}

// The beginning of a value, for a message.
std::string beginning_of(const Value& value) {
  constexpr std::size_t kMost = 40;
  std::string text = to_json(value, JsonKeys::sorted).substr(0, kMost);
  while (!is_valid_utf8(text)) text.pop_back();  // the cut was inside a character
  return text;
}

constexpr const char* name_of_kind(const std::optional<std::string>& /*kind*/) { return "a text"; }
constexpr const char* name_of_kind(const std::optional<bool>& /*kind*/) { return "true or false"; }
constexpr const char* name_of_kind(const std::optional<double>& /*kind*/) { return "a number"; }
constexpr const char* name_of_kind(const std::optional<std::int64_t>& /*kind*/) { return "a whole number"; }

class ConfigReader {
 public:
  // `type`: the model_type of the language model.
  ConfigReader(std::string_view type, std::vector<std::string>* ignored) : type_(type), ignored_(ignored) {}

  // Sets the fields that are not set yet.
  void take_all(const Map& object) {
    take_shared_heads(object);
    for (const arch::ConfigRow& row : arch::kConfigTable)
      for (const std::string_view key : row.keys)
        if (!key.empty() && arch::reads_key(type_, row, key)) take_missing(object, row.field, key);
    take_latent_heads(object);
  }
  // Reports names of fields that only other classes read, if the one that this class reads is missing: its default
  // counts.
  void report_strange_names(const Map& object) const {
    const Map fields = config_.to_map();
    for (const arch::ConfigRow& row : arch::kConfigTable)
      for (const std::string_view key : row.keys)
        if (!key.empty() && fields.find(row.field) == nullptr && !arch::reads_key(type_, row, key) &&
            find_path(object, key) != nullptr && !find_path(object, key)->is_null())
          ignored_->push_back(
              fmt::format("{}: expected {}, as {} models call it", key, row.keys.front(), quote(type_)));
  }
  // Sets the fields that a multimodal model has at the top.
  void take_top(const Map& config) {
    take_missing(config, "model_type", "model_type");
    for (const arch::ConfigRow& row : arch::kConfigTable)
      if (is_key_of_top(row.field)) take_missing(config, row.field, row.field);
  }
  Config config() const { return config_; }

 private:
  void take_missing(const Map& object, std::string_view field_name, std::string_view key) {
    const Value* const value = find_path(object, key);
    if (value == nullptr || value->is_null()) return;
    for (const ConfigField& field : config_fields())
      if (field.name == field_name) std::visit([&](auto member) { take(config_.*member, key, *value); }, field.member);
  }

  template <typename Field>
  void take(Field& field, std::string_view key, const Value& value) {
    if (field) return;
    field = read(value, field);
    if (!field && ignored_ != nullptr)
      ignored_->push_back(fmt::format("{0}: expected {2}, found {1}", key, beginning_of(value), name_of_kind(field)));
  }

  // Falcon and StarCoder use a flag, not a number, for one key and value shared by all heads; the flag overrides any
  // number. ChatGLM has a number that counts only with its flag.
  void take_shared_heads(const Map& object) {
    if (says(object, "multi_query", true) && !says(object, "new_decoder_architecture", true) &&
        !config_.num_key_value_heads)
      config_.num_key_value_heads = 1;
    if (says(object, "multi_query_attention", true))
      take_missing(object, "num_key_value_heads", "multi_query_group_num");
  }

  // DeepSeek's queries and keys have a rotated part and one that is not rotated; a head is both.
  void take_latent_heads(const Map& object) {
    std::int64_t sum = 0;
    for (const char* const part : {"qk_nope_head_dim", "qk_rope_head_dim"}) {
      const Value* const found = object.find(part);
      const auto size = found == nullptr ? std::nullopt : read(*found, config_.head_dim);
      if (!size || *size <= 0 || *size > INT32_MAX) return;
      sum += *size;
    }
    if (!config_.head_dim) config_.head_dim = sum;
  }

  std::string type_;
  Config config_;
  std::vector<std::string>* ignored_;
};

// Reports keys that a language part and config.json itself state differently. It is not known that only the part counts.
void tell_contradictions(const Map& part, const Map& top, std::vector<std::string>& ignored) {
  for (const arch::ConfigRow& row : arch::kConfigTable)
    for (const std::string_view key : row.keys) {
      if (key.empty() || key == "model_type" || is_key_of_top(key)) continue;
      const Value *const said = find_path(part, key), *const other = find_path(top, key);
      if (said != nullptr && other != nullptr && !other->is_null() && *said != *other)
        ignored.push_back(fmt::format("{}: expected {}, as the language part has it, found {} at the top", key,
                                      beginning_of(*said), beginning_of(*other)));
    }
}

// The vocabulary has these, if there is one.
constexpr std::string_view kIds[] = {"bos_token_id", "eos_token_id", "pad_token_id"};
// Keys that another field covers, or that describe the file.
constexpr std::string_view kElsewhere[] = {"transformers_version",  "_name_or_path",         "multi_query",
                                           "multi_query_attention", "multi_query_group_num", "use_sliding_window"};

// Whether the table has the path, or has paths that lead through it.
enum class Known : std::uint8_t { no, through, yes };
Known known(std::string_view path, bool has_vocabulary) {
  if (std::ranges::find(kElsewhere, path) != std::end(kElsewhere)) return Known::yes;
  if (has_vocabulary && std::ranges::find(kIds, path) != std::end(kIds)) return Known::yes;
  Known found = Known::no;
  for (const arch::ConfigRow& row : arch::kConfigTable)
    for (const std::string_view key : row.keys) {
      if (key.empty() || !key.starts_with(path)) continue;
      if (key.size() == path.size()) return Known::yes;
      if (key[path.size()] == '.') found = Known::through;
    }
  return found;
}

// Keys that affect training, generation or loading, but not the computation.
constexpr std::string_view kHarmless[] = {"architectures",
                                          "auto_map",
                                          "torch_dtype",
                                          "dtype",
                                          "use_cache",
                                          "initializer_factor",
                                          "pretraining_tp",
                                          "gradient_checkpointing",
                                          "output_attentions",
                                          "return_dict",
                                          "output_hidden_states",
                                          "output_router_logits",
                                          "torchscript",
                                          "use_bfloat16",
                                          "problem_type",
                                          "task_specific_params",
                                          "finetuning_task",
                                          "tokenizer_class",
                                          "chunk_size_feed_forward",
                                          "router_aux_loss_coef",
                                          "router_jitter_noise",
                                          "unsloth_version",
                                          "_attn_implementation",
                                          "attn_implementation",
                                          "max_length",
                                          "min_length",
                                          "do_sample",
                                          "early_stopping",
                                          "num_beams",
                                          "temperature",
                                          "top_k",
                                          "top_p",
                                          "repetition_penalty",
                                          "length_penalty",
                                          "_commit_hash",
                                          "summary_activation",
                                          "summary_first_dropout",
                                          "summary_proj_to_labels",
                                          "summary_type",
                                          "summary_use_proj"};

bool is_harmless(std::string_view key, const Value& value) {
  if (std::ranges::find(kHarmless, key) != std::end(kHarmless)) return true;
  // Only used in training; "attn_pdrop" and the like are GPT-2's.
  if (key.find("dropout") != key.npos || key.ends_with("pdrop") || key.ends_with("layerdrop")) return true;
  if (key == "rope_type" || key == "type") return value == "default";
  // False: there is no bias (or alibi), and no reader looks for one.
  return (key.ends_with("_bias") || key == "bias" || key == "alibi") && value == false;
}

bool is_language_part(std::string_view path) {
  return std::ranges::any_of(kLanguageParts, [&](std::string_view part) {
    return part.starts_with(path) && (part.size() == path.size() || part[path.size()] == '.');
  });
}

// Collects the keys of config.json that no field covers.
struct Unknown {
  bool has_vocabulary;
  std::vector<LostKey> keys = {};

  // `path` is where the table would have the object's keys, `shown` where they appear in the file.
  void collect(const Map& object, const std::string& path, const std::string& shown) {
    for (const Map::Entry* const entry : sorted_entries(object)) {
      const auto& [key, value] = *entry;
      const List* const list = value.get<List>();
      const Map* const inner = value.get<Map>();
      const Known state = known(path + key, has_vocabulary);
      if (value.is_null()) continue;
      if (has_vocabulary && key == "eos_token_id" && list != nullptr && list->size() > 1)
        keys.push_back({fmt::format("all but the first {}{}", shown, key)});
      if (state == Known::yes) continue;
      if (inner != nullptr && state == Known::through)
        collect(*inner, path + key + ".", shown + key + ".");
      else if (inner != nullptr && is_language_part(shown + key))
        collect(*inner, "", shown + key + ".");
      else
        keys.push_back({shown + key, !is_harmless(key, value)});
    }
  }
};

}  // namespace

Config parse_config(std::string_view text, std::vector<std::string>* ignored) {
  const Map root = parse_small_json(text);
  const ConfigFile file(root);
  ConfigReader reader(file.model_type(), ignored);
  const std::vector<const Map*> parts = language_parts(root);
  if (parts.front() != &root) reader.take_top(root);
  for (const Map* const part : parts) reader.take_all(*part);
  if (ignored != nullptr)
    for (const Map* const part : parts) reader.report_strange_names(*part);
  if (ignored != nullptr && parts.size() > 1) tell_contradictions(*parts.front(), root, *ignored);
  Config config = reader.config();
  // If several keys state it, the family decides which one is used.
  const Value* const theta = file.ropes().full.find("rope_theta");
  if (config.rope_theta && theta != nullptr && !arch::assumed_keys(file.model_type()).empty())
    config.rope_theta = number_of(*theta);
  // Some families state a window, and in another key whether it is used.
  if (const Value* const used = file.find("use_sliding_window"); used != nullptr && *used == false)
    config.sliding_window.reset();
  return config;
}

std::vector<LostKey> keys_beyond_config(std::string_view text, bool has_vocabulary) {
  Unknown unknown{has_vocabulary};
  unknown.collect(parse_small_json(text), "", "");
  return unknown.keys;
}

namespace {

// Renames the keys that readers of the model_type ignore, and adds flags that they require for a field.
void speak_for_type(const Config& config, Map& keys) {
  const std::string type = config.model_type.value_or("");
  const Map fields = config.to_map();
  for (const arch::TypeKey& row : arch::type_keys()) {
    const Value* const found = row.model_type == type ? keys.find(row.field) : nullptr;
    if (found == nullptr) continue;
    const Value value = *found;
    keys.erase(row.field);
    if (!row.key.empty()) keys.set(row.key, value);
  }
  for (const arch::TypeFlag& row : arch::type_flags())
    if (const Value* const found = row.is_of(type) ? fields.find(row.field) : nullptr)
      keys.set(row.key, row.tells == arch::Tells::is_stated || *found == Value(std::int64_t{1}));
}

}  // namespace

// Sorted keys, indented by two spaces, as the transformers library writes them.
std::string config_json(const Config& config, const Vocabulary& vocabulary) {
  Map keys = config.to_map();
  speak_for_type(config, keys);
  // A missing token is written as null: families have default ids, which may be outside of this vocabulary.
  if (!config.empty() && !vocabulary.tokens.empty())
    for (const auto& [key, id] : {std::pair("bos_token_id", vocabulary.bos), std::pair("eos_token_id", vocabulary.eos),
                                  std::pair("pad_token_id", vocabulary.pad)})
      keys.set(key, id < 0 ? Value() : Value(id));
  else if (!config.empty())
    keys.set("pad_token_id", Value());  // a family's default id could be outside of the embeddings
  return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
}

}  // namespace tare::resources
