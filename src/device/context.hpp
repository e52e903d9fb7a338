// A device's primary context, and the objects in it. Each object is freed by its owner's destructor.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "device/driver.hpp"
#include "tare/device.hpp"

namespace tare::device {

// The number of a device: 1 for "cuda:1", 0 for "cuda". Throws usage `device.name`.
int parse_device(std::string_view text);

class Kernels;

class Context {
 public:
  // The context of the device; created if none exists. Throws what `the_driver` throws, and `device.index`.
  static std::shared_ptr<const Context> of(std::string_view device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  void check(Result result, std::string_view doing) const { require(driver_, result, doing); }
  // Compiled once for all loads.
  Kernels& kernels() const { return *kernels_; }

 private:
  friend class Current;
  Context(const Driver& driver, int ordinal);

  const Driver& driver_;
  int ordinal_, device_ = 0;
  std::string name_;
  ContextHandle handle_ = nullptr;
  std::unique_ptr<Kernels> kernels_;
};

using ContextPtr = std::shared_ptr<const Context>;

// Makes the context current for this thread as long as the object exists.
class Current {
 public:
  explicit Current(const Context& context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
};

// The context must be current when objects of the following classes are created, used and destroyed.
class Stream {
 public:
  explicit Stream(const Context& context);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  StreamHandle get() const { return handle_; }
  void synchronize() const { context_.check(context_.driver().stream_synchronize(handle_), "finish its copies"); }

 private:
  const Context& context_;
  StreamHandle handle_ = nullptr;
};

class Event {
 public:
  explicit Event(const Context& context, unsigned flags = kWithoutTiming);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(StreamHandle stream) const {
    context_.check(context_.driver().event_record(handle_, stream), "mark a place in a stream");
  }
  void synchronize() const { context_.check(context_.driver().event_synchronize(handle_), "finish a copy"); }
  // Makes `stream` wait for what was recorded last.
  void hold(StreamHandle stream) const {
    context_.check(context_.driver().stream_wait(stream, handle_, 0), "have a stream wait");
  }

 private:
  const Context& context_;
  EventHandle handle_ = nullptr;
};

class DeviceMemory {
 public:
  DeviceMemory(const Context& context, std::uint64_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept
      : context_(other.context_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();
  DeviceAddress address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const Context& context_;
  DeviceAddress address_ = 0;
  std::uint64_t bytes_;
};

}  // namespace tare::device
