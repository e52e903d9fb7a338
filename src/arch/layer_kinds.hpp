// Families in which a layer is one thing: a state, attention, a network or experts (Nemotron-H). config.json lists the kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tare/value.hpp"

namespace tare::arch {

enum class LayerKind : std::uint8_t { state, attention, network, experts };

// The key for the list, and the one of earlier files, which is a text with a letter for each layer.
inline constexpr std::string_view kLayerKinds = "layers_block_type", kLayerLetters = "hybrid_override_pattern";

// The word that every version of the classes reads.
std::string_view word_of(LayerKind kind);
// The kinds that the value of either key states; nothing if it states none or has an unknown word.
std::optional<std::vector<LayerKind>> layer_kinds(const Value& said);

}  // namespace tare::arch
