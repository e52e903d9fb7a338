// The SIMD targets that kernels are compiled for; include it before Highway. Each target adds to the build time.
//
// Vectors of unknown length (SVE, RVV) are disabled because blocks and arrays of vectors have fixed sizes. SSSE3 is
// disabled because only processors of 2006 and 2007 have nothing better: those run the scalar code.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
