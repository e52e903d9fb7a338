// Tiny Llama weight files: a golden one, every rule, and what the writer refuses.
#include <set>

#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "conformance/tllm_cases.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;

const Format& tllm() { return *find_format("tllm"); }

std::vector<float> floats_of(const Tensor& tensor) {
  const Bytes bytes = tensor.components[0].blob.bytes();
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(&bytes[4 * i]);
  return values;
}

Model golden_model() { return open(memory_source(tllm_golden(), "golden.bin")); }

TEST(Tllm, GoldenFileIsRead) {
  const Model model = golden_model();
  EXPECT_EQ(model.format, "tllm");
  EXPECT_EQ(model.version, "1");
  const std::vector<std::pair<std::string, std::string>> expected = {{"embedding.weight", "4x2"},
                                                                     {"position_embedding.weight", "2x2"},
                                                                     {"layers.0.attention.query.weight", "2x2"},
                                                                     {"layers.0.attention.key.weight", "2x2"},
                                                                     {"layers.0.attention.value.weight", "2x2"},
                                                                     {"layers.0.attention.output.weight", "2x2"},
                                                                     {"layers.0.ffn.linear1.weight", "2x3"},
                                                                     {"layers.0.ffn.linear1.bias", "3"},
                                                                     {"layers.0.ffn.linear2.weight", "3x2"},
                                                                     {"layers.0.ffn.linear2.bias", "2"},
                                                                     {"layers.0.norm1.weight", "2"},
                                                                     {"layers.0.norm1.bias", "2"},
                                                                     {"layers.0.norm2.weight", "2"},
                                                                     {"layers.0.norm2.bias", "2"},
                                                                     {"output.weight", "2x4"}};
  ASSERT_EQ(model.tensors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(model.tensors[i].name, expected[i].first);
    EXPECT_EQ(model.tensors[i].shape.text(), expected[i].second);
    const std::vector<float> values = floats_of(model.tensors[i]);
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(values[k], 100.0f * static_cast<float>(i + 1) + static_cast<float>(k)) << expected[i].first;
  }
  EXPECT_EQ(to_json(model.config.to_map()),
            R"({"vocab_size":4,"hidden_size":2,"intermediate_size":3,"num_hidden_layers":1,)"
            R"("num_attention_heads":1,"max_position_embeddings":2})");
  EXPECT_EQ(to_json(model.metadata), R"({"tllm.num_heads":1,"tllm.max_sequence_length":2,"tllm.dropout":0.1})");
}

TEST(Tllm, GoldenFileIsWritten) {
  EXPECT_EQ(tllm_golden().size(), 36U + 48 + 4 * 32 + 32 + 40 + 20 + 40 + 16 + 4 * 16 + 48);
  EXPECT_TRUE(write_bytes(tllm(), golden_model()) == tllm_golden());
  Model shuffled = golden_model();
  std::reverse(shuffled.tensors.begin(), shuffled.tensors.end());
  EXPECT_TRUE(write_bytes(tllm(), shuffled) == tllm_golden()) << "the order of the file, not of the model";
}

TEST(Tllm, TensorsOfAMappedFileAreViews) {
  const Scratch scratch;
  put_file(scratch / "golden.bin", tllm_golden());
  const Model model = open(scratch / "golden.bin");
  for (const Tensor& tensor : model.tensors) {
    const auto view = tensor.components[0].blob.view();
    ASSERT_TRUE(view.has_value()) << tensor.name;
    EXPECT_EQ(view->data(), tensor.components[0].blob.view()->data());
    EXPECT_EQ(tensor.components[0].blob.offset() % 4, 0U);
  }
}

TEST(Tllm, EveryRuleHasItsFile) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.bin";
  for (const TllmCase& bad : tllm_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const auto error = error_of([&] { open(memory_source(bad.file, "f.bin")); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), bad.rule) << error->what();
    EXPECT_EQ(error->file(), "f.bin");
    EXPECT_EQ(error->offset(), bad.offset);
    EXPECT_NE(error->sentence().find(bad.part_of_text), std::string::npos) << error->sentence();
    put_file(path, bad.file);
    const Verification result = verify(path);
    EXPECT_FALSE(result.ok(false));
    EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(),
                            [&](const Finding& f) { return f.rule == bad.rule && f.offset == bad.offset; }));
  }
}

TEST(Tllm, AWrongMagicIsNamed) {
  Bytes file = tllm_golden();
  file[0] = std::byte{'X'};
  EXPECT_EQ(rule_of([&] { open(memory_source(file)); }), "open.unrecognized");
  const auto error = error_of([&] { tllm().read({"f", memory_source(file, "f")}, {}); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "tllm.magic");
  EXPECT_NE(error->sentence().find("0x544C4C58"), std::string::npos) << error->sentence();
}

TEST(Tllm, EveryTruncationNamesTheTensorAndWhatIsMissing) {
  const Bytes whole = tllm_golden();
  const Model model = golden_model();
  for (std::size_t length = 36; length < whole.size(); ++length) {
    const auto error = error_of([&] { open(borrow_memory(std::span(whole).first(length), "f")); });
    ASSERT_TRUE(error.has_value()) << length;
    EXPECT_EQ(error->rule(), "tllm.file.truncated");
    const auto cut = std::find_if(model.tensors.begin(), model.tensors.end(), [&](const Tensor& tensor) {
      const Blob& blob = tensor.components[0].blob;
      return length < blob.offset() + blob.size();
    });
    EXPECT_EQ(error->item(), cut->name) << length;
    EXPECT_NE(error->sentence().find(std::to_string(whole.size() - length) + " are missing"), std::string::npos)
        << error->sentence();
  }
}

TEST(Tllm, VerifyGoesOnAfterAWrongDimension) {
  const Scratch scratch;
  Bytes file = tllm_golden();
  file[36] = file[84] = std::byte{9};
  file.push_back({});
  put_file(scratch / "f.bin", file);
  std::vector<std::string> rules;
  for (const Finding& finding : verify(scratch / "f.bin").findings) rules.push_back(finding.rule);
  EXPECT_EQ(rules, (std::vector<std::string>{"tllm.tensor.dims", "tllm.tensor.dims", "tllm.file.trailing"}));
}

std::string refusal(const std::function<void(Model&)>& spoil, const std::string& rule = "tllm.write.model") {
  Model model = golden_model();
  spoil(model);
  MemorySink sink;
  const auto error = error_of([&] { tllm().write(model, sink, {}); });
  if (!error) return "";
  EXPECT_EQ(sink.bytes().size(), 0U);
  EXPECT_EQ(error->rule(), rule) << error->what();
  return error->sentence();
}

TEST(Tllm, WhatDoesNotFitIsListedAtOnce) {
  const std::string all = refusal([](Model& model) {
    std::erase_if(model.tensors,
                  [](const Tensor& t) { return t.name == "layers.0.norm1.bias" || t.name == "output.weight"; });
    model.tensors.push_back(make_dense("lm_head.weight", {2, 4}, DType::f32));
    model.tensors.push_back(make_dense("layers.7.norm1.bias", {2}, DType::f32));
    model.tensors[2] = make_dense(model.tensors[2].name, {2, 3}, DType::f32);
    model.tensors[4] = make_dense(model.tensors[4].name, {2, 2}, DType::f16);
  });
  for (const char* const part :
       {"missing: layers.0.norm1.bias, output.weight", "not of a Tiny Llama: lm_head.weight, layers.7.norm1.bias",
        "layers.0.attention.query.weight: expected 2x2, found 2x3",
        "layers.0.attention.value.weight: expected dense f32, found dense f16"})
    EXPECT_NE(all.find(part), std::string::npos) << all;
}

// Without a config, the names determine the number of layers, and one stray name does not add layers.
TEST(Tllm, AStrayNameIsNoLayer) {
  const auto forget = [](Model& model) {
    model.config = {};
    model.config.num_attention_heads = 1;
    model.tensors.push_back(make_dense("layers.5.norm1.bias", {2}, DType::f32));
  };
  const std::string stray = refusal(forget);
  EXPECT_NE(stray.find("not of a Tiny Llama: layers.5.norm1.bias"), std::string::npos) << stray;
  EXPECT_EQ(stray.find("missing"), std::string::npos) << stray;
  const std::string incomplete = refusal([&](Model& model) {
    forget(model);
    std::erase_if(model.tensors, [](const Tensor& t) { return t.name == "layers.0.norm1.bias"; });
  });
  EXPECT_NE(incomplete.find("missing: layers.0.norm1.bias;"), std::string::npos) << incomplete;
}

TEST(Tllm, WhatTheHeaderNeedsMustBeKnown) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal([](Model& m) { m.config = {}, m.metadata = {}; }), "the number of heads is not known");
  has(refusal([](Model& m) { m.config.num_attention_heads = 2; }), "tllm.num_heads = 1, but the config says 2");
  has(refusal([](Model& m) { m.config.num_attention_heads = 3, m.metadata = {}; }), "3 heads do not divide");
  has(refusal([](Model& m) { m.config.num_attention_heads = -1, m.metadata = {}; }), "num_attention_heads = -1");
  has(refusal([](Model& m) { m.config.hidden_size = 4; }), "embedding.weight: expected 4x4, found 4x2");
  has(refusal([](Model& m) { m.config.num_hidden_layers = 2000000000; }), "2000000000 is more than 15 tensors");
  has(refusal([](Model& m) { m.metadata.set("tllm.dropout", 1.5); }), "[0, 1)");
  has(refusal([](Model& m) { m.metadata.set("tllm.dropout", "much"); }), "\"much\" is not a number");
  has(refusal([](Model& m) { m.metadata.set("tllm.max_sequence_length", 2.5); }), "is not a whole number");
  has(refusal([](Model& m) { m.metadata.set("tllm.max_sequence_length", 3); }), "3, but the config says 2");
  has(refusal([](Model& m) { m.tensors.push_back(m.tensors[0]); }), "a second embedding.weight");
  has(refusal([](Model& m) { m.tensors.resize(2); }), "missing: layers.0.attention.query.weight");
  has(refusal([](Model& m) { m.tensors[0].shape = {4, 2, 1}; }), "expected 4x2, found 4x2x1");
  has(refusal([](Model& m) { m.tensors[0].components[0].blob = Blob::memory(Bytes(31)); }), "31 bytes of data");
  has(refusal([](Model& m) {
        m.config = {};
        for (Tensor& t : m.tensors)
          if (t.name == "embedding.weight") t = make_dense(t.name, {0, 2}, DType::f32);
        m.tensors.back() = make_dense("output.weight", {2, 0}, DType::f32);
      }),
      "vocabulary size: 0");
}

// Everything except the number of heads follows from the tensors.
TEST(Tllm, TheTensorsTellTheSizes) {
  Model model = golden_model();
  model.config = {};
  model.config.num_attention_heads = 1;
  model.metadata = {};
  Bytes expected = tllm_golden();
  EXPECT_TRUE(write_bytes(tllm(), model) == expected) << "dropout 0.1 where nobody says";
  EXPECT_EQ(tllm().remarks(model, {}).size(), 1U);
  model.config = {};
  model.metadata.set("tllm.num_heads", "2");
  model.metadata.set("tllm.dropout", "0.5");
  expected[16] = std::byte{2};
  store_le(&expected[32], 0.5f);
  EXPECT_TRUE(write_bytes(tllm(), model) == expected) << "numbers that a container of texts carried";
  EXPECT_TRUE(tllm().remarks(model, {}).empty());
}

TEST(Tllm, NothingIsDroppedInSilence) {
  const std::string rule = "tllm.write.room";
  EXPECT_NE(refusal([](Model& m) { m.metadata.set("author", "me"); }, rule), "");
  EXPECT_NE(refusal([](Model& m) { m.config.rope_theta = 1; }, rule), "");
  EXPECT_NE(refusal([](Model& m) { m.vocabulary = sample_vocabulary(); }, rule), "");
  EXPECT_NE(refusal([](Model& m) { m.attachments = {{"a", Blob::memory({})}}; }, rule), "");
  EXPECT_NE(refusal([](Model& m) { m.tensors[0].attributes.set("a", 1); }, rule), "");
  EXPECT_EQ(refusal([](Model&) {}, ""), "") << "the model itself is fine";
}

TEST(Tllm, ReducedTypesAreWidenedByConvert) {
  const Scratch scratch;
  Model model = golden_model();
  for (Tensor& tensor : model.tensors) tensor = cast(tensor, DType::bf16);
  put_file(scratch / "a.zt", write_bytes(*find_format("zt"), model));
  const Conversion done = convert(scratch / "a.zt", scratch / "b.bin", {.to = "tllm"});
  EXPECT_EQ(open(scratch / "b.bin").format, "tllm");
  EXPECT_EQ(done.changes.size(), 1U);
}

// The specification's own model_weights.bin is recognised by its content; to write under such a name, the format must
// be given.
TEST(Tllm, BinIsNotItsSuffix) {
  EXPECT_NE(format_of_suffix("model_weights.bin"), &tllm());
  EXPECT_EQ(format_of_suffix("model.tllm"), &tllm());
}

// The rule ids in the sources of a folder.
std::set<std::string> rules_in(const std::string& folder) {
  std::set<std::string> rules;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(TARE_TEST_DIR) / "../src" / folder)) {
    const std::string text = to_text(get_file(entry.path()));
    // Quoted words such as "tllm.size"; not with std::regex, for which GCC 12's sanitizers report a false error.
    for (std::size_t open = text.find('"'); open != std::string::npos; open = text.find('"', open + 1)) {
      const std::size_t close = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", open + 1);
      if (close == std::string::npos || text[close] != '"') continue;
      const std::string word = text.substr(open + 1, close - open - 1);
      if ((word.starts_with("tllm.") || word.starts_with("bpe.")) && !word.ends_with('.')) rules.insert(word);
    }
  }
  for (const char* const key : {"tllm.num_heads", "tllm.max_sequence_length", "tllm.dropout"}) rules.erase(key);
  return rules;
}

void expect_documented(const std::set<std::string>& rules, const std::string& page_name) {
  const std::string page = to_text(get_file(std::filesystem::path(TARE_TEST_DIR) / "../docs" / page_name));
  for (const std::string& rule : rules)
    EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule << " is not in docs/" << page_name;
}

// Every rule in the sources has a case or a test above, and is on the format's page.
TEST(Tllm, RulesAreDocumentedAndTested) {
  const std::set<std::string> rules = rules_in("formats/tllm");
  EXPECT_EQ(rules.size(), 11U);
  expect_documented(rules, "formats/tllm.md");
  std::set<std::string> covered = {"tllm.magic", "tllm.write.model"};
  for (const TllmCase& bad : tllm_cases()) covered.insert(bad.rule);
  for (const std::string& rule : rules) EXPECT_TRUE(covered.contains(rule)) << "no case for " << rule;
}

TEST(Tllm, RulesOfTheModelAreDocumented) {
  const std::set<std::string> rules = rules_in("tiny_llama");
  EXPECT_GE(rules.size(), 20U);
  expect_documented(rules, "tiny-llama.md");
}

}  // namespace
}  // namespace tare
