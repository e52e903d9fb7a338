// Every failure ends in an error with its rule, leaves nothing allocated, and the next load works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "device/harness.hpp"

namespace tare::testing {
namespace {

using device::AxisRange;
using device::Choice;
using device::Loading;

class LoadErrors : public DeviceTest {
 protected:
  std::string rule_of(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_FALSE(error.sentence().empty());
      return error.rule();
    }
    return "none";
  }
  Model model() {
    return open(save_as(some_model(), scratch / ("m" + std::to_string(++files_) + ".safetensors"), "safetensors"));
  }
  void load_all(const Model& from, const device::Options& options = small_chunks()) {
    device::load(from, device::arrange(from, device::all_of(from)), {}, options).finish();
  }

 private:
  int files_ = 0;
};

TEST_F(LoadErrors, NoDriver) {
  ::setenv("TARE_CUDA_LIBRARY", "libdoesnotexist.so.1", 1);
  EXPECT_EQ(rule_of([] { device::facts("cuda:0"); }), "device.driver.missing");
  ::setenv("TARE_CUDA_LIBRARY", "libm.so.6", 1);
  EXPECT_EQ(rule_of([] { device::facts("cuda:0"); }), "device.driver.old");
  ::setenv("TARE_CUDA_LIBRARY", TARE_FAKE_CUDA_PATH, 1);
  EXPECT_EQ(device::facts("cuda").device, "cuda:0");
}

// The library under other names, which the loader has not seen yet.
TEST_F(LoadErrors, OldDriverAndNoDevice) {
  const auto under = [&](const std::string& name) {
    std::filesystem::create_symlink(TARE_FAKE_CUDA_PATH, scratch / name);
    ::setenv("TARE_CUDA_LIBRARY", (scratch / name).c_str(), 1);
  };
  under("old.so");
  driver.set(1, 10020, 1 << 20, 0);
  EXPECT_EQ(rule_of([] { device::facts("cuda:0"); }), "device.driver.old");
  under("none.so");
  driver.set(0, 13000, 1 << 20, 0);
  EXPECT_EQ(rule_of([] { device::facts("cuda:0"); }), "device.none");
  ::setenv("TARE_CUDA_LIBRARY", TARE_FAKE_CUDA_PATH, 1);
  driver.set(1, 13000, 1 << 20, 0);
  EXPECT_EQ(rule_of([] { device::facts("cuda:1"); }), "device.index");
  for (const char* const name : {"", "cuda:", "cuda:-1", "cuda:x", "gpu", "cuda:0 "})
    EXPECT_EQ(rule_of([&] { device::facts(name); }), "device.name") << name;
}

TEST_F(LoadErrors, TooLittleMemoryIsSaidBeforeAnythingIsRead) {
  const Model from = model();
  driver.set(1, 13000, 1 << 20, 0);
  EXPECT_EQ(rule_of([&] { load_all(from); }), "device.memory");
  EXPECT_EQ(driver.live().copies, 0U);
  driver.set(1, 13000, std::uint64_t{1} << 30, 0);
  driver.fail("cuMemAlloc_v2", 0, 2);
  EXPECT_EQ(rule_of([&] { load_all(from); }), "device.memory");
  driver.fail("", 0, 0);
  load_all(from);
}

// Each driver call fails once, at several places.
TEST_F(LoadErrors, EveryCallMayFail) {
  const Model from = model();
  for (const char* const name :
       {"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemHostRegister_v2", "cuMemcpyHtoDAsync_v2", "cuStreamCreate",
        "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuCtxPushCurrent_v2"})
    for (const int after : {0, 1, 3}) {
      device::release();
      // Without a context nothing can be freed, so that call fails only once.
      driver.fail(name, after, 999, std::string_view(name) == "cuCtxPushCurrent_v2" ? 1 : 1 << 30);
      const std::string rule = rule_of([&] { load_all(from); });
      EXPECT_TRUE(rule == "device.driver.failed" || rule == "device.pinned" || rule == "none") << name << ": " << rule;
      EXPECT_TRUE(rule != "none" || after > 0) << name;
      driver.fail("", 0, 0);
      load_all(from);
    }
}

TEST_F(LoadErrors, PlansThatMakeNoSense) {
  const Model from = model();
  const auto rule = [&](const Choice& choice) { return rule_of([&] { (void)device::arrange(from, {choice}); }); };
  EXPECT_EQ(rule({"nowhere"}), "device.plan.tensor");
  EXPECT_EQ(rule({"large", AxisRange{2, 0, 1}}), "device.plan.part");
  EXPECT_EQ(rule({"large", AxisRange{0, 0, 601}}), "device.plan.part");
  EXPECT_EQ(rule({"large", AxisRange{0, 5, 4}}), "device.plan.part");
  EXPECT_EQ(rule({"large", std::nullopt, DType::i32}), "device.plan.type");
  // The shape does not match the bytes: users that rely on it would read beyond them.
  Model wrong;
  wrong.tensors.push_back(dense("fits", {100}, DType::f32, Blob::memory(Bytes(400))));
  wrong.tensors.push_back(wrong.tensors[0]);
  wrong.tensors[1].name = "wrong";
  wrong.tensors[1].shape = {101};
  EXPECT_EQ(rule_of([&] { (void)device::arrange(wrong, {{"fits"}}); }), "none");
  EXPECT_EQ(rule_of([&] { (void)device::arrange(wrong, device::all_of(wrong)); }), "dense.size");
  EXPECT_EQ(rule_of([&] { (void)device::arrange(wrong, {{"wrong", AxisRange{0, 100, 101}}}); }), "dense.size");
  EXPECT_EQ(rule_of([&] { (void)device::arrange(wrong, {{"wrong", std::nullopt, DType::bf16}}); }), "dense.size");
  device::Options options = small_chunks();
  options.chunk_bytes = 1000;
  EXPECT_EQ(rule_of([&] { load_all(from, options); }), "device.chunk");
  options = small_chunks();
  options.pinned_bytes = 4096;
  EXPECT_EQ(rule_of([&] { load_all(from, options); }), "device.pinned.budget");
}

TEST_F(LoadErrors, DestinationsThatDoNotFit) {
  const Model from = model();
  const device::Arrangement arrangement = device::arrange(from, device::all_of(from));
  Loading other = device::load(from, arrangement, {}, small_chunks());
  other.finish();
  const std::uint64_t address = other.address(0) - arrangement.tensors[0].offset;
  const auto rule = [&](std::vector<device::Memory> memory, bool each = false) {
    return rule_of([&] { device::load(from, arrangement, {std::move(memory), each}, small_chunks()).finish(); });
  };
  EXPECT_EQ(rule({{address, arrangement.buffers[0] - 1}}), "device.destination.small");
  EXPECT_EQ(rule({{address + 256, arrangement.buffers[0]}}), "device.destination.small");
  EXPECT_EQ(rule({{address, arrangement.buffers[0]}, {address, 1}}), "device.destination.count");
  EXPECT_EQ(rule({{address, arrangement.buffers[0]}}, true), "device.destination.count");
  Bytes host(arrangement.buffers[0]);
  EXPECT_EQ(rule({{reinterpret_cast<std::uint64_t>(host.data()), host.size()}}), "device.destination.elsewhere");
  EXPECT_EQ(rule({{address, arrangement.buffers[0]}}), "none");
  // Memory of another device.
  driver.set(2, 13000, std::uint64_t{1} << 30, 0);
  device::Options second = small_chunks();
  second.device = "cuda:1";
  EXPECT_EQ(rule_of([&] {
              device::load(from, arrangement, {{{address, arrangement.buffers[0]}}, false}, second).finish();
            }),
            "device.destination.elsewhere");
}

TEST_F(LoadErrors, FilesThatShrinkOrChange) {
  const Model shrinking = model();
  const std::string path = shrinking.sources[0]->name();
  ASSERT_EQ(::truncate(path.c_str(), 100000), 0);
  EXPECT_EQ(rule_of([&] { load_all(shrinking); }), "io.source.shrank");
  const Model changing = model();
  {
    std::ofstream out(changing.sources[0]->name(), std::ios::binary | std::ios::in);
    out.seekp(50000);
    out << "other";
  }
  ASSERT_EQ(::truncate(changing.sources[0]->name().c_str(), static_cast<off_t>(changing.sources[0]->size() + 8)), 0);
  EXPECT_EQ(rule_of([&] { load_all(changing); }), "io.source.changed");
}

// After the first tensor has arrived, and long before the last is read.
TEST_F(LoadErrors, FilesThatShrinkOrChangeWhileTheyAreRead) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 3000);
  device::Options options = small_chunks();
  options.work.threads = 1;
  for (const bool shrinks : {true, false}) {
    const Model from = model();
    const std::string path = from.sources[0]->name();
    Loading loading = device::load(from, device::arrange(from, device::all_of(from)), {}, options);
    EXPECT_TRUE(loading.next());
    const auto size = static_cast<off_t>(from.sources[0]->size());
    ASSERT_EQ(::truncate(path.c_str(), shrinks ? 100000 : size + 8), 0);
    EXPECT_EQ(rule_of([&] { loading.finish(); }), shrinks ? "io.source.shrank" : "io.source.changed");
  }
}

// Reads that fail from some offset on.
class FailingSource final : public Source {
 public:
  explicit FailingSource(std::uint64_t good) : Source("failing", 3 << 20), good_(good) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset + out.size() > good_)
      throw Error(ErrorKind::io, "io.source.read", "cannot read: Input/output error").in(name());
    std::fill(out.begin(), out.end(), std::byte{1});
  }

 private:
  std::uint64_t good_;
};

TEST_F(LoadErrors, ReadErrorsInTheMiddle) {
  for (const std::uint64_t good : {std::uint64_t{0}, std::uint64_t{1} << 20, std::uint64_t{5} << 19}) {
    Model from;
    from.tensors.push_back(
        dense("a", {3 << 18}, DType::f32, Blob::range(std::make_shared<FailingSource>(good), 0, 3 << 20)));
    try {
      load_all(from);
      ADD_FAILURE() << good;
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "io.source.read");
      EXPECT_EQ(error.file(), "failing");
      EXPECT_EQ(error.item(), "tensor a");
    }
  }
}

// A source that fails if it is read.
TEST_F(LoadErrors, NothingIsReadBeforeMemoryAndDestinationsAreKnown) {
  Model from;
  from.tensors.push_back(
      dense("a", {3 << 18}, DType::f32, Blob::range(std::make_shared<FailingSource>(0), 0, 3 << 20)));
  const device::Arrangement arrangement = device::arrange(from, device::all_of(from));
  const auto rule = [&](device::Destination destination) {
    return rule_of([&] { device::load(from, arrangement, std::move(destination), small_chunks()).finish(); });
  };
  driver.set(1, 13000, 1 << 20, 0);
  EXPECT_EQ(rule({}), "device.memory");
  driver.set(1, 13000, std::uint64_t{1} << 30, 0);
  Bytes host(3 << 20);
  EXPECT_EQ(rule({{{reinterpret_cast<std::uint64_t>(host.data()), host.size()}}}), "device.destination.elsewhere");
  EXPECT_EQ(rule({{{reinterpret_cast<std::uint64_t>(host.data()), 5}}}), "device.destination.small");
  EXPECT_EQ(rule({}), "io.source.read");
}

TEST_F(LoadErrors, StoppedAtAnyPoint) {
  driver.set(1, 13000, std::uint64_t{1} << 30, 500);
  const Model from = model();
  for (unsigned micros = 0; micros < 12000; micros += 1500) {
    Stop stop;
    std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(micros));
      stop.ask();
    });
    const Stoppable here(stop);
    const std::string rule = rule_of([&] { load_all(from); });
    EXPECT_TRUE(rule == "work.stopped" || rule == "none") << rule;
  }
  // Cancelled, and destroyed while it runs.
  Loading loading = device::load(from, device::arrange(from, device::all_of(from)), {}, small_chunks());
  loading.cancel();
  EXPECT_EQ(rule_of([&] { loading.finish(); }), "work.stopped");
  for (int i = 0; i < 10; ++i)
    (void)device::load(from, device::arrange(from, device::all_of(from)), {}, small_chunks());
}

TEST_F(LoadErrors, CompressedBytesThatAreBroken) {
  const std::string path = save_as(some_model(), scratch / "packed.zt", "zt", {.zstd_level = 3});
  std::uint64_t at = 0;
  {
    const Model good = open(path);
    at = good.tensor("large")->components[0].blob.offset();  // the header of the frame
  }
  Bytes bytes = get_file(path);
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] ^= std::byte{0x5A};
  put_file(path, bytes);
  const Model bad = open(path);
  try {
    load_all(bad);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt);
    EXPECT_EQ(error.item(), "tensor large");
  }
}

}  // namespace
}  // namespace tare::testing
