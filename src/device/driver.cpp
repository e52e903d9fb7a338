#include "device/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace tare::device {
namespace {

struct FamilyFacts {
  std::string_view name, library, variable;
};
constexpr FamilyFacts kFamilies[] = {{"CUDA", "libcuda.so.1", "TARE_CUDA_LIBRARY"},
                                     {"HIP", "libamdhip64.so", "TARE_HIP_LIBRARY"}};

const FamilyFacts& facts_of(Family family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::unique_ptr<Driver> open_driver(Family family, const std::string& library) {
  const FamilyFacts& row = facts_of(family);
#ifdef TARE_STATIC
  // A static program has no loader of libraries; musl's dlopen always fails, which says nothing about the machine.
  throw Error(
      ErrorKind::unsupported, "device.driver.static",
      fmt::format("this static build cannot load {}, the {} driver; the builds for glibc can", library, row.name));
#endif
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(ErrorKind::not_found, "device.driver.missing",
                fmt::format("there is no {} driver on this machine: {}", row.name, ::dlerror()))
        .blame(Subject::machine);
  auto driver = std::make_unique<Driver>();
  driver->family = family;
  driver->library = library;
  const auto find = [&](const char* cuda, const char* hip) {
    const char* const name = family == Family::cuda ? cuda : hip;
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
#define TARE_DRIVER_FIND(name, type, cuda, hip) \
  driver->name = reinterpret_cast<std::type_identity_t<type>>(find(cuda, hip));
  TARE_DRIVER_FUNCTIONS(TARE_DRIVER_FIND)
#undef TARE_DRIVER_FIND
  const Result begun = driver->init(0);
  if (begun == kNoDevice)
    throw Error(ErrorKind::not_found, "device.none", fmt::format("the {} driver finds no device", row.name))
        .blame(Subject::machine);
  require(*driver, begun, "start");
  require(*driver, driver->driver_version(&driver->version), "tell its version");
  if (family == Family::cuda && driver->version < kOldestDriver)
    throw Error(ErrorKind::unsupported, "device.driver.old",
                fmt::format("the driver is one for CUDA {}.{}, {}.{} or later is needed", driver->version / 1000,
                            driver->version % 1000 / 10, kOldestDriver / 1000, kOldestDriver % 1000 / 10))
        .blame(Subject::machine);
  return driver;
}

}  // namespace

const Driver& driver_of(Family family) {
  const FamilyFacts& row = facts_of(family);
  const char* const named = std::getenv(std::string(row.variable).c_str());  // NOLINT(concurrency-mt-unsafe): read only
  const std::string library = named != nullptr ? std::string(named) : std::string(row.library);
  // Never freed: threads of other libraries may still use the driver when the process ends.
  static std::mutex& mutex = *new std::mutex;
  static auto& open = *new std::map<std::pair<Family, std::string>, std::unique_ptr<Driver>>;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Driver>& driver = open[{family, library}];
  if (driver == nullptr) driver = open_driver(family, library);
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
