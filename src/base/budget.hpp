// What a file may cost: one budget for everything that a call of the library reads.
//
// A few bytes of a file can ask for a lot: metadata values, bytes that inflate, steps of a walk over objects that refer
// to each other. A limit per document does not bound their sum, because a model can consist of a thousand archives,
// arrays or shards, each within its limit. So a whole call has one budget: a fixed allowance plus an amount for each
// byte of the files it opens.
//
// The outermost Spending of a thread creates the budget; inner ones share it. `open` has one, `convert` has one around the
// model and its adapters, and a pipeline has one around its parts. (`diff` compares two models that are independent of each
// other: each has its own.) The parsers (JSON, CBOR, pickles, zip) charge the
// budget of their thread, like current_stop() in stopping.hpp. It is not an argument because some forty functions are
// between `open` and a parser, and one that did not pass it on would start a new limit.
//
// Without a Spending (a parser that is called directly) charges are free; depth and sizes are still checked.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

namespace tare {

// Prices in values: the memory that each item takes in the model and in the copies that a conversion makes.
inline constexpr std::uint64_t kKeyPrice = 3;           // for a map entry, in addition to its value
inline constexpr std::uint64_t kTensorPrice = 4;        // even if it has no bytes in the file
inline constexpr std::uint64_t kAttachmentPrice = 300;  // each may become a file in a directory
inline constexpr std::uint64_t kErrorPrice = 8;         // an error that is kept

// What may be spent before any byte of a file is granted.
struct Allowance {
  std::uint64_t values = std::uint64_t{1} << 17;
  std::uint64_t steps = std::uint64_t{1} << 20;
  std::uint64_t bytes = std::uint64_t{4} << 20;
};

class Budget {
 public:
  explicit Budget(const Allowance& allowance)
      : values_(allowance.values), steps_(allowance.steps), bytes_(allowance.bytes) {}

  // Bytes of a file became available to readers and raise the budget. A file that is opened twice counts once.
  void grant(std::uint64_t bytes);
  void grant_file(std::uint64_t device, std::uint64_t inode, std::uint64_t bytes);
  // All bytes that were granted, including those that raise the budget no further.
  std::uint64_t file_bytes() const { return file_bytes_; }

  // The spend functions throw Error limit: `open.values`, `open.steps`, `open.bytes`. Values created from metadata,
  // about a hundred bytes each.
  void spend_values(std::uint64_t count) {
    if (count > values_) overspent_values();
    values_ -= count;
  }
  // Visits to a value, an object or a byte that may have been visited before.
  void spend_steps(std::uint64_t count) {
    if (count > steps_) overspent_steps();
    steps_ -= count;
  }
  // Metadata bytes that come from fewer stored bytes: inflated, or repeated at each reference.
  void spend_bytes(std::uint64_t count) {
    if (count > bytes_) overspent_bytes();
    bytes_ -= count;
  }

  // For temporary values: those charged inside the scope are refunded at its end. `charge` charges them as steps
  // instead, so that a document may be read several times.
  class TemporaryCharge {
   public:
    explicit TemporaryCharge(Budget* budget) : budget_(budget), before_(budget == nullptr ? 0 : budget->values_) {}
    ~TemporaryCharge() {
      if (budget_ != nullptr) budget_->values_ = before_;
    }
    TemporaryCharge(const TemporaryCharge&) = delete;
    TemporaryCharge& operator=(const TemporaryCharge&) = delete;
    // Throws like spend_steps; call it before the end of the scope.
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
  std::uint64_t granted_ = 0;  // bytes of files, up to a limit
  std::uint64_t file_bytes_ = 0;
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
  // Whether it created the budget, so that nothing has been granted yet.
  bool is_outermost() const { return outermost_; }

 private:
  Budget own_;
  bool outermost_;
};

// Gives this thread a new budget until the end of the scope, whatever the current one has left. It is for reading back
// what was just written, which may cost what it costs a later `open`.
class SeparateSpending {
 public:
  explicit SeparateSpending(const Allowance& allowance);
  ~SeparateSpending();
  SeparateSpending(const SeparateSpending&) = delete;
  SeparateSpending& operator=(const SeparateSpending&) = delete;

 private:
  Budget own_;
  Budget* outer_;
};

// Every parser calls these.
inline void charge_values(std::uint64_t count = 1) {
  if (Budget* const budget = current_budget()) budget->spend_values(count);
}
inline void charge_steps(std::uint64_t count = 1) {
  if (Budget* const budget = current_budget()) budget->spend_steps(count);
}
inline void charge_bytes(std::uint64_t count) {
  if (Budget* const budget = current_budget()) budget->spend_bytes(count);
}

// For a number of layers, heads or the like that a file states and no bytes confirm. Call it before creating or
// visiting that many items. Throws limit `open.count`.
void require_count(std::uint64_t count, std::string_view what);

}  // namespace tare
