// Files of ggml before GGUF: what the files of this folder share. ggmlbin.cpp has the byte map.
#pragma once

#include <cstdint>

#include "formats/format.hpp"

namespace tare::ggmlbin {

// As 32-bit numbers: "ggml", and the same with versions.
inline constexpr std::uint32_t kPlain = 0x67676d6c, kWithVersion = 0x67676d66, kAligned = 0x67676a74;
constexpr bool is_magic(std::uint32_t magic) { return magic == kPlain || magic == kWithVersion || magic == kAligned; }

// Throws `ggmlbin.*`.
Model read(const Input& input, const ReadOptions& options);

}  // namespace tare::ggmlbin
