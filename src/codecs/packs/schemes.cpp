// The tables of this folder.
#include "codecs/packs/rows.hpp"
#include "codecs/rows.hpp"

namespace tare::codec::packs {

const Scheme* find_scheme(const PackedSet& set) {
  const auto in = [&](const auto& schemes) -> const Scheme* {
    for (const Scheme& scheme : schemes)
      if (scheme.set == &set) return &scheme;
    return nullptr;
  };
  for (const Scheme* const found :
       {in(kGptqSchemes), in(kBnbSchemes), in(kStreamSchemes), in(kFp4Schemes), in(kScaledSchemes)})
    if (found != nullptr) return found;
  return nullptr;
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
