// Names of the layers that predict further tokens, for families whose files have them apart from the others: "mtp.layers.0" is
// the first layer after the last. The table of names has such layers as other families do, among the others.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kApart = "mtp.", kApartLayers = "mtp.layers.", kLayers = "model.layers.";

// What the layers have in addition to what others have, of which there is one each.
constexpr std::pair<std::string_view, std::string_view> kModules[] = {{"fc.", "eh_proj."},
                                                                      {"pre_fc_norm_embedding.", "enorm."},
                                                                      {"pre_fc_norm_hidden.", "hnorm."},
                                                                      {"norm.", "shared_head.norm."}};

// Takes the number that the text begins with, and the dot after it.
std::optional<std::uint32_t> take_layer(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || digits == 0 || digits >= text.size() || *end != '.') return std::nullopt;
  if (text.front() == '0' && digits > 1) return std::nullopt;
  text.remove_prefix(digits + 1);
  return number;
}

}  // namespace

bool is_apart(const arch::Family& family, std::string_view name) {
  return family.runtime.next_layers_apart && name.starts_with(kApart);
}

std::string name_among_layers(std::string_view name, std::uint32_t layers) {
  if (name.starts_with(kApartLayers)) {
    std::string_view rest = name.substr(kApartLayers.size());
    const auto layer = take_layer(rest);
    if (layer && *layer < UINT32_MAX - layers) return fmt::format("{}{}.{}", kLayers, layers + *layer, rest);
  } else if (name.starts_with(kApart)) {
    const std::string_view rest = name.substr(kApart.size());
    for (const auto& [own, usual] : kModules)
      if (rest.starts_with(own)) return fmt::format("{}{}.{}{}", kLayers, layers, usual, rest.substr(own.size()));
  }
  return std::string(name);
}

std::string name_apart(std::string_view name, std::uint32_t layers) {
  const std::size_t at = name.find("layers.");
  if (at == std::string_view::npos) return std::string(name);
  std::string_view rest = name.substr(at + std::string_view("layers.").size());
  const auto layer = take_layer(rest);
  if (!layer || *layer < layers) return std::string(name);
  for (const auto& [own, usual] : kModules)
    if (rest.starts_with(usual)) return fmt::format("{}{}{}", kApart, own, rest.substr(usual.size()));
  return fmt::format("{}{}.{}", kApartLayers, *layer - layers, rest);
}

}  // namespace tare::gguf::llama_cpp
