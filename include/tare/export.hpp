// What a shared libtare shows: whatever is marked with TARE_API. Everything else of the library is hidden, in the static
// one too (cmake/exports.map, and the test tree.exports).
#pragma once

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif
