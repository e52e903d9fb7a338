// Makes the rotary settings of config.json from the keys and the tables of divisors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/defaults.hpp"
#include "base/printable.hpp"
#include "base/whole.hpp"
#include "formats/gguf/llama_cpp/by_layer.hpp"
#include "formats/gguf/llama_cpp/release_files.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

void report_rope(const Origin& origin, std::string_view name, std::string detail) {
  origin.changes.push_back({.kind = ChangeKind::remark,
                            .impact = Impact::results,
                            .part = "config.json",
                            .items = {std::string(name)},
                            .detail = fmt::format("{}: {}", name, detail)});
}

// OLMo 3: transformers 5 applies the theta at the top of config.json to layers with full attention, and a default of
// its own to the others. llama.cpp has one theta for all unless a key overrides it, and scales positions only in the
// former.
void add_layer_ropes(const Origin& origin, Map& keys, const Map& scaling) {
  const Value* const type = keys.find("model_type");
  if (type == nullptr || type->text() == nullptr || !arch::has_ropes_by_layer(*type->text())) return;
  if (origin.family.runtime.states_window_period || !origin.model.config.rope_theta) return;
  Map full = scaling, sliding;
  if (full.find("rope_type") == nullptr) full.set("rope_type", "default");
  full.set("rope_theta", *origin.model.config.rope_theta);
  sliding.set("rope_type", "default");
  sliding.set("rope_theta", origin.number("rope.freq_base_swa").value_or(*origin.model.config.rope_theta));
  Map both;
  both.append("full_attention", std::move(full));
  both.append("sliding_attention", std::move(sliding));
  keys.set("rope_parameters", std::move(both));
}

// Builds the longrope object from the tables of divisors for long and short texts. Phi 3's readers accept only these
// three names and have the original context length at the top of config.json.
Map long_rope(const Origin& origin, Map& keys, const Tensor* far, const Tensor* near) {
  const bool phi = origin.family.runtime.has_original_context;
  Map scaling;
  scaling.append(phi ? "type" : "rope_type", "longrope");
  for (const auto& [name, table, other] :
       {std::tuple("long_factor", far, near), std::tuple("short_factor", near, far)}) {
    const Tensor* const factors = table != nullptr ? table : other;
    List list;
    for (const float value : factors->values<float>()) list.emplace_back(static_cast<double>(value));
    scaling.append(name, std::move(list));
    if (table == nullptr)
      report_rope(origin, name, "the file has one table of divisors, which is used for texts of any length");
  }
  const auto original = origin.number("rope.scaling.original_context_length");
  const auto context = static_cast<double>(origin.model.config.max_position_embeddings.value_or(0));
  if (!original || *original < 2)
    report_rope(origin, "original_max_position_embeddings",
                "the file does not say from which length of a text on the divisors for long texts count");
  else if (phi)
    keys.set("original_max_position_embeddings", whole_part(*original));
  else
    scaling.append("original_max_position_embeddings", whole_part(*original));
  if (!phi && original && *original >= 2 && context > 0) scaling.append("factor", context / *original);
  // Without the key, llama.cpp does not scale.
  const double stretch = origin.number("rope.scaling.attn_factor").value_or(1);
  if (std::fabs(stretch / long_rope_stretch(context, original.value_or(0)) - 1) > 1e-6)
    scaling.append("attention_factor", stretch);
  return scaling;
}

void add_yarn(const Origin& origin, Map& scaling) {
  for (const auto& [name, from] :
       {std::pair("beta_fast", "rope.scaling.yarn_beta_fast"), std::pair("beta_slow", "rope.scaling.yarn_beta_slow"),
        std::pair("attention_factor", "rope.scaling.yarn_attn_factor")})
    if (const auto found = origin.number(from)) scaling.append(name, *found);
  const auto all = origin.number("rope.scaling.yarn_log_multiplier"),
             beside = origin.number("rope.scaling.attn_factor");
  const double scale = origin.family.runtime.yarn_log_scale;
  if (all && scale != 0) {
    // A tenth in f32 is not one in f64.
    const double exact = std::round(*all / scale * 1e6) / 1e6;
    scaling.append("mscale", exact);
    scaling.append("mscale_all_dim", exact);
  } else if (all) {
    scaling.append("mscale", 1.0);
    scaling.append("mscale_all_dim", *all);
  }
  // The factor in addition to llama.cpp's own scale; see adopt_keys.cpp.
  const double factor = origin.number("rope.scaling.factor").value_or(1);
  if (beside && scaling.find("attention_factor") == nullptr)
    scaling.append("attention_factor", *beside * yarn_stretch(factor, 1) / yarn_stretch(factor, all.value_or(0)));
}

// Returns whether the class scales positions if config.json has no rotary settings.
bool scales_by_default(const Map& keys) {
  const Value* const type = keys.find("model_type");
  return type != nullptr && type->text() != nullptr &&
         std::ranges::any_of(arch::assumed_keys(*type->text()),
                             [](const arch::Assumed& fact) { return fact.key == "rope_parameters.rope_type"; });
}

bool is_all_ones(const Tensor& divisors) {
  const std::vector<float> values = divisors.values<float>();
  return std::ranges::all_of(values, [](float value) { return value == 1; });
}

Map llama3(const Origin& origin, const std::vector<float>& divisors) {
  Map scaling = llama3_scaling_of(divisors, origin.model.config.rope_theta.value_or(10000));
  if (scaling.empty())
    origin.changes.push_back({.kind = ChangeKind::left_out,
                              .impact = Impact::results,
                              .part = "config.json",
                              .items = {"rope_scaling"},
                              .detail = "no numbers are known that give the divisors in rope_freqs.weight"});
  return scaling;
}

// transformers reads them with everything else about positions in one object.
void add_sections(const Origin& origin, Map& keys, Map scaling) {
  if (scaling.empty()) scaling.append("rope_type", "default");
  scaling.set("rope_theta", origin.model.config.rope_theta.value_or(10000));
  if (const Value* const part = keys.find("partial_rotary_factor")) scaling.set("partial_rotary_factor", *part);
  constexpr std::string_view kKey = "rope.dimension_sections";
  const Value* const found = origin.keys.find(kKey);
  const List* const sections = found == nullptr ? nullptr : found->get<List>();
  constexpr std::ptrdiff_t kDirections = 3;
  if (found != nullptr && (sections == nullptr || std::ssize(*sections) < kDirections))
    throw origin.keys.refused(kKey, *found, "the number of pairs for each direction of a position");
  if (sections != nullptr) scaling.set("mrope_section", List(sections->begin(), sections->begin() + kDirections));
  scaling.set("mrope_interleaved", true);
  keys.set("rope_parameters", std::move(scaling));
}

}  // namespace

void add_rope(const Origin& origin, Map& keys) {
  if (origin.family.runtime.has_two_kinds_of_heads) return add_proportional_rope(origin, keys);
  Map scaling;
  const std::string* const said = origin.keys.text("rope.scaling.type");
  // llama.cpp's default. An earlier name of the factor counts if there is no other.
  const std::string kind = said == nullptr ? "linear" : *said;
  const auto older = origin.number("rope.scale_linear");
  const auto newer = origin.number("rope.scaling.factor");
  const double stated = newer ? *newer : older.value_or(0), factor = stated == 0 || kind == "none" ? 1 : stated;
  const Tensor *const far = origin.table(arch::Role::rope_factors_long), *const near = origin.table(
                                                                             arch::Role::rope_factors_short);
  const Tensor* const divisors = origin.table(arch::Role::rope_factors);
  const bool divides = divisors != nullptr && !is_all_ones(*divisors);
  if (far != nullptr || near != nullptr) {
    // llama.cpp's converter writes these tables and no type: the tables imply longrope.
    scaling = long_rope(origin, keys, far, near);
    if (kind == "yarn" || factor != 1)
      origin.report_key("rope.scaling.factor",
                        "positions are scaled by tables of divisors, which cannot be combined with it");
  } else if (kind == "yarn") {
    scaling.append("rope_type", kind);
    scaling.append("factor", factor);
    if (const auto original = origin.number("rope.scaling.original_context_length"))
      scaling.append("original_max_position_embeddings", whole_part(*original));
    add_yarn(origin, scaling);
  } else if (kind == "linear" && factor != 1) {
    scaling.append("rope_type", kind);
    scaling.append("factor", factor);
  } else if (kind != "linear" && kind != "none") {
    origin.report_key("rope.scaling.type", kind == "longrope" ? "the file has no tables of divisors for it"
                                                              : fmt::format("\"{}\" is not known", quote(kind)));
  }
  if (divides && scaling.empty())
    scaling = llama3(origin, divisors->values<float>());
  else if (divides)
    report_rope(origin, "rope_scaling",
                "the divisors in rope_freqs.weight cannot be combined with the scaling of the keys");
  add_layer_ropes(origin, keys, scaling);
  if (origin.family.runtime.states_sections) return add_sections(origin, keys, std::move(scaling));
  if (scaling.empty() && scales_by_default(keys)) scaling.append("rope_type", "default");
  if (scaling.empty()) return;
  if (origin.family.runtime.keeps_fractions && origin.is_yarn()) scaling.append("truncate", false);
  if (!origin.family.runtime.has_full_yarn) return keys.set("rope_scaling", std::move(scaling));
  scaling.set("rope_theta", origin.model.config.rope_theta.value_or(10000));
  if (origin.is_yarn()) {
    scaling.set("llama_4_scaling_beta", origin.number("attention.temperature_scale").value_or(0));
    // llama.cpp's default is the length before scaling, which is the only one that transformers knows.
    const auto length = origin.number("attention.temperature_length");
    if (length && length != origin.number("rope.scaling.original_context_length"))
      origin.report_key("attention.temperature_length", "transformers takes the length of the context before scaling");
  }
  keys.set("rope_parameters", std::move(scaling));
}

}  // namespace tare::gguf::llama_cpp
