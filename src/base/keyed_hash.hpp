// A hash of text for tables that a file fills. Its key is drawn anew for each process, so nobody can write a file whose
// keys all fall into one slot.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare {

// SipHash-1-3; `keyed_hash` uses the process's own key.
std::uint64_t siphash(std::string_view text, std::uint64_t key0, std::uint64_t key1);
std::uint64_t keyed_hash(std::string_view text);

}  // namespace tare
