// Files of ggml before GGUF, made number by number: valid ones, and one per rule that a file can break.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zip_maker.hpp"

namespace tare::testing::gb {

inline std::string numbers(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t value : values) {
    char bytes[4];
    store_le(bytes, static_cast<std::uint32_t>(value));
    out.append(bytes, 4);
  }
  return out;
}
inline std::string floats(const std::vector<float>& values) {
  std::vector<std::int64_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::int32_t>(value));
  return numbers(bits);
}
inline std::string token(std::string_view text) {
  return numbers({static_cast<std::int64_t>(text.size())}) + std::string(text);
}
// `dims`: the fastest first.
inline std::string tensor(std::string_view name, const std::vector<std::int64_t>& dims, std::int64_t type,
                          const std::string& data) {
  return numbers({static_cast<std::int64_t>(dims.size()), static_cast<std::int64_t>(name.size()), type}) +
         numbers(dims) + std::string(name) + data;
}
inline std::string whisper(const std::string& tensors, std::int64_t type = 1, std::int64_t tokens = 2) {
  return "lmgg" + numbers({5, 10, 2, 1, 1, 6, 2, 1, 1, 2, type}) + numbers({2, 201}) +
         floats(std::vector<float>(402, 0.5F)) + numbers({tokens}) + token("a") + token("\xC3") + tensors;
}
inline const std::string& block_q8_0() {
  static const std::string block = std::string("\x00\x3C", 2) + std::string(32, '\2');
  return block;
}
// A ggjt file pads before the data.
inline std::string padded(std::string file, const std::string& head, const std::string& data) {
  file += head;
  while (file.size() % 32 != 0) file += '\0';
  return file + data;
}
inline std::string llama_head(std::string_view magic, std::int64_t version, std::int64_t type) {
  std::string head = std::string(magic);
  if (version > 0) head += numbers({version});
  head += numbers({2, 4, 256, 1, 1, 4, type});
  for (const char* const text : {"<s>", "b"}) head += token(text) + (version > 0 ? floats({-1.5F}) : "");
  return head;
}

struct Case {
  std::string rule, name;
  Bytes file;
};

inline std::vector<std::pair<std::string, Bytes>> good() {
  std::vector<std::pair<std::string, Bytes>> files;
  const auto add = [&](std::string name, const std::string& file) {
    files.emplace_back(std::move(name), bytes_of(file));
  };
  const std::string six = floats({0, 1, 2, 3, 4, 5});
  add("whisper", whisper(tensor("encoder.w", {3, 2}, 0, six) + tensor("b", {2}, 1, std::string("\0\x3C\0\x40", 4))));
  add("whisper_q8_0", whisper(tensor("w", {32}, 8, block_q8_0()), 2007));
  add("ggml", llama_head("lmgg", 0, 0) + tensor("w", {3, 2}, 0, six));
  add("ggmf", llama_head("fmgg", 1, 0) + tensor("w", {3, 2}, 0, six));
  std::string ggjt = padded(llama_head("tjgg", 3, 7), tensor("w", {32}, 8, ""), block_q8_0());
  ggjt = padded(ggjt, tensor("v", {3, 2}, 0, ""), six);
  add("ggjt", ggjt);
  add("ggjt1", padded(llama_head("tjgg", 1, 1), tensor("w", {3, 2}, 0, ""), six));
  add("gpt2", "lmgg" + numbers({2, 8, 4, 1, 1, 0}) + numbers({2}) + token("a") + token("b") +
                  tensor("model/wte", {3, 2}, 0, six));
  return files;
}

inline std::vector<Case> bad() {
  std::vector<Case> cases;
  const auto add = [&](std::string rule, std::string name, const std::string& file) {
    cases.push_back({std::move(rule), std::move(name), bytes_of(file)});
  };
  const std::string four = floats({1});
  add("ggmlbin.version", "ggjt", "tjgg" + numbers({4}) + std::string(64, '\0'));
  add("ggmlbin.truncated", "data", whisper(tensor("w", {3}, 0, four)));
  add("ggmlbin.truncated", "tokens", whisper("", 1, 4));
  add("ggmlbin.truncated", "many_tokens", "fmgg" + numbers({1, 1 << 30, 4, 256, 1, 1, 4, 0}));
  add("ggmlbin.truncated", "magic_only", "tjgg");
  add("ggmlbin.program", "none", "lmgg" + std::string(200, '\x7F'));
  add("ggmlbin.count", "dimension", whisper(tensor("w", {-1}, 0, "")));
  add("ggmlbin.count", "vocabulary", "fmgg" + numbers({1, -2, 4, 256, 1, 1, 4, 0}));
  add("ggmlbin.tokens", "more", whisper("", 1, 6));
  add("ggmlbin.rank", "five", whisper(tensor("w", {1, 1, 1, 1, 1}, 0, four)));
  add("ggmlbin.name", "none", whisper(tensor("", {1}, 0, four)));
  add("ggmlbin.name", "twice", whisper(tensor("w", {1}, 0, four) + tensor("w", {1}, 0, four)));
  add("ggmlbin.name", "long", whisper(tensor(std::string(5000, 'n'), {1}, 0, four)));
  add("ggmlbin.type", "unknown", whisper(tensor("w", {1}, 99, four)));
  add("ggmlbin.type.old", "whisper", whisper(tensor("w", {32}, 8, block_q8_0()), 7));
  add("ggmlbin.type.old", "ggjt", padded(llama_head("tjgg", 2, 7), tensor("w", {32}, 8, ""), block_q8_0()));
  add("ggmlbin.type.old", "ggmf", llama_head("fmgg", 1, 2) + tensor("w", {32}, 2, std::string(18, '\0')));
  add("ggmlbin.shape", "row", whisper(tensor("w", {31}, 8, block_q8_0()), 2007));
  add("ggmlbin.shape", "large", whisper(tensor("w", {1 << 30, 1 << 30, 1 << 30, 2}, 0, "")));
  return cases;
}

}  // namespace tare::testing::gb
