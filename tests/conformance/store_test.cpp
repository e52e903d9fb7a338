// Files of content-addressed stores that are reached through links: no verb changes them, for any container.
#include <sys/stat.h>

#include "conformance/models.hpp"
#include "tare/append.hpp"
#include "tare/metadata.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

std::vector<const Format*> file_formats() {
  std::vector<const Format*> chosen;
  for (const Format& format : formats())
    if (format.write != nullptr) chosen.push_back(&format);
  return chosen;
}

// The layout of Hugging Face's cache: two revisions, one file.
class HubLink : public ::testing::TestWithParam<const Format*> {
 protected:
  void SetUp() override {
    for (const char* const revision : {"r1", "r2"})
      fs::create_directories(scratch_ / ("snapshots/" + std::string(revision)));
    fs::create_directories(scratch_ / "blobs");
    blob_ = scratch_ / ("blobs/" + std::string(64, 'a'));
    const std::string file = "model" + std::string(GetParam()->suffixes.front());
    bytes_ = write_bytes(*GetParam(), small_model(GetParam()->holds));
    put_file(blob_, bytes_);
    ASSERT_EQ(::chmod(blob_.c_str(), 0640), 0);
    ASSERT_EQ(::stat(blob_.c_str(), &before_), 0);
    for (const char* const revision : {"r1", "r2"})
      fs::create_symlink("../../blobs/" + std::string(64, 'a'),
                         scratch_ / (std::string("snapshots/") + revision + "/" + file));
    first_ = scratch_ / ("snapshots/r1/" + file);
    second_ = scratch_ / ("snapshots/r2/" + file);
  }
  // The stored file is unchanged, whatever was done through any name.
  void TearDown() override {
    struct stat after {};
    ASSERT_EQ(::stat(blob_.c_str(), &after), 0);
    EXPECT_EQ(after.st_ino, before_.st_ino);
    EXPECT_EQ(after.st_mtim.tv_nsec, before_.st_mtim.tv_nsec);
    EXPECT_EQ(get_file(blob_), bytes_);
    EXPECT_TRUE(fs::is_symlink(second_)) << "the other revision";
  }
  void expect_own_file(const std::string& path) const {
    struct stat status {};
    ASSERT_EQ(::lstat(path.c_str(), &status), 0);
    EXPECT_TRUE(S_ISREG(status.st_mode)) << "the link is replaced by a file";
    EXPECT_EQ(status.st_mode & 0137, 0U) << "and that is no more open than what it replaces";
    EXPECT_FALSE(open(path).tensors.empty());
  }

  const Scratch scratch_{Scratch::fast_place()};
  std::string blob_, first_, second_;
  Bytes bytes_;
  struct stat before_ {};
};
INSTANTIATE_TEST_SUITE_P(Formats, HubLink, ::testing::ValuesIn(file_formats()), name_of_row);

TEST_P(HubLink, AnEditReplacesTheLink) {
  const MetadataEdit edit{.kind = MetadataEditKind::read, .key = "general.name", .value = "another"};
  const auto rule = rule_of([&] { edit_metadata(first_, {&edit, 1}); });
  if (rule.starts_with("meta.")) GTEST_SKIP() << "has no such key: " << rule;
  EXPECT_EQ(rule, "");
  expect_own_file(first_);
}

TEST_P(HubLink, AConversionReplacesTheLink) {
  const std::string input = scratch_ / ("in" + std::string(GetParam()->suffixes.front()));
  put_file(input, bytes_);
  ConvertOptions options{.to = std::string(GetParam()->name)};
  EXPECT_EQ(rule_of([&] { convert(input, first_, options); }), "io.sink.exists");
  options.overwrite = true;
  (void)convert(input, first_, options);
  expect_own_file(first_);
  // Also onto itself.
  (void)convert(second_, first_, options);
  expect_own_file(first_);
}

TEST_P(HubLink, AnAppendIsRefused) {
  if (GetParam()->append == nullptr) GTEST_SKIP() << "cannot grow";
  Model more;
  more.tensors = {make_dense("more", {4}, DType::f32, "", 2)};
  EXPECT_EQ(rule_of([&] { append(first_, more); }), "io.sink.store");
  EXPECT_EQ(rule_of([&] { append(blob_, more); }), "io.sink.store");
  EXPECT_TRUE(fs::is_symlink(first_));
  // A hard link to the stored file is protected like the store's own name.
  const std::string named = scratch_ / ("named" + std::string(GetParam()->suffixes.front()));
  fs::create_hard_link(blob_, named);
  EXPECT_EQ(rule_of([&] { append(named, more); }), "io.sink.names");
  fs::remove(named);
}

// A user's link to a file of the cache leads to the link in the cache.
TEST_P(HubLink, ALinkToALinkReplacesTheLastOne) {
  const std::string own = scratch_ / ("own" + std::string(GetParam()->suffixes.front()));
  fs::create_symlink(first_, own);
  (void)convert(second_, own, {.to = std::string(GetParam()->name), .overwrite = true});
  EXPECT_TRUE(fs::is_symlink(own));
  expect_own_file(first_);
}

TEST_P(HubLink, TheStoresOwnFileIsRefused) {
  const ConvertOptions options{.to = std::string(GetParam()->name), .overwrite = true};
  EXPECT_EQ(rule_of([&] { (void)convert(second_, blob_, options); }), "io.sink.store");
  const MetadataEdit edit{.kind = MetadataEditKind::read, .key = "general.name", .value = "another"};
  const auto rule = rule_of([&] { edit_metadata(blob_, {&edit, 1}); });
  EXPECT_TRUE(rule.starts_with("meta.") || rule == "io.sink.store") << rule;
}

}  // namespace
}  // namespace tare
