// One file per rule that a zTensor 2 file can break, and files that break none.
#pragma once

#include <map>

#include "conformance/zt2_text.hpp"
#include "formats/format.hpp"

namespace tare::testing {

struct Zt2Case {
  enum class Found { on_open, by_verify } found = Found::on_open;
  std::string rule, name;
  Bytes file;
};

std::vector<Zt2Case> zt2_cases();
// By name.
std::map<std::string, Bytes> zt2_good();

// A model in several files, as a directory, whose root makes a false statement about the others. Without a rule:
// nothing is wrong.
struct Zt2Tree {
  Zt2Case::Found found = Zt2Case::Found::on_open;
  std::string rule, name;
  std::map<std::string, Bytes> files;  // by path in the directory
};
std::vector<Zt2Tree> zt2_trees();

}  // namespace tare::testing
