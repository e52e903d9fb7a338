// Hugging Face's directories.
#include <sys/stat.h>

#include <set>

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/steps.hpp"
#include "lines.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

class Hf : public ::testing::Test {
 protected:
  std::string make(const Files& files, const std::string& name = "d") {
    put_files(scratch_ / name, files);
    return scratch_ / name;
  }
  Scratch scratch_{Scratch::fast_place()};
};

TEST_F(Hf, ADirectoryIsAModel) {
  const std::string path = make(hf_good());
  const Model model = open(path);
  EXPECT_EQ(model.format, "hf");
  ASSERT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(model.tensors[0].components[0].blob.source()->name(), path + "/model.safetensors");
  EXPECT_EQ(model.attachments.size(), hf_good().size() - 1);
  for (const auto& [name, bytes] : hf_good())
    if (name != "model.safetensors") {
      ASSERT_NE(model.attachment(name), nullptr) << name;
      EXPECT_EQ(model.attachment(name)->blob.bytes(), bytes);
    }
  EXPECT_EQ(model.config.hidden_size, 2);
  EXPECT_EQ(model.vocabulary.tokens.size(), 3U);
  EXPECT_EQ(model.vocabulary.bos, 2);
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : hf_good()) bytes += content.size();
  EXPECT_EQ(model.file_bytes, bytes);
  EXPECT_TRUE(verify(path).ok(true));
  EXPECT_EQ(listing(open(path + "/")), listing(model)) << "a slash at the end";
  EXPECT_EQ(listing(open(path, {.access = Access::pread})), listing(model));
}

TEST_F(Hf, OtherNamesWhenThereIsOnlyOne) {
  Files files = {{"config.json", hf_config()}, {"adapter_model.safetensors", hf_weights()}};
  EXPECT_EQ(open(make(files)).tensors.size(), 1U);
  // If there is a file with the usual name, others are not candidates.
  files["model.safetensors"] = st_file("{" + st_entry("v", "U8", "1", 0, 1) + "}", 1);
  files["README.md"] = to_bytes("read me");
  const Verification result = verify(make(files));
  EXPECT_TRUE(result.ok(true));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, "hf.file.unused");
  EXPECT_EQ(result.findings[0].sentence, "not part of the model: adapter_model.safetensors");
}

TEST_F(Hf, RefusedByRule) {
  int number = 0;
  for (const HfCase& bad : hf_reject_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const std::string path = make(bad.files, std::to_string(++number));
    const Verification result = verify(path);
    const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                    [&](const Finding& f) { return f.rule == bad.rule; });
    ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
    EXPECT_TRUE(found->file.starts_with(path)) << found->file;
    EXPECT_EQ(result.format, "hf");
    EXPECT_FALSE(result.ok(true));
    const std::string rule = rule_of([&] { open(path); });
    EXPECT_EQ(rule, found->severity == Severity::error ? bad.rule : "");
  }
}

TEST_F(Hf, SaysWhichFileAndWhatToDo) {
  const auto sentence = [&](const Files& files, const std::string& name) {
    return error_of([&] { open(make(files, name)); })->sentence();
  };
  EXPECT_NE(sentence({{"config.json", hf_config()}}, "1").find("download"), std::string::npos);
  EXPECT_NE(sentence({{"a-00001-of-00002.safetensors", hf_weights()}}, "2").find("model.safetensors.index.json"),
            std::string::npos);
  const auto error = error_of([&] {
    open(make({{"config.json", to_bytes("x")}, {"model.safetensors", hf_weights()}}));
  });
  EXPECT_TRUE(error->file().ends_with("/config.json"));
  EXPECT_EQ(rule_of([&] { open(make({{"notes.txt", {}}}, "3")); }), "open.directory");
}

TEST_F(Hf, ABadConfigIsToldOnce) {
  const std::string text = std::string("{}") + '\0' + "garbage";
  auto findings = verify(make({{"config.json", to_bytes(text)}, {"model.safetensors", hf_weights()}})).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.severity == Severity::note; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "hf.config.json");
  EXPECT_EQ(findings[0].offset, 2U);
}

TEST_F(Hf, ResourceFilesComeBackByteForByte) {
  const std::string path = make(hf_good());
  for (const Format& format : formats()) {
    // Through every container that carries attachments and can hold all of this model.
    const Capabilities& holds = format.holds;
    if (!holds.attachments || !is_lossless(holds) || !has_room(open(path), holds)) continue;
    SCOPED_TRACE(format.name);
    const std::string there = scratch_ / ("there" + std::string(format.suffixes[0])), back = scratch_ / "back/";
    fs::remove_all(back);
    ConvertOptions options;
    options.to = format.name;
    options.adapt.keep_names = true;  // the tensor belongs to no known architecture
    convert(path, there, options);
    convert(there, back);
    auto files = files_in(back);
    for (const auto& [name, bytes] : hf_good())
      if (name != "model.safetensors") {
        EXPECT_TRUE(files[name] == bytes) << name;
      }
    EXPECT_EQ(files.size(), hf_good().size()) << "nothing of ours in between";
    EXPECT_EQ(content_digest(open(back)), content_digest(open(path)));
    EXPECT_EQ(to_json(open(back).metadata), to_json(open(path).metadata));
  }
}

TEST_F(Hf, FilesAreMadeFromConfigAndVocabulary) {
  Model model = small_model(find_format("hf")->holds);
  model.config.model_type = "llama";
  model.config.hidden_size = 64;
  model.vocabulary = sample_vocabulary();
  find_format("hf")->write_tree(model, scratch_ / "d", {}, false);
  const auto files = files_in(scratch_ / "d");
  ASSERT_TRUE(files.contains("config.json"));
  EXPECT_NE(to_text(files.at("config.json")).find("\"hidden_size\": 64"), std::string::npos);
  EXPECT_TRUE(files.contains("tokenizer.json"));
  EXPECT_NE(to_text(files.at("model.safetensors")).find("\"format\":\"pt\""), std::string::npos);
  const Model found = open(scratch_ / "d");
  expect_same(model, found, find_format("hf")->holds);
  EXPECT_TRUE(found.attachments.empty());
}

TEST_F(Hf, AttachmentsOfAnyName) {
  Model model = small_model(find_format("hf")->holds);
  const std::vector<std::string> names = {"config.json",
                                          "README.md",
                                          "a/b.txt",
                                          "a",
                                          "model.safetensors",
                                          "../../etc/passwd",
                                          "/abs",
                                          "tare.json",
                                          "x",
                                          "x",
                                          std::string("n\0", 2),
                                          "",
                                          "\xFF",
                                          ".hidden",
                                          "attachments/000001",
                                          "c:\\x",
                                          std::string(300, 'l')};
  for (const std::string& name : names)
    model.attachments.push_back({name, Blob::memory(name == "config.json" ? hf_config() : to_bytes("<" + name + ">"))});
  model.config.hidden_size = 2;
  model.config.model_type = "llama";
  find_format("hf")->write_tree(model, scratch_ / "d", {}, false);
  const Model found = open(scratch_ / "d");
  ASSERT_EQ(found.attachments.size(), names.size());
  std::multiset<std::string> before, after;
  for (const Attachment& a : model.attachments) before.insert(a.name + "=" + to_text(a.blob.bytes()));
  for (const Attachment& a : found.attachments) after.insert(a.name + "=" + to_text(a.blob.bytes()));
  EXPECT_EQ(after, before);
  EXPECT_EQ(scratch_.entries(), std::vector<std::string>{"d"});
  EXPECT_EQ(to_text(get_file(scratch_ / "d/README.md")), "<README.md>");
}

// Facts that do not follow from the files are kept next to them.
TEST_F(Hf, AChangedConfigIsKept) {
  Model model = open(make(hf_good()));
  model.config.hidden_size = 3;
  model.vocabulary.tokens.pop_back();
  find_format("hf")->write_tree(model, scratch_ / "e", {}, false);
  expect_same(model, open(scratch_ / "e"), find_format("hf")->holds);
  EXPECT_TRUE(get_file(scratch_ / "e/config.json") == hf_config());
}

std::string replaced(const Bytes& bytes, const std::string& from, const std::string& to) {
  std::string text = to_text(bytes);
  EXPECT_NE(text.find(from), std::string::npos) << text;
  return text.replace(text.find(from), from.size(), to);
}

bool is_noted(const std::string& path, std::string_view rule) {
  const auto findings = verify(path).findings;
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.rule == rule; });
}

// A file that Tare made counts as such as long as it is unchanged.
TEST_F(Hf, AMadeFileThatWasEditedIsTheUsers) {
  Model model = small_model(find_format("hf")->holds);
  model.config.model_type = "llama";
  model.config.hidden_size = 64;
  model.vocabulary = sample_vocabulary();
  const std::string path = scratch_ / "d";
  find_format("hf")->write_tree(model, path, {}, false);
  EXPECT_FALSE(is_noted(path, "hf.private.edited"));
  const std::string edited =
      replaced(get_file(path + "/config.json"), "64", "32, \"rope_scaling\": {\"type\": \"yarn\"}");
  put_file(path + "/config.json", to_bytes(edited));
  const Model found = open(path);
  EXPECT_EQ(found.config.hidden_size, 32);
  ASSERT_EQ(found.attachments.size(), 1U) << "the tokenizer's files are still made";
  EXPECT_EQ(to_text(found.attachment("config.json")->blob.bytes()), edited);
  EXPECT_TRUE(found.vocabulary == model.vocabulary);
  EXPECT_TRUE(is_noted(path, "hf.private.edited"));
  // Another vocabulary next to the made one.
  put_file(path + "/tokenizer.json", hf_tokenizer());
  EXPECT_EQ(open(path).vocabulary.tokens.size(), 3U);
  EXPECT_EQ(open(path).vocabulary.tokens[2].text, "<s>");
}

// Kept fields fill gaps of an edited file and do not contradict it.
TEST_F(Hf, KeptFieldsGiveWayToAnEditedConfig) {
  Model model = open(make(hf_good()));
  model.config.model_type.reset();
  model.config.hidden_size = 3;
  model.config.num_key_value_heads = 71;
  model.config.head_dim = 64;
  const std::string path = scratch_ / "e";
  find_format("hf")->write_tree(model, path, {}, false);
  EXPECT_TRUE(open(path).config == model.config);
  // A second attachment of the name is stored elsewhere and is not an edit.
  Model twice = model;
  twice.attachments.push_back({"config.json", Blob::memory(to_bytes("{}"))});
  find_format("hf")->write_tree(twice, scratch_ / "f", {}, false);
  EXPECT_FALSE(is_noted(scratch_ / "f", "hf.private.edited"));
  EXPECT_TRUE(open(scratch_ / "f").config == model.config);
  EXPECT_NE(to_text(get_file(path + "/tare.json"))
                .find(R"("config":{"hidden_size":3,"num_key_value_heads":71,"head_dim":64,"model_type":null})"),
            std::string::npos)
      << "only what differs";
  put_file(path + "/config.json", to_bytes(replaced(hf_config(), "2,", "5, \"num_key_value_heads\": 1,")));
  const Config config = open(path).config;
  EXPECT_EQ(config.model_type, "llama");
  EXPECT_EQ(config.hidden_size, 5);
  EXPECT_EQ(config.num_key_value_heads, 1);
  EXPECT_EQ(config.head_dim, 64);
}

// As written before there were digests.
TEST_F(Hf, AnOlderPrivateFileIsRead) {
  Files files = hf_good();
  files["tare.json"] =
      to_bytes(R"({"tare":1,"made":["config.json"],"config":{"model_type":"gemma","hidden_size":7,"head_dim":64}})");
  const Model model = open(make(files));
  EXPECT_EQ(model.attachment("config.json"), nullptr);
  EXPECT_EQ(model.config.model_type, "gemma");
  EXPECT_EQ(model.config.hidden_size, 7);
  EXPECT_EQ(model.config.head_dim, 64);
}

TEST_F(Hf, FilesThatAreMadeAreSaid) {
  Model model = small_model(find_format("hf")->holds);
  const auto remarks = [&] { return lines_of(find_format("hf")->remarks(model, {})); };
  EXPECT_TRUE(remarks().empty());
  model.config.hidden_size = 2;
  EXPECT_EQ(remarks(), Lines{"config.json generated by Tare, not copied from the input"});
  model.vocabulary = sample_vocabulary();
  model.attachments.push_back({"config.json", Blob::memory(hf_config())});
  EXPECT_EQ(remarks(), Lines{"tokenizer.json, tokenizer_config.json generated by Tare, not copied from the input"});
}

TEST(HfRules, EveryRuleHasACaseAndStandsOnThePage) {
  const fs::path root = fs::path(TARE_TEST_DIR) / "..";
  std::set<std::string> covered = {"hf.directory",     "hf.file.unused",    "hf.file.broken",
                                   "hf.file.outside",  "hf.private.edited", "hf.attach",
                                   "hf.folder.large",  "hf.weights.both",   "hf.split" /* both torch_test.cpp */,
                                   "hf.pipeline.parts" /* pipeline_test.cpp */};
  for (const HfCase& bad : hf_reject_cases()) covered.insert(bad.rule);
  for (const HfCase& bad : split_reject_cases()) covered.insert(bad.rule);
  const std::string page = to_text(get_file(root / "docs/formats/hf.md"));
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(root / "src/formats/hf")) {
    const std::string text = to_text(get_file(entry.path()));
    for (std::size_t at = text.find("\"hf."); at != std::string::npos; at = text.find("\"hf.", at + 1)) {
      const std::string rule = text.substr(at + 1, text.find('"', at + 1) - at - 1);
      if (rule == "hf.weights") continue;  // a key of the metadata
      EXPECT_TRUE(covered.contains(rule)) << rule;
      EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule;
      ++found;
    }
  }
  EXPECT_GT(found, 8U);
}

// A model with this value, stored under any name.
Bytes weights_of(float value) {
  Model model;
  model.tensors = {dense("w", {1}, DType::f32, Blob::memory(to_bytes({reinterpret_cast<const char*>(&value), 4})))};
  return write_bytes(*find_format("safetensors"), model);
}
Bytes config_of(int size) { return to_bytes("{\"hidden_size\": " + std::to_string(size) + "}"); }

// Whatever the old weights are called: after a kill, the old model or the new one is read, never the config of one with
// the weights of the other; if there is neither, the error names the place of one.
TEST_F(Hf, AKillNeverMixesTwoModels) {
  const std::string shard = "foo-00001-of-00001.safetensors";
  const Files layouts[] = {
      {{"model.safetensors", weights_of(1)}},
      {{"foo.safetensors", weights_of(1)}},
      {{"model.safetensors", weights_of(1)}, {"adapter.safetensors", weights_of(3)}},
      {{"foo.safetensors.index.json", to_bytes(hf_index(shard))}, {shard, weights_of(1)}},
  };
  Model next = open(make({{"config.json", config_of(2)}, {"model.safetensors", weights_of(2)}}, "new"));
  const std::string path = scratch_ / "d";
  for (Files old : layouts)
    for (int step = 0;; ++step) {
      fs::remove_all(path);
      old["config.json"] = config_of(1);
      make(old);
      const std::string former = content_digest(open(path));
      const Stopped stopped = kill_before_step(step, [&] {
        find_format("hf")->write_tree(next, path, {.work = {.threads = 1}}, true);
        return 0;
      });
      if (stopped == Stopped::not_allowed) GTEST_SKIP() << "no ptrace here";
      const auto expect_whole = [&](const Model& found) {
        const bool is_old = content_digest(found) == former;
        EXPECT_TRUE(is_old || content_digest(found) == content_digest(next)) << step;
        EXPECT_EQ(found.config.hidden_size, is_old ? 1 : 2) << step;
      };
      if (const auto error = error_of([&] { expect_whole(open(path)); })) {
        EXPECT_TRUE(error->rule().starts_with("hf.weights.")) << error->what();
        ASSERT_EQ(error->remedies().size(), 1U) << error->what();
        EXPECT_EQ(error->remedies()[0].remedy, Remedy::restore_leftover);
        const std::string both = error->remedies()[0].argument, whole = both.substr(0, both.find(' '));
        expect_whole(open(whole));
        convert(whole, path + "/", {.overwrite = true});
        expect_whole(open(path));
        for (const auto& [name, bytes] : files_in(path)) EXPECT_FALSE(name.starts_with('.')) << name;
      }
      if (stopped == Stopped::finished) break;
    }
}

TEST_F(Hf, AnotherModelTakesThePlaceOfAllFiles) {
  Files old = hf_good();
  for (const char* const name : {"vocab.txt", "spiece.model", "attachments/000001"}) old[name] = to_bytes("old");
  old["tare.json"] = to_bytes(R"({"tare":1,"attachments":{"attachments/000001":"a:b","notes.md":"notes.md"}})");
  old["notes.md"] = old["attachments/mine.txt"] = to_bytes("mine");
  const std::string path = make(old);
  Model next = open(make({{"config.json", config_of(2)}, {"model.safetensors", weights_of(2)}}, "new"));
  next.attachments.push_back({"additional_chat_templates/x.jinja", Blob::memory(to_bytes("x"))});
  find_format("hf")->write_tree(next, path, {}, true);
  const Files after = files_in(path);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : after) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"additional_chat_templates/x.jinja", "attachments/mine.txt", "config.json",
                                             "model.safetensors", "notes.md", "tare.json"}));
  // If the folder of templates is a link, the link is removed and its target is kept.
  fs::rename(path + "/additional_chat_templates", scratch_ / "elsewhere");
  fs::create_directory_symlink("../elsewhere", path + "/additional_chat_templates");
  find_format("hf")->write_tree(next, path, {}, true);
  EXPECT_FALSE(fs::is_symlink(path + "/additional_chat_templates"));
  EXPECT_EQ(to_text(get_file(scratch_ / "elsewhere/x.jinja")), "x");
  // A directory in the place of a file, even one that the new model does not have.
  fs::create_directory(path + "/tokenizer.model");
  const Files before = files_in(path);
  EXPECT_EQ(rule_of([&] { find_format("hf")->write_tree(next, path, {}, true); }), "io.tree.blocked");
  EXPECT_TRUE(files_in(path) == before);
}

// Only files that a reader would take for the old model are removed. Other files that look like weights may be a user's
// only copy.
TEST_F(Hf, OtherWeightsStay) {
  const std::string shard = "model-00001-of-00002.safetensors", index = hf_index(shard);
  const char* const others[] = {"README.md",
                                "LICENSE",
                                "adapter_config.json",
                                "adapter_model.safetensors",
                                "consolidated.safetensors",
                                "model-lora.safetensors",
                                "model-00007-of-00009.safetensors",
                                "original/model.safetensors",
                                "attachments/000009",
                                ".tare-backup/precious"};
  const Files sets[] = {{{"model.safetensors", weights_of(1)}},
                        {{"model.safetensors.index.json", to_bytes(index)}, {shard, weights_of(1)}}};
  Model next = open(make({{"config.json", config_of(2)}, {"model.safetensors", weights_of(2)}}, "new"));
  for (const Files& set : sets)
    for (const char* const format : {"hf", "safetensors"}) {
      SCOPED_TRACE(format);
      Files old = set;
      for (const char* const name : others) old[name] = to_bytes("mine");
      if (format == std::string("hf")) old["config.json"] = config_of(1);
      fs::remove_all(scratch_ / "d");
      const std::string path = make(old);
      Model model = next;
      if (format == std::string("safetensors")) {
        model.attachments.clear();
        model.config = {};
      }
      find_format(format)->write_tree(model, path, {}, true);
      const Files after = files_in(path);
      for (const char* const name : others) EXPECT_EQ(to_text(after.at(name)), "mine") << name;
      EXPECT_TRUE(after.contains("model.safetensors"));
      EXPECT_FALSE(after.contains("model.safetensors.index.json"));
      EXPECT_FALSE(after.contains(shard)) << "the index named it";
    }
}

// Names that would be hidden files, control a terminal, or take a place that readers look into.
TEST_F(Hf, AttachmentsWithNamesThatFilesMustNotHave) {
  Model model = open(make({{"config.json", config_of(2)}, {"model.safetensors", weights_of(2)}}, "new"));
  const std::string names[] = {"config.json/x",
                               "tokenizer.json/y",
                               "x/.bash_login",
                               ".ssh/keys",
                               "line\nfeed",
                               "esc\x1b[31m",
                               "c1\xc2\x9b",
                               "bidi\xe2\x80\xae",
                               "tare.json/z",
                               "model.safetensors/deep",
                               "plain name é",
                               "a/b",
                               "1_Dense/pytorch_model.bin"};
  // Other loaders would read these, and some would run code from them.
  const std::string weights[] = {
      "pytorch_model.bin",  "pytorch_model.bin.index.json", "pytorch_model-00001-of-00002.bin",
      "adapter_model.bin",  "consolidated.00.pth",          "tf_model.h5",
      "flax_model.msgpack",

      "__0_0.distcp"};
  for (const std::string& name : names) model.attachments.push_back({name, Blob::memory(to_bytes(name))});
  for (const std::string& name : weights) model.attachments.push_back({name, Blob::memory(to_bytes(name))});
  find_format("hf")->write_tree(model, scratch_ / "d", {}, false);
  const Files files = files_in(scratch_ / "d");
  EXPECT_TRUE(files.contains("plain name é"));
  EXPECT_TRUE(files.contains("a/b"));
  EXPECT_TRUE(files.contains("1_Dense/pytorch_model.bin"));
  EXPECT_TRUE(files.contains("attachments/000018"));
  EXPECT_FALSE(files.contains("attachments/000019"));
  for (const std::string& name : weights) EXPECT_FALSE(files.contains(name)) << name;
  const Model found = open(scratch_ / "d");
  for (const std::string& name : names) {
    ASSERT_NE(found.attachment(name), nullptr) << escape_name(name);
    EXPECT_EQ(to_text(found.attachment(name)->blob.bytes()), name);
  }
  for (const std::string& name : weights) EXPECT_NE(found.attachment(name), nullptr) << name;
}

TEST_F(Hf, AnAttachedConfigThatIsNoneIsNotWritten) {
  Model model = open(make({{"model.safetensors", weights_of(2)}}, "new"));
  model.attachments.push_back({"config.json", Blob::memory(to_bytes(R"({"model_type":)"))});
  EXPECT_EQ(rule_of([&] { find_format("hf")->write_tree(model, scratch_ / "d", {}, false); }), "hf.config.json");
  EXPECT_FALSE(fs::exists(scratch_ / "d"));
}

TEST_F(Hf, TokenizerFilesOfAllKindsAreCarried) {
  Files files = hf_good();
  for (const char* const name : {"vocab.txt", "spiece.model", "sentencepiece.bpe.model", "tekken.json"})
    files[name] = to_bytes(name);
  convert(make(files), scratch_ / "m.zt");
  convert(scratch_ / "m.zt", scratch_ / "back/");
  Files back = files_in(scratch_ / "back");
  files["model.safetensors"] = back["model.safetensors"];  // written anew
  EXPECT_TRUE(back == files);
}

TEST_F(Hf, WhatDoesNotComeAlongIsSaid) {
  Files files = hf_good();
  files["notes.md"] = files["original/params.json"] = to_bytes("x");
  const Conversion done = convert(make(files), scratch_ / "m.zt");
  ASSERT_EQ(done.changes.size(), 1U);
  EXPECT_EQ(lines_of(done.changes), Lines{"omitted, not part of the model: notes.md, original/"});
  EXPECT_EQ(done.changes[0].kind, ChangeKind::left_behind);
  EXPECT_EQ(text_of(done.changes[0].remedies), "attach");
  for (int i = 0; i < 20; ++i) files["z" + std::to_string(i)] = {};
  const Conversion many = convert(make(files), scratch_ / "n.zt");
  EXPECT_TRUE(mentions(many.changes, " and 14 more"));
}

// A pruned cache leaves dangling links; they must not lead to half a model being read.
TEST_F(Hf, AFileThatCannotBeReadIsNotAbsent) {
  const auto broken = [&](const std::string& name, const auto& put_it) {
    const std::string path = make(hf_good(), "broken");
    fs::remove(path + "/" + name);
    put_it(path + "/" + name);
    const auto error = error_of([&] { open(path); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->rule(), "hf.file.broken") << error->what();
    EXPECT_EQ(error->file(), path + "/" + name);
    EXPECT_FALSE(verify(path).ok(false));
    fs::remove_all(path);
  };
  for (const char* const name :
       {"config.json", "tokenizer.json", "tare.json", "model.safetensors", "additional_chat_templates/tool.jinja"}) {
    broken(name, [](const std::string& path) { fs::create_symlink("../blobs/abc", path); });
    broken(name, [](const std::string& path) { fs::create_symlink(fs::path(path).filename(), path); });
    broken(name, [](const std::string& path) { fs::create_directory(path); });
    broken(name, [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); });
  }
  // A link that is not needed may dangle.
  const std::string path = make(hf_good());
  fs::create_symlink("nowhere", path + "/adapter.safetensors");
  fs::create_symlink("nowhere", path + "/README.md");
  EXPECT_EQ(rule_of([&] { open(path); }), "");
}

TEST_F(Hf, AnIndexThatIsNone) {
  const std::string index = "model.safetensors.index.json", shard = "model-00001-of-00001.safetensors";
  const auto error_with = [&](const std::string& text, const std::string& name) {
    return error_of([&] { open(make({{index, to_bytes(text)}, {shard, hf_weights()}}, name)); });
  };
  EXPECT_NE(error_with("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "1")->sentence().find("git-lfs"),
            std::string::npos);
  EXPECT_EQ(error_with("<!DOCTYPE html>", "2")->rule(), "open.unrecognized");
  EXPECT_EQ(error_with(to_text(hf_weights()), "3")->rule(), "hf.weights.format");
  EXPECT_EQ(error_with("{\"weight_map\":1}", "4")->rule(), "safetensors.index.form");
  EXPECT_EQ(error_with("[]", "5")->rule(), "safetensors.index.root");
  EXPECT_EQ(error_with("{}", "6")->rule(), "safetensors.index.form");
}

TEST_F(Hf, WhichShardsArePartOfTheModel) {
  const std::string index = "model.safetensors.index.json", shard = "model-00001-of-00001.safetensors";
  const auto unused = [&](const std::string& text, const Bytes& weights, const std::string& name) {
    for (const Finding& finding : verify(make({{index, to_bytes(text)}, {shard, weights}}, name)).findings)
      if (finding.rule == "hf.file.unused") return finding.sentence;
    return std::string();
  };
  EXPECT_EQ(unused(hf_index(shard), to_bytes("version https://git-lfs.github.com/spec/v1\n"), "1"), "");
  // Its name shows that it belongs to the set.
  EXPECT_EQ(unused("{\"weight_map\": {}}\n", hf_weights(), "2"), "");
  const auto forgotten = [&](const std::string& extra, const std::string& name) {
    const Verification result =
        verify(make({{index, to_bytes(hf_index(shard))}, {shard, hf_weights()}, {extra, hf_weights()}}, name));
    return std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
      return finding.rule == "hf.weights.forgotten" && finding.file.ends_with(extra);
    });
  };
  EXPECT_TRUE(forgotten("model-00002-of-00001.safetensors", "3"));
  EXPECT_FALSE(forgotten("model-00002-of-00002.safetensors", "4")) << "left by an older download";
  EXPECT_FALSE(forgotten("other-00001-of-00001.safetensors", "5"));
}

TEST_F(Hf, ADirectoryNobodyMayLookInto) {
  const std::string path = make(hf_good());
  fs::permissions(scratch_.path(), fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(path, fs::perms::none);
  const int status = run_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return 2;
    const auto error = error_of([&] { open(path); });
    return error && error->rule() == "hf.directory" && error->sentence().find("ermission") != std::string::npos ? 0 : 1;
  });
  fs::permissions(path, fs::perms::owner_all);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A file instead of a directory, and a path that does not exist.
TEST_F(Hf, NotADirectory) {
  const Bytes bytes = hf_weights();
  EXPECT_EQ(rule_of([&] { find_format("hf")->read({"f", memory_source(bytes)}, {}); }), "hf.directory");
  EXPECT_EQ(rule_of([&] { find_format("hf")->read({scratch_ / "none", nullptr}, {}); }), "hf.directory");
}

}  // namespace
}  // namespace tare
