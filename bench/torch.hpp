#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

void torch(const std::string& directory, double gib, int rounds, Table& table);

}  // namespace bench
