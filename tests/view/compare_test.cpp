// Comparison of two models: figures computed by hand, the worst tensor first, work that is stopped and restarted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "convert/adapt.hpp"
#include "service_cases.hpp"
#include "tare/convert.hpp"
#include "view/report.hpp"
#include "view/svg.hpp"

namespace tare::view {
namespace {

TEST(ViewCompare, NumbersNearTheEndsOfADouble) {
  Model a, b;
  const auto add = [&](const char* name, std::vector<double> left, std::vector<double> right) {
    a.tensors.push_back(dense(name, {left.size()}, left));
    b.tensors.push_back(dense(name, {right.size()}, right));
  };
  add("large", {1e300, -2e300}, {1.1e300, -2e300});
  add("small", {1e-300, -2e-300}, {1.1e-300, -2e-300});
  add("opposite", {1.7e308, 1}, {-1.7e308, 1});
  add("hair", {1, 1e-200}, {1, 2e-200});
  Service service({shown(std::move(a)), shown(std::move(b))});
  wire::TreeBounds bounds;
  const Value answer = wire::read_json(service.call_and_wait("compare/all"), bounds);
  const List& rows = list(in(answer, "tensors"));
  const double expected = 0.1 / std::sqrt(5.0), cosine = 5.1 / (std::sqrt(5.0) * std::sqrt(1.21 + 4));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(number(in(rows[i], "relative_rms")), expected, 1e-6) << i;
    EXPECT_NEAR(number(in(rows[i], "cosine")), cosine, 1e-8) << i;
    EXPECT_NEAR(number(in(rows[i], "rms")) / (i == 0 ? 1e299 : 1e-301) * std::sqrt(2.0), 1, 1e-5) << i;
  }
  EXPECT_NEAR(number(in(rows[2], "relative_rms")), 2, 1e-5);
  EXPECT_NEAR(number(in(rows[2], "cosine")), -1, 1e-8);
  EXPECT_NEAR(number(in(rows[3], "relative_rms")) / 1e-200, 1, 1e-5);
  EXPECT_NEAR(number(in(in(answer, "summary"), "relative_rms")), 2, 1e-5);
}

TEST(ViewService, ComparesTwoModels) {
  Model other = small_model();
  other.tensors[0] = numbers_of(other.tensors[0].name, {8, 16}, 1.01);
  other.tensors[1].name = "new";
  Service service({shown(small_model()), shown(std::move(other))});
  const std::string text = finished(service, "compare/start", "compare");
  wire::TreeBounds bounds;
  const Value answer = wire::read_json(text, bounds);
  std::size_t changed = 0, alone = 0;
  for (const Value& row : list(in(answer, "tensors"))) {
    if (row.get<Map>()->find("only_in") != nullptr) {
      ++alone;
    } else if (number(in(row, "changed")) > 0) {
      ++changed;
      EXPECT_NEAR(number(in(row, "relative_rms")), 0.01, 1e-4);
      EXPECT_NEAR(number(in(row, "cosine")), 1, 1e-6);
    }
  }
  EXPECT_EQ(changed, 1U);
  EXPECT_EQ(alone, 2U);
  const Value error = asked(service, "heat?tensor=0&of=error&height=8&width=16");
  EXPECT_NEAR(number(list(in(error, "cells"))[127]), 1.27, 1e-3);
  EXPECT_EQ(service.answer("heat?tensor=1&of=error").status, 404);
}

Value compared(Service& service, const std::string& target) {
  wire::TreeBounds bounds;
  return wire::read_json(service.call_and_wait(target), bounds);
}

// With known errors, figures over every value are those computed by hand, and a sample is marked as one.
TEST(ViewCompare, EveryValueIsExact) {
  constexpr std::size_t kMany = 300'000;
  std::vector<float> left(kMany, 2), right(kMany, 2);
  for (std::size_t i = 0; i < kMany; i += 1000) right[i] = 3;  // 300 of them
  Model a, b;
  a.tensors.push_back(dense("w", {kMany / 100, 100}, left));
  b.tensors.push_back(dense("w", {kMany / 100, 100}, right));
  a.tensors.push_back(dense("odd", {4}, std::vector<float>{NAN, 1, INFINITY, NAN}));
  b.tensors.push_back(dense("odd", {4}, std::vector<float>{NAN, 1, INFINITY, 5}));
  Service service({shown(std::move(a)), shown(std::move(b))});
  const Value sample = compared(service, "compare/start");
  EXPECT_EQ(in(list(in(sample, "tensors"))[0], "exact"), Value(false));
  EXPECT_EQ(number(in(list(in(sample, "tensors"))[0], "compared")), 65536);
  EXPECT_EQ(in(list(in(sample, "tensors"))[1], "exact"), Value(true)) << "few values are all looked at";
  EXPECT_EQ(in(in(sample, "every_value"), "started"), Value(false));
  const Value all = compared(service, "compare/all?plot=1");
  const Value& row = list(in(all, "tensors"))[0];
  EXPECT_EQ(in(row, "exact"), Value(true));
  EXPECT_EQ(number(in(row, "compared")), kMany);
  EXPECT_DOUBLE_EQ(number(in(row, "changed")), 0.001);
  EXPECT_NEAR(number(in(row, "rms")), std::sqrt(0.001), 1e-7);
  EXPECT_NEAR(number(in(row, "relative_rms")), std::sqrt(0.001) / 2, 1e-7);
  EXPECT_EQ(number(in(row, "max_error")), 1);
  const double product = 4 * 0.999 + 6 * 0.001, squares = 4 * 0.999 + 9 * 0.001;
  EXPECT_NEAR(number(in(row, "cosine")), product / (2 * std::sqrt(squares)), 1e-8);
  EXPECT_DOUBLE_EQ(number(in(list(in(all, "tensors"))[1], "changed")), 0.25) << "a NaN that became a number";
  EXPECT_EQ(number(in(in(all, "summary"), "exact")), 2);
  EXPECT_EQ(number(in(in(all, "every_value"), "progress")), number(in(all, "elements")));
  EXPECT_EQ(list(in(all, "plot")).size(), 2U);
}

// With very many tensors, all are compared; an answer has a page of them, and the plot covers all.
TEST(ViewCompare, VeryManyTensors) {
  Model a, b;
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<float>(i % 50 + 1);
    const std::string name = fmt::format("layers.{}.{}", i / 10, std::string(180, 'x') + std::to_string(i % 10));
    a.tensors.push_back(dense(name, {2}, std::vector<float>{1, 1}));
    b.tensors.push_back(dense(name, {2}, std::vector<float>{1, 1 + value / 1000}));
  }
  b.tensors.push_back(dense("alone", {1}, std::vector<float>{1}));
  b.tensors.push_back(dense("layers.0.shape", {1}, std::vector<float>{1}));
  a.tensors.push_back(dense("layers.0.shape", {2}, std::vector<float>{1, 1}));
  Service service({shown(std::move(a)), shown(std::move(b))});
  static_cast<void>(service.call_and_wait("compare/start"));
  const Answer whole = service.answer("compare?plot=1");
  EXPECT_LE(whole.body.size(), kMostAnswer);
  const Value first = asked(service, "compare?sort=relative_rms&way=down&plot=1");
  EXPECT_EQ(number(in(first, "pairs")), 5002);
  EXPECT_EQ(list(in(first, "tensors")).size(), 1000U);
  EXPECT_NEAR(number(in(list(in(first, "tensors"))[0], "relative_rms")), 0.05 / std::sqrt(2), 1e-6);
  double drawn = 0;
  for (const Value& point : list(in(first, "plot"))) drawn += number(in(point, "tensors"));
  EXPECT_EQ(drawn, 5000);
  EXPECT_LE(list(in(first, "plot")).size(), 3000U);
  EXPECT_EQ(number(in(in(first, "summary"), "only_in_b")), 1);
  EXPECT_EQ(number(in(in(first, "summary"), "shapes")), 1);
  const Value other = asked(service, "compare?only=other&sort=name");
  ASSERT_EQ(list(in(other, "tensors")).size(), 2U);
  EXPECT_EQ(*in(list(in(other, "tensors"))[0], "name").text(), "alone");
  EXPECT_EQ(number(in(asked(service, "compare?search=layers.499.&count=0"), "found")), 10);
  EXPECT_EQ(number(in(list(in(asked(service, "compare?from=5001"), "tensors"))[0], "elements")), 1);
  EXPECT_EQ(service.answer("compare?sort=size").status, 400);
  EXPECT_LE(report(service).size(), kMostReport);
}

// A value that became NaN or infinite, or was, has lost everything, so no figure may suggest near equality.
TEST(ViewCompare, WhatIsNoNumberAnyMoreIsWorst) {
  Model a, b;
  const auto add = [&](const char* name, std::vector<float> left, std::vector<float> right) {
    a.tensors.push_back(dense(name, {left.size()}, left));
    b.tensors.push_back(dense(name, {right.size()}, right));
  };
  add("equal", {1, 2, NAN, INFINITY}, {1, 2, NAN, INFINITY});
  add("near", {1, 2, 3, 4}, {1, 2, 3, 5});
  add("zeros", {0, 0}, {0, 1});
  add("nan", {1, 2, 3, 4}, {NAN, NAN, NAN, NAN});
  add("half", {1, 2, 3, 4}, {1, NAN, 3, NAN});
  add("infinite", {1, 2}, {INFINITY, INFINITY});
  add("opposite", {1, INFINITY}, {1, -INFINITY});
  Service service({shown(std::move(a)), shown(std::move(b))});
  const Value all = compared(service, "compare/all?sort=relative_rms&way=down&plot=1");
  const List& rows = list(in(all, "tensors"));
  ASSERT_EQ(rows.size(), 7U);
  const auto text = [](const Value& value) { return value.text() == nullptr ? std::string() : *value.text(); };
  std::size_t lost = 0;
  for (const Value& row : rows) {
    const std::string name = text(in(row, "name"));
    if (number(in(row, "not_finite")) == 0) continue;
    ++lost;
    for (const std::string_view key : {"rms", "relative_rms", "max_error"})
      EXPECT_EQ(text(in(row, key)), "inf") << name;
    EXPECT_EQ(text(in(row, "cosine")), "nan") << name;
    EXPECT_GT(number(in(row, "changed")), 0) << name;
  }
  EXPECT_EQ(lost, 4U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(text(in(rows[i], "relative_rms")), "inf") << i;
  EXPECT_EQ(text(in(rows[5], "name")), "near");
  EXPECT_EQ(text(in(rows[6], "name")), "equal");
  EXPECT_EQ(number(in(rows[6], "relative_rms")), 0);
  const Value& summary = in(all, "summary");
  EXPECT_EQ(number(in(summary, "equal")), 1);
  EXPECT_EQ(text(in(summary, "relative_rms")), "inf");
  EXPECT_EQ(text(in(in(summary, "worst"), "name")), "nan") << "an error of zeros is the lesser one";
  EXPECT_EQ(list(in(all, "plot")).size(), 6U) << "all but the equal one";
  EXPECT_EQ(text(in(list(in(asked(service, "compare?sort=cosine&count=1"), "tensors"))[0], "cosine")), "nan");
  const std::string svg = picture(service, "errors");
  EXPECT_NE(svg.find(">inf</text>"), std::string::npos);
  EXPECT_NE(svg.find("half: 32 bits, error inf"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">f32</text>"), std::string::npos) << "the legend of the dots";
  // With very many tensors, coinciding points are merged, including infinite ones.
  Model many_a, many_b;
  for (int i = 0; i < 3500; ++i) {
    many_a.tensors.push_back(dense(fmt::format("w{}", i), {1}, std::vector<float>{1}));
    many_b.tensors.push_back(dense(fmt::format("w{}", i), {1}, std::vector<float>{NAN}));
  }
  Service many({shown(std::move(many_a)), shown(std::move(many_b))});
  const Value points = compared(many, "compare/all?count=0&plot=1");
  ASSERT_EQ(list(in(points, "plot")).size(), 1U);
  EXPECT_EQ(number(in(list(in(points, "plot"))[0], "tensors")), 3500);
}

// Integers are compared exactly; as doubles, 2^53 and 2^53 + 1 are equal.
TEST(ViewCompare, IntegersAreExact) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 60, kEdge = std::int64_t{1} << 53;
  Model a, b;
  std::vector<std::int64_t> up(10), down(10);
  for (std::size_t i = 0; i < 10; ++i) up[i] = kLarge + static_cast<std::int64_t>(i), down[9 - i] = up[i];
  a.tensors.push_back(dense("order", {10}, up));
  b.tensors.push_back(dense("order", {10}, down));
  a.tensors.push_back(dense("one", {2}, std::vector<std::int64_t>{kEdge, -kEdge}));
  b.tensors.push_back(dense("one", {2}, std::vector<std::int64_t>{kEdge + 1, -kEdge - 1}));
  a.tensors.push_back(dense("signs", {2}, std::vector<std::int64_t>{kEdge + 1, -1}));
  b.tensors.push_back(dense("signs", {2}, std::vector<std::uint64_t>{std::uint64_t{kEdge + 1}, 1}));
  a.tensors.push_back(dense("same", {2}, std::vector<std::uint64_t>{UINT64_MAX, 1}));
  b.tensors.push_back(dense("same", {2}, std::vector<std::uint64_t>{UINT64_MAX, 1}));
  Service service({shown(std::move(a)), shown(std::move(b))});
  for (const std::string target : {"compare/start", "compare/all"}) {
    const Value answer = compared(service, target);
    const List& rows = list(in(answer, "tensors"));
    EXPECT_EQ(number(in(rows[0], "changed")), 1);
    EXPECT_EQ(number(in(rows[0], "max_error")), 9);
    EXPECT_NEAR(number(in(rows[0], "rms")), std::sqrt(33.0), 1e-4);
    EXPECT_EQ(number(in(rows[1], "changed")), 1);
    EXPECT_EQ(number(in(rows[1], "rms")), 1);
    EXPECT_EQ(number(in(rows[2], "changed")), 0.5);
    EXPECT_EQ(number(in(rows[2], "max_error")), 2);
    EXPECT_EQ(number(in(in(answer, "summary"), "equal")), 1);
    EXPECT_EQ(*in(in(in(answer, "summary"), "worst"), "name").text(), "signs");
  }
  const std::string error = service.answer("values?tensor=1&of=error").body;
  EXPECT_NE(error.find("[1,-1]"), std::string::npos) << error;
  EXPECT_NE(service.answer("values?tensor=2&of=error&slice=1").body.find("[2]"), std::string::npos);
}

TEST(ViewCompare, OfEqualModelsNoneIsWorst) {
  Service service({shown(small_model()), shown(small_model())});
  const Value all = compared(service, "compare/all?count=0");
  EXPECT_EQ(number(in(in(all, "summary"), "equal")), 26);
  EXPECT_TRUE(in(in(all, "summary"), "worst").is_null());
}

// Types and sizes are those of the files, even if the compared tensors were converted back to the original model's
// form.
TEST(ViewCompare, TypesAreThoseOfTheFiles) {
  Model a;
  a.config.model_type = "llama";
  a.config.hidden_size = 8;
  a.config.num_attention_heads = a.config.num_key_value_heads = 2;
  a.config.num_hidden_layers = 1;
  a.config.intermediate_size = 6;
  a.config.max_position_embeddings = 16;
  a.config.rms_norm_eps = 1e-5;
  a.config.rope_theta = 10000;
  const auto add = [&](const char* name, Shape shape) {
    a.tensors.push_back(cast(numbers_of(name, std::move(shape)), DType::bf16));
  };
  add("model.embed_tokens.weight", {3, 8});
  add("model.norm.weight", {8});
  add("lm_head.weight", {3, 8});
  for (const char* const norm : {"input_layernorm", "post_attention_layernorm"})
    add(fmt::format("model.layers.0.{}.weight", norm).c_str(), {8});
  for (const char* const part : {"q", "k", "v", "o"})
    add(fmt::format("model.layers.0.self_attn.{}_proj.weight", part).c_str(), {8, 8});
  for (const char* const part : {"gate", "up"})
    add(fmt::format("model.layers.0.mlp.{}_proj.weight", part).c_str(), {6, 8});
  add("model.layers.0.mlp.down_proj.weight", {8, 6});
  Model stored = adapt(a, *find_format("gguf")).model;
  stored.format = "gguf";
  a.format = "zt";
  const auto norm = std::ranges::find(stored.tensors, "output_norm.weight", &Tensor::name);
  ASSERT_NE(norm, stored.tensors.end());
  ASSERT_EQ(norm->components[0].dtype, DType::f32) << "the file has it wider than the model";
  Service service({shown(a), shown(stored)});
  const auto check = [&](const Value& row) {
    const bool is_norm = row.get<Map>()->find("name")->text()->find("norm") != std::string::npos;
    EXPECT_EQ(*in(row, "type_a").text(), "bf16");
    EXPECT_EQ(*in(row, "type_b").text(), is_norm ? "f32" : "bf16") << to_json(row);
    EXPECT_EQ(number(in(row, "bits_a")), 16);
    EXPECT_EQ(number(in(row, "bits_b")), is_norm ? 32 : 16) << to_json(row);
  };
  const Value answer = compared(service, "compare/all?sort=bits&way=down");
  const List& rows = list(in(answer, "tensors"));
  ASSERT_EQ(rows.size(), a.tensors.size());
  for (const Value& row : rows) check(row);
  EXPECT_EQ(number(in(rows[0], "bits_b")), 32) << "and the order goes by them";
  // The same with the models exchanged.
  Service back({shown(stored), shown(a)});
  const Value other = compared(back, "compare/all?sort=bytes");
  for (const Value& row : list(in(other, "tensors"))) {
    const bool is_norm = row.get<Map>()->find("name")->text()->find("norm") != std::string::npos;
    EXPECT_EQ(number(in(row, "bits_a")), is_norm ? 32 : 16) << to_json(row);
    EXPECT_EQ(number(in(row, "bytes")), number(in(row, "elements")) * (is_norm ? 4 : 2)) << to_json(row);
  }
}

// Both sides and their difference show the same elements, even if one model stores its matrix rows in another order.
TEST(ViewCompare, SidesAreThoseThatAreCompared) {
  Model other = small_model();
  other.tensors[0] = numbers_of(other.tensors[0].name, {8, 16}, 1.5);
  Service service({shown(small_model()), shown(std::move(other))});
  const auto cells = [&](std::string_view of) {
    return list(in(asked(service, fmt::format("heat?tensor=0&of={}&top=2&bottom=4&left=3&right=7", of)), "cells"));
  };
  const List left = cells("left"), right = cells("right"), error = cells("error");
  ASSERT_EQ(left.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(number(right[i]), 1.5 * number(left[i]), 1e-4);
    EXPECT_NEAR(number(error[i]), number(right[i]) - number(left[i]), 1e-4);
  }
  EXPECT_EQ(number(in(asked(service, "values?tensor=0&of=right&slice=0,1"), "elements")), 1);
  EXPECT_EQ(service.answer("heat?tensor=0&of=middle").status, 400);
  Service alone(std::vector<OpenModelPtr>{shown(small_model())});
  for (const std::string_view of : {"left", "right", "error", "b"})
    EXPECT_EQ(alone.answer(fmt::format("heat?tensor=0&of={}", of)).status, 400) << of;
}

// With one model, every request about two is refused, and the service continues.
TEST(ViewCompare, LayersAndRolesHaveErrorsAndSizes) {
  Model a = small_model(), b = small_model();
  // q of layer 3 is off by 1 %; up of layer 5 is f16 in both; q of layer 4 has become half as wide.
  for (Tensor& tensor : b.tensors) {
    if (tensor.name == "model.layers.3.self_attn.q_proj.weight") tensor = numbers_of(tensor.name, {8, 16}, 1.01);
    if (tensor.name == "model.layers.4.self_attn.q_proj.weight") tensor = cast(tensor, DType::f16);
    if (tensor.name == "model.layers.6.self_attn.q_proj.weight")
      tensor = dense(tensor.name, {8, 16}, std::vector<float>(128, INFINITY));
  }
  Service service({shown(std::move(a)), shown(std::move(b))});
  const Value answer = compared(service, "compare/all?grid=1&count=0");
  const Value& grid = in(answer, "grid");
  const List& roles = list(in(grid, "roles"));
  ASSERT_EQ(roles.size(), 2U);
  EXPECT_EQ(*roles[0].text(), "q");
  EXPECT_EQ(*roles[1].text(), "up");
  const List& layers = list(in(grid, "layers"));
  ASSERT_EQ(layers.size(), 12U);
  const auto cell = [&](std::size_t layer, std::size_t role) -> const Value& { return list(layers[layer])[role]; };
  EXPECT_EQ(number(in(cell(0, 0), "relative_rms")), 0);
  EXPECT_NEAR(number(in(cell(3, 0), "relative_rms")), 0.01, 1e-5);
  EXPECT_EQ(*in(cell(3, 0), "name").text(), "model.layers.3.self_attn.q_proj.weight");
  EXPECT_EQ(number(in(cell(4, 0), "bytes_a")), 512);
  EXPECT_EQ(number(in(cell(4, 0), "bytes_b")), 256);
  EXPECT_EQ(number(in(cell(4, 0), "bits_b")), 16);
  EXPECT_EQ(*in(cell(6, 0), "relative_rms").text(), "inf");
  EXPECT_EQ(list(in(grid, "others")).size(), 2U);
  EXPECT_EQ(asked(service, "compare?count=0").get<Map>()->find("grid"), nullptr);
}

TEST(ViewCompare, WantsTwoModels) {
  Service alone(std::vector<OpenModelPtr>{shown(small_model())});
  for (const std::string_view name : {"compare", "compare/start", "compare/all", "compare/stop"}) {
    const Answer answer = alone.answer(name, true);
    EXPECT_EQ(answer.status, 400) << name;
    EXPECT_NE(answer.body.find("there is no second model"), std::string::npos) << name << answer.body;
    EXPECT_THROW(static_cast<void>(alone.call_and_wait(std::string(name))), Error) << name;
  }
  EXPECT_THROW(static_cast<void>(picture(alone, "errors")), Error);
  EXPECT_EQ(alone.pairing(), nullptr);
  for (const std::string_view name : endpoint_names()) EXPECT_LT(alone.answer(name, true).status, 500) << name;
  EXPECT_EQ(alone.answer("tensor?tensor=0").status, 200);
}

// If nothing was started there is nothing to stop; work that is stopped before it has results counts as not started.
TEST(ViewCompare, StopsWhatWasNotBegun) {
  constexpr std::string_view kNotBegun = R"({"started":false,"done":false})";
  Service fresh({shown(small_model()), shown(small_model())});
  EXPECT_EQ(fresh.call_and_wait("compare/stop"), kNotBegun);
  EXPECT_EQ(fresh.call("compare"), kNotBegun);
  Model large;
  large.tensors.push_back(dense("w", {1 << 22}, std::vector<float>(1 << 22, 1.0F)));
  const OpenModelPtr model = shown(std::move(large));
  Service service({model, model});
  static_cast<void>(service.call("compare/all?count=0"));
  const std::string stopped = service.call_and_wait("compare/stop?count=0");
  if (stopped.find("\"summary\"") == std::string::npos) {  // it was not done by then
    EXPECT_EQ(stopped, kNotBegun);
    EXPECT_EQ(service.call("compare?count=0"), kNotBegun);
  }
  EXPECT_EQ(number(in(in(compared(service, "compare?count=0"), "summary"), "equal")), 1) << "begins again";
}

// A request for progress waits for work that another request started.
TEST(ViewCompare, WaitsForWorkThatWasStartedBefore) {
  Model large;
  large.tensors.push_back(dense("w", {1 << 22}, std::vector<float>(1 << 22, 1.0F)));
  const OpenModelPtr model = shown(std::move(large));
  Service service({model, model});
  static_cast<void>(service.call("compare/all?count=0"));
  EXPECT_EQ(number(in(in(compared(service, "compare?count=0"), "summary"), "exact")), 1);
}

// Stopped work reports that, and can be restarted; reopening the models stops it.
TEST(ViewCompare, StopsAndBeginsAgain) {
  const auto model = [](float value) {
    Model made;
    for (int i = 0; i < 40; ++i)
      made.tensors.push_back(dense(fmt::format("w{}", i), {1 << 18}, std::vector<float>(1 << 18, value)));
    return shown(std::move(made));
  };
  Service service({model(1), model(2)});
  static_cast<void>(service.call_and_wait("compare/start?count=0"));
  static_cast<void>(service.call("compare/all?count=0"));
  static_cast<void>(service.call("compare/stop?count=0"));
  const Value stopped = compared(service, "compare/stop?count=0");
  if (number(in(in(stopped, "summary"), "exact")) < 40) {
    EXPECT_NE(in(in(stopped, "every_value"), "problem").text(), nullptr);
  }
  const Value all = compared(service, "compare/all?count=0");
  EXPECT_EQ(number(in(in(all, "summary"), "exact")), 40);
  EXPECT_TRUE(in(in(all, "every_value"), "problem").is_null());
  EXPECT_EQ(number(in(in(all, "summary"), "relative_rms")), 1);
}

}  // namespace
}  // namespace tare::view
