// A hint for large tables that are filled from beginning to end.
#pragma once

#include <cstddef>

namespace tare {

// Asks for huge pages for fresh, untouched memory: otherwise the first touch of every 4 KiB costs a page fault, which
// for a table of 100,000 tensors is a third of the time to open it. Only a hint; small ranges are ignored.
void prefer_huge_pages(void* data, std::size_t bytes);

}  // namespace tare
