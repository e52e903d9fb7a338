#include "base/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

thread_local Budget* spending = nullptr;

// Real files have one metadata value per ten bytes, and a value takes about a hundred bytes of memory.
constexpr std::uint64_t kBytesPerValue = 10;
constexpr std::uint64_t kStepsPerByte = 4, kMadePerByte = 8;
// Metadata does not grow with the weights, so larger files get no larger budget. (A sparse file of any size costs its
// author nothing.)
constexpr std::uint64_t kMostGranted = std::uint64_t{256} << 20;

Error overspent(std::string_view rule, std::string_view what, std::uint64_t granted) {
  return Error(ErrorKind::limit, rule, fmt::format("{} than {} bytes of files may ask for", what, count_text(granted)));
}

}  // namespace

void Budget::grant(std::uint64_t bytes) {
  file_bytes_ += std::min(bytes, UINT64_MAX - file_bytes_);
  const std::uint64_t more = std::min(bytes, kMostGranted - granted_);
  granted_ += more;
  values_ += more / kBytesPerValue;
  steps_ += more * kStepsPerByte;
  bytes_ += more * kMadePerByte;
}

void Budget::grant_file(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes) {
  if (files_.emplace(device, inode).second) grant(bytes);
}

void Budget::overspent_values() const { throw overspent("open.values", "more values of metadata", granted_); }
void Budget::overspent_steps() const {
  throw overspent("open.steps", "more steps through objects that refer to each other", granted_);
}
void Budget::overspent_bytes() const {
  throw overspent("open.bytes", "more bytes of inflated or repeated metadata", granted_);
}

void require_count(std::uint64_t count, std::string_view what) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 14;  // ten times what any known model has
  if (count > kMost)
    throw Error(ErrorKind::limit, "open.count",
                fmt::format("{} {} are stated; expected at most {}", count_text(count), what, count_text(kMost)));
}

Budget* current_budget() noexcept { return spending; }

Spending::Spending(const Allowance& allowance) : own_(allowance), outermost_(spending == nullptr) {
  if (outermost_) spending = &own_;
}

Spending::~Spending() {
  if (outermost_) spending = nullptr;
}

SeparateSpending::SeparateSpending(const Allowance& allowance)
    : own_(allowance), outer_(std::exchange(spending, &own_)) {}

SeparateSpending::~SeparateSpending() { spending = outer_; }

}  // namespace tare
