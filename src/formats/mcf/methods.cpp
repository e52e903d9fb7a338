#include "formats/mcf/methods.hpp"

#include <algorithm>
#include <array>

namespace tare::mcf {
namespace {

constexpr std::array<MethodRecord, 8> kMethods = {{
    {0x10, "int8", 0, 0},
    {0x11, "int4", 0, 0},
    {0x20, "q8", 32, 0},
    {0x21, "q4", 32, 0},
    {0x30, "k6", 32, 256},
    {0x31, "k4", 32, 256},
    {0x32, "k3", 32, 256},
    {0x33, "k2", 32, 256},
}};

}  // namespace

const codec::mcf::Method* find_method(std::uint32_t number) {
  const auto* const found = std::find_if(kMethods.begin(), kMethods.end(),
                                         [&](const MethodRecord& record) { return record.number == number; });
  return found == kMethods.end() ? nullptr : codec::mcf::find_method(found->name);
}

const MethodRecord& record_of(const codec::mcf::Method& method) {
  return *std::find_if(kMethods.begin(), kMethods.end(),
                       [&](const MethodRecord& record) { return record.name == method.name; });
}

}  // namespace tare::mcf
