// Reports keys of a GGUF file that no key of config.json was made from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/defaults.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/release_files.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Returns whether a key does not matter, or has the value that it would have if it were missing.
bool is_neutral(const Origin& origin, std::string_view name) {
  constexpr std::string_view kHarmless[] = {"tensor_data_layout", "rope.scaling.finetuned",
                                            "rope.scaling.original_context_length"};
  struct Neutral {
    std::string_view name;
    double value, other;
  };
  constexpr Neutral kNeutral[] = {{"attn_logit_softcapping", 0, 0},
                                  {"attention.clamp_kqv", 0, 0},
                                  {"attention.max_alibi_bias", 0, 0},
                                  {"attention.scale", 0, 0},
                                  {"attention.sliding_window_pattern", 0, 0},
                                  {"attention.temperature_scale", 0, 0},
                                  {"embedding_scale", 0, 1},
                                  {"expert_count", 0, 0},
                                  {"expert_gating_func", 0, 1},
                                  {"expert_group_count", 0, 1},
                                  {"expert_group_used_count", 0, 1},
                                  {"expert_shared_count", 0, 0},
                                  {"expert_used_count", 0, 0},
                                  {"expert_weights_scale", 0, 1},
                                  {"final_logit_softcapping", 0, 0},
                                  {"leading_dense_block_count", 0, 0},
                                  {"logit_scale", 0, 1},
                                  {"nextn_predict_layers", 0, 0},
                                  {"residual_scale", 0, 1},
                                  {"rope.scaling.attn_factor", 1, 1},
                                  {"rope.scaling.yarn_attn_factor", 1, 1},
                                  {"rope.scaling.yarn_beta_fast", 32, 32},
                                  {"rope.scaling.yarn_beta_slow", 1, 1},
                                  {"rope.scaling.yarn_ext_factor", 1, 1},
                                  {"rope.scaling.yarn_log_multiplier", 0, 0},
                                  {"use_parallel_residual", 0, 0}};
  if (std::ranges::find(kHarmless, name) != std::end(kHarmless)) return true;
  const Value& value = *origin.keys.find(name);
  const bool* const flag = value.get<bool>();
  const auto single = single_number(value);
  if (!single && flag == nullptr) return false;
  const double number = flag != nullptr ? static_cast<double>(*flag) : resources::number_of(*single).value();
  const auto is = [&](double usual) { return std::fabs(number - usual) <= 1e-6 * std::fabs(usual); };
  if (name == "rope.freq_base_swa") return is(origin.model.config.rope_theta.value_or(10000));
  if (name == "attention.layer_norm_epsilon") {
    const double usual = origin.family.runtime.layer_norm_epsilon;
    return usual != 0 && is(usual);
  }
  // llama.cpp hard-codes it for each of the mixtures.
  if (name == "expert_weights_norm") return is(origin.family.runtime.normalizes_experts.value_or(true) ? 1 : 0);
  if (name.ends_with("_swa")) return is(static_cast<double>(origin.head_size()));
  const auto found = std::ranges::find(kNeutral, name, &Neutral::name);
  return found != std::end(kNeutral) && (is(found->value) || is(found->other));
}

}  // namespace

void report_unstated(const Origin& origin) {
  const Config& config = origin.model.config;
  std::vector<std::string> missing;
  if (!config.rms_norm_eps && origin.family.runtime.layer_norm_epsilon == 0) missing.emplace_back("rms_norm_eps");
  if (!config.max_position_embeddings) missing.emplace_back("max_position_embeddings");
  std::vector<std::string> assumed;
  for (const std::string& key : missing)
    for (const arch::Assumed& fact : arch::assumed_keys(config.model_type.value_or("")))
      if (fact.key == key)
        assumed.push_back(std::visit([&](const auto& value) { return fmt::format("{} {}", key, value); }, fact.value));
  if (assumed.empty()) return;
  origin.changes.push_back(
      {.kind = ChangeKind::remark,
       .impact = Impact::results,
       .part = "config.json",
       .detail = fmt::format("the file does not state {}: programs that read the directory assume {}",
                             fmt::join(missing, " and "), fmt::join(assumed, ", "))});
}

void report_unread(const Origin& origin) {
  std::vector<std::string> unknown;
  for (const std::string& name : origin.keys.unread())
    if (!is_neutral(origin, name)) unknown.push_back(key_of(origin.family, quote(name)));
  if (!unknown.empty())
    origin.changes.push_back({.kind = ChangeKind::left_out,
                              .impact = Impact::results,
                              .part = "config.json",
                              .items = std::move(unknown),
                              .detail =
                                  "no key of config.json is known for it, so programs that read the directory may "
                                  "compute something else"});
}

}  // namespace tare::gguf::llama_cpp
