// The sections of an MCF file, for programs that depend on particular ones. The format requires no section: a program
// lists the sections it needs, and the error names the first missing one.
//
//   const SourcePtr file = open_file("model.mcf");
//   mcf::require(*file, {mcf::SectionType::tensor_index, mcf::SectionType::tokenizer});
//   const Model model = open(file);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tare/export.hpp"
#include "tare/source.hpp"

namespace tare::mcf {

// The sections that the format defines; a file may have others.
enum class SectionType : std::uint32_t {
  model_info = 0x0001,
  quant_info = 0x0002,
  tensor_index = 0x0003,
  tensor_data = 0x0004,
  config = 0x0100,
  generation_config = 0x0101,
  tokenizer = 0x0102,
  tokenizer_config = 0x0103,
  vocab = 0x0104,
  merges = 0x0105,
};

// "TensorIndex", "config.json"; for types that the format does not define, the number: "0x00000200".
[[nodiscard]] TARE_API std::string name_of(SectionType type);

// An entry of the section directory.
struct Section {
  SectionType type = {};
  std::uint32_t version = 1;
  std::uint64_t offset = 0, size = 0;  // bytes, in the file
};

// The section directory of a file, sorted by type. Reads only the header and the directory. Throws what `open` would.
[[nodiscard]] TARE_API std::vector<Section> sections(const Source& source);

// Throws Error not_found `mcf.require`, which names the first of `types` that the file has no section of.
TARE_API void require(const Source& source, std::span<const SectionType> types);
inline void require(const Source& source, std::initializer_list<SectionType> types) {
  require(source, std::span(types.begin(), types.size()));
}

}  // namespace tare::mcf
