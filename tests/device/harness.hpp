// The fake driver as tests use it, and models to load.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "conformance/scratch.hpp"
#include "device/fake_cuda.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/device.hpp"
#include "tare/elements.hpp"
#include "tare/stop.hpp"

namespace tare::testing {

// The library TARE_FAKE_CUDA_PATH, which the loader opens, too.
class FakeDriver {
 public:
  FakeDriver() {
    ::setenv("TARE_CUDA_LIBRARY", TARE_FAKE_CUDA_PATH, 1);
    handle_ = ::dlopen(TARE_FAKE_CUDA_PATH, RTLD_NOW);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  void reset() const { find<void()>("fake_cuda_reset")(); }
  void set(int devices, int version, std::uint64_t memory, unsigned delay) const {
    find<void(int, int, std::uint64_t, unsigned)>("fake_cuda_set")(devices, version, memory, delay);
  }
  void fail(const char* function, int after, int code, int times = 1 << 30) const {
    find<void(const char*, int, int, int)>("fake_cuda_fail")(function, after, code, times);
  }
  FakeLive live() const {
    FakeLive live{};
    find<void(FakeLive*)>("fake_cuda_live")(&live);
    return live;
  }
  std::string violations() const {
    std::string text(4096, '\0');
    find<std::size_t(char*, std::size_t)>("fake_cuda_violations")(text.data(), text.size());
    return text.c_str();
  }
  std::vector<FakeCopy> copies() const {
    const auto ask = find<std::size_t(FakeCopy*, std::size_t)>("fake_cuda_copies");
    std::vector<FakeCopy> all(ask(nullptr, 0));
    ask(all.data(), all.size());
    return all;
  }
  // A function of the driver itself.
  template <typename Signature>
  Signature* find(const char* name) const {
    void* const found = ::dlsym(handle_, name);
    if (found == nullptr) throw std::runtime_error(name);
    return reinterpret_cast<Signature*>(found);
  }

 private:
  void* handle_;
};

// Every test begins with a fresh driver, and ends with nothing allocated and no violations.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device::release();
    driver.reset();
    threads_before_ = threads();
  }
  // The threads of this process. A joined thread may be listed a moment longer.
  static std::size_t threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
  }
  void TearDown() override {
    // The driver's default stream has a thread from its first use on.
    for (int i = 0; i < 1000 && threads() > threads_before_ + 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(threads(), threads_before_ + 1);
    device::release();
    EXPECT_EQ(driver.violations(), "");
    const FakeLive live = driver.live();
    EXPECT_EQ(live.allocations, 0U);
    EXPECT_EQ(live.pinned_bytes, 0U);
    EXPECT_EQ(live.streams, 0U);
    EXPECT_EQ(live.events, 0U);
    EXPECT_EQ(live.modules, 0U);
    EXPECT_EQ(live.contexts, 0U);
  }

  FakeDriver driver;
  Scratch scratch{Scratch::fast_place()};

 private:
  std::size_t threads_before_ = 0;
};

inline Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, count - i));
  }
  return bytes;
}

inline std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.05F);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

inline Tensor float_tensor(std::string name, const Shape& shape, DType dtype, unsigned seed) {
  const Tensor made = dense(std::move(name), shape, random_floats(*shape.elements(), seed));
  return dtype == DType::f32 ? made : cast(made, dtype);
}

// Tensors larger and smaller than a chunk, an empty one, a scalar, odd sizes.
inline Model some_model() {
  Model model;
  model.tensors.push_back(float_tensor("large", {600, 1000}, DType::f32, 1));
  model.tensors.push_back(float_tensor("odd", {7, 11}, DType::f32, 2));
  model.tensors.push_back(float_tensor("half", {513, 400}, DType::f16, 3));
  for (unsigned i = 0; i < 40; ++i)
    model.tensors.push_back(float_tensor("small." + std::to_string(i), {32, 16 + i}, DType::f32, 10 + i));
  model.tensors.push_back(float_tensor("vector", {4096}, DType::f32, 4));
  model.tensors.push_back(float_tensor("last", {300, 256}, DType::f16, 5));
  return model;
}

inline std::string save_as(Model model, const std::string& path, const std::string& format, WriteOptions write = {}) {
  SaveOptions options;
  options.to = format;
  options.write = write;
  (void)save(std::move(model), path, options);
  return path;
}

inline device::Options small_chunks() {
  device::Options options;
  options.chunk_bytes = std::uint64_t{256} << 10;
  options.work.threads = 3;
  return options;
}

inline Bytes on_device(const device::Loading& loading, std::size_t tensor) {
  Bytes bytes(loading.arrangement().tensors[tensor].bytes);
  device::read_back("cuda:0", loading.address(tensor), bytes);
  return bytes;
}

// The expected bytes of a component on the device.
inline Bytes expected_bytes(const Model& model, const device::Placed& placed) {
  return model.tensor(placed.tensor)->component(placed.role)->blob.bytes();
}

inline void expect_loaded(const Model& model, const device::Loading& loading) {
  for (std::size_t i = 0; i < loading.arrangement().tensors.size(); ++i) {
    const device::Placed& placed = loading.arrangement().tensors[i];
    EXPECT_TRUE(on_device(loading, i) == expected_bytes(model, placed)) << placed.tensor << " " << placed.role;
    EXPECT_EQ(placed.offset % 16, 0U) << placed.tensor;
  }
}

}  // namespace tare::testing
