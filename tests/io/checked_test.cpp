// Bytes with a digest are compared with it once, by whatever reads all of them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "tare/inspect.hpp"
#include "tare/rows.hpp"
#include "tare/slice.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// Counts the bytes that are read.
class CountingSource final : public Source {
 public:
  explicit CountingSource(Bytes bytes) : Source("counted", bytes.size()), bytes_(std::move(bytes)) {}
  std::uint64_t count() const { return count_; }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    count_ += out.size();
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

 private:
  Bytes bytes_;
  mutable std::atomic<std::uint64_t> count_{0};
};

constexpr std::uint64_t kLength = 1 << 16;

struct Counted {
  explicit Counted(bool damaged) : source(std::make_shared<CountingSource>(noise(kLength, 1))) {
    Bytes written = noise(kLength, 1);
    if (damaged) written[17] ^= std::byte{4};
    blob = Blob::range(source, 0, kLength, digest_of(DigestAlgorithm::xxh3, written));
  }
  std::shared_ptr<const CountingSource> source;
  Blob blob;
};

TEST(CheckedBytes, AreHashedOnceForAllWhoRead) {
  const Counted good(false);
  const Blob copy = good.blob;
  (void)good.blob.open();
  (void)copy.open(5);
  copy.verify();
  EXPECT_EQ(good.source->count(), kLength);
  (void)copy.bytes();
  EXPECT_EQ(good.source->count(), 2 * kLength) << "read, and not hashed again";
  const Counted other(false);
  (void)other.blob.bytes();
  EXPECT_EQ(other.source->count(), kLength) << "hashed as they were read";
  other.blob.verify();
  EXPECT_EQ(other.source->count(), kLength);
}

TEST(CheckedBytes, ManyThreadsWaitForOneAnswer) {
  const Counted bad(true);
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        refused += rule_of([&] { (void)bad.blob.open(static_cast<std::uint64_t>(i)); }) == "digest.mismatch";
      });
  }
  EXPECT_EQ(refused, 8);
  EXPECT_EQ(bad.source->count(), kLength);
}

TEST(CheckedBytes, APartIsReadWithoutTheRest) {
  const Counted bad(true);
  Bytes part(100);
  bad.blob.read(200, part);
  EXPECT_EQ(bad.source->count(), 100U);
  EXPECT_EQ(rule_of([&] { (void)bad.blob.unchecked().bytes(); }), "");
  EXPECT_EQ(rule_of([&] { (void)bad.blob.bytes(); }), "digest.mismatch");
  Bytes all(kLength);
  EXPECT_EQ(rule_of([&] { bad.blob.read(0, all); }), "digest.mismatch");
}

// A damaged file of each container that stores digests, and everything that reads a tensor from it.
class DamagedTensor : public ::testing::TestWithParam<std::string_view> {
 protected:
  DamagedTensor() {
    Model model;
    model.tensors = {make_dense("good", {8, 64}, DType::f32), make_dense("bad", {8, 64}, DType::f32, "", 2)};
    bytes_ = write_bytes(*find_format(GetParam()), model, {.digest = DigestAlgorithm::xxh3});
    const Model written = open(memory_source(bytes_));
    const Blob& blob = written.tensor("bad")->components[0].blob;
    EXPECT_TRUE(blob.digest());
    bytes_[static_cast<std::size_t>(blob.offset()) + 5] ^= std::byte{1};
    put_file(path_, bytes_);
  }

  // For every kind of source, because each has its own code paths.
  template <typename Work>
  void expect_refused(const char* what, const Work& work) const {
    for (const Access access : {Access::mapped, Access::pread}) {
      const Model model = open(path_, {.access = access});
      EXPECT_EQ(rule_of([&] { work(model); }), "digest.mismatch") << what;
    }
    const Model model = open(memory_source(bytes_));
    EXPECT_EQ(rule_of([&] { work(model); }), "digest.mismatch") << what;
  }

  Scratch scratch_;
  std::string path_ = scratch_ / "in";
  Bytes bytes_;
};

TEST_P(DamagedTensor, IsRefusedByAllThatReadIt) {
  const auto bad = [](const Model& model) { return *model.tensor("bad"); };
  expect_refused("values", [&](const Model& m) { (void)bad(m).values<float>(); });
  expect_refused("values of another type", [&](const Model& m) { (void)bad(m).values<double>(); });
  expect_refused("cast",
                 [&](const Model& m) { (void)cast(bad(m), DType::f16, Overflow::clamp).components[0].blob.bytes(); });
  expect_refused("statistics", [&](const Model& m) { (void)statistics(bad(m), 4, 4, {.threads = 2}); });
  expect_refused("content digest", [&](const Model& m) { (void)content_digest(m, {.threads = 1}); });
  expect_refused("difference", [&](const Model& m) {
    Model other = m;
    for (Tensor& tensor : other.tensors) tensor = cast(tensor, DType::f64);
    (void)diff(m, other, {.threads = 1});
  });
  expect_refused("quantize", [&](const Model& m) {
    AdaptOptions options;
    options.quant.method = "q8_0";
    MemorySink sink;
    const Adapted made = adapt(m, *find_format("gguf"), options);
    find_format("gguf")->write(made.model, sink, {});
  });
  expect_refused("reordering",
                 [&](const Model& m) { (void)slice(bad(m), parse_slice("::-1")).components[0].blob.bytes(); });
  for (const Format& format : formats())
    if (format.write != nullptr && format.holds.many_tensors && format.holds.architecture.empty() &&
        lists(format.holds.layouts, "dense"))
      expect_refused(std::string(format.name).c_str(), [&](const Model& m) {
        MemorySink sink;
        (void)save(m, sink, {.to = std::string(format.name)});
      });
  expect_refused("to a sink, cast", [&](const Model& m) {
    MemorySink sink;
    (void)save(m, sink, {.adapt = {.dtype = DType::f16, .overflow = Overflow::clamp}, .to = "zt"});
  });
}

TEST_P(DamagedTensor, CanBeLookedAtAndVerified) {
  const Model model = open(path_);
  EXPECT_EQ(rule_of([&] { (void)slice(*model.tensor("bad"), parse_slice("3")).values<float>(); }), "")
      << "a slice reads only what it shows";
  if (kLittleEndianHost) {
    EXPECT_EQ(rule_of([&] { (void)model.tensor("bad")->span<float>(); }), "");
  }
  EXPECT_EQ(rule_of([&] { model.tensor("bad")->components[0].blob.verify(); }), "digest.mismatch");
  EXPECT_EQ(rule_of([&] { model.tensor("good")->components[0].blob.verify(); }), "");
  const Verification found = verify(path_);
  ASSERT_EQ(std::ranges::count(found.findings, std::string("digest.mismatch"), &Finding::rule), 1);
}

INSTANTIATE_TEST_SUITE_P(Containers, DamagedTensor, ::testing::Values("zt", "zt2"));

TEST(SaveToASink, IsTheFileThatSaveWrites) {
  Model model;
  model.tensors = {make_dense("w", {8, 64}, DType::bf16)};
  const Scratch scratch;
  const SaveOptions options{.adapt = {.dtype = DType::f32}, .write = {.zstd_level = 3}, .to = "zt"};
  (void)save(model, scratch / "w.zt", options);
  MemorySink sink;
  const Saved saved = save(model, sink, options);
  EXPECT_EQ(saved.to, "zt");
  EXPECT_EQ(saved.file_bytes, sink.bytes().size());
  EXPECT_EQ(sink.bytes(), get_file(scratch / "w.zt"));
  EXPECT_EQ(rule_of([&] { (void)save(model, sink, {.to = "hf"}); }), "convert.format");
  EXPECT_EQ(rule_of([&] { (void)save(model, sink, {}); }), "convert.format");
}

}  // namespace
}  // namespace tare
