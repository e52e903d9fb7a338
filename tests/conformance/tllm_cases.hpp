// Tiny Llama weight files spelled out byte by byte, and one file per rule that such a file can break.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tare/value.hpp"

namespace tare::testing {

class TllmText {
 public:
  TllmText& u32(std::uint32_t value) { return put(value, 4); }
  TllmText& u64(std::uint64_t value) { return put(value, 8); }
  TllmText& f32(float value) { return put(std::bit_cast<std::uint32_t>(value), 4); }
  // `count` floats from `first` on, in steps of 1.
  TllmText& run(int count, float first) {
    for (int i = 0; i < count; ++i) f32(first + static_cast<float>(i));
    return *this;
  }
  TllmText& matrix(std::uint64_t rows, std::uint64_t columns, float first) {
    return u64(rows).u64(columns).run(static_cast<int>(rows * columns), first);
  }
  TllmText& vector(std::uint64_t size, float first) { return u64(size).run(static_cast<int>(size), first); }
  Bytes take() { return std::move(bytes_); }

 private:
  TllmText& put(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
    return *this;
  }
  Bytes bytes_;
};

// A complete file of a model with 2 dimensions, 1 layer, 1 head, 3 hidden units, 2 positions and 4 words, written from
// the specification and not by our writer. Each tensor counts up from its own multiple of 100.
inline Bytes tllm_golden() {
  TllmText out;
  out.u32(0x544C4C4D).u32(1);
  out.u32(2).u32(1).u32(1).u32(3).u32(2).u32(4).f32(0.1f);
  out.matrix(4, 2, 100);                                                        // embedding
  out.matrix(2, 2, 200);                                                        // positions
  out.matrix(2, 2, 300).matrix(2, 2, 400).matrix(2, 2, 500).matrix(2, 2, 600);  // query, key, value, output
  out.matrix(2, 3, 700).vector(3, 800).matrix(3, 2, 900).vector(2, 1000);       // linear1, linear2
  out.vector(2, 1100).vector(2, 1200).vector(2, 1300).vector(2, 1400);          // norm1, norm2
  out.matrix(2, 4, 1500);                                                       // output
  return out.take();
}

struct TllmCase {
  std::string rule, name;
  Bytes file;
  std::uint64_t offset = 0;  // the offset in the error
  std::string part_of_text;  // a part of the error's sentence
};

inline std::vector<TllmCase> tllm_cases() {
  std::vector<TllmCase> cases;
  const Bytes good = tllm_golden();
  const auto add = [&](std::string rule, std::string name, std::uint64_t offset, std::string text, auto&& spoil) {
    TllmCase bad{std::move(rule), std::move(name), good, offset, std::move(text)};
    spoil(bad.file);
    cases.push_back(std::move(bad));
  };
  const auto word = [](std::size_t at, std::uint32_t value) {
    return [=](Bytes& file) {
      for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
    };
  };
  const auto cut = [](std::size_t length) { return [=](Bytes& file) { file.resize(length); }; };

  add("tllm.header.short", "magic_only", 4, "32 are missing", cut(4));
  add("tllm.header.short", "one_byte_short", 35, "35 bytes", cut(35));
  add("tllm.magic.swapped", "other_byte_order", 0, "byte-swapped", word(0, 0x4D4C4C54));
  add("tllm.version", "zero", 4, "version 0", word(4, 0));
  add("tllm.version", "two", 4, "version 2", word(4, 2));
  const char* const fields[] = {"dim", "layers", "heads", "ffn", "positions", "vocab"};
  for (std::size_t i = 0; i < 6; ++i) {
    add("tllm.config.range", std::string("zero_") + fields[i], 8 + 4 * i, "0; it must be positive", word(8 + 4 * i, 0));
    add("tllm.config.range", std::string("negative_") + fields[i], 8 + 4 * i, "-2; it must be positive",
        word(8 + 4 * i, 0xFFFFFFFE));
  }
  for (const auto& [name, value] :
       {std::pair("one", 1.0f), std::pair("negative", -0.5f), std::pair("nan", std::numeric_limits<float>::quiet_NaN()),
        std::pair("infinite", std::numeric_limits<float>::infinity())})
    add("tllm.config.dropout", name, 32, "[0, 1)", word(32, std::bit_cast<std::uint32_t>(value)));
  add("tllm.config.heads", "three_of_two", 16, "3 heads do not divide a model dimension of 2", word(16, 3));
  // The header and the tensors disagree.
  add("tllm.tensor.dims", "vocabulary", 36, "4x2, the header asks for 5x2", word(28, 5));
  add("tllm.tensor.dims", "absurd_dim", 36, "the header asks for 4x2147483647", word(8, 0x7FFFFFFF));
  add("tllm.tensor.dims", "embedding_rows", 36, "5x2, the header asks for 4x2", word(36, 5));
  add("tllm.tensor.dims", "huge_rows", 36, "the header asks for 4x2", word(40, 0xFFFFFFFF));
  add("tllm.tensor.dims", "bias_size", 284, "size 2, the header asks for 3", word(284, 2));
  // Two layers: the output matrix is where the second layer should begin.
  add("tllm.tensor.dims", "one_layer_too_many", good.size() - 48, "2x4, the header asks for 2x2", word(12, 2));
  add("tllm.file.truncated", "after_header", 36, "0 bytes into this tensor", cut(36));
  add("tllm.file.truncated", "in_dims", 50, "14 bytes into", cut(50));
  add("tllm.file.truncated", "one_byte_short", good.size() - 1, "1 are missing", cut(good.size() - 1));
  add("tllm.file.truncated", "absurd_positions", good.size(), "are missing", [&](Bytes& file) {
    word(24, 0x7FFFFFFF)(file);
    word(84, 0x7FFFFFFF)(file);
  });
  add("tllm.file.trailing", "one_byte", good.size(), "1 byte too many", [](Bytes& file) { file.push_back({}); });
  add("tllm.file.trailing", "four_bytes", good.size(), "4 bytes too many",
      [](Bytes& file) { file.resize(file.size() + 4); });
  return cases;
}

}  // namespace tare::testing
