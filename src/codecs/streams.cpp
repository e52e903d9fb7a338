#include "codecs/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// Bytes read at a time: large enough to hide the cost of a call, small enough to stay in the cache.
constexpr std::size_t kPull = ByteStream::kMost;
constexpr std::size_t kDirect = 2048;  // elements that are decoded to where they are wanted, without a copy

std::size_t up_to(std::uint64_t left, std::size_t most) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(left, most));
}

Error past_end() { return Error(ErrorKind::usage, "blob.bounds", "read past the end of a component"); }

}  // namespace

ByteStream::ByteStream(const Blob& blob, std::uint64_t offset)
    : reader_(blob.open(offset)), left_(blob.size() - offset) {}

void ByteStream::fill(std::size_t count) {
  const std::size_t kept = end_ - at_;
  if (count > kMost || count - kept > left_) throw past_end();
  // Sized by what is left, so that a tensor of few entries costs few bytes.
  buffer_.resize(std::max(buffer_.size(), up_to(left_ + kept, kMost)));
  std::memmove(buffer_.data(), buffer_.data() + at_, kept);
  const std::size_t fresh = up_to(left_, buffer_.size() - kept);
  reader_->read(std::span(buffer_).subspan(kept, fresh));
  left_ -= fresh;
  at_ = 0;
  end_ = kept + fresh;
}

ElementStream::ElementStream(const Component& component, std::uint64_t first)
    : reader_(component.blob.open(first * size_of(component.dtype))),
      dtype_(component.dtype),
      type_(component.type),
      left_(component.blob.size() / size_of(component.dtype) - first) {}

void ElementStream::read(std::span<double> out) {
  while (!out.empty()) {
    if (at_ == values_.size()) {
      if (left_ == 0) throw past_end();
      if (out.size() >= kDirect) {
        const std::size_t part = up_to(left_, std::min(out.size(), kPull / 8));
        raw_.resize(part * size_of(dtype_));
        reader_->read(raw_);
        decode_elements(dtype_, type_, raw_, out.first(part));
        left_ -= part;
        out = out.subspan(part);
        continue;
      }
      // Twice as many each time, so that a few elements do not cost thousands.
      run_ = std::min(std::max(2 * run_, out.size()), kPull / 8);
      const std::size_t count = up_to(left_, run_);
      raw_.resize(count * size_of(dtype_));
      reader_->read(raw_);
      values_.resize(count);
      decode_elements(dtype_, type_, raw_, values_);
      left_ -= count;
      at_ = 0;
    }
    const std::size_t part = std::min(out.size(), values_.size() - at_);
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(at_), part, out.begin());
    at_ += part;
    out = out.subspan(part);
  }
}

std::optional<std::uint64_t> file_offset(const Blob& blob, std::uint64_t at) {
  if (!blob.is_plain() || blob.source() == nullptr) return std::nullopt;
  return blob.offset() + at;
}

bool is_seekable(const Blob& blob) {
  const std::uint64_t step = blob.seek_granularity();
  return step != 0 && step <= 64;
}

void verify_booleans(const Component& component, const std::function<void(Problem)>& report) {
  if (component.dtype != DType::boolean) return;
  const auto reader = component.blob.open();
  std::vector<std::byte> buffer(up_to(component.blob.size(), kPull));
  std::uint64_t bad = 0, first = 0;
  std::byte found{};
  for (std::uint64_t at = 0; at < component.blob.size();) {
    const auto part = std::span(buffer).first(up_to(component.blob.size() - at, buffer.size()));
    reader->read(part);
    std::uint64_t here = 0;
    for (const std::byte b : part) here += static_cast<std::uint64_t>(b > std::byte{1});
    if (here != 0 && bad == 0) {
      const auto it = std::find_if(part.begin(), part.end(), [](std::byte b) { return b > std::byte{1}; });
      first = at + static_cast<std::uint64_t>(it - part.begin());
      found = *it;
    }
    bad += here;
    at += part.size();
  }
  if (bad == 0) return;
  report({"bool.value",
          fmt::format("component \"{}\": a boolean is 0 or 1, element {} is {} ({} such bytes in all)", component.role,
                      first, std::to_integer<unsigned>(found), bad),
          file_offset(component.blob, first)});
}

void verify_type(const Component& component, const std::function<void(Problem)>& report) {
  const LogicalType* const known = find_logical_type(component.type);
  if (known == nullptr || known->storage == component.dtype) return;
  report({"type.storage",
          fmt::format("component \"{}\": {} is stored as {}, found {}", component.role, known->name,
                      name_of(known->storage), name_of(component.dtype)),
          file_offset(component.blob, 0)});
}

// Uses the same sentence as verify does for floats.
Problem infinite_values(std::uint64_t infinite, std::uint64_t values, std::optional<std::uint64_t> offset) {
  return {"data.nonfinite", fmt::format("{} infinite among {} values", count_text(infinite), count_text(values)),
          offset, Severity::warning};
}

}  // namespace tare
