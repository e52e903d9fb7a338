// Describes the packed weights of a model, for people and for lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codecs/packs/find.hpp"

namespace tare::codec::packs {

struct Packing {
  std::string scheme;  // "gptq": stable, for programs
  std::string title;   // "GPTQ"
  std::optional<std::uint64_t> bits, group;
  std::string stored;                // type of the codes: "i32"; empty if no scheme was recognised
  std::string said_by;               // the file that names the scheme; empty if only the tensor names show it
  std::size_t tensors = 0;           // number of tensors with codes
  std::optional<std::size_t> first;  // the index of the first of them
  // The number of weights of the model: codes count as the weights that they encode, scales and the like do not count.
  // Nothing if the bits are unknown.
  std::optional<std::uint64_t> parameters;

  // "GPTQ 4-bit, group 128, packed in i32"
  std::string text() const;
};

// Returns nothing for a model with plain weights. `found` is of this model.
std::optional<Packing> packing_of(const Model& model, const Found& found);

}  // namespace tare::codec::packs
