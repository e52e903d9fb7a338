// Opens model files.
//
//   const tare::Model model = tare::open("model.gguf");
//   const std::vector<float> weights = model.at("output.weight").values<float>();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/error.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/source.hpp"
#include "tare/work.hpp"

namespace tare {

// Bounds on what a file may ask for; the caller can raise each. With these, the time and memory that reading takes are
// proportional to the bytes of the file, whatever they contain.
struct TARE_API Limits {
  std::uint64_t metadata_bytes = std::uint64_t{1} << 30;  // a manifest, header or member directory
  // Limits on all metadata that one call reads, over all files, archives and documents: values that it creates, visits
  // to values that may have been visited before, and bytes that are inflated or repeated. Each byte of the files adds a
  // tenth of a value, four visits and eight bytes, for up to 256 MiB of files. A key counts as three values, a tensor
  // as four, an attached file as 300.
  std::uint64_t metadata_values = std::uint64_t{1} << 17;
  std::uint64_t metadata_steps = std::uint64_t{1} << 20;
  std::uint64_t metadata_made = std::uint64_t{4} << 20;
  std::uint64_t component_bytes = std::uint64_t{32} << 30;  // decoded size that only the file states
  // What all tensors and attachments may decode to: `decoded_bytes` plus `expansion` times the bytes of the file.
  std::uint64_t decoded_bytes = std::uint64_t{16} << 20;
  std::uint64_t expansion = 32;
  unsigned depth = 64;  // nesting of metadata
  unsigned rank = 64;   // dimensions of a tensor

  // `decoded_bytes` + `expansion` * `file_bytes`.
  std::uint64_t decoded_from(std::uint64_t file_bytes) const;
};

struct ReadOptions {
  Access access = Access::mapped;
  Limits limits = {};
  Diagnostics* diagnostics = nullptr;  // null: throw the first error
  // Only names, types and sizes are needed: tensors may decode to more than `limits` allows.
  bool listing = false;
  // Off: Model::vocabulary may stay empty. Hundreds of thousands of tokens and merges take longer than everything else.
  bool vocabulary = true;
  Work work = {};  // for readers that check the data (zip's checksums)
  // For a model in a directory: globs over relative names of files to carry in addition to the usual ones.
  std::vector<std::string> attach = {};
  // Continue if a tensor breaks a rule of its own, and list it in Model::broken; off: throw that error. An error of the
  // file as a whole is thrown in both cases.
  bool keep_broken = false;
};

// Opens any model file: detects the format and reads its metadata. Tensor bytes are read later, on demand.
[[nodiscard]] TARE_API Model open(const std::string& path, const ReadOptions& options = {});
[[nodiscard]] TARE_API Model open(const SourcePtr& source, const ReadOptions& options = {});

}  // namespace tare
