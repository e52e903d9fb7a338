// The families of schemes, each defined in its own file.
#pragma once

#include <span>

#include "codecs/packs/pack.hpp"
#include "codecs/packs/scheme.hpp"

namespace tare::codec::packs {

struct Family {
  std::span<const Scheme> schemes;  // in the order in which they are tried
  std::span<const Pack> packs;      // the layouts of the tensors that they are joined to
};

extern const Family kGptqFamily, kBnbFamily, kStreamFamily, kFp4Family, kScaledFamily, kNbitsFamily, kNotDecoded;

}  // namespace tare::codec::packs
