#include "arch/layer_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace tare::arch {
namespace {

struct KindRow {
  LayerKind kind;
  std::string_view word, newer, letter;
};
constexpr KindRow kKinds[] = {{LayerKind::state, "mamba", "linear_attention", "M"},
                              {LayerKind::attention, "attention", "full_attention", "*"},
                              {LayerKind::network, "mlp", "mlp", "-"},
                              {LayerKind::experts, "moe", "moe", "E"}};

const KindRow* row_of(std::string_view word) {
  const auto* const found = std::ranges::find_if(
      kKinds, [&](const KindRow& row) { return word == row.word || word == row.newer || word == row.letter; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::string_view word_of(LayerKind kind) { return std::ranges::find(kKinds, kind, &KindRow::kind)->word; }

std::optional<std::vector<LayerKind>> layer_kinds(const Value& said) {
  std::vector<LayerKind> kinds;
  const auto add = [&](std::string_view word) {
    const KindRow* const row = row_of(word);
    if (row != nullptr) kinds.push_back(row->kind);
    return row != nullptr;
  };
  if (const std::string* const letters = said.text()) {
    for (std::size_t i = 0; i < letters->size(); ++i)
      if (!add(std::string_view(*letters).substr(i, 1))) return std::nullopt;
  } else if (const List* const words = said.get<List>()) {
    for (const Value& word : *words)
      if (word.text() == nullptr || !add(*word.text())) return std::nullopt;
  }
  return kinds.empty() ? std::nullopt : std::optional(std::move(kinds));
}

}  // namespace tare::arch
