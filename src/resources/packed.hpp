// Checkpoints that are quantized already: weights as codes whose scales lie in other tensors (GPTQ, AWQ, bitsandbytes,
// FP8 with block scales, ...). To every container they are plain tensors of numbers, and to whoever casts them too; here is
// what they are. The schemes are a table in packed.cpp.
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
  std::string stored;       // type of the codes: "i32"; empty where no tensor was recognised
  std::string said_by;      // the file that names the scheme; empty: the names of the tensors tell
  std::size_t tensors = 0;  // with codes
  std::string example;      // the first of them
  // For every tensor of the model what it is to the scheme: "codes", "scales", ...; empty for a plain one.
  std::vector<std::string_view> parts;
  // The model's weights: of codes what they stand for, of scales and the like none. Nothing where the bits are not known.
  std::optional<std::uint64_t> parameters;

  // "GPTQ 4-bit, group 128, packed in i32"
  std::string text() const;
};

// Nothing for a model with plain weights. Looks at names, types, shapes and the files that state a quantization.
std::optional<Packed> find_packed(const Model& model);

}  // namespace tare::resources
