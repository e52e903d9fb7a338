// Kills at any moment: a converted file is completely the old one or the new one; an appended file can always be read.
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "conformance/models.hpp"
#include "conformance/steps.hpp"
#include "formats/zt/zt.hpp"
#include "io/staging_directory.hpp"
#include "io/unfinished.hpp"
#include "tare/unfinished.hpp"

namespace tare {
namespace {

using namespace tare::testing;

std::string zt_of(const Model& model, const WriteOptions& options = {}) {
  return to_text(write_bytes(*find_format("zt"), model, options));
}

Model two_versions(std::uint64_t seed, std::size_t bytes) {
  Model model;
  model.tensors = {dense("w", {bytes}, DType::u8, Blob::memory(noise(bytes, seed)))};
  return model;
}

// Ends the process as the thread of a signal does, starting just before the given change.
void end_at_step(int at) {
  static std::atomic<bool> come{false};
  std::thread([] {
    while (!come.load()) std::this_thread::yield();
    discard_unfinished();
    ::_exit(7);
  }).detach();
  io::set_step_hook([at](const char*, const char*) mutable {
    if (at-- == 0) come.store(true);
    return 0;
  });
}

class KillConvert : public ::testing::Test {
 protected:
  // The only leftover allowed is one of our staging directories, which the next run removes.
  void expect_old_or_new(bool may_be_missing) {
    io::sweep_staging_directories(io::Directory::open(scratch_.path().c_str()), false);
    for (const std::string& name : scratch_.entries()) {
      ASSERT_EQ(name, "out.zt");
      const std::string found = to_text(get_file(scratch_ / name));
      EXPECT_TRUE(found == old_ || found == new_) << found.size();
    }
    EXPECT_TRUE(may_be_missing || ::access((scratch_ / "out.zt").c_str(), F_OK) == 0);
  }
  int convert_it(bool overwrite) {
    convert(inputs_ / "in.zt", scratch_ / "out.zt", {.to = "zt", .overwrite = overwrite, .work = {.threads = 1}});
    return 0;
  }

  const Scratch scratch_{Scratch::fast_place()}, inputs_{Scratch::fast_place()};
  const std::string old_ = zt_of(two_versions(1, 1000)), new_ = zt_of(two_versions(2, 100'000));
};

TEST_F(KillConvert, BeforeEveryStep) {
  put_file(inputs_ / "in.zt", to_bytes(new_));
  for (const bool unnamed : {true, false})
    for (const bool overwrite : {true, false}) {
      io::forbid_unnamed_files(!unnamed);
      ::unlink((scratch_ / "out.zt").c_str());
      int step = 0;
      for (;; ++step) {
        ASSERT_LT(step, 200);
        if (overwrite)
          put_file(scratch_ / "out.zt", to_bytes(old_));
        else
          ::unlink((scratch_ / "out.zt").c_str());
        const Stopped stopped = kill_before_step(step, [&] { return convert_it(overwrite); });
        if (stopped == Stopped::not_allowed) GTEST_SKIP() << "this system does not let us trace a child";
        // A new name: at no moment does any other file exist.
        if (!overwrite && unnamed) {
          EXPECT_LE(scratch_.entries().size(), 1U) << "step " << step;
        }
        expect_old_or_new(!overwrite);
        if (stopped == Stopped::finished) break;
      }
      EXPECT_GE(step, 4);
      EXPECT_EQ(to_text(get_file(scratch_ / "out.zt")), new_);
    }
  io::forbid_unnamed_files(false);
}

// A signal, unlike a kill, leaves nothing at all.
TEST_F(KillConvert, ASignalAtAnyStepLeavesNothingElse) {
  put_file(inputs_ / "in.zt", to_bytes(new_));
  for (const bool unnamed : {true, false})
    for (int at = 0;; ++at) {
      put_file(scratch_ / "out.zt", to_bytes(old_));
      const int status = run_child([&] {
        io::forbid_unnamed_files(!unnamed);
        end_at_step(at);
        return convert_it(true);
      });
      ASSERT_TRUE(WIFEXITED(status));
      ASSERT_EQ(scratch_.entries(), std::vector<std::string>{"out.zt"});
      expect_old_or_new(false);
      if (WEXITSTATUS(status) == 0) break;
      ASSERT_EQ(WEXITSTATUS(status), 7);
      ASSERT_LT(at, 100);
    }
}

TEST_F(KillConvert, AtRandomMoments) {
  put_file(inputs_ / "in.zt", to_bytes(new_));
  put_file(scratch_ / "out.zt", to_bytes(old_));
  unsigned random = 1;
  for (int round = 0; round < 150; ++round) {
    const pid_t child = start_child([&] {
      for (;;) convert_it(true);
      return 0;
    });
    random = random * 1103515245 + 12345;
    kill_after(child, (random >> 8) % 4000);
    expect_old_or_new(false);
  }
}

class KillAppend : public ::testing::Test {
 protected:
  KillAppend() {
    base_.tensors = {make_dense("a", {300}, DType::f32, "", 1), make_dense("b", {10}, DType::u8, "", 2)};
    base_.metadata.set("k", "v");
    for (int i = 0; i < 3; ++i)
      extra_.tensors.push_back(
          make_dense("new." + std::to_string(i), {20'000}, DType::f32, "", 5U + static_cast<unsigned>(i)));
    extra_.metadata.set("added", true);
    both_ = base_;
    both_.tensors.insert(both_.tensors.end(), extra_.tensors.begin(), extra_.tensors.end());
    old_digest_ = content_digest(base_);
    new_digest_ = content_digest(both_);
    old_file_ = to_bytes(zt_of(base_));
  }

  // Checks that the file opens, verifies, and holds the old tensors or all of them. Returns whether the new ones exist.
  bool check() {
    const Verification result = verify(path_);
    EXPECT_TRUE(result.ok(false)) << (result.findings.empty() ? "" : result.findings[0].sentence);
    const Model found = open(path_);
    const std::string digest = content_digest(found);
    EXPECT_TRUE(digest == old_digest_ || digest == new_digest_);
    EXPECT_EQ(found.metadata.find("added") != nullptr, digest == new_digest_);
    return digest == new_digest_;
  }
  // After a kill, the next append works as if nothing had happened.
  void append_again(const WriteOptions& options, std::uint64_t reach) {
    const bool there = check();
    if (!there) zt::append(path_, extra_, options, reach);
    EXPECT_TRUE(check());
    Model more;
    more.tensors = {make_dense("more", {3}, DType::f32)};
    zt::append(path_, more, options, reach);
    const Model found = open(path_);
    EXPECT_EQ(found.tensors.size(), 6U);
    EXPECT_TRUE(verify(path_).ok(false));
    if (!there) {
      EXPECT_TRUE(verify(path_).ok(true)) << verify(path_).findings.at(0).sentence;
    }
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "f.zt";
  Model base_, extra_, both_;
  std::string old_digest_, new_digest_;
  Bytes old_file_;
};

TEST_F(KillAppend, BeforeEveryStep) {
  for (const std::uint64_t reach : {zt::kMaxManifest, std::uint64_t{64} << 10, std::uint64_t{32} << 10})
    for (const bool zstd : {false, true}) {
      WriteOptions options{.digest = DigestAlgorithm::crc32c, .work = {.threads = 1}};
      if (zstd) options.zstd_level = 1;
      int step = 0, whole = 0;
      for (;; ++step) {
        ASSERT_LT(step, 400);
        put_file(path_, old_file_);
        const Stopped stopped = kill_before_step(step, [&] {
          zt::append(path_, extra_, options, reach);
          return 0;
        });
        if (stopped == Stopped::not_allowed) GTEST_SKIP() << "this system does not let us trace a child";
        SCOPED_TRACE("reach " + std::to_string(reach) + ", step " + std::to_string(step));
        whole += check() ? 1 : 0;
        append_again(options, reach);
        if (stopped == Stopped::finished) break;
        if (HasFailure()) return;
      }
      EXPECT_GE(step, 8);
      EXPECT_GE(whole, 1);
    }
}

// A signal while several threads write: the file is truncated to its old end, or has everything that was added.
TEST_F(KillAppend, ASignalCutsTheFile) {
  int ended = 0;
  // On a busy machine, the signal may come too late sixty times in a row.
  for (int round = 0; (round < 60 || (ended == 0 && round < 6000)) && !HasFailure(); ++round) {
    put_file(path_, old_file_);
    const int status = run_child([&] {
      std::thread([round] {
        ::usleep(static_cast<useconds_t>(round % 60) * 20);
        discard_unfinished();
        ::_exit(7);
      }).detach();
      zt::append(path_, extra_, {.work = {.threads = 3}}, std::uint64_t{256} << 10);
      return 0;
    });
    ASSERT_TRUE(WIFEXITED(status));
    SCOPED_TRACE("round " + std::to_string(round));
    if (!check()) {
      ++ended;
      EXPECT_TRUE(get_file(path_) == old_file_);
    }
  }
  EXPECT_GT(ended, 0);
}

TEST_F(KillAppend, AtRandomMoments) {
  // Several MB, so that kills fall inside large writes too.
  for (Tensor& tensor : extra_.tensors) tensor = make_dense(tensor.name, {300'000}, DType::f32, "", 3);
  both_ = base_;
  both_.tensors.insert(both_.tensors.end(), extra_.tensors.begin(), extra_.tensors.end());
  new_digest_ = content_digest(both_);
  unsigned random = 7;
  int kills = 0;
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    put_file(path_, old_file_);
    const std::uint64_t reach = round % 2 == 0 ? zt::kMaxManifest : std::uint64_t{256} << 10;
    const pid_t child = start_child([&] {
      zt::append(path_, extra_, {.work = {.threads = 1U + static_cast<unsigned>(round) % 3}}, reach);
      return 0;
    });
    random = random * 1103515245 + 12345;
    const int status = kill_after(child, (random >> 8) % 6000);
    kills += WIFSIGNALED(status) ? 1 : 0;
    SCOPED_TRACE("round " + std::to_string(round));
    check();
    if (round % 10 == 0) append_again({.work = {.threads = 1}}, reach);
  }
  EXPECT_GT(kills, 0);
}

}  // namespace
}  // namespace tare
