// CBOR items as byte strings, assembled by hand, deliberately independent of the library's writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::testing::cbor {

using Item = std::string;  // the bytes of one item

// `width`: 0 for the shortest form, otherwise the number of bytes (1, 2, 4, 8) after the first.
inline Item head(unsigned major, std::uint64_t value, unsigned width = 0) {
  if (width == 0) width = value < 24 ? 0 : value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFFFFFF ? 4 : 8;
  const unsigned info = width == 0   ? static_cast<unsigned>(value)
                        : width == 1 ? 24
                        : width == 2 ? 25
                        : width == 4 ? 26
                                     : 27;
  Item out(1, static_cast<char>(major << 5 | info));
  for (unsigned i = width; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

inline Item number(std::uint64_t value, unsigned width = 0) { return head(0, value, width); }
inline Item text(std::string_view t) { return head(3, t.size()) + std::string(t); }
inline Item bytes(std::string_view b) { return head(2, b.size()) + std::string(b); }
inline Item tag(std::uint64_t n, const Item& item) { return head(6, n) + item; }
inline Item null() { return "\xF6"; }

inline Item array(const std::vector<Item>& items) {
  Item out = head(4, items.size());
  for (const Item& item : items) out += item;
  return out;
}

using Entry = std::pair<std::string, Item>;  // a text key and its value

inline Item map(const std::vector<Entry>& entries) {
  Item out = head(5, entries.size());
  for (const auto& [key, item] : entries) out += text(key) + item;
  return out;
}

inline Item indefinite_map(const std::vector<Entry>& entries) {
  Item out = "\xBF";
  for (const auto& [key, item] : entries) out += text(key) + item;
  return out + "\xFF";
}

inline Item indefinite_array(const std::vector<Item>& items) {
  Item out = "\x9F";
  for (const Item& item : items) out += item;
  return out + "\xFF";
}

inline Item indefinite_text(const std::vector<std::string>& pieces) {
  Item out = "\x7F";
  for (const auto& piece : pieces) out += text(piece);
  return out + "\xFF";
}

// `with` replaces an entry or, if it does not exist, appends it; `without` omits one.
inline std::vector<Entry> with(std::vector<Entry> entries, const std::string& key, const Item& item) {
  for (auto& entry : entries)
    if (entry.first == key) {
      entry.second = item;
      return entries;
    }
  entries.emplace_back(key, item);
  return entries;
}

inline std::vector<Entry> without(std::vector<Entry> entries, const std::string& key) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.first == key; });
  return entries;
}

}  // namespace tare::testing::cbor
