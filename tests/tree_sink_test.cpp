// A directory written as a whole: errors that come late, links, and what a kill left behind.
#include "io/tree_sink.hpp"

#include <map>

#include "conformance/scratch.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

using Texts = std::map<std::string, std::string>;

Texts texts_in(const std::string& path) {
  Texts texts;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) texts[fs::relative(entry.path(), path).string()] = to_text(get_file(entry.path()));
  return texts;
}

class TreeSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, text] : before_) {
      fs::create_directories(fs::path(out_ + "/" + name).parent_path());
      put_file(out_ + "/" + name, to_bytes(text));
    }
  }
  static void put(io::TreeSink& tree, const std::string& name) {
    const auto sink = tree.file(name);
    sink->write(to_bytes("new " + name));
    sink->commit();
  }
  io::TreeSinkOptions replacing(std::vector<std::string> vital, std::vector<std::string> others = {}) const {
    return {.overwrite = true, .durable = true, .old_files = [=](const std::string&) {
              return io::OldFiles{vital, others};
            }};
  }
  // Writes these files over what is there, and says which rule that broke.
  std::string rule_of_writing(const io::TreeSinkOptions& options, const std::vector<std::string>& names,
                              const std::string& lost = {}) const {
    return rule_of([&] {
      io::TreeSink tree(out_, options);
      for (const std::string& name : names) put(tree, name);
      if (!lost.empty()) fs::remove(tree.staging() + "/" + lost);
      tree.commit();
    });
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string out_ = scratch_ / "out";
  const Texts before_ = {{"weights", "old weights"}, {"config", "old config"}, {"sub/a", "old a"}, {"notes", "mine"}};
};

TEST_F(TreeSinkTest, OldFilesGoNewOnesComeOthersStay) {
  EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"}), "");
  EXPECT_EQ(texts_in(out_),
            (Texts{{"weights", "new weights"}, {"config", "new config"}, {"more/b", "new more/b"}, {"notes", "mine"}}));
  EXPECT_FALSE(fs::exists(out_ + "/sub")) << "an empty folder of the old content";
}

// Renames fail for many reasons: files nobody may change, a disk that ends. Here: files that are gone.
TEST_F(TreeSinkTest, ALateErrorLeavesEverythingAsItWas) {
  EXPECT_EQ(rule_of_writing(replacing({"weights", "ghost"}), {"config", "weights"}), "io.tree.rename");
  EXPECT_EQ(texts_in(out_), before_);
  EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"sub/a", "sub/ghost"}), {"config", "weights"}), "io.tree.rename");
  EXPECT_EQ(texts_in(out_), before_);
  for (const char* const lost : {"config", "more/b", "weights"}) {
    EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"}, lost),
              "io.tree.rename");
    EXPECT_EQ(texts_in(out_), before_);
    EXPECT_FALSE(fs::exists(out_ + "/more"));
  }
}

TEST_F(TreeSinkTest, WhatIsInTheWayIsFoundBeforeAnythingMoves) {
  fs::create_directory(out_ + "/tare");
  fs::create_directory_symlink("sub", out_ + "/link");
  for (const char* const name : {"tare", "sub", "notes/x", "link/x"}) {
    EXPECT_EQ(rule_of_writing(replacing({"weights"}), {name, "weights"}), "io.tree.blocked") << name;
    fs::remove(out_ + "/link");
    EXPECT_EQ(texts_in(out_), before_);
    fs::create_directory_symlink("sub", out_ + "/link");
  }
}

TEST_F(TreeSinkTest, LinksAreReplacedNotFollowed) {
  fs::create_directory(scratch_ / "elsewhere");
  put_file(scratch_ / "elsewhere/file", to_bytes("not ours"));
  fs::create_directory_symlink("../elsewhere", out_ + "/folder");
  fs::create_symlink("../elsewhere/file", out_ + "/link");
  EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"folder"}), {"folder/file", "link", "weights"}), "");
  EXPECT_EQ(texts_in(scratch_ / "elsewhere"), (Texts{{"file", "not ours"}}));
  EXPECT_EQ(texts_in(out_).at("folder/file"), "new folder/file");
  EXPECT_EQ(texts_in(out_).at("link"), "new link");
}

TEST_F(TreeSinkTest, WhatAKillLeftIsFoundAndRemoved) {
  EXPECT_TRUE(io::find_leftovers(out_).empty());
  for (const char* const part : {".tare-aaaaaa/new", ".tare-bbbbbb/new", ".tare-bbbbbb/old", ".tare-cccccc/part",
                                 ".tare-else/new", ".tare-dddddd/taken"})
    fs::create_directories(out_ + "/" + part);
  EXPECT_EQ(io::find_leftovers(out_), (std::vector<std::string>{".tare-aaaaaa/new", ".tare-bbbbbb/old"}));
  {
    // One that somebody is working in stays.
    const io::TreeSink running(out_, {.overwrite = true});
    EXPECT_EQ(rule_of_writing({.overwrite = true}, {"weights"}), "");
    EXPECT_TRUE(fs::exists(running.staging()));
  }
  EXPECT_TRUE(io::find_leftovers(out_).empty());
  std::size_t hidden = 0;
  for (const auto& entry : fs::directory_iterator(out_)) hidden += entry.path().filename().string().starts_with(".");
  EXPECT_EQ(hidden, 1U) << ".tare-else is not ours";
}

}  // namespace
}  // namespace tare
