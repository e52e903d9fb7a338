// One file per rule that an MCF file can break: the rule, the bytes, and which function finds it.
#pragma once

#include "conformance/mcf_bytes.hpp"
#include "formats/format.hpp"

namespace tare::testing {

struct McfCase {
  std::string rule, name;
  Bytes file;
  Limits limits = {};
};

// A valid file with two tensors, a (f32, 2) and b (u8, 3), and nothing else.
mcf_bytes::File mcf_good();
// One matrix of 2 x 32 in q8, with its record.
mcf_bytes::File mcf_good_q8();

// Refused by `open`.
std::vector<McfCase> mcf_open_cases();
// Opened, but reported by `verify`: tolerated forms, and notes.
std::vector<McfCase> mcf_verify_cases();

}  // namespace tare::testing
