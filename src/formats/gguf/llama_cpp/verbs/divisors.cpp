// Verb::llama3_divisors and Verb::listed_divisors: tables of divisors for rotated pairs, which config.json states as
// numbers. llama.cpp reads a table with one divisor for each pair.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/budget.hpp"
#include "base/half.hpp"
#include "formats/gguf/llama_cpp/adopt_numbers.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "resources/json_file.hpp"
#include "resources/layer_sizes.hpp"

namespace tare::gguf::llama_cpp {
namespace {

std::uint64_t head_size_of(const Config& config) {
  if (config.head_dim.value_or(0) > 0) return static_cast<std::uint64_t>(*config.head_dim);
  const std::int64_t heads = config.num_attention_heads.value_or(0);
  return heads > 0 ? static_cast<std::uint64_t>(config.hidden_size.value_or(0) / heads) : 0;
}

std::vector<float> listed_divisors(const ConfigFile& file, std::string_view key) {
  const Value* const found = RopeFile(file).find(key);
  const List* const list = found == nullptr ? nullptr : found->get<List>();
  std::vector<float> divisors;
  if (list == nullptr) return divisors;
  for (const Value& value : *list) divisors.push_back(f64_to_f32(required_number(key, value)));
  return divisors;
}

// Nothing if config.json does not ask for it.
std::optional<Llama3Scaling> llama3_scaling(const ConfigFile& config) {
  const RopeFile rope(config);
  if (rope.kind() != "llama3") return std::nullopt;
  const auto number = [&](std::string_view key, double otherwise) { return rope.number(key).value_or(otherwise); };
  const Llama3Scaling usual;
  return Llama3Scaling{number("factor", usual.factor), number("low_freq_factor", usual.low),
                       number("high_freq_factor", usual.high),
                       number("original_max_position_embeddings", usual.context)};
}

// Layers that see everything rotate only the first part of a head, whose pairs are as far apart as if all were rotated.
std::vector<float> part_divisors(const ConfigFile& file, const Config& config) {
  const RopeFile rope(file);
  const arch::Family* const family = arch::find_family(file.model_type());
  if (family == nullptr || rope.kind() != "proportional") return {};
  const resources::LayerSizes sizes = resources::layer_sizes(*family, file, config);
  const resources::LayerSize* const full = sizes.first(false);
  const std::int64_t head = full == nullptr ? 0 : full->head.value_or(0);
  if (head <= 0) return {};
  require_count(static_cast<std::uint64_t>(head), "elements of a head");
  constexpr float kNever = 1e30F;
  std::vector<float> divisors(static_cast<std::size_t>(head / 2), kNever);
  const double rotated = std::trunc(static_cast<double>(head) * rope.number("partial_rotary_factor").value_or(1) / 2);
  std::fill_n(divisors.begin(),
              static_cast<std::size_t>(std::clamp(rotated, 0.0, static_cast<double>(divisors.size()))), 1.0F);
  return divisors;
}

}  // namespace

// Pairs with a short wavelength keep their frequency, those with a long one are slowed by the factor, those between are
// interpolated.
std::vector<float> llama3_divisors(const Llama3Scaling& scaling, double base, std::uint64_t head_size) {
  require_count(head_size, "elements of a head");
  std::vector<float> divisors;
  for (std::uint64_t i = 0; i + 1 < head_size; i += 2) {
    const double wave = 2 * std::numbers::pi * std::pow(base, static_cast<double>(i) / static_cast<double>(head_size));
    if (wave < scaling.context / scaling.high) {
      divisors.push_back(1);
    } else if (wave > scaling.context / scaling.low) {
      divisors.push_back(static_cast<float>(scaling.factor));
    } else {
      const double smooth = (scaling.context / wave - scaling.low) / (scaling.high - scaling.low);
      divisors.push_back(static_cast<float>(1 / ((1 - smooth) / scaling.factor + smooth)));
    }
  }
  return divisors;
}

std::vector<float> divisors_of(const arch::Step& step, const ConfigFile& file, const Config& config) {
  if (step.verb == arch::Verb::listed_divisors) return listed_divisors(file, step.key);
  if (step.verb == arch::Verb::part_divisors) return part_divisors(file, config);
  const auto scaling = llama3_scaling(file);
  if (!scaling) return {};
  return llama3_divisors(*scaling, config.rope_theta.value_or(10000), head_size_of(config));
}

// Searches among the parameters that models were trained with.
Map llama3_scaling_of(const std::vector<float>& divisors, double base) {
  const double largest = divisors.empty() ? 0 : *std::ranges::max_element(divisors);
  for (const double context : {8192.0, 4096.0, 16384.0, 32768.0, 2048.0, 1024.0, 512.0, 256.0, 128.0, 64.0})
    for (const double low : {1.0, 2.0})
      for (const double high : {4.0, 8.0, 2.0})
        for (const double factor : {largest, 8.0, 32.0, 16.0, 4.0, 2.0}) {
          const Llama3Scaling candidate{factor, low, high, context};
          const std::vector<float> made = llama3_divisors(candidate, base, 2 * divisors.size());
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
  return {};
}

}  // namespace tare::gguf::llama_cpp
