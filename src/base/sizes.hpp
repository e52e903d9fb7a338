// Sizes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

// Bytes: "1000", "5GB", "1.5 GiB". K, M, G, T, with or without a B, are powers of 1000; KiB to TiB of 1024; in any
// case. A fraction of a byte is dropped. Returns nothing for any other text, and for more than 2^53 bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace tare
