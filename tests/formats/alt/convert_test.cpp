// Conversion to ALT when the request exceeds what ALT can hold.
#include "tare/convert.hpp"

#include "conformance/models.hpp"
#include "convert/adapt.hpp"
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

TEST(AltConvert, SettingADateOrAUuidThatIsNoneIsRefused) {
  const auto sentence = [](const std::string& key, const std::string& text) {
    AdaptOptions options;
    options.set = {{key, text}};
    const auto error = error_of([&] { adapt(Model{}, *find_format("alt"), options); });
    return error ? error->rule() + " " + error->sentence() : std::string();
  };
  EXPECT_EQ(sentence("created_at", "2024-02-29"), "");
  EXPECT_EQ(sentence("created_at", ""), "");
  EXPECT_EQ(sentence("last_modified", "2023-02-29"),
            "convert.set last_modified=2023-02-29: last_modified is \"2023-02-29\", not a date YYYY-MM-DD");
  EXPECT_NE(sentence("created_at", "yesterday"), "");
  EXPECT_NE(sentence("uuid", "c1355a8e"), "");
  EXPECT_EQ(sentence("uuid", "C1355A8E-0000-4000-8000-00000000000f"), "");
  // Other containers accept any text under these keys.
  AdaptOptions options;
  options.set = {{"created_at", "yesterday"}};
  EXPECT_NO_THROW(adapt(Model{}, *find_format("zt"), options));
}

TEST(AltConvert, LicenseAndBaseModelComeFromTheFiles) {
  const auto file = [](std::string name, std::string_view text) {
    return Attachment{std::move(name), Blob::memory(to_bytes(text))};
  };
  Model model;
  model.attachments = {file("config.json", R"({"_name_or_path": "mistralai/Mistral-7B-v0.1", "hidden_size": 8})")};
  model.config.hidden_size = 8;
  const auto texts = [&](const AdaptOptions& options = {}) {
    const Model made = adapt(model, *find_format("alt"), options).model;
    const auto text = [&](std::string_view key) {
      const Value* const value = made.metadata.find(key);
      return value == nullptr ? std::string("-") : *value->text();
    };
    return text("base_model") + " " + text("license");
  };
  EXPECT_EQ(texts(), "mistralai/Mistral-7B-v0.1 -");
  AdaptOptions set;
  set.set = {{"base_model", "me/mine"}};
  EXPECT_EQ(texts(set), "me/mine -") << "what is asked for counts";
  AdaptOptions drop;
  drop.drop = {ModelPart::metadata};
  EXPECT_EQ(texts(drop), "- -");
  // If the container holds the files themselves, nothing is extracted from them.
  EXPECT_TRUE(adapt(model, *find_format("zt"), {}).model.metadata.empty());
}

}  // namespace
}  // namespace tare
