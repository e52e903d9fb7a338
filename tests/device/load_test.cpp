// The whole loader with the fake driver: what arrives, what is read and allocated, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "device/harness.hpp"
#include "tare/slice.hpp"

namespace tare::testing {
namespace {

using device::AxisRange;
using device::Choice;
using device::Loading;
using device::Report;

class Load : public DeviceTest {};

TEST_F(Load, EveryContainer) {
  for (const Format& format : formats()) {
    if (format.write == nullptr && format.write_tree == nullptr) continue;
    const std::string path = scratch / ("model-" + std::string(format.name));
    Model made = some_model();
    if (std::string_view(format.name) == "npy") made.tensors.resize(1);
    try {
      save_as(std::move(made), path, std::string(format.name));
    } catch (const Error&) {
      continue;  // the container is for one kind of model
    }
    const Model model = open(path);
    Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
    const Report report = loading.finish();
    SCOPED_TRACE(format.name);
    expect_loaded(model, loading);
    EXPECT_LE(report.read_bytes, report.bytes + report.bytes / 50);
    EXPECT_LE(report.device_bytes, report.bytes + report.bytes / 100 + 4096);
    EXPECT_EQ(loading.arrangement().buffers.size(),
              loading.arrangement().pieces == nullptr ? 0 : loading.arrangement().buffers.size());
  }
}

TEST_F(Load, CompressedAndCoded) {
  const std::string path = save_as(some_model(), scratch / "packed.zt", "zt", {.zstd_level = 3});
  const Model model = open(path);
  ASSERT_NE(model.tensor("large")->components[0].blob.encoding(), Encoding::raw);
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
  loading.finish();
  expect_loaded(model, loading);
}

TEST_F(Load, ShardsHaveBuffersOfTheirOwn) {
  SaveOptions options;
  options.to = "safetensors";
  options.write.shard_bytes = 1000000;
  save(some_model(), scratch / "shards/", options);
  const Model model = open(scratch / "shards");
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  EXPECT_GT(arrangement.buffers.size(), 1U);
  Loading loading = device::load(model, arrangement, {}, small_chunks());
  loading.finish();
  expect_loaded(model, loading);
}

// Many small tensors are copied together, and no byte of the destination is written twice.
TEST_F(Load, NeighboursTravelTogether) {
  Model made;
  for (unsigned i = 0; i < 2000; ++i)
    made.tensors.push_back(float_tensor("t" + std::to_string(i), {16, 20}, DType::f32, i));
  const Model model = open(save_as(std::move(made), scratch / "many.safetensors", "safetensors"));
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
  const Report report = loading.finish();
  expect_loaded(model, loading);
  EXPECT_LE(driver.live().copies, 2000U * 1280 / (256 << 10) + 3);
  EXPECT_LE(report.reads, driver.live().copies);
  std::vector<FakeCopy> copies = driver.copies();
  std::sort(copies.begin(), copies.end(), [](const FakeCopy& a, const FakeCopy& b) { return a.to < b.to; });
  for (std::size_t i = 1; i < copies.size(); ++i) EXPECT_GE(copies[i].to, copies[i - 1].to + copies[i - 1].bytes);
}

TEST_F(Load, SlotsAreReusedAndBudgetsKept) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 300);
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  for (const unsigned threads : {1U, 2U, 5U}) {
    device::Options options = small_chunks();
    options.work.threads = threads;
    options.pinned_bytes = std::uint64_t{512} << 10;  // two slots in total
    Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, options);
    const Report report = loading.finish();
    expect_loaded(model, loading);
    EXPECT_LE(report.pinned_bytes, options.pinned_bytes);
    EXPECT_LE(report.threads, 2U);
    EXPECT_LE(driver.live().most_pinned_bytes, options.pinned_bytes);
    EXPECT_GT(driver.live().copies, 4U);
  }
}

TEST_F(Load, PinnedMemoryIsKeptAndReleased) {
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  device::load(model, arrangement, {}, small_chunks()).finish();
  const std::uint64_t kept = driver.live().pinned_bytes;
  EXPECT_GT(kept, 0U);
  device::load(model, arrangement, {}, small_chunks()).finish();
  EXPECT_EQ(driver.live().most_pinned_bytes, kept);
  device::release();
  EXPECT_EQ(driver.live().pinned_bytes, 0U);
}

// A finished load does not keep the ring from the next one, however long its object lives.
TEST_F(Load, LoadsThatAreKeptLetOthersHaveTheRing) {
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  device::Options options = small_chunks();
  options.pinned_bytes = 2 * options.work.threads * options.chunk_bytes;
  std::vector<Loading> kept;
  for (int i = 0; i < 4; ++i) {
    kept.push_back(device::load(model, arrangement, {}, options));
    kept.back().finish();
    EXPECT_EQ(kept.back().finish().pinned_bytes, options.pinned_bytes);
  }
  for (const Loading& loading : kept) expect_loaded(model, loading);
}

TEST_F(Load, PartsAlongEveryAxis) {
  Model made;
  made.tensors.push_back(float_tensor("matrix", {384, 1024}, DType::f32, 1));
  made.tensors.push_back(float_tensor("wide", {4, 200000}, DType::f16, 2));
  made.tensors.push_back(float_tensor("cube", {12, 30, 50}, DType::f32, 3));
  const Model model = open(save_as(std::move(made), scratch / "m.safetensors", "safetensors"));
  for (const Choice& choice : std::vector<Choice>{{"matrix", AxisRange{0, 96, 192}},
                                                  {"matrix", AxisRange{1, 256, 512}},
                                                  {"matrix", AxisRange{1, 0, 1}},
                                                  {"wide", AxisRange{1, 50000, 150000}},
                                                  {"cube", AxisRange{1, 7, 20}},
                                                  {"cube", AxisRange{2, 49, 50}},
                                                  {"cube", AxisRange{0, 3, 3}}}) {
    Loading loading = device::load(model, device::arrange(model, {choice}), {}, small_chunks());
    const Report report = loading.finish();
    std::string spec;
    for (std::size_t i = 0; i < choice.part->axis; ++i) spec += ":,";
    spec += std::to_string(choice.part->begin) + ":" + std::to_string(choice.part->end);
    const Tensor expected = slice(*model.tensor(choice.tensor), parse_slice(spec));
    EXPECT_TRUE(on_device(loading, 0) == expected.components[0].blob.bytes()) << choice.tensor << " " << spec;
    EXPECT_TRUE(loading.arrangement().tensors[0].shape == expected.shape);
    EXPECT_LE(report.read_bytes, report.bytes + report.bytes / 50) << spec;
  }
}

TEST_F(Load, FourRanksReadEachByteOnce) {
  Model made;
  for (unsigned i = 0; i < 8; ++i) {
    made.tensors.push_back(float_tensor("up." + std::to_string(i), {512, 256}, DType::f16, i));
    made.tensors.push_back(float_tensor("down." + std::to_string(i), {256, 512}, DType::f16, 20 + i));
  }
  const Model model = open(save_as(std::move(made), scratch / "m.safetensors", "safetensors"));
  std::uint64_t read = 0, bytes = 0;
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    device::Choices plan;
    for (unsigned i = 0; i < 8; ++i) {
      plan.push_back({"up." + std::to_string(i), AxisRange{0, rank * 128, rank * 128 + 128}});
      plan.push_back({"down." + std::to_string(i), AxisRange{1, rank * 128, rank * 128 + 128}});
    }
    const Report report = device::load(model, device::arrange(model, plan), {}, small_chunks()).finish();
    EXPECT_LE(report.read_bytes, report.bytes + report.bytes / 50);
    read += report.read_bytes;
    bytes += report.bytes;
  }
  EXPECT_EQ(bytes, 8U * 2 * 512 * 256 * 2);
  EXPECT_LE(read, bytes + bytes / 50);
}

TEST_F(Load, TiedTensorsOnce) {
  Model model;
  const Blob shared = Blob::memory(random_bytes(300000, 1));
  model.tensors.push_back(dense("embedding", {75000}, DType::f32, shared));
  model.tensors.push_back(dense("head", {75000}, DType::f32, shared));
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
  const Report report = loading.finish();
  EXPECT_EQ(loading.address(0), loading.address(1));
  EXPECT_EQ(report.bytes, 300000U);
  expect_loaded(model, loading);
}

TEST_F(Load, IntoMemoryOfTheCaller) {
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  const device::Arrangement arrangement = device::arrange(model, device::all_of(model));
  // Buffers of another load are ordinary device memory.
  for (const bool each : {false, true}) {
    Loading other = device::load(model, arrangement, {}, small_chunks());
    other.finish();
    device::Destination destination;
    destination.each = each;
    if (each)
      for (std::size_t i = 0; i < arrangement.tensors.size(); ++i)
        destination.memory.push_back({other.address(i), arrangement.tensors[i].bytes});
    else
      destination.memory.push_back({other.address(0) - arrangement.tensors[0].offset, arrangement.buffers[0]});
    Loading loading = device::load(model, arrangement, destination, small_chunks());
    const Report report = loading.finish();
    EXPECT_EQ(report.device_bytes, 0U);
    expect_loaded(model, loading);
  }
}

// Each tensor is returned once, long before the last is read.
TEST_F(Load, TensorsComeOneByOne) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 2000);
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
  std::set<std::size_t> seen;
  std::size_t copies_at_first = 0;
  while (const auto i = loading.next()) {
    if (seen.empty()) copies_at_first = driver.live().copies;
    EXPECT_TRUE(seen.insert(*i).second);
  }
  EXPECT_EQ(seen.size(), model.tensors.size());
  loading.finish();
  EXPECT_LT(copies_at_first, driver.live().copies);
  expect_loaded(model, loading);
}

// The consumer's stream waits on the device, not on the host.
TEST_F(Load, StreamsOfTheConsumerWait) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 3000);
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, small_chunks());
  loading.wait(0);
  const auto push = driver.find<int(void**, int)>("cuDevicePrimaryCtxRetain");
  void* context = nullptr;
  push(&context, 7);
  driver.find<int(void*)>("cuCtxPushCurrent_v2")(context);
  driver.find<int(void*)>("cuStreamSynchronize")(nullptr);  // waits for what `wait` queued
  EXPECT_TRUE(on_device(loading, 0) == expected_bytes(model, loading.arrangement().tensors[0]));
  driver.find<int(void**)>("cuCtxPopCurrent_v2")(&context);
  loading.finish();
  driver.find<int(int)>("cuDevicePrimaryCtxRelease_v2")(7);
}

TEST_F(Load, TwoLoadsAtOnceShareTheBudget) {
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  device::Options options = small_chunks();
  options.pinned_bytes = std::uint64_t{1} << 20;
  std::vector<std::jthread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, options);
      loading.finish();
      ++done;
    });
  threads.clear();
  EXPECT_EQ(done, 4);
  EXPECT_LE(driver.live().most_pinned_bytes, options.pinned_bytes);
}

TEST_F(Load, IntoTheSecondOfTwoDevices) {
  driver.set(2, 13000, std::uint64_t{1} << 30, 20);
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  const auto ordinal = [&](std::uint64_t address) {
    int found = -1;
    driver.find<int(void*, int, std::uint64_t)>("cuPointerGetAttribute")(&found, 9, address);
    return found;
  };
  void* context = nullptr;
  driver.find<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 7);
  driver.find<int(void*)>("cuCtxPushCurrent_v2")(context);
  for (const int number : {0, 1}) {
    device::Options options = small_chunks();
    options.device = "cuda:" + std::to_string(number);
    Loading loading = device::load(model, device::arrange(model, device::all_of(model), options.device), {}, options);
    loading.finish();
    expect_loaded(model, loading);
    EXPECT_EQ(ordinal(loading.address(0)), number);
  }
  driver.find<int(void**)>("cuCtxPopCurrent_v2")(&context);
  driver.find<int(int)>("cuDevicePrimaryCtxRelease_v2")(7);
}

TEST_F(Load, NothingAndEmptyTensors) {
  Model model;
  EXPECT_EQ(device::load(model, device::arrange(model, {})).finish().bytes, 0U);
  model.tensors.push_back(dense("none", {0, 5}, DType::f32, Blob::memory({})));
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)));
  EXPECT_EQ(loading.next(), std::optional<std::size_t>(0));
  EXPECT_EQ(loading.next(), std::nullopt);
  EXPECT_EQ(loading.finish().bytes, 0U);
}

TEST_F(Load, DirectReadingGivesTheSame) {
  const Scratch disk(std::filesystem::current_path().string());
  const Model model = open(save_as(some_model(), disk / "m.safetensors", "safetensors"));
  device::Options options = small_chunks();
  options.reading = device::Reading::direct;
  Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, options);
  const Report report = loading.finish();
  expect_loaded(model, loading);
  EXPECT_LE(report.direct_bytes, report.read_bytes);  // equal if the file system supports direct reads
}

TEST_F(Load, FilesInMemoryAreNeverReadDirectly) {
  if (Scratch::fast_place() != "/dev/shm") GTEST_SKIP() << "no file system in memory";
  const Model model = open(save_as(some_model(), scratch / "m.safetensors", "safetensors"));
  device::Options options = small_chunks();
  options.reading = device::Reading::direct;
  EXPECT_EQ(device::load(model, device::arrange(model, device::all_of(model)), {}, options).finish().direct_bytes, 0U);
}

// --- checks during loading ---

TEST_F(Load, DigestsAreCompared) {
  for (const DigestAlgorithm algorithm : {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3}) {
    const std::string path = scratch / ("d-" + std::string(name_of(algorithm)) + ".zt");
    save_as(some_model(), path, "zt", {.digest = algorithm});
    device::Options options = small_chunks();
    options.verify = true;
    {
      const Model model = open(path);
      Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, options);
      const Report report = loading.finish();
      EXPECT_EQ(report.digests, model.tensors.size());
      EXPECT_EQ(report.nan + report.inf, 0U);
      expect_loaded(model, loading);
    }
    // Flips a bit of the tensor in the middle.
    std::uint64_t at = 0;
    {
      const Model model = open(path);
      at = model.tensor("half")->components[0].blob.offset() + 300000;
    }
    Bytes bytes = get_file(path);
    bytes[at] ^= std::byte{1};
    put_file(path, bytes);
    const Model model = open(path);
    Loading loading = device::load(model, device::arrange(model, device::all_of(model)), {}, options);
    std::set<std::string> handed_out;
    try {
      while (const auto i = loading.next()) handed_out.insert(loading.arrangement().tensors[*i].tensor);
      loading.finish();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "digest.mismatch");
      EXPECT_EQ(error.item(), "tensor half");
      EXPECT_EQ(error.file(), path);
    }
    EXPECT_FALSE(handed_out.contains("half"));
  }
}

TEST_F(Load, NanAndInfinitiesAreCounted) {
  Model made;
  std::vector<float> values = random_floats(300000, 1);
  values[5] = values[299999] = std::numeric_limits<float>::quiet_NaN();
  values[70000] = std::numeric_limits<float>::infinity();
  made.tensors.push_back(float_tensor("fine", {1000}, DType::f32, 1));
  made.tensors.push_back(dense("broken", {300000}, values));
  const Model model = open(save_as(std::move(made), scratch / "m.safetensors", "safetensors"));
  device::Options options = small_chunks();
  options.verify = true;
  const Report report = device::load(model, device::arrange(model, device::all_of(model)), {}, options).finish();
  EXPECT_EQ(report.nan, 2U);
  EXPECT_EQ(report.inf, 1U);
  EXPECT_EQ(report.nonfinite, "broken");
}

}  // namespace
}  // namespace tare::testing
