// The driver of a GPU, opened at run time: the functions that Tare calls, with names and types of our own. The build
// needs no CUDA headers or libraries, and only these functions need the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "tare/error.hpp"

namespace tare::device {

using Result = int;  // 0: success
using DeviceAddress = std::uint64_t;
using ContextHandle = void*;
using StreamHandle = void*;
using EventHandle = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;

inline constexpr Result kOutOfMemory = 2, kNoDevice = 100, kNotReady = 600;
inline constexpr unsigned kNonBlocking = 1;    // for streams: they do not wait for the default stream
inline constexpr unsigned kSleeping = 1;       // for events: a waiting thread sleeps instead of spinning
inline constexpr unsigned kWithoutTiming = 2;  // for events
inline constexpr unsigned kPortable = 1;       // for pinned memory: pinned for every context
inline constexpr int kOldestDriver = 11000;

// Name, type of the function, CUDA's symbol.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a table of names
#define TARE_DRIVER_FUNCTIONS(F)                                                                                   \
  F(init, Result (*)(unsigned), "cuInit")                                                                          \
  F(driver_version, Result (*)(int*), "cuDriverGetVersion")                                                        \
  F(device_count, Result (*)(int*), "cuDeviceGetCount")                                                            \
  F(device_get, Result (*)(int*, int), "cuDeviceGet")                                                              \
  F(device_name, Result (*)(char*, int, int), "cuDeviceGetName")                                                   \
  F(context_retain, Result (*)(ContextHandle*, int), "cuDevicePrimaryCtxRetain")                                   \
  F(context_release, Result (*)(int), "cuDevicePrimaryCtxRelease_v2")                                              \
  F(context_push, Result (*)(ContextHandle), "cuCtxPushCurrent_v2")                                                \
  F(context_pop, Result (*)(ContextHandle*), "cuCtxPopCurrent_v2")                                                 \
  F(memory_info, Result (*)(std::size_t*, std::size_t*), "cuMemGetInfo_v2")                                        \
  F(allocate, Result (*)(DeviceAddress*, std::size_t), "cuMemAlloc_v2")                                            \
  F(free, Result (*)(DeviceAddress), "cuMemFree_v2")                                                               \
  F(host_register, Result (*)(void*, std::size_t, unsigned), "cuMemHostRegister_v2")                               \
  F(host_unregister, Result (*)(void*), "cuMemHostUnregister")                                                     \
  F(copy_to_device, Result (*)(DeviceAddress, const void*, std::size_t, StreamHandle), "cuMemcpyHtoDAsync_v2")     \
  F(copy_to_host, Result (*)(void*, DeviceAddress, std::size_t), "cuMemcpyDtoH_v2")                                \
  F(copy_to_host_in, Result (*)(void*, DeviceAddress, std::size_t, StreamHandle), "cuMemcpyDtoHAsync_v2")          \
  F(pointer_attribute, Result (*)(void*, int, DeviceAddress), "cuPointerGetAttribute")                             \
  F(address_range, Result (*)(DeviceAddress*, std::size_t*, DeviceAddress), "cuMemGetAddressRange_v2")             \
  F(stream_create, Result (*)(StreamHandle*, unsigned), "cuStreamCreate")                                          \
  F(stream_destroy, Result (*)(StreamHandle), "cuStreamDestroy_v2")                                                \
  F(stream_synchronize, Result (*)(StreamHandle), "cuStreamSynchronize")                                           \
  F(stream_wait, Result (*)(StreamHandle, EventHandle, unsigned), "cuStreamWaitEvent")                             \
  F(event_create, Result (*)(EventHandle*, unsigned), "cuEventCreate")                                             \
  F(event_record, Result (*)(EventHandle, StreamHandle), "cuEventRecord")                                          \
  F(event_synchronize, Result (*)(EventHandle), "cuEventSynchronize")                                              \
  F(event_destroy, Result (*)(EventHandle), "cuEventDestroy_v2")                                                   \
  F(module_load, Result (*)(ModuleHandle*, const void*), "cuModuleLoadData")                                       \
  F(module_unload, Result (*)(ModuleHandle), "cuModuleUnload")                                                     \
  F(module_function, Result (*)(FunctionHandle*, ModuleHandle, const char*), "cuModuleGetFunction")                \
  F(launch,                                                                                                        \
    Result (*)(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, \
               void**, void**),                                                                                    \
    "cuLaunchKernel")                                                                                              \
  F(error_name, Result (*)(Result, const char**), "cuGetErrorName")

struct Driver {
  std::string library;  // the path that was opened
  int version = 0;

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define TARE_DRIVER_MEMBER(name, type, symbol) std::type_identity_t<type> name = nullptr;
  TARE_DRIVER_FUNCTIONS(TARE_DRIVER_MEMBER)
#undef TARE_DRIVER_MEMBER
};

// The driver, initialized; the same one for every call, and never closed. The variable TARE_CUDA_LIBRARY names another
// library. Throws `device.driver.missing`, `device.driver.old`, `device.none`.
const Driver& the_driver();

// The error of a failed call: `device.memory` if the device is out of memory, else `device.driver.failed`.
Error driver_error(const Driver& driver, Result result, std::string_view doing);
inline void require(const Driver& driver, Result result, std::string_view doing) {
  if (result != 0) throw driver_error(driver, result, doing);
}

}  // namespace tare::device
