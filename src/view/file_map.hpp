// What lies where in a file, as spans in order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "view/exhibit.hpp"

namespace tare::view {

struct Span {
  // header, tensor, attachment, shared (bytes that another one has, too), gap, end, several (too short to be told apart)
  std::string_view kind;
  std::int64_t tensor = -1, attachment = -1;
  std::uint64_t offset = 0, bytes = 0, parts = 1;
};

// Of the bytes [from, to) of a file, in about `most` spans, and never more than twice as many.
std::vector<Span> spans_of(const Exhibit& model, std::uint32_t file, std::uint64_t from, std::uint64_t to,
                           std::size_t most);

}  // namespace tare::view
