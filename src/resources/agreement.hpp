// Compares a config and a vocabulary with the files that describe them.
//
// Only what both sides state is compared: a file may have keys that a container has no field for, and the other way
// round. Numbers that are the same in 32 bits are equal, because containers round them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::resources {

struct Disagreement {
  std::string what;              // "rms_norm_eps", "token 3"
  std::string in_files, stated;  // the two values, as text
};
// Returns the first difference; nothing if there is none.
std::optional<Disagreement> difference(const Config& stated, const Config& in_file);
std::optional<Disagreement> difference(const Vocabulary& stated, const Vocabulary& in_files);

// Compares a model with its attached files. The errors are corrupt (`config.differs`, `tokenizer.differs`) and are about
// the file. Files that cannot be parsed are not compared.
std::vector<Error> disagreements(const Model& model);

}  // namespace tare::resources
