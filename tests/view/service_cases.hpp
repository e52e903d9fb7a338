// Shared by the tests of `tare view`: models, and requests to a service.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "tare/elements.hpp"
#include "view/service.hpp"
#include "wire/json.hpp"

namespace tare::view {

inline Tensor numbers_of(std::string name, Shape shape, double step = 1) {
  std::vector<float> values(*shape.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<double>(i) * step);
  return dense(std::move(name), std::move(shape), values);
}

inline Model small_model() {
  Model model;
  model.format = "zt";
  model.config.model_type = "llama";
  for (int layer = 0; layer < 12; ++layer) {
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    model.tensors.push_back(numbers_of(prefix + "self_attn.q_proj.weight", {8, 16}));
    // One layer differs from the others.
    model.tensors.push_back(layer == 5 ? cast(numbers_of(prefix + "mlp.up_proj.weight", {16, 8}), DType::f16)
                                       : numbers_of(prefix + "mlp.up_proj.weight", {16, 8}));
  }
  model.tensors.push_back(numbers_of("model.embed_tokens.weight", {64, 8}));
  model.tensors.push_back(dense("<script>alert(1)</script>", {2}, std::vector<float>{1, -3}));
  model.metadata.set("name", Value("it <b>is</b>"));
  model.metadata.set("list", Value(List{Value(1), Value(2)}));
  model.vocabulary.kind = "bpe";
  for (const char* text : {"a", "b", "ab", " the", "<|end|>"})
    model.vocabulary.tokens.push_back({text, 0.5F, TokenType::normal});
  model.vocabulary.tokens.back().type = TokenType::control;
  model.vocabulary.merges = {"a b"};
  const std::string readme = "# <script>";
  model.attachments.push_back(
      {"README.md", Blob::memory(Bytes(reinterpret_cast<const std::byte*>(readme.data()),
                                       reinterpret_cast<const std::byte*>(readme.data()) + readme.size()))});
  return model;
}

inline OpenModelPtr shown(Model model) { return std::make_shared<const OpenModel>("a model", std::move(model)); }

// The result of work that was started, once it is done.
inline std::string finished(Service& service, std::string_view start, std::string_view target) {
  std::string text = service.call(start);
  while (text.find("\"done\":true") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    text = service.call(target);
  }
  return text;
}

inline Value asked(Service& service, std::string_view target) {
  const Answer answer = service.answer(target);
  EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
  wire::TreeBounds bounds;
  return wire::read_json(answer.body, bounds);
}

inline const Value& in(const Value& value, std::string_view key) {
  static const Value kNone;
  const Value* const found = value.get<Map>() == nullptr ? nullptr : value.get<Map>()->find(key);
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? kNone : *found;
}

inline double number(const Value& value) {
  if (const auto* whole = value.get<std::int64_t>()) return static_cast<double>(*whole);
  return value.get<double>() == nullptr ? NAN : *value.get<double>();
}

inline const List& list(const Value& value) { return *value.get<List>(); }

}  // namespace tare::view
