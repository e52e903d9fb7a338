#include "tare/value.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "base/keyed_hash.hpp"

namespace tare {

namespace {

// Up to this many keys, comparing all is faster than hashing one.
constexpr std::size_t kUnindexed = 16;
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

std::uint32_t short_hash(std::string_view key) { return static_cast<std::uint32_t>(keyed_hash(key)); }
std::uint64_t slot_of(std::uint32_t hash, std::size_t position) { return std::uint64_t{hash} << 32 | (position + 1); }
std::uint32_t hash_in(std::uint64_t slot) { return static_cast<std::uint32_t>(slot >> 32); }
std::uint32_t position_in(std::uint64_t slot) { return static_cast<std::uint32_t>(slot) - 1; }

}  // namespace

Map::Map(const Map& other)
    : entries_(other.entries_), slots_(other.slots_ == nullptr ? nullptr : std::make_unique<Slots>(*other.slots_)) {}

Map& Map::operator=(const Map& other) {
  if (this != &other) *this = Map(other);
  return *this;
}

std::uint32_t Map::position(std::string_view key) const {
  if (slots_ == nullptr) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].first == key) return static_cast<std::uint32_t>(i);
    return kNowhere;
  }
  const Slots& slots = *slots_;
  const std::uint32_t hash = short_hash(key);
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash & mask; slots[at] != 0; at = (at + 1) & mask)
    if (hash_in(slots[at]) == hash && entries_[position_in(slots[at])].first == key) return position_in(slots[at]);
  return kNowhere;
}

// Puts an entry into a free slot, unless its key already has one: `find` returns the first of equal keys, and thousands
// of equal keys do not make a long chain.
void Map::index(std::size_t position) {
  const std::string& key = entries_[position].first;
  Slots& slots = *slots_;
  const std::uint32_t hash = short_hash(key);
  const std::size_t mask = slots.size() - 1;
  std::size_t at = hash & mask;
  for (; slots[at] != 0; at = (at + 1) & mask)
    if (hash_in(slots[at]) == hash && entries_[position_in(slots[at])].first == key) return;
  slots[at] = slot_of(hash, position);
}

void Map::index_all() {
  slots_.reset();
  if (entries_.size() <= kUnindexed) return;
  slots_ = std::make_unique<Slots>(std::bit_ceil(2 * entries_.size()));
  for (std::size_t i = 0; i < entries_.size(); ++i) index(i);
}

void Map::reserve(std::size_t entries) { entries_.reserve(entries); }

const Value* Map::find(std::string_view key) const {
  const std::uint32_t at = position(key);
  return at == kNowhere ? nullptr : &entries_[at].second;
}

Value* Map::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

void Map::set(std::string_view key, Value value) {
  if (Value* old = find(key))
    *old = std::move(value);
  else
    append(std::string(key), std::move(value));
}

void Map::append(std::string key, Value value) {
  if (entries_.size() >= kNowhere - 1) throw std::length_error("too many entries in a map");
  entries_.emplace_back(std::move(key), std::move(value));
  if (slots_ != nullptr && 2 * entries_.size() <= slots_->size())
    index(entries_.size() - 1);
  else
    index_all();
}

bool Map::erase(std::string_view key) {
  return erase_if([&](const Entry& entry) { return entry.first == key; }) > 0;
}

bool operator==(const Map& a, const Map& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const Map::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other != nullptr && *other == entry.second;
  });
}

Value::Value(std::uint64_t v) {
  if (v <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    data_ = static_cast<std::int64_t>(v);
  else
    data_ = v;
}

}  // namespace tare
