// What a file may cost: one budget for everything that a call of the library reads.
//
// A few bytes of a file can ask for a lot: values of metadata, bytes that inflate, steps of a walk over objects that refer
// to each other. A limit on each document does not bound their sum, because a model can be a thousand archives, arrays or
// shards, each within its limit. So the whole of a call has one budget: a fixed allowance, and so much more for each byte
// of the files that it opens.
//
// The outermost Spending of a thread makes the budget and those inside of it join: `open` has one, and `convert`, `diff` and
// other jobs that open several models have one around all of them. The parsers (JSON, CBOR, pickles, zip) charge whatever
// budget their thread has, like current_stop() in stopping.hpp. That is why it is not an argument: some forty functions lie
// between `open` and a parser, and one that did not pass it on would make a limit of its own.
//
// Without a Spending (a parser that is called by itself) every charge is free; depth and sizes are checked all the same.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

namespace tare {

// Prices in values, by what each takes in memory in the model and in the copies that a conversion makes of it.
inline constexpr std::uint64_t kKeyPrice = 3;           // of a map, besides the value under it
inline constexpr std::uint64_t kTensorPrice = 4;        // one that takes no bytes of the file included
inline constexpr std::uint64_t kAttachmentPrice = 300;  // each may become a file of its own in a directory
inline constexpr std::uint64_t kErrorPrice = 8;         // one that is kept

// What may be spent before a byte of a file has been counted.
struct Allowance {
  std::uint64_t values = std::uint64_t{1} << 17;
  std::uint64_t steps = std::uint64_t{1} << 20;
  std::uint64_t bytes = std::uint64_t{4} << 20;
};

class Budget {
 public:
  explicit Budget(const Allowance& allowance)
      : values_(allowance.values), steps_(allowance.steps), bytes_(allowance.bytes) {}

  // Bytes of a file were made available to readers: they raise what may be spent. One that is opened twice counts once.
  void grant(std::uint64_t bytes);
  void grant_file(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes);

  // Each throws Error limit: `open.values`, `open.steps`, `open.bytes`.
  // Values that are made of metadata, wherever they are kept: about a hundred bytes each.
  void spend_values(std::uint64_t count) {
    if (count > values_) overspent_values();
    values_ -= count;
  }
  // Looks at a value, an object or a byte that has been looked at before, or may be.
  void spend_steps(std::uint64_t count) {
    if (count > steps_) overspent_steps();
    steps_ -= count;
  }
  // Bytes of metadata that are made of fewer bytes: inflated, or repeated wherever they are referred to.
  void spend_bytes(std::uint64_t count) {
    if (count > bytes_) overspent_bytes();
    bytes_ -= count;
  }

  // For values that are let go again: what they were charged from here on comes back at the end of the scope, and is
  // charged as steps instead, so that a document may be read several times.
  class Passing {
   public:
    explicit Passing(Budget* budget) : budget_(budget), before_(budget == nullptr ? 0 : budget->values_) {}
    ~Passing() {
      if (budget_ != nullptr) budget_->values_ = before_;
    }
    Passing(const Passing&) = delete;
    Passing& operator=(const Passing&) = delete;
    // Throws as spend_steps does; call it before the end of the scope.
    void charge() {
      if (budget_ != nullptr) budget_->spend_steps(before_ - budget_->values_);
    }

   private:
    Budget* budget_;
    std::uint64_t before_;
  };

 private:
  [[noreturn]] void overspent_values() const;
  [[noreturn]] void overspent_steps() const;
  [[noreturn]] void overspent_bytes() const;

  std::uint64_t values_, steps_, bytes_;
  std::uint64_t granted_ = 0;  // bytes of files
  std::set<std::pair<std::uint64_t, std::uint64_t>> files_;
};

// The budget of this thread; null if there is none.
Budget* current_budget() noexcept;

// Gives this thread a budget until the end of the scope, unless it has one.
class Spending {
 public:
  explicit Spending(const Allowance& allowance = {});
  ~Spending();
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;
  // Whether it made the budget: nobody has granted anything yet.
  bool is_outermost() const { return outermost_; }

 private:
  Budget own_;
  bool outermost_;
};

// What every parser calls.
inline void charge_values(std::uint64_t count = 1) {
  if (Budget* const budget = current_budget()) budget->spend_values(count);
}
inline void charge_steps(std::uint64_t count = 1) {
  if (Budget* const budget = current_budget()) budget->spend_steps(count);
}
inline void charge_bytes(std::uint64_t count) {
  if (Budget* const budget = current_budget()) budget->spend_bytes(count);
}

// For a number of layers, heads or the like that a file states and none of its bytes confirms. What makes or walks
// through so many of something calls this first. Throws limit `open.count`.
void require_count(std::uint64_t count, std::string_view what);

}  // namespace tare
