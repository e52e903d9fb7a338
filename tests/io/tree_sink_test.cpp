// Directories written as a whole: late errors, links created by other users, two concurrent writers, and leftovers of a
// kill.
#include "io/tree_sink.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <map>
#include <thread>

#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "io/unfinished.hpp"
#include "tare/unfinished.hpp"

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

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Calls `act` before the nth change of one kind, and makes it fail with what `act` returns.
class AtStep {
 public:
  AtStep(std::string call, std::string name, std::function<int()> act, int nth = 0) {
    io::set_step_hook([=](const char* now, const char* entry) mutable {
      return now == call && entry == name && nth-- == 0 ? act() : 0;
    });
  }
  ~AtStep() { io::set_step_hook(nullptr); }
};

class TreeSinkTest : public ::testing::Test {
 protected:
  void SetUp() override { make_old(); }
  void make_old() const {
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
  static io::TreeSinkOptions replacing(std::vector<std::string> vital, std::vector<std::string> others = {}) {
    return {.overwrite = true, .durable = true, .old_files = [=](const io::Directory&) {
              return io::OldFiles{vital, others};
            }};
  }
  void write(const io::TreeSinkOptions& options, const std::vector<std::string>& names,
             const std::function<void(const std::string& staging)>& before_commit = {}) const {
    io::TreeSink tree(out_, options);
    for (const std::string& name : names) put(tree, name);
    if (before_commit) before_commit(staging());
    tree.commit();
  }
  // Writes these files over the existing ones, and returns the rule of the error.
  std::string rule_of_writing(const io::TreeSinkOptions& options, const std::vector<std::string>& names,
                              const std::string& lost = {}) const {
    return rule_of([&] {
      write(options, names, [&](const std::string& staging) {
        if (!lost.empty()) fs::remove(staging + "/" + lost);
      });
    });
  }
  // The directory of the new files while they are written: a staging directory inside the target or next to it.
  std::string staging() const {
    for (const std::string& place : {out_, scratch_.path()}) {
      if (!fs::is_directory(place)) continue;
      for (const auto& entry : fs::directory_iterator(place))
        if (entry.path().filename().string().starts_with(".tare-") && fs::exists(entry.path() / "part"))
          return entry.path() / "part";
    }
    return {};
  }
  std::vector<std::string> hidden() const {
    std::vector<std::string> names;
    for (const std::string& place : {out_, scratch_.path()})
      for (const auto& entry : fs::directory_iterator(place))
        if (entry.path().filename().string().starts_with(".")) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    return names;
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string out_ = scratch_ / "out";
  const Texts before_ = {{"weights", "old weights"}, {"config", "old config"}, {"sub/a", "old a"}, {"notes", "mine"}};
  const Texts after_ = {
      {"weights", "new weights"}, {"config", "new config"}, {"more/b", "new more/b"}, {"notes", "mine"}};
};

TEST_F(TreeSinkTest, OldFilesGoNewOnesComeOthersStay) {
  EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"}), "");
  EXPECT_EQ(texts_in(out_), after_);
  EXPECT_FALSE(fs::exists(out_ + "/sub")) << "an empty folder of the old content";
  EXPECT_TRUE(hidden().empty());
}

// Renames fail for many reasons, such as missing permissions or a full disk. Here the files no longer exist.
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
    EXPECT_TRUE(hidden().empty());
  }
}

// Each change fails once: the result is the old content or the new one, and nothing else.
TEST_F(TreeSinkTest, AnErrorAtAnyStepLeavesOldOrNew) {
  for (const bool fresh : {false, true})
    for (int failing = 0;; ++failing) {
      fs::remove_all(out_);
      if (!fresh) make_old();
      int number = 0;
      io::set_step_hook([&](const char*, const char*) { return number++ == failing ? EIO : 0; });
      const std::string rule = rule_of([&] {
        write(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"});
      });
      io::set_step_hook(nullptr);
      SCOPED_TRACE(std::to_string(failing) + rule);
      if (fresh) {
        EXPECT_EQ(fs::exists(out_), rule.empty());
      } else {
        EXPECT_EQ(texts_in(out_), rule.empty() ? after_ : before_);
      }
      if (number <= failing) break;
      ASSERT_LT(failing, 200);
      // What could not be removed is still ours, and the next writer removes it.
      if (!rule.empty()) {
        EXPECT_EQ(rule_of([&] { write(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"}); }), "");
      }
      fs::create_directories(out_);
      io::sweep_staging_directories(io::Directory::open(out_.c_str()), true);
      io::sweep_staging_directories(io::Directory::open(scratch_.path().c_str()), true);
      EXPECT_TRUE(hidden().empty()) << hidden().front();
    }
}

// Lack of memory is an error like others, even during the renames.
TEST_F(TreeSinkTest, WithoutMemoryEverythingIsAsItWas) {
  if (!kCountsMemory) GTEST_SKIP() << "a sanitizer has its own operator new";
  for (int failing = 0;; ++failing) {
    fs::remove_all(out_);
    make_old();
    bool out_of_memory = false;
    // Allocated in advance, so that it is not what fails.
    const io::TreeSinkOptions options = replacing({"weights"}, {"sub/a"});
    const std::vector<std::string> names = {"config", "more/b", "weights"};
    try {
      fail_allocation(failing);
      write(options, names);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
    const bool came_to_it = allocation_failed();
    fail_allocation(-1);
    // If only cleaning up needed memory, the work is completed without it.
    EXPECT_EQ(texts_in(out_), out_of_memory ? before_ : after_) << failing;
    EXPECT_TRUE(hidden().empty()) << failing;
    if (!came_to_it) {
      EXPECT_FALSE(out_of_memory);
      EXPECT_GT(failing, 30);
      break;
    }
    ASSERT_LT(failing, 2000);
  }
}

// A moved file that cannot be moved back is never deleted, and the error names its location.
TEST_F(TreeSinkTest, WhatCannotBeUndoneIsKept) {
  int renames = 0;
  io::set_step_hook([&](const char* call, const char* name) {
    if (call != std::string("rename")) return 0;
    // It was moved away, then it can neither be replaced nor restored.
    return name == std::string("weights") && ++renames > 1 ? EIO : 0;
  });
  const auto error = error_of([&] { write(replacing({"weights"}), {"config", "weights"}); });
  io::set_step_hook(nullptr);
  ASSERT_TRUE(error.has_value());
  ASSERT_EQ(hidden().size(), 1U);
  const std::string name = fs::path(hidden().front()).filename();
  EXPECT_NE(error->sentence().find("out/" + name), std::string::npos) << error->sentence();
  EXPECT_EQ(texts_in(hidden().front()).at("taken/weights"), "old weights");
  EXPECT_EQ(texts_in(out_).at("config"), "old config");
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

// Another user with write access to the target replaces a folder by a link to a home directory at the right moment.
TEST_F(TreeSinkTest, AFolderThatBecomesALinkIsNotEntered) {
  fs::create_directory(scratch_ / "home");
  put_file(scratch_ / "home/profile", to_bytes("precious"));
  for (const char* const moment : {"weights", "x"}) {
    SCOPED_TRACE(moment);
    fs::create_directory(out_ + "/x");
    const bool made =
        moment == std::string("x");  // made by us; the first of this name belongs to the staging directory
    if (made) fs::remove_all(out_ + "/x");
    const auto plant = [&] {
      fs::remove_all(out_ + "/x");
      fs::create_directory_symlink(scratch_ / "home", out_ + "/x");
      return 0;
    };
    const AtStep attack(made ? "mkdir" : "rename", moment, plant, made ? 1 : 0);
    EXPECT_EQ(rule_of_writing(replacing({"weights"}), {"x/profile", "weights"}), "io.tree.rename");
    EXPECT_EQ(texts_in(scratch_ / "home"), (Texts{{"profile", "precious"}}));
    fs::remove(out_ + "/x");
    EXPECT_EQ(texts_in(out_), before_);
    EXPECT_TRUE(hidden().empty());
  }
}

// A file that another program creates at our target at the last moment is kept.
TEST_F(TreeSinkTest, WhatAppearsMeanwhileIsNotReplaced) {
  {
    // The first rename to this name moves the old file away.
    const AtStep attack("rename", "weights", [&] {
      put_file(out_ + "/extra", to_bytes("theirs"));
      return 0;
    });
    EXPECT_EQ(rule_of_writing(replacing({"weights"}), {"extra", "weights"}), "io.tree.rename");
  }
  Texts expected = before_;
  expected["extra"] = "theirs";
  EXPECT_EQ(texts_in(out_), expected);
}

// No other user can enter the directory before it is complete, whatever the target's mode and the umask.
TEST_F(TreeSinkTest, StagingIsPrivate) {
  const int status = run_child([&] {
    ::umask(0);
    for (const int kind : {0, 1, 2}) {
      fs::remove_all(out_);
      if (kind > 0) fs::create_directory(out_);
      if (kind == 2) put_file(out_ + "/weights", to_bytes("old weights"));
      if (kind == 2) ::chmod((out_ + "/weights").c_str(), 0644);
      if (kind > 0) ::chmod(out_.c_str(), 02777);
      ::chmod(scratch_.path().c_str(), 02777);
      mode_t seen = 0777;
      write(replacing({}), {"weights"}, [&](const std::string& part) { seen = mode_of(fs::path(part).parent_path()); });
      if ((seen & 0777) != 0700) return 10 + kind;
      if (mode_of(out_) != 02777) return 20 + kind;
      if (mode_of(out_ + "/weights") != (kind == 2 ? 0644 : 0666)) return 30 + kind;
    }
    return 0;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(TreeSinkTest, DirectoriesKeepTheirModeAndGroup) {
  fs::remove_all(out_);
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 02755), 0);
  EXPECT_EQ(rule_of_writing({}, {"sub/a", "weights"}), "");
  EXPECT_TRUE(mode_of(out_) & S_ISGID) << "a project directory stays one";
  EXPECT_TRUE(mode_of(out_ + "/sub") & S_ISGID);
  fs::remove_all(out_);
  fs::create_directory(out_);
  ASSERT_EQ(::chmod(out_.c_str(), 02750), 0);
  EXPECT_EQ(rule_of_writing({}, {"weights"}), "");
  EXPECT_EQ(mode_of(out_), 02750U);
  if (::geteuid() != 0) return;
  fs::remove_all(out_);
  fs::create_directory(out_);
  ASSERT_EQ(::chown(out_.c_str(), 0, 65534), 0);
  EXPECT_EQ(rule_of_writing({}, {"weights"}), "");
  struct stat status {};
  ASSERT_EQ(::stat(out_.c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, 65534U);
}

TEST_F(TreeSinkTest, WhatWasClosedStaysClosed) {
  ASSERT_EQ(::chmod((out_ + "/weights").c_str(), 0600), 0);
  ASSERT_EQ(::chmod((out_ + "/config").c_str(), 0640), 0);
  EXPECT_EQ(rule_of_writing(replacing({"weights"}, {"config"}), {"config", "more/b", "weights"}), "");
  EXPECT_EQ(mode_of(out_ + "/weights"), 0600U);
  EXPECT_EQ(mode_of(out_ + "/config"), 0640U);
  EXPECT_EQ(mode_of(out_ + "/more/b"), 0600U) << "open to nobody to whom the old model was closed";
}

// "." may be the current directory of a process, so it is filled and not replaced by another directory.
TEST_F(TreeSinkTest, TheDirectoryOneIsIn) {
  fs::remove_all(out_);
  fs::create_directory(out_);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(out_.c_str(), &before), 0);
  io::TreeSink tree(out_ + "/.", {});
  put(tree, "weights");
  tree.commit();
  ASSERT_EQ(::stat(out_.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(texts_in(out_), (Texts{{"weights", "new weights"}}));
}

TEST_F(TreeSinkTest, LinksToTheDirectory) {
  fs::create_directory_symlink("out", scratch_ / "mine");
  fs::create_directory_symlink("nowhere", scratch_ / "dangling");
  {
    io::TreeSink tree(scratch_ / "mine/", replacing({"weights"}, {"sub/a"}));
    for (const char* const name : {"config", "more/b", "weights"}) put(tree, name);
    tree.commit();
  }
  EXPECT_EQ(texts_in(out_), after_);
  EXPECT_EQ(rule_of([&] { io::TreeSink(scratch_ / "dangling", {.overwrite = true}); }), "io.tree.create");
  EXPECT_FALSE(fs::exists(scratch_ / "nowhere"));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown((scratch_ / "mine").c_str(), 65534, 65534), 0);
  EXPECT_EQ(rule_of([&] { io::TreeSink(scratch_ / "mine", {.overwrite = true}); }), "io.sink.link");
}

TEST_F(TreeSinkTest, NamesThatFilesMustNotHave) {
  io::TreeSink tree(out_, {.overwrite = true});
  for (const char* const name : {"", ".", "..", "a/../b", "/a", "a//b", "a/", ".profile", "x/.ssh", "x/.y/z"})
    EXPECT_EQ(rule_of([&] { tree.file(name); }), "io.tree.name") << name;
}

// Two writers that replace one directory at the same time: one after the other, never a mixture.
TEST_F(TreeSinkTest, TwoAtOnceNeverMix) {
  const auto write_all = [&](const std::string& who) {
    const io::TreeSinkOptions options = {.overwrite = true, .durable = false, .old_files = [](const io::Directory& d) {
                                           io::OldFiles old;
                                           for (const char* const name : {"weights", "config", "extra-a", "extra-b"})
                                             if (d.has(name)) (name[0] == 'w' ? old.vital : old.others).push_back(name);
                                           return old;
                                         }};
    io::TreeSink tree(out_, options);
    for (const std::string& name : {std::string("config"), "extra-" + who, std::string("weights")}) {
      const auto sink = tree.file(name);
      sink->write(to_bytes(who));
      sink->commit();
    }
    tree.commit();
  };
  for (int round = 0; round < 60; ++round) {
    const auto loop = [&](const std::string& who) {
      return start_child([&] {
        for (int i = 0; i < 3; ++i) write_all(who);
        return 0;
      });
    };
    const pid_t a = loop("a"), b = loop("b");
    EXPECT_EQ(end_of(a), 0);
    EXPECT_EQ(end_of(b), 0);
    const Texts found = texts_in(out_);
    const std::string who = found.at("weights");
    EXPECT_EQ(found,
              (Texts{{"weights", who}, {"config", who}, {"extra-" + who, who}, {"notes", "mine"}, {"sub/a", "old a"}}));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_TRUE(hidden().empty());
}

TEST_F(TreeSinkTest, TheDirectoryIsLockedWhileItIsReplaced) {
  bool locked = false;
  const AtStep look("rename", "weights", [&] {
    const int other = ::open(out_.c_str(), O_RDONLY | O_CLOEXEC);
    locked = ::flock(other, LOCK_EX | LOCK_NB) != 0;
    ::close(other);
    return 0;
  });
  EXPECT_EQ(rule_of_writing(replacing({"weights"}), {"weights"}), "");
  EXPECT_TRUE(locked);
}

TEST_F(TreeSinkTest, MovedAwayMeanwhile) {
  EXPECT_EQ(rule_of([&] {
              write(replacing({"weights"}), {"weights"}, [&](const std::string&) {
                fs::rename(out_, scratch_ / "moved");
                fs::create_directory(out_);
              });
            }),
            "io.tree.rename");
  EXPECT_EQ(texts_in(scratch_ / "moved"), before_);
  EXPECT_TRUE(texts_in(out_).empty());
}

// An empty directory that is filled while we write is replaced only if `overwrite` is set.
TEST_F(TreeSinkTest, FilledMeanwhile) {
  for (const bool overwrite : {false, true})
    for (const bool inside : {false, true}) {
      fs::remove_all(out_);
      fs::create_directory(out_);
      const std::string rule = rule_of([&] {
        io::TreeSink tree(inside ? out_ + "/." : out_, {.overwrite = overwrite});
        put(tree, "weights");
        put_file(out_ + "/notes", to_bytes("mine"));
        tree.commit();
      });
      EXPECT_EQ(rule, overwrite ? "" : "io.tree.exists");
      Texts expected = {{"notes", "mine"}};
      if (overwrite) expected["weights"] = "new weights";
      EXPECT_EQ(texts_in(out_), expected);
      EXPECT_TRUE(hidden().empty());
    }
}

TEST_F(TreeSinkTest, ErrorsNameTheFileThatWasAskedFor) {
  const AtStep full("create", "b", [] { return ENOSPC; });
  const auto error = error_of([&] { write(replacing({"weights"}), {"more/b"}); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->file(), out_ + "/more/b");
}

TEST_F(TreeSinkTest, WhatAKillLeftIsFoundAndRemoved) {
  EXPECT_TRUE(io::find_leftovers(out_).empty());
  std::vector<std::string> expected;
  for (const std::vector<const char*>& parts :
       {std::vector{"new"}, {"new", "old"}, {"part"}, {"taken"}, {"new", "taken"}, {"new", "gone"}}) {
    std::string name;
    run_child([&] {  // ends without cleaning up
      const io::Directory out = io::Directory::open(out_.c_str());
      const auto* const left = new io::StagingDirectory(out, "rule", "");
      for (const char* const part : parts) left->directory().make(part, 0700);
      put_file(scratch_ / "name", to_bytes(left->name()));
      return 0;
    });
    name = to_text(get_file(scratch_ / "name"));
    if (parts.size() == 2 && parts[1] == std::string("old")) expected.push_back(name + "/old");
    if (parts[0] == std::string("new") && (parts.size() == 1 || parts[1] == std::string("taken")))
      expected.push_back(name + "/new");
  }
  std::sort(expected.begin(), expected.end());
  fs::create_directories(out_ + "/.tare-foreig/new");
  fs::create_directories(out_ + "/.tare-foreignfolder/old");
  EXPECT_EQ(io::find_leftovers(out_), expected);
  EXPECT_TRUE(io::is_being_replaced(out_));
  {
    // A staging directory in use is kept.
    const io::TreeSink running(out_, {.overwrite = true});
    const std::string in_use = staging();
    EXPECT_EQ(rule_of_writing({.overwrite = true}, {"weights"}), "");
    EXPECT_TRUE(fs::exists(in_use));
  }
  EXPECT_TRUE(io::find_leftovers(out_).empty());
  EXPECT_FALSE(io::is_being_replaced(out_));
  EXPECT_EQ(hidden(), (std::vector<std::string>{out_ + "/.tare-foreig", out_ + "/.tare-foreignfolder"}));
}

// An error about a directory that another program is filling advises to try again.
TEST_F(TreeSinkTest, OpeningADirectoryThatIsBeingReplaced) {
  const auto said = [&] { return error_of([&] { static_cast<void>(open(out_)); }); };
  for (const char* const file : {"notes", "config.json", "model-00001-of-00002.safetensors"}) {
    put_file(fs::path(out_) / file, to_bytes("{}"));
    const auto before = said();
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(before->sentence().find("another program"), std::string::npos) << before->sentence();
    {
      const io::StagingDirectory staging(io::Directory::open(out_.c_str()), "rule", "");
      staging.directory().make("taken", 0700);
      const auto during = said();
      ASSERT_TRUE(during.has_value());
      EXPECT_EQ(during->file(), before->file());
      const std::string_view sentence = during->sentence();
      EXPECT_NE(sentence.find("another program"), std::string::npos) << sentence;
      EXPECT_EQ(sentence.find("another program"), sentence.rfind("another program")) << sentence;
      EXPECT_NE(sentence.find("at this moment; try again"), std::string::npos) << sentence;
    }
    for (const std::string& left : hidden()) fs::remove_all(left);
    fs::remove_all(fs::path(out_) / file);
  }
}

// What a kill left next to a new directory: the next writer of the same target removes it.
TEST_F(TreeSinkTest, LeftoversBesideTheTargetGoToo) {
  fs::remove_all(out_);
  run_child([&] {
    auto* const tree = new io::TreeSink(out_, {});
    put(*tree, "weights");
    return 0;
  });
  EXPECT_EQ(scratch_.entries().size(), 1U);
  EXPECT_EQ(rule_of_writing({}, {"weights"}), "");
  EXPECT_EQ(scratch_.entries(), std::vector<std::string>{"out"});
}

// A signal before any step: the thread that handles it discards unfinished files, and the process ends.
TEST_F(TreeSinkTest, ASignalAtAnyStepLeavesOldOrNew) {
  for (const bool fresh : {false, true})
    for (int at = 0;; ++at) {
      fs::remove_all(out_);
      if (!fresh) make_old();
      const int status = run_child([&] {
        int number = 0;
        std::atomic<bool> come{false};
        std::thread handler([&] {
          while (!come.load()) std::this_thread::yield();
          discard_unfinished();
          ::_exit(7);
        });
        handler.detach();
        io::set_step_hook([&](const char*, const char*) {
          if (number++ == at) come.store(true);
          return 0;
        });
        write(replacing({"weights"}, {"sub/a"}), {"config", "more/b", "weights"});
        if (number > at)
          for (;;) ::pause();
        return 0;
      });
      ASSERT_TRUE(WIFEXITED(status));
      const bool done = WEXITSTATUS(status) == 0;
      ASSERT_TRUE(done || WEXITSTATUS(status) == 7);
      SCOPED_TRACE(at);
      if (fs::exists(out_)) {
        const Texts found = texts_in(out_);
        Texts only_new = after_;
        only_new.erase("notes");
        EXPECT_TRUE(found == (fresh ? only_new : after_) || (!fresh && found == before_));
      } else {
        EXPECT_TRUE(fresh);
        fs::create_directory(out_);
      }
      EXPECT_TRUE(hidden().empty()) << hidden().front();
      if (done) break;
      ASSERT_LT(at, 200);
    }
}

}  // namespace
}  // namespace tare
