#include "io/metadata.hpp"

#include <algorithm>
#include <optional>

#include "base/budget.hpp"
#include "base/huge_pages.hpp"
#include "io/remote/extent.hpp"

namespace tare::io {
namespace {

// Repeated reads are charged because a thousand names in an index may be links to one file. With the steps that each
// byte grants, all bytes of all files may be read sixteen times.
constexpr std::uint64_t kBytesPerStep = 4;

}  // namespace

Metadata::Metadata(const Source& source, std::uint64_t offset, std::uint64_t length, std::size_t padding) {
  source.require(offset, length);
  charge_steps(length / kBytesPerStep);
  size_ = length;
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_ + padding);
  prefer_huge_pages(bytes_.get(), size_ + padding);
  const remote::ReadingUntil until(source, offset + length);
  source.read(offset, std::span(bytes_.get(), size_));
  std::fill_n(bytes_.get() + size_, padding, std::byte{0});
}

std::uint64_t Window::fill(std::uint64_t offset, std::uint64_t length) {
  // A system call is worth a whole page. Mapped bytes are cheap to copy again, and touching the next page costs a
  // fault.
  constexpr std::uint64_t kSeen = 256;
  const std::uint64_t left = source_.size() - std::min(offset, source_.size());
  const bool seen = source_.view(0, 0).has_value();
  const std::uint64_t count = std::min(std::max<std::uint64_t>(length, seen ? kSeen : ahead_), left);
  charge_steps(count / kBytesPerStep);
  begin_ = offset;
  filled_ = 0;  // stays 0 if the read throws
  if (buffer_.size() < count) buffer_.resize(static_cast<std::size_t>(count));
  const auto fresh = std::span(buffer_).first(static_cast<std::size_t>(count));
  if (const auto view = seen && count > 0 ? source_.view(offset, count) : std::nullopt)
    std::copy(view->begin(), view->end(), fresh.begin());
  else if (count > 0)
    source_.read(offset, fresh);
  filled_ = count;
  return std::min(length, count);
}

}  // namespace tare::io
