// Pipelines of several models; weights that several processes wrote together, next to a config; variants of the same
// weights.
#include "tare/pipeline.hpp"

#include <fmt/format.h>

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "formats/registry_limits.hpp"
#include "lines.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr const char* kIndex = R"({"_class_name": "TinyPipeline", "_diffusers_version": "0.42.1",
  "unet": ["diffusers", "UNet2DModel"], "scheduler": ["diffusers", "DDPMScheduler"], "safety_checker": [null, null],
  "vae": ["diffusers", "AutoencoderKL"], "requires": true, "../unet": ["x", "Y"]})";

Files pipeline() {
  return {{"model_index.json", to_bytes(kIndex)},
          {"unet/config.json", to_bytes("{}")},
          {"unet/diffusion_pytorch_model.safetensors", hf_weights()},
          {"unet/diffusion_pytorch_model.fp16.safetensors", hf_weights()},
          {"scheduler/scheduler_config.json", to_bytes("{}")}};
}

TEST(Pipelines, AreSeveralModels) {
  const Scratch scratch;
  put_files(scratch / "p", pipeline());
  const auto found = find_pipeline(scratch / "p/");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "TinyPipeline");
  ASSERT_EQ(found->parts.size(), 2U);
  EXPECT_EQ(found->parts[0].name, "unet");
  EXPECT_EQ(found->parts[0].kind, "UNet2DModel");
  EXPECT_TRUE(found->parts[0].is_model);
  EXPECT_EQ(found->parts[1].name, "scheduler");
  EXPECT_FALSE(found->parts[1].is_model);
  // Loaders take the weights without a variant.
  EXPECT_EQ(open(scratch / "p/unet").metadata.find("hf.weights")->text()->c_str(),
            std::string("diffusion_pytorch_model"));
  try {
    (void)open(scratch / "p");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "hf.pipeline");
    EXPECT_EQ(error.sentence(),
              "a pipeline (TinyPipeline), of which each part is a model of its own; name one of them: unet/");
  }
  EXPECT_EQ(rule_of([&] { (void)convert(scratch / "p", scratch / "out.zt"); }), "hf.pipeline");
}

TEST(Pipelines, NoPartIsElsewhere) {
  const Scratch scratch;
  put_files(scratch / "p", pipeline());
  std::filesystem::rename(scratch / "p/unet", scratch / "elsewhere");
  std::filesystem::create_directory_symlink("../elsewhere", scratch / "p/unet");
  EXPECT_EQ(rule_of([&] { (void)find_pipeline(scratch / "p"); }), "hf.file.outside");
}

TEST(Pipelines, WhatIsNone) {
  const Scratch scratch;
  EXPECT_FALSE(find_pipeline(scratch / "nothing"));
  put_files(scratch / "m", {{"model.safetensors", hf_weights()}, {"model_index.json", to_bytes("{}")}});
  EXPECT_FALSE(find_pipeline(scratch / "m"));
  EXPECT_FALSE(find_pipeline(scratch / "m/model.safetensors"));
  EXPECT_EQ(open(scratch / "m").format, "hf");
  put_files(scratch / "bad", {{"model_index.json", to_bytes("{\"unet\":")}});
  EXPECT_EQ(rule_of([&] { (void)find_pipeline(scratch / "bad"); }), "hf.pipeline.index");
  put_files(scratch / "empty",
            {{"model_index.json", to_bytes(R"({"unet": ["a", "B"]})")}, {"unet/readme.txt", to_bytes("x")}});
  EXPECT_EQ(rule_of([&] { (void)open(scratch / "empty"); }), "hf.pipeline");
}

TEST(Pipelines, ALinkToAnotherPartIsNamed) {
  const Scratch scratch;
  put_files(scratch / "p", pipeline());
  std::filesystem::create_directory_symlink("unet", scratch / "p/vae");
  const auto found = find_pipeline(scratch / "p");
  ASSERT_EQ(found->parts.size(), 3U);
  EXPECT_EQ(found->parts[0].same_as, "");
  EXPECT_EQ(found->parts[1].same_as, "");
  EXPECT_EQ(found->parts[2].name, "vae");
  EXPECT_EQ(found->parts[2].same_as, "unet");
}

// Parts whose files are links to those of another part cost what one model costs.
TEST(Pipelines, CountAsOneModel) {
  const Scratch scratch;
  Model model;
  model.tensors = {dense("w", {1000}, std::vector<float>(1000))};
  put_files(scratch / "a", {{"model.safetensors", write_bytes(*find_format("safetensors"), model)}});
  std::filesystem::create_directory(scratch / "b");
  std::filesystem::create_hard_link(scratch / "a/model.safetensors", scratch / "b/model.safetensors");
  // Once is allowed, and twice is not.
  const ReadOptions options{.limits = {.decoded_bytes = 6000, .expansion = 0}};
  (void)open(scratch / "a", options);
  (void)open(scratch / "b", options);
  {
    const CountedAsOne together(options.limits);
    (void)open(scratch / "a", options);
    EXPECT_EQ(rule_of([&] { (void)open(scratch / "b", options); }), "open.expansion");
  }
  // So is the metadata: a budget that holds the tensors once.
  const ReadOptions few{.limits = {.metadata_values = 60}};
  (void)open(scratch / "a", few);
  const CountedAsOne together(few.limits);
  EXPECT_EQ(rule_of([&] {
              for (int i = 0; i < 1000; ++i) (void)open(scratch / (i % 2 == 0 ? "a" : "b"), few);
            }),
            "open.values");
}

// Each part is opened.
TEST(Pipelines, OfVeryManyPartsAreRefused) {
  const Scratch scratch;
  std::string index = R"({"_class_name": "P")";
  for (int i = 0; i < 65; ++i) {
    index += fmt::format(R"(, "p{}": ["a", "B"])", i);
    put_files(scratch / "p", {{fmt::format("p{}/model.safetensors", i), hf_weights()}});
    put_files(scratch / "p", {{"model_index.json", to_bytes(index + "}")}});
    if (i == 63) {
      EXPECT_EQ(find_pipeline(scratch / "p")->parts.size(), 64U);
    }
  }
  EXPECT_EQ(rule_of([&] { (void)find_pipeline(scratch / "p"); }), "hf.pipeline.parts");
}

TEST(Variants, OfSeveralTheOneWithoutIsTaken) {
  const Scratch scratch;
  put_files(scratch / "a", {{"x.safetensors", hf_weights()}, {"x.fp16.safetensors", hf_weights()}});
  EXPECT_EQ(*open(scratch / "a").metadata.find("hf.weights")->text(), "x");
  put_files(scratch / "b", {{"x.safetensors", hf_weights()}, {"y.safetensors", hf_weights()}});
  EXPECT_EQ(rule_of([&] { (void)open(scratch / "b"); }), "hf.weights.ambiguous");
  put_files(scratch / "c", {{"x.fp16.safetensors", hf_weights()}, {"x.bf16.safetensors", hf_weights()}});
  EXPECT_EQ(rule_of([&] { (void)open(scratch / "c"); }), "hf.weights.ambiguous");
}

}  // namespace
}  // namespace tare
