// The promises of every container that is a directory or can be split over several files.
#include <sys/stat.h>

#include <map>

#include "conformance/models.hpp"
#include "conformance/steps.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

std::vector<const Format*> tree_rows() {
  std::vector<const Format*> rows;
  for (const Format& format : formats())
    if (format.write_tree != nullptr) rows.push_back(&format);
  return rows;
}

class Tree : public ::testing::TestWithParam<const Format*> {
 protected:
  const Format& format() const { return *GetParam(); }
  const Capabilities& holds() const { return GetParam()->holds; }
  // Unsplit, and split into many files if the format can be.
  std::vector<WriteOptions> variants() const {
    std::vector<WriteOptions> all = {{}};
    if (holds().shards) all.push_back({.shard_bytes = 1000});
    return all;
  }
  // A set of files without its own directory format is opened by the reader of its files.
  Model open_tree(const std::string& path) const {
    for (const char* const file : {"model.safetensors.index.json", "model.safetensors"})
      if (format().recognize_tree == nullptr && fs::exists(path + "/" + file)) return open(path + "/" + file);
    return open(path);
  }
};

std::map<std::string, Bytes> files_in(const std::string& path) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), path).string()] = get_file(entry.path());
  return files;
}

std::uint64_t bytes_in(const std::string& path) {
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : files_in(path)) sum += bytes.size();
  return sum;
}

INSTANTIATE_TEST_SUITE_P(Formats, Tree, ::testing::ValuesIn(tree_rows()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(Tree, WhatIsWrittenIsReadBack) {
  const Scratch scratch;
  const Model model = full_model(holds());
  for (const WriteOptions& options : variants()) {
    const std::string path = scratch / (options.shard_bytes ? "split" : "whole");
    const std::uint64_t written = format().write_tree(model, path, options, false);
    EXPECT_EQ(written, bytes_in(path));
    const Model found = open_tree(path);
    expect_same(model, found, holds());
    EXPECT_EQ(found.format, format().name);
    if (options.shard_bytes) {
      EXPECT_GT(files_in(path).size(), 3U);
    }
  }
  expect_same(open_tree(scratch / "whole"), open_tree(scratch / (holds().shards ? "split" : "whole")), holds());
}

TEST_P(Tree, EmptyAndSmallModelsAreReadBack) {
  const Scratch scratch;
  int number = 0;
  for (const WriteOptions& options : variants())
    for (const Model& model : {Model(), small_model(holds())}) {
      const std::string path = scratch / std::to_string(++number);
      format().write_tree(model, path, options, false);
      expect_same(model, open_tree(path), holds());
    }
}

TEST_P(Tree, PassesStrictVerification) {
  if (format().recognize_tree == nullptr) GTEST_SKIP() << "opened through its files";
  const Scratch scratch;
  for (const WriteOptions& options : variants()) {
    const std::string path = scratch / (options.shard_bytes ? "split" : "whole");
    format().write_tree(full_model(holds()), path, options, false);
    const Verification result = verify(path);
    for (const Finding& finding : result.findings)
      EXPECT_EQ(finding.severity, Severity::note) << finding.rule << finding.sentence << finding.item;
    EXPECT_TRUE(result.ok(true));
    EXPECT_EQ(result.format, format().name);
  }
}

TEST_P(Tree, NoFileIsLargerThanAskedUnlessOneTensorIs) {
  if (!holds().shards) GTEST_SKIP() << "is not split";
  const Scratch scratch;
  // A container with much padding needs larger tensors for this test to show anything.
  const std::uint64_t scale = lists(holds().dialects, "pages") ? 100 : 1;
  Model model;
  for (std::uint64_t i = 0; i < 40; ++i)
    model.tensors.push_back(make_dense("t" + std::to_string(i), {100 * scale}, DType::f32, "", i + 1));
  model.tensors.push_back(make_dense("huge", {5000 * scale}, DType::f32));
  format().write_tree(model, scratch / "d", {.shard_bytes = 9000 * scale}, false);
  int large = 0;
  for (const auto& [name, bytes] : files_in(scratch / "d"))
    if (!name.ends_with(".json") && bytes.size() > 9000 * scale) ++large;
  EXPECT_EQ(large, 1);
  EXPECT_EQ(content_digest(open_tree(scratch / "d")), content_digest(model));
}

TEST_P(Tree, TheSameModelGivesTheSameFiles) {
  const Scratch scratch;
  const Model model = full_model(holds());
  for (WriteOptions options : variants()) {
    const std::string name = options.shard_bytes ? "split" : "whole";
    for (const unsigned threads : {1U, 3U}) {
      options.work.threads = threads;
      format().write_tree(model, scratch / (name + std::to_string(threads)), options, false);
    }
    EXPECT_TRUE(files_in(scratch / (name + "1")) == files_in(scratch / (name + "3")));
  }
}

TEST_P(Tree, ADirectoryWithFilesIsRefusedUnlessForced) {
  const Scratch scratch;
  const std::string path = scratch / "d";
  const Model model = small_model(holds());
  fs::create_directory(path);
  format().write_tree(model, path, {}, false);  // an empty directory may be used
  const auto before = files_in(path);
  EXPECT_EQ(rule_of([&] { format().write_tree(model, path, {}, false); }), "io.tree.exists");
  EXPECT_TRUE(files_in(path) == before);
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"d"});
  // With overwrite, the old set is removed; files that do not belong to the model stay.
  put_file(path + "/notes.md", to_bytes("mine"));
  Model other = full_model(holds());
  other.tensors.push_back(make_dense("more", {3000}, DType::f32));
  for (const WriteOptions& options : variants()) {
    format().write_tree(other, path, options, true);
    expect_same(other, open_tree(path), holds());
  }
  format().write_tree(model, path, {}, true);
  expect_same(model, open_tree(path), holds());
  EXPECT_EQ(to_text(get_file(path + "/notes.md")), "mine");
  auto after = files_in(path);
  for (const auto& [name, bytes] : before) EXPECT_TRUE(after[name] == bytes) << name;
}

TEST_P(Tree, OntoItself) {
  const Scratch scratch;
  const std::string path = scratch / "d";
  const Model model = full_model(holds());
  format().write_tree(model, path, variants().back(), false);
  format().write_tree(open_tree(path), path, {}, true);
  expect_same(model, open_tree(path), holds());
}

TEST_P(Tree, AFileInThePlaceOfTheDirectoryIsKept) {
  const Scratch scratch;
  put_file(scratch / "f", to_bytes("here"));
  for (const bool overwrite : {false, true})
    EXPECT_EQ(rule_of([&] { format().write_tree(small_model(holds()), scratch / "f", {}, overwrite); }),
              "io.tree.file");
  EXPECT_EQ(to_text(get_file(scratch / "f")), "here");
  EXPECT_EQ(rule_of([&] { format().write_tree(small_model(holds()), scratch / "no/such/place", {}, false); }),
            "io.tree.create");
}

TEST_P(Tree, ARefusalLeavesNothing) {
  const Scratch scratch;
  Model model;
  model.tensors = {make_dense("a", {1}, DType::f32), make_dense("a", {2}, DType::f32)};
  EXPECT_NE(rule_of([&] { format().write_tree(model, scratch / "d", {}, false); }), "");
  EXPECT_TRUE(scratch.entries().empty());
}

TEST_P(Tree, NewDirectoriesHaveTheUsualMode) {
  const Scratch scratch;
  fs::create_directory(scratch / "usual");
  format().write_tree(small_model(holds()), scratch / "d", {}, false);
  struct stat usual {
  }, ours{};
  ASSERT_EQ(::stat((scratch / "usual").c_str(), &usual), 0);
  ASSERT_EQ(::stat((scratch / "d").c_str(), &ours), 0);
  EXPECT_EQ(ours.st_mode, usual.st_mode);
}

// A kill leaves no directory or a complete one. If there was one before, it leaves the old model, the new one, or none,
// but never a mixture.
TEST_P(Tree, AKillLeavesNoHalfModel) {
  if (format().recognize_tree == nullptr) GTEST_SKIP() << "opened through its files";
  const Scratch scratch(Scratch::fast_place());
  Model old_model = small_model(holds()), new_model = small_model(holds());
  old_model.tensors[0] = make_dense("w", {2, 3}, DType::f32, "", 77);
  if (holds().config) {
    old_model.config.hidden_size = 1;
    new_model.config.hidden_size = 2;
  }
  for (const bool replace : {false, true})
    for (int step = 0;; ++step) {
      const std::string path = scratch / "d";
      fs::remove_all(path);
      if (replace) format().write_tree(old_model, path, {}, false);
      const Stopped stopped = kill_before_step(step, [&] {
        format().write_tree(new_model, path, {.work = {.threads = 1}}, true);
        return 0;
      });
      if (stopped == Stopped::not_allowed) GTEST_SKIP() << "no ptrace here";
      if (stopped == Stopped::finished) {
        EXPECT_GT(step, 5);
        break;
      }
      const auto error = error_of([&] {
        const Model found = open(path);
        const bool is_old = content_digest(found) == content_digest(old_model);
        EXPECT_TRUE(is_old || content_digest(found) == content_digest(new_model)) << step;
        EXPECT_TRUE(found.config == (is_old ? old_model : new_model).config) << step;
        EXPECT_TRUE(replace || !is_old);
      });
      if (!error) continue;
      EXPECT_TRUE(replace ? error->rule().starts_with("hf.weights") || error->rule() == "open.directory"
                          : error->rule() == "io.open.missing")
          << step << " " << error->what();
      EXPECT_EQ(error->sentence().find("at this moment"), std::string_view::npos) << error->what();
    }
}

}  // namespace
}  // namespace tare
