// A conversion in parts that are independent of each other: any process, on any machine that sees the files, can make
// them in any order and any number of times. The result equals the file that `convert` makes, byte for byte.
//
// The tensors of the output determine what each part contains. The caller divides them into runs; `write_part` makes
// one run, with the casts and quantization it needs; `convert_from_parts` assembles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tare/convert.hpp"
#include "tare/export.hpp"

namespace tare {

// A tensor of the output.
struct PlannedTensor {
  std::string name;
  std::uint64_t bytes = 0;  // decoded
};

// The tensors that `convert(input, output, options)` writes, in its order. Reads only metadata, except for methods that
// need the data to know a size (budgets of bits, one scale for a whole tensor).
[[nodiscard]] TARE_API std::vector<PlannedTensor> planned_tensors(const std::string& input, const std::string& output,
                                                                  const ConvertOptions& options = {});

// A run of tensors, and the plan it belongs to.
struct Part {
  std::size_t first = 0, count = 0;
  std::string plan;  // any text; parts of other plans are refused
};

// Writes a run of these tensors to the file `path`, atomically, replacing a part that exists; always the same bytes.
// Throws usage `plan.part.exists` if the file exists and is not a part, usage `plan.range` if the run exceeds the
// tensors, and what `convert` throws.
TARE_API void write_part(const std::string& input, const std::string& output, const ConvertOptions& options,
                         const Part& part, const std::string& path);

// Whether the path is a file (not a link) with a part of this plan that was written completely. Does not read its
// bytes; convert_from_parts checks them.
[[nodiscard]] TARE_API bool is_part(const std::string& path, const std::string& plan);

// Whose files are accepted.
enum class Owners : std::uint8_t {
  trusted,  // the user of this process, and root
  any,      // for a directory that only trusted users can write to
};

// `convert`, with tensors taken from parts. Throws not_found `plan.missing` for a tensor that no part has, corrupt
// `plan.part` for a file that is not a part of this plan or whose tensor is not the planned one, corrupt
// `plan.part.damaged` for a part whose bytes do not match the digest at its end, io `plan.part.link` for a link, io
// `plan.part.owner` for a file whose owner `owners` excludes, and what `convert` throws.
[[nodiscard]] TARE_API Conversion convert_from_parts(const std::string& input, const std::string& output,
                                                     const ConvertOptions& options, std::span<const std::string> parts,
                                                     const std::string& plan, Owners owners = Owners::trusted);

}  // namespace tare
