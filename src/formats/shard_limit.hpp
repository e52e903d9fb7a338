// How many files a model may be divided into when it is written.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "tare/error.hpp"

namespace tare {

// Far more than any model has. Each file takes about a millisecond and some kilobytes: a mistyped size must not turn a
// small model with many tensors into 100,000 files.
inline constexpr std::size_t kMostShards = 5000;

inline void require_few_shards(std::size_t files, std::string_view rule) {
  if (files > kMostShards)
    throw Error(
        ErrorKind::usage, rule,
        fmt::format("{} files would be written, at most {} allowed; ask for larger shards", files, kMostShards));
}

}  // namespace tare
