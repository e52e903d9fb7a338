// Counts how often a layout's data breaks one rule, and keeps the first place where it does.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "codecs/streams.hpp"
#include "tare/codec.hpp"

namespace tare::codec {

struct Place {
  std::uint64_t offset;  // in the blob
  std::string sentence;
};

class Tally {
 public:
  // `unit` names what is counted, in the plural. Both strings must outlive the tally.
  Tally(std::string_view rule, std::string_view unit) : rule_(rule), unit_(unit) {}
  // Calls `describe` for the first place only; it returns a Place.
  template <class Describe>
  void add(std::uint64_t count, const Describe& describe) {
    if (count == 0) return;
    if (count_ == 0) first_ = describe();
    count_ += count;
  }
  void report_to(const Blob& blob, const std::function<void(Problem)>& report) const {
    if (count_ == 0) return;
    const std::string others = count_ == 1 ? std::string() : fmt::format(" ({} such {} in all)", count_, unit_);
    report({std::string(rule_), first_.sentence + others, file_offset(blob, first_.offset)});
  }

 private:
  std::string_view rule_, unit_;
  std::uint64_t count_ = 0;
  Place first_ = {};
};

}  // namespace tare::codec
