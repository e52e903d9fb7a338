// The primitive for all writing: no call follows a link, replaces a wrong file, or needs memory to undo its work.
#include "io/directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "io/file_sink.hpp"
#include "io/place.hpp"
#include "io/staging_directory.hpp"
#include "io/unfinished.hpp"
#include "tare/sink.hpp"
#include "tare/unfinished.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;
using io::Directory;

class DirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch_ / "home/inner");
    put_file(scratch_ / "home/file", to_bytes("mine"));
    fs::create_directory(scratch_ / "work");
    fs::create_directory_symlink("../home", scratch_ / "work/link");
    fs::create_symlink("../home/file", scratch_ / "work/file_link");
    fs::create_symlink("../home/none", scratch_ / "work/dangling");
    work_ = Directory::open((scratch_ / "work").c_str());
    ASSERT_TRUE(work_);
  }
  // A user's home, which must stay unchanged.
  void TearDown() override {
    EXPECT_EQ(to_text(get_file(scratch_ / "home/file")), "mine");
    EXPECT_TRUE(fs::is_directory(scratch_ / "home/inner"));
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch_ / "home"), {}), 2);
  }
  template <typename Result>
  static int error_in(const Result& result) {
    return result ? 0 : errno;
  }

  const Scratch scratch_{Scratch::fast_place()};
  Directory work_;
};

// A process without a free descriptor still removes its temporary files.
TEST_F(DirectoryTest, WorkshopsGoWithoutADescriptorToBeHad) {
  if (!kCountsMemory) GTEST_SKIP() << "sanitizers need some themselves";
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto names = [&] { return std::distance(fs::directory_iterator(scratch_ / "work"), {}); };
  const auto at_first = names();
  const auto limit_to = [&](int more) {
    const int next = ::dup(0);
    ::close(next);
    const struct rlimit few = {static_cast<rlim_t>(next + more), before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  };
  // Created with enough descriptors, removed with none.
  {
    const io::StagingDirectory staging(work_, "a.rule", "shown");
    for (const char* const name : {"a", "b", "c"})
      ASSERT_TRUE(staging.directory().walk("new/folder", true).create(name, 0600));
    limit_to(0);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(names(), at_first);
  // Created with too few.
  bool refused = false, made = false;
  for (int more = 0; more < 8; ++more) {
    limit_to(more);
    const std::string rule = rule_of([&] { const io::StagingDirectory staging(work_, "a.rule", "shown"); });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    (rule.empty() ? made : refused) = true;
    EXPECT_EQ(names(), at_first) << more;
  }
  EXPECT_TRUE(refused && made);
}

// A file that another program puts under the name while its replacement is written is kept.
TEST_F(DirectoryTest, OnlyTheFileThatWasMeantIsReplaced) {
  const std::string path = scratch_ / "work/model", other = scratch_ / "work/other";
  for (const bool unnamed : {true, false}) {
    io::forbid_unnamed_files(!unnamed);
    put_file(path, to_bytes("old"));
    put_file(other, to_bytes("other"));
    const SourcePtr old = open_file(path);
    const auto sink = io::create_replacement(path, *old);
    sink->write(to_bytes("successor"));
    ASSERT_EQ(::rename(other.c_str(), path.c_str()), 0);
    EXPECT_EQ(rule_of([&] { sink->commit(); }), "io.source.changed");
    EXPECT_EQ(to_text(get_file(path)), "other");
    // If the original is still in place, it is replaced.
    const SourcePtr there = open_file(path);
    const auto next = io::create_replacement(path, *there);
    next->write(to_bytes("successor"));
    next->commit();
    EXPECT_EQ(to_text(get_file(path)), "successor");
  }
  io::forbid_unnamed_files(false);
}

// Between the last look at the old file and the renaming, another file gets its name.
TEST_F(DirectoryTest, AFileThatComesInTheLastMomentIsPutBack) {
  const std::string path = scratch_ / "work/model", other = scratch_ / "work/other";
  put_file(path, to_bytes("old"));
  put_file(other, to_bytes("other"));
  const SourcePtr old = open_file(path);
  const auto sink = io::create_replacement(path, *old);
  sink->write(to_bytes("successor"));
  bool installed = false;
  io::set_step_hook([&](const char* call, const char* name) {
    if (!installed && call == std::string_view("rename") && name == std::string_view("model"))
      installed = ::rename(other.c_str(), path.c_str()) == 0;
    return 0;
  });
  const std::string rule = rule_of([&] { sink->commit(); });
  io::set_step_hook({});
  EXPECT_TRUE(installed);
  EXPECT_EQ(rule, "io.source.changed");
  EXPECT_EQ(to_text(get_file(path)), "other");
}

// A child that ends destroys the objects that it inherited, and its parent goes on writing.
TEST_F(DirectoryTest, AChildOfForkLeavesTheOutputOfItsParentAlone) {
  const std::string path = scratch_ / "work/model";
  for (const bool unnamed : {true, false}) {
    io::forbid_unnamed_files(!unnamed);
    auto sink = create_file(path, {.overwrite = true});
    sink->write(to_bytes("new"));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const bool refused = rule_of([&] { sink->commit(); }) == "io.sink.process";
      sink.reset();
      ::_exit(refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    sink->commit();
    EXPECT_EQ(to_text(get_file(path)), "new");
  }
  io::forbid_unnamed_files(false);
}

TEST_F(DirectoryTest, NothingGoesThroughALink) {
  EXPECT_EQ(error_in(work_.enter("link")), ENOTDIR);
  EXPECT_FALSE(work_.walk("link/inner"));
  EXPECT_FALSE(work_.walk("link/more/folders", true));
  EXPECT_EQ(error_in(work_.create("dangling", 0600)), EEXIST);
  EXPECT_EQ(error_in(work_.create("file_link", 0600)), EEXIST);
  EXPECT_EQ(error_in(work_.read("file_link")), ELOOP);
  EXPECT_EQ(error_in(work_.make("dangling", 0700)), EEXIST);
  const io::Descriptor unnamed = work_.create_unnamed(0600);
  if (unnamed) {
    EXPECT_EQ(error_in(work_.name(unnamed.get(), "dangling")), EEXIST);
  }
  // A rename replaces the link, not its target.
  put_file(scratch_ / "work/new", to_bytes("new"));
  EXPECT_EQ(error_in(work_.rename_new("new", work_, "dangling")), EEXIST);
  EXPECT_TRUE(work_.rename("new", work_, "file_link"));
  EXPECT_EQ(to_text(get_file(scratch_ / "work/file_link")), "new");
  // A directory does not replace a link to one.
  ASSERT_TRUE(work_.make("folder", 0700));
  EXPECT_EQ(error_in(work_.rename("folder", work_, "link")), ENOTDIR);
}

TEST_F(DirectoryTest, RemovingDoesNotFollowLinks) {
  ASSERT_TRUE(work_.walk("deep/er/still", true));
  put_file(scratch_ / "work/deep/er/f", to_bytes("x"));
  fs::create_directory_symlink("../../home", scratch_ / "work/deep/link");
  for (int i = 0; i < 300; ++i) put_file(scratch_ / ("work/deep/" + std::to_string(i)), {});
  put_file(scratch_ / "work/kept", {});
  EXPECT_TRUE(work_.remove_inside("kept"));
  EXPECT_EQ(work_.names(), std::vector<std::string>{"kept"});
}

TEST_F(DirectoryTest, EmptyFoldersAndOthers) {
  ASSERT_TRUE(work_.remove_inside());
  EXPECT_TRUE(work_.is_empty());
  ASSERT_TRUE(work_.walk("a/b", true));
  EXPECT_FALSE(work_.is_empty());
  EXPECT_FALSE(work_.has_files());
  put_file(scratch_ / "work/a/f", {});
  EXPECT_TRUE(work_.has_files());
  work_.remove_empty_folders();
  EXPECT_TRUE(work_.has("a"));
  EXPECT_FALSE(work_.walk("a/b"));
}

TEST_F(DirectoryTest, OddNames) {
  EXPECT_EQ(error_in(work_.walk(std::string(300, 'n'))), ENAMETOOLONG);
  EXPECT_EQ(error_in(work_.walk(std::string(300, 'n'), true)), ENAMETOOLONG);
  EXPECT_EQ(error_in(work_.walk("file_link/x", true)), ENOTDIR);
  EXPECT_TRUE(work_.walk(""));
  EXPECT_EQ(io::folders_of("a/b/c"), "a/b");
  EXPECT_EQ(io::folders_of("c"), "");
  EXPECT_STREQ(io::base_of("a/b/c"), "c");
  EXPECT_FALSE(io::make_path(""));
  EXPECT_TRUE(io::make_path(scratch_ / "x//y/z/"));
  EXPECT_TRUE(fs::is_directory(scratch_ / "x/y/z"));
  EXPECT_FALSE(io::make_path(scratch_ / "home/file/x"));
}

// A path given by the user: the user's own links are followed, those of others are not.
TEST_F(DirectoryTest, PlacesThatPathsLeadTo) {
  const auto place = [&](const std::string& path) { return io::find_place(scratch_ / path, "rule", "cannot"); };
  EXPECT_FALSE(place("work/none").link);
  EXPECT_EQ(place("work/none").name, "none");
  EXPECT_EQ(place("work/file_link").name, "file");
  EXPECT_TRUE(place("work/file_link").parent.has("inner"));
  EXPECT_EQ(place("work/dangling").name, "none");
  EXPECT_TRUE(place("work/dangling").link);
  EXPECT_EQ(place("work/link").name, "home");
  EXPECT_EQ(place("work/.").name, ".");
  EXPECT_EQ(place("work/..").name, ".");
  EXPECT_TRUE(place("work/..").parent.has("work"));
  EXPECT_EQ(io::find_place("/", "rule", "cannot").name, ".");
  EXPECT_EQ(io::find_place("//", "rule", "cannot").name, ".");
  fs::create_symlink("circle", scratch_ / "work/circle");
  for (const char* const path : {"nowhere/x", "home/file/x", "work/circle", "work/"})
    EXPECT_EQ(rule_of([&] { place(path); }), "rule") << path;
  EXPECT_EQ(rule_of([&] { io::find_place("", "rule", "cannot"); }), "rule");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown((scratch_ / "work/file_link").c_str(), 65534, 65534), 0);
  EXPECT_EQ(rule_of([&] { place("work/file_link"); }), "io.sink.link");
}

// A program that adds names as fast as they are removed does not block us forever.
TEST_F(DirectoryTest, RemovingEnds) {
  fs::create_directory(scratch_ / "work/staging");
  const Directory staging = work_.enter("staging");
  put_file(scratch_ / "work/staging/0", {});
  std::size_t removed = 0;
  io::set_step_hook([&](const char* call, const char*) {
    if (std::string_view(call) == "unlink") {
      const std::string name = std::to_string(++removed);
      ::close(::openat(staging.descriptor(), name.c_str(), O_CREAT | O_WRONLY, 0600));
    }
    return 0;
  });
  const int error = error_in(staging.remove_inside());
  io::set_step_hook({});
  EXPECT_EQ(error, EBUSY);
  EXPECT_EQ(removed, std::size_t{1} << 18);
  EXPECT_TRUE(staging.remove_inside());
}

TEST(Place, NamesOfBlobs) {
  const std::string digest(64, 'b'), git(40, '7');
  for (const std::string& name : {digest, git, "sha256-" + digest, "sha256:" + digest, std::string(64, 'F')}) {
    EXPECT_TRUE(io::is_blob_name("blobs", name)) << name;
    EXPECT_TRUE(io::is_blob_name("/x/models--a--b/blobs/", name)) << name;
    EXPECT_TRUE(io::is_blob_name("/x/blobs/sha256", name)) << name;
    EXPECT_FALSE(io::is_blob_name("/x/blob", name)) << name;
    EXPECT_FALSE(io::is_blob_name("/x/blobs/sha256/more", name)) << name;
    EXPECT_FALSE(io::is_blob_name(".", name)) << name;
  }
  for (const std::string& name : {std::string("model.gguf"), digest + "0", std::string(64, 'g'), std::string("cafe"),
                                  std::string(), std::string("sha256-"), digest + ".gguf"})
    EXPECT_FALSE(io::is_blob_name("/x/blobs", name)) << name;
}

TEST(SystemError, WithoutDescriptorsOrMemoryTheMachineIsToBlame) {
  for (const int code : {EMFILE, ENFILE, ENOMEM})
    EXPECT_EQ(io::system_error("rule", "cannot", "file", code).subject(), Subject::machine);
  EXPECT_NE(io::system_error("rule", "cannot", "file", EACCES).subject(), Subject::machine);
}

TEST(Place, NamesOfOtherStores) {
  const std::string rest(30, 'e'), key = "SHA256E-s5--" + std::string(64, 'a') + ".gguf";
  EXPECT_TRUE(io::is_blob_name("/x/.dvc/cache/files/md5/ab", rest));
  EXPECT_FALSE(io::is_blob_name("/x/.dvc/cache/files/md5/abc", rest));
  EXPECT_FALSE(io::is_blob_name("/x/.dvc/cache/files/md5/xy", rest));
  const std::string digest = "ab12" + std::string(60, 'c');
  EXPECT_TRUE(io::is_blob_name("/x/.git/lfs/objects/ab/12", digest));
  EXPECT_FALSE(io::is_blob_name("/x/.git/lfs/objects/ab/12", digest + ".gguf"));
  EXPECT_FALSE(io::is_blob_name("/x/.git/lfs/objects/ab/34", digest));
  EXPECT_FALSE(io::is_blob_name("/x/.git/lfs/objects/34/12", digest));
  EXPECT_FALSE(io::is_blob_name("12", digest));
  EXPECT_TRUE(io::is_blob_name("/x/.git/annex/objects/K/V/" + key, key));
  EXPECT_FALSE(io::is_blob_name("/x/model.gguf", "model.gguf"));
}

// A link to a read-only file is replaced, because other programs may use the file.
TEST(Place, LinksToReadOnlyFiles) {
  const Scratch scratch{Scratch::fast_place()};
  put_file(scratch / "kept", to_bytes("x"));
  put_file(scratch / "own", to_bytes("x"));
  ASSERT_EQ(::chmod((scratch / "kept").c_str(), 0444), 0);
  fs::create_symlink("kept", scratch / "link");
  fs::create_symlink("own", scratch / "other");
  const auto place = [&](const std::string& path) { return io::find_place(scratch / path, "rule", "cannot"); };
  EXPECT_EQ(place("link").store, io::Store::link);
  EXPECT_EQ(place("link").name, "link");
  EXPECT_EQ(place("kept").store, io::Store::none);
  EXPECT_EQ(place("other").store, io::Store::none);
  EXPECT_EQ(place("other").name, "own");
  const auto sink = create_file(scratch / "link", {.overwrite = true});
  sink->write(to_bytes("new"));
  sink->commit();
  EXPECT_EQ(to_text(get_file(scratch / "kept")), "x");
  EXPECT_EQ(to_text(get_file(scratch / "link")), "new");
  EXPECT_FALSE(fs::is_symlink(scratch / "link"));
}

// A link into a content-addressed store is itself the place; a folder that merely looks like one is not a store's file.
TEST(Place, LinksIntoStores) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string digest(64, 'c'), blob = "blobs/sha256-" + digest;
  fs::create_directories(scratch / "blobs");
  fs::create_directories(scratch / ("blobs/d" + std::string(63, '0')));
  put_file(scratch / blob, to_bytes("x"));
  fs::create_symlink(blob, scratch / "link");
  fs::create_symlink("link", scratch / "again");
  fs::create_symlink("blobs", scratch / "renamed");
  fs::create_symlink("renamed/sha256-" + digest, scratch / "through");
  fs::create_symlink("blobs/d" + std::string(63, '0'), scratch / "folder");
  const auto place = [&](const std::string& path) { return io::find_place(scratch / path, "rule", "cannot"); };
  EXPECT_EQ(place("link").store, io::Store::link);
  EXPECT_EQ(place("link").name, "link");
  EXPECT_EQ(place("again").store, io::Store::link);
  EXPECT_EQ(place("again").name, "link");
  EXPECT_EQ(place("through").store, io::Store::link) << "by the directory's own name";
  EXPECT_EQ(place("folder").store, io::Store::none);
  EXPECT_EQ(place(blob).store, io::Store::blob);
  EXPECT_EQ(place("renamed/sha256-" + digest).store, io::Store::blob);
  const io::Descriptor open_blob(::open((scratch / blob).c_str(), O_RDONLY | O_CLOEXEC));
  const std::string proc = "/proc/self/fd/" + std::to_string(open_blob.get());
  EXPECT_EQ(io::find_place(proc, "rule", "cannot").store, io::Store::blob);
  EXPECT_EQ(rule_of([&] { create_file(proc, {.overwrite = true}); }), "io.sink.store");
  EXPECT_EQ(rule_of([&] { create_file(scratch / blob, {.overwrite = true}); }), "io.sink.store");
  EXPECT_EQ(rule_of([&] { create_file(scratch / ("blobs/" + std::string(64, 'e'))); }), "") << "a new one";
}

class WorkshopTest : public DirectoryTest {
 protected:
  // The state after a kill: the marker exists, and no process holds the lock.
  std::string leave_behind(const std::string& part = "part") {
    std::string name;
    const int status = run_child([&] {
      const auto* const left = new io::StagingDirectory(work_, "rule", "shown");
      left->directory().walk(part, true);
      ::unlink((scratch_ / "name").c_str());
      put_file(scratch_ / "name", to_bytes(left->name()));
      return 0;
    });
    EXPECT_EQ(status, 0);
    return to_text(get_file(scratch_ / "name"));
  }
};

TEST_F(WorkshopTest, IsPrivateMarkedAndGoes) {
  const auto before = work_.names();
  ASSERT_EQ(::chmod((scratch_ / "work").c_str(), 02777), 0);
  {
    const io::StagingDirectory staging(work_, "rule", "shown");
    struct stat status {};
    ASSERT_TRUE(staging.directory().status(status));
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    EXPECT_EQ(status.st_mode & S_ISGID, unsigned{S_ISGID}) << "what is made inside has the project's group";
    EXPECT_EQ(staging.directory().names(), std::vector<std::string>{".tare-marker"});
    put_file(scratch_ / "work" + "/" + staging.name() + "/x", {});
  }
  EXPECT_EQ(work_.names(), before);
}

TEST_F(WorkshopTest, OnlyOursAreSwept) {
  const std::string left = leave_behind(), old = leave_behind("old"), taken = leave_behind("taken");
  const io::StagingDirectory running(work_, "rule", "shown");
  std::vector<std::string> foreign = {".tare-backup", ".tare-models", ".tare-0123456789ab", ".tare-abcdefabcdef.x"};
  // A kill before the marker was written.
  fs::create_directory(scratch_ / "work/.tare-emptyempty00");
  fs::create_directory(scratch_ / "work/.tare-emptyempty01");
  put_file(scratch_ / "work/.tare-emptyempty01/.tare-marker", {});
  for (const std::string& name : foreign) {
    fs::create_directory(scratch_ / "work/" + name);
    put_file(scratch_ / "work/" + name + "/precious", to_bytes("mine"));
  }
  // A marker of another directory does not make this one ours. Here the user copied one under another name.
  const std::string kept = ".tare-keptkeptkept";
  fs::copy(scratch_ / "work/" + left, scratch_ / "work/" + kept, fs::copy_options::recursive);
  foreign.push_back(kept);
  foreign.push_back(running.name());

  EXPECT_EQ(io::abandoned_staging_directories(work_).size(), 3U);
  io::sweep_staging_directories(work_, false);
  EXPECT_FALSE(work_.has(left.c_str()));
  EXPECT_FALSE(work_.has(".tare-emptyempty00"));
  EXPECT_FALSE(work_.has(".tare-emptyempty01"));
  EXPECT_TRUE(work_.has(old.c_str())) << "the only place of the old model";
  EXPECT_TRUE(work_.has(taken.c_str()));
  io::sweep_staging_directories(work_, true);
  EXPECT_FALSE(work_.has(old.c_str()));
  EXPECT_FALSE(work_.has(taken.c_str()));
  for (const std::string& name : foreign) EXPECT_TRUE(work_.has(name.c_str())) << name;
  EXPECT_EQ(to_text(get_file(scratch_ / "work/.tare-0123456789ab/precious")), "mine");
}

TEST_F(WorkshopTest, ThoseOfOtherUsersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string left = leave_behind();
  ASSERT_EQ(::chown((scratch_ / "work/" + left).c_str(), 65534, 65534), 0);
  io::sweep_staging_directories(work_, true);
  EXPECT_TRUE(work_.has(left.c_str()));
}

TEST_F(WorkshopTest, WithFilesOfTheUserItIsNotRemoved) {
  std::string name;
  {
    const io::StagingDirectory staging(work_, "rule", "shown");
    name = staging.name();
    ASSERT_TRUE(staging.directory().make(io::kOld, 0700));
    put_file(scratch_ / "work/" + name + "/old/weights", to_bytes("mine"));
  }
  EXPECT_EQ(to_text(get_file(scratch_ / "work/" + name + "/old/weights")), "mine");
}

// The first name may be taken, by chance or on purpose.
TEST_F(WorkshopTest, ATakenNameIsNotTheEnd) {
  int asked = 0;
  io::set_step_hook(
      [&](const char* call, const char*) { return call == std::string("mkdir") && ++asked < 5 ? EEXIST : 0; });
  const io::StagingDirectory staging(work_, "rule", "shown");
  io::set_step_hook(nullptr);
  EXPECT_EQ(asked, 5);
  EXPECT_TRUE(staging.directory());
}

TEST_F(WorkshopTest, AnErrorAtAnyStepLeavesNothing) {
  const auto before = work_.names();
  for (const char* const failing : {"mkdir", "create"}) {
    io::set_step_hook([&](const char* call, const char*) { return call == std::string(failing) ? EIO : 0; });
    const auto error = error_of([&] { const io::StagingDirectory staging(work_, "the.rule", "shown"); });
    io::set_step_hook(nullptr);
    ASSERT_TRUE(error.has_value()) << failing;
    EXPECT_EQ(error->rule(), "the.rule");
    EXPECT_EQ(error->file(), "shown");
    EXPECT_EQ(work_.names(), before);
  }
}

// A process that a signal ends: unfinished files are removed, and none gets its name any more.
TEST_F(WorkshopTest, DiscardedWhileAnotherThreadIsAtWork) {
  const int status = run_child([&] {
    std::thread worker([&] {
      for (;;) {
        const io::StagingDirectory staging(work_, "rule", "shown");
        staging.directory().walk("a/b/c", true);
        staging.directory().create("f", 0600);
      }
    });
    worker.detach();
    for (int i = 0; i < 20; ++i) std::this_thread::yield();
    discard_unfinished();
    const Directory after = Directory::open((scratch_ / "work").c_str());
    for (int i = 0; i < 1000; ++i)
      for (const std::string& name : after.names())
        if (name.starts_with(".tare-")) return 1;
    return 0;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tare
