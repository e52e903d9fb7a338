// The table rows of this folder: layouts for the table of codecs, and schemes. Each file defines those of its family.
#pragma once

#include <array>

#include "codecs/packs/join.hpp"
#include "codecs/packs/pack.hpp"

namespace tare::codec::packs {

extern const std::array<const Pack*, 5> kGptqPacks;
extern const std::array<Codec, 5> kGptqCodecs;
extern const std::array<Scheme, 2> kGptqSchemes;

extern const std::array<const Pack*, 3> kBnbPacks;
extern const std::array<Codec, 3> kBnbCodecs;
extern const std::array<Scheme, 3> kBnbSchemes;

extern const std::array<const Pack*, 11> kStreamPacks;
extern const std::array<Codec, 11> kStreamCodecs;
extern const std::array<Scheme, 2> kStreamSchemes;

extern const std::array<const Pack*, 2> kFp4Packs;
extern const std::array<Codec, 2> kFp4Codecs;
extern const std::array<Scheme, 5> kFp4Schemes;

extern const std::array<const Pack*, 7> kScaledPacks;
extern const std::array<Codec, 7> kScaledCodecs;
extern const std::array<Scheme, 7> kScaledSchemes;

}  // namespace tare::codec::packs
