// The tables of this folder.
#include "codecs/packs/rows.hpp"
#include "codecs/rows.hpp"

namespace tare::codec::packs {

std::span<const Scheme* const> schemes() {
  static const std::vector<const Scheme*> all = [] {
    std::vector<const Scheme*> rows = {&kGptqScheme, &kAwqScheme};
    const auto add = [&](const auto& schemes) {
      for (const Scheme& scheme : schemes) rows.push_back(&scheme);
    };
    add(kBnbSchemes);
    rows.push_back(&kCtScheme);
    add(kFp4Schemes);
    add(kScaledSchemes);
    rows.push_back(&kMlxScheme);
    return rows;
  }();
  return all;
}

std::vector<Codec> codecs() {
  std::vector<Codec> rows;
  const auto add = [&](const auto& codecs) { rows.insert(rows.end(), codecs.begin(), codecs.end()); };
  add(kGptqCodecs);
  add(kBnbCodecs);
  add(kStreamCodecs);
  add(kFp4Codecs);
  add(kScaledCodecs);
  return rows;
}

std::optional<FirstBlock> explain(const Tensor& tensor) {
  const Pack* pack = nullptr;
  const auto look = [&](const auto& packs) {
    for (const Pack* const row : packs)
      if (row->layout == tensor.layout) pack = row;
  };
  look(kGptqPacks);
  look(kBnbPacks);
  look(kStreamPacks);
  look(kFp4Packs);
  look(kScaledPacks);
  if (pack == nullptr) return std::nullopt;
  return pack->plan(tensor)->explain(tensor);
}

}  // namespace tare::codec::packs
