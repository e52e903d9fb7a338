// The statements of config.json and of an index about the tensors stay true when the tensors change.
#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "lines.hpp"
#include "resources/config_dtype.hpp"

namespace tare {
namespace {

using namespace tare::testing;

std::string restated(std::string_view text, DType type) {
  const auto found = resources::restate_dtype(text, type);
  return found ? found->text : "";
}

TEST(ConfigDtype, OneWordIsReplacedAndNothingElse) {
  EXPECT_EQ(restated("{ \"a\": 1,\n\t\"dtype\" : \"bfloat16\" ,\"b\":[1 , 2]}\n", DType::f16),
            "{ \"a\": 1,\n\t\"dtype\" : \"float16\" ,\"b\":[1 , 2]}\n");
  EXPECT_EQ(restated(R"({"torch_dtype": "float32", "x": NaN})", DType::bf16),
            R"({"torch_dtype": "bfloat16", "x": NaN})");
  EXPECT_EQ(restated(R"({"torch_dtype": "torch.float32"})", DType::f64), R"({"torch_dtype": "torch.float64"})");
  EXPECT_EQ(restated(R"({"dtype":"float32","text_config":{"dtype":"bfloat16"},"v_config":{"x":{"dtype":"float32"}}})",
                     DType::f16),
            R"({"dtype":"float16","text_config":{"dtype":"float16"},"v_config":{"x":{"dtype":"float32"}}})");
}

TEST(ConfigDtype, WhatIsNoStatementStays) {
  for (const char* const text :
       {R"({"dtype": "float16"})", R"({"dtype": "auto"})", R"({"dtype": null})", R"({"x": "dtype", "y": "float32"})",
        R"({"x": ["dtype", "float32"]})", R"({"quantization_config": {"dtype": "float32"}})",
        R"({"list": [{"dtype": "float32"}]})", R"({"d\"type": "float32"})", R"({"a": "\"dtype\": \"float32\""})",
        R"({})"})
    EXPECT_EQ(restated(text, DType::f16), "") << text;
  EXPECT_EQ(restated(R"({"dtype": "float32"})", DType::i32), "");
  EXPECT_EQ(rule_of([] { restated("{\"dtype\": ", DType::f16); }), "json.syntax");
}

Model model_with(const std::string& config) {
  Model model;
  model.tensors = {dense("w", {4, 8}, DType::bf16, Blob::memory(Bytes(64))),
                   dense("norm", {2}, DType::f32, Blob::memory(Bytes(8)))};
  model.attachments.push_back({"config.json", Blob::memory(to_bytes(config))});
  return model;
}

std::string config_after(const Model& model, const Format& target, const AdaptOptions& options,
                         std::vector<std::string>* changes = nullptr) {
  const Adapted adapted = adapt(model, target, options);
  if (changes != nullptr) *changes = lines_of(adapted.changes);
  return to_text(adapted.model.attachment("config.json")->blob.bytes());
}

TEST(Statements, ACastTellsConfigJson) {
  const Model model = model_with("{\"dtype\": \"bfloat16\"}");
  for (const char* const name : {"hf", "zt"}) {
    std::vector<std::string> changes;
    EXPECT_EQ(config_after(model, *find_format(name), {.dtype = DType::f16}, &changes), "{\"dtype\": \"float16\"}");
    EXPECT_EQ(changes.back(), "config.json: dtype changed from bfloat16 to float16; the rest is unchanged");
    EXPECT_EQ(config_after(model, *find_format(name), {}), "{\"dtype\": \"bfloat16\"}");
    EXPECT_EQ(config_after(model, *find_format(name), {.dtype = DType::bf16}), "{\"dtype\": \"bfloat16\"}");
  }
  // A statement that was wrong before is changed only if the weights are.
  EXPECT_EQ(config_after(model_with("{\"dtype\": \"float32\"}"), *find_format("hf"), {}), "{\"dtype\": \"float32\"}");
}

TEST(Statements, WhatIsDecodedIsTold) {
  Model model = model_with("{\"dtype\": \"bfloat16\"}");
  model.tensors[0] = dense("w", {32, 32}, DType::bf16, Blob::memory(Bytes(2048)));
  Quantization quant;
  quant.method = "q8";
  const Adapted coded = adapt(model, *find_format("mcf"), {.quant = quant});
  EXPECT_EQ(to_text(coded.model.attachment("config.json")->blob.bytes()), "{\"dtype\": \"bfloat16\"}");
  EXPECT_EQ(config_after(coded.model, *find_format("hf"), {}), "{\"dtype\": \"float32\"}");
}

TEST(Statements, AnIndexCountsItsTensors) {
  const auto index_after = [](std::uint64_t stated, const AdaptOptions& options) {
    Model model = model_with("{}");
    Map index;
    index.append("total_parameters", stated);
    model.metadata.set("safetensors.index", index);
    const Adapted adapted = adapt(model, *find_format("hf"), options);
    const Value* const kept = adapted.model.metadata.find("safetensors.index");
    return kept == nullptr ? std::string() : to_json(*kept);
  };
  EXPECT_EQ(index_after(34, {}), R"({"total_parameters":34})");
  EXPECT_EQ(index_after(34, {.skip = {"norm"}}), R"({"total_parameters":32})");
  EXPECT_EQ(index_after(99, {}), R"({"total_parameters":99})");
  EXPECT_EQ(index_after(99, {.skip = {"norm"}}), "") << "nobody knows what was counted";
  EXPECT_EQ(index_after(34, {.dtype = DType::f16}), R"({"total_parameters":34})");
}

TEST(WeightsOnly, AreTensorsAndNothingElse) {
  Scratch scratch(Scratch::fast_place());
  Files files = hf_good();
  files.erase("model.safetensors");
  files["adapter.safetensors.index.json"] =
      to_bytes(R"({"metadata":{"total_size":8,"x":"y"},"weight_map":{"w":"adapter-00001-of-00001.safetensors"}})");
  files["adapter-00001-of-00001.safetensors"] = hf_weights();
  put_files(scratch / "d", files);
  const auto refused = error_of([&] { convert(scratch / "d", scratch / "x.safetensors"); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->rule(), "convert.room");
  EXPECT_TRUE(text_of(refused->remedies()).starts_with("weights_only, drop ")) << text_of(refused->remedies());
  convert(scratch / "d", scratch / "x.safetensors",
          {.adapt = {.weights_only = true}, .write = {.dialect = "upstream"}});
  const Bytes written = get_file(scratch / "x.safetensors");
  EXPECT_EQ(to_text(std::span(written).subspan(8)).substr(0, 50),
            "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"dtype\":\"F32\"");
  EXPECT_TRUE(open(scratch / "x.safetensors").config.empty());
}

}  // namespace
}  // namespace tare
