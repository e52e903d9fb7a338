// Finds names by hash, for Model::tensor and TensorIndex.
//
// A table stores only positions; `name_at(i)` returns the name at position i. Each result is compared with the actual
// name, so an outdated table misses names but never returns a wrong one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "base/keyed_hash.hpp"
#include "tare/model.hpp"

namespace tare {

inline constexpr std::size_t kNoPosition = std::numeric_limits<std::size_t>::max();

class NameTable {
 public:
  // Positions have 32 bits: names beyond are omitted. If names are equal, the first is found.
  template <typename NameAt>
  NameTable(std::size_t count, const NameAt& name_at) : slots_(std::bit_ceil(2 * count + 1)) {
    for (std::size_t i = 0; i < count && i < std::numeric_limits<std::uint32_t>::max(); ++i) {
      const std::string_view name = name_at(i);
      const std::uint32_t hash = short_hash(name);
      std::size_t at = hash & mask();
      while (slots_[at].number != 0 && (slots_[at].hash != hash || name_at(slots_[at].number - 1) != name))
        at = (at + 1) & mask();
      if (slots_[at].number == 0) slots_[at] = {hash, static_cast<std::uint32_t>(i + 1)};
    }
  }

  // A position below `count` with this name; kNoPosition if the table knows none.
  template <typename NameAt>
  std::size_t find(std::string_view name, std::size_t count, const NameAt& name_at) const {
    const std::uint32_t hash = short_hash(name);
    for (std::size_t at = hash & mask(); slots_[at].number != 0; at = (at + 1) & mask()) {
      const std::size_t position = slots_[at].number - 1;
      if (slots_[at].hash == hash && position < count && name_at(position) == name) return position;
    }
    return kNoPosition;
  }

 private:
  // At most half of the slots are in use.
  struct Slot {
    std::uint32_t hash = 0, number = 0;  // position + 1; 0: free
  };

  static std::uint32_t short_hash(std::string_view name) { return static_cast<std::uint32_t>(keyed_hash(name)); }
  std::size_t mask() const { return slots_.size() - 1; }

  std::vector<Slot> slots_;
};

// Lookups that use NameHints.
class NameLookup {
 public:
  // This many linear searches cost about as much as building a table, so a single lookup does not build one.
  static constexpr unsigned kPatience = 8;

  template <typename NameAt>
  static std::size_t find(const NameHints& hints, std::string_view name, std::size_t count, const NameAt& name_at) {
    if (const auto table = table_of(hints); table != nullptr)
      if (const std::size_t at = table->find(name, count, name_at); at != kNoPosition) return at;
    std::size_t at = 0;
    while (at < count && name_at(at) != name) ++at;
    if (at == count) return kNoPosition;
    if (hints.searches_.fetch_add(1, std::memory_order_relaxed) + 1 >= kPatience) renew(hints, count, name_at);
    return at;
  }

 private:
  static std::shared_ptr<const NameTable> table_of(const NameHints& hints) {
    const std::lock_guard lock(hints.mutex_);
    return hints.table_;
  }

  template <typename NameAt>
  static void renew(const NameHints& hints, std::size_t count, const NameAt& name_at) {
    try {
      auto table = std::make_shared<const NameTable>(count, name_at);
      const std::lock_guard lock(hints.mutex_);
      hints.table_.swap(table);
      hints.searches_.store(0, std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // works without the table
    }
  }
};

}  // namespace tare
