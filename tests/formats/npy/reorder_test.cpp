// Data that is decoded once and reordered: scratch space, buckets, arrays in Fortran order, unordered entries.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/endian.hpp"
#include "codecs/buckets.hpp"
#include "conformance/scratch.hpp"
#include "formats/npy/dealt.hpp"
#include "io/scratch.hpp"
#include "produced_blob.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::test::produced_blob;

class ScratchOf : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ScratchOf,
                         ::testing::Values(0, 1, 1000, io::kScratchInMemory, io::kScratchInMemory + 1));

TEST_P(ScratchOf, KeepsWhatIsWrittenInAnyOrder) {
  const std::uint64_t size = GetParam(), half = size / 2;
  const auto scratch = io::make_scratch(size);
  const Bytes second(static_cast<std::size_t>(size - half), std::byte{2}),
      first(static_cast<std::size_t>(half), std::byte{1});
  scratch->write(half, second);
  scratch->write(0, first);
  const SourcePtr source = scratch->source();
  ASSERT_EQ(source->size(), size);
  Bytes all(static_cast<std::size_t>(size));
  source->read(0, all);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(all.begin(), all.end(), std::byte{1})), half);
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(all.begin(), all.end(), std::byte{2})), size - half);
  EXPECT_EQ(rule_of([&] { source->read(size, std::span(all).first(std::min<std::size_t>(all.size(), 1))); }),
            size == 0 ? "" : "io.source.bounds");
}

TEST(ScratchSpace, LeavesNothingBehindAndSaysWhereThereIsNoRoom) {
  const Scratch here;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", here.path().c_str(), 1);
  {
    const auto scratch = io::make_scratch(io::kScratchInMemory + 1);
    EXPECT_TRUE(here.entries().empty());
  }
  EXPECT_TRUE(here.entries().empty());
  ::setenv("TMPDIR", (here / "missing").c_str(), 1);
  const auto error = error_of([] { io::make_scratch(io::kScratchInMemory + 1); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "io.scratch.open");
  EXPECT_EQ(error->file(), here / "missing");
  if (before == nullptr)
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", kept.c_str(), 1);
}

std::array<std::byte, 8> record_of(std::uint64_t number) {
  std::array<std::byte, 8> record;
  store_le(record.data(), number);
  return record;
}

TEST(BucketsTest, KeepTheOrderInEachBucket) {
  // More than fits in memory, and an empty bucket.
  const std::uint64_t each = io::kScratchInMemory / 8;
  Buckets buckets({each, 0, each}, 8);
  for (std::uint64_t i = 0; i < each; ++i) {
    buckets.put(2, record_of(i));
    buckets.put(0, record_of(each + i));
  }
  buckets.seal();
  EXPECT_EQ(buckets.count(1), 0u);
  EXPECT_EQ(buckets.records(1).size(), 0u);
  for (const auto& [bucket, first] : {std::pair<std::size_t, std::uint64_t>{0, each}, {2, 0}}) {
    const Bytes records = buckets.records(bucket).bytes();
    ASSERT_EQ(records.size(), each * 8);
    const std::byte* record = records.data();
    for (std::uint64_t i = 0; i < each; ++i, record += 8)
      if (load_le<std::uint64_t>(record) != first + i) FAIL() << "record " << i;  // much faster than ASSERT_EQ
  }
}

// The counts come from an earlier pass over a file that may have changed since.
TEST(BucketsTest, OtherNumbersThanWereCountedAreErrors) {
  Buckets more({1, 1}, 8);
  more.put(0, record_of(1));
  EXPECT_EQ(rule_of([&] { more.put(0, record_of(2)); }), "codec.changed");
  Buckets fewer({1, 1}, 8);
  fewer.put(1, record_of(1));
  EXPECT_EQ(rule_of([&] { fewer.seal(); }), "codec.changed");
}

// An array in Fortran order whose items are their index in C order.
template <typename T>
Bytes fortran_array(const npy::Axes& axes) {
  const std::uint64_t count = std::accumulate(axes.begin(), axes.end(), std::uint64_t{1}, std::multiplies<>());
  Bytes bytes(static_cast<std::size_t>(count) * sizeof(T));
  std::vector<std::uint64_t> at(axes.size()), steps(axes.size(), 1);
  for (std::size_t d = axes.size() - 1; d > 0; --d) steps[d - 1] = steps[d] * axes[d];
  std::uint64_t place = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    store_le<T>(bytes.data() + i * sizeof(T), static_cast<T>(place));
    for (std::size_t d = 0; d < axes.size(); ++d) {
      place += steps[d];
      if (++at[d] != axes[d]) break;
      place -= steps[d] * axes[d];
      at[d] = 0;
    }
  }
  return bytes;
}

template <typename T>
void expect_in_order(const npy::Axes& axes, std::size_t swap = 1) {
  Bytes stored = fortran_array<T>(axes);
  if (swap != 1) swap_elements(stored, swap);
  const std::uint64_t count = stored.size() / sizeof(T);
  const auto reader = npy::open_dealt(produced_blob(std::move(stored), 0), axes, sizeof(T), swap);
  Bytes out(1000003);
  for (std::uint64_t done = 0; done < count * sizeof(T);) {
    const auto part = std::span(out).first(static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size() / sizeof(T) * sizeof(T), count * sizeof(T) - done)));
    reader->read(part);
    const std::byte* item = part.data();
    for (std::uint64_t i = done / sizeof(T); item != part.data() + part.size(); ++i, item += sizeof(T))
      if (load_le<T>(item) != static_cast<T>(i)) FAIL() << "item " << i;  // much faster than ASSERT_EQ
    done += part.size();
  }
  EXPECT_EQ(rule_of([&] { reader->read(std::span(out).first(1)); }), "blob.bounds");
}

TEST(DealtArrays, SmallOnesInMemory) {
  expect_in_order<std::uint32_t>({2, 3});
  expect_in_order<std::uint16_t>({5, 2, 7});
  expect_in_order<std::uint32_t>({100, 3, 4}, 4);
  // Tiles: whole and partial, along one axis or several, with and without axes between them.
  expect_in_order<std::uint32_t>(npy::Axes(15, 2));
  expect_in_order<std::uint32_t>({65, 2, 3, 130}, 4);
  expect_in_order<std::uint32_t>({64, 64});
  expect_in_order<std::uint32_t>({2, 700, 2});
  expect_in_order<std::uint64_t>({3, 5, 7, 11, 13});
  expect_in_order<std::uint32_t>({4, 4, 4, 5, 4, 4, 4}, 4);
}

TEST(DealtArrays, ShortAxesAreDealtTogether) {
  expect_in_order<std::uint32_t>(npy::Axes(23, 2));
  expect_in_order<std::uint32_t>({3, 2, 5, 7, 300, 100}, 4);
}

TEST(DealtArrays, LargeOnesByRows) {
  expect_in_order<std::uint32_t>({2500, 2000});        // many rows per bucket
  expect_in_order<std::uint32_t>({70000, 9, 8});       // columns longer than one read
  expect_in_order<std::uint32_t>({3, 1500, 1200}, 4);  // one row per bucket, big-endian
}

TEST(DealtArrays, RowsTooLongForMemoryAreDealtAgain) {
  expect_in_order<std::uint32_t>({2, 4500000});     // the rest is in order
  expect_in_order<std::uint32_t>({2, 3, 1500000});  // rows of 18 MB, each an array
  expect_in_order<std::uint32_t>({2, 4500000}, 4);
}

}  // namespace
}  // namespace tare
