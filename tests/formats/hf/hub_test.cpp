// Which files of a directory are carried with the model, the names of its weights, and which links are followed.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/hf_cases.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "formats/hf/hf.hpp"
#include "lines.hpp"
#include "resources/model_files.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

std::vector<std::string> names_of(const Files& files) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  return names;
}

class Hub : public ::testing::Test {
 protected:
  std::string make(const Files& files, const std::string& name = "d") {
    put_files(scratch_ / name, files);
    return scratch_ / name;
  }
  // Converts the directory through every container that carries files, and directly: the same names, the same bytes.
  void expect_carried(const std::string& path, const Files& wanted, const ConvertOptions& options = {}) {
    for (const Format& format : formats()) {
      if (!format.holds.attachments || !is_lossless(format.holds) || !has_room(open(path), format.holds)) continue;
      SCOPED_TRACE(format.name);
      const std::string there = scratch_ / ("there" + std::string(format.suffixes[0])), back = scratch_ / "back/";
      fs::remove_all(back);
      fs::remove_all(there);
      ConvertOptions plain = options;
      plain.adapt.keep_names = true;  // the tensor belongs to no known architecture
      convert(path, there, plain);
      const Conversion done = convert(there, back);
      Files found = files_in(back);
      EXPECT_EQ(names_of(found), names_of(wanted));
      for (const auto& [name, bytes] : wanted)
        if (!name.ends_with(".safetensors") || name.find('/') != std::string::npos) {
          EXPECT_TRUE(found[name] == bytes) << name;
        }
      EXPECT_EQ(content_digest(open(back)), content_digest(open(path)));
      EXPECT_EQ(open(back).attachments.size(), open(there).attachments.size());
    }
  }
  Scratch scratch_{Scratch::fast_place()};
};

TEST(ModelFiles, ByName) {
  using resources::FileKind;
  const std::pair<std::string_view, FileKind> cases[] = {
      {"config.json", FileKind::described},
      {"spm.model", FileKind::vocabulary},
      {"source.spm", FileKind::vocabulary},
      {"qwen.tiktoken", FileKind::vocabulary},
      {"adapter_config.json", FileKind::setting},
      {"generation_config.json", FileKind::setting},
      {"video_preprocessor_config.json", FileKind::setting},
      {"quantize_config.json", FileKind::setting},
      {"additional_chat_templates/a.jinja", FileKind::setting},
      {"additional_chat_templates/b/a.jinja", FileKind::other},
      {"README.md", FileKind::document},
      {"LICENSE.txt", FileKind::document},
      {"modeling_x.py", FileKind::code},
      {"x/modeling_x.py", FileKind::other},
      {"1_Pooling/config.json", FileKind::other},
      {"unet/adapter_config.json", FileKind::other},
      {".x_config.json", FileKind::other},
      {"pytorch_model.bin", FileKind::other},
      {"model.gguf", FileKind::other},
      {"notes.txt", FileKind::other},
      {"", FileKind::other},
  };
  for (const auto& [name, kind] : cases) EXPECT_EQ(resources::kind_of(name), kind) << name;
}

TEST_F(Hub, WhatTokenizersAndProcessorsNeedComesAlong) {
  Files files = hf_good();
  for (const char* const name : {"spm.model",
                                 "source.spm",
                                 "target.spm",
                                 "target_vocab.json",
                                 "sentencepiece.model",
                                 "spm_char.model",
                                 "bpe.codes",
                                 "dict.txt",
                                 "normalizer.json",
                                 "entity_vocab.json",
                                 "emoji.json",
                                 "vocab-src.json",
                                 "vocab-tgt.json",
                                 "byte_maps.json",
                                 "word_shape.json",
                                 "video_preprocessor_config.json",
                                 "quantize_config.json",
                                 "params.json",
                                 "README.md",
                                 "LICENSE",
                                 "config_sentence_transformers.json",
                                 "x.tiktoken"})
    files[name] = to_bytes(name);
  expect_carried(make(files), files);
}

TEST_F(Hub, OtherWeightsAndHiddenFilesStay) {
  Files files = hf_good();
  for (const char* const name : {"pytorch_model.bin", "model.gguf", "onnx/model.onnx", ".gitattributes",
                                 "checkpoint-5/optimizer.pt", "setup.py", "LICENSES/MIT.txt", "image.png"})
    files[name] = to_bytes(name);
  expect_carried(make(files), hf_good());
  const Conversion done = convert(make(files), scratch_ / "m.zt");
  ASSERT_EQ(done.changes.size(), 2U);
  EXPECT_EQ(to_text(done.changes[0]),
            "omitted, pytorch_model.bin holds weights, too; those of model.safetensors are read");
  EXPECT_EQ(to_text(done.changes[1]),
            "omitted, not part of the model: .gitattributes, image.png, model.gguf, setup.py, LICENSES/, "
            "checkpoint-5/, onnx/");
}

TEST_F(Hub, CodeComesAlongWhereAConfigNamesIt) {
  Files files = hf_good();
  files["modeling_foo.py"] = files["configuration_foo.py"] = files["helpers.py"] = to_bytes("import torch");
  for (const char* const map : {R"({"auto_map": {"AutoModel": "modeling_foo.Foo"}})",
                                R"({"auto_map": {"AutoTokenizer": ["tokenization_foo.Slow", null]}})"}) {
    files["processor_config.json"] = to_bytes(map);
    expect_carried(make(files), files);
  }
  // Code of another repository is not part of this one.
  files["processor_config.json"] = to_bytes(R"({"auto_map": {"AutoModel": "org/foo--modeling_foo.Foo"}})");
  EXPECT_EQ(open(make(files)).attachment("modeling_foo.py"), nullptr);
  for (const char* const odd : {"{\"auto_map\": 1}", "{\"auto_map\": [[[]]]}", "\"auto_map\"", "{\"auto_map\""}) {
    files["processor_config.json"] = to_bytes(odd);
    EXPECT_EQ(open(make(files)).attachment("modeling_foo.py"), nullptr) << odd;
  }
}

TEST_F(Hub, FoldersThatModulesJsonNamesComeAlong) {
  Files files = hf_good();
  files["modules.json"] =
      to_bytes(R"([{"idx":0,"path":"","type":"sentence_transformers.models.Transformer"},)"
               R"({"idx":1,"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},)"
               R"({"idx":2,"path":"2_Dense/","type":"sentence_transformers.models.Dense"},)"
               R"({"idx":3,"path":"3_Normalize","type":"sentence_transformers.models.Normalize"}])");
  files["1_Pooling/config.json"] = to_bytes("{}");
  files["2_Dense/config.json"] = to_bytes("{}");
  files["2_Dense/model.safetensors"] = hf_weights();
  files["2_Dense/deep/er.txt"] = to_bytes("x");
  Files more = files;
  more["1_Pooling/.hidden"] = more["other/config.json"] = to_bytes("x");
  expect_carried(make(more), files);
  // A container that only has fields omits and reports them, like the other files of a model.
  const Model model = open(make(files));
  for (const Format& format : formats())
    if (format.write != nullptr && !format.holds.attachments && format.holds.config && format.holds.vocabulary &&
        format.holds.architecture.empty()) {
      SCOPED_TRACE(format.name);
      const Adapted adapted = adapt(model, format, {.dtype = DType::f32});
      EXPECT_TRUE(mentions(adapted.changes, "1_Pooling/config.json"));
    }
  // modules.json cannot name anything outside the directory.
  files["modules.json"] = to_bytes(R"([{"path":"../x"},{"path":"/etc"},{"path":"."},{"path":".git"},{"path":7},8])");
  files[".git/config.json"] = to_bytes("x");
  put_files(scratch_ / "x", {{"secret", to_bytes("x")}});
  const Model odd = open(make(files, "odd"));
  EXPECT_EQ(odd.attachments.size(), hf_good().size() - 1 + 1);
}

TEST_F(Hub, AttachTakesWhatItNames) {
  Files files = hf_good();
  files["notes.md"] = files["onnx/model.onnx"] = files["onnx/sub/x.onnx"] = files["pytorch_model.bin"] = to_bytes("x");
  const std::string path = make(files);
  ConvertOptions options;
  options.read.attach = {"*.md", "onnx/*"};
  convert(path, scratch_ / "m.zt", options);
  const Model model = open(scratch_ / "m.zt");
  EXPECT_NE(model.attachment("notes.md"), nullptr);
  EXPECT_NE(model.attachment("onnx/sub/x.onnx"), nullptr);
  EXPECT_EQ(model.attachment("pytorch_model.bin"), nullptr);
  convert(scratch_ / "m.zt", scratch_ / "back/");
  Files back = files_in(scratch_ / "back");
  EXPECT_TRUE(back.contains("onnx/model.onnx"));
  EXPECT_EQ(open(scratch_ / "back").attachments.size(), model.attachments.size()) << "tare.json lists them";
  // The weights themselves are tensors, not files.
  options.read.attach = {"*"};
  const Model all = open(path, options.read);
  EXPECT_EQ(all.attachment("model.safetensors"), nullptr);
  EXPECT_NE(all.attachment("pytorch_model.bin"), nullptr);
  EXPECT_EQ(std::ranges::count(all.attachments, std::string("config.json"), &Attachment::name), 1);
  options.read.attach = {"*.txt"};
  EXPECT_EQ(rule_of([&] { open(path, options.read); }), "hf.attach");
  EXPECT_EQ(rule_of([&] { convert(scratch_ / "m.zt", scratch_ / "n.zt", options); }), "convert.attach");
}

TEST_F(Hub, WhatEarlierVersionsListedIsNotTakenTwice) {
  Files files = hf_good();
  files["README.md"] = to_bytes("x");
  files["tare.json"] = to_bytes(R"({"tare":1,"attachments":{"README.md":"README.md"}})");
  const Model model = open(make(files));
  EXPECT_EQ(std::ranges::count(model.attachments, std::string("README.md"), &Attachment::name), 1);
}

TEST_F(Hub, TheWeightsKeepTheirName) {
  for (const std::string stem : {"adapter_model", "diffusion_pytorch_model", "model.fp16", "llama-3.1-8b", "a b"}) {
    SCOPED_TRACE(stem);
    const Files files = {
        {"config.json", hf_config()}, {"adapter_config.json", to_bytes("{}")}, {stem + ".safetensors", hf_weights()}};
    fs::remove_all(scratch_ / "d");
    const std::string path = make(files);
    EXPECT_EQ(open(path).metadata.find("hf.weights")->text()[0], stem);
    expect_carried(path, files);
    EXPECT_EQ(to_text(get_file(scratch_ / ("back/" + stem + ".safetensors"))).find("hf.weights"), std::string::npos)
        << "the name is the file's alone";
  }
}

TEST_F(Hub, TheNameOfASet) {
  const std::pair<std::string, std::string> cases[] = {
      {"model", "model.safetensors.index.json"},
      {"diffusion_pytorch_model", "diffusion_pytorch_model.safetensors.index.json"},
      {"model.fp16", "model.safetensors.index.fp16.json"},
      {"llama-3.1-8b", "llama-3.1-8b.safetensors.index.json"},
  };
  Model model;
  for (const char* const name : {"a", "b"})
    model.tensors.push_back(dense(name, {2}, DType::f32, Blob::memory(Bytes(8))));
  for (const auto& [stem, index] : cases) {
    SCOPED_TRACE(stem);
    fs::remove_all(scratch_ / "d");
    if (stem != "model") model.metadata.set("hf.weights", stem);
    find_format("hf")->write_tree(model, scratch_ / "d", {.shard_bytes = 1}, false);
    const std::vector<std::string> files = names_of(files_in(scratch_ / "d"));
    EXPECT_TRUE(std::ranges::find(files, index) != files.end()) << files.back();
    EXPECT_TRUE(std::ranges::find(files, stem + "-00002-of-00002.safetensors") != files.end());
    const Model found = open(scratch_ / "d");
    EXPECT_EQ(found.tensors.size(), 2U);
    EXPECT_EQ(found.metadata.find("hf.weights") == nullptr, stem == "model");
    EXPECT_TRUE(verify(scratch_ / "d").ok(true));
  }
}

TEST_F(Hub, ANameThatIsNoneIsJustMetadata) {
  Model model;
  model.tensors.push_back(dense("a", {2}, DType::f32, Blob::memory(Bytes(8))));
  int number = 0;
  for (const std::string_view stem : {std::string_view("../x"), std::string_view("a/b"), std::string_view(".x"),
                                      std::string_view(""), std::string_view("x\n"), std::string_view("model"),
                                      std::string_view("m-00001-of-00002"), std::string_view("c:x")}) {
    model.metadata.set("hf.weights", stem);
    const std::string path = scratch_ / std::to_string(++number);
    find_format("hf")->write_tree(model, path, {}, false);
    EXPECT_TRUE(fs::exists(path + "/model.safetensors")) << stem;
    EXPECT_EQ(to_json(open(path).metadata), to_json(model.metadata));
  }
}

TEST_F(Hub, ARenamedSetIsSaid) {
  const std::string shard = "other-00001-of-00001.safetensors";
  const std::string path = make({{"model.safetensors.index.json", to_bytes(hf_index(shard))}, {shard, hf_weights()}});
  const Conversion done = convert(path, scratch_ / "out/");
  EXPECT_EQ(lines_of(done.changes), Lines{"the weights are called model, not other"});
  EXPECT_EQ(done.changes[0].kind, ChangeKind::renamed);
  const std::vector<Change> kept = convert(make(hf_good(), "e"), scratch_ / "out2/").changes;
  EXPECT_TRUE(std::ranges::none_of(kept, [](const Change& change) { return change.kind == ChangeKind::renamed; }));
}

TEST_F(Hub, LinksOfTheHubsCacheAreFollowed) {
  const std::string cache = scratch_ / "models--o--m", snapshot = cache + "/snapshots/abc";
  put_files(cache + "/blobs", {{"b0", {}}});
  fs::create_directories(snapshot + "/additional_chat_templates");
  int number = 0;
  for (const auto& [name, bytes] : hf_good()) {
    const std::string blob = "b" + std::to_string(++number);
    put_file(cache + "/blobs/" + blob, bytes);
    const std::string up = name.find('/') == std::string::npos ? "../../blobs/" : "../../../blobs/";
    fs::create_symlink(up + blob, snapshot + "/" + name);
  }
  const std::string plain = make(hf_good());
  EXPECT_EQ(content_digest(open(snapshot)), content_digest(open(plain)));
  EXPECT_EQ(open(snapshot).attachments.size(), open(plain).attachments.size());
  // A part of a pipeline is one level deeper; the directory itself may be a link.
  fs::create_directories(snapshot + "/unet");
  put_file(cache + "/blobs/w", hf_weights());
  fs::create_symlink("../../../blobs/w", snapshot + "/unet/model.safetensors");
  EXPECT_EQ(rule_of([&] { open(snapshot + "/unet"); }), "");
  fs::create_directory_symlink(snapshot, scratch_ / "short");
  EXPECT_EQ(rule_of([&] { open(scratch_ / "short"); }), "");
  // Also inside the directory.
  fs::create_symlink("config.json", plain + "/params.json");
  EXPECT_NE(open(plain).attachment("params.json"), nullptr);
}

// A file that cannot be opened a second time was not necessarily exchanged.
TEST_F(Hub, WithTooFewDescriptorsNothingIsCalledOutside) {
  if (!kCountsMemory) GTEST_SKIP() << "sanitizers need some themselves";
  const std::string shard = "model-00001-of-00001.safetensors";
  const std::string path =
      make({{"model.safetensors.index.json", to_bytes(hf_index(shard))}, {shard, hf_weights()}}, "few");
  ASSERT_EQ(rule_of([&] { open(path); }), "");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  bool refused = false;
  for (int more = 0; more < 8; ++more) {
    const struct rlimit few = {static_cast<rlim_t>(next + more), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const std::string rule = rule_of([&] { open(path); });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    refused |= !rule.empty();
    EXPECT_EQ(rule.find("outside"), std::string::npos) << more << " more: " << rule;
  }
  EXPECT_TRUE(refused);
}

TEST_F(Hub, LinksOutOfTheDirectoryAreRefused) {
  put_files(scratch_ / "secret",
            {{"key", to_bytes("{}")}, {"w.safetensors", hf_weights()}, {"x.jinja", to_bytes("x")}});
  const auto refused = [&](const std::string& name, const std::string& target) {
    const std::string path = make(hf_good(), "bad");
    fs::remove(path + "/" + name);
    fs::create_symlink(target, path + "/" + name);
    const auto error = error_of([&] { open(path); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->rule(), "hf.file.outside") << error->what();
    EXPECT_EQ(error->file(), path + "/" + name);
    EXPECT_NE(error->sentence().find("secret"), std::string::npos) << error->sentence();
    EXPECT_EQ(rule_of([&] { convert(path, scratch_ / "out.zt"); }), "hf.file.outside");
    EXPECT_FALSE(fs::exists(scratch_ / "out.zt"));
    fs::remove_all(path);
  };
  refused("chat_template.jinja", "../secret/key");
  refused("config.json", scratch_ / "secret/key");
  refused("model.safetensors", "../secret/w.safetensors");
  refused("tare.json", "../secret/key");
  refused("additional_chat_templates/tool.jinja", "../../secret/key");
  // Through a folder.
  std::string path = make(hf_good(), "folder");
  fs::remove_all(path + "/additional_chat_templates");
  fs::create_directory_symlink("../secret", path + "/additional_chat_templates");
  const auto by_folder = error_of([&] { open(path); });
  ASSERT_TRUE(by_folder.has_value());
  EXPECT_EQ(by_folder->rule(), "hf.file.outside");
  EXPECT_EQ(by_folder->file(), path + "/additional_chat_templates") << "the link, not what is behind it";
  path = make(
      {{"model.safetensors", hf_weights()}, {"tare.json", to_bytes(R"({"tare":1,"attachments":{"f/key":"key"}})")}},
      "own");
  fs::create_directory_symlink("../secret", path + "/f");
  EXPECT_EQ(rule_of([&] { open(path); }), "hf.file.outside");
  path = make(hf_good(), "modules");
  put_file(path + "/modules.json", to_bytes(R"([{"path":"1_Pooling"}])"));
  fs::create_directory_symlink("../secret", path + "/1_Pooling");
  EXPECT_EQ(rule_of([&] { open(path); }), "hf.file.outside");
  // Shards.
  const std::string shard = "model-00001-of-00001.safetensors";
  path = make({{"model.safetensors.index.json", to_bytes(hf_index(shard))}}, "shards");
  fs::create_symlink("../secret/w.safetensors", path + "/" + shard);
  EXPECT_EQ(rule_of([&] { open(path); }), "hf.file.outside");
  EXPECT_EQ(rule_of([&] { open(path + "/model.safetensors.index.json"); }), "safetensors.index.outside");
  EXPECT_EQ(rule_of([&] { convert(path + "/model.safetensors.index.json", scratch_ / "out.zt"); }),
            "safetensors.index.outside");
  // --attach.
  path = make(hf_good(), "attach");
  fs::create_symlink("../secret/key", path + "/extra.txt");
  EXPECT_EQ(rule_of([&] { open(path, {.attach = {"extra.txt"}}); }), "hf.file.outside");
  // Not the cache's blobs, only a directory with that name.
  path = make(hf_good(), "blobs-near/x");
  put_files(scratch_ / "blobs-near/blobs", {{"key", to_bytes("secret")}});
  fs::create_symlink("../blobs/key", path + "/params.json");
  EXPECT_EQ(rule_of([&] { open(path); }), "hf.file.outside");
}

// Between checking a link and opening the file, another program may replace the link and put it back.
TEST_F(Hub, AFileThatWasExchangedWhenItWasOpenedIsRefused) {
  put_files(scratch_ / "secret", {{"key", to_bytes("{}")}});
  const std::string path = make(hf_good());
  const Links links(path);
  const std::string config = path + "/config.json";
  EXPECT_TRUE(links.allow(*open_file(config)));
  fs::rename(config, path + "/kept");
  fs::create_symlink("../secret/key", config);
  const SourcePtr opened = open_file(config);
  fs::remove(config);
  fs::rename(path + "/kept", config);
  EXPECT_FALSE(links.outside(config));
  EXPECT_FALSE(links.allow(*opened));
  // A folder in the path.
  const std::string tool = path + "/additional_chat_templates/tool.jinja";
  EXPECT_TRUE(links.allow(*open_file(tool)));
  fs::rename(path + "/additional_chat_templates", scratch_ / "away");
  fs::create_directory_symlink("../away", path + "/additional_chat_templates");
  EXPECT_FALSE(links.allow(*open_file(tool)));
}

TEST_F(Hub, WithoutAModelNothingIsDeleted) {
  const Files mine = {{"train_config.json", to_bytes("mine")},
                      {"params.json", to_bytes("mine")},
                      {"tokenizer.json", to_bytes("mine")},
                      {"my.tiktoken", to_bytes("mine")},
                      {"notes", to_bytes("mine")}};
  const std::string path = make(mine);
  const std::string from = scratch_ / "m.zt";
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  put_file(from, write_bytes(*find_format("zt"), model));
  convert(from, path + "/", {.overwrite = true});
  Files found = files_in(path);
  for (const auto& [name, bytes] : mine) EXPECT_TRUE(found[name] == bytes) << name;
  // The tokenizer of a model is not removed for one that has none.
  const auto refused = error_of([&] { convert(from, path + "/", {.overwrite = true}); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->rule(), "convert.directory");
  EXPECT_TRUE(files_in(path)["tokenizer.json"] == to_bytes("mine"));
  std::filesystem::remove(path + "/tokenizer.json");
  // If there is a model, files that loaders look for are removed with it; files whose names only match a pattern are
  // kept.
  put_file(path + "/generation_config.json", to_bytes("{}"));
  convert(from, path + "/", {.overwrite = true});
  found = files_in(path);
  EXPECT_FALSE(found.contains("generation_config.json"));
  for (const char* const name : {"train_config.json", "my.tiktoken", "notes"})
    EXPECT_TRUE(found.contains(name)) << name;
}

TEST_F(Hub, ADocumentThatIsElsewhereStaysThere) {
  put_files(scratch_ / "secret", {{"key", to_bytes("{}")}});
  const std::string path = make(hf_good());
  fs::create_symlink("../secret/key", path + "/README.md");
  const Conversion done = convert(path, scratch_ / "m.zt");
  ASSERT_EQ(done.changes.size(), 1U);
  EXPECT_TRUE(mentions(done.changes, "omitted, not part of the model: README.md"));
  EXPECT_EQ(open(scratch_ / "m.zt").attachment("README.md"), nullptr);
}

TEST_F(Hub, AHugeDocumentStays) {
  const std::string path = make(hf_good());
  put_file(path + "/LICENSE", to_bytes("x"));
  put_file(path + "/README.md", to_bytes("x"));
  fs::resize_file(path + "/README.md", std::uintmax_t{1} << 30);  // sparse
  const Conversion done = convert(path, scratch_ / "m.zt");
  EXPECT_EQ(lines_of(done.changes), Lines{"omitted, not part of the model: README.md"});
  EXPECT_NE(open(scratch_ / "m.zt").attachment("LICENSE"), nullptr);
}

TEST_F(Hub, ADocumentThatIsNoFileIsNotAbsent) {
  const std::string path = make(hf_good());
  ASSERT_EQ(::mkfifo((path + "/NOTICE").c_str(), 0600), 0);
  fs::create_symlink("nowhere", path + "/README.md");
  const Conversion done = convert(path, scratch_ / "m.zt");
  EXPECT_EQ(lines_of(done.changes), Lines{"omitted, not part of the model: NOTICE, README.md"});
}

TEST_F(Hub, AFolderWithoutEnd) {
  Files files = hf_good();
  files["modules.json"] = to_bytes(R"([{"path":"m"}])");
  files["m/1/2/3/4/5/6/7/8/9/x"] = to_bytes("x");
  EXPECT_EQ(rule_of([&] { open(make(files)); }), "hf.folder.large");
}

}  // namespace
}  // namespace tare
