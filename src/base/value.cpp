#include "tare/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/keyed_hash.hpp"
#include "base/text.hpp"

namespace tare {

namespace {

// Up to here a look at every key is faster than hashing one.
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

// An entry goes into a free slot, unless its key is in one already: the first is the one that is found, and equal keys
// by the thousand do not make a long row.
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

namespace {

// Length of the valid UTF-8 sequence that starts the text; 0 when it starts none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || length > text.size() || !is_valid_utf8(text.substr(0, length))) return 0;
  return length;
}

void append_json_char(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) < 0x20)
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  else
    out += c;
}

class JsonWriter {
 public:
  JsonWriter(std::string& out, JsonKeys keys) : out_(out), keys_(keys) {}

  void write(const Value& value) {
    std::visit([this](const auto& v) { put(v); }, value.data());
  }
  void put(const Map& map) {
    std::vector<const Map::Entry*> entries;
    for (const auto& entry : map) entries.push_back(&entry);
    if (keys_ == JsonKeys::sorted)
      std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    out_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_ += ',';
      append_json_string(out_, entries[i]->first);
      out_ += ':';
      write(entries[i]->second);
    }
    out_ += '}';
  }

 private:
  void put(std::monostate) { out_ += "null"; }
  void put(bool v) { out_ += v ? "true" : "false"; }
  void put(std::int64_t v) { fmt::format_to(std::back_inserter(out_), "{}", v); }
  void put(std::uint64_t v) { fmt::format_to(std::back_inserter(out_), "{}", v); }
  void put(double v) {
    if (std::isfinite(v))
      out_ += float_text(v);
    else
      out_ += std::isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  void put(const std::string& v) { append_json_string(out_, v); }
  void put(const Bytes& v) { out_ += "{\"$bytes\":\"" + to_hex(v) + "\"}"; }
  void put(const Opaque& v) {
    out_ += '{';
    append_json_string(out_, "$" + v.syntax);  // whoever made the value chose the word
    out_ += ":\"" + to_hex(v.bytes) + "\"}";
  }
  void put(const List& v) {
    out_ += '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out_ += ',';
      write(v[i]);
    }
    out_ += ']';
  }

  std::string& out_;
  JsonKeys keys_;
};

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const bool valid = is_valid_utf8(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x80 || valid) {
      append_json_char(out, text[i]);
    } else if (const std::size_t length = utf8_length(text.substr(i)); length > 0) {
      out += text.substr(i, length);
      i += length - 1;
    } else {
      fmt::format_to(std::back_inserter(out), "\\\\x{:02X}",
                     static_cast<unsigned>(static_cast<unsigned char>(text[i])));
    }
  }
  out += '"';
}

std::string escape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  const bool valid = is_valid_utf8(name);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const std::size_t length = valid ? 1 : utf8_length(name.substr(i));
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (length == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += name.substr(i, length);
      i += length - 1;
    }
  }
  return out;
}

std::string to_json(const Map& map, JsonKeys keys) {
  std::string out;
  JsonWriter(out, keys).put(map);
  return out;
}

std::string to_json(const Value& value, JsonKeys keys) {
  std::string out;
  JsonWriter(out, keys).write(value);
  return out;
}

}  // namespace tare
