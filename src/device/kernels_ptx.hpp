// The assembler text of the kernels: kernels.ptx, which tools/ptx makes of kernels.cu.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace tare::device {

// kernels.ptx alone.
std::vector<EmbeddedFile> kernel_files();

struct Ptx {
  std::string_view name, text;
};

// What each of the kernels begins with.
std::string_view ptx_head();
// The kernels, in the order of the file. The driver compiles a text as a whole: each kernel is a text of its own, so that only those
// that are used are compiled.
std::span<const Ptx> all_ptx();

}  // namespace tare::device
