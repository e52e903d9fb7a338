// A file that is rewritten at the worst moment, the same moment in every run.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>

#include "tare/source.hpp"

namespace tare::test {

class ChangingSource final : public Source {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  // Has the bytes `first`, and `then` (of the same length) from access number `when` on. Views that were returned
  // before show the change too, like those of a mapping. Without `views` there are none, as for a file that is read
  // with pread.
  ChangingSource(Bytes first, Bytes then, std::uint64_t when, bool views)
      : Source("it", first.size()), live_(std::move(first)), then_(std::move(then)), when_(when), views_(views) {}

  // The number of accesses so far.
  std::uint64_t accesses() const { return accesses_; }
  // Changes the bytes now.
  void change() const {
    const std::scoped_lock lock(mutex_);
    std::copy(then_.begin(), then_.end(), live_.begin());
  }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    count();
    const std::scoped_lock lock(mutex_);
    if (!out.empty()) std::memcpy(out.data(), live_.data() + offset, out.size());
  }
  const std::byte* do_view() const override {
    if (!views_) return nullptr;
    count();
    static constexpr std::byte kNothing{};
    return live_.empty() ? &kNothing : live_.data();
  }

 private:
  void count() const {
    if (accesses_++ == when_) change();
  }

  mutable std::mutex mutex_;
  mutable Bytes live_;
  Bytes then_;
  std::uint64_t when_;
  bool views_;
  mutable std::atomic<std::uint64_t> accesses_ = 0;
};

}  // namespace tare::test
