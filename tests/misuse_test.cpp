// Misuse of the public headers: always an Error of kind usage, never a write outside an array.
#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "conformance/scratch.hpp"
#include "counting_source.hpp"
#include "produced_blob.hpp"
#include "tare/blob.hpp"
#include "tare/digest.hpp"
#include "tare/error.hpp"
#include "tare/inline_vector.hpp"
#include "tare/sink.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using test::produced_blob;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

template <typename Action>
std::string misuse_of(const Action& action) {
  const auto error = error_of(action);
  if (!error) return "no error";
  return error->kind() == ErrorKind::usage ? error->rule() : "not a usage error: " + error->rule();
}

TEST(MisuseDigest, AnotherNumberOfBytes) {
  const Bytes bytes(1000);
  struct Row {
    DigestAlgorithm algorithm;
    std::size_t length;
  };
  for (const Row& row : {Row{DigestAlgorithm::sha256, 32}, Row{DigestAlgorithm::crc32c, 4},
                         Row{DigestAlgorithm::xxh3, 8}, Row{DigestAlgorithm::xxh3_128, 16}}) {
    EXPECT_EQ(Digest(row.algorithm, std::span(bytes).first(row.length)).bytes().size(), row.length);
    for (const std::size_t wrong : {std::size_t{0}, row.length - 1, row.length + 1, std::size_t{33}, bytes.size()})
      EXPECT_EQ(misuse_of([&] { Digest(row.algorithm, std::span(bytes).first(wrong)); }), "digest.length");
  }
  EXPECT_FALSE(Digest(DigestAlgorithm::none, {}));
  EXPECT_EQ(misuse_of([&] { Digest(DigestAlgorithm::none, bytes); }), "digest.length");
  EXPECT_EQ(misuse_of([&] { Digest(DigestAlgorithm::unknown, bytes); }), "digest.algorithm");
}

TEST(MisuseHasher, AfterTheEndAndAfterAMove) {
  for (const auto algorithm : {DigestAlgorithm::none, DigestAlgorithm::sha256, DigestAlgorithm::crc32c,
                               DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128}) {
    SCOPED_TRACE(name_of(algorithm));
    Hasher hasher(algorithm);
    hasher.update("abc");
    Hasher next(std::move(hasher));
    // NOLINTBEGIN(bugprone-use-after-move): what is tested
    EXPECT_EQ(misuse_of([&] { hasher.update("d"); }), "digest.finished");
    EXPECT_EQ(misuse_of([&] { hasher.finish(); }), "digest.finished");
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_TRUE(next.finish() == digest_of(algorithm, to_bytes("abc")));
    EXPECT_EQ(misuse_of([&] { next.finish(); }), "digest.finished");
    EXPECT_EQ(misuse_of([&] { next.update("d"); }), "digest.finished");
    next = Hasher(algorithm);
    EXPECT_TRUE(next.finish() == digest_of(algorithm, {})) << "and may be used again";
  }
}

// For a sink in memory and one in a file.
template <typename Check>
void for_each_sink(const Check& check) {
  const Scratch scratch;
  {
    SCOPED_TRACE("memory");
    MemorySink sink;
    check(sink);
  }
  SCOPED_TRACE("file");
  const auto sink = create_file(scratch / "f");
  check(*sink);
}

TEST(MisuseSink, OutsideOfWhatWasWritten) {
  for_each_sink([](Sink& sink) {
    sink.write(to_bytes("0123456789"));
    const auto at = [&](std::uint64_t offset, std::size_t count) {
      return misuse_of([&] { sink.write_at(offset, Bytes(count)); });
    };
    EXPECT_EQ(at(0, 10), "no error");
    EXPECT_EQ(at(10, 0), "no error");
    EXPECT_EQ(at(0, 11), "io.sink.range");
    EXPECT_EQ(at(10, 1), "io.sink.range");
    EXPECT_EQ(at(1 << 20, 4096), "io.sink.range");
    EXPECT_EQ(at(kLargest, 2), "io.sink.range");
    const SourcePtr from = memory_source(Bytes(100));
    EXPECT_EQ(misuse_of([&] { sink.copy_at(5, *from, 0, 6); }), "io.sink.range");
    EXPECT_EQ(misuse_of([&] { sink.copy_at(kLargest - 1, *from, 0, 4); }), "io.sink.range");
    sink.rewind(4);
    EXPECT_EQ(at(0, 5), "io.sink.range") << "what a rewind left behind is not there any more";
    EXPECT_EQ(misuse_of([&] { sink.rewind(5); }), "io.sink.range");
    EXPECT_EQ(misuse_of([&] { sink.skip(kLargest - 1); }), "io.sink.range");
    EXPECT_EQ(misuse_of([&] { sink.align(0); }), "io.sink.align");
    EXPECT_EQ(sink.position(), 4U) << "none of it moved anything";
    sink.align(8);
    EXPECT_EQ(sink.position(), 8U);
  });
}

TEST(MisuseSink, MoreMemoryThanThereIs) {
  MemorySink sink;
  sink.write(to_bytes("abc"));
  EXPECT_THROW(sink.skip(kLargest / 2), std::bad_alloc);
  EXPECT_EQ(sink.position(), 3U);
  EXPECT_EQ(to_text(sink.take()), "abc");
}

TEST(MisuseSink, WhatWasWrittenOutlivesItsSink) {
  const Scratch scratch;
  for (const bool memory : {true, false}) {
    SCOPED_TRACE(memory ? "memory" : "file");
    std::unique_ptr<Sink> sink;
    if (memory)
      sink = std::make_unique<MemorySink>();
    else
      sink = create_file(scratch / "f");
    sink->write(to_bytes("0123456789junk"));
    sink->rewind(10);
    const SourcePtr written = sink->written();
    EXPECT_EQ(written->size(), 10U);
    sink->write(Bytes(100'000));  // makes the memory move
    sink.reset();
    const auto reused = create_file(scratch / "other");  // gets the descriptor that was closed
    reused->write(to_bytes("##########"));
    Bytes found(10);
    written->read(0, found);
    EXPECT_EQ(to_text(found), "0123456789");
  }
}

TEST(MisuseSink, TakenBytesAreGone) {
  MemorySink sink("it");
  sink.write(to_bytes("0123456789"));
  const SourcePtr before = sink.written();
  EXPECT_EQ(to_text(sink.take()), "0123456789");
  EXPECT_EQ(sink.position(), 0U);
  EXPECT_EQ(misuse_of([&] { sink.write_at(0, to_bytes("x")); }), "io.sink.range");
  EXPECT_EQ(sink.written()->size(), 0U);
  sink.write(to_bytes("again"));
  EXPECT_EQ(to_text(sink.bytes()), "again");
  Bytes found(10);
  before->read(0, found);
  EXPECT_EQ(to_text(found), "0123456789");
}

TEST(MisuseBlob, PiecesThatAreNotThere) {
  const PutRun put = [](std::uint64_t, std::span<const std::byte>) {};
  EXPECT_EQ(misuse_of([&] { Blob().make_piece(0, put); }), "blob.pieces");
  EXPECT_EQ(misuse_of([&] { Blob::memory(Bytes(8)).make_piece(0, put); }), "blob.pieces");
  EXPECT_EQ(misuse_of([&] { produced_blob(Bytes(8), 1).make_piece(0, put); }), "blob.pieces");
}

TEST(MisuseBlob, RangesOutsideOfTheSource) {
  const SourcePtr source = memory_source(Bytes(10));
  EXPECT_EQ(Blob::range(source, 4, 6).bytes().size(), 6U);
  EXPECT_EQ(misuse_of([&] { Blob::range(source, 4, 7); }), "blob.bounds");
  EXPECT_EQ(misuse_of([&] { Blob::range(source, kLargest, 2); }), "blob.bounds");
  EXPECT_EQ(misuse_of([&] { Blob::range(nullptr, 0, 1); }), "blob.bounds");
  EXPECT_EQ(misuse_of([&] { Blob::produced(5, nullptr); }), "blob.producer");
  EXPECT_TRUE(Blob().bytes().empty());
}

// Promises two bytes but makes three.
class OversizedProducer final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  std::unique_ptr<BlobReader> open(std::uint64_t) const override { return nullptr; }
  std::size_t pieces() const override { return 1; }
  void make_piece(std::size_t, const PutRun& put) const override { put(1, Bytes(2)); }
};

TEST(MisuseBlob, AProducerThatMakesTooMuch) {
  const Blob blob = Blob::produced(2, std::make_shared<OversizedProducer>());
  EXPECT_EQ(misuse_of([&] { blob.bytes(); }), "blob.bounds");
  // Otherwise a writer would overwrite what follows the blob.
  EXPECT_EQ(misuse_of([&] { blob.make_piece(0, [](std::uint64_t, std::span<const std::byte>) {}); }), "blob.bounds");
  EXPECT_EQ(misuse_of([&] { blob.open(); }), "blob.producer");
}

// Records the threads on which its pieces are made.
class ThreadRecordingProducer final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  std::unique_ptr<BlobReader> open(std::uint64_t) const override { return nullptr; }
  std::size_t pieces() const override { return 64; }
  void make_piece(std::size_t piece, const PutRun& put) const override {
    if (std::this_thread::get_id() != owner_) ++elsewhere;
    put(piece, Bytes(1, std::byte{7}));
  }
  mutable std::atomic<int> elsewhere = 0;

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

TEST(BlobThreads, OneIsThisOne) {
  const auto watched = std::make_shared<ThreadRecordingProducer>();
  EXPECT_TRUE(Blob::produced(64, watched).bytes(64, 1) == Bytes(64, std::byte{7}));
  EXPECT_EQ(watched->elsewhere, 0);
}

TEST(MisuseInlineVector, AnElementOfItsOwn) {
  InlineVector<std::string, 2> items;
  const std::string first(100, 'x');
  items.push_back(first);
  // Reallocates at 2, 4, 8, 16.
  while (items.size() < 20) items.emplace_back(items[0]);
  for (const std::string& item : items) EXPECT_EQ(item, first);
  items.emplace_back(items.back().c_str());
  EXPECT_EQ(items.back(), first);
}

// Counts its instances, and throws when it is copied for the n-th time.
struct ThrowingCopy {
  explicit ThrowingCopy(int& alive, int& copies_left) : alive_(&alive), left_(&copies_left) { ++*alive_; }
  ThrowingCopy(const ThrowingCopy& other) : alive_(other.alive_), left_(other.left_) {
    if ((*left_)-- == 0) throw std::runtime_error("no more copies");
    ++*alive_;
  }
  ThrowingCopy(ThrowingCopy&& other) noexcept : alive_(other.alive_), left_(other.left_) { ++*alive_; }
  ThrowingCopy& operator=(const ThrowingCopy&) = delete;
  ThrowingCopy& operator=(ThrowingCopy&&) = delete;
  ~ThrowingCopy() { --*alive_; }
  int* alive_;
  int* left_;
};

TEST(MisuseInlineVector, ACopyThatFailsLeavesNothing) {
  int alive = 0, left = 1000;
  {
    InlineVector<ThrowingCopy, 2> all;
    for (int i = 0; i < 10; ++i) all.emplace_back(alive, left);
    EXPECT_EQ(alive, 10);
    for (int fail_at = 0; fail_at < 10; ++fail_at) {
      left = fail_at;
      EXPECT_THROW((InlineVector<ThrowingCopy, 2>(all.begin(), all.end())), std::runtime_error);
      EXPECT_EQ(alive, 10) << fail_at;
      left = 0;
      EXPECT_THROW(all.emplace_back(all[0]), std::runtime_error);
      EXPECT_EQ(all.size(), 10U);
    }
  }
  EXPECT_EQ(alive, 0);
}

// A copy that throws during stack unwinding ends the process.
static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_copy_assignable_v<Error>);

TEST(MisuseError, CopiesGoTheirOwnWays) {
  const Error original(ErrorKind::corrupt, "a.rule", "a sentence");
  Error copy = original;
  copy.in("file").at(7).about("item").in("other").at(8).about("else");
  EXPECT_STREQ(copy.what(), "file: item: a sentence (a.rule, byte 7)");
  EXPECT_STREQ(original.what(), "a sentence (a.rule)");
  Error moved = std::move(copy);
  moved.about("");
  EXPECT_STREQ(moved.what(), "file: item: a sentence (a.rule, byte 7)");
  EXPECT_STREQ(copy.what(), moved.what())
      << "a copy, so that nothing is left empty";  // NOLINT(bugprone-use-after-move)
  copy = original;
  EXPECT_EQ(copy.offset(), std::nullopt);
}

TEST(MisuseError, ThreadsMayAskAtOnce) {
  const Error original = Error(ErrorKind::io, "a.rule", "a sentence").in("file");
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, copy = original]() mutable {
        right += std::string_view(copy.what()) == "file: a sentence (a.rule)";
        right += std::string_view(copy.at(1).what()) == "file: a sentence (a.rule, byte 1)";
      });
  }
  EXPECT_EQ(right, 8);
}

}  // namespace
}  // namespace tare
