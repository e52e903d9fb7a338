// The text of the kernels, made from kernels.cu by tools/ptx.
#pragma once

#include <span>
#include <string_view>

namespace tare::device {

struct Ptx {
  std::string_view name, text;
};

// Goes before the text of each kernel.
std::string_view ptx_head();
// Ordered by name. Each kernel is a separate module, so that the driver compiles only those that are used.
std::span<const Ptx> all_ptx();

}  // namespace tare::device
