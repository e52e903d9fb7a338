// Dimensions of a tensor, slowest first. An empty shape is a scalar: one element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tare/export.hpp"
#include "tare/inline_vector.hpp"

namespace tare {

class TARE_API Shape : public InlineVector<std::uint64_t, 4> {
 public:
  using InlineVector::InlineVector;

  std::size_t rank() const { return size(); }
  // Product of the dimensions; nothing if it exceeds 64 bits. A zero dimension makes it 0, whatever the others are.
  [[nodiscard]] std::optional<std::uint64_t> elements() const;
  // "2x3", and "-" for a scalar, as in the content digest.
  std::string text() const;
};

}  // namespace tare
