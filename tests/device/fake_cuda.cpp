// A CUDA driver for machines without one: device memory is host memory, streams are threads that run queued work a
// little later, events fire when it is done. It is stricter than the real driver: it records (fake_cuda_violations)
// whatever is used after it was freed, freed while in use, pinned too late or used without a context. Copies read their
// source when they run, not when they are queued, so a source that is overwritten too early is detected.
//
// Variables: TARE_FAKE_CUDA="devices=1 version=13000 memory=1048576 delay=20 fail=cuMemAlloc_v2:0:2".
#include "device/fake_cuda.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/half.hpp"

// The kernels, run on the host.
namespace {

#define TARE_DEVICE static inline
#define TARE_KERNEL void
#define TARE_TABLE static const
thread_local unsigned long long current_thread = 0;
unsigned long long thread_number() { return current_thread; }
float float_of_half(unsigned short bits) { return tare::f16_to_f32(bits); }
unsigned short half_of_float(float value) { return tare::f32_to_f16(value); }
unsigned long long wide_product(unsigned a, unsigned b) { return static_cast<unsigned long long>(a) * b; }
#include "device/kernels.cu"

using Kernel = void (*)(const u8*, const u8*, const u8*, void*, u64, u64, u64, u64, u64);
const std::map<std::string, Kernel> kKernels = {
    {"cast_f32", cast_f32},
    {"cast_f16", cast_f16},
    {"cast_bf16", cast_bf16},
    {"cast_f8_e4m3fn", cast_f8_e4m3fn},
    {"cast_f8_e5m2", cast_f8_e5m2},
    {"grid_f8_e4m3fn", grid_f8_e4m3fn},
    {"mcf_q8", mcf_q8},
    {"mcf_q4", mcf_q4},
    {"mcf_k6", mcf_k6},
    {"mcf_k4", mcf_k4},
    {"mcf_k3", mcf_k3},
    {"mcf_k2", mcf_k2},
    {"ggml_q4_0", ggml_q4_0},
    {"ggml_q4_1", ggml_q4_1},
    {"ggml_q5_0", ggml_q5_0},
    {"ggml_q5_1", ggml_q5_1},
    {"ggml_q8_0", ggml_q8_0},
    {"ggml_iq4_nl", ggml_iq4_nl},
    {"ggml_iq4_xs", ggml_iq4_xs},
    {"ggml_q2_k", ggml_q2_k},
    {"ggml_q3_k", ggml_q3_k},
    {"ggml_q4_k", ggml_q4_k},
    {"ggml_q5_k", ggml_q5_k},
    {"ggml_q6_k", ggml_q6_k},
    {"xxh3_sums", xxh3_sums},
    {"xxh3_chain", xxh3_chain},
    {"xxh3_finish", xxh3_finish},
};

enum : int {
  kOk = 0,
  kInvalid = 1,
  kNoMemory = 2,
  kNoDevices = 100,
  kBadContext = 201,
  kNotFound = 500,
  kBadPtx = 218
};

// A position in a stream.
struct Mark {
  bool done = false;
};

struct Stream {
  std::deque<std::function<void()>> queue;
  bool busy = false, ending = false;
  std::thread thread;
  std::thread::id maker = std::this_thread::get_id();
};

struct Event {
  std::shared_ptr<Mark> mark;  // null: never recorded
};

struct Allocation {
  std::unique_ptr<unsigned char[]> bytes;
  std::size_t size = 0;
  int ordinal = 0;
};

struct Module {
  std::string text;
};

// The whole state, guarded by one lock; memory is copied outside it.
struct Fake {
  std::mutex mutex;
  std::condition_variable changed;
  int devices = 1, version = 13000;
  std::uint64_t memory = std::uint64_t{1} << 30;
  unsigned delay = 20;
  std::map<int, int> contexts;  // reference count of each device's context
  std::map<std::uint64_t, Allocation> allocations;
  std::map<std::uint64_t, std::size_t> pinned;
  std::map<std::uint64_t, int> pinned_by;  // by device
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Module*> modules;
  std::string fail_name;
  int fail_after = 0, fail_code = 0, fail_times = 1 << 30;
  std::map<std::string, int> calls;
  std::string violations;
  std::vector<FakeCopy> copies;
  std::uint64_t launches = 0, pinned_bytes = 0, most_pinned = 0, device_bytes = 0, most_device = 0;
  unsigned random = 12345;
  Stream default_stream;

  void violate(const std::string& sentence) { violations += sentence + "\n"; }
};

Fake& fake() {
  static Fake& one = *[] {
    auto* const made = new Fake;
    if (const char* const settings = std::getenv("TARE_FAKE_CUDA")) {
      std::istringstream words(settings);
      for (std::string word; words >> word;) {
        const std::string key = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
        if (key == "devices") made->devices = std::stoi(value);
        if (key == "version") made->version = std::stoi(value);
        if (key == "memory") made->memory = std::stoull(value);
        if (key == "delay") made->delay = static_cast<unsigned>(std::stoul(value));
        if (key == "fail") {
          made->fail_name = value.substr(0, value.find(':'));
          std::sscanf(value.c_str() + value.find(':'), ":%d:%d", &made->fail_after, &made->fail_code);
        }
      }
    }
    return made;
  }();
  return one;
}

thread_local std::vector<int> current;  // contexts of this thread, by device

// Counts a call and returns the error that it must fail with. Needs the lock.
int trouble(const char* name) {
  Fake& f = fake();
  const int before = f.calls[name]++;
  return f.fail_name == name && before >= f.fail_after && before - f.fail_after < f.fail_times ? f.fail_code : kOk;
}

// The same for calls that need a context.
int enter(const char* name) {
  if (const int code = trouble(name)) return code;
  if (!current.empty()) return kOk;
  fake().violate(std::string(name) + " without a context");
  return kBadContext;
}

#define TARE_FAKE_ENTER(name)     \
  Fake& f = fake();               \
  std::unique_lock lock(f.mutex); \
  if (const int code = enter(name)) return code

const Allocation* allocation_at(std::uint64_t address, std::size_t bytes) {
  const auto after = fake().allocations.upper_bound(address);
  if (after == fake().allocations.begin()) return nullptr;
  const auto& [begin, allocation] = *std::prev(after);
  return address + bytes <= begin + allocation.size ? &allocation : nullptr;
}

bool is_pinned(std::uint64_t address, std::size_t bytes) {
  const auto after = fake().pinned.upper_bound(address);
  if (after == fake().pinned.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address + bytes <= begin + size;
}

void run_stream(Stream* stream) {
  Fake& f = fake();
  std::unique_lock lock(f.mutex);
  for (;;) {
    f.changed.wait(lock, [&] { return !stream->queue.empty() || stream->ending; });
    if (stream->queue.empty()) return;
    const std::function<void()> task = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->busy = true;
    f.random = f.random * 1664525 + 1013904223;
    const unsigned delay = f.delay == 0 ? 0 : (f.random >> 8) % f.delay;
    lock.unlock();
    if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
    task();
    lock.lock();
    stream->busy = false;
    f.changed.notify_all();
  }
}

// Null is the default stream, which starts at its first use.
Stream* stream_of(void* handle) {
  Fake& f = fake();
  if (handle != nullptr) {
    auto* const stream = static_cast<Stream*>(handle);
    if (f.streams.contains(stream)) return stream;
    f.violate("a stream that does not exist");
    return nullptr;
  }
  if (!f.default_stream.thread.joinable()) f.default_stream.thread = std::thread(run_stream, &f.default_stream);
  return &f.default_stream;
}

void enqueue(Stream* stream, std::function<void()> task) {
  stream->queue.push_back(std::move(task));
  fake().changed.notify_all();
}

void wait_for(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
  fake().changed.wait(lock, ready);
}

}  // namespace

extern "C" {

void fake_cuda_reset() {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (!f.allocations.empty() || !f.pinned.empty() || !f.streams.empty() || !f.events.empty() || !f.modules.empty())
    f.violate("a reset while something is in use");
  else
    f.violations.clear();
  f.fail_name.clear();
  f.calls.clear();
  f.copies.clear();
  f.launches = f.most_pinned = f.most_device = 0;
  f.devices = 1;
  f.version = 13000;
  f.memory = std::uint64_t{1} << 30;
  f.delay = 20;
}

void fake_cuda_set(int devices, int version, std::uint64_t memory, unsigned delay) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  f.devices = devices;
  f.version = version;
  f.memory = memory;
  f.delay = delay;
}

void fake_cuda_fail(const char* function, int after, int code, int times) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  f.fail_name = function;
  f.fail_after = after;
  f.fail_code = code;
  f.fail_times = times;
  f.calls.clear();
}

void fake_cuda_live(FakeLive* live) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  std::uint64_t contexts = 0;
  for (const auto& [device, held] : f.contexts) contexts += static_cast<std::uint64_t>(held);
  *live = {f.allocations.size(), f.pinned_bytes, f.streams.size(), f.events.size(), f.modules.size(), contexts,
           f.most_pinned,        f.most_device,  f.copies.size(),  f.launches};
}

std::size_t fake_cuda_violations(char* out, std::size_t room) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (room > 0) {
    std::strncpy(out, f.violations.c_str(), room - 1);
    out[room - 1] = 0;
  }
  return f.violations.size();
}

std::size_t fake_cuda_copies(FakeCopy* out, std::size_t room) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  for (std::size_t i = 0; i < std::min(room, f.copies.size()); ++i) out[i] = f.copies[i];
  return f.copies.size();
}

int cuInit(unsigned) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (const int code = trouble("cuInit")) return code;
  return f.devices == 0 ? kNoDevices : kOk;
}

int cuDriverGetVersion(int* version) {
  const std::scoped_lock lock(fake().mutex);
  *version = fake().version;
  return trouble("cuDriverGetVersion");
}

int cuDeviceGetCount(int* count) {
  const std::scoped_lock lock(fake().mutex);
  *count = fake().devices;
  return trouble("cuDeviceGetCount");
}

int cuDeviceGet(int* device, int ordinal) {
  const std::scoped_lock lock(fake().mutex);
  *device = ordinal + 7;  // a handle, which differs from the ordinal
  return trouble("cuDeviceGet");
}

int cuDeviceGetName(char* name, int room, int device) {
  const std::string text = "Tare's fake device " + std::to_string(device - 7);
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(room));
  return kOk;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (const int code = trouble("cuDevicePrimaryCtxRetain")) return code;
  ++f.contexts[device];
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device));
  return kOk;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (--f.contexts[device] < 0) f.violate("a context released more often than retained");
  if (f.contexts[device] == 0)
    for (const auto& [address, allocation] : f.allocations)
      if (allocation.ordinal == device - 7) f.violate("a context released before its memory");
  if (f.contexts[device] == 0)
    for (const auto& [address, by] : f.pinned_by)
      if (by == device) f.violate("a context released before what is pinned in it");
  return kOk;
}

int cuCtxPushCurrent_v2(void* context) {
  Fake& f = fake();
  const std::scoped_lock lock(f.mutex);
  if (const int code = trouble("cuCtxPushCurrent_v2")) return code;
  const auto device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context));
  if (f.contexts[device] <= 0) f.violate("a context pushed that nobody holds");
  current.push_back(device);
  return kOk;
}

int cuCtxPopCurrent_v2(void** context) {
  const std::scoped_lock lock(fake().mutex);
  if (current.empty()) {
    fake().violate("a context popped where there is none");
    return kBadContext;
  }
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(current.back()));
  current.pop_back();
  return kOk;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  TARE_FAKE_ENTER("cuMemGetInfo_v2");
  *total = f.memory;
  *free = f.memory - f.device_bytes;
  return kOk;
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  TARE_FAKE_ENTER("cuMemAlloc_v2");
  if (bytes == 0) return kInvalid;
  if (f.device_bytes + bytes > f.memory) return kNoMemory;
  Allocation made;
  // With a gap, so that addresses are multiples of 256, as the real ones are.
  made.bytes = std::make_unique<unsigned char[]>(bytes + 256);
  made.size = bytes;
  made.ordinal = current.back() - 7;
  std::memset(made.bytes.get(), 0xA5, bytes + 256);
  *address = (reinterpret_cast<std::uint64_t>(made.bytes.get()) + 255) / 256 * 256;
  f.allocations[*address] = std::move(made);
  f.device_bytes += bytes;
  f.most_device = std::max(f.most_device, f.device_bytes);
  return kOk;
}

int cuMemFree_v2(std::uint64_t address) {
  TARE_FAKE_ENTER("cuMemFree_v2");
  const auto found = f.allocations.find(address);
  if (found == f.allocations.end()) {
    f.violate("memory freed that was not allocated");
    return kInvalid;
  }
  // Only streams of the thread that frees it: streams of another load do not use this memory.
  for (const Stream* const stream : f.streams)
    if (stream->maker == std::this_thread::get_id() && (stream->busy || !stream->queue.empty()))
      f.violate("memory freed while a stream has work");
  f.device_bytes -= found->second.size;
  f.allocations.erase(found);
  return kOk;
}

int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  TARE_FAKE_ENTER("cuMemHostRegister_v2");
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  if (address % 4096 != 0 || bytes % 4096 != 0) f.violate("pinned memory that is not pages");
  if (is_pinned(address, 1)) f.violate("memory pinned twice");
  f.pinned[address] = bytes;
  f.pinned_by[address] = current.back();
  f.pinned_bytes += bytes;
  f.most_pinned = std::max(f.most_pinned, f.pinned_bytes);
  return kOk;
}

int cuMemHostUnregister(void* memory) {
  TARE_FAKE_ENTER("cuMemHostUnregister");
  const auto found = f.pinned.find(reinterpret_cast<std::uint64_t>(memory));
  if (found == f.pinned.end()) {
    f.violate("memory unpinned that was not pinned");
    return kInvalid;
  }
  for (const Stream* const stream : f.streams)
    if (stream->busy || !stream->queue.empty()) f.violate("memory unpinned while a stream has work");
  f.pinned_bytes -= found->second;
  f.pinned_by.erase(found->first);
  f.pinned.erase(found);
  return kOk;
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* handle) {
  TARE_FAKE_ENTER("cuMemcpyHtoDAsync_v2");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalid;
  if (bytes == 0) f.violate("a copy of nothing");
  enqueue(stream, [to, from, bytes] {
    Fake& g = fake();
    {
      const std::scoped_lock inner(g.mutex);
      if (!is_pinned(reinterpret_cast<std::uint64_t>(from), bytes))
        return g.violate("a copy from memory that is not pinned");
      if (allocation_at(to, bytes) == nullptr) return g.violate("a copy to memory that is not allocated");
      g.copies.push_back({to, bytes});
    }
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  });
  return kOk;
}

int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  TARE_FAKE_ENTER("cuMemcpyDtoH_v2");
  if (allocation_at(from, bytes) == nullptr) {
    f.violate("a copy from memory that is not allocated");
    return kInvalid;
  }
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kOk;
}

// The target is not pinned, so the copy is complete when this returns.
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* handle) {
  TARE_FAKE_ENTER("cuMemcpyDtoHAsync_v2");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalid;
  if (allocation_at(from, bytes) == nullptr) {
    f.violate("a copy from memory that is not allocated");
    return kInvalid;
  }
  const auto mark = std::make_shared<Mark>();
  enqueue(stream, [to, from, bytes, mark] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    const std::scoped_lock inner(fake().mutex);
    mark->done = true;
    fake().changed.notify_all();
  });
  wait_for(lock, [&] { return mark->done; });
  return kOk;
}

int cuPointerGetAttribute(void* out, int attribute, std::uint64_t address) {
  TARE_FAKE_ENTER("cuPointerGetAttribute");
  const Allocation* const allocation = allocation_at(address, 1);
  if (allocation == nullptr) return kInvalid;
  const unsigned value = attribute == 2 ? 2 : static_cast<unsigned>(allocation->ordinal);
  std::memcpy(out, &value, sizeof value);
  return kOk;
}

int cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* size, std::uint64_t address) {
  TARE_FAKE_ENTER("cuMemGetAddressRange_v2");
  if (allocation_at(address, 1) == nullptr) return kInvalid;
  const auto found = std::prev(f.allocations.upper_bound(address));
  *base = found->first;
  *size = found->second.size;
  return kOk;
}

int cuStreamCreate(void** handle, unsigned) {
  TARE_FAKE_ENTER("cuStreamCreate");
  auto* const stream = new Stream;
  f.streams.insert(stream);
  stream->thread = std::thread(run_stream, stream);
  *handle = stream;
  return kOk;
}

int cuStreamDestroy_v2(void* handle) {
  TARE_FAKE_ENTER("cuStreamDestroy_v2");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr || handle == nullptr) return kInvalid;
  if (stream->busy || !stream->queue.empty()) f.violate("a stream destroyed that has work");
  f.streams.erase(stream);
  stream->ending = true;
  f.changed.notify_all();
  lock.unlock();
  stream->thread.join();
  delete stream;
  return kOk;
}

int cuStreamSynchronize(void* handle) {
  TARE_FAKE_ENTER("cuStreamSynchronize");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalid;
  wait_for(lock, [&] { return stream->queue.empty() && !stream->busy; });
  return kOk;
}

int cuStreamWaitEvent(void* handle, void* event, unsigned) {
  TARE_FAKE_ENTER("cuStreamWaitEvent");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr || !f.events.contains(static_cast<Event*>(event))) return kInvalid;
  const std::shared_ptr<Mark> mark = static_cast<Event*>(event)->mark;
  if (mark != nullptr)
    enqueue(stream, [mark] {
      std::unique_lock inner(fake().mutex);
      wait_for(inner, [&] { return mark->done; });
    });
  return kOk;
}

int cuEventCreate(void** event, unsigned) {
  TARE_FAKE_ENTER("cuEventCreate");
  *event = *f.events.insert(new Event).first;
  return kOk;
}

int cuEventRecord(void* event, void* handle) {
  TARE_FAKE_ENTER("cuEventRecord");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr || !f.events.contains(static_cast<Event*>(event))) {
    f.violate("an event recorded that does not exist");
    return kInvalid;
  }
  const auto mark = std::make_shared<Mark>();
  static_cast<Event*>(event)->mark = mark;
  enqueue(stream, [mark] {
    const std::scoped_lock inner(fake().mutex);
    mark->done = true;
    fake().changed.notify_all();
  });
  return kOk;
}

int cuEventSynchronize(void* event) {
  TARE_FAKE_ENTER("cuEventSynchronize");
  if (!f.events.contains(static_cast<Event*>(event))) {
    f.violate("an event waited for that does not exist");
    return kInvalid;
  }
  const std::shared_ptr<Mark> mark = static_cast<Event*>(event)->mark;
  if (mark != nullptr) wait_for(lock, [&] { return mark->done; });
  return kOk;
}

int cuEventDestroy_v2(void* event) {
  TARE_FAKE_ENTER("cuEventDestroy_v2");
  if (f.events.erase(static_cast<Event*>(event)) == 0) {
    f.violate("an event destroyed that does not exist");
    return kInvalid;
  }
  delete static_cast<Event*>(event);
  return kOk;
}

int cuModuleLoadData(void** module, const void* text) {
  TARE_FAKE_ENTER("cuModuleLoadData");
  auto* const made = new Module{static_cast<const char*>(text)};
  if (made->text.find(".version") != 0) {
    delete made;
    return kBadPtx;
  }
  f.modules.insert(made);
  *module = made;
  return kOk;
}

int cuModuleUnload(void* module) {
  TARE_FAKE_ENTER("cuModuleUnload");
  if (f.modules.erase(static_cast<Module*>(module)) == 0) f.violate("a module unloaded that is not loaded");
  delete static_cast<Module*>(module);
  return kOk;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  TARE_FAKE_ENTER("cuModuleGetFunction");
  const auto found = kKernels.find(name);
  const bool in_text =
      static_cast<Module*>(module)->text.find(std::string(".entry ") + name + "(") != std::string::npos;
  if (found == kKernels.end() || !in_text) return kNotFound;
  *function = reinterpret_cast<void*>(found->second);
  return kOk;
}

int cuLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned, unsigned,
                   void* handle, void** arguments, void**) {
  TARE_FAKE_ENTER("cuLaunchKernel");
  Stream* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalid;
  std::array<std::uint64_t, 9> a{};
  for (std::size_t i = 0; i < a.size(); ++i) std::memcpy(&a[i], arguments[i], 8);
  ++f.launches;
  enqueue(stream, [function, grid, block, a] {
    const auto kernel = reinterpret_cast<Kernel>(function);
    const auto plane = [](std::uint64_t address) { return reinterpret_cast<const u8*>(address); };
    for (std::uint64_t i = 0; i < std::uint64_t{grid} * block; ++i) {
      current_thread = i;
      kernel(plane(a[0]), plane(a[1]), plane(a[2]), reinterpret_cast<void*>(a[3]), a[4], a[5], a[6], a[7], a[8]);
    }
  });
  return kOk;
}

int cuGetErrorName(int code, const char** name) {
  switch (code) {
    case kInvalid: *name = "CUDA_ERROR_INVALID_VALUE"; return kOk;
    case kNoMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return kOk;
    case kNoDevices: *name = "CUDA_ERROR_NO_DEVICE"; return kOk;
    default: *name = "CUDA_ERROR_UNKNOWN"; return kOk;
  }
}
}
