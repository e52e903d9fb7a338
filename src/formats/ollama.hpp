// Models in Ollama's store, by their names there: "ollama:llama3.2:1b". ollama.cpp has the layout. The store is only read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open_as.hpp"
#include "tare/open.hpp"

namespace tare::ollama {

inline constexpr std::string_view kScheme = "ollama:";
inline bool is_name(std::string_view path) { return path.starts_with(kScheme); }

// Opens the model of a name. Throws `ollama.*`.
Model open_named(PackedForm form, const std::string& name, const ReadOptions& options);

struct Stored {
  std::string name;  // as `open_named` takes it
  std::string manifest;
  std::uint64_t bytes = 0;  // all its layers together; 0 if the manifest cannot be read
};
// All models of the stores of this user and of the system, by name.
std::vector<Stored> list();

// Throws `ollama.write` if the path is a name, a blob or a manifest of a store. `doing`: what was to be done to it.
void refuse_stored(const std::string& path, std::string_view doing);

}  // namespace tare::ollama
