// One file per rule that a zTensor file can break: the rule, the bytes, and which function finds it.
#pragma once

#include <functional>

#include "conformance/zt_text.hpp"
#include "formats/format.hpp"

namespace tare::testing {

struct ZtCase {
  enum class Found { on_open, on_read, by_verify } found = Found::on_open;
  std::string rule, name;
  Bytes file;
  Limits limits = {};
};

// Refused by `open`.
std::vector<ZtCase> zt_open_cases();
// Opened; found when data is read or by `verify`: damaged data, and tolerated forms.
std::vector<ZtCase> zt_data_cases();

}  // namespace tare::testing
