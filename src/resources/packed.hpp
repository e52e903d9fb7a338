// Recognises packed weights: checkpoints that are already quantized, as codes with their scales in other tensors (GPTQ,
// AWQ, bitsandbytes, FP8 with block scales, ...). To containers and casts these are plain tensors of numbers. The table
// of schemes is in model/packed_sets.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

struct Packed {
  std::string scheme;  // "gptq": stable, for programs
  std::string title;   // "GPTQ"
  std::optional<std::uint64_t> bits, group;
  std::string stored;       // type of the codes: "i32"; empty if no tensor was recognised
  std::string said_by;      // the file that names the scheme; empty if only the tensor names show it
  std::size_t tensors = 0;  // number of tensors with codes
  std::string example;      // the name of the first of them
  // For every tensor of the model, its part in the scheme: "codes", "scales", ...; empty for a plain one.
  std::vector<std::string_view> parts;
  // The number of weights of the model: codes count as the weights that they encode, scales and the like do not count.
  // Nothing if the bits are unknown.
  std::optional<std::uint64_t> parameters;

  // "GPTQ 4-bit, group 128, packed in i32"
  std::string text() const;
};

// Returns nothing for a model with plain weights. Uses names, types, shapes and the files that state a quantization.
std::optional<Packed> find_packed(const Model& model);

}  // namespace tare::resources
