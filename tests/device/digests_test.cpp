// Digests that the device computes of arrived bytes: they equal libxxhash's, for every length and offset; no tensor is
// returned before; and errors leave nothing allocated.
#include <gtest/gtest.h>

#include <set>

#include "device/harness.hpp"

namespace tare::testing {
namespace {

using device::Loading;
using device::Report;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Lengths around the units of the kernels: stripes of 64, blocks of 1024, steps of a MiB. The processor hashes the
// first.
const std::vector<std::uint64_t> kLengths = {kMiB - 1,    kMiB,           kMiB + 1,        kMiB + 63,
                                             kMiB + 64,   kMiB + 65,      kMiB + 1023,     kMiB + 1024,
                                             kMiB + 1025, 2 * kMiB + 100, 3 * kMiB - 1024, 5 * kMiB + 12345};
constexpr std::size_t kByDevice = 11;
const std::vector<std::uint64_t> kFew = {kMiB + 100, 2 * kMiB, 100};

class Digests : public DeviceTest {
 protected:
  // A model of bytes in one source, one tensor after the other, with digests by libxxhash.
  static Model model_of(Bytes bytes, const std::vector<std::uint64_t>& lengths, DigestAlgorithm algorithm,
                        std::uint64_t gap = 0) {
    std::vector<Digest> digests;
    std::uint64_t at = 0;
    for (const std::uint64_t length : lengths) {
      digests.push_back(digest_of(algorithm, std::span(bytes).subspan(at, length)));
      at += length + gap;
    }
    return with_digests(memory_source(std::move(bytes), "bytes"), lengths, digests, gap);
  }
  static Model with_digests(const SourcePtr& source, const std::vector<std::uint64_t>& lengths,
                            const std::vector<Digest>& digests, std::uint64_t gap = 0) {
    Model model;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      model.tensors.push_back(
          dense("t" + std::to_string(i), {lengths[i]}, DType::u8, Blob::range(source, at, lengths[i], digests[i])));
      at += lengths[i] + gap;
    }
    model.sources = {source};
    return model;
  }
  static std::uint64_t sum(const std::vector<std::uint64_t>& lengths, std::uint64_t gap = 0) {
    std::uint64_t all = 0;
    for (const std::uint64_t length : lengths) all += length + gap;
    return all;
  }
  static device::Options checking(unsigned threads = 3) {
    device::Options options = small_chunks();
    options.verify = true;
    options.work.threads = threads;
    return options;
  }
};

TEST_F(Digests, EveryLengthByAnyNumberOfThreads) {
  for (const DigestAlgorithm algorithm : {DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128})
    for (const unsigned threads : {1U, 5U}) {
      const Model model = model_of(random_bytes(sum(kLengths), threads), kLengths, algorithm);
      const std::uint64_t launches = driver.live().launches;
      Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, checking(threads));
      const Report report = loading.finish();
      EXPECT_EQ(report.digests, kLengths.size());
      EXPECT_EQ(report.threads, threads);
      EXPECT_GE(driver.live().launches - launches, 3 * kByDevice);
      EXPECT_GT(report.first_seconds, 0.0);
      expect_loaded(model, loading);
    }
}

// The processor hashes in order, so one thread reads a tensor; the device accepts chunks from all threads.
TEST_F(Digests, OneTensorIsReadByAllThreads) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 3000);
  const Model model = model_of(random_bytes(8 * kMiB, 1), {8 * kMiB}, DigestAlgorithm::xxh3);
  const Report report = device::load(model, device::arrange(model, device::all_of(model)), {}, checking(4)).finish();
  EXPECT_EQ(report.threads, 4U);
  EXPECT_EQ(report.digests, 1U);
  // One percent of the model, plus the useful minimum.
  EXPECT_LE(report.device_bytes, report.bytes + report.bytes / 100 + (std::uint64_t{257} << 10));
}

TEST_F(Digests, IntoPlacesOfTheCallerOnAnyByte) {
  const std::vector<std::uint64_t> lengths = {kMiB + 77, 2 * kMiB};
  const Model model = model_of(random_bytes(sum(lengths), 2), lengths, DigestAlgorithm::xxh3);
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  Model room;
  room.tensors.push_back(dense("room", {8 * kMiB}, DType::u8, Blob::memory(Bytes(8 * kMiB))));
  Loading other = device::load(room, device::arrange(room, device::all_of(room)), {}, small_chunks());
  other.finish();
  for (const std::uint64_t off : {0, 1, 8, 13}) {
    device::Destination destination;
    destination.each = true;
    for (std::uint64_t i = 0; i < 2; ++i)
      destination.memory.push_back({other.address(0) + 4 * kMiB * i + off, 3 * kMiB});
    Loading loading = device::load(model, arrangement, destination, checking());
    EXPECT_EQ(loading.finish().digests, 2U);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(on_device(loading, i) == expected_bytes(model, arrangement.tensors[i])) << off;
  }
}

// Neighbours with padding between them, which is copied along but not hashed.
TEST_F(Digests, PaddingBetweenTensorsIsNotHashed) {
  const std::vector<std::uint64_t> lengths = {kMiB, 2 * kMiB + 16, kMiB + 512};
  const Model model = model_of(random_bytes(sum(lengths, 48), 3), lengths, DigestAlgorithm::xxh3, 48);
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, checking());
  EXPECT_EQ(loading.finish().digests, 3U);
  expect_loaded(model, loading);
}

TEST_F(Digests, EveryByteCounts) {
  const std::vector<std::uint64_t> lengths = {kMiB + 5, 3 * kMiB + 100, kMiB + 64};
  const Bytes good = random_bytes(sum(lengths), 4);
  std::vector<Digest> digests;
  for (std::size_t i = 0, at = 0; i < lengths.size(); at += lengths[i++])
    digests.push_back(digest_of(DigestAlgorithm::xxh3, std::span(good).subspan(at, lengths[i])));
  const std::uint64_t begin = lengths[0];
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1023}, kMiB, 2 * kMiB + 77, 3 * kMiB, 3 * kMiB + 99}) {
    Bytes bad = good;
    bad[begin + at] ^= std::byte{0x10};
    const Model model = with_digests(memory_source(std::move(bad), "bytes"), lengths, digests);
    Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, checking());
    std::set<std::size_t> handed_out;
    try {
      while (const auto i = loading.next()) handed_out.insert(*i);
      ADD_FAILURE() << "no error for byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "digest.mismatch");
      EXPECT_EQ(error.item(), "tensor t1");
      EXPECT_EQ(error.file(), "bytes");
    }
    EXPECT_FALSE(handed_out.contains(1));
    EXPECT_THROW(loading.wait(1), Error);
    EXPECT_THROW(loading.finish(), Error);
  }
}

TEST_F(Digests, ATensorComesAfterItsDigest) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 2000);
  const Model model = model_of(random_bytes(sum(kLengths), 5), kLengths, DigestAlgorithm::xxh3);
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, checking());
  std::set<std::size_t> seen;
  while (const auto i = loading.next()) {
    EXPECT_TRUE(seen.insert(*i).second);
    EXPECT_TRUE(on_device(loading, *i) == expected_bytes(model, loading.arrangement().tensors[*i]));
  }
  EXPECT_EQ(seen.size(), kLengths.size());
}

// If the device does not accept the kernels, the processor hashes.
TEST_F(Digests, WithoutKernelsTheProcessorHashes) {
  const Model model = model_of(random_bytes(sum(kFew), 6), kFew, DigestAlgorithm::xxh3);
  for (const char* const name : {"cuModuleLoadData", "cuModuleGetFunction"})
    for (const int after : {0, 2, 0}) {
      device::release();
      driver.fail(name, after, 218);
      Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, checking());
      EXPECT_EQ(loading.finish().digests, kFew.size());
      EXPECT_EQ(driver.live().launches, 0U);
      expect_loaded(model, loading);
    }
}

TEST_F(Digests, CallsThatFailWhileTheDeviceHashes) {
  const Model model = model_of(random_bytes(sum(kFew), 7), kFew, DigestAlgorithm::xxh3);
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  for (const char* const name : {"cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamWaitEvent", "cuEventRecord",
                                 "cuStreamCreate", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"})
    for (const int after : {0, 1, 4}) {
      driver.fail(name, after, 999);
      try {
        device::load(model, arrangement, {}, checking()).finish();
        EXPECT_GT(after, 0) << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.rule(), "device.driver.failed") << name;
      }
      driver.fail("", 0, 0);
      EXPECT_EQ(device::load(model, arrangement, {}, checking()).finish().digests, kFew.size());
    }
}

TEST_F(Digests, StoppedWhileTheDeviceHashes) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 500);
  const Model model = model_of(random_bytes(sum(kFew), 8), kFew, DigestAlgorithm::xxh3);
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  for (unsigned micros = 0; micros < 40000; micros += 4000) {
    Loading loading = device::load(model, arrangement, {}, checking());
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
    loading.cancel();
    try {
      loading.finish();
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "work.stopped");
    }
  }
  for (int i = 0; i < 5; ++i) (void)device::load(model, arrangement, {}, checking());
}

}  // namespace
}  // namespace tare::testing
