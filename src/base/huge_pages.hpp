// A hint for large tables that are filled from front to back.
#pragma once

#include <cstddef>

namespace tare {

// Asks for large pages under fresh, still untouched memory: the first touch of every 4 KiB otherwise costs a fault, which
// for a table of 100,000 tensors is a third of the time to open it. Only a hint; small ranges are left alone.
void prefer_huge_pages(void* data, std::size_t bytes);

}  // namespace tare
