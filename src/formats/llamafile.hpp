// A llamafile: a program for many systems with a zip archive after it, in which a model is stored as it is.
#pragma once

#include <optional>
#include <string>

#include "tare/open.hpp"
#include "tare/source.hpp"

namespace tare {

// The model inside of a program.
struct Inside {
  SourcePtr source;          // its bytes, a range of the program's file
  std::uint64_t offset = 0;  // where they begin
  std::string member;        // what the archive calls it
  std::string arguments;     // what the program begins with, if it has such; they name the model
};
// Nothing if the file is not a program with an archive that has a model. Throws `llamafile.*` if it has several and does
// not name the one that it runs, or if the model is compressed.
std::optional<Inside> look_inside(const SourcePtr& program, const ReadOptions& options);

// Makes a model that was read from inside one of the whole file: its bytes are ranges of that, as before without a copy.
void bring_outside(Model& model, const Inside& inside, const SourcePtr& program);

}  // namespace tare
