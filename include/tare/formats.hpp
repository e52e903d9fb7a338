// The containers that Tare knows.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tare/export.hpp"

namespace tare {

struct FormatInfo {
  std::string_view name;      // "zt": for SaveOptions::to
  std::string_view title;     // "zTensor"
  std::string_view versions;  // versions read and written, for people
  std::span<const std::string_view> suffixes;
  bool reads = false, writes = false;
  // What it can hold in addition to tensors.
  bool metadata = false, config = false, vocabulary = false, attachments = false;
  bool shards = false;     // WriteOptions::shard_bytes can split it into files
  bool to_a_pipe = false;  // it can be written to standard output
};

[[nodiscard]] TARE_API std::vector<FormatInfo> format_list();

}  // namespace tare
