// Directories in Hugging Face's layout, written by hand: those that are refused, and by which rule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/safetensors_cases.hpp"

namespace tare::testing {

using Files = std::map<std::string, Bytes>;  // path in the directory -> content

struct HfCase {
  std::string rule;
  std::string name;
  Files files;
};

inline void put_files(const std::string& directory, const Files& files) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories(std::filesystem::path(directory + "/" + name).parent_path());
    put_file(directory + "/" + name, bytes);
  }
}
inline Files files_in(const std::string& directory) {
  namespace fs = std::filesystem;
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), directory).string()] = get_file(entry.path());
  return files;
}

inline Bytes hf_weights() {
  return st_file("{\"__metadata__\":{\"format\":\"pt\"}," + st_entry("w", "F32", "2", 0, 8) + "}", 8);
}
inline Bytes hf_config() {
  return to_bytes("{\n  \"model_type\": \"llama\",\n  \"hidden_size\": 2,\n  \"unheard_of\": [1, 2]\n}\n");
}
inline Bytes hf_tokenizer() {
  return to_bytes(R"({"version":"1.0","added_tokens":[{"id":2,"content":"<s>","special":true}],)"
                  R"("model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})");
}

// A small model as it is downloaded.
inline Files hf_good() {
  return {{"config.json", hf_config()},
          {"tokenizer.json", hf_tokenizer()},
          {"tokenizer_config.json", to_bytes(R"({"bos_token":"<s>","chat_template":"{{ x }}"})")},
          {"generation_config.json", to_bytes("{\"do_sample\": true}")},
          {"special_tokens_map.json", to_bytes(R"({"bos_token":"<s>"})")},
          {"chat_template.jinja", to_bytes("{{ messages }}")},
          {"additional_chat_templates/tool.jinja", to_bytes("{{ tools }}")},
          {"model.safetensors", hf_weights()}};
}

inline std::string hf_index(const std::string& shard) {
  return R"({"metadata":{"total_size":8},"weight_map":{"w":")" + shard + "\"}}\n";
}

// A shard as one process of torch.distributed.checkpoint writes it: one box of the tensor "w".
inline Bytes split_shard(const std::string& type, const std::string& shape, std::size_t bytes,
                         const std::string& info) {
  const std::string metadata =
      info.empty() ? "" : R"("__metadata__":{"DCP_VERSION":"1.0","format":"pt","DCP_SHARDING_INFO":")" + info + "\"},";
  return st_file("{" + metadata + st_entry("w", type, shape, 0, bytes) + "}", bytes);
}
inline std::string split_info(const std::string& offsets) { return R"({\"w\":{\"saved_offsets\":[)" + offsets + "]}}"; }
inline std::string split_name(int process) {
  return "shard-0000" + std::to_string(process) + "-model-00001-of-00001.safetensors";
}
inline HfCase split_good_case() {
  return {"",
          "split",
          {{split_name(1), split_shard("U8", "2,3", 6, split_info("0,0"))},
           {split_name(2), split_shard("U8", "2,1", 2, split_info("0,3"))}}};
}
inline std::vector<HfCase> split_reject_cases() {
  const auto two = [](const Bytes& second, int process = 2) {
    return Files{{split_name(1), split_shard("U8", "2,3", 6, split_info("0,0"))}, {split_name(process), second}};
  };
  return {{"hf.split.missing", "third", two(split_shard("U8", "2,1", 2, split_info("0,3")), 3)},
          {"hf.split.info", "not_json", two(split_shard("U8", "2,1", 2, "{"))},
          {"hf.split.info", "another_tensor", two(split_shard("U8", "2,1", 2, R"({\"v\":{}})"))},
          {"hf.split.info", "short", two(split_shard("U8", "2,1", 2, split_info("3")))},
          {"hf.split.info", "negative", two(split_shard("U8", "2,1", 2, split_info("0,-3")))},
          {"hf.split.info", "huge", two(split_shard("U8", "2,1", 2, split_info("0,18446744073709551615")))},
          {"hf.split.type", "half", two(split_shard("F16", "2,1", 4, split_info("0,3")))},
          {"torch.distributed.chunks", "gap_between_shards", two(split_shard("U8", "2,1", 2, split_info("0,4")))},
          {"torch.distributed.chunks", "one_place", two(split_shard("U8", "2,3", 6, split_info("0,0")))},
          {"torch.distributed.chunks", "unsaid", two(split_shard("U8", "2,1", 2, ""))}};
}

inline std::vector<HfCase> hf_reject_cases() {
  const Bytes config = hf_config(), weights = hf_weights();
  const std::string shard = "model-00001-of-00001.safetensors", index = "model.safetensors.index.json";
  return {
      {"hf.pipeline",
       "one_part",
       {{"model_index.json", to_bytes(R"({"_class_name":"P","unet":["diffusers","UNet"]})")},
        {"unet/diffusion_pytorch_model.safetensors", weights}}},
      {"hf.pipeline.index", "not_json", {{"model_index.json", to_bytes("{\"unet\":")}}},
      {"hf.weights.missing", "config_only", {{"config.json", config}}},
      {"hf.weights.missing", "tokenizer_only", {{"tokenizer.json", hf_tokenizer()}}},
      {"hf.weights.ambiguous",
       "file_and_index",
       {{"model.safetensors", weights}, {index, to_bytes(hf_index(shard))}, {shard, weights}}},
      {"hf.weights.ambiguous", "two_files", {{"a.safetensors", weights}, {"b.safetensors", weights}}},
      {"hf.weights.ambiguous",
       "file_and_another_index",
       {{"a.safetensors", weights}, {"b.safetensors.index.json", to_bytes(hf_index(shard))}, {shard, weights}}},
      {"hf.weights.no_index",
       "shards",
       {{"config.json", config}, {shard, weights}, {"model-00002-of-00002.safetensors", weights}}},
      {"hf.weights.no_index", "one_shard", {{shard, weights}}},
      {"torch.unrecognized", "pytorch", {{"config.json", config}, {"pytorch_model.bin", to_bytes("PK")}}},
      {"safetensors.index.form",
       "pytorch_index",
       {{"config.json", config}, {"pytorch_model.bin.index.json", to_bytes("{}")}}},
      {"hf.weights.foreign", "onnx", {{"config.json", config}, {"model.onnx", to_bytes("x")}}},
      {"hf.weights.foreign", "folder", {{"config.json", config}, {"onnx/model.onnx", to_bytes("x")}}},
      {"hf.weights.foreign", "tensorflow", {{"config.json", config}, {"tf_model.h5", to_bytes("x")}}},
      {"hf.weights.foreign", "flax", {{"config.json", config}, {"flax_model.msgpack", to_bytes("x")}}},
      {"safetensors.index.missing_shard",
       "pytorch_shards",
       {{index, to_bytes(hf_index("pytorch_model-00001-of-00002.bin"))}}},
      {"hf.weights.format", "npy", {{"model.safetensors", to_bytes("\x93NUMPY")}}},
      {"hf.config.json", "not_json", {{"config.json", to_bytes("<html>")}, {"model.safetensors", weights}}},
      {"hf.config.json", "list", {{"config.json", to_bytes("[]")}, {"model.safetensors", weights}}},
      {"hf.config.json", "cut", {{"config.json", to_bytes("{\"hidden_size\": 2")}, {"model.safetensors", weights}}},
      {"open.unrecognized",
       "git_lfs_pointer",
       {{"model.safetensors", to_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")}}},
      {"safetensors.index.shards", "empty", {{index, to_bytes("{\"weight_map\": {}}")}, {shard, weights}}},
      {"hf.weights.forgotten", "empty_index", {{index, to_bytes("{\"weight_map\": {}}")}, {shard, weights}}},
      {"safetensors.index.root", "list", {{index, to_bytes("[]")}, {shard, weights}}},
      {"safetensors.index.missing_shard", "shard", {{index, to_bytes(hf_index(shard))}}},
      {"safetensors.truncated",
       "cut_in_the_length",
       {{"model.safetensors", Bytes(weights.begin(), weights.begin() + 4)}}},
      {"safetensors.truncated",
       "shard_cut_in_the_length",
       {{index, to_bytes(hf_index(shard))}, {shard, Bytes(weights.begin(), weights.begin() + 4)}}},
      {"safetensors.data.truncated", "cut", {{"model.safetensors", Bytes(weights.begin(), weights.end() - 1)}}},
      {"hf.private.form", "not_json", {{"model.safetensors", weights}, {"tare.json", to_bytes("{")}}},
      {"hf.private.form", "other_version", {{"model.safetensors", weights}, {"tare.json", to_bytes("{\"tare\":2}")}}},
      {"hf.private.form",
       "path_outside",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"attachments":{"../x":"x"}})")}}},
      {"hf.private.form",
       "file_not_there",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"attachments":{"x":"x"}})")}}},
      {"hf.private.form",
       "made_is_a_map",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"made":{}})")}}},
      {"hf.private.form",
       "digests_are_a_list",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"digests":[]})")}}},
      {"hf.private.form",
       "config_is_a_list",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"config":[]})")}}},
      {"hf.private.form",
       "vocabulary",
       {{"model.safetensors", weights}, {"tare.json", to_bytes(R"({"tare":1,"vocabulary":{"tokens":1}})")}}},
  };
}

}  // namespace tare::testing
