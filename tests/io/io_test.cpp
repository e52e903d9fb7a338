// Sources and sinks: refused files, truncated files, leftovers.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <thread>

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "io/directory.hpp"
#include "io/mapping_guard.hpp"
#include "tare/sink.hpp"
#include "tare/source.hpp"
#include "tare/unfinished.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(IoSource, MissingDirectoryFifoAndDevice) {
  const Scratch scratch;
  const auto missing = error_of([&] { open_file(scratch / "missing"); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->rule(), "io.open.missing");
  EXPECT_EQ(missing->kind(), ErrorKind::not_found);
  EXPECT_EQ(missing->file(), scratch / "missing");
  EXPECT_EQ(rule_of([&] { open_file(scratch.path()); }), "io.open.directory");
  ASSERT_EQ(::mkfifo((scratch / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(rule_of([&] { open_file(scratch / "fifo"); }), "io.open.not_a_file");
  EXPECT_EQ(rule_of([] { open_file("/dev/null"); }), "io.open.not_a_file");
  put_file(scratch / "file", to_bytes("x"));
  EXPECT_EQ(rule_of([&] { open_file(scratch / "file/below"); }), "io.open.refused");
  EXPECT_EQ(rule_of([&] { open(scratch / "missing"); }), "io.open.missing");
}

TEST(IoSource, UnreadableFile) {
  const Scratch scratch;
  const std::string path = scratch / "secret";
  put_file(path, to_bytes("x"));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  const int status = run_child([&] {
    // Root may read everything, so become another user.
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
    return rule_of([&] { open_file(path); }) == "io.open.refused" ? 0 : 2;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

class IoSourceKinds : public ::testing::TestWithParam<const char*> {
 protected:
  SourcePtr make(const Bytes& bytes) {
    const std::string kind = GetParam();
    if (kind == "memory") return memory_source(bytes, "f");
    if (kind == "borrowed") return borrow_memory(kept_ = bytes, "f");
    put_file(scratch_ / "f", bytes);
    return open_file(scratch_ / "f", kind == "mapped" ? Access::mapped : Access::pread);
  }
  Scratch scratch_;
  Bytes kept_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, IoSourceKinds, ::testing::Values("mapped", "pread", "memory", "borrowed"));

TEST_P(IoSourceKinds, ReadsAndBounds) {
  const Bytes bytes = noise(10000, 1);
  const SourcePtr source = make(bytes);
  EXPECT_EQ(source->size(), bytes.size());
  for (const auto& [offset, length] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 10000}, {1, 9999}, {4095, 2}, {10000, 0}, {0, 0}}) {
    Bytes out(length);
    source->read(offset, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
    if (const auto view = source->view(offset, length)) {
      EXPECT_TRUE(std::equal(out.begin(), out.end(), view->begin(), view->end()));
    }
  }
  EXPECT_EQ(source->view(0, 1).has_value(), std::string(GetParam()) != "pread");
  Bytes out(2);
  for (const std::uint64_t offset :
       {std::uint64_t{9999}, std::uint64_t{10001}, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63})
    EXPECT_EQ(rule_of([&] { source->read(offset, out); }), "io.source.bounds");
  EXPECT_EQ(rule_of([&] { source->view(5, UINT64_MAX); }), "io.source.bounds");
  EXPECT_EQ(rule_of([&] { source->view(10001, 0); }), "io.source.bounds");
}

TEST_P(IoSourceKinds, EmptyFile) {
  const SourcePtr source = make({});
  EXPECT_EQ(source->size(), 0U);
  source->read(0, {});
  source->check();
}

TEST(IoShrink, AViewOfLostBytesIsZeroAndCheckSaysSo) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  put_file(path, Bytes(100'000, std::byte{7}));
  const SourcePtr source = open_file(path);
  const auto view = source->view(0, 100'000);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ((*view)[99'999], std::byte{7});
  ASSERT_EQ(::truncate(path.c_str(), 10'000), 0);
  std::size_t sum = 0;
  for (const std::byte b : *view) sum += std::to_integer<std::size_t>(b);
  EXPECT_EQ(sum, 7U * 10'000);
  const auto error = error_of([&] { source->check(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "io.source.shrank");
  EXPECT_EQ(error->kind(), ErrorKind::io);
  EXPECT_EQ(error->file(), path);
  // If the file grows again, the mapped pages do not come back, so the error stays.
  ASSERT_EQ(::truncate(path.c_str(), 100'000), 0);
  EXPECT_EQ(rule_of([&] { source->check(); }), "io.source.shrank");
}

// Writes into a read-only array go to private pages, before and after the file is truncated.
TEST(IoShrinkDeathTest, WritesIntoAFileThatWasCutAreKept) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  constexpr std::size_t kSize = std::size_t{64} << 12;
  const int status = run_child([&] {
    put_file(path, Bytes(kSize, std::byte{7}));
    const SourcePtr source = open_file(path);
    const auto view = source->view(0, kSize);
    if (!view || !io::MappingGuard::let_write(*view)) return 1;
    if (io::MappingGuard::let_write(view->subspan(4096))) return 2;  // not exactly a view of the guard
    auto* const bytes = reinterpret_cast<volatile unsigned char*>(const_cast<std::byte*>(view->data()));
    if (::truncate(path.c_str(), 4096) != 0) return 3;
    // From the end to the beginning, so that a replaced page is not replaced again with those after it.
    for (std::size_t at = kSize; at-- > 0;) bytes[at] = static_cast<unsigned char>(bytes[at] + 1);
    for (std::size_t at = 0; at < kSize; ++at)
      if (bytes[at] != (at < 4096 ? 8 : 1)) return 4;
    return rule_of([&] { source->check(); }) == "io.source.shrank" ? 0 : 5;
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(IoShrinkDeathTest, ThreadsThatMeetTheSameCutKeepTheirWrites) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  constexpr std::size_t kSize = std::size_t{256} << 12;
  constexpr unsigned kThreads = 4;
  const int status = run_child([&] {
    for (int round = 0; round < 50; ++round) {
      put_file(path, Bytes(kSize, std::byte{7}));
      const SourcePtr source = open_file(path);
      const auto view = source->view(0, kSize);
      if (!view || !io::MappingGuard::let_write(*view) || ::truncate(path.c_str(), 0) != 0) return 1;
      auto* const bytes = reinterpret_cast<volatile unsigned char*>(const_cast<std::byte*>(view->data()));
      std::barrier together(kThreads);
      std::vector<std::jthread> threads;
      for (unsigned own = 0; own < kThreads; ++own)
        threads.emplace_back([&, own] {
          together.arrive_and_wait();
          for (std::size_t at = kSize + own; (at -= kThreads) >= kThreads;) bytes[at] = 1;
          bytes[own] = 1;
        });
      threads.clear();
      for (std::size_t at = 0; at < kSize; ++at)
        if (bytes[at] != 1) return 2;
    }
    return 0;
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A lock that a thread of the parent holds during a fork is not held in the child.
TEST(IoForkDeathTest, ChildrenOpenFilesWhileThreadsOfTheParentDo) {
  if (!kCountsMemory) GTEST_SKIP() << "a sanitizer's allocator keeps its locks in the child";
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f";
  put_file(path, Bytes(8192, std::byte{7}));
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      while (!stop) {
        static_cast<void>(open_file(path));
        static_cast<void>(create_file(scratch / fmt::format("g{}", i), {.overwrite = true}));
      }
    });
  int hung = 0;
  for (int i = 0; i < 400 && hung == 0; ++i) {
    const int status = run_child([&] {
      ::alarm(60);  // ends a child that waits for a thread that it does not have
      static_cast<void>(open_file(path));
      const auto sink = create_file(scratch / "h", {.overwrite = true});
      sink->write(to_bytes("x"));
      sink->commit();
      return 0;
    });
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++hung;
  }
  stop = true;
  EXPECT_EQ(hung, 0);
}

// A child does not discard what the parent began before the fork.
TEST(IoForkDeathTest, ChildrenDoNotDiscardWhatTheParentWrites) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  io::forbid_unnamed_files(true);
  const auto sink = create_file(path, {});
  io::forbid_unnamed_files(false);
  sink->write(to_bytes("whole"));
  EXPECT_EQ(run_child([&] {
              discard_unfinished();
              return 0;
            }),
            0);
  sink->commit();
  EXPECT_EQ(to_text(get_file(path)), "whole");
}

TEST(IoShrink, PreadSaysWhereItEnds) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  put_file(path, Bytes(100'000, std::byte{7}));
  for (const Access access : {Access::pread, Access::mapped}) {
    ASSERT_EQ(::truncate(path.c_str(), 100'000), 0);
    const SourcePtr source = open_file(path, access);
    ASSERT_EQ(::truncate(path.c_str(), 500), 0);
    Bytes out(100'000);
    const auto error = error_of([&] { source->read(0, out); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rule(), "io.source.shrank");
    EXPECT_EQ(error->offset(), 500U);
  }
}

// If another process truncates the input, writing ends in an error and leaves the old output unchanged.
TEST(IoShrink, ConvertWhileTheInputShrinks) {
  const Scratch scratch(Scratch::fast_place());
  Model model;
  model.tensors = {dense("w", {std::uint64_t{8} << 20}, DType::u8, Blob::memory(noise(std::size_t{8} << 20, 3)))};
  const Bytes whole = write_bytes(*find_format("zt"), model);
  const std::string in = scratch / "in.zt", out = scratch / "out.zt";
  put_file(out, to_bytes("old"));
  int failures = 0;
  for (int round = 0; round < 30; ++round) {
    put_file(in, whole);
    const pid_t child = start_child([&] {
      ::usleep(static_cast<unsigned>(round) * 150);
      return ::truncate(in.c_str(), round % 2 == 0 ? 4096 : static_cast<off_t>(whole.size() / 2));
    });
    ConvertOptions options{.overwrite = true};
    options.read.access = round % 3 == 0 ? Access::pread : Access::mapped;
    if (round % 5 == 1) options.write.digest = DigestAlgorithm::xxh3;
    if (round % 5 == 2) options.write.zstd_level = 1;
    const auto error = error_of([&] { convert(in, out, options); });
    end_of(child);
    if (error) {
      ++failures;
      EXPECT_TRUE(error->kind() == ErrorKind::io || error->kind() == ErrorKind::corrupt) << error->what();
    } else {
      EXPECT_EQ(content_digest(open(out)), content_digest(model));
      put_file(out, to_bytes("old"));
    }
    EXPECT_EQ(to_text(get_file(out)), "old");
    EXPECT_EQ(scratch.entries(), (std::vector<std::string>{"in.zt", "out.zt"}));
  }
  EXPECT_GT(failures, 0);
}

// A bus error outside our mappings ends the process as usual.
TEST(IoShrinkDeathTest, ForeignBusErrorsArePassedOn) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  put_file(path, Bytes(8192, std::byte{7}));
  const auto die = [&](bool by_fault) {
    return run_child([&] {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::close(STDERR_FILENO);                    // hides the report of a sanitizer
      const SourcePtr source = open_file(path);  // installs the guard
      if (!by_fault) {
        ::raise(SIGBUS);
        return 0;
      }
      const int fd = ::open(path.c_str(), O_RDWR);
      const auto* foreign = static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0));
      if (::ftruncate(fd, 0) != 0) return 1;
      return static_cast<int>(foreign[5000]) * 0;
    });
  };
  for (const bool by_fault : {true, false}) {
    const int status = die(by_fault);
    // Killed by the signal, or by a sanitizer that installed its handler first.
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

std::sig_atomic_t volatile bus_errors = 0;

TEST(IoShrinkDeathTest, AnEarlierHandlerIsCalled) {
  const int status = run_child([] {
    struct sigaction action {};
    action.sa_handler = [](int) { bus_errors = bus_errors + 1; };
    ::sigaction(SIGBUS, &action, nullptr);
    const Scratch scratch;
    put_file(scratch / "f", Bytes(100, std::byte{7}));
    const SourcePtr source = open_file(scratch / "f");
    ::raise(SIGBUS);
    return bus_errors == 1 ? 0 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(IoSink, ReplacesOnlyWhenAsked) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  put_file(path, to_bytes("old"));
  EXPECT_EQ(rule_of([&] { create_file(path); }), "io.sink.exists");
  EXPECT_EQ(to_text(get_file(path)), "old");
  {
    const auto sink = create_file(path, {.overwrite = true});
    sink->write(to_bytes("half"));  // is never committed
  }
  EXPECT_EQ(to_text(get_file(path)), "old");
  const auto sink = create_file(path, {.overwrite = true});
  sink->write(to_bytes("new"));
  EXPECT_EQ(to_text(get_file(path)), "old");
  sink->commit();
  EXPECT_EQ(to_text(get_file(path)), "new");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"f"});
}

TEST(IoSink, WhatAppearsMeanwhileIsNotReplaced) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  {
    const auto sink = create_file(path);
    sink->write(to_bytes("mine"));
    put_file(path, to_bytes("theirs"));
    EXPECT_EQ(rule_of([&] { sink->commit(); }), "io.sink.exists");
  }
  EXPECT_EQ(to_text(get_file(path)), "theirs");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"f"});
}

TEST(IoSink, PlacesThatCannotBeWritten) {
  const Scratch scratch;
  EXPECT_EQ(rule_of([&] { create_file(scratch / "none/f"); }), "io.sink.create");
  EXPECT_EQ(error_of([&] { create_file(scratch / "none/f"); })->kind(), ErrorKind::not_found);
  EXPECT_EQ(rule_of([&] { create_file(scratch.path()); }), "io.sink.directory");
  put_file(scratch / "file", to_bytes("x"));
  EXPECT_EQ(rule_of([&] { create_file(scratch / "file/f"); }), "io.sink.create");
  EXPECT_NE(rule_of([&] { create_file(scratch / std::string(300, 'n')); }), "");
  ASSERT_EQ(::mkdir((scratch / "closed").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  const int status = run_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
    return rule_of([&] { create_file(scratch / "closed/f"); }) == "io.sink.create" ? 0 : 2;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(IoSink, LongNamesAreFine) {
  const Scratch scratch;
  const std::string name(255, 'n');
  for (const bool overwrite : {false, true}) {
    const auto sink = create_file(scratch / name, {.overwrite = overwrite});
    sink->write(to_bytes("x"));
    sink->commit();
  }
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{name});
}

TEST(IoSink, LinksAreFollowedAndModesKept) {
  const Scratch scratch;
  ASSERT_EQ(::mkdir((scratch / "there").c_str(), 0755), 0);
  put_file(scratch / "there/real", to_bytes("old"));
  ASSERT_EQ(::chmod((scratch / "there/real").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("there/real", (scratch / "link").c_str()), 0);
  const auto write = [&](const std::string& path, std::string_view text) {
    const auto sink = create_file(path, {.overwrite = true});
    sink->write(to_bytes(text));
    sink->commit();
  };
  write(scratch / "link", "new");
  struct stat status {};
  ASSERT_EQ(::lstat((scratch / "link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::stat((scratch / "there/real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(to_text(get_file(scratch / "there/real")), "new");
  // A link to a file that does not exist yet: the file is created only if the options allow it, and never in place of
  // the link.
  ASSERT_EQ(::symlink("there/later", (scratch / "dangling").c_str()), 0);
  EXPECT_EQ(rule_of([&] { create_file(scratch / "dangling"); }), "io.sink.link");
  EXPECT_NE(::access((scratch / "there/later").c_str(), F_OK), 0);
  write(scratch / "dangling", "made");
  ASSERT_EQ(::lstat((scratch / "dangling").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_EQ(to_text(get_file(scratch / "there/later")), "made");
  ASSERT_EQ(::symlink("loop", (scratch / "loop").c_str()), 0);
  EXPECT_NE(rule_of([&] { create_file(scratch / "loop", {.overwrite = true}); }), "");
}

// Links that other users create, before and after we check.
TEST(IoSink, LinksOfOthersAreNotFollowed) {
  const Scratch scratch;
  put_file(scratch / "precious", to_bytes("mine"));
  ASSERT_EQ(::symlink("precious", (scratch / "planted").c_str()), 0);
  for (const bool overwrite : {false, true}) {
    const std::string path = scratch / (overwrite ? "forced" : "plain");
    const auto sink = create_file(path, {.overwrite = overwrite});
    sink->write(to_bytes("new"));
    ASSERT_EQ(::symlink(overwrite ? "precious" : "nowhere", path.c_str()), 0);
    EXPECT_EQ(rule_of([&] { sink->commit(); }), overwrite ? "" : "io.sink.exists");
    struct stat status {};
    ASSERT_EQ(::lstat(path.c_str(), &status), 0);
    EXPECT_EQ(S_ISLNK(status.st_mode), !overwrite) << "replaced, not followed";
  }
  EXPECT_NE(::access((scratch / "nowhere").c_str(), F_OK), 0);
  EXPECT_EQ(to_text(get_file(scratch / "precious")), "mine");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown((scratch / "planted").c_str(), 65534, 65534), 0);
  for (const bool overwrite : {false, true})
    EXPECT_EQ(rule_of([&] { create_file(scratch / "planted", {.overwrite = overwrite}); }), "io.sink.link");
  EXPECT_EQ(to_text(get_file(scratch / "precious")), "mine");
}

TEST(IoSink, OwnLinksAreNotFollowedWhereAnybodyCanMoveThem) {
  const Scratch scratch;
  put_file(scratch / "precious", to_bytes("mine"));
  ASSERT_EQ(::mkdir((scratch / "shared").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("../precious", (scratch / "shared/out").c_str()), 0);
  const auto rule = [&](mode_t mode, bool follow) {
    EXPECT_EQ(::chmod((scratch / "shared").c_str(), mode), 0);
    return rule_of([&] { create_file(scratch / "shared/out", {.overwrite = true, .follow_links = follow}); });
  };
  EXPECT_EQ(rule(0777, true), "io.sink.link");
  EXPECT_EQ(rule(01777, true), "");
  EXPECT_EQ(rule(0775, true), "") << "the group is the user's own on many systems";
  EXPECT_EQ(rule(0700, false), "io.sink.link");
  EXPECT_EQ(to_text(get_file(scratch / "precious")), "mine");
}

// File systems without O_TMPFILE: until the file has its name, it is in a hidden directory.
TEST(IoSink, WithoutUnnamedFiles) {
  io::forbid_unnamed_files(true);
  const Scratch scratch;
  const std::string path = scratch / "f";
  const auto write = [&](bool overwrite, std::string_view text) {
    const auto sink = create_file(path, {.overwrite = overwrite});
    EXPECT_EQ(scratch.entries().front().substr(0, 6), ".tare-");
    struct stat status {};
    EXPECT_EQ(::stat((scratch / scratch.entries().front()).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    sink->write(to_bytes(text));
    if (!text.empty()) sink->commit();
  };
  write(false, "first");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"f"});
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  write(true, "second");
  write(true, "");  // is never committed
  EXPECT_EQ(to_text(get_file(path)), "second");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  const auto late = create_file(scratch / "g");
  put_file(scratch / "g", to_bytes("theirs"));
  EXPECT_EQ(rule_of([&] { late->commit(); }), "io.sink.exists");
  EXPECT_EQ(to_text(get_file(scratch / "g")), "theirs");
  // The next file in this directory removes what a kill left.
  run_child([&] {
    create_file(scratch / "h").release();
    return 0;
  });
  EXPECT_EQ(scratch.entries().size(), 4U) << "two files, ours in use, one left";
  create_file(scratch / "h")->commit();
  EXPECT_EQ(scratch.entries().size(), 4U) << "three files, ours in use";
  io::forbid_unnamed_files(false);
}

// An unnamed file gets its name through /proc. If that is not mounted, another way is used.
TEST(IoSink, WithoutProc) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may chroot";
  const Scratch scratch;
  const int status = run_child([&] {
    if (::chroot(scratch.path().c_str()) != 0 || ::chdir("/") != 0) return 77;
    for (const bool overwrite : {false, true}) {
      const auto sink = create_file("/f", {.overwrite = overwrite});
      sink->write(to_bytes("new"));
      sink->commit();
    }
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "chroot is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"f"});
  EXPECT_EQ(to_text(get_file(scratch / "f")), "new");
}

TEST(IoSink, WhatWasWrittenCanBeReadWhenTheSinkIsGone) {
  const Scratch scratch;
  SourcePtr written;
  {
    const auto sink = create_file(scratch / "f");
    sink->write(to_bytes("text"));
    written = sink->written();
  }
  // By now the sink's descriptor number belongs to another file.
  put_file(scratch / "other", to_bytes("else"));
  const int other = ::open((scratch / "other").c_str(), O_RDONLY);
  Bytes found(4);
  written->read(0, found);
  EXPECT_EQ(to_text(found), "text");
  ::close(other);
}

// If the size is known in advance, a lack of space is reported before anything is written.
TEST(IoSink, NoRoomIsSaidBeforeTheWork) {
  const Scratch scratch(Scratch::fast_place());
  struct statfs system {};
  ASSERT_EQ(::statfs(scratch.path().c_str(), &system), 0);
  if (system.f_type != TMPFS_MAGIC || system.f_blocks == 0) GTEST_SKIP() << "no file system here that can tell";
  const auto sink = create_file(scratch / "f");
  sink->skip(1000);
  const auto error =
      error_of([&] { sink->skip((system.f_blocks + 1000) * static_cast<std::uint64_t>(system.f_bsize)); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "io.sink.full");
  EXPECT_EQ(error->file(), scratch / "f");
}

TEST(IoSink, ModesFollowTheUmaskAndDropSpecialBits) {
  const int status = run_child([] {
    const Scratch scratch;
    const auto mode_of = [&](const std::string& name) {
      struct stat s {};
      ::stat((scratch / name).c_str(), &s);
      return s.st_mode & 07777;
    };
    for (const mode_t mask : {mode_t{022}, mode_t{077}, mode_t{0}}) {
      ::umask(mask);
      const std::string name = std::to_string(mask);
      create_file(scratch / name)->commit();
      if (mode_of(name) != (0666U & ~mask)) return 1;
      if (::umask(mask) != mask) return 2;
    }
    // New content does not inherit the set-user-ID bit of the old file.
    put_file(scratch / "suid", to_bytes("x"));
    ::chmod((scratch / "suid").c_str(), 04755);
    create_file(scratch / "suid", {.overwrite = true})->commit();
    return mode_of("suid") == 0755 ? 0 : 3;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(IoSink, ThroughAFifo) {
  const Scratch scratch;
  const std::string path = scratch / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(rule_of([&] { create_file(path, {}); }), "io.sink.exists") << "without waiting for a reader";
  Bytes got;
  std::thread reader([&] { got = get_file(path); });
  const Bytes expected = write_bytes(*find_format("zt"), small_model(find_format("zt")->holds));
  put_file(scratch / "in.zt", expected);
  convert(scratch / "in.zt", path, {.to = "zt", .overwrite = true});
  reader.join();
  EXPECT_TRUE(got == expected);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST(IoSink, ForwardOnlySinksSaySo) {
  const Scratch scratch;
  const int fd = ::open((scratch / "f").c_str(), O_CREAT | O_RDWR, 0600);
  const auto sink = descriptor_sink(fd, "f");
  sink->write(to_bytes("abc"));
  EXPECT_FALSE(sink->positional());
  EXPECT_EQ(rule_of([&] { sink->skip(4); }), "io.sink.forward");
  EXPECT_EQ(rule_of([&] { sink->rewind(0); }), "io.sink.forward");
  EXPECT_EQ(rule_of([&] { sink->write_at(0, to_bytes("x")); }), "io.sink.forward");
  sink->align(8);
  EXPECT_EQ(sink->position(), 8U);
  ::close(fd);
  EXPECT_EQ(get_file(scratch / "f"), to_bytes(std::string("abc\0\0\0\0\0", 8)));
}

TEST(IoSink, SkippedBytesAreZeroAndWrittenInAnyOrder) {
  const Scratch scratch;
  for (const bool memory : {true, false}) {
    std::unique_ptr<Sink> sink;
    if (memory)
      sink = std::make_unique<MemorySink>();
    else
      sink = create_file(scratch / "f");
    sink->write(to_bytes("ab"));
    sink->skip(6);
    sink->write(to_bytes("end"));
    sink->write_at(4, to_bytes("XY"));
    sink->write(to_bytes("junk"));
    sink->rewind(11);
    sink->write(to_bytes("!"));
    sink->commit();
    const std::string expected("ab\0\0XY\0\0end!", 12);
    const Bytes found = memory ? dynamic_cast<MemorySink&>(*sink).bytes() : get_file(scratch / "f");
    EXPECT_EQ(to_text(found).substr(0, expected.size()), expected);
    EXPECT_EQ(found.size(), expected.size());
  }
}

// A full disk is an error; the old output is unchanged and nothing is left over.
void expect_full(const Scratch& scratch, const std::string& in, const std::string& out) {
  for (int variant = 0; variant < 3; ++variant) {
    ConvertOptions options{.overwrite = true};
    if (variant == 1) options.write.digest = DigestAlgorithm::crc32c;
    if (variant == 2) options.read.access = Access::pread;
    const auto error = error_of([&] { convert(in, out, options); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "io.sink.full") << error->what();
    EXPECT_EQ(error->kind(), ErrorKind::io);
    EXPECT_EQ(to_text(get_file(out)), "old");
    EXPECT_EQ(scratch.entries(), std::vector<std::string>{"out.zt"});
  }
}

TEST(IoSink, FullDisk) {
  const Scratch inputs(Scratch::fast_place()), scratch(Scratch::fast_place());
  Model model;
  model.tensors = {dense("w", {std::uint64_t{3} << 20}, DType::u8, Blob::memory(noise(std::size_t{3} << 20, 3)))};
  put_file(inputs / "in.zt", write_bytes(*find_format("zt"), model));
  const bool mounted = ::geteuid() == 0 && ::mount("none", scratch.path().c_str(), "tmpfs", 0, "size=1m") == 0;
  put_file(scratch / "out.zt", to_bytes("old"));
  const int status = run_child([&] {
    // If no small file system can be mounted, a limit on the size of files has the same effect.
    if (!mounted) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{1 << 20, 1 << 20};
      ::setrlimit(RLIMIT_FSIZE, &small);
    }
    expect_full(scratch, inputs / "in.zt", scratch / "out.zt");
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(to_text(get_file(scratch / "out.zt")), "old");
  if (mounted) ::umount2(scratch.path().c_str(), MNT_DETACH);
}

TEST(IoSink, ConvertOntoItself) {
  const Scratch scratch;
  const std::string path = scratch / "f.zt";
  Model model;
  model.tensors = {make_dense("w", {1 << 16}, DType::f32)};
  put_file(path, write_bytes(*find_format("zt"), model));
  EXPECT_EQ(rule_of([&] { convert(path, path); }), "io.sink.exists");
  convert(path, path, {.write = {.zstd_level = 3, .digest = DigestAlgorithm::sha256}, .overwrite = true});
  EXPECT_EQ(content_digest(open(path)), content_digest(model));
  EXPECT_TRUE(verify(path).ok(true));
}

}  // namespace
}  // namespace tare
