// One file per rule that an ALT file can break: the rule, the bytes, and the severity.
#pragma once

#include "conformance/models.hpp"

namespace tare::testing {

struct AltCase {
  Severity severity = Severity::error;  // errors end `open`; `verify` reports the rest
  std::string format, rule, name;
  Bytes file;
};

std::vector<AltCase> alt_cases();

// The files that tests/formats/alt/golden_test.cpp spells out.
Bytes alt_golden_v2();
Bytes alt_golden_altc();
Bytes alt_golden_v1();

}  // namespace tare::testing
