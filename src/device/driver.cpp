#include "device/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/process_mutex.hpp"

namespace tare::device {
namespace {

std::unique_ptr<Driver> open_driver(const std::string& library) {
#ifdef TARE_STATIC
  // In a static program musl's dlopen always fails, whatever the machine has.
  throw Error(ErrorKind::unsupported, "device.driver.static",
              fmt::format("this static build cannot load {}, the CUDA driver; the builds for glibc can", library))
      .blame(Subject::machine);
#endif
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(ErrorKind::not_found, "device.driver.missing",
                fmt::format("there is no CUDA driver on this machine: {}", ::dlerror()))
        .blame(Subject::machine);
  auto driver = std::make_unique<Driver>();
  driver->library = library;
  const auto find = [&](const char* name) {
    void* const found = ::dlsym(handle, name);
    if (found == nullptr) {
      ::dlclose(handle);
      throw Error(ErrorKind::unsupported, "device.driver.old",
                  fmt::format("the driver {} has no function {}; a newer driver has", library, name))
          .blame(Subject::machine);
    }
    return found;
  };
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define TARE_DRIVER_FIND(name, type, symbol) driver->name = reinterpret_cast<std::type_identity_t<type>>(find(symbol));
  TARE_DRIVER_FUNCTIONS(TARE_DRIVER_FIND)
#undef TARE_DRIVER_FIND
  const Result begun = driver->init(0);
  if (begun == kNoDevice)
    throw Error(ErrorKind::not_found, "device.none", "the CUDA driver finds no device").blame(Subject::machine);
  require(*driver, begun, "start");
  require(*driver, driver->driver_version(&driver->version), "tell its version");
  if (driver->version < kOldestDriver)
    throw Error(ErrorKind::unsupported, "device.driver.old",
                fmt::format("the driver is one for CUDA {}.{}, {}.{} or later is needed", driver->version / 1000,
                            driver->version % 1000 / 10, kOldestDriver / 1000, kOldestDriver % 1000 / 10))
        .blame(Subject::machine);
  return driver;
}

ProcessMutex drivers_mutex(LockOrder::table);

}  // namespace

const Driver& the_driver() {
  const char* const named = std::getenv("TARE_CUDA_LIBRARY");  // NOLINT(concurrency-mt-unsafe): read only
  const std::string library = named != nullptr ? named : "libcuda.so.1";
  // Never freed, because threads of other libraries may still use the driver when the process ends.
  static auto& open = *new std::map<std::string, std::unique_ptr<Driver>>;
  const std::scoped_lock lock(drivers_mutex);
  std::unique_ptr<Driver>& driver = open[library];
  if (driver == nullptr) driver = open_driver(library);
  return *driver;
}

Error driver_error(const Driver& driver, Result result, std::string_view doing) {
  const char* name = nullptr;
  if (driver.error_name(result, &name) != 0 || name == nullptr) name = "an unknown error";
  if (result == kOutOfMemory)
    return Error(ErrorKind::limit, "device.memory",
                 fmt::format("the device has too little memory to {} ({})", doing, name))
        .blame(Subject::machine);
  return Error(ErrorKind::io, "device.driver.failed",
               fmt::format("the driver could not {}: {} ({})", doing, name, result))
      .blame(Subject::machine);
}

}  // namespace tare::device
