// The models in data/, made by the original libraries (tools/packs.py) with the values that those decode, and ways to
// damage them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "codecs/packs/join.hpp"
#include "formats/format.hpp"
#include "resources/packed_config.hpp"

namespace tare::pack_fixtures {

inline const std::string kData = std::string(TARE_TEST_DIR) + "/codecs/packs/data";

inline std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kData))
    if (entry.is_directory()) found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}

inline std::string path_of(const std::string& name) { return kData + "/" + name; }

// The arrays as the file stores them.
inline Model arrays_of(const std::string& name, Access access = Access::mapped) {
  return find_format("hf")->read({path_of(name), nullptr}, {.access = access});
}

struct Collected final : Diagnostics {
  void error(const Error& error) override { rules.push_back(error.rule()); }
  void warning(const Error& about) override { rules.push_back(about.rule()); }
  void note(const Error& about) override { rules.push_back(about.rule() + " (note)"); }
  std::vector<std::string> rules;
};

// Joins the arrays and returns what was reported.
inline std::string join(Model& model) {
  Collected collected;
  codec::packs::join_packs(model, resources::stated_packing(model), "file", collected);
  return fmt::format("{}", fmt::join(collected.rules, ", "));
}

inline void expect_same(const Model& a, const Model& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.shape, y.shape) << x.name;
    EXPECT_EQ(x.layout, y.layout) << x.name;
    ASSERT_EQ(x.components.size(), 1u);
    ASSERT_EQ(y.components.size(), 1u);
    EXPECT_EQ(x.components[0].role, y.components[0].role);
    EXPECT_EQ(x.components[0].type_name(), y.components[0].type_name()) << x.name;
    EXPECT_EQ(x.components[0].blob.bytes(), y.components[0].blob.bytes()) << x.name;
  }
}

inline std::string describe_layouts(const Model& model) {
  std::string text;
  for (const Tensor& tensor : model.tensors) {
    Map facts = tensor.attributes;
    facts.erase("arrays");
    text += fmt::format("{} {} {} {}\n", tensor.name, tensor.layout, tensor.shape.text(), to_json(Value(facts)));
  }
  return text;
}

inline Tensor& array(Model& model, std::string_view ending) {
  for (Tensor& tensor : model.tensors)
    if (tensor.name.ends_with(ending)) return tensor;
  throw std::logic_error("no array " + std::string(ending));
}

inline void erase(Model& model, std::string_view ending) {
  std::erase_if(model.tensors, [&](const Tensor& tensor) { return tensor.name.ends_with(ending); });
}

inline void set_bytes(Tensor& tensor, std::size_t at, const std::vector<int>& values) {
  Bytes bytes = tensor.components[0].blob.bytes();
  for (const int value : values) bytes.at(at++) = static_cast<std::byte>(value);
  tensor.components[0].blob = Blob::memory(bytes);
}

inline void state(Model& model, const std::string& config) {
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name == "config.json"; });
  const auto text = std::as_bytes(std::span(config));
  model.attachments.push_back({"config.json", Blob::memory(Bytes(text.begin(), text.end()))});
}

}  // namespace tare::pack_fixtures
