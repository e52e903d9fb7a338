// The SIMD targets that kernels are compiled for; included before Highway. Each costs its share of every build.
//
// Vectors of unknown length (SVE, RVV) are omitted: blocks and arrays of vectors are laid out by hand. So is SSSE3, which
// alone has none but the processors of 2006 and 2007: those run the scalar code.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
