// License and base model, from the files next to the weights.
#include "resources/model_card.hpp"

#include "conformance/scratch.hpp"

namespace tare::resources {
namespace {

using namespace tare::testing;

std::string card(std::string_view readme) {
  const Card found = parse_card(readme);
  return found.license + "|" + found.base_model;
}

TEST(ModelCard, FrontMatter) {
  EXPECT_EQ(card("---\nlicense: apache-2.0\nbase_model: a/b\n---\n# Title\n"), "apache-2.0|a/b");
  EXPECT_EQ(card("---\r\nlicense: \"mit\"  \r\nbase_model: 'a/b' # the old one\r\n---\r\n"), "mit|a/b");
  EXPECT_EQ(card("\xEF\xBB\xBF---\nlanguage:\n- en\nlicense: mit # yes\n---\n"), "mit|");
  EXPECT_EQ(card("---\nbase_model:\n  - a/b\n- c/d\ntags:\n- e/f\n---\n"), "|a/b, c/d");
  EXPECT_EQ(card("---\nbase_model: [a/b, \"c/d\"]\n---\n"), "|a/b, c/d");
  EXPECT_EQ(card("---\nlicense: other\nlicense_name: llama3\n---\n"), "llama3|");
  EXPECT_EQ(card("---\nlicense: other\n---\n"), "other|");
}

TEST(ModelCard, WhatIsNoFrontMatterSaysNothing) {
  EXPECT_EQ(card(""), "|");
  EXPECT_EQ(card("license: mit\n"), "|");
  EXPECT_EQ(card("# Title\n---\nlicense: mit\n---\n"), "|");
  EXPECT_EQ(card("---\nlicense: mit\n"), "|") << "no end";
  EXPECT_EQ(card("---\n  license: mit\n---\n"), "|") << "of something else";
  EXPECT_EQ(card("---\nlicense: |\n  long\n---\n"), "|");
  EXPECT_EQ(card("---\nlicense: &x mit\nbase_model: {a: b}\n---\n"), "|");
  EXPECT_EQ(card("---\nlicense: a\x1B[31mb\n---\n"), "|") << "nothing that could steer a terminal";
  EXPECT_EQ(card("---\nlicense: \xFF\n---\n"), "|");
  EXPECT_EQ(card("---\nlicense: " + std::string(300, 'x') + "\n---\n"), "|");
  EXPECT_EQ(card("---\n" + std::string(1 << 20, '\n') + "license: mit\n---\n"), "|");
  EXPECT_EQ(card("---\nbase_model: [a/b\n---\n"), "|a/b");
}

TEST(ModelCard, HubNamesAreNotPaths) {
  for (const char* const name : {"mistralai/Mistral-7B-v0.1", "a/b", "_x/y.z"}) EXPECT_TRUE(is_hub_name(name)) << name;
  for (const char* const name : {"", "gpt2", "/home/me/model", "./model", "../a/b", "a/b/c", "a/", "/b", "a b/c",
                                 "C:\\models", "~/model", "a/.b", "a/b."})
    EXPECT_FALSE(is_hub_name(name)) << name;
}

TEST(ModelCard, TheReadmeCountsForMore) {
  Model model;
  const auto put = [&](std::string name, std::string_view text) {
    model.attachments.push_back({std::move(name), Blob::memory(to_bytes(text))});
  };
  put("config.json", R"({"_name_or_path": "a/b"})");
  EXPECT_EQ(card_of(model).base_model, "a/b");
  put("README.md", "---\nlicense: mit\n---\n");
  EXPECT_EQ(card_of(model).base_model, "a/b");
  EXPECT_EQ(card_of(model).license, "mit");
  model.attachments.back().blob = Blob::memory(to_bytes("---\nbase_model: c/d\n---\n"));
  EXPECT_EQ(card_of(model).base_model, "c/d");
  model.attachments = {{"config.json", Blob::memory(to_bytes(R"({"_name_or_path": "/tmp/x"})"))}};
  EXPECT_EQ(card_of(model).base_model, "");
  model.attachments = {{"config.json", Blob::memory(to_bytes("{broken"))}};
  EXPECT_EQ(card_of(model).base_model, "");
}

}  // namespace
}  // namespace tare::resources
