// A compressed blob is decoded a few times at most, in whatever order its parts are read.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "arch/qk_rows.hpp"
#include "model/sliced_blob.hpp"
#include "tare/codec.hpp"
#include "tare/error.hpp"
#include "tare/slice.hpp"

namespace tare {
namespace {

std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 2654435761u >> 13); }

// Bytes that can be made only from the beginning, or from a multiple of `step`; counts those that are made.
class CountingDecoder final : public BlobProducer {
 public:
  CountingDecoder(std::uint64_t size, std::uint64_t step) : size_(size), step_(step) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    made_ += step_ == 0 ? offset : offset % step_;  // decoded and skipped
    return std::make_unique<Reader>(*this, offset);
  }
  std::uint64_t seek_granularity() const override { return step_; }
  void verify() const override {}
  std::uint64_t made() const { return made_; }

 private:
  class Reader final : public BlobReader {
   public:
    Reader(const CountingDecoder& from, std::uint64_t offset) : from_(from), at_(offset) {}
    void read(std::span<std::byte> out) override {
      if (out.size() > from_.size_ - at_) throw Error(ErrorKind::usage, "blob.bounds", "beyond the end");
      for (std::byte& byte : out) byte = byte_at(at_++);
      from_.made_ += out.size();
    }

   private:
    const CountingDecoder& from_;
    std::uint64_t at_;
  };
  std::uint64_t size_, step_;
  mutable std::atomic<std::uint64_t> made_{0};
};

constexpr std::uint64_t kRows = 1024, kColumns = 2048,
                        kSize = kRows * kColumns * 2;  // in u16; too large to be kept in memory

struct Packed {
  explicit Packed(std::uint64_t step = 0, Encoding encoding = Encoding::deflate)
      : decoder(std::make_shared<CountingDecoder>(kSize, step)),
        blob(Blob::encoded(memory_source(Bytes(1)), 0, 1, kSize, encoding, decoder)),
        tensor(dense("t", {kRows, kColumns}, DType::u16, blob)) {}
  // How often the bytes were decoded.
  double times() const { return static_cast<double>(decoder->made()) / kSize; }

  std::shared_ptr<CountingDecoder> decoder;
  Blob blob;
  Tensor tensor;
};

SliceItem reversed() {
  SliceItem item;
  item.step = -1;
  return item;
}
SliceItem at(std::int64_t index) {
  SliceItem item;
  item.kind = SliceItem::Kind::index;
  item.start = index;
  return item;
}

void expect_row(const Bytes& found, std::uint64_t row) {
  ASSERT_EQ(found.size(), kColumns * 2);
  for (std::size_t i = 0; i < found.size(); i += 97) ASSERT_EQ(found[i], byte_at(row * kColumns * 2 + i)) << row;
}

TEST(KeptBytes, OneRowAfterAnotherInAnyOrder) {
  std::vector<std::int64_t> order(kRows);
  std::iota(order.begin(), order.end(), 0);
  for (const char* const way : {"forwards", "backwards", "shuffled"}) {
    if (way[0] == 'b') std::ranges::reverse(order);
    if (way[0] == 's') std::ranges::shuffle(order, std::mt19937(7));
    for (const std::uint64_t step : {std::uint64_t{0}, kSize / 2, kSize / 3 + 1, kSize}) {
      const Packed packed(step);
      for (const std::int64_t row : order)
        expect_row(slice(packed.tensor, {at(row)}).component("data")->blob.bytes(), static_cast<std::uint64_t>(row));
      EXPECT_LE(packed.times(), 3) << way << ' ' << step;
    }
  }
}

TEST(KeptBytes, SlicesAndPermutations) {
  // Reversed rows, reversed columns, both; through a cast, too.
  for (const SliceSpec& spec : {SliceSpec{reversed()}, SliceSpec{{}, reversed()}, SliceSpec{reversed(), reversed()}}) {
    const Packed packed;
    const Bytes found = slice(packed.tensor, spec).component("data")->blob.bytes();
    ASSERT_EQ(found.size(), kSize);
    EXPECT_LE(packed.times(), 3);
    const Packed cast_first;
    (void)slice(cast(cast_first.tensor, DType::f32), spec).component("data")->blob.bytes();
    EXPECT_LE(cast_first.times(), 3);
    const Packed cast_last;
    (void)cast(slice(cast_last.tensor, spec), DType::f32).component("data")->blob.bytes();
    EXPECT_LE(cast_last.times(), 3);
  }
  // A transposed view.
  const Packed packed;
  SlicePlan plan;
  plan.shape = {kColumns, kRows};
  plan.elements = kRows * kColumns;
  plan.outer = {{kColumns, 1}};
  plan.lane = {kRows, static_cast<std::int64_t>(kColumns)};
  const Bytes turned = sliced_blob(packed.blob, plan, 2).bytes();
  for (std::uint64_t i = 0; i < turned.size(); i += 1001)
    ASSERT_EQ(turned[i], byte_at((i / 2 % kRows * kColumns + i / 2 / kRows) * 2 + i % 2));
  EXPECT_LE(packed.times(), 3);
  // Rows of attention heads move only a little: nothing needs to be kept.
  const Packed heads;
  (void)arch::reorder_qk(heads.blob, kRows, 8, arch::QkOrder::pairs).bytes();
  EXPECT_LE(heads.times(), 1.5);
  EXPECT_FALSE(heads.blob.is_kept());
}

TEST(KeptBytes, NothingIsKeptOfWhatIsReadInOrder) {
  const Packed packed;
  EXPECT_EQ(packed.blob.bytes().size(), kSize);
  SliceItem half;
  half.step = 2;
  (void)slice(packed.tensor, {half}).component("data")->blob.bytes();
  Bytes last(64);
  packed.blob.read(kSize - 64, last);
  EXPECT_LE(packed.times(), 3);
  EXPECT_FALSE(packed.blob.is_kept());
  packed.blob.read(kSize - 64, last);  // the second time that all of it was decoded to be skipped
  EXPECT_TRUE(packed.blob.is_kept());
  EXPECT_EQ(last[5], byte_at(kSize - 59));
  EXPECT_TRUE(packed.blob.unchecked().is_kept());
  EXPECT_FALSE(Blob::memory(Bytes(8)).is_kept());
}

TEST(KeptBytes, ThreadsReadTheSameBlob) {
  const Packed packed;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Bytes part(1000);
      std::mt19937 random(t);
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t offset = random() % (kSize - part.size());
        packed.blob.read(offset, part);
        if (part[0] != byte_at(offset) || part[999] != byte_at(offset + 999)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(packed.times(), 8);  // each thread may be in the middle of a read when the bytes are kept
}

// With more blobs than are kept at a time, all bytes are still correct, and a destroyed blob frees its place.
TEST(KeptBytes, TheOldestIsDropped) {
  std::vector<std::unique_ptr<Packed>> many;
  for (int i = 0; i < 140; ++i) many.push_back(std::make_unique<Packed>());
  Bytes part(16);
  for (const auto& one : many)
    for (int i = 0; i < 2; ++i) one->blob.read(kSize - 100, part);
  EXPECT_FALSE(many.front()->blob.is_kept());
  EXPECT_TRUE(many.back()->blob.is_kept());
  for (const auto& one : many) {
    one->blob.read(12345, part);
    EXPECT_EQ(part[3], byte_at(12348));
  }
  many.erase(many.begin() + 10, many.begin() + 130);
  const Packed fresh;
  for (int i = 0; i < 2; ++i) fresh.blob.read(kSize - 100, part);
  EXPECT_TRUE(fresh.blob.is_kept());
}

// Small ones are kept however many there are: first in memory, then in files that they share.
TEST(KeptBytes, HundredsOfSmallOnesAreKept) {
  constexpr std::uint64_t kSmall = 100'000, kCount = 500;
  std::vector<std::shared_ptr<CountingDecoder>> decoders;
  std::vector<Blob> blobs;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    decoders.push_back(std::make_shared<CountingDecoder>(kSmall, 0));
    blobs.push_back(Blob::encoded(memory_source(Bytes(1)), 0, 1, kSmall, Encoding::deflate, decoders.back()));
  }
  Bytes part(7);
  for (std::uint64_t round = 0; round < 10; ++round)
    for (const Blob& blob : blobs) {
      const std::uint64_t offset = kSmall - 7 - round * 1000;
      blob.read(offset, part);
      ASSERT_EQ(part[5], byte_at(offset + 5));
    }
  for (std::uint64_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(blobs[i].is_kept()) << i;
    EXPECT_LE(decoders[i]->made(), 3 * kSmall) << i;
  }
}

// An error of the decoder is reported as it is, however often it is met.
TEST(KeptBytes, DamagedBytes) {
  class Damaged final : public BlobProducer {
   public:
    std::unique_ptr<BlobReader> open(std::uint64_t /*offset*/) const override { return std::make_unique<Reader>(); }
    void verify() const override {}

   private:
    class Reader final : public BlobReader {
     public:
      void read(std::span<std::byte> /*out*/) override { throw Error(ErrorKind::corrupt, "test.damaged", "bad"); }
    };
  };
  const Blob blob = Blob::encoded(memory_source(Bytes(1)), 0, 1, 1000, Encoding::zstd, std::make_shared<Damaged>());
  Bytes part(16);
  for (int i = 0; i < 5; ++i) {
    try {
      blob.read(900, part);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "test.damaged");
    }
  }
}

}  // namespace
}  // namespace tare
