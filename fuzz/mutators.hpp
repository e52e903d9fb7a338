// Mutators that know file formats. libFuzzer's own mutators change single bytes, which breaks lengths and checksums
// before they reach expensive code. These repeat pieces, take archives apart and reassemble them, and write files from
// a grammar.
#pragma once

#include <cstring>

#include "grammars.hpp"
#include "set.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tare::fuzz {

// Changes bytes as libFuzzer does by default.
inline std::string mutated(std::string text, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  text.resize(std::max<std::size_t>(most, 1));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, most));
  return text;
}

// Repeats one piece in place.
inline std::string with_repeats(Random& random, const std::string& text, std::size_t most) {
  if (text.size() >= most || text.empty()) return text;
  const std::size_t begin = random.below(text.size());
  const std::size_t length = 1 + random.below(std::min<std::size_t>(text.size() - begin, random.one_in(2) ? 16 : 400));
  const std::size_t count = std::min(1 + random.many(), (most - text.size()) / length);
  return text.substr(0, begin) + repeated(text.substr(begin, length), count) + text.substr(begin);
}

inline std::string with_piece(Random& random, const std::string& text) {
  std::string piece;
  switch (random.below(4)) {
    case 0: piece = any_object(random, 3); break;
    case 1: piece = any_json(random, 2); break;
    case 2: piece = any_cbor(random, 3); break;
    default: put<std::uint64_t>(piece, random.number()); break;
  }
  const std::size_t place = random.below(text.size() + 1);
  const std::size_t over = random.one_in(2) ? std::min(piece.size(), text.size() - place) : 0;
  return text.substr(0, place) + piece + text.substr(place + over);
}

// The members of an archive, according to their local headers. Deflated data stays deflated and is not inspected.
inline std::vector<testing::MadeMember> members_of(const std::string& text) {
  std::vector<testing::MadeMember> members;
  for (std::size_t at = text.find("PK\3\4"); at != std::string::npos && at + 30 <= text.size() && members.size() < 200;
       at = text.find("PK\3\4", at + 4)) {
    const auto field = [&](std::size_t offset, std::size_t bytes) {
      std::size_t value = 0;
      for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[at + offset + i]);
      return value;
    };
    const std::size_t name = field(26, 2), data = at + 30 + name + field(28, 2);
    if (data > text.size()) break;
    testing::MadeMember member;
    member.name = text.substr(at + 30, name);
    member.method = static_cast<std::uint16_t>(field(8, 2));
    member.crc = static_cast<std::uint32_t>(field(14, 4));
    member.stored = text.substr(data, field(18, 4));
    member.size = field(22, 4);
    members.push_back(std::move(member));
  }
  return members;
}

inline std::string mutated_piece(Random& random, const std::string& text, std::size_t most) {
  switch (random.below(4)) {
    case 0: return with_repeats(random, text, most);
    case 1: return with_piece(random, text);
    default: return mutated(text, most);
  }
}

// Changes one member; its checksum and lengths stay correct.
inline std::string mutated_zip(Random& random, const std::string& text, std::size_t most) {
  std::vector<testing::MadeMember> members = members_of(text);
  if (members.empty()) return mutated(text, most);
  testing::MadeMember& one = members[random.below(members.size())];
  if (random.one_in(8)) {
    members.push_back(one);
  } else if (one.method != 0 || random.one_in(8)) {
    const bool is_pickle = one.name.find("pkl") != std::string::npos;
    one = testing::made(one.name, is_pickle ? any_pickle(random) : any_npy(random), random.one_in(2));
  } else {  // deflated data may be longer than the input
    const bool deflated = random.one_in(2);
    one = testing::made(one.name, mutated_piece(random, one.stored, deflated ? kMostMade : most), deflated);
  }
  return testing::make_zip(std::move(members)).bytes;
}

// Changes the header and corrects its length.
inline std::string mutated_safetensors(Random& random, const std::string& text, std::size_t most) {
  const std::size_t end =
      std::min(text.size(), text.find('}') == std::string::npos ? text.size() : text.rfind('}') + 1);
  const std::string header = mutated_piece(random, text.substr(8, std::max<std::size_t>(end, 8) - 8), most);
  std::string out;
  put<std::uint64_t>(out, header.size());
  return out + header + text.substr(end);
}

inline std::string mutated_file(Random& random, const std::string& text, std::size_t most) {
  if (text.size() < 16 || random.one_in(20)) return any_file(random);
  if (random.one_in(4)) return mutated(text, most);
  if (text.starts_with("PK\3\4")) return mutated_zip(random, text, most);
  if (text[8] == '{' && text[6] == 0) return mutated_safetensors(random, text, most);
  return mutated_piece(random, text, most);
}

inline std::size_t mutate_file(Random& random, std::uint8_t* data, std::size_t size, std::size_t most) {
  const std::string made = mutated_file(random, std::string(reinterpret_cast<const char*>(data), size), most);
  if (made.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

inline std::string text_of_entry(const SetEntry& entry) { return testing::text_of(entry.bytes); }

// One small file under many names, with an index that names them all: each is within the limits, but all together
// exceed them.
inline void multiply(Random& random, Set& set) {
  const SetEntry one = random.one_of(set.entries);
  const std::size_t count = 2 + std::min<std::size_t>(random.many(), 60);
  const bool torch = random.one_in(2);
  std::string index = R"({"metadata":{},"weight_map":{)";
  for (std::size_t i = 1; i <= count; ++i) {
    char name[64];
    std::snprintf(name, sizeof name, torch ? "pytorch_model-%05zu-of-%05zu.bin" : "model-%05zu-of-%05zu.safetensors", i,
                  count);
    set.entries.push_back({name, false, one.bytes});
    index +=
        (i == 1 ? "\"" : ",\"") + std::string(random.one_in(2) ? "a" : "w") + std::to_string(i) + "\":\"" + name + "\"";
  }
  set.entries.push_back({torch ? "pytorch_model.bin.index.json" : "model.safetensors.index.json", false,
                         testing::bytes_of(index + "}}")});
}

inline void mutate_set(Random& random, Set& set, std::size_t most) {
  if (random.one_in(4)) set.choice = static_cast<std::uint8_t>(random.below(256));
  if (random.one_in(12)) set.place = static_cast<std::uint8_t>(random.below(4));
  if (set.entries.empty()) set.entries.push_back({"config.json", false, testing::bytes_of(any_json(random, 3))});
  const std::size_t which = random.below(set.entries.size());
  SetEntry& one = set.entries[which];
  switch (random.below(16)) {
    case 0: set.entries.push_back({std::string(random.one_of(kSetNames)), false, one.bytes}); break;
    case 1: set.entries.erase(set.entries.begin() + static_cast<std::ptrdiff_t>(which)); break;
    case 2: one.name = random.one_in(3) ? any_name(random) : std::string(random.one_of(kSetNames)); break;
    case 3: {
      const std::string_view name = random.one_of(kSetNames);
      const std::string file = name.ends_with(".json") ? any_json(random, 5) : any_file(random);
      set.entries.push_back({std::string(name), false, testing::bytes_of(file)});
      break;
    }
    case 4: multiply(random, set); break;
    case 5: set.entries.push_back({std::string(random.one_of(kSetNames)), true, testing::bytes_of(one.name)}); break;
    default: {
      const std::string text = text_of_entry(one);
      const bool json = text.starts_with("{");
      one.bytes = testing::bytes_of(json ? mutated_piece(random, text, most) : mutated_file(random, text, most));
    }
  }
}

}  // namespace tare::fuzz

// For targets whose input is one whole file.
#define TARE_FUZZ_MUTATES_FILES                                                                          \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, \
                                                 unsigned seed) {                                        \
    tare::fuzz::Random random(seed);                                                                     \
    return tare::fuzz::mutate_file(random, data, size, most);                                            \
  }
