// Runs a check once for every SIMD target of this machine.
#pragma once

#define HWY_WANT_AVX3_DL
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace tare::testing {

// `check` takes no arguments; its failures name the target.
template <class Check>
void for_each_simd_target(const Check& check) {
  // The scalar fallback is part of every choice.
  for (std::int64_t targets = hwy::SupportedTargets() | HWY_SCALAR; targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & ~(targets - 1);
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    check();
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tare::testing
