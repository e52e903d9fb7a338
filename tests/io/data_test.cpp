// Digests, zstd, and the transfer of blobs into a sink.
#include <zstd.h>

#include <cstring>

#include "base/parallel.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"
#include "io/zstd.hpp"
#include "model/transfer.hpp"
#include "produced_blob.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(IoDigest, KnownValues) {
  const Bytes nine = to_bytes("123456789");
  EXPECT_EQ(digest_of(DigestAlgorithm::crc32c, nine).text(), "crc32c:0xE3069283");
  EXPECT_EQ(digest_of(DigestAlgorithm::crc32c, {}).text(), "crc32c:0x00000000");
  EXPECT_EQ(digest_of(DigestAlgorithm::sha256, to_bytes("abc")).text(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of(DigestAlgorithm::sha256, {}).hex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of(DigestAlgorithm::xxh3, {}).text(), "xxh3:2d06800538d394c2");
  EXPECT_EQ(digest_of(DigestAlgorithm::xxh3_128, {}).text(), "xxh3-128:99aa06d3014798d86001c324468d497f");
  EXPECT_FALSE(digest_of(DigestAlgorithm::none, nine));
}

TEST(IoDigest, PiecesGiveTheSame) {
  const Bytes all = noise(10'000, 1);
  for (const auto algorithm :
       {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128}) {
    Hasher hasher(algorithm);
    for (std::size_t at = 0, step = 1; at < all.size(); at += step, step = step * 3 % 1000 + 1)
      hasher.update(std::span(all).subspan(at, std::min(step, all.size() - at)));
    EXPECT_TRUE(hasher.finish() == digest_of(algorithm, all));
    EXPECT_EQ(parse_digest_algorithm(name_of(algorithm)), algorithm);
  }
}

TEST(IoDigest, Spellings) {
  const auto text = [](std::string_view in) {
    const auto digest = Digest::parse(in);
    return digest ? digest->text() : std::string("malformed");
  };
  EXPECT_EQ(text("crc32c:0xe3069283"), "crc32c:0xE3069283");
  EXPECT_EQ(text("crc32c:0X1"), "crc32c:0x00000001");
  EXPECT_EQ(text("sha256:" + std::string(64, 'A')), "sha256:" + std::string(64, 'a'));
  EXPECT_EQ(text("crc32c:DEADBEEF"), "crc32c:0xDEADBEEF");
  EXPECT_EQ(text("crc32c:3q2+7w=="), "crc32c:3q2+7w==");  // base64, an unknown notation
  EXPECT_EQ(text("crc32c:1234567"), "crc32c:1234567");    // could as well be decimal
  EXPECT_EQ(text("blake3:xyz"), "blake3:xyz");
  EXPECT_EQ(text(""), "");
  for (const std::string& bad :
       {std::string("sha256:"), "sha256:" + std::string(63, 'a'), "sha256:" + std::string(65, 'a'),
        "sha256:" + std::string(64, 'g'), std::string("crc32c:0x"), std::string("crc32c:0x-1"),
        std::string("crc32c:0x123456789"), std::string("xxh3: 123456789abcdef")})
    EXPECT_EQ(text(bad), "malformed") << bad;
  EXPECT_FALSE(parse_digest_algorithm("md5"));
  EXPECT_EQ(rule_of([] { Hasher hasher(DigestAlgorithm::unknown); }), "digest.algorithm");
}

Blob zipped(const std::string& stored, std::uint64_t size, bool pread, const Scratch& scratch) {
  if (!pread) return Blob::zstd(memory_source(to_bytes(stored), "z"), 0, stored.size(), size);
  put_file(scratch / "z", to_bytes(stored));
  return Blob::zstd(open_file(scratch / "z", Access::pread), 0, stored.size(), size);
}

TEST(IoZstd, ReadsAtAnyPlace) {
  const Scratch scratch;
  std::string plain;
  for (int i = 0; plain.size() < 50'000; ++i) plain += std::to_string(i * i);
  plain.resize(50'000);
  std::string frames;  // with different sizes
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t part = std::min<std::size_t>(plain.size() - at, 1 + at % 9000);
    frames += zt_text::packed(plain.substr(at, part));
    at += part;
  }
  std::string even;
  for (std::size_t at = 0; at < plain.size(); at += 7000) even += zt_text::packed(plain.substr(at, 7000));
  for (const std::string& stored : {zt_text::packed(plain), zt_text::packed_stream(plain), frames, even})
    for (const bool pread : {false, true}) {
      const Blob blob = zipped(stored, plain.size(), pread, scratch);
      EXPECT_EQ(to_text(blob.bytes()), plain);
      for (const std::size_t offset : {0U, 1U, 6999U, 7000U, 7001U, 49'999U, 50'000U}) {
        Bytes part(std::min<std::size_t>(300, plain.size() - offset));
        blob.read(offset, part);
        EXPECT_EQ(to_text(part), plain.substr(offset, part.size()));
        const auto reader = blob.open(offset);
        Bytes rest(plain.size() - offset);
        reader->read(rest);
        EXPECT_EQ(to_text(rest), plain.substr(offset));
        Bytes one(1);
        EXPECT_EQ(rule_of([&] { reader->read(one); }), "blob.bounds");
      }
      EXPECT_EQ(rule_of([&] { blob.open(plain.size() + 1); }), "blob.bounds");
    }
  EXPECT_EQ(zipped(even, plain.size(), false, scratch).seek_granularity(), 7000U);
  EXPECT_EQ(zipped(frames, plain.size(), false, scratch).seek_granularity(), 0U);
}

// One frame states a wrong size; the others are correct.
TEST(IoZstd, LyingFramesAreErrors) {
  const Scratch scratch;
  const std::string a = zt_text::packed(std::string(1000, 'a'));
  std::string lying = a;
  ASSERT_EQ(ZSTD_getFrameContentSize(lying.data(), lying.size()), 1000U);
  for (std::size_t i = 4; i < 10 && ZSTD_getFrameContentSize(lying.data(), lying.size()) == 1000; ++i)
    lying[i] = static_cast<char>(lying[i] ^ 1);
  for (const std::string& stored :
       {lying + a, a + lying, std::string(3, 'x'), a.substr(0, 5), std::string("\x28\xB5\x2F\xFD\xFF", 5)}) {
    const Blob blob = zipped(stored, 2000, false, scratch);
    EXPECT_NE(rule_of([&] { blob.bytes(); }), "");
    EXPECT_NE(rule_of([&] {
                Bytes part(10);
                blob.read(1500, part);
              }),
              "");
  }
}

// Two regions made from one input: piece i makes one byte of the first and 1 MiB of the second.
class InPieces final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  static constexpr std::size_t kCount = 5, kEach = std::size_t{1} << 20;
  InPieces() : whole_(kCount + kCount * kEach) {
    for (std::size_t i = 0; i < whole_.size(); ++i) whole_[i] = static_cast<std::byte>(i * 2654435761U >> 21);
  }
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return test::BytesProducer(whole_, 0).open(offset);
  }
  std::size_t pieces() const override { return kCount; }
  void make_piece(std::size_t piece, const PutRun& put) const override {
    put(kCount + piece * kEach, std::span(whole_).subspan(kCount + piece * kEach, kEach));
    put(piece, std::span(whole_).subspan(piece, 1));
  }
  Map learned() const override {
    Map map;
    map.set("largest", 7);
    return map;
  }
  static Blob blob() { return Blob::produced(kCount + kCount * kEach, std::make_shared<InPieces>()); }

 private:
  Bytes whole_;
};

TEST(IoBlob, PiecesMakeTheWholeAndItsAttributes) {
  const Blob blob = InPieces::blob();
  Bytes front_to_back(static_cast<std::size_t>(blob.size()));
  blob.read(0, front_to_back);
  EXPECT_TRUE(blob.bytes() == front_to_back);
  Tensor tensor = dense("w", Shape{blob.size()}, DType::u8, blob);
  tensor.attributes.set("own", 1);
  EXPECT_EQ(to_json(tensor.complete_attributes()), R"({"own":1,"largest":7})");
  EXPECT_EQ(to_json(tensor.attributes), R"({"own":1})");
  EXPECT_EQ(rule_of([] { test::produced_blob({}, 1).make_piece(0, {}); }), "blob.pieces");
}

// Like ==, but memcmp is faster with sanitizers than a loop.
bool same(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

TEST(IoTransfer, EveryKindOfBlobIntoEveryKindOfSink) {
  const Scratch scratch;
  const Bytes big = noise((std::size_t{9} << 20) + 17, 1);
  Bytes soft(std::size_t{9} << 20);
  for (std::size_t i = 0; i < soft.size(); i += 4096) soft[i] = static_cast<std::byte>(i >> 12);
  put_file(scratch / "big", big);
  // First noise, then compressible bytes: what was already written uncompressed must be compressed after all.
  Bytes late = noise(std::size_t{8} << 20, 2);
  late.insert(late.end(), soft.begin(), soft.begin() + (1 << 20));
  // Fourteen zeros after the noise: their frame shrinks by less than the others grow.
  Bytes hardly = noise(std::size_t{32} << 20, 3);
  hardly.insert(hardly.end(), 14, std::byte{0});
  const std::string packed = zt_text::packed(to_text(soft)), stream = zt_text::packed_stream(to_text(soft));
  const std::vector<Blob> blobs = {Blob::memory(big),
                                   Blob::range(open_file(scratch / "big"), 5, big.size() - 5),
                                   Blob::range(open_file(scratch / "big", Access::pread), 0, 100),
                                   Blob(),
                                   Blob::memory({}),
                                   Blob::memory(soft),
                                   Blob::memory(late),
                                   Blob::memory(hardly),
                                   InPieces::blob(),
                                   Blob::zstd(memory_source(to_bytes(packed)), 0, packed.size(), soft.size()),
                                   Blob::zstd(memory_source(to_bytes(stream)), 0, stream.size(), soft.size())};
  // Sanitizers make this twenty times slower, and one case with several threads and a digest is enough for them.
  const std::vector<DigestAlgorithm> digests =
      kCountsMemory ? std::vector{DigestAlgorithm::none, DigestAlgorithm::xxh3} : std::vector{DigestAlgorithm::xxh3};
  const std::vector<unsigned> counts = kCountsMemory ? std::vector{1U, 4U} : std::vector{4U};
  for (const bool zstd : {false, true})
    for (const auto digest : digests) {
      std::optional<Bytes> first;
      for (const int kind : {0, 1, 2})
        for (const unsigned threads : counts) {
          std::unique_ptr<Sink> sink;
          FILE* const plain = kind == 2 ? std::fopen((scratch / "pipe").c_str(), "wb") : nullptr;
          if (kind == 0) sink = std::make_unique<MemorySink>();
          if (kind == 1) sink = create_file(scratch / "out", {.overwrite = true, .durable = false});
          if (kind == 2) sink = descriptor_sink(fileno(plain), "pipe");
          Progress progress;
          TransferOptions options{.alignment = 64, .digest = digest, .threads = threads, .progress = &progress};
          if (zstd) options.zstd_level = 1;
          Transfer transfer(*sink, options);
          std::uint64_t total = 0;
          for (const Blob& blob : blobs) {
            transfer.add(blob);
            total += blob.size();
          }
          transfer.finish();
          sink->commit();
          if (plain != nullptr) std::fclose(plain);
          EXPECT_EQ(progress.done(), total) << kind;
          const Bytes found =
              kind == 0 ? dynamic_cast<MemorySink&>(*sink).take() : get_file(scratch / (kind == 1 ? "out" : "pipe"));
          if (!first) first = found;
          EXPECT_TRUE(same(found, *first)) << "sink " << kind << ", " << threads << " threads, zstd " << zstd;
          const SourcePtr all = memory_source(found);
          for (std::size_t i = 0; i < blobs.size(); ++i) {
            const StoredBlob& stored = transfer.stored(i);
            EXPECT_EQ(stored.offset % 64, 0U);
            ASSERT_LE(stored.offset + stored.stored, found.size());
            const Blob back = stored.encoding == Encoding::zstd
                                  ? Blob::zstd(all, stored.offset, stored.stored, stored.size, stored.digest)
                                  : Blob::range(all, stored.offset, stored.stored, stored.digest);
            EXPECT_TRUE(same(back.bytes(), blobs[i].bytes())) << i;
            EXPECT_EQ(rule_of([&] { back.verify(); }), "");
            EXPECT_EQ(static_cast<bool>(stored.digest), digest != DigestAlgorithm::none);
          }
        }
    }
}

// Compressed bytes are checked whichever way they are decoded.
TEST(IoBlob, PackedBytesThatDoNotMatchTheirDigestAreNotDecoded) {
  Bytes soft(std::size_t{9} << 20);
  const std::string packed = zt_text::packed(to_text(soft));
  const Digest wrong = digest_of(DigestAlgorithm::crc32c, to_bytes("other bytes"));
  const auto blob = [&](const Digest& digest) {
    return Blob::zstd(memory_source(to_bytes(packed)), 0, packed.size(), soft.size(), digest);
  };
  const Digest right = digest_of(DigestAlgorithm::crc32c, to_bytes(packed));
  for (const bool good : {true, false}) {
    const Tensor tensor = dense("w", Shape{soft.size() / 4}, DType::f32, blob(good ? right : wrong));
    const Blob& data = tensor.components[0].blob;
    const std::string expected = good ? "" : "digest.mismatch";
    Bytes some(8);
    EXPECT_EQ(rule_of([&] { data.read(std::size_t{5} << 20, some); }), expected);
    EXPECT_EQ(rule_of([&] { (void)data.bytes(); }), expected);
    EXPECT_EQ(rule_of([&] { data.verify(); }), expected);
    EXPECT_EQ(rule_of([&] { cast(tensor, DType::f16).components[0].blob.read(0, some); }), expected);
    MemorySink sink;
    Transfer transfer(sink, {.threads = 2});
    EXPECT_EQ(rule_of([&] {
                transfer.add(cast(tensor, DType::f16).components[0].blob);
                transfer.finish();
              }),
              expected);
  }
}

// An input that fails in the middle ends in its error, on any number of threads, and does not hang.
class FailingProducer final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  explicit FailingProducer(std::uint64_t step) : step_(step) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    struct Reader final : BlobReader {
      explicit Reader(std::uint64_t a) : at(a) {}
      std::uint64_t at;
      void read(std::span<std::byte> out) override {
        at += out.size();
        if (at > (std::uint64_t{6} << 20)) throw Error(ErrorKind::corrupt, "test.broken", "broken");
        std::fill(out.begin(), out.end(), std::byte{1});
      }
    };
    return std::make_unique<Reader>(offset);
  }
  std::uint64_t seek_granularity() const override { return step_; }

 private:
  std::uint64_t step_;
};

// Frames that do not shrink are held back until one does; then all are written, in order.
TEST(IoTransfer, LateShrinkingFramesKeepTheEarlierOnes) {
  Bytes mixed = noise(2 * io::kZstdFrame, 7);
  mixed.resize(4 * io::kZstdFrame + 1000);
  const Bytes stubborn = noise(io::kZstdFrame + 5, 8);
  for (const unsigned threads : {1u, 3u}) {
    MemorySink sink;
    Transfer transfer(sink, {.zstd_level = 1, .digest = DigestAlgorithm::sha256, .threads = threads});
    const std::size_t a = transfer.add(Blob::memory(mixed)), b = transfer.add(Blob::memory(stubborn)),
                      c = transfer.add(Blob::memory(mixed));
    transfer.finish();
    sink.commit();
    const Bytes file = sink.take();
    const std::pair<std::size_t, const Bytes*> expected[] = {{a, &mixed}, {b, &stubborn}, {c, &mixed}};
    for (const auto& [number, bytes] : expected) {
      const StoredBlob& stored = transfer.stored(number);
      const SourcePtr source = borrow_memory(file);
      EXPECT_EQ(stored.encoding, number == b ? Encoding::raw : Encoding::zstd);
      const Blob blob = stored.encoding == Encoding::zstd
                            ? Blob::zstd(source, stored.offset, stored.stored, stored.size, stored.digest)
                            : Blob::range(source, stored.offset, stored.stored, stored.digest);
      EXPECT_NO_THROW(blob.verify());
      EXPECT_TRUE(blob.bytes() == *bytes);
    }
  }
}

// Records the progress each time more bytes are requested.
class ProgressRecorder final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  explicit ProgressRecorder(const Progress& progress) : progress_(progress) {}
  std::unique_ptr<BlobReader> open(std::uint64_t) const override {
    struct Reader final : BlobReader {
      explicit Reader(const ProgressRecorder& n) : recorder(n) {}
      const ProgressRecorder& recorder;
      void read(std::span<std::byte> out) override {
        recorder.seen.push_back(recorder.progress_.done());
        std::fill(out.begin(), out.end(), std::byte{1});
      }
    };
    return std::make_unique<Reader>(*this);
  }
  mutable std::vector<std::uint64_t> seen;

 private:
  const Progress& progress_;
};

// A tensor of gigabytes takes minutes, so progress is counted during compression, not after it.
TEST(IoTransfer, CompressedBytesCountFrameByFrame) {
  for (const bool pipe : {false, true}) {
    Progress progress;
    const auto recorder = std::make_shared<ProgressRecorder>(progress);
    const Scratch scratch;
    FILE* const plain = pipe ? std::fopen((scratch / "pipe").c_str(), "wb") : nullptr;
    std::unique_ptr<Sink> sink;
    if (pipe)
      sink = descriptor_sink(fileno(plain), "pipe");
    else
      sink = std::make_unique<MemorySink>();
    Transfer transfer(*sink, {.zstd_level = 1, .threads = 1, .progress = &progress});
    transfer.add(Blob::produced(4 * io::kZstdFrame, recorder));
    transfer.finish();
    if (plain != nullptr) std::fclose(plain);
    // A pipe needs two passes, each counting half.
    const std::uint64_t step = pipe ? io::kZstdFrame / 2 : io::kZstdFrame;
    ASSERT_EQ(recorder->seen.size(), pipe ? 8U : 4U);
    for (std::size_t i = 0; i < recorder->seen.size(); ++i) EXPECT_EQ(recorder->seen[i], i * step);
    EXPECT_EQ(progress.done(), 4 * io::kZstdFrame);
  }
}

TEST(IoTransfer, ABrokenInputEndsInItsError) {
  for (const std::uint64_t step : {0U, 1U, 4096U})
    for (const bool zstd : {false, true})
      for (const unsigned threads : {1U, 3U, 8U}) {
        MemorySink sink;
        TransferOptions options{.threads = threads};
        if (zstd) options.zstd_level = 1;
        Transfer transfer(sink, options);
        EXPECT_EQ(rule_of([&] {
                    for (int i = 0; i < 3; ++i)
                      transfer.add(Blob::produced(std::uint64_t{40} << 20, std::make_shared<FailingProducer>(step)));
                    transfer.finish();
                  }),
                  "test.broken");
      }
}

TEST(IoParallel, OrderAndErrors) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::vector<std::size_t> taken;
    std::vector<std::size_t> slots(5, SIZE_MAX);
    parallel_in_order(
        1000, threads, 5, [&](std::size_t i, std::size_t slot) { slots[slot] = i; },
        [&](std::size_t i, std::size_t slot) {
          EXPECT_EQ(slots[slot], i);
          taken.push_back(i);
        });
    ASSERT_EQ(taken.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
    for (const bool in_take : {false, true}) {
      const auto fail = [](std::size_t i) {
        if (i == 500) throw Error(ErrorKind::io, "test.fail", "x");
      };
      EXPECT_EQ(rule_of([&] {
                  parallel_in_order(
                      1000, threads, 5,
                      [&](std::size_t i, std::size_t) {
                        if (!in_take) fail(i);
                      },
                      [&](std::size_t i, std::size_t) {
                        if (in_take) fail(i);
                      });
                }),
                "test.fail");
    }
    EXPECT_EQ(rule_of([&] {
                parallel_for(1000, threads, [](std::size_t i) {
                  if (i == 77) throw Error(ErrorKind::io, "test.fail", "x");
                });
              }),
              "test.fail");
  }
}

}  // namespace
}  // namespace tare
