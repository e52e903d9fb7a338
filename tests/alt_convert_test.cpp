// What convert does on the way into ALT, where what is asked for and what ALT could hold are not the same.
#include "conformance/models.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(AltConvert, AnExplicitTypeDecodesCodes) {
  Model model;
  const Tensor weights = make_dense("w", {4, 4}, DType::f32);
  for (const std::string method : {"qint8", "qint4"}) {
    model.tensors = {find_codec_by_method(method)->encode(weights, {.method = method, .threads = 1})};
    for (const DType type : {DType::f32, DType::f16}) {
      AdaptOptions options;
      options.dtype = type;
      const Adapted adapted = adapt(model, *find_format("alt"), options);
      const Tensor& found = adapted.model.tensors[0];
      ASSERT_TRUE(found.is_dense());
      EXPECT_EQ(found.component("data")->dtype, type);
      EXPECT_EQ(found.component("data")->blob.bytes(),
                cast(to_dense(model.tensors[0]), type).component("data")->blob.bytes());
      EXPECT_TRUE(found.attributes.empty());
    }
    EXPECT_FALSE(adapt(model, *find_format("alt"), {}).model.tensors[0].is_dense());
  }
}

TEST(AltConvert, CodesThatStaySymmetricInSpiteOfRangeAreTold) {
  Model model;
  model.tensors = {find_codec("alt.qint8")->encode(make_dense("w", {4, 4}, DType::f32), {.method = "qint8"})};
  AdaptOptions options;
  options.quant.method = "qint8";
  EXPECT_TRUE(adapt(model, *find_format("alt"), options).changes.empty());
  options.quant.range = true;
  EXPECT_EQ(adapt(model, *find_format("alt"), options).changes.size(), 1U);
}

TEST(AltConvert, WhatIsNotUtf8ComesBackFromZTensor) {
  Model model;
  model.config.model_type = "\xFF\xFE";
  model.config.hidden_act = std::string("\x80\0", 2);
  const Bytes file = write_bytes(*find_format("zt"), model);
  EXPECT_TRUE(open(memory_source(file, "it")).config == model.config);
}

TEST(AltConvert, SettingsThatAreNoTextsAreRefused) {
  const auto rule = [](const std::string& text) {
    AdaptOptions options;
    options.set = {{"author", text}};
    return rule_of([&] { adapt(Model{}, *find_format("alt"), options); });
  };
  EXPECT_EQ(rule("5"), "convert.set");
  EXPECT_EQ(rule("true"), "convert.set");
  EXPECT_EQ(rule("null"), "convert.set");
  EXPECT_EQ(rule("\"5\""), "");
  EXPECT_EQ(rule("me"), "");
}

}  // namespace
}  // namespace tare
