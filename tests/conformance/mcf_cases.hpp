// One file for every rule that an MCF file can break: the rule, the bytes, and who is to find it.
#pragma once

#include "conformance/mcf_bytes.hpp"
#include "tare/format.hpp"

namespace tare::testing {

struct McfCase {
  std::string rule, name;
  Bytes file;
  Limits limits = {};
};

// Two tensors, a (f32, 2) and b (u8, 3), nothing else: a file without a fault.
mcf_bytes::File mcf_good();
// One matrix of 2 x 32 by q8, with its record.
mcf_bytes::File mcf_good_q8();

// Refused by `open`.
std::vector<McfCase> mcf_open_cases();
// Opened; `verify` finds them: forms that are tolerated, and things to know.
std::vector<McfCase> mcf_verify_cases();

}  // namespace tare::testing
