// The contents of a file, as spans in order of offset.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "view/open_model.hpp"

namespace tare::view {

struct Span {
  // One of: header, tensor, attachment, shared (bytes that an earlier segment also uses), gap, end, several (spans too
  // short to draw separately)
  std::string_view kind;
  std::int64_t tensor = -1, attachment = -1;
  std::uint64_t offset = 0, bytes = 0, parts = 1;
  std::int64_t type = kNoType;  // index into OpenModel::types; of several tensors, the one that all have

  static constexpr std::int64_t kNoType = -1, kMixed = -2;
};

// The spans of the bytes [from, to) of a file: about `most`, and never more than twice as many.
std::vector<Span> spans_of(const OpenModel& model, std::uint32_t file, std::uint64_t from, std::uint64_t to,
                           std::size_t most);

}  // namespace tare::view
