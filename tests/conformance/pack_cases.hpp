// Directories with packed weights of other programs, written by hand: one per rule that a set of arrays can break.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conformance/hf_cases.hpp"

namespace tare::testing {

// A file of plain arrays: name, type, shape, bytes.
struct PackArray {
  std::string name, type, shape;
  std::string bytes;
};
inline Files pack_files(const std::string& quantization, const std::vector<PackArray>& arrays) {
  std::string header = "{", data;
  for (const PackArray& array : arrays) {
    if (header.size() > 1) header += ",";
    header += st_entry(array.name, array.type, array.shape, data.size(), data.size() + array.bytes.size());
    data += array.bytes;
  }
  std::string file = to_text(st_file(header + "}", data.size()));
  file.replace(file.size() - data.size(), data.size(), data);
  Files files{{"model.safetensors", to_bytes(file)}};
  if (!quantization.empty()) files["config.json"] = to_bytes("{\"quantization_config\": " + quantization + "}\n");
  return files;
}

inline std::string zeros(std::size_t count) { return std::string(count, '\0'); }
inline std::string repeated(std::string_view what, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += what;
  return out;
}

// 32 inputs and 8 outputs.
inline std::vector<PackArray> gptq_arrays() {
  return {{"q.g_idx", "I32", "32", zeros(128)},
          {"q.qweight", "I32", "4,8", repeated("\x12\x34\x56\x78", 32)},
          {"q.qzeros", "I32", "1,1", std::string("\x77\x77\x77\x77")},
          {"q.scales", "F16", "1,8", repeated(std::string_view("\0\x20", 2), 8)}};
}
inline std::vector<PackArray> nf4_arrays(const std::string& state) {
  return {{"q.weight", "U8", "32,1", repeated("\x1F", 32)},
          {"q.weight.absmax", "F32", "1", std::string("\0\0\x80\x3F", 4)},
          {"q.weight.quant_map", "F32", "16", zeros(64)},
          {"q.weight.quant_state.bitsandbytes__nf4", "U8", std::to_string(state.size()), state}};
}
inline std::string nf4_state() { return R"({"quant_type":"nf4","blocksize":64,"dtype":"float32","shape":[2,32]})"; }
inline std::vector<PackArray> fp8_arrays() {
  return {{"q.weight", "F8_E4M3", "4,4", repeated("\x38", 16)},
          {"q.weight_scale_inv", "F32", "2,2", repeated(std::string_view("\0\0\x80\x3F", 4), 4)}};
}

// 16 inputs and 2 outputs, and an unknown array: a scale of the scales, which are themselves 8-bit floats.
inline std::vector<PackArray> nvfp4_arrays() {
  return {{"q.weight_global_scale", "F32", "1", std::string("\0\0\x80\x3F", 4)},
          {"q.weight_packed", "U8", "2,8", repeated("\x21", 16)},
          {"q.weight_scale", "F8_E4M3", "2,1", repeated("\x38", 2)},
          {"q.weight_scale_scale", "F32", "1", std::string("\0\0\x80\x3F", 4)}};
}

inline std::vector<PackArray> without(std::vector<PackArray> arrays, std::string_view name) {
  std::erase_if(arrays, [&](const PackArray& array) { return array.name == name; });
  return arrays;
}
inline std::vector<PackArray> replaced(std::vector<PackArray> arrays, const PackArray& by) {
  for (PackArray& array : arrays)
    if (array.name == by.name) array = by;
  return arrays;
}

inline std::vector<HfCase> pack_good_cases() {
  return {{"", "gptq4", pack_files(R"({"quant_method":"gptq","bits":4,"group_size":32})", gptq_arrays())},
          {"", "nf4", pack_files(R"({"quant_method":"bitsandbytes"})", nf4_arrays(nf4_state()))},
          {"", "fp8", pack_files(R"({"quant_method":"fp8","weight_block_size":[2,2]})", fp8_arrays())}};
}

inline std::vector<HfCase> pack_reject_cases() {
  const std::string gptq = R"({"quant_method":"gptq","bits":4,"group_size":32})";
  const std::string four = std::string("\0\0\x80\x3F", 4), nan = std::string("\0\0\xC0\x7F", 4);
  return {
      {"pack.guess", "gptq4_alone", pack_files("", gptq_arrays())},
      {"pack.missing", "gptq_scales", pack_files(gptq, without(gptq_arrays(), "q.scales"))},
      {"pack.missing", "gptq_zeros", pack_files(gptq, without(gptq_arrays(), "q.qzeros"))},
      {"pack.missing", "nf4_absmax", pack_files("", without(nf4_arrays(nf4_state()), "q.weight.absmax"))},
      {"pack.missing", "nf4_map", pack_files("", without(nf4_arrays(nf4_state()), "q.weight.quant_map"))},
      {"pack.shape", "gptq_zeros", pack_files(gptq, replaced(gptq_arrays(), {"q.qzeros", "I32", "2,1", zeros(8)}))},
      {"pack.shape", "gptq_order", pack_files(gptq, replaced(gptq_arrays(), {"q.g_idx", "I32", "31", zeros(124)}))},
      {"pack.shape", "nf4_absmax",
       pack_files("", replaced(nf4_arrays(nf4_state()), {"q.weight.absmax", "F32", "2", four + four}))},
      {"pack.shape", "fp8_scales",
       pack_files("", replaced(fp8_arrays(), {"q.weight_scale_inv", "F32", "3,2", repeated(four, 6)}))},
      {"pack.type", "gptq_scales", pack_files(gptq, replaced(gptq_arrays(), {"q.scales", "I16", "1,8", zeros(16)}))},
      {"pack.type", "gptq_order", pack_files(gptq, replaced(gptq_arrays(), {"q.g_idx", "F32", "32", zeros(128)}))},
      {"pack.type", "nf4_map",
       pack_files("", replaced(nf4_arrays(nf4_state()), {"q.weight.quant_map", "F16", "16", zeros(32)}))},
      {"pack.group", "gptq_of_0", pack_files(R"({"quant_method":"gptq","bits":4,"group_size":0})", gptq_arrays())},
      {"pack.group", "fp8_block_of_0", pack_files(R"({"quant_method":"fp8","weight_block_size":[0,2]})", fp8_arrays())},
      {"pack.group", "nf4_block_of_0",
       pack_files("", nf4_arrays(R"({"quant_type":"nf4","blocksize":0,"dtype":"float32","shape":[2,32]})"))},
      {"pack.name", "gptq_weight",
       pack_files(gptq,
                  [] {
                    auto arrays = gptq_arrays();
                    arrays.push_back({"q.weight", "F32", "1", zeros(4)});
                    return arrays;
                  }())},
      {"pack.shared", "scales_with_a_scale", pack_files("", nvfp4_arrays())},
      {"pack.state", "not_json", pack_files("", nf4_arrays("{\"shape\":[2,"))},
      {"pack.state", "no_shape", pack_files("", nf4_arrays(R"({"quant_type":"nf4","blocksize":64})"))},
      {"pack.state", "a_list", pack_files("", nf4_arrays("[1]"))},
      {"pack.variant", "hqq",
       pack_files(R"({"quant_method":"hqq"})",
                  {{"q.W_q", "U8", "4,4", zeros(16)}, {"q.scale", "F16", "4,1", zeros(8)}})},
      {"pack.variant", "marlin",
       pack_files(R"({"quant_method":"gptq","checkpoint_format":"marlin","bits":4})",
                  without(without(gptq_arrays(), "q.qzeros"), "q.g_idx"))},
      {"pack.variant", "marlin_24",
       pack_files(R"({"quant_method":"compressed-tensors","format":"marlin-24"})",
                  {{"q.weight_packed", "I32", "2,4", zeros(32)},
                   {"q.scale_packed", "F16", "1,4", zeros(8)},
                   {"q.meta", "I16", "4,2", zeros(16)}})},
      {"pack.variant", "stated_only", pack_files(R"({"quant_method":"vptq"})", {{"q.strange", "I64", "9", zeros(72)}})},
      {"hf.pack.index", "beyond",
       pack_files(gptq, replaced(gptq_arrays(), {"q.g_idx", "I32", "32", std::string("\1\0\0\0", 4) + zeros(124)}))},
      {"hf.pack.index", "negative",
       pack_files(gptq, replaced(gptq_arrays(), {"q.g_idx", "I32", "32", "\xFF\xFF\xFF\xFF" + zeros(124)}))},
      {"hf.pack.scale", "gptq_nan",
       pack_files(gptq,
                  replaced(gptq_arrays(), {"q.scales", "F16", "1,8", repeated(std::string_view("\0\x7E", 2), 8)}))},
      {"hf.pack.scale", "gptq_infinite",
       pack_files(gptq,
                  replaced(gptq_arrays(), {"q.scales", "F16", "1,8", repeated(std::string_view("\0\x7C", 2), 8)}))},
      {"hf.pack.scale", "nf4_nan",
       pack_files("", replaced(nf4_arrays(nf4_state()), {"q.weight.absmax", "F32", "1", nan}))},
      {"hf.pack.scale", "fp8_nan",
       pack_files("", replaced(fp8_arrays(), {"q.weight_scale_inv", "F32", "2,2", four + four + nan + four}))},
  };
}

}  // namespace tare::testing
