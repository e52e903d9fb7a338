// The assembler text of the kernels: kernels.ptx, which tools/ptx makes from kernels.cu.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace tare::device {

// Contains only kernels.ptx.
std::vector<EmbeddedFile> kernel_files();

struct Ptx {
  std::string_view name, text;
};

// The text with which each kernel begins.
std::string_view ptx_head();
// The kernels, in the order of the file. The driver compiles a text as a whole, so each kernel is its own text and only
// the kernels in use are compiled.
std::span<const Ptx> all_ptx();

}  // namespace tare::device
