// One rule of a layout's data on a walk over it: the first place where it is broken, and how often it is.
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
  // `unit`: what is counted, in the plural. Both must outlive this.
  Tally(std::string_view rule, std::string_view unit) : rule_(rule), unit_(unit) {}
  // `describe` is called for the first only, and gives a Place.
  template <class Describe>
  void add(std::uint64_t count, const Describe& describe) {
    if (count == 0) return;
    if (count_ == 0) first_ = describe();
    count_ += count;
  }
  void tell(const Blob& blob, const std::function<void(Problem)>& report) const {
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
