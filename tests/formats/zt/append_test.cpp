// Appends tensors to a file in place. kill_test.cpp tests the effects of a kill.
#include "tare/append.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"
#include "formats/zt/zt.hpp"

namespace tare {
namespace {

using namespace tare::testing;

class ZtAppend : public ::testing::Test {
 protected:
  ZtAppend() {
    base_.tensors = {make_dense("b", {30}, DType::f32, "", 1), make_csr("csr")};
    base_.metadata.set("k", "v");
    base_.config.hidden_size = 4;
    base_.attachments = {{"config.json", Blob::memory(to_bytes("{}"))}};
    extra_.tensors = {make_dense("a", {1000}, DType::f32, "", 2), make_group("group"),
                      make_dense("none", {0}, DType::u8)};
    extra_.metadata.set("k", "w");
    extra_.metadata.set("n", 1);
    extra_.attachments = {{"more.json", Blob::memory(to_bytes("[]"))}};
    put_file(path_, write_bytes(*find_format("zt"), base_));
  }
  Model expected() const {
    Model all = base_;
    all.tensors.insert(all.tensors.end(), extra_.tensors.begin(), extra_.tensors.end());
    all.metadata = extra_.metadata;
    all.attachments.insert(all.attachments.end(), extra_.attachments.begin(), extra_.attachments.end());
    return all;
  }
  void expect_refused(const std::string& rule, const Model& extra) {
    const Bytes before = get_file(path_);
    const auto error = error_of([&] { append(path_, extra); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), rule) << error->what();
    EXPECT_FALSE(error->file().empty());
    EXPECT_TRUE(get_file(path_) == before);
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "f.zt";
  Model base_, extra_;
};

// Reading the metadata of the file that grows has the budget of `open`.
TEST(Append, IsBoundedLikeOpen) {
  const Scratch scratch;
  Model hostile;
  hostile.metadata.set("zeros", List(1'000'000, Value(std::int64_t{0})));
  Model extra;
  extra.tensors = {make_dense("w", {3}, DType::f32)};
  for (const char* const name : {"zt", "zt2"}) {
    const std::string path = scratch / name;
    put_file(path, write_bytes(*find_format(name), hostile));
    EXPECT_EQ(rule_of([&] { (void)open(path); }), "open.values") << name;
    const Bytes before = get_file(path);
    EXPECT_EQ(rule_of([&] { (void)append(path, extra); }), "open.values") << name;
    EXPECT_TRUE(get_file(path) == before) << name;
  }
}

TEST_F(ZtAppend, AddsWithoutRewriting) {
  const std::uint64_t kReaches[] = {zt::kMaxManifest, std::uint64_t{64} << 10};
  const Bytes original = get_file(path_);
  for (const std::uint64_t reach : kReaches)
    for (const WriteOptions& options : {WriteOptions{}, WriteOptions{.digest = DigestAlgorithm::sha256},
                                        WriteOptions{.zstd_level = 3, .digest = DigestAlgorithm::crc32c}}) {
      put_file(path_, original);
      struct stat before {
      }, after{};
      ASSERT_EQ(::stat(path_.c_str(), &before), 0);
      std::uint64_t data_end = 0;
      for (const Tensor& tensor : open(path_).tensors)
        for (const Component& c : tensor.components)
          data_end = std::max(data_end, c.blob.offset() + c.blob.stored_size());
      zt::append(path_, extra_, options, reach);
      ASSERT_EQ(::stat(path_.c_str(), &after), 0);
      EXPECT_EQ(after.st_ino, before.st_ino);
      const Bytes now = get_file(path_);
      EXPECT_TRUE(std::equal(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(data_end), now.begin()));
      const Model found = open(path_);
      expect_same(expected(), found, find_format("zt")->holds);
      EXPECT_EQ(found.tensors.front().name, "b");
      EXPECT_EQ(found.tensor("a")->components[0].blob.digest().algorithm(),
                options.digest.value_or(DigestAlgorithm::none));
      const Verification result = verify(path_);
      EXPECT_TRUE(result.ok(true)) << result.findings.at(0).sentence;
    }
}

TEST_F(ZtAppend, AgainAndAgain) {
  for (int i = 0; i < 20; ++i) {
    Model more;
    more.tensors = {make_dense("t" + std::to_string(i), {50U + static_cast<unsigned>(i)}, DType::f32, "",
                               static_cast<unsigned>(i))};
    append(path_, more, {.digest = DigestAlgorithm::crc32c});
    EXPECT_EQ(open(path_).tensors.size(), 3U + static_cast<unsigned>(i));
  }
  EXPECT_TRUE(verify(path_).ok(true));
}

TEST_F(ZtAppend, NothingToAdd) {
  append(path_, {});
  expect_same(base_, open(path_), find_format("zt")->holds);
  EXPECT_TRUE(verify(path_).ok(true));
}

TEST_F(ZtAppend, ToAnEmptyFile) {
  put_file(path_, write_bytes(*find_format("zt"), Model()));
  append(path_, extra_);
  EXPECT_EQ(open(path_).tensors.size(), 3U);
  EXPECT_TRUE(verify(path_).ok(true));
}

TEST_F(ZtAppend, ToAFileOfAnOlderVersion) {
  using namespace zt_text;
  const std::string frame = packed_stream(kTwoFloats);
  Entries zipped = component(64, frame.size());
  zipped.emplace_back("encoding", cbor::text("zstd"));
  Entries w = dense_object(zipped);
  w.emplace_back("later", cbor::number(3));
  put_file(path_, file(frame, cbor::map(cbor::with(root({{"w", cbor::map(w)}}, "1.1.0"), "unknown", cbor::number(7)))));
  append(path_, extra_);
  const Model found = open(path_);
  EXPECT_EQ(found.version, "1.2.0");
  EXPECT_EQ(to_text(found.tensor("w")->components[0].blob.bytes()), kTwoFloats);
  EXPECT_NE(to_text(get_file(path_)).find("unknown"), std::string::npos);
  EXPECT_NE(to_text(get_file(path_)).find("later"), std::string::npos);
  EXPECT_TRUE(verify(path_).ok(true));
}

TEST_F(ZtAppend, ClashesLeaveTheFileAlone) {
  Model clash;
  clash.tensors = {make_dense("x", {1}, DType::f32), make_dense("b", {1}, DType::f32)};
  expect_refused("zt.append.exists", clash);
  clash.tensors = {};
  clash.attachments = {{"config.json", Blob::memory({})}};
  expect_refused("zt.append.exists", clash);
  clash.attachments = {};
  clash.config.hidden_size = 5;
  expect_refused("zt.append.exists", clash);
  clash.config = {};
  clash.tensors = {make_dense("x", {1}, DType::f32), make_dense("x", {1}, DType::f32)};
  expect_refused("zt.write.duplicate", clash);
  clash.tensors = {make_dense("\xFF", {1}, DType::f32)};
  expect_refused("zt.write.name", clash);
}

TEST_F(ZtAppend, ALockedFileIsLeftAlone) {
  const int other = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  expect_refused("zt.append.locked", extra_);
  ::close(other);
  append(path_, extra_);
}

TEST_F(ZtAppend, FilesThatCannotGrow) {
  using namespace zt_text;
  put_file(path_, file_v01("", "\x80"));
  expect_refused("zt.append.version", extra_);
  put_file(path_, file_v10("", cbor::map({{"version", cbor::text("1.0")}, {"tensors", "\xA0"}})));
  expect_refused("zt.append.version", extra_);
  put_file(path_, write_bytes(*find_format("npz"), small_model(find_format("npz")->holds)));
  expect_refused("append.format", extra_);
  EXPECT_EQ(rule_of([&] { zt::append(path_, extra_, {}); }), "zt.append.format");
  put_file(path_, to_bytes("<html>"));
  expect_refused("open.unrecognized", extra_);
  put_file(path_, write_bytes(*find_format("zt"), base_));
  EXPECT_EQ(rule_of([&] { zt::append(path_, extra_, {}, 512); }), "zt.append.manifest");
  EXPECT_EQ(rule_of([&] { append(scratch_ / "missing.zt", extra_); }), "io.open.missing");
  EXPECT_EQ(rule_of([&] { append(scratch_.path(), extra_); }), "io.open.directory");
}

// The data turns out to be bad half way: everything is undone.
TEST_F(ZtAppend, AFailureHalfWayIsUndone) {
  const Bytes before = get_file(path_);
  Model bad = extra_;
  Bytes bytes = noise(100, 1);
  const SourcePtr source = memory_source(bytes, "other");
  bad.tensors.push_back(
      dense("bad", {100}, DType::u8, Blob::range(source, 0, 100, Digest(DigestAlgorithm::crc32c, Bytes(4)))));
  expect_refused("digest.mismatch", bad);
  EXPECT_TRUE(get_file(path_) == before);
}

TEST_F(ZtAppend, AFullDiskIsUndone) {
  const Bytes before = get_file(path_);
  Model big;
  big.tensors = {make_dense("big", {1 << 20}, DType::f32)};
  const int status = run_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &small);
    return rule_of([&] { zt::append(path_, big, {}, std::uint64_t{256} << 10); }) == "io.sink.full" ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(get_file(path_) == before);
}

// Reading an open model of a file that grew is an error, so that no program mixes the old file and the new one.
TEST_F(ZtAppend, AnOpenModelSaysThatTheFileGrew) {
  const Model opened = open(path_);
  append(path_, extra_);
  EXPECT_EQ(rule_of([&] { content_digest(opened); }), "io.source.changed");
}

// What was read decides where the file is truncated: both must be the same file, whatever the path refers to by then.
TEST_F(ZtAppend, OfAFileThatChangedIsAnError) {
  const std::string other = scratch_ / "other.zt";
  Model more;
  more.tensors = {make_dense("more", {1000}, DType::f32, "", 2)};
  put_file(other, write_bytes(*find_format("zt"), more));
  const Model opened = open(other, {.access = Access::pread});
  Bytes bytes = get_file(other);
  bytes[bytes.size() / 2] ^= std::byte{1};
  put_file(other, bytes);
  expect_refused("io.source.changed", opened);
}

TEST_F(ZtAppend, ALinkOfAnotherUserIsNotFollowed) {
  std::filesystem::create_symlink(path_, scratch_ / "link.zt");
  append(scratch_ / "link.zt", extra_);
  EXPECT_GT(open(path_).tensors.size(), base_.tensors.size());
  if (::geteuid() != 0) return;
  ASSERT_EQ(::lchown((scratch_ / "link.zt").c_str(), 65534, 65534), 0);
  EXPECT_EQ(rule_of([&] { append(scratch_ / "link.zt", extra_); }), "io.sink.link");
}

}  // namespace
}  // namespace tare
