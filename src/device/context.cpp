#include "device/context.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <mutex>

#include "base/printable.hpp"
#include "base/process_mutex.hpp"
#include "base/text.hpp"
#include "device/kernels.hpp"
#include "tare/value.hpp"

namespace tare::device {
namespace {

ProcessMutex contexts_mutex(LockOrder::table);

}  // namespace

int parse_device(std::string_view text) {
  const std::string_view family = text.substr(0, text.find(':'));
  const std::string_view number = family.size() == text.size() ? "0" : text.substr(family.size() + 1);
  int ordinal = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == number.data() + number.size() && ordinal >= 0;
  if (family == "cuda" && is_number) return ordinal;
  throw Error(ErrorKind::usage, "device.name",
              fmt::format("\"{}\" is not the name of a device; expected cuda:0, cuda:1, ...", quote(text)));
}

std::shared_ptr<const Context> Context::of(std::string_view device) {
  const int ordinal = parse_device(device);
  const Driver& driver = the_driver();
  static auto& all = *new std::map<std::pair<const Driver*, int>, std::weak_ptr<const Context>>;
  const std::scoped_lock lock(contexts_mutex);
  std::weak_ptr<const Context>& known = all[{&driver, ordinal}];
  if (std::shared_ptr<const Context> context = known.lock()) return context;
  std::shared_ptr<const Context> made(new Context(driver, ordinal));
  known = made;
  return made;
}

Context::Context(const Driver& driver, int ordinal)
    : driver_(driver), ordinal_(ordinal), kernels_(std::make_unique<Kernels>(*this)) {
  int count = 0;
  check(driver.device_count(&count), "count its devices");
  if (count == 0)
    throw Error(ErrorKind::not_found, "device.none", "the driver finds no device").blame(Subject::machine);
  if (ordinal >= count)
    throw Error(ErrorKind::not_found, "device.index",
                fmt::format("there is no device {}: the driver has {}, counted from 0", ordinal, count));
  check(driver.device_get(&device_, ordinal), "find the device");
  char name[256] = {};
  check(driver.device_name(name, sizeof name - 1, device_), "read the device's name");
  name_ = name;
  check(driver.context_retain(&handle_, device_), "open the device");
}

Context::~Context() {
  if (kernels_->loaded()) {
    try {
      const Current here(*this);
      kernels_.reset();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a device that is lost keeps what it has
    }
  }
  driver_.context_release(device_);
}

Current::Current(const Context& context) : driver_(context.driver()) {
  context.check(driver_.context_push(context.handle_), "use the device");
}

Current::~Current() {
  ContextHandle popped = nullptr;
  driver_.context_pop(&popped);
}

Stream::Stream(const Context& context) : context_(context) {
  context.check(context.driver().stream_create(&handle_, kNonBlocking), "make a stream");
}

Stream::~Stream() { context_.driver().stream_destroy(handle_); }

Event::Event(const Context& context, unsigned flags) : context_(context) {
  context.check(context.driver().event_create(&handle_, flags), "make an event");
}

Event::~Event() { context_.driver().event_destroy(handle_); }

DeviceMemory::DeviceMemory(const Context& context, std::uint64_t bytes) : context_(context), bytes_(bytes) {
  if (bytes == 0) return;
  context.check(context.driver().allocate(&address_, bytes), fmt::format("allocate {}", size_text(bytes)));
}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) context_.driver().free(address_);
}

Facts facts(std::string_view device) {
  const ContextPtr context = Context::of(device);
  const Current here(*context);
  std::size_t free = 0, memory = 0;
  context->check(context->driver().memory_info(&free, &memory), "tell its memory");
  return {fmt::format("cuda:{}", parse_device(device)), context->name(), memory, free, context->driver().version};
}

void read_back(std::string_view device, std::uint64_t address, std::span<std::byte> out) {
  if (out.empty()) return;
  const ContextPtr context = Context::of(device);
  const Current here(*context);
  context->check(context->driver().copy_to_host(out.data(), address, out.size()), "copy to the host");
}

}  // namespace tare::device
