#include "io/remote/extent.hpp"

#include <utility>

namespace tare::io::remote {
namespace {

thread_local const ReadingUntil* reading = nullptr;

}  // namespace

ReadingUntil::ReadingUntil(const Source& source, std::uint64_t end) noexcept
    : source_(&source), end_(end), outer_(std::exchange(reading, this)) {}

ReadingUntil::~ReadingUntil() { reading = outer_; }

std::optional<std::uint64_t> reading_until(const Source& source, std::uint64_t offset) noexcept {
  if (reading == nullptr || reading->source_ != &source || reading->end_ <= offset) return std::nullopt;
  return reading->end_;
}

}  // namespace tare::io::remote
