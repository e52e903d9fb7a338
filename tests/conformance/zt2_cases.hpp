// One file for every rule that a zTensor 2 file can break, and files that break none.
#pragma once

#include <map>

#include "conformance/zt2_text.hpp"
#include "tare/format.hpp"

namespace tare::testing {

struct Zt2Case {
  enum class Found { on_open, by_verify } found = Found::on_open;
  std::string rule, name;
  Bytes file;
};

std::vector<Zt2Case> zt2_cases();
// By name.
std::map<std::string, Bytes> zt2_good();

}  // namespace tare::testing
