// The SIMD targets that kernels are compiled for; include it before Highway. Each target adds to the build time.
//
// Vectors of unknown length (SVE, RVV) are disabled because blocks and arrays of vectors have fixed sizes. SSSE3 is
// disabled because only processors of 2006 and 2007 have nothing better: those run the scalar code.
#pragma once

#define TARE_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)

// Sanitizers multiply the time that a target takes to compile. With them, each length of vectors is compiled once: SSE4
// has that of SSE2, and AVX3 that of AVX3_DL. The tests without sanitizers run every target.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARE_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TARE_SANITIZED 1
#endif

// Where CMake's TARE_THOROUGH is off, AVX3 is left to the builds in which it is on.
#if defined(TARE_SANITIZED) && defined(TARE_FEW_TARGETS)
#define HWY_DISABLED_TARGETS (TARE_DISABLED_TARGETS | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#elif defined(TARE_SANITIZED)
#define HWY_DISABLED_TARGETS (TARE_DISABLED_TARGETS | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS TARE_DISABLED_TARGETS
#endif
