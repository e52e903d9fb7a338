// A hash for tables whose keys come from a file. Each process draws a new key, so that no file can be crafted whose
// keys all fall into one slot.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare {

// SipHash-1-3; `keyed_hash` uses the key of the process.
std::uint64_t siphash(std::string_view text, std::uint64_t key0, std::uint64_t key1);
std::uint64_t keyed_hash(std::string_view text);

}  // namespace tare
