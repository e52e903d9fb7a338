// Hugging Face's directories.
#include <set>

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

Files files_in(const std::string& path) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), path).string()] = get_file(entry.path());
  return files;
}

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

TEST_F(Hf, LinksAreFollowed) {
  const std::string path = make(hf_good(), "blobs");
  fs::create_directory(scratch_ / "d");
  for (const auto& [name, bytes] : hf_good())
    if (name.find('/') == std::string::npos) fs::create_symlink("../blobs/" + name, scratch_ / ("d/" + name));
  EXPECT_EQ(content_digest(open(scratch_ / "d")), content_digest(open(path)));
}

TEST_F(Hf, OtherNamesWhenThereIsOnlyOne) {
  Files files = {{"config.json", hf_config()}, {"adapter_model.safetensors", hf_weights()}};
  EXPECT_EQ(open(make(files)).tensors.size(), 1U);
  // Beside the usual name, others are no candidates.
  files["model.safetensors"] = st_file("{" + st_entry("v", "U8", "1", 0, 1) + "}", 1);
  files["README.md"] = to_bytes("read me");
  const Verification result = verify(make(files));
  EXPECT_TRUE(result.ok(true));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, "hf.file.unused");
  EXPECT_NE(result.findings[0].sentence.find("README.md, adapter_model.safetensors"), std::string::npos);
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

TEST_F(Hf, ResourceFilesComeBackByteForByte) {
  const std::string path = make(hf_good());
  for (const Format& format : formats()) {
    // By way of every container that carries attachments and all of this model.
    const Capabilities& holds = format.holds;
    if (!holds.attachments || !is_lossless(holds) || !has_room(open(path), holds)) continue;
    SCOPED_TRACE(format.name);
    const std::string there = scratch_ / ("there" + std::string(format.suffixes[0])), back = scratch_ / "back/";
    fs::remove_all(back);
    convert(path, there, {.to = std::string(format.name)});
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

// What does not follow from the files is kept beside them.
TEST_F(Hf, AChangedConfigIsKept) {
  Model model = open(make(hf_good()));
  model.config.hidden_size = 3;
  model.vocabulary.tokens.pop_back();
  find_format("hf")->write_tree(model, scratch_ / "e", {}, false);
  expect_same(model, open(scratch_ / "e"), find_format("hf")->holds);
  EXPECT_TRUE(get_file(scratch_ / "e/config.json") == hf_config());
}

TEST(HfRules, EveryRuleHasACaseAndStandsOnThePage) {
  const fs::path root = fs::path(TARE_TEST_DIR) / "..";
  std::set<std::string> covered = {"hf.directory", "hf.file.unused"};
  for (const HfCase& bad : hf_reject_cases()) covered.insert(bad.rule);
  const std::string page = to_text(get_file(root / "docs/formats/hf.md"));
  std::size_t found = 0;
  for (const char* const file : {"hf.cpp", "hf_files.cpp", "hf_write.cpp"}) {
    const std::string text = to_text(get_file(root / "src/formats" / file));
    for (std::size_t at = text.find("\"hf."); at != std::string::npos; at = text.find("\"hf.", at + 1)) {
      const std::string rule = text.substr(at + 1, text.find('"', at + 1) - at - 1);
      EXPECT_TRUE(covered.contains(rule)) << rule;
      EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule;
      ++found;
    }
  }
  EXPECT_GT(found, 8U);
}

// A file where a directory was meant, and one that nobody may look into.
TEST_F(Hf, NotADirectory) {
  const Bytes bytes = hf_weights();
  EXPECT_EQ(rule_of([&] { find_format("hf")->read({"f", memory_source(bytes)}, {}); }), "hf.directory");
  EXPECT_EQ(rule_of([&] { find_format("hf")->read({scratch_ / "none", nullptr}, {}); }), "hf.directory");
}

}  // namespace
}  // namespace tare
