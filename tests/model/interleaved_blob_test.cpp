#include "model/interleaved_blob.hpp"

#include <gtest/gtest.h>

#include "conformance/models.hpp"
#include "produced_blob.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(InterleavedBlob, IsReadFromAnyByteInAnyPieces) {
  constexpr std::size_t kPieces = 4, kFirst = 3, kSecond = 2;
  const Bytes first = noise(kPieces * kFirst, 1), second = noise(kPieces * kSecond, 2);
  Bytes all;
  for (std::size_t i = 0; i < kPieces; ++i) {
    all.insert(all.end(), first.begin() + i * kFirst, first.begin() + (i + 1) * kFirst);
    all.insert(all.end(), second.begin() + i * kSecond, second.begin() + (i + 1) * kSecond);
  }
  const Blob both = interleaved_blob(Blob::memory(first), kFirst, Blob::memory(second), kSecond);
  ASSERT_EQ(both.size(), all.size());
  EXPECT_EQ(both.seek_granularity(), 1U);
  for (std::size_t at = 0; at <= all.size(); ++at)
    for (const std::size_t most : {std::size_t{1}, std::size_t{4}, all.size()}) {
      Bytes found(all.size() - at);
      const auto reader = both.open(at);
      for (std::size_t done = 0; done < found.size(); done += most)
        reader->read(std::span(found).subspan(done, std::min(most, found.size() - done)));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + static_cast<std::ptrdiff_t>(at))) << at;
    }
}

TEST(InterleavedBlob, SeeksAsFarAsItsPartsDo) {
  const auto with = [](std::uint64_t first, std::uint64_t second) {
    return interleaved_blob(test::produced_blob(Bytes(24), first), 8, test::produced_blob(Bytes(36), second), 12);
  };
  EXPECT_EQ(with(4, 2).seek_granularity(), 4U);
  EXPECT_EQ(with(8, 2).seek_granularity(), 0U) << "a piece of the second does not begin at a multiple of 8";
  EXPECT_EQ(with(0, 1).seek_granularity(), 0U);
  EXPECT_EQ(with(0, 0).bytes(), Bytes(60));
}

TEST(InterleavedBlob, AReaderMayOutliveIt) {
  std::unique_ptr<BlobReader> reader = interleaved_blob(Blob::memory(Bytes(6)), 3, Blob::memory(Bytes(4)), 2).open(2);
  Bytes found(8, std::byte{1});
  reader->read(found);
  EXPECT_EQ(found, Bytes(8));
}

}  // namespace
}  // namespace tare
