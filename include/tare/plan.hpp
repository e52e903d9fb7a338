// A conversion in parts that are made independently of each other: by any process, on any machine that sees the files, in any
// order and any number of times. The result is the file that `convert` makes, byte for byte.
//
// What each part has is fixed beforehand, by the tensors of the output. Whoever plans divides them into runs; `write_part` makes
// one run, casting and quantizing what must be; `convert_from_parts` puts them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tare/convert.hpp"
#include "tare/export.hpp"

namespace tare {

// A tensor as the output will have it.
struct PlannedTensor {
  std::string name;
  std::uint64_t bytes = 0;  // decoded
};

// The tensors of what `convert(input, output, options)` writes, in its order. Looks at metadata only, but for methods that
// look at the data before they can promise a size (budgets of bits, one scale for a whole tensor).
[[nodiscard]] TARE_API std::vector<PlannedTensor> planned_tensors(const std::string& input, const std::string& output,
                                                                  const ConvertOptions& options = {});

// Which tensors, and for which plan.
struct Part {
  std::size_t first = 0, count = 0;
  std::string plan;  // any text; parts of other plans are not taken for those of this one
};

// Writes a run of these tensors to the file `path`, whole or not at all, in place of what is there; the same bytes every time.
// Throws usage `plan.range` unless there are so many, and what `convert` throws.
TARE_API void write_part(const std::string& input, const std::string& output, const ConvertOptions& options,
                         const Part& part, const std::string& path);

// Whether a file, not a link to one, is a part of this plan. It was written whole; whether its bytes are still those is for
// convert_from_parts to say, which reads them all.
[[nodiscard]] TARE_API bool is_part(const std::string& path, const std::string& plan);

// Whose files are taken.
enum class Owners : std::uint8_t {
  trusted,  // the user of this process, and root
  any,      // for a directory that only those can write to whom the caller trusts
};

// `convert`, with tensors that are in parts already. Throws not_found `plan.missing` for a tensor that no part has, corrupt
// `plan.part` for a file that is not a part of this plan or whose tensor is not the one that was planned, corrupt
// `plan.part.damaged` for a part whose bytes do not match the digest that every part ends with, io `plan.part.link` for a
// link, io `plan.part.owner` for a file of somebody whom `owners` leaves out, and what `convert` throws.
[[nodiscard]] TARE_API Conversion convert_from_parts(const std::string& input, const std::string& output,
                                                     const ConvertOptions& options, std::span<const std::string> parts,
                                                     const std::string& plan, Owners owners = Owners::trusted);

}  // namespace tare
