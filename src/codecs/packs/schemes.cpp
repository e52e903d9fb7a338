// The tables of this folder.
#include "base/printable.hpp"
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

namespace {

// Null for a layout of another folder.
const Pack* find_pack(std::string_view layout) {
  const Pack* pack = nullptr;
  const auto look = [&](const auto& packs) {
    for (const Pack* const row : packs)
      if (row->layout == layout) pack = row;
  };
  look(kGptqPacks);
  look(kBnbPacks);
  look(kStreamPacks);
  look(kFp4Packs);
  look(kScaledPacks);
  return pack;
}

}  // namespace

Tensor decode_strictly(const Tensor& tensor, Scales scales) {
  const Pack* const pack = find_pack(tensor.layout);
  if (pack == nullptr) return to_dense(tensor);
  if (const auto problem = check_pack(*pack, tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about("tensor " + quote(tensor.name));
  return decode_pack(*pack, tensor, scales);
}

std::string scale_problem(const Tensor& tensor) {
  std::string found;
  const Pack* const pack = find_pack(tensor.layout);
  if (pack == nullptr || check_pack(*pack, tensor)) return found;
  const auto take = [&](const Problem& problem) {
    if (found.empty()) found = problem.sentence;
  };
  const std::shared_ptr<const Maker> maker = pack->plan(tensor);
  maker->verify_scales(take);
  if (found.empty()) maker->verify_weights(take);
  return found;
}

}  // namespace tare::codec::packs
