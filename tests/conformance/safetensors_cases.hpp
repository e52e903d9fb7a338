// safetensors files written by hand: those that are accepted, and those that are refused, with the rule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/scratch.hpp"
#include "formats/format.hpp"

namespace tare::testing {

inline std::string le64(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

// The length, the header, and `data` bytes counting up.
inline Bytes st_file(const std::string& header, std::size_t data = 0) {
  std::string bytes = le64(header.size()) + header;
  for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
  return to_bytes(bytes);
}

inline std::string st_entry(std::string_view name, std::string_view dtype, std::string_view shape, std::uint64_t begin,
                            std::uint64_t end) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[" + std::string(shape) +
         "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

struct StCase {
  std::string rule;  // empty: accepted
  std::string name;
  Bytes file;
};

// Files that the reference implementation and Tare accept.
inline std::vector<StCase> st_good_cases() {
  std::vector<StCase> cases;
  const auto add = [&](std::string name, const std::string& header, std::size_t data) {
    cases.push_back({"", std::move(name), st_file(header, data)});
  };
  const std::string a = st_entry("a", "F32", "1", 0, 4);
  add("plain", "{" + a + "}", 4);
  add("scalar", "{" + st_entry("a", "F64", "", 0, 8) + "}", 8);
  add("empty", "{}", 0);
  add("space_behind", "{}\t\n\r ", 0);
  add("space_inside", "{ \"a\" : { \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 4 ] , \"dtype\" : \"F32\" } }\n", 4);
  add("length_of_7", "{" + a + "} ", 4);
  add("padded_with_spaces", "{" + a + "}" + std::string(100, ' '), 4);
  add("entries_in_another_order", "{" + st_entry("z", "U8", "2", 4, 6) + "," + a + "}", 6);
  add("unaligned", "{" + st_entry("a", "U8", "1", 0, 1) + "," + st_entry("b", "F32", "1", 1, 5) + "}", 5);
  add("two_empty_at_0", "{" + st_entry("a", "F32", "0", 0, 0) + "," + st_entry("b", "F32", "0,5", 0, 0) + "}", 0);
  add("empty_between", "{" + a + "," + st_entry("b", "I8", "0", 4, 4) + "," + st_entry("c", "I8", "1", 4, 5) + "}", 5);
  add("zero_first", "{" + st_entry("a", "F32", "0,18446744073709551615,18446744073709551615", 0, 0) + "}", 0);
  add("f4", "{" + st_entry("a", "F4", "1,4", 0, 2) + "}", 2);
  add("f6", "{" + st_entry("a", "F6_E2M3", "4", 0, 3) + "," + st_entry("b", "F6_E3M2", "2,2", 3, 6) + "}", 6);
  add("metadata_null", "{\"__metadata__\":null," + a + "}", 4);
  add("metadata_empty", "{\"__metadata__\":{}," + a + "}", 4);
  add("metadata_last", "{" + a + ",\"__metadata__\":{\"k\":\"v\"}}", 4);
  add("metadata_escaped_key", "{\"\\u005f_metadata__\":{\"k\":\"v\\n\\u00e4\\ud83d\\ude00\"}," + a + "}", 4);
  add("empty_name", "{" + st_entry("", "F32", "1", 0, 4) + "}", 4);
  add("escaped_name", "{" + st_entry("\\u0061\\\"\\ud83d\\ude00\\/", "F32", "1", 0, 4) + "}", 4);
  add("path_as_name", "{" + st_entry("../../etc/passwd", "F32", "1", 0, 4) + "}", 4);
  add("escaped_field", "{\"a\":{\"\\u0064type\":\"F\\u00332\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
  return cases;
}

// Accepted with a warning.
inline std::vector<StCase> st_tolerated_cases() {
  std::vector<StCase> cases;
  const auto add = [&](std::string rule, std::string name, const std::string& header, std::size_t data) {
    cases.push_back({std::move(rule), std::move(name), st_file(header, data)});
  };
  const std::string a = st_entry("a", "F32", "1", 0, 4);
  add("safetensors.entry.unknown", "field",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":[1e300,-0.5,123456789012345678901234567890,"
      "{\"y\":[null,true,\"\\n\"]}]}}",
      4);
  const std::string deep = std::string(125, '[') + std::string(125, ']');
  add("safetensors.entry.unknown", "nested_127_deep",
      "{\"a\":{\"x\":" + deep + ",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
  add("safetensors.private.form", "other_version", "{\"__metadata__\":{\"__tare__\":\"{\\\"tare\\\":2}\"}," + a + "}",
      4);
  add("safetensors.private.form", "not_json", "{\"__metadata__\":{\"__tare__\":\"x\"}," + a + "}", 4);
  add("safetensors.private.form", "config_is_a_list",
      "{\"__metadata__\":{\"__tare__\":\"{\\\"tare\\\":1,\\\"config\\\":[]}\"}," + a + "}", 4);
  return cases;
}

inline void add_json_rejects(std::vector<StCase>& cases) {
  const auto add = [&](std::string rule, std::string name, const std::string& header, std::size_t data = 4) {
    cases.push_back({std::move(rule), std::move(name), st_file(header, data)});
  };
  const std::string a = st_entry("a", "F32", "1", 0, 4);
  const auto entry = [](std::string_view fields) { return "{\"a\":{" + std::string(fields) + "}}"; };
  std::string ones = "1";
  for (int i = 1; i < 65; ++i) ones += ",1";
  add("safetensors.entry.rank", "sixty_five", "{" + st_entry("a", "F32", ones, 0, 4) + "}");
  add("safetensors.header.start", "space_first", " {" + a + "}");
  add("safetensors.header.start", "line_first", "\n{" + a + "}");
  add("safetensors.header.trailing", "zero_padding", "{" + a + "}" + std::string(2, '\0'));
  add("safetensors.header.trailing", "second_object", "{" + a + "}{}");
  add("safetensors.header.trailing", "word", "{} x", 0);
  add("safetensors.header.json", "unclosed_string", "{\"a", 0);
  add("safetensors.header.json", "comment", "{/* */" + a + "}");
  add("safetensors.header.json", "trailing_comma", "{" + a + ",}");
  add("safetensors.header.json", "no_comma", "{" + a + st_entry("b", "U8", "0", 4, 4) + "}");
  add("safetensors.header.json", "no_colon", "{\"a\"{}}");
  add("safetensors.header.json", "key_without_quotes", "{" + a + ",b:{}}");
  add("safetensors.header.json", "control_character", "{" + st_entry("a\x01", "F32", "1", 0, 4) + "}");
  add("safetensors.header.json", "lone_surrogate", "{" + st_entry("\\ud800", "F32", "1", 0, 4) + "}");
  add("safetensors.header.json", "lone_low_surrogate", "{" + st_entry("\\udc00", "F32", "1", 0, 4) + "}");
  add("safetensors.header.json", "bad_escape", "{" + st_entry("\\q", "F32", "1", 0, 4) + "}");
  add("safetensors.header.json", "unclosed_object", "{" + a);
  add("safetensors.header.json", "bad_unknown_field",
      entry("\"x\":tru,\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.header.json", "bad_number_in_an_unknown_field",
      entry("\"x\":[1,02],\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.header.json", "number_beyond_all_types",
      entry("\"x\":1e999,\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  for (const char* const word : {"nul", "nan", "n", "nullx", "[nul]"})
    add("safetensors.header.json", std::string("no_null_") + (word[0] == '[' ? "nested" : word),
        entry("\"x\":" + std::string(word) + ",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.header.json", "metadata_no_null", "{\"__metadata__\":nul," + a + "}");
  add("safetensors.header.utf8", "name", "{" + st_entry("a\xFF", "F32", "1", 0, 4) + "}");
  const std::string deep = std::string(126, '[') + std::string(126, ']');
  add("safetensors.header.depth", "nested_128_deep",
      entry("\"x\":" + deep + ",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.metadata.form", "number", "{\"__metadata__\":{\"k\":1}," + a + "}");
  add("safetensors.metadata.form", "nested", "{\"__metadata__\":{\"k\":{}}," + a + "}");
  add("safetensors.metadata.form", "like_a_tensor", "{" + st_entry("__metadata__", "F32", "1", 0, 4) + "}");
  add("safetensors.metadata.form", "list", "{\"__metadata__\":[]," + a + "}");
  add("safetensors.metadata.duplicate", "key", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}," + a + "}");
  add("safetensors.name.duplicate", "metadata", "{\"__metadata__\":{},\"__metadata__\":{}," + a + "}");
  add("safetensors.name.duplicate", "same_range", "{" + a + "," + a + "}");
  add("safetensors.name.duplicate", "escaped", "{" + a + "," + st_entry("\\u0061", "I32", "1", 0, 4) + "}");
  add("safetensors.name.nul", "escaped", "{" + st_entry("a\\u0000b", "F32", "1", 0, 4) + "}");
}

inline void add_entry_rejects(std::vector<StCase>& cases) {
  const auto add = [&](std::string rule, std::string name, const std::string& header, std::size_t data = 4) {
    cases.push_back({std::move(rule), std::move(name), st_file(header, data)});
  };
  const auto entry = [](std::string_view fields) { return "{\"a\":{" + std::string(fields) + "}}"; };
  add("safetensors.entry.array", "array", "{\"a\":[\"F32\",[1],[0,4]]}");
  add("safetensors.entry.form", "string", "{\"a\":\"F32\"}");
  add("safetensors.entry.form", "null", "{\"a\":null}");
  add("safetensors.entry.missing_field", "dtype", entry("\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.entry.missing_field", "shape", entry("\"dtype\":\"F32\",\"data_offsets\":[0,4]"));
  add("safetensors.entry.missing_field", "data_offsets", entry("\"dtype\":\"F32\",\"shape\":[1]"));
  add("safetensors.entry.duplicate_field", "dtype",
      entry("\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.entry.duplicate_field", "shape",
      entry("\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]"));
  add("safetensors.entry.duplicate_field", "data_offsets",
      entry("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"data_offsets\":[0,4]"));
  for (const char* const dtype : {"I4", "U4", "C128", "F8_E3M4", "F8_E4M3FN", "f32", "", "F320"})
    add("safetensors.entry.dtype", std::string("unknown_") + dtype, "{" + st_entry("a", dtype, "1", 0, 4) + "}");
  add("safetensors.entry.dtype", "number", entry("\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]"));
  for (const char* const number :
       {"1.0", "1e0", "-0", "-1", "01", "\"1\"", "null", "18446744073709551616", "[1]", "1,"}) {
    std::string name = number;
    for (char& c : name)
      if (std::string_view("\"[],").find(c) != std::string_view::npos) c = '_';
    add("safetensors.entry.shape", name, "{" + st_entry("a", "F32", number, 0, 4) + "}");
    add("safetensors.entry.offsets", name,
        entry("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0," + std::string(number) + "]"));
  }
  add("safetensors.entry.shape", "object", entry("\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[0,4]"));
  add("safetensors.entry.offsets", "one", entry("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4]"));
  add("safetensors.entry.offsets", "three", entry("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]"));
  add("safetensors.entry.offsets", "none", entry("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[]"));
}

inline void add_data_rejects(std::vector<StCase>& cases) {
  const auto add = [&](std::string rule, std::string name, const std::string& header, std::size_t data) {
    cases.push_back({std::move(rule), std::move(name), st_file(header, data)});
  };
  const auto one = [](std::string_view dtype, std::string_view shape, std::uint64_t begin, std::uint64_t end) {
    return "{" + st_entry("a", dtype, shape, begin, end) + "}";
  };
  const std::string a = st_entry("a", "F32", "1", 0, 4);
  add("safetensors.tensor.hole", "at_the_start", one("F32", "1", 4, 8), 8);
  add("safetensors.tensor.hole", "between", "{" + a + "," + st_entry("b", "F32", "1", 8, 12) + "}", 12);
  add("safetensors.tensor.hole", "empty_tensor_elsewhere", one("F32", "0", 2, 2), 2);
  add("safetensors.tensor.overlap", "partly",
      "{" + st_entry("a", "F32", "2", 0, 8) + "," + st_entry("b", "F32", "1", 4, 8) + "}", 8);
  add("safetensors.tensor.overlap", "same_range", "{" + a + "," + st_entry("b", "F32", "1", 0, 4) + "}", 4);
  add("safetensors.tensor.backwards", "end_first", one("F32", "1", 4, 0), 4);
  add("safetensors.tensor.size", "shape_too_large", one("F32", "2", 0, 4), 4);
  add("safetensors.tensor.size", "shape_too_small", one("F32", "1", 0, 8), 8);
  add("safetensors.tensor.size", "f4_in_bytes", one("F4", "4", 0, 4), 4);
  add("safetensors.tensor.bits", "f4_odd", one("F4", "3", 0, 2), 2);
  add("safetensors.tensor.bits", "f4_scalar", one("F4", "", 0, 1), 1);
  add("safetensors.tensor.bits", "f6", one("F6_E3M2", "3", 0, 3), 3);
  add("safetensors.tensor.overflow", "zero_last", one("F32", "18446744073709551615,18446744073709551615,0", 0, 0), 0);
  add("safetensors.tensor.overflow", "elements", one("F32", "4294967296,4294967296", 0, 4), 4);
  add("safetensors.tensor.overflow", "bits", one("F64", "288230376151711744", 0, 8), 8);
  add("safetensors.data.truncated", "one_byte", "{" + a + "}", 3);
  add("safetensors.data.truncated", "all", "{" + a + "}", 0);
  add("safetensors.tensor.overflow", "bits_of_bytes", one("U8", "18446744073709551615", 0, UINT64_MAX), 4);
  add("safetensors.data.truncated", "far", one("U8", "1152921504606846976", 0, std::uint64_t{1} << 60), 4);
  add("safetensors.data.trailing", "one_byte", "{" + a + "}", 5);
  add("safetensors.data.trailing", "empty_model", "{}", 1);
}

// Refused; each breaks the rule that it is listed under.
inline std::vector<StCase> st_reject_cases() {
  std::vector<StCase> cases;
  add_json_rejects(cases);
  add_entry_rejects(cases);
  add_data_rejects(cases);
  cases.push_back({"safetensors.truncated", "header_cut", to_bytes(le64(64) + "{\"a\":{\"dtype\":\"F32\"")});
  cases.push_back({"safetensors.truncated", "header_one_short", to_bytes(le64(3) + "{}")});
  cases.push_back({"safetensors.header.large", "above_100_000_000", to_bytes(le64(100'000'001) + "{\"a\":{}}")});
  cases.push_back({"safetensors.header.json", "no_header", to_bytes(le64(0) + "{}")});
  return cases;
}

}  // namespace tare::testing
