// The text of the kernels, made of kernels.cu by tools/ptx.
#pragma once

#include <span>
#include <string_view>

namespace tare::device {

struct Ptx {
  std::string_view name, text;
};

// In front of the text of each of them.
std::string_view ptx_head();
// By name. The driver compiles what it is given: each is a module of its own, so that only those that are used are compiled.
std::span<const Ptx> all_ptx();

}  // namespace tare::device
