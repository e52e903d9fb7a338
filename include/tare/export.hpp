// TARE_API marks what a shared libtare exports. Everything else is hidden, in the static library too (cmake/exports.map
// and the test tree.exports).
#pragma once

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif
