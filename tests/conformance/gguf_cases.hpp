// GGUF files spelled out byte by byte, and one file per rule that such a file can break.
#pragma once

#include <bit>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tare/value.hpp"

namespace tare::testing {

// Appends fields, in the byte order and with the width of lengths that the file has.
class GgufText {
 public:
  explicit GgufText(bool big = false, bool short_lengths = false) : big_(big), short_lengths_(short_lengths) {}

  GgufText& number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> (8 * (big_ ? width - 1 - i : i)) & 0xFF));
    return *this;
  }
  GgufText& u8(std::uint64_t value) { return number(value, 1); }
  GgufText& u16(std::uint64_t value) { return number(value, 2); }
  GgufText& u32(std::uint64_t value) { return number(value, 4); }
  GgufText& u64(std::uint64_t value) { return number(value, 8); }
  GgufText& f32(float value) { return u32(std::bit_cast<std::uint32_t>(value)); }
  GgufText& f64(double value) { return u64(std::bit_cast<std::uint64_t>(value)); }
  GgufText& length(std::uint64_t value) { return number(value, short_lengths_ ? 4 : 8); }
  GgufText& raw(const std::string& text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  GgufText& text(const std::string& text) { return length(text.size()).raw(text); }
  GgufText& pad(std::size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{0});
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  Bytes take() { return std::move(bytes_); }

 private:
  bool big_, short_lengths_;
  Bytes bytes_;
};

// A file in parts, each of which a case can corrupt.
struct GgufFile {
  using Part = std::function<void(GgufText&)>;

  bool big = false;
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::vector<Part> entries, infos, data;
  std::optional<std::uint64_t> tensor_count = std::nullopt, entry_count = std::nullopt;
  std::string magic = "GGUF";
  bool padded = true;
  std::string tail = {};

  GgufFile& entry(const std::string& key, std::uint32_t type, const Part& value) {
    entries.push_back([=](GgufText& out) {
      out.text(key).u32(type);
      value(out);
    });
    return *this;
  }
  GgufFile& string(const std::string& key, const std::string& value) {
    return entry(key, 8, [=](GgufText& out) { out.text(value); });
  }
  GgufFile& u32(const std::string& key, std::uint32_t value) {
    return entry(key, 4, [=](GgufText& out) { out.u32(value); });
  }
  GgufFile& strings(const std::string& key, const std::vector<std::string>& values) {
    return entry(key, 9, [=](GgufText& out) {
      out.u32(8).length(values.size());
      for (const std::string& value : values) out.text(value);
    });
  }
  GgufFile& tensor(const std::string& name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                   std::uint64_t offset, const Part& bytes) {
    infos.push_back([=](GgufText& out) {
      out.text(name).u32(dims.size());
      for (const std::uint64_t dim : dims) out.length(dim);
      out.u32(type).u64(offset);
    });
    data.push_back(bytes);
    return *this;
  }
  Bytes bytes() const {
    GgufText out(big, version == 1);
    out.raw(magic).u32(version);
    out.length(tensor_count.value_or(infos.size())).length(entry_count.value_or(entries.size()));
    for (const Part& part : entries) part(out);
    for (const Part& part : infos) part(out);
    if (!data.empty()) out.pad(alignment);
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i](out);
      if (padded || i + 1 < data.size()) out.pad(alignment);
    }
    out.raw(tail);
    return out.take();
  }
};

inline GgufFile::Part gguf_floats(int count, float first) {
  return [=](GgufText& out) {
    for (int i = 0; i < count; ++i) out.f32(first + static_cast<float>(i));
  };
}

// One value of each type, a vocabulary, and three tensors: an f32 matrix [2][3], a row of 32 in Q8_0 (scale 0.5, codes
// -16 to 15) and 4 bf16.
inline GgufFile gguf_golden(bool big = false, std::uint32_t version = 3) {
  GgufFile file;
  file.big = big;
  file.version = version;
  file.string("general.architecture", "llama").string("general.name", "golden");
  file.u32("llama.context_length", 128).u32("llama.embedding_length", 64).u32("llama.block_count", 2);
  file.entry("llama.attention.layer_norm_rms_epsilon", 6, [](GgufText& out) { out.f32(1e-5F); });
  file.entry("x.u8", 0, [](GgufText& out) { out.u8(200); });
  file.entry("x.i8", 1, [](GgufText& out) { out.u8(0xFD); });
  file.entry("x.u16", 2, [](GgufText& out) { out.u16(60000); });
  file.entry("x.i16", 3, [](GgufText& out) { out.u16(0xFFFE); });
  file.entry("x.i32", 5, [](GgufText& out) { out.u32(0xFFFFFFFF); });
  file.entry("x.bool", 7, [](GgufText& out) { out.u8(1); });
  if (version > 1) {
    file.entry("x.u64", 10, [](GgufText& out) { out.u64(0x8000000000000005); });
    file.entry("x.i64", 11, [](GgufText& out) { out.u64(0xFFFFFFFFFFFFFFF9); });
    file.entry("x.f64", 12, [](GgufText& out) { out.f64(0.1); });
  }
  file.entry("x.floats", 9, [](GgufText& out) { out.u32(6).length(2).f32(0.5F).f32(-1.25F); });
  file.entry("x.bytes", 9, [](GgufText& out) { out.u32(0).length(3).u8(1).u8(0).u8(255); });
  file.entry("x.none", 9, [](GgufText& out) { out.u32(8).length(0); });
  file.entry("x.shorts", 9, [](GgufText& out) { out.u32(3).length(2).u16(0xFFFF).u16(7); });
  file.string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "qwen2");
  file.strings("tokenizer.ggml.tokens", {"a", "\xC4\xA0z", "<|end|>"});
  file.entry("tokenizer.ggml.token_type", 9, [](GgufText& out) { out.u32(5).length(3).u32(1).u32(1).u32(3); });
  file.strings("tokenizer.ggml.merges", {"\xC4\xA0 z"});
  file.u32("tokenizer.ggml.eos_token_id", 2);
  file.tensor("token_embd.weight", {3, 2}, 0, 0, gguf_floats(6, 1));
  file.tensor("blk.0.ffn_up.weight", {32}, 8, 32, [](GgufText& out) {
    out.u16(0x3800);
    for (int i = 0; i < 32; ++i) out.u8(static_cast<std::uint8_t>(i - 16));
  });
  file.tensor("output_norm.weight", {4}, 30, 96, [](GgufText& out) { out.u16(0x3F80).u16(0x4000).u16(0).u16(0xBF80); });
  return file;
}

struct GgufCase {
  std::string rule, name;
  Bytes file;
  bool warning = false;
};

inline std::vector<GgufCase> gguf_cases() {
  std::vector<GgufCase> cases;
  const auto add = [&](std::string rule, std::string name, const std::function<void(GgufFile&)>& spoil,
                       bool warning = false) {
    GgufFile file;
    file.string("general.architecture", "llama");
    file.tensor("a", {3, 2}, 0, 0, gguf_floats(6, 1)).tensor("b", {8}, 0, 32, gguf_floats(8, 1));
    spoil(file);
    cases.push_back({std::move(rule), std::move(name), file.bytes(), warning});
  };
  const auto warn = [&](std::string rule, std::string name, const std::function<void(GgufFile&)>& spoil) {
    add(std::move(rule), std::move(name), spoil, true);
  };
  const auto cut = [&](std::string rule, std::string name, const std::function<std::size_t(std::size_t)>& to) {
    Bytes file = gguf_golden().bytes();
    file.resize(to(file.size()));
    cases.push_back({std::move(rule), "cut_" + std::move(name), std::move(file)});
  };
  const auto none = [](GgufText&) {};

  constexpr std::size_t kData = 32 + 64 + 32;  // after the golden file's infos and their padding
  cut("gguf.truncated", "in_the_header", [](std::size_t) { return 10; });
  cut("gguf.count", "in_the_metadata", [](std::size_t) { return 120; });
  cut("gguf.string.length", "in_the_infos", [](std::size_t size) { return size - kData - 40; });
  cut("gguf.truncated", "behind_the_infos", [](std::size_t size) { return size - kData - 1; });
  cut("gguf.bounds", "in_the_data", [](std::size_t size) { return size - 40; });
  add("gguf.version", "zero", [](GgufFile& f) { f.version = 0; });
  add("gguf.version", "four", [](GgufFile& f) { f.version = 4; });
  add("gguf.version", "other_byte_order", [](GgufFile& f) { f.version = 4, f.big = true; });
  add("gguf.count", "tensors", [](GgufFile& f) { f.tensor_count = std::uint64_t{1} << 40; });
  add("gguf.count", "tensors_negative", [](GgufFile& f) { f.tensor_count = ~std::uint64_t{0}; });
  add("gguf.count", "keys", [](GgufFile& f) { f.entry_count = std::uint64_t{1} << 62; });
  add("gguf.string.length", "key",
      [](GgufFile& f) { f.entries.emplace_back([](GgufText& out) { out.u64(std::uint64_t{1} << 33).raw("key"); }); });
  add("gguf.string.length", "value",
      [](GgufFile& f) { f.entry("x", 8, [](GgufText& out) { out.u64(~std::uint64_t{0}); }); });
  add("gguf.string.length", "name", [](GgufFile& f) { f.infos.emplace_back([](GgufText& out) { out.u64(100000); }); });
  add("gguf.key.empty", "no_name", [](GgufFile& f) { f.u32("", 1); });
  add("gguf.key.long", "beyond_16_bits", [](GgufFile& f) { f.u32(std::string(65536, 'k'), 1); });
  add("gguf.key.utf8", "bytes", [](GgufFile& f) { f.u32("\xFF", 1); });
  add("gguf.key.duplicate", "twice", [](GgufFile& f) { f.u32("x", 1).u32("x", 1); });
  add("gguf.value.type", "thirteen", [](GgufFile& f) { f.entry("x", 13, [](GgufText& out) { out.u64(0); }); });
  add("gguf.value.type", "of_an_array", [&](GgufFile& f) { f.entry("x", 9, [](GgufText& o) { o.u32(99).u64(0); }); });
  add("gguf.value.type", "wide_in_version_1", [](GgufFile& f) {
    f.version = 1;
    f.entry("x", 10, [](GgufText& out) { out.u64(1); });
  });
  add("gguf.value.nested", "array_of_arrays",
      [](GgufFile& f) { f.entry("x", 9, [](GgufText& out) { out.u32(9).u64(1).u32(4).u64(1).u32(7); }); });
  add("gguf.array.length", "lies",
      [](GgufFile& f) { f.entry("x", 9, [](GgufText& out) { out.u32(4).u64(std::uint64_t{1} << 28); }); });
  add("gguf.array.length", "overflows",
      [](GgufFile& f) { f.entry("x", 9, [](GgufText& out) { out.u32(10).u64(std::uint64_t{1} << 61); }); });
  add("gguf.array.length", "strings",
      [](GgufFile& f) { f.entry("x", 9, [](GgufText& out) { out.u32(8).u64(1000000); }); });
  add("gguf.bool", "two", [](GgufFile& f) { f.entry("x", 7, [](GgufText& out) { out.u8(2); }); });
  add("gguf.bool", "in_an_array",
      [](GgufFile& f) { f.entry("x", 9, [](GgufText& out) { out.u32(7).u64(2).u8(1).u8(255); }); });
  warn("gguf.string.utf8", "value", [](GgufFile& f) { f.string("x", "\xC3"); });
  warn("gguf.string.utf8", "in_an_array", [](GgufFile& f) { f.strings("x", {"a", "\xFF\xFE"}); });
  add("gguf.alignment", "zero", [](GgufFile& f) { f.u32("general.alignment", 0); });
  add("gguf.alignment", "no_power_of_two", [](GgufFile& f) { f.u32("general.alignment", 24); });
  add("gguf.alignment", "absurd", [](GgufFile& f) { f.u32("general.alignment", 0x80000000); });
  add("gguf.alignment", "wide",
      [](GgufFile& f) { f.entry("general.alignment", 10, [](GgufText& out) { out.u64(32); }); });
  warn("gguf.alignment.small", "eight", [](GgufFile& f) {
    f.u32("general.alignment", 8);
    f.alignment = 8;
    f.infos.pop_back(), f.data.pop_back();
  });
  add("gguf.name.long", "64_bytes", [&](GgufFile& f) { f.tensor(std::string(64, 'n'), {}, 0, 64, none); });
  add("gguf.name.duplicate", "twice", [](GgufFile& f) { f.tensor("a", {1}, 0, 64, gguf_floats(1, 0)); });
  add("gguf.rank", "five", [](GgufFile& f) { f.tensor("c", {1, 1, 1, 1, 1}, 0, 64, gguf_floats(1, 0)); });
  add("gguf.shape", "overflows", [&](GgufFile& f) {
    f.tensor("c", {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 64, none);
  });
  add("gguf.shape", "negative", [&](GgufFile& f) { f.tensor("c", {~std::uint64_t{0}}, 24, 64, none); });
  add("gguf.shape", "bytes_overflow", [&](GgufFile& f) { f.tensor("c", {std::uint64_t{1} << 61}, 28, 64, none); });
  add("gguf.type", "retired", [&](GgufFile& f) { f.tensor("c", {32}, 4, 64, gguf_floats(8, 0)); });
  add("gguf.type", "beyond", [&](GgufFile& f) { f.tensor("c", {32}, 43, 64, gguf_floats(8, 0)); });
  add("gguf.row", "half_a_block", [&](GgufFile& f) { f.tensor("c", {48}, 8, 64, gguf_floats(13, 0)); });
  add("gguf.row", "scalar_of_blocks", [&](GgufFile& f) { f.tensor("c", {}, 2, 64, gguf_floats(13, 0)); });
  add("gguf.bounds", "length", [&](GgufFile& f) { f.tensor("c", {1000}, 0, 64, none); });
  add("gguf.bounds", "offset", [&](GgufFile& f) { f.tensor("c", {1}, 0, ~std::uint64_t{0} - 3, none); });
  add("gguf.gap", "thirty_two", [](GgufFile& f) {
    f.tensor("c", {8}, 0, 96, [](GgufText& out) { out.pad(32).u64(0).pad(32), gguf_floats(8, 0)(out); });
  });
  add("gguf.overlap", "same_bytes", [&](GgufFile& f) { f.tensor("c", {8}, 0, 32, none); });
  add("gguf.overlap", "wrong_order", [](GgufFile& f) {
    f.infos.clear(), f.data.clear();
    f.tensor("a", {8}, 0, 32, gguf_floats(8, 0)).tensor("b", {8}, 0, 0, gguf_floats(8, 0));
  });
  add("gguf.misaligned", "first", [](GgufFile& f) {
    f.infos.clear(), f.data.clear();
    f.tensor("x", {8}, 43, 0, gguf_floats(8, 0)).tensor("a", {4}, 0, 4, gguf_floats(8, 0));
  });
  add("gguf.type.order", "tables", [&](GgufFile& f) {
    f.big = true;
    f.tensor("c", {256}, 16, 64, [](GgufText& out) { out.raw(std::string(66, '\0')); });
  });
  warn("gguf.padding", "behind_the_infos", [](GgufFile& f) {
    f.infos.emplace_back([](GgufText& out) { out.text("c").u32(0).u32(24).u64(64).u8(9); });
    f.data.emplace_back([](GgufText& out) { out.u8(1); });
  });
  warn("gguf.padding", "behind_a_tensor", [](GgufFile& f) { f.data[0] = gguf_floats(7, 1); });
  warn("gguf.padding.end", "missing", [](GgufFile& f) {
    f.padded = false;
    f.tensor("c", {1}, 24, 64, [](GgufText& out) { out.u8(1); });
  });
  warn("gguf.trailing", "a_word", [](GgufFile& f) { f.tail = "more"; });
  warn("gguf.key.type", "architecture", [](GgufFile& f) {
    f.entries.clear();
    f.u32("general.architecture", 1);
  });
  warn("gguf.key.type", "wide_count",
       [](GgufFile& f) { f.entry("llama.context_length", 10, [](GgufText& out) { out.u64(128); }); });
  warn("gguf.key.type", "wide_epsilon", [](GgufFile& f) {
    f.entry("llama.attention.layer_norm_rms_epsilon", 12, [](GgufText& out) { out.f64(1e-5); });
  });
  warn("gguf.key.type", "token_types_unsigned", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a"});
    f.entry("tokenizer.ggml.token_type", 9, [](GgufText& out) { out.u32(4).u64(1).u32(1); });
  });
  warn("gguf.key.type", "id_signed",
       [](GgufFile& f) { f.entry("tokenizer.ggml.bos_token_id", 5, [](GgufText& out) { out.u32(0); }); });
  add("gguf.tokenizer.length", "scores", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a", "b"});
    f.entry("tokenizer.ggml.scores", 9, [](GgufText& out) { out.u32(6).u64(1).f32(1); });
  });
  add("gguf.tokenizer.length", "types", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a"});
    f.entry("tokenizer.ggml.token_type", 9, [](GgufText& out) { out.u32(5).u64(2).u32(1).u32(1); });
  });
  warn("gguf.tokenizer.type", "seven", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a"});
    f.entry("tokenizer.ggml.token_type", 9, [](GgufText& out) { out.u32(5).u64(1).u32(7); });
  });
  warn("gguf.tokenizer.utf8", "token", [](GgufFile& f) { f.strings("tokenizer.ggml.tokens", {"a", "\xFF"}); });
  warn("gguf.tokenizer.utf8", "merge", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a"});
    f.strings("tokenizer.ggml.merges", {"\xC3 a"});
  });
  warn("gguf.tokenizer.twice", "a_token", [](GgufFile& f) {
    f.strings("tokenizer.ggml.tokens", {"a", "", "b", "", "a"});
  });
  warn("gguf.tokenizer.id", "beyond",
       [](GgufFile& f) { f.strings("tokenizer.ggml.tokens", {"a"}).u32("tokenizer.ggml.eos_token_id", 1); });
  add("gguf.split.type", "wide_count", [](GgufFile& f) { f.u32("split.count", 2); });
  add("gguf.split.name", "other_name", [](GgufFile& f) {
    f.entry("split.count", 2, [](GgufText& out) { out.u16(2); });
    f.entry("split.no", 2, [](GgufText& out) { out.u16(0); });
  });
  warn("gguf.private", "no_json", [](GgufFile& f) { f.string("tare.private", "{"); });
  warn("gguf.private.stale", "no_such_tensor",
       [](GgufFile& f) { f.string("tare.private", R"({"tare":1,"attributes":{"z":{"a":1}}})"); });
  add("gguf.ggml.block", "infinite_scale", [](GgufFile& f) {
    f.tensor("c", {32}, 8, 64, [](GgufText& out) { out.u16(0x7C00).raw(std::string(32, '\1')); });
  });
  return cases;
}

}  // namespace tare::testing
