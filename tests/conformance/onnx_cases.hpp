// ONNX models made field by field: valid ones, and one per rule that a file can break.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zip_maker.hpp"

namespace tare::testing::ox {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  return out + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes(unsigned field, std::string_view content) {
  return varint(field << 3 | 2) + varint(content.size()) + std::string(content);
}
template <typename T>
std::string little(const std::vector<T>& values) {
  std::string out;
  for (const T value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    if constexpr (std::endian::native == std::endian::big) one.assign(one.rbegin(), one.rend());
    out += one;
  }
  return out;
}
inline std::string numbers(const std::vector<std::uint64_t>& values) {
  std::string out;
  for (const std::uint64_t value : values) out += varint(value);
  return out;
}

enum : unsigned { kFloat = 1, kU8 = 2, kI8 = 3, kI32 = 6, kI64 = 7, kString = 8, kF16 = 10, kComplex = 14, kF8 = 17 };
enum : unsigned { kU4 = 21, kI4 = 22, kE2M1 = 23, kU2 = 25, kE2M3 = 27 };

// A TensorProto. `data`: its last fields.
inline std::string tensor(std::string_view name, const std::vector<std::uint64_t>& dims, unsigned type,
                          const std::string& data) {
  std::string out;
  for (const std::uint64_t dim : dims) out += number(1, dim);
  return out + number(2, type) + bytes(8, name) + data;
}
inline std::string raw(std::string_view content) { return bytes(9, content); }
inline std::string entry(std::string_view key, std::string_view value) { return bytes(1, key) + bytes(2, value); }
inline std::string external(std::string_view location, std::string_view offset = "", std::string_view length = "") {
  std::string out = bytes(13, entry("location", location));
  if (!offset.empty()) out += bytes(13, entry("offset", offset));
  if (!length.empty()) out += bytes(13, entry("length", length));
  return out + number(14, 1);
}
inline std::string initializer(const std::string& message) { return bytes(5, message); }
inline std::string attribute(std::string_view name, const std::string& value) { return bytes(1, name) + value; }
inline std::string node(std::string_view name, std::string_view op, const std::vector<std::string>& attributes,
                        const std::vector<std::string>& inputs = {}, std::string_view output = "",
                        std::string_view domain = "") {
  std::string out;
  for (const std::string& input : inputs) out += bytes(1, input);
  if (!output.empty()) out += bytes(2, output);
  out += bytes(3, name) + bytes(4, op);
  for (const std::string& each : attributes) out += bytes(5, each);
  return out + (domain.empty() ? "" : bytes(7, domain));
}
inline std::string constant(std::string_view output, const std::string& value) {
  return bytes(1, node("", "Constant", {value}, {}, output));
}
inline Bytes model(const std::string& graph, const std::string& more = "") {
  return bytes_of(number(1, 10) + bytes(2, "tare") + bytes(7, graph) + bytes(8, number(2, 21)) + more);
}

struct Case {
  std::string rule, name;
  Bytes file;
};

inline std::string six() { return little<float>({0, 1, 2, 3, 4, 5}); }

// A MatMulNBits: 3 outputs, 20 inputs in blocks of 16.
inline std::string packed_node(std::uint64_t k, std::uint64_t n, std::uint64_t bits, std::uint64_t block,
                               const std::vector<std::string>& inputs) {
  return bytes(1, node("mm", "MatMulNBits",
                       {attribute("K", number(3, k)), attribute("N", number(3, n)), attribute("bits", number(3, bits)),
                        attribute("block_size", number(3, block))},
                       inputs, "y", "com.microsoft"));
}
inline std::string packed_arrays(std::size_t block_bytes = 8) {
  std::string codes(6 * block_bytes, '\0');
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<char>(i * 37 + 11);
  return initializer(tensor("w_Q4", {3, 2, block_bytes}, kU8, raw(codes))) +
         initializer(tensor("w_scales", {6}, kFloat, raw(little<float>({1, 2, 0.5F, 4, -1, 0.25F})))) +
         initializer(tensor("w_zp", {3}, kU8, raw("\x21\x43\x65")));
}

inline std::vector<std::pair<std::string, Bytes>> good() {
  std::vector<std::pair<std::string, Bytes>> files;
  const auto add = [&](std::string name, Bytes file) { files.emplace_back(std::move(name), std::move(file)); };
  add("small", model(initializer(tensor("w", {2, 3}, kFloat, raw(six())))));
  add("empty", model(""));
  std::string all;
  for (const auto& [type, width] :
       {std::pair{1, 4}, {2, 1},  {3, 1},  {4, 2},   {5, 2},  {6, 4},  {7, 8},  {9, 1},  {10, 2}, {11, 8},
        {12, 4},         {13, 8}, {14, 8}, {15, 16}, {16, 2}, {17, 1}, {18, 1}, {19, 1}, {20, 1}, {24, 1}})
    all += initializer(tensor("t" + std::to_string(type), {3}, static_cast<unsigned>(type),
                              raw(std::string(static_cast<std::size_t>(3 * width), '\1'))));
  add("types", model(all));
  add("typed", model(initializer(tensor("f", {3}, kFloat, bytes(4, little<float>({1, 2, -3})))) +
                     initializer(tensor(
                         "one", {2}, kFloat,
                         varint(4 << 3 | 5) + little<float>({1.5F}) + varint(4 << 3 | 5) + little<float>({2.5F}))) +
                     initializer(tensor("i8", {3}, kI8, bytes(5, numbers({1, ~std::uint64_t{0}, 127})))) +
                     initializer(tensor("f16", {1}, kF16, bytes(5, numbers({0x3C00})))) +
                     initializer(tensor("i64", {2}, kI64, bytes(7, numbers({5, ~std::uint64_t{0}})))) +
                     initializer(tensor("scalar", {}, kI32, number(5, 7))) +
                     initializer(tensor("d", {1}, 11, bytes(10, little<double>({0.1})))) +
                     initializer(tensor("u64", {1}, 13, bytes(11, numbers({~std::uint64_t{0}})))) +
                     initializer(tensor("c", {1}, kComplex, bytes(4, little<float>({1, 2})))) +
                     initializer(tensor("i4", {3}, kI4, bytes(5, numbers({0x21, 0x0F})))) +
                     initializer(tensor("e2m3", {4}, kE2M3, bytes(5, numbers({8, 16, 63, 1}))))));
  add("narrow",
      model(initializer(tensor("u4", {2, 2}, kU4, raw("\x21\xF3"))) +
            initializer(tensor("i4", {3}, kI4, raw("\x8F\x07"))) +
            initializer(tensor("u2", {5}, kU2, raw("\xE4\x02"))) + initializer(tensor("i2", {4}, 26, raw("\xE4"))) +
            initializer(tensor("e2m1", {2}, kE2M1, raw("\xF2"))) +
            initializer(tensor("e2m1_odd", {3}, kE2M1, raw("\xF2\x09"))) +
            initializer(tensor("e2m3", {4}, kE2M3, raw("\x08\x04\xFF"))) +
            initializer(tensor("e3m2_odd", {1}, 28, raw("\x3F")))));
  const std::string branch = bytes(2, "then") + initializer(tensor("inner", {1}, kFloat, raw(little<float>({8})))) +
                             initializer(tensor("w", {1}, kFloat, raw(little<float>({9}))));
  add("graphs",
      model(initializer(tensor("w", {2, 3}, kFloat, raw(six()))) +
                constant("c", attribute("value", bytes(5, tensor("", {1}, kI64, raw(little<std::uint64_t>({4})))))) +
                constant("f", attribute("value_float", varint(2 << 3 | 5) + little<float>({0.5F}))) +
                constant("is", attribute("value_ints", number(8, 3) + number(8, 4))) +
                constant("fs", attribute("value_floats", bytes(7, little<float>({1, 2})))) +
                bytes(1, node("if", "If", {attribute("then_branch", bytes(6, branch))})),
            bytes(14, entry("author", "me")) +
                bytes(25, bytes(1, "fun") +
                              bytes(7, node("", "Constant", {attribute("value_int", number(3, 12))}, {}, "c"))) +
                bytes(20, bytes(1, initializer(tensor("step", {}, kI64, raw(little<std::uint64_t>({1}))))))));
  const auto sparse = [](std::string_view name, const std::vector<std::uint64_t>& dims,
                         const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& at) {
    std::string out = bytes(1, tensor(name, {2}, kFloat, raw(little<float>({7, 8})))) +
                      bytes(2, tensor("", shape, kI64, raw(little(at))));
    for (const std::uint64_t dim : dims) out += number(3, dim);
    return bytes(15, out);
  };
  add("sparse", model(sparse("flat", {2, 3}, {2}, {1, 5}) + sparse("rows", {2, 3}, {2, 2}, {0, 1, 1, 2}) +
                      sparse("line", {9}, {2}, {0, 8})));
  add("packed", model(packed_node(20, 3, 4, 16, {"x", "w_Q4", "w_scales", "w_zp"}) + packed_arrays()));
  add("packed8", model(packed_node(20, 3, 8, 16, {"x", "w_Q4", "w_scales"}) + packed_arrays(16)));
  return files;
}

inline std::vector<Case> bad() {
  std::vector<Case> cases;
  const auto add = [&](std::string rule, std::string name, Bytes file) {
    cases.push_back({std::move(rule), std::move(name), std::move(file)});
  };
  const auto one = [&](std::string rule, std::string name, const std::string& message) {
    add(std::move(rule), std::move(name), model(initializer(message)));
  };
  const std::string four = little<float>({1});
  one("onnx.name", "empty", tensor("", {1}, kFloat, raw(four)));
  add("onnx.name.duplicate", "graph",
      model(initializer(tensor("w", {1}, kFloat, raw(four))) + initializer(tensor("w", {1}, kFloat, raw(four)))));
  one("onnx.shape", "negative", tensor("w", {~std::uint64_t{0}}, kFloat, raw("")));
  one("onnx.shape", "large", tensor("w", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, kFloat, raw("")));
  one("onnx.shape", "wrap", tensor("w", {std::uint64_t{1} << 59}, 15, raw("")));
  one("onnx.rank", "deep", tensor("w", std::vector<std::uint64_t>(65, 1), kFloat, raw(four)));
  one("onnx.type", "unknown", tensor("w", {1}, 99, raw(four)));
  one("onnx.type", "none", tensor("w", {1}, 0, raw(four)));
  one("onnx.type", "strings", tensor("w", {1}, kString, bytes(6, "text")));
  add("onnx.type", "string_constant", model(constant("s", attribute("value_string", bytes(4, "x")))));
  one("onnx.size", "short", tensor("w", {2}, kFloat, raw(four)));
  one("onnx.size", "long", tensor("w", {}, kFloat, raw(four + four)));
  one("onnx.size", "none", tensor("w", {1}, kFloat, ""));
  one("onnx.size", "typed", tensor("w", {2}, kI64, bytes(7, numbers({1}))));
  one("onnx.size", "typed_long", tensor("w", {1}, kI64, bytes(7, numbers({1, 2}))));
  one("onnx.size", "floats", tensor("w", {2}, kFloat, bytes(4, four)));
  one("onnx.size", "odd", tensor("w", {3}, kI4, raw("\1")));
  one("onnx.data", "two", tensor("w", {1}, kFloat, raw(four) + bytes(4, four)));
  one("onnx.data", "other", tensor("w", {1}, kFloat, bytes(7, numbers({1}))));
  one("onnx.value", "u8", tensor("w", {1}, kU8, bytes(5, numbers({256}))));
  one("onnx.value", "u32", tensor("w", {1}, 12, bytes(11, numbers({std::uint64_t{1} << 32}))));
  one("onnx.value", "f6", tensor("w", {1}, kE2M3, bytes(5, numbers({64}))));
  one("onnx.segment", "segment", tensor("w", {1}, kFloat, bytes(3, number(1, 0)) + raw(four)));
  one("onnx.external.path", "up", tensor("w", {1}, kFloat, external("../w.bin")));
  one("onnx.external.path", "inner_up", tensor("w", {1}, kFloat, external("a/../../w.bin")));
  one("onnx.external.path", "absolute", tensor("w", {1}, kFloat, external("/etc/passwd")));
  one("onnx.external.path", "backslash", tensor("w", {1}, kFloat, external("..\\w.bin")));
  one("onnx.external.path", "drive", tensor("w", {1}, kFloat, external("C:/w.bin")));
  one("onnx.external.path", "zero", tensor("w", {1}, kFloat, external(std::string("a\0b", 3))));
  one("onnx.external.path", "none", tensor("w", {1}, kFloat, number(14, 1)));
  one("onnx.external.missing", "missing", tensor("w", {1}, kFloat, external("no.such.file")));
  one("onnx.external.number", "offset", tensor("w", {1}, kFloat, external("w", "-1")));
  one("onnx.external.number", "length", tensor("w", {1}, kFloat, external("w", "0", "4x")));
  const auto sparse = [&](const std::string& name, const std::string& values, const std::string& indices) {
    add("onnx.sparse", name, model(bytes(15, values + indices + number(3, 4) + number(3, 2))));
  };
  const std::string values = bytes(1, tensor("s", {1}, kFloat, raw(four)));
  const std::string places = bytes(2, tensor("", {1}, kI64, raw(little<std::uint64_t>({1}))));
  sparse("no_indices", values, "");
  sparse("matrix", bytes(1, tensor("s", {1, 1}, kFloat, raw(four))), places);
  sparse("count", values, bytes(2, tensor("", {2}, kI64, raw(little<std::uint64_t>({1, 2})))));
  sparse("type", values, bytes(2, tensor("", {1}, kI32, raw(four))));
  add("onnx.coo.bounds", "sparse",
      model(bytes(15, values + bytes(2, tensor("", {1}, kI64, raw(little<std::uint64_t>({8})))) + number(3, 4) +
                          number(3, 2))));
  std::string deep;
  for (int i = 0; i < 70; ++i) deep = bytes(1, node("n", "If", {attribute("b", bytes(6, deep))}));
  add("onnx.depth", "graphs", model(deep));
  add("onnx.metadata.duplicate", "twice", model("", bytes(14, entry("k", "1")) + bytes(14, entry("k", "2"))));
  add("protobuf.truncated", "graph", bytes_of(number(1, 10) + bytes(7, bytes(2, "name") + "\x2A\x7F")));
  add("protobuf.syntax", "number", bytes_of(number(1, 10) + bytes(7, bytes(2, "name") + std::string(11, '\xFF'))));
  add("pack.missing", "scales", model(packed_node(20, 3, 4, 16, {"x", "w_Q4", "none", "w_zp"}) + packed_arrays()));
  add("pack.shape", "inputs", model(packed_node(40, 3, 4, 16, {"x", "w_Q4", "w_scales", "w_zp"}) + packed_arrays()));
  add("pack.group", "blocks", model(packed_node(20, 3, 4, 17, {"x", "w_Q4", "w_scales", "w_zp"}) + packed_arrays()));
  return cases;
}

}  // namespace tare::testing::ox
