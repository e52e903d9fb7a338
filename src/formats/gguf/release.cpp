// From llama.cpp's conventions back to Hugging Face's: the tensors, and the files that say the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/qk_rows.hpp"
#include "base/json_writer.hpp"
#include "formats/gguf/conventions.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf {
namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;

// The role of one expert's tensor, for that of all.
std::optional<Role> unstacked(Role role) {
  switch (role) {
    case Role::stacked_gate: return Role::expert_gate;
    case Role::stacked_up: return Role::expert_up;
    case Role::stacked_down: return Role::expert_down;
    default: return std::nullopt;
  }
}

bool is_rope_table(Role role) {
  return role == Role::rope_factors || role == Role::rope_factors_long || role == Role::rope_factors_short;
}

class TensorReleaser {
 public:
  TensorReleaser(Model& model, const arch::Family& family, std::vector<Change>& changes, std::vector<Renamed>& renamed)
      : model_(model), family_(family), changes_(changes), renamed_(renamed) {}

  void run() {
    std::vector<std::string> strangers;
    for (const Tensor& tensor : model_.tensors)
      if (!arch::parse(family_, Dialect::gguf, tensor.name)) strangers.push_back(escape_name(tensor.name));
    if (!strangers.empty())
      throw Error(ErrorKind::unsupported, "convert.names",
                  fmt::format("what the tensors {} of a {} model are called elsewhere is not known",
                              fmt::join(strangers, ", "), family_.name))
          .remedy(Remedy::keep_names);
    for (Tensor& tensor : model_.tensors) {
      const TensorName name = *arch::parse(family_, Dialect::gguf, tensor.name);
      if (!is_rope_table(name.role)) add(std::move(tensor), name);
    }
    model_.tensors = std::move(out_);
    changes_.push_back(
        {.impact = Impact::detail,
         .detail = fmt::format("{} tensors have Hugging Face's names and order of rows", model_.tensors.size())});
  }

 private:
  void add(Tensor tensor, TensorName name) {
    restore(tensor, name);
    // Experts one by one, which every version of the libraries takes.
    const auto single = unstacked(name.role);
    const auto spelled = arch::spell(family_, Dialect::hugging_face, name);
    if (!single && spelled) {
      renamed_.push_back({tensor.name, *spelled});
      tensor.name = *spelled;
      return out_.push_back(std::move(tensor));
    }
    if (!single || tensor.shape.rank() != 3)
      throw Error(ErrorKind::unsupported, "convert.names",
                  fmt::format("Hugging Face's name for {} is not known", escape_name(tensor.name)))
          .remedy(Remedy::keep_names);
    name.role = *single;
    tensor = to_dense(tensor);
    for (std::uint64_t expert = 0; expert < tensor.shape[0]; ++expert) {
      Tensor one = slice(tensor, parse_slice(fmt::format("{}", expert)));
      name.expert = static_cast<std::uint32_t>(expert);
      one.name = arch::spell(family_, Dialect::hugging_face, name).value();
      renamed_.push_back({tensor.name, one.name});
      out_.push_back(std::move(one));
    }
  }

  // Values that rounding has changed, unless somebody else has changed them since.
  void restore_rounded(Tensor& tensor, std::vector<float>& values) const {
    const Value* const kept = tensor.attributes.find(kRounded);
    const List* const pairs = kept == nullptr ? nullptr : kept->get<List>();
    for (std::size_t i = 0; pairs != nullptr && i + 1 < pairs->size(); i += 2) {
      const auto* const place = (*pairs)[i].get<std::int64_t>();
      const auto* const value = (*pairs)[i + 1].get<double>();
      if (place == nullptr || value == nullptr || *place < 0 || static_cast<std::size_t>(*place) >= values.size())
        continue;
      float& now = values[static_cast<std::size_t>(*place)];
      const auto exact = static_cast<float>(*value);
      if (exact + family_.norm_shift - family_.norm_shift == now) now = exact;
    }
    tensor.attributes.erase(kRounded);
  }

  void restore(Tensor& tensor, const TensorName& name) {
    const arch::QkOrder from = arch::qk_order(family_, Dialect::gguf),
                        to = arch::qk_order(family_, Dialect::hugging_face);
    const bool moves = from != to && (name.role == Role::q || name.role == Role::k);
    const auto heads = arch::rotated_heads(name.role, model_.config);
    if (moves && !heads)
      throw Error(ErrorKind::unsupported, "convert.names",
                  "the number of heads, which determines the row order of q and k, is unknown")
          .about("tensor " + escape_name(tensor.name))
          .remedy(Remedy::keep_names);
    if (moves) {
      if (tensor.is_dense())
        tensor = arch::reorder_qk(tensor, *heads, to);
      else if (!tensor.shape.empty())
        tensor.components.front().blob = arch::reorder_qk(tensor.components.front().blob, tensor.shape[0], *heads, to);
    }
    if (arch::is_norm(name.role) && family_.norm_shift != 0 && name.suffix == arch::Suffix::weight &&
        tensor.is_dense()) {
      std::vector<float> values = tensor.values<float>();
      for (float& value : values) value -= family_.norm_shift;
      restore_rounded(tensor, values);
      Map attributes = std::move(tensor.attributes);
      tensor = dense<float>(tensor.name, tensor.shape, values);
      tensor.attributes = std::move(attributes);
    }
    const Value* const was = tensor.attributes.find(kWasType);
    const auto type = was == nullptr || was->text() == nullptr ? std::nullopt : parse_dtype(*was->text());
    if (type && is_float(*type) && tensor.is_dense()) {
      Map attributes = std::move(tensor.attributes);
      attributes.erase(kWasType);
      tensor = cast(tensor, *type);
      tensor.attributes = std::move(attributes);
    }
  }

  Model& model_;
  const arch::Family& family_;
  std::vector<Change>& changes_;
  std::vector<Renamed>& renamed_;
  std::vector<Tensor> out_;
};

// ---- files ----

class FileReleaser {
 public:
  FileReleaser(Model& model, const arch::Family& family, std::vector<Change>& changes)
      : model_(model), family_(family), changes_(changes) {}

  void run() {
    if (model_.attachment("config.json") == nullptr && !model_.config.empty()) attach("config.json", config_json());
    const bool has_tokenizer = std::ranges::any_of(
        model_.attachments, [](const Attachment& file) { return resources::holds_vocabulary(file.name); });
    if (has_tokenizer || model_.vocabulary.tokens.empty()) return;
    const resources::TokenizerRules rules = tokenizer_rules();
    attach("tokenizer.json", resources::tokenizer_json(model_.vocabulary, &rules));
    attach("tokenizer_config.json", tokenizer_config());
  }

 private:
  void attach(std::string name, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    model_.attachments.push_back({std::move(name), Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  }

  const Value* key(std::string_view name) const { return model_.metadata.find(key_of(family_, name)); }
  std::optional<double> number(std::string_view name) const {
    const Value* const found = key(name);
    return found == nullptr ? std::nullopt : resources::number_of(*found);
  }
  bool flag(std::string_view full_key, bool otherwise) const {
    const Value* const found = model_.metadata.find(full_key);
    return found != nullptr && found->get<bool>() != nullptr ? *found->get<bool>() : otherwise;
  }
  const Tensor* table(Role role) const {
    const auto name = arch::spell(family_, Dialect::gguf, {.role = role});
    return name ? model_.tensor(*name) : nullptr;
  }

  std::string config_json() {
    Map keys = resources::parse_small_json(resources::config_json(model_.config, model_.vocabulary));
    const Kin kin = kin_of();
    keys.set("model_type", kin.type);
    model_.config.model_type = kin.type;
    keys.set("architectures", List{Value(kin.name)});
    for (const ExtraKey& extra : extra_keys())
      if (const auto found = number(extra.key)) {
        // Mixtral's name for it, and that of all others.
        const std::string_view name =
            extra.key == "expert_count" && family_.name != "llama" ? extra.from[1] : extra.from[0];
        keys.set(name, extra.type == ValueType::f32 ? Value(*found) : Value(static_cast<std::int64_t>(*found)));
      }
    keys.set("tie_word_embeddings", table(Role::output_head) == nullptr);
    if (const Tensor* const embedding = table(Role::token_embedding);
        embedding != nullptr && embedding->shape.rank() == 2)
      keys.set("vocab_size", static_cast<std::int64_t>(embedding->shape[0]));
    for (const auto& [name, value] : taken_for_granted(family_, model_.config)) keys.set(name, value);
    if (model_.config.sliding_window == 0) keys.erase("sliding_window");
    add_layers(keys);
    const auto head = static_cast<double>(head_size());
    if (const auto rotated = number("rope.dimension_count"); rotated && *rotated > 0 && *rotated < head)
      keys.set("partial_rotary_factor", *rotated / head);
    if (has_bias(Role::q)) keys.set("attention_bias", true);
    if (has_bias(Role::up)) keys.set("mlp_bias", true);
    add_rope(keys);
    return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
  }

  bool has_bias(Role role) const {
    const auto name = arch::spell(family_, Dialect::gguf, {.role = role, .layer = 0, .suffix = arch::Suffix::bias});
    return name && model_.tensor(*name) != nullptr;
  }

  // One architecture of llama.cpp is several families of Hugging Face's.
  struct Kin {
    std::string_view type, name;
  };
  Kin kin_of() const {
    if (family_.name == "llama" && number("expert_count").value_or(0) > 0) return {"mixtral", "MixtralForCausalLM"};
    if (family_.name == "llama" && model_.config.model_type == "mistral") return {"mistral", "MistralForCausalLM"};
    if (family_.name == "mistral3" && !is_yarn()) return {"mistral", "MistralForCausalLM"};
    if (family_.name == "olmo2" && model_.config.sliding_window.value_or(0) > 0) return {"olmo3", "Olmo3ForCausalLM"};
    return {family_.model_types.front(), family_.architectures.front()};
  }

  bool is_yarn() const {
    const Value* const kind = key("rope.scaling.type");
    return kind != nullptr && *kind == Value("yarn");
  }

  std::int64_t head_size() const {
    const Config& config = model_.config;
    const std::int64_t heads = config.num_attention_heads.value_or(0);
    return config.head_dim.value_or(heads > 0 ? config.hidden_size.value_or(0) / heads : 0);
  }

  // Which layers have a window, and by what they turn.
  void add_layers(Map& keys) const {
    if (window_period(family_) == 0 || model_.config.sliding_window.value_or(0) <= 0) return;
    const auto usual = static_cast<double>(window_period(family_));
    const auto period = static_cast<std::int64_t>(number("attention.sliding_window_pattern").value_or(usual));
    List types;
    for (std::int64_t layer = 0; layer < model_.config.num_hidden_layers.value_or(0); ++layer)
      types.emplace_back(period <= 0 || layer % period + 1 < period ? "sliding_attention" : "full_attention");
    if (!types.empty()) keys.set("layer_types", std::move(types));
    if (const auto base = number("rope.freq_base_swa"); base && family_.name == "gemma3")
      keys.set("rope_local_base_freq", *base);
  }

  void add_rope(Map& keys) {
    Map scaling;
    const Value* const kind = key("rope.scaling.type");
    if (kind != nullptr && kind->text() != nullptr && *kind->text() != "none") {
      scaling.append("rope_type", *kind->text());
      if (const auto factor = number("rope.scaling.factor")) scaling.append("factor", *factor);
      if (const auto original = number("rope.scaling.original_context_length"))
        scaling.append("original_max_position_embeddings", static_cast<std::int64_t>(*original));
      for (const auto& [role, name] :
           {std::pair(Role::rope_factors_long, "long_factor"), std::pair(Role::rope_factors_short, "short_factor")})
        if (const Tensor* const factors = table(role)) {
          List list;
          for (const float value : factors->values<float>()) list.emplace_back(static_cast<double>(value));
          scaling.append(name, std::move(list));
        }
      if (is_yarn()) add_yarn(scaling);
    } else if (const Tensor* const divisors = table(Role::rope_factors)) {
      scaling = llama3(divisors->values<float>());
    }
    if (scaling.empty()) return;
    if (const auto original = number("rope.scaling.original_context_length"); original && family_.name == "phi3")
      keys.set("original_max_position_embeddings", static_cast<std::int64_t>(*original));
    if (family_.name != "mistral3") return keys.set("rope_scaling", std::move(scaling));
    // Ministral 3 is newer than the other name, and its own numbers are looked for under this one only.
    scaling.set("rope_theta", model_.config.rope_theta.value_or(10000));
    scaling.set("llama_4_scaling_beta", number("attention.temperature_scale").value_or(0));
    keys.set("rope_parameters", std::move(scaling));
  }

  void add_yarn(Map& scaling) const {
    for (const auto& [name, from] :
         {std::pair("beta_fast", "rope.scaling.yarn_beta_fast"), std::pair("beta_slow", "rope.scaling.yarn_beta_slow"),
          std::pair("attention_factor", "rope.scaling.yarn_attn_factor")})
      if (const auto found = number(from)) scaling.append(name, *found);
    const auto all = number("rope.scaling.yarn_log_multiplier"), beside = number("rope.scaling.attn_factor");
    if (all) {
      scaling.append("mscale", 1.0);
      scaling.append("mscale_all_dim", *all);
    }
    // See adopt_keys.cpp: what it is more than llama.cpp makes by itself.
    const double factor = number("rope.scaling.factor").value_or(1);
    if (beside && scaling.find("attention_factor") == nullptr)
      scaling.append("attention_factor", *beside * yarn_stretch(factor, 1) / yarn_stretch(factor, all.value_or(0)));
  }

  // The numbers that these divisors were made of, among those that models have been trained with.
  Map llama3(const std::vector<float>& divisors) {
    const double largest = divisors.empty() ? 0 : *std::ranges::max_element(divisors);
    for (const double context : {8192.0, 4096.0, 16384.0, 32768.0, 2048.0, 1024.0, 512.0, 256.0, 128.0, 64.0})
      for (const double low : {1.0, 2.0})
        for (const double high : {4.0, 8.0, 2.0})
          for (const double factor : {largest, 8.0, 32.0, 16.0, 4.0, 2.0}) {
            const Llama3Scaling candidate{factor, low, high, context};
            const std::vector<float> made =
                llama3_divisors(candidate, model_.config.rope_theta.value_or(10000), 2 * divisors.size());
            if (!std::ranges::equal(made, divisors, [](float a, float b) { return std::fabs(a - b) <= 1e-5F * a; }))
              continue;
            Map scaling;
            scaling.append("rope_type", "llama3");
            scaling.append("factor", factor);
            scaling.append("low_freq_factor", low);
            scaling.append("high_freq_factor", high);
            scaling.append("original_max_position_embeddings", static_cast<std::int64_t>(context));
            return scaling;
          }
    changes_.push_back({.kind = ChangeKind::left_out,
                        .impact = Impact::results,
                        .part = "config.json",
                        .items = {"rope_scaling"},
                        .detail = "no numbers are known that give the divisors in rope_freqs.weight"});
    return {};
  }

  resources::TokenizerRules tokenizer_rules() {
    resources::TokenizerRules rules;
    const Vocabulary& vocabulary = model_.vocabulary;
    rules.byte_level = vocabulary.kind == "bpe";
    rules.adds_blank = flag("tokenizer.ggml.add_space_prefix", vocabulary.kind != "unigram");
    const auto text = [&](std::int64_t id) {
      return id >= 0 && static_cast<std::size_t>(id) < vocabulary.tokens.size()
                 ? vocabulary.tokens[static_cast<std::size_t>(id)].text
                 : std::string();
    };
    const Value* const pre = model_.metadata.find("tokenizer.ggml.pre");
    const std::string name = pre != nullptr && pre->text() != nullptr ? *pre->text() : "default";
    // What the runtime assumes where the file is silent.
    const bool begins = vocabulary.kind == "spm" || name == "llama-bpe" || name == "tekken";
    if (flag("tokenizer.ggml.add_bos_token", begins) && !text(vocabulary.bos).empty())
      rules.before.push_back(text(vocabulary.bos));
    if (flag("tokenizer.ggml.add_eos_token", vocabulary.kind == "unigram") && !text(vocabulary.eos).empty())
      rules.behind.push_back(text(vocabulary.eos));
    rules.ignores_merges = name == "llama-bpe" || name == "tekken";
    if (model_.metadata.find("tokenizer.ggml.precompiled_charsmap") != nullptr ||
        flag("tokenizer.ggml.remove_extra_whitespaces", false))
      changes_.push_back({.kind = ChangeKind::remark,
                          .impact = Impact::results,
                          .part = "tokenizer.json",
                          .detail = "characters are not rewritten, nor several blanks made one, as the keys ask for"});
    if (!rules.byte_level) return rules;
    if (const auto cuts = cuts_of(name)) {
      rules.cuts = *cuts;
    } else {
      rules.cuts = {"bytes"};
      changes_.push_back(
          {.kind = ChangeKind::remark,
           .impact = Impact::results,
           .part = "tokenizer.json",
           .detail = fmt::format("how \"{}\" splits text is not known; it is split as GPT-2 does", escape_name(name))});
    }
    return rules;
  }

  std::string tokenizer_config() {
    Map keys = resources::parse_small_json(resources::tokenizer_config_json(model_.vocabulary));
    if (const Value* const text = model_.metadata.find("tokenizer.chat_template");
        text != nullptr && text->text() != nullptr)
      keys.set("chat_template", *text->text());
    for (const char* const name : {"add_bos_token", "add_eos_token"})
      if (const Value* const said = model_.metadata.find(fmt::format("tokenizer.ggml.{}", name)))
        if (said->get<bool>() != nullptr) keys.set(name, *said);
    return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
  }

  Model& model_;
  const arch::Family& family_;
  std::vector<Change>& changes_;
};

// What the files say now, and what is about the GGUF file.
void forget_keys(Model& model, const arch::Family& family) {
  const std::string prefix = key_of(family, "");
  constexpr std::string_view kOfFile[] = {
      kKeysKey,       kPlainTokensKey,     kPaddedKey,           kAlignmentKey,
      "general.type", "general.file_type", "general.size_label", "general.quantization_version"};
  // config.json says the name.
  if (const Value* const name = model.metadata.find("general.name");
      name != nullptr && *name == Value(general_name(ConfigFile(model))))
    model.metadata.erase("general.name");
  model.metadata.erase_if([&](const Map::Entry& entry) {
    return entry.first.starts_with(prefix) || entry.first.starts_with("tokenizer.") ||
           std::ranges::find(kOfFile, entry.first) != std::end(kOfFile);
  });
}

}  // namespace

void release_tensors(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed) {
  TensorReleaser(model, family, changes, renamed).run();
}

void release_files(Model& model, const arch::Family& family, std::vector<Change>& changes) {
  FileReleaser(model, family, changes).run();
}

void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) {
  const arch::Family* const family = model.config.model_type ? arch::find_family(*model.config.model_type) : nullptr;
  if (family == nullptr || family->gguf.empty()) return;
  if (is_adapter(model)) return release_adapter(model, *family, changes, renamed);
  const auto table = arch::spell(*family, Dialect::gguf, {.role = Role::token_embedding});
  if (!table || model.tensor(*table) == nullptr) return;
  const bool had_files = model.attachment("config.json") != nullptr;
  release_files(model, *family, changes);
  release_tensors(model, *family, changes, renamed);
  forget_keys(model, *family);
  if (!had_files) return;
  // The files that came along say it as it was.
  Diagnostics silent;
  model.config = {};
  model.vocabulary = {};
  resources::describe(model, silent);
}

}  // namespace tare::gguf
