// Writes zip archives whose bytes depend only on their members: stored, sorted by name, dated 1980-01-01, without data
// descriptors, zip64 only if a number needs it, and every member's data on a 64-byte boundary so that it can be mapped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/blob.hpp"
#include "tare/progress.hpp"
#include "tare/sink.hpp"

namespace tare::wire {

inline constexpr std::uint64_t kZipAlignment = 64;
inline constexpr std::size_t kZipMaxName = 65535;

// A member to write: its bytes are `front` followed by `body`.
struct ZipEntry {
  std::string name;  // unique, 1 to kZipMaxName bytes
  Bytes front;
  Blob body;
};

// Writes the whole archive, starting at the sink's first byte; does not commit. The CRC-32 precedes the data it covers:
// a positional sink gets it afterwards; for other sinks the bodies are read twice. Uses `threads` threads (0: all
// cores), in bounded memory. `progress` counts body bytes.
void write_zip(Sink& sink, std::vector<ZipEntry> entries, unsigned threads, Progress* progress);

}  // namespace tare::wire
