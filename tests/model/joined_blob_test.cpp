#include "model/joined_blob.hpp"

#include <gtest/gtest.h>

#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(JoinedBlob, IsReadFromAnyByteInAnyPieces) {
  const std::vector<std::size_t> sizes = {3, 0, 1, 7, 0};
  std::vector<Blob> parts;
  Bytes all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes part = noise(sizes[i], i + 1);
    all.insert(all.end(), part.begin(), part.end());
    parts.push_back(Blob::memory(part));
  }
  const Blob joined = joined_blob(parts);
  ASSERT_EQ(joined.size(), all.size());
  EXPECT_EQ(joined.seek_granularity(), 1U);
  for (std::size_t at = 0; at <= all.size(); ++at)
    for (const std::size_t most : {std::size_t{1}, std::size_t{4}, all.size()}) {
      Bytes found(all.size() - at);
      const auto reader = joined.open(at);
      for (std::size_t done = 0; done < found.size(); done += most)
        reader->read(std::span(found).subspan(done, std::min(most, found.size() - done)));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + static_cast<std::ptrdiff_t>(at))) << at;
    }
}

TEST(JoinedBlob, AReaderMayOutliveIt) {
  std::unique_ptr<BlobReader> reader = joined_blob({Blob::memory(Bytes(5)), Blob::memory(Bytes(6))}).open(2);
  Bytes found(9, std::byte{1});
  reader->read(found);
  EXPECT_EQ(found, Bytes(9));
}

}  // namespace
}  // namespace tare
