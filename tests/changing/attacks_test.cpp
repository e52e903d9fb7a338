// Bytes that change between two accesses of one reader or decoder, one attack per test.
#include <limits>
#include <set>

#include "base/half.hpp"
#include "changing/source.hpp"
#include "formats/npy/header.hpp"
#include "io/metadata.hpp"
#include "io/zstd.hpp"
#include "use_all.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using test::ChangingSource;

// ---- decoders that read twice

// A sparse vector of doubles with `entries` entries.
Tensor coo_over(const SourcePtr& source, std::uint64_t entries, std::uint64_t elements) {
  Tensor tensor;
  tensor.name = "s";
  tensor.shape = {elements};
  tensor.layout = "sparse_coo";
  tensor.components = {{"values", DType::f64, "", Blob::memory(Bytes(entries * 8, std::byte{0x41}))},
                       {"coords", DType::u64, "", Blob::range(source, 0, entries * 8)}};
  return tensor;
}

std::vector<std::uint64_t> rising(std::uint64_t entries, std::uint64_t step) {
  std::vector<std::uint64_t> places(entries);
  for (std::uint64_t i = 0; i < entries; ++i) places[i] = i * step;
  return places;
}

// The first pass saw ascending coordinates; those of the second pass are before the block that is being filled.
TEST(ChangingCoo, PlacesThatFallAreRefusedWhereTheyAreUsed) {
  constexpr std::uint64_t kEntries = 40'000, kStep = 8;
  for (const bool views : {false, true}) {
    std::vector<std::uint64_t> places = rising(kEntries, kStep);
    const Bytes before = le_words(places);
    std::fill(places.begin() + kEntries / 2, places.end(), 3);
    const auto source = std::make_shared<ChangingSource>(before, le_words(places), ChangingSource::kNever, views);
    const Tensor decoded = to_dense(coo_over(source, kEntries, kEntries * kStep));
    const auto reader = decoded.components[0].blob.open();
    Bytes out(4096);
    reader->read(out);
    source->change();
    const auto error = error_of([&] {
      for (std::uint64_t read = out.size(); read < decoded.components[0].blob.size(); read += out.size())
        reader->read(out);
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rule(), "coo.order");
    EXPECT_EQ(error->item(), "s");
  }
}

TEST(ChangingCoo, CoordinatesThatLeaveTheShapeAreRefusedWhereTheyAreUsed) {
  constexpr std::uint64_t kEntries = 40'000;
  std::vector<std::uint64_t> places = rising(kEntries, 8);
  const Bytes before = le_words(places);
  std::fill(places.begin() + kEntries / 2, places.end(), UINT64_MAX / 2);
  const auto source = std::make_shared<ChangingSource>(before, le_words(places), ChangingSource::kNever, false);
  const Tensor decoded = to_dense(coo_over(source, kEntries, std::uint64_t{1} << 20));
  const auto reader = decoded.components[0].blob.open();
  Bytes out(4096);
  reader->read(out);
  source->change();
  EXPECT_EQ(rule_of([&] {
              for (std::uint64_t read = out.size(); read < decoded.components[0].blob.size(); read += out.size())
                reader->read(out);
            }),
            "coo.bounds");
}

// Unordered entries are read twice before the first byte is decoded: they are counted, then sorted into windows.
TEST(ChangingCoo, EntriesThatAreDealtOtherwiseThanTheyWereCounted) {
  constexpr std::uint64_t kEntries = 40'000;
  std::vector<std::uint64_t> places = rising(kEntries, 8);
  std::swap(places.front(), places.back());
  const Bytes before = le_words(places);
  for (const std::uint64_t now : {std::uint64_t{3}, UINT64_MAX / 2}) {
    std::fill(places.begin() + kEntries / 2, places.end(), now);
    const Bytes after = le_words(places);
    std::set<std::string> rules;
    const auto use = [&](std::uint64_t when) {
      const auto source = std::make_shared<ChangingSource>(before, after, when, false);
      rules.insert(
          rule_of([&] { to_dense(coo_over(source, kEntries, std::uint64_t{1} << 20)).components[0].blob.bytes(); }));
      return source->accesses();
    };
    const std::uint64_t accesses = use(ChangingSource::kNever);
    for (std::uint64_t when = 0; when < accesses; ++when) use(when);
    rules.erase("");
    rules.erase("codec.changed");
    if (now != 3) rules.erase("coo.bounds");
    EXPECT_TRUE(rules.empty()) << *rules.begin();
  }
}

TEST(ChangingCsr, RowPointersThatFallAreRefused) {
  constexpr std::uint64_t kRows = 40'000;
  std::vector<std::uint64_t> pointers = rising(kRows + 1, 1);
  const Bytes before = le_words(pointers);
  std::fill(pointers.begin() + kRows / 2, pointers.end(), 3);
  const auto source = std::make_shared<ChangingSource>(before, le_words(pointers), ChangingSource::kNever, false);
  Tensor tensor;
  tensor.name = "s";
  tensor.shape = {kRows, 4};
  tensor.layout = "sparse_csr";
  tensor.components = {{"values", DType::f32, "", Blob::memory(Bytes(kRows * 4))},
                       {"indices", DType::u64, "", Blob::memory(Bytes(kRows * 8))},
                       {"indptr", DType::u64, "", Blob::range(source, 0, before.size())}};
  const Tensor decoded = to_dense(tensor);
  const auto reader = decoded.components[0].blob.open();
  Bytes out(4096);
  reader->read(out);
  source->change();
  EXPECT_EQ(rule_of([&] {
              for (std::uint64_t read = out.size(); read < decoded.components[0].blob.size(); read += out.size())
                reader->read(out);
            }),
            "csr.indptr_order");
}

// The range was measured with other numbers than those that are counted.
TEST(ChangingStatistics, OnlyValuesOfTheRangeAreCounted) {
  constexpr std::size_t kCount = 1000;
  const auto doubles = [](double value) {
    std::vector<std::uint64_t> bits;
    for (std::size_t i = 0; i < kCount; ++i)
      bits.push_back(std::bit_cast<std::uint64_t>(i % 2 == 0 ? value : static_cast<double>(i)));
    return le_words(bits);
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (const double now : {-1e300, 1e300, -5.0, inf, std::nan("")}) {
    const auto use = [&](std::uint64_t when) {
      const auto source = std::make_shared<ChangingSource>(doubles(7), doubles(now), when, false);
      const Tensor tensor = dense("w", {kCount}, DType::f64, Blob::range(source, 0, kCount * 8));
      const Statistics found = statistics(tensor, 8, 0, {.threads = 1});
      std::uint64_t counted = 0;
      for (const std::uint64_t bin : found.histogram) counted += bin;
      EXPECT_GE(counted, kCount / 2);
      EXPECT_LE(counted, kCount);
      EXPECT_FALSE(std::isnan(found.mean));
      EXPECT_FALSE(std::isnan(found.std));
      return source->accesses();
    };
    const std::uint64_t accesses = use(ChangingSource::kNever);
    for (std::uint64_t when = 0; when <= accesses; ++when) use(when);
  }
}

TEST(ChangingStatistics, ValuesThatAreAllGoneByThen) {
  const Bytes before = le_words(rising(1000, 1));
  const auto source = std::make_shared<ChangingSource>(before, Bytes(before.size(), std::byte{0xFF}), 1, false);
  const Tensor tensor = dense("w", {1000}, DType::f64, Blob::range(source, 0, before.size()));
  const Statistics found = statistics(tensor, 8, 0, {.threads = 1});
  EXPECT_FALSE(std::isnan(found.std));
  EXPECT_FALSE(std::isnan(found.mean));
}

TEST(NarrowFloats, BeyondTheRangeIsInfinite) {
  constexpr float kMost = std::numeric_limits<float>::max(), kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f64_to_f32(1e39), kInf);
  EXPECT_EQ(f64_to_f32(-1e300), -kInf);
  EXPECT_EQ(f64_to_f32(std::numeric_limits<double>::infinity()), kInf);
  EXPECT_EQ(f64_to_f32(double{kMost}), kMost);
  EXPECT_EQ(f64_to_f32(0x1.fffffefp127), kMost);                    // less than half a step above it
  EXPECT_EQ(f64_to_f32(std::nextafter(0x1.ffffffp127, 0)), kMost);  // slightly less than half
  EXPECT_EQ(f64_to_f32(-0x1.ffffffp127), -kInf);  // exactly half: rounds to the even neighbour, infinity
  EXPECT_EQ(f64_to_f32(0.1), 0.1F);
  EXPECT_EQ(f64_to_f32(1e-60), 0.0F);
  EXPECT_TRUE(std::signbit(f64_to_f32(-0.0)));
  EXPECT_TRUE(std::isnan(f64_to_f32(std::nan(""))));
  const Vocabulary words{.tokens = {{"a", 0, TokenType::normal}}};
  Map map = words.to_map();
  map.set("scores", List{1e300});
  EXPECT_EQ(Vocabulary::from_map(map).tokens[0].score, kInf);
}

// ---- parsers work on a copy

TEST(ChangingMetadata, WhatIsParsedIsACopy) {
  const auto source = std::make_shared<ChangingSource>(Bytes(8192, std::byte{1}), Bytes(8192, std::byte{2}),
                                                       ChangingSource::kNever, true);
  const io::Metadata copy(*source, 10, 100, 7);
  io::Window window(*source);
  const auto seen = window.get(20, 50);
  source->change();
  EXPECT_EQ(copy.bytes().size(), 100U);
  EXPECT_TRUE(std::all_of(copy.bytes().begin(), copy.bytes().end(), [](std::byte b) { return b == std::byte{1}; }));
  EXPECT_EQ(copy.text().data()[100], '\0');
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](std::byte b) { return b == std::byte{1}; }));
  EXPECT_EQ(window.get(8000, 500).size(), 192U);  // only as many bytes as there are
  EXPECT_TRUE(window.get(8192, 1).empty());
  EXPECT_TRUE(window.get(UINT64_MAX, 8).empty());
  EXPECT_EQ(window.get(8000, 1)[0], std::byte{2});
  // Nothing is allocated for a range that does not exist.
  EXPECT_EQ(rule_of([&] { io::Metadata(*source, 1, UINT64_MAX / 2); }), "io.source.bounds");
}

// The length was read with the first bytes of a header, and the version, which determines where its text begins, is
// read again.
TEST(ChangingNpy, AHeaderIsHeldAgainstItsOwnLength) {
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
  Bytes header = to_bytes("\x93NUMPY" + std::string("\1\0", 2) + std::string(1, static_cast<char>(dict.size())) +
                          std::string(1, '\0') + dict);
  EXPECT_EQ(npy::parse_header(header).shape.rank(), 0U);
  header[6] = std::byte{2};
  EXPECT_EQ(rule_of([&] { npy::parse_header(header); }), "npy.header.length");
  const Bytes shortest = to_bytes("\x93NUMPY" + std::string("\1\0\0\0", 4));
  EXPECT_EQ(rule_of([&] { npy::parse_header(shortest); }), "npy.header.syntax");
  Bytes longer = shortest;
  longer[6] = std::byte{2};  // its text would begin two bytes after the end
  EXPECT_EQ(rule_of([&] { npy::parse_header(longer); }), "npy.header.length");
  EXPECT_EQ(rule_of([&] { npy::parse_header({}); }), "npy.magic");
}

// ---- verification and costs

// Made bytes are verified through the bytes that they are made from, so that a wrong digest is not lost.
TEST(BlobProducers, VerifyWhatTheyAreMadeOf) {
  const Digest wrong = digest_of(DigestAlgorithm::xxh3, to_bytes("other"));
  const SourcePtr source = memory_source(Bytes(24, std::byte{1}));
  Tensor packed;
  packed.name = "p";
  packed.shape = {6, 8};
  packed.layout = "packed.f4_e2m1";
  packed.components = {{"payload", DType::u8, "", Blob::range(source, 0, 24, wrong)}};
  EXPECT_EQ(rule_of([&] { to_dense(packed).components[0].blob.verify(); }), "digest.mismatch");
  const Tensor plain = dense("d", {6, 4}, DType::u8, Blob::range(source, 0, 24, wrong));
  EXPECT_EQ(rule_of([&] { slice(plain, parse_slice("::2")).components[0].blob.verify(); }), "digest.mismatch");
  EXPECT_EQ(rule_of([&] { cast(plain, DType::f32).components[0].blob.verify(); }), "digest.mismatch");
}

class CountedReads final : public Source {
 public:
  explicit CountedReads(Bytes bytes) : Source("counted", bytes.size()), bytes_(std::move(bytes)) {}
  mutable std::atomic<std::uint64_t> reads = 0;

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  Bytes bytes_;
};

// A component of many empty blocks: their headers are not read one by one.
TEST(Zstd, FindingFramesTakesFewReads) {
  constexpr std::size_t kBlocks = 100'000;
  Bytes frame = to_bytes(std::string("\x28\xB5\x2F\xFD\x20\x00", 6));  // one segment, no content
  for (std::size_t i = 0; i < kBlocks; ++i)
    for (const int b : {i + 1 == kBlocks ? 1 : 0, 0, 0}) frame.push_back(static_cast<std::byte>(b));
  const CountedReads source(frame);
  const auto frames = io::find_zstd_frames(source, 0, frame.size(), 0);
  EXPECT_EQ(frames.size(), 1U);
  EXPECT_LE(source.reads, frame.size() / 4000 + 2);
}

}  // namespace
}  // namespace tare
